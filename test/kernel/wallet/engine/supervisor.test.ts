import test from 'ava'
import type {
  CurrencyEngine,
  EngineRequest,
  EngineSnapshot,
  ObserverPlugin,
  WalletSnapshot
} from '../../../../kernel/index.ts'
import { toyTransaction } from '../../../helpers/toy-currency.ts'
import { openToyHome, toyToken } from '../../../helpers/toy-home.ts'

/** Notes what observers are told of wallets and engines. */
const makeWatch = () => {
  const engines: EngineSnapshot[] = []
  const wallets: WalletSnapshot[] = []
  const addresses: string[] = []
  const plugin: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.engineChanged.tap('watch', engine => void engines.push(engine))
      hooks.walletChanged.tap('watch', wallet => void wallets.push(wallet))
      hooks.addressChanged.tap('watch', ({ walletId }) => void addresses.push(walletId))
    }
  }
  return { plugin, engines, wallets, addresses }
}

test('an engine is made with the present settings and tokens, and gets changes in order, one at a time', async t => {
  const calls: string[] = []
  const gates: (() => void)[] = []
  const slow = (name: string) => async (value: unknown) => {
    calls.push(`${name} ${JSON.stringify(value)}`)
    await new Promise<void>(resolve => gates.push(resolve))
    calls.push(`${name} done`)
  }
  const engine = (): Partial<CurrencyEngine> => ({
    changeUserSettings: slow('settings'),
    changeCustomTokens: slow('custom'),
    changeEnabledTokenIds: slow('enabled')
  })
  const { account, clock, toy } = await openToyHome(t, { tokens: { gold: toyToken('GOLD') }, engine })
  const config = account.currencyConfig('toycoin')
  await config.changeUserSettings({ server: 'one' })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { enabledTokenIds: ['gold'] })
  await clock.advance(100)
  t.like(toy.requests[0], { userSettings: { server: 'one' }, customTokens: {} })
  t.deepEqual(toy.requests[0]?.enabledTokenIds, ['gold'])
  t.deepEqual(calls, [])

  await config.changeUserSettings({ server: 'two' })
  await wallet.changeEnabledTokenIds([])
  await config.addCustomToken(toyToken('LEAD'))
  await config.changeUserSettings({ server: 'three' })
  for (let round = 0; round < 6; round++) {
    await clock.advance(200)
    gates.shift()?.()
  }
  await clock.advance(200)
  t.deepEqual(
    calls.filter(call => !call.startsWith('custom {')),
    [
      'settings {"server":"two"}',
      'settings done',
      'settings {"server":"three"}',
      'settings done',
      'custom done',
      'enabled []',
      'enabled done'
    ]
  )
  t.is(calls.filter(call => call.startsWith('custom {"lead"')).length, 1)
})

test('a sync repeats after the delay that the engine returned, or after about 10 s without one [4.22]', async t => {
  const at: number[] = []
  let swapRequest: unknown = 3000
  const { account, clock } = await openToyHome(t, {
    engine: () => ({
      async syncNetwork() {
        at.push(clock.monotonic())
        if (swapRequest === 'nothing') throw new Error('offline')
        return swapRequest as number
      }
    })
  })
  await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(10_000)
  const gaps = (): number[] => at.slice(1).map((time, index) => time - (at[index] ?? 0))
  const [first = 0, ...rest] = gaps()
  t.true(first >= 1500 && first <= 3250)
  t.true(rest.length >= 2 && rest.every(gap => gap === 3000))
  for (const none of ['nothing', undefined, Number.NaN]) {
    swapRequest = none
    await clock.advance(3000)
    at.length = 0
    await clock.advance(45_000)
    t.deepEqual([...new Set(gaps())], [10_000])
  }
})

test('what another device writes reaches the wallet and its engine: name, fiat, tokens, used addresses [4.23]', async t => {
  const reported: unknown[][] = []
  const tokens = { gold: toyToken('GOLD') }
  const home = await openToyHome(t, {
    tokens,
    onCall: (method, args) => void reported.push([method, ...args])
  })
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
  await home.clock.advance(40_000)
  const other = await home.another({ tokens })
  const same = await other.account.openWallet(wallet.id)
  await same.rename('Pocket')
  await same.setFiatCurrencyCode('iso:EUR')
  await same.changeEnabledTokenIds(['gold'])
  await same.lockReceiveAddress('used-address')
  reported.length = 0
  await home.clock.advance(70_000)
  t.like(wallet.getSnapshot(), { name: 'Pocket', fiatCurrencyCode: 'iso:EUR' })
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['gold'])
  t.deepEqual(
    reported.filter(([method]) => method === 'addGapLimitAddresses'),
    [['addGapLimitAddresses', ['used-address']]]
  )
  t.is(wallet.engine.getSnapshot().state, 'started')
})

test('an engine’s error reaches the error handler, marks the engine failed, and goes with the next success [8.54]', async t => {
  let isBroken = true
  const { account, clock, reports } = await openToyHome(t, {
    engine: () => ({
      async startEngine() {
        if (isBroken) throw new Error('no peers')
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  t.like(wallet.engine.getSnapshot(), { state: 'failed', failure: 'Error: no peers' })
  t.true(reports.some(([source, error]) => source === 'engine toycoin' && String(error).includes('no peers')))
  t.regex(wallet.syncStatus.sentence, /could not start.*no peers/)
  isBroken = false
  await clock.advance(30_000)
  t.like(wallet.engine.getSnapshot(), { state: 'started', failure: undefined, errorCode: undefined })
})

test('an engine shows that it is started, paused, stopped or failed, its ratio, and that it was cleared [4.21]', async t => {
  let isBroken = false
  const watch = makeWatch()
  const { account, clock, toy } = await openToyHome(t, {
    engine: good => ({
      async syncNetwork(keys) {
        return good.syncNetwork(keys)
      },
      async startEngine() {
        if (isBroken) throw new Error('no peers')
      },
      async resyncBlockchain() {
        throw new Error('later')
      }
    }),
    device: { plugins: [watch.plugin] }
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  t.like(wallet.engine.getSnapshot(), { state: 'started', isPaused: false, syncRatio: 1, blockHeight: 100 })
  const { callbacks } = toy.requests[0] ?? {}
  callbacks?.onUnactivatedTokenIdsChanged(['gold'])
  callbacks?.onNewTokens(['gold'])
  callbacks?.onAddressesChecked(1)
  await clock.advance(200)
  t.deepEqual(wallet.getSnapshot().unactivatedTokenIds, ['gold'])
  callbacks?.onAddressesChecked(0.9)
  await t.throwsAsync(wallet.resyncBlockchain(), { message: 'later' })
  await clock.advance(200)
  t.is(wallet.engine.getSnapshot().syncRatio, 0)
  const { unactivatedTokenIds, detectedTokenIds } = wallet.getSnapshot()
  t.deepEqual({ unactivatedTokenIds, detectedTokenIds }, { unactivatedTokenIds: [], detectedTokenIds: [] })
  await wallet.changePaused(true)
  t.like(wallet.engine.getSnapshot(), { state: 'stopped', isPaused: true })
  isBroken = true
  await t.throwsAsync(wallet.changePaused(false), { code: 'ENGINE_FAILED' })
  t.like(wallet.engine.getSnapshot(), { state: 'failed', isPaused: false })
  t.deepEqual(
    watch.engines.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]),
    ['created', 'started', 'stopped', 'created', 'failed']
  )
})

test('each change of an engine or a wallet is emitted once with the state at that time, and an unchanged state never', async t => {
  const watch = makeWatch()
  const { account, clock, toy } = await openToyHome(t, { device: { plugins: [watch.plugin] } })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { name: 'Toys' })
  await clock.advance(1000)
  const seen: boolean[] = []
  wallet.subscribe(() => seen.push(true))
  watch.wallets.length = 0
  watch.engines.length = 0
  const { callbacks } = toy.requests[0] ?? {}
  for (let round = 0; round < 3; round++) {
    for (let balance = 0; balance < 5; balance++) callbacks?.onTokenBalanceChanged(null, String(balance))
    callbacks?.onTokenBalanceChanged('gold', '7')
    callbacks?.onStakingStatusChanged({ stakedAmounts: [{ nativeAmount: '5' as never }] })
    callbacks?.onBlockHeightChanged(101)
    callbacks?.onAddressesChecked(0.5)
    callbacks?.onStatus('asks two servers')
    callbacks?.onAddressChanged()
    await clock.advance(600)
  }
  t.is(watch.wallets.length, 1)
  t.like(watch.wallets[0], { balances: { '': '4', gold: '7' } })
  t.deepEqual(watch.wallets[0]?.stakingStatus, { stakedAmounts: [{ nativeAmount: '5' as never }] })
  t.is(seen.length, 1)
  t.is(watch.engines.length, 1)
  t.like(watch.engines[0], { blockHeight: 101, syncRatio: 0.5, status: 'asks two servers' })
  t.is(watch.addresses.length, 3)
  await wallet.rename('Toys')
  await wallet.setFiatCurrencyCode('iso:USD')
  await wallet.changePaused(false)
  t.is(watch.wallets.length, 1)
})

test('the block height is shown unless the application skips it [9.29]', async t => {
  for (const skipBlockHeight of [undefined, true]) {
    const { account, clock } = await openToyHome(t, {
      device: skipBlockHeight === undefined ? {} : { skipBlockHeight }
    })
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    await clock.advance(200)
    t.is(wallet.engine.getSnapshot().blockHeight, skipBlockHeight === undefined ? 100 : 0)
    t.is(wallet.engine.getSnapshot().syncRatio, 1)
  }
})

test('callbacks of a replaced engine are ignored', async t => {
  const { account, clock, toy } = await openToyHome(t)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  await wallet.changePaused(true)
  toy.requests[0]?.callbacks.onTokenBalanceChanged(null, '1')
  await wallet.changePaused(false)
  await clock.advance(100)
  toy.requests[0]?.callbacks.onTokenBalanceChanged(null, '2')
  await clock.advance(1000)
  t.is(toy.requests.length, 2)
  t.is(String(wallet.balanceOf(null)), '1000')
})

test('the staking status is fetched once and checked, and a bogus one is reported', async t => {
  let status: unknown = { stakedAmounts: [{ nativeAmount: '12', unlockDate: '2030-01-01T00:00:00Z' }] }
  const { account, clock, reports } = await openToyHome(t, {
    engine: () => ({ getStakingStatus: async () => status as never })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(200)
  t.like(wallet.getSnapshot().stakingStatus.stakedAmounts[0], { nativeAmount: '12' })
  status = { stakedAmounts: [{ nativeAmount: '-1' }] }
  await wallet.changePaused(true)
  await wallet.changePaused(false)
  await clock.advance(200)
  t.true(reports.some(([, error]) => (error as { code?: string }).code === 'BOGUS_DATA'))
  t.like(wallet.getSnapshot().stakingStatus.stakedAmounts[0], { nativeAmount: '12' })
})

test('two hundred wallets sync at their own pace, never all at once, and wake the device a few times a second', async t => {
  const at: number[] = []
  const { account, clock } = await openToyHome(t, {
    engine: good => ({
      syncNetwork(keys) {
        at.push(clock.monotonic())
        return good.syncNetwork(keys)
      }
    })
  })
  await account.createCurrencyWallets(Array.from({ length: 200 }, () => ({ type: 'wallet:toycoin' })))
  await clock.advance(20_000)
  const from = clock.monotonic()
  at.length = 0
  await clock.advance(60_000)
  const count = at.length / 200
  t.true(count >= 5.5 && count <= 6.5)
  const perTick = new Map<number, number>()
  for (const time of at) perTick.set(time, (perTick.get(time) ?? 0) + 1)
  t.true(Math.max(...perTick.values()) < 40)
  t.true(perTick.size <= ((clock.monotonic() - from) / 1000) * 4 + 1)
})

test('a resync clears the history, even if the engine does not report it again, and ignores a stopped engine', async t => {
  const requests: EngineRequest[] = []
  const { account, clock } = await openToyHome(t, {
    engine: (_good, request) => {
      requests.push(request)
      return {}
    }
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  requests[0]?.callbacks.onTransactionsChanged([toyTransaction('old')])
  await clock.advance(100)
  t.is((await wallet.getTransactions()).length, 1)
  await wallet.resyncBlockchain()
  t.is((await wallet.getTransactions()).length, 0)
  await wallet.changePaused(true)
  requests[0]?.callbacks.onTransactionsChanged([toyTransaction('late')])
  requests[0]?.callbacks.onTokenBalanceChanged(null, '77')
  await clock.advance(100)
  t.is((await wallet.getTransactions()).length, 0)
  t.not(String(wallet.balanceOf(null)), '77')
})

test('a failed resync leaves no checkpoint, and a successful one the last that was reported meanwhile', async t => {
  let isBroken = true
  const { account, clock, toy } = await openToyHome(t, {
    engine: (_good, { callbacks }) => ({
      async resyncBlockchain() {
        callbacks.onTransactionsChanged([toyTransaction('a')])
        callbacks.onSeenTxCheckpoint('meanwhile')
        if (isBroken) throw new Error('later')
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const emit = (checkpoint: string) => toy.requests.at(-1)?.callbacks.onSeenTxCheckpoint(checkpoint)
  const nextStart = async (): Promise<string | undefined> => {
    await clock.advance(100)
    await wallet.changePaused(true)
    await wallet.changePaused(false)
    await clock.advance(100)
    return toy.requests.at(-1)?.seenTxCheckpoint
  }
  emit('one')
  t.is(await nextStart(), 'one')
  await t.throwsAsync(wallet.resyncBlockchain(), { message: 'later' })
  emit('two')
  t.is(await nextStart(), undefined)
  isBroken = false
  await wallet.resyncBlockchain()
  t.is(await nextStart(), 'meanwhile')
})

test('an engine that lost its server is shown as waiting at once, and as synced after the next sync', async t => {
  let looks = 0
  const { account, clock, toy } = await openToyHome(t, {
    engine: good => ({
      async syncNetwork(keys) {
        looks += 1
        await good.syncNetwork(keys)
        return 600_000
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  const { callbacks } = toy.requests[0] ?? {}
  const before = looks
  callbacks?.onConnectionChanged({ server: 'tls://one.example:50002', reason: 'gone\u202e' })
  t.like(wallet.engine.getSnapshot(), {
    errorCode: 'CONNECTION_LOST',
    failure: 'The connection to tls://one.example:50002 was lost: gone (CONNECTION_LOST)'
  })
  t.is(wallet.syncStatus.stage, 'waiting')
  await clock.advance(1000)
  t.is(looks, before + 1)
  t.is(wallet.engine.getSnapshot().failure, undefined)
  t.is(wallet.syncStatus.stage, 'synced')
  callbacks?.onConnectionChanged()
  await clock.advance(1000)
  t.is(looks, before + 1)
  callbacks?.onConnectionChanged('gone' as never)
  t.is(wallet.engine.getSnapshot().failure, undefined)
})

test('a status text that an engine withdraws is gone', async t => {
  const { account, clock, toy } = await openToyHome(t)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  const { callbacks } = toy.requests[0] ?? {}
  callbacks?.onStatus('asks two servers')
  await clock.advance(1000)
  t.is(wallet.engine.getSnapshot().status, 'asks two servers')
  callbacks?.onStatus('')
  await clock.advance(1000)
  t.is(wallet.engine.getSnapshot().status, undefined)
})

test('a listener of the synced event finds the balance that was reported before, though its height came first', async t => {
  const { account, clock, toy } = await openToyHome(t)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const { callbacks } = toy.requests[0] as EngineRequest
  const received: unknown[] = []
  wallet.engine.subscribe(() => {
    const { syncRatio, blockHeight } = wallet.engine.getSnapshot()
    received.push([syncRatio, blockHeight, wallet.getSnapshot().balances['']])
  })
  callbacks.onAddressesChecked(0.5)
  callbacks.onBlockHeightChanged(7)
  callbacks.onTokenBalanceChanged(null, '5')
  callbacks.onAddressesChecked(1)
  await clock.advance(100)
  t.deepEqual(received, [[1, 7, '5']])
})
