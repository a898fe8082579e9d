import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyEngine,
  nativeAmount,
  type ObserverPlugin,
  type Plugin
} from '../../../../kernel/index.ts'
import { makeWalletInfo } from '../../../../kernel/keys/wallet-info.ts'
import type { WalletKeys } from '../../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { type DeviceOptions, openDevice, waitFor } from '../../../helpers/device.ts'
import { makeKnownUser } from '../../../helpers/known-user.ts'
import { makeToy, type ToyOptions, toyTransaction } from '../../../helpers/toy-currency.ts'
import { openToyHome } from '../../../helpers/toy-home.ts'

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

test('an engine is created, started only when nothing is paused and the fiat currency is known, and stopped in the end [4.17] [4.18] [4.19]', async t => {
  const reported: string[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.walletChanged.tap('watch', ({ fiatCurrencyCode }) => void reported.push(fiatCurrencyCode))
      hooks.engineChanged.tap('watch', ({ state }) => void reported.push(state))
    }
  }
  const toy = makeToy({
    onCall: method => void (['startEngine', 'killEngine'].includes(method) && reported.push(method))
  })
  const info = makeWalletInfo(makeNodeIo(), 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const user = makeKnownUser(t, { infos: [info] })
  user.put(info, { 'Currency.json': { fiat: 'iso:EUR' } })
  const { account } = await user.logIn({ plugins: [toy.plugin, watch] })
  await account.changePaused(true)
  const wallet = await account.openWallet(info.id)
  await wallet.changePaused(false)
  // On a device where nothing is paused the same wallet has started meanwhile, though it was opened later.
  const elsewhere = await user.logIn({ plugins: [makeToy().plugin] })
  const same = await elsewhere.account.openWallet(info.id)
  await waitFor(() => same.engine.getSnapshot().state === 'started')
  t.is(toy.requests.length, 0)
  t.false(reported.includes('startEngine'))
  t.true(reported.includes('iso:EUR'))
  await account.changePaused(false)
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  await account.logout()
  const steps = reported.filter(step => !step.startsWith('iso:'))
  t.deepEqual(
    steps.filter((step, at) => step !== steps[at - 1]),
    ['created', 'startEngine', 'started', 'killEngine', 'stopped']
  )
  t.true(reported.every(step => !step.startsWith('iso:') || step === 'iso:EUR'))
})

test('an engine that was created for a call on a paused wallet is stopped at logout', async t => {
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
    apply({ hooks }: Parameters<typeof good.plugin.apply>[0]) {
      hooks.makeEngine.tapPromise('toycoin', () => hung)
      hooks.makeTools.tapPromise('toycoin', async () => ({
        createPrivateKey: () => hung,
        derivePublicKey: () => hung,
        parseUri: () => hung,
        encodeUri: () => hung
      }))
    }
  }
  const kernel = await openDevice(world, { io: { ...worldIo, clock }, plugins: [plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  await t.throwsAsync(account.createCurrencyWallet('wallet:toycoin'), { code: 'DEADLINE' })
})

test('an engine that could not start is restarted automatically half a minute later', async t => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const worldIo = world.ioFor(io)
  const { after, monotonic } = worldIo.clock
  // Time passes faster, but a busy machine still opens a wallet within the minute that it has.
  const clock = {
    ...worldIo.clock,
    monotonic: () => monotonic() * 25,
    after: (ms: number, task: () => void) => after(ms / 25, task)
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

test('a failed engine start reports nothing after the wallet was paused, closed or started again meanwhile', async t => {
  const { account, clock } = await openToyHome(t, {
    engine: () => ({
      async startEngine() {
        if (isBroken) throw new Error('cannot start')
      },
      async killEngine() {
        if (isBroken) await killed
      }
    })
  })
  let isBroken = true
  let kill = (): void => {}
  const hold = (): Promise<void> => new Promise(resolve => (kill = resolve))
  let killed = hold()
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(10)
  const paused = wallet.changePaused(true)
  await clock.advance(10)
  kill()
  await paused
  await clock.advance(10)
  t.like(wallet.engine.getSnapshot(), { state: 'stopped', isPaused: true, failure: undefined })

  killed = hold()
  const failing = wallet.changePaused(false)
  await clock.advance(10)
  isBroken = false
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  t.is(wallet.engine.getSnapshot().state, 'started')
  kill()
  await failing
  await clock.advance(10)
  t.like(wallet.engine.getSnapshot(), { state: 'started', failure: undefined })
})

test('a sync calls no engine of a paused wallet, and finishes an interrupted payment', async t => {
  const calls: string[] = []
  let isFailing = true
  const { account, clock } = await openToyHome(t, {
    onCall: method => void calls.push(method),
    engine: () => ({
      syncNetwork: async () => 1e12,
      async saveTx() {
        if (isFailing) throw new Error('cannot save')
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  await wallet.spend(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
    })
  )
  t.is(wallet.unfinishedSpends().length, 1)
  isFailing = false
  await account.sync()
  await clock.advance(100)
  t.is(wallet.unfinishedSpends().length, 0)
  calls.length = 0
  await wallet.changePaused(true)
  await wallet.sync()
  await account.sync()
  t.false(calls.includes('syncNetwork'))
})

test('one wallet that cannot sync does not stop the others, and its error rejects the sync of the account', async t => {
  const broken = makeToy({
    id: 'broken',
    engine: () => ({
      syncNetwork: async () => {
        throw new Error('no chain')
      }
    })
  })
  let open = (): void => {}
  const gate = new Promise<void>(resolve => (open = resolve))
  let looks = 0
  const { account } = await openHome(
    t,
    {
      engine: () => ({
        async syncNetwork() {
          looks += 1
          await gate
          looks += 1
          return 1e6
        }
      })
    },
    { plugins: [broken.plugin] }
  )
  await account.createCurrencyWallet('wallet:broken')
  await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => looks === 1)
  const syncing = account.sync()
  await waitFor(() => looks === 2)
  open()
  await t.throwsAsync(syncing, { message: 'no chain' })
  t.is(looks, 4)
})

test('plugins get frozen copies of private keys, and none after the logout', async t => {
  const given: WalletKeys[] = []
  let release = (): void => {}
  const held = new Promise<void>(resolve => (release = resolve))
  const guard: Plugin = {
    kind: 'policy',
    id: 'guard',
    apply({ hooks }) {
      hooks.beforeSign.tapPromise('guard', async () => {
        if (given.length > 3) await held
      })
    }
  }
  const { account } = await openHome(
    t,
    {
      info: { needsKeysToSync: true, needsKeysToSpend: true },
      tools: {
        async derivePublicKey({ keys }) {
          given.push(keys)
          return { address: 'a' }
        }
      },
      engine: good => ({
        async syncNetwork({ privateKeys }) {
          if (privateKeys !== undefined) given.push(privateKeys)
          return 1e6
        },
        async signTx(tx, keys) {
          given.push(keys)
          return good.signTx(tx, keys)
        }
      })
    },
    { plugins: [guard] }
  )
  const keys = { toyKey: '00', deep: { list: ['a'] } }
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { keys })
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const pay = { tokenId: null, spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }] }
  const draft = await wallet.makeSpend(pay)
  await wallet.spend(draft)
  t.is(given.length, 3)
  const all = [...given, await account.walletKeys.getRawPrivateKey(wallet.id)]
  t.is(new Set(all).size, 4)
  for (const one of all) {
    t.is(one.toyKey, keys.toyKey)
    t.deepEqual(one.deep, keys.deep)
    t.throws(() => Object.assign(one, { toyKey: '01' }))
    t.throws(() => (one.deep as { list: string[] }).list.push('b'))
  }
  given.push({})
  const late = wallet.spend(draft)
  await waitFor(() => wallet.unfinishedSpends().length === 1)
  await account.logout()
  release()
  await t.throwsAsync(late, { code: 'LOGGED_OUT' })
  await t.throwsAsync(wallet.makeSpend(pay), { code: 'LOGGED_OUT' })
  t.is(given.length, 4)
})

test('a wallet that shows as synced, or whose sync has ended, shows everything that the engine reported', async t => {
  const count = 3000
  const { account, toy } = await openHome(t, {
    engine: (_good, { callbacks }) => ({
      async syncNetwork() {
        callbacks.onTransactionsChanged(Array.from({ length: count }, (_, at) => toyTransaction(`tx${at}`)))
        callbacks.onAddressesChecked(1)
        return 10_000
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  t.is((await wallet.getTransactions()).length, count)
  toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('last')])
  await wallet.sync()
  t.is((await wallet.getTransactions()).length, count + 1)
})

test('an engine that writes something else than texts is refused, and what is written beside it is saved', async t => {
  const { toy, account } = await openHome(t, {})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const store = toy.requests[0]?.store
  const bad: readonly (readonly [unknown, unknown])[] = [
    ['key', 5],
    ['key', undefined],
    ['key', { text: 'a row' }],
    [7, 'text']
  ]
  for (const entry of bad) {
    const writing = store?.write(new Map([['good', 'no'], entry]) as Map<string, string>)
    const beside = wallet.rename('Savings')
    await t.throwsAsync(async () => writing, { code: 'BOGUS_DATA' })
    await beside
  }
  t.is(store?.get('good'), undefined)
  await store?.write(new Map([['good', 'yes']]))
  t.is(store?.get('good'), 'yes')
})
