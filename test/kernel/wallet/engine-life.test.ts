import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { Account, CurrencyEngine, ObserverPlugin } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { type DeviceOptions, openDevice, waitFor } from '../../helpers/device.ts'
import { makeToy, type ToyOptions } from '../../helpers/toy-currency.ts'

const openHome = async (t: ExecutionContext, options: ToyOptions, device: DeviceOptions = {}) => {
  const toy = makeToy(options)
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world, {
    ...device,
    plugins: [toy.plugin, ...(device.plugins ?? [])]
  })
  t.teardown(() => kernel.close())
  const account: Account = await kernel.context.createAccount({})
  return { toy, account, kernel, world }
}

/** Numbers the engines, and notes which of them were started and killed. */
const watchEngines = (more: (engine: number) => Partial<CurrencyEngine> = () => ({})) => {
  const started: number[] = []
  const killed: number[] = []
  let count = 0
  const engine = (): Partial<CurrencyEngine> => {
    count += 1
    const number = count
    return {
      startEngine: async () => void started.push(number),
      killEngine: async () => void killed.push(number),
      ...more(number)
    }
  }
  return { engine, started, killed, count: () => count }
}

test('a pause that is undone at once leaves a running engine, and no second one', async t => {
  const watch = watchEngines()
  const { account } = await openHome(t, { engine: watch.engine })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  await Promise.all([wallet.changePaused(true), wallet.changePaused(false)])
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const alive = watch.started.filter(number => !watch.killed.includes(number))
  t.is(alive.length, 1)
  t.is(watch.killed.length, watch.count() - 1)
  await account.logout()
  t.is(watch.killed.length, watch.count())
})

test('an engine that was made to answer a paused wallet is stopped at logout', async t => {
  const watch = watchEngines()
  const { account } = await openHome(t, { engine: watch.engine })
  await account.changePaused(true)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await wallet.getReceiveAddress()
  t.deepEqual([watch.started, watch.killed], [[], []])
  await account.logout()
  t.deepEqual(watch.killed, [1])
})

test('an engine that fails while it is set up or started is stopped, and the next start makes another', async t => {
  let isBroken = true
  const watch = watchEngines(() => ({
    async addGapLimitAddresses() {
      if (isBroken) throw new Error('gap')
    }
  }))
  const { account } = await openHome(t, { engine: watch.engine })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'failed')
  t.is(watch.killed.length, watch.count())
  isBroken = false
  await wallet.changePaused(false)
  t.like(wallet.engine.getSnapshot(), { state: 'started', failure: undefined, errorCode: undefined })
})

test('a sync that failed is no longer shown once one has succeeded', async t => {
  let isOffline = true
  const { account } = await openHome(t, {
    engine: good => ({
      async syncNetwork(keys) {
        if (isOffline) throw new Error('offline')
        await good.syncNetwork(keys)
        return 100
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().failure?.includes('offline') === true)
  isOffline = false
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  await waitFor(() => wallet.engine.getSnapshot().failure === undefined)
  t.pass()
})

test('one engine that cannot start again does not keep the other wallets paused', async t => {
  let isBroken = false
  const broken = makeToy({
    id: 'broken',
    engine: () => ({
      async startEngine() {
        if (isBroken) throw new Error('cannot start')
      }
    })
  })
  const { account } = await openHome(t, {}, { plugins: [broken.plugin] })
  const bad = await account.createCurrencyWallet('wallet:broken')
  const good = await account.createCurrencyWallet('wallet:toycoin')
  await account.changePaused(true)
  isBroken = true
  await t.throwsAsync(account.changePaused(false), { code: 'ENGINE_FAILED' })
  t.false(account.getSnapshot().isPaused)
  t.is(good.engine.getSnapshot().state, 'started')
  t.is(bad.engine.getSnapshot().state, 'failed')
})

test('a wallet and its engine are announced when they open, and what is announced cannot be changed', async t => {
  const names: (string | null)[] = []
  const states: string[] = []
  const frozen: boolean[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.walletChanged.tap('watch', ({ name, balances, enabledTokenIds }) => {
        names.push(name)
        frozen.push(Object.isFrozen(balances), Object.isFrozen(enabledTokenIds))
      })
      hooks.engineChanged.tap('watch', ({ state }) => void states.push(state))
      hooks.accountChanged.tap('watch', ({ walletIds }) => void frozen.push(Object.isFrozen(walletIds)))
    }
  }
  const { account } = await openHome(t, {}, { plugins: [watch] })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000')
  t.false(frozen.includes(false))
  t.is(names[0], null)
  t.is(states[0], 'created')
  t.is(wallet.balanceOf('constructor'), '0' as never)
})

test('a policy cannot hide the recipients of a spend from the next one', async t => {
  const seen: number[] = []
  const { account } = await openHome(
    t,
    {},
    {
      plugins: [
        {
          kind: 'policy',
          id: 'liar',
          apply: ({ hooks }) =>
            hooks.beforeSign.tapPromise('liar', async ({ targets }) => {
              t.throws(() => (targets as unknown[]).splice(0), { instanceOf: TypeError })
            })
        },
        {
          kind: 'policy',
          id: 'guard',
          apply: ({ hooks }) =>
            hooks.beforeSign.tapPromise('guard', async ({ targets }) => void seen.push(targets.length))
        }
      ]
    }
  )
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: '5' as never }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.deepEqual(seen, [1])
})

test('a call into a plugin’s tools ends at its deadline', async t => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const worldIo = world.ioFor(io)
  const { after } = worldIo.clock
  // A minute passes in no time; nothing else is so patient.
  const clock = {
    ...worldIo.clock,
    after: (ms: number, task: () => void) => after(ms === 60_000 ? 30 : ms, task)
  }
  const good = makeToy()
  const hung = new Promise<never>(() => {})
  const plugin = {
    ...good.plugin,
    apply: ({ hooks }: Parameters<typeof good.plugin.apply>[0]) =>
      hooks.makeTools.tapPromise('toycoin', async () => ({
        createPrivateKey: () => hung,
        derivePublicKey: () => hung,
        parseUri: () => hung,
        encodeUri: () => hung
      }))
  }
  const kernel = await openDevice(world, { io: { ...worldIo, clock }, plugins: [plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  await t.throwsAsync(account.createCurrencyWallet('wallet:toycoin'), { code: 'DEADLINE' })
})

test('an engine that could not start is tried again half a minute later, by itself', async t => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const worldIo = world.ioFor(io)
  const { after, monotonic } = worldIo.clock
  // Time passes a hundred times faster.
  const clock = {
    ...worldIo.clock,
    monotonic: () => monotonic() * 100,
    after: (ms: number, task: () => void) => after(ms / 100, task)
  }
  let tries = 0
  const toy = makeToy({
    engine: () => ({
      async startEngine() {
        tries += 1
        if (tries < 3) throw new Error('not yet')
      }
    })
  })
  const kernel = await openDevice(world, { io: { ...worldIo, clock }, plugins: [toy.plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  t.is(tries, 3)
  t.is(wallet.engine.getSnapshot().errorCode, undefined)
})
