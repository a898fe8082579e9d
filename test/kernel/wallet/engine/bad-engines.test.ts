import test from 'ava'
import {
  type Account,
  type CurrencyEngine,
  type CurrencyHost,
  type CurrencyPlugin,
  type CurrencyWallet,
  nativeAmount,
  type Transaction
} from '../../../../kernel/index.ts'
import { makeToy, toyTransaction } from '../../../helpers/toy-currency.ts'
import { openToyHome } from '../../../helpers/toy-home.ts'

const FAULTS: readonly (readonly [name: string, fault: () => Promise<never>])[] = [
  [
    'throws',
    () => {
      throw new Error('bad engine')
    }
  ],
  ['rejects', () => Promise.reject(new Error('bad engine'))],
  ['never settles', () => new Promise(() => {})]
]

const METHODS: readonly (keyof CurrencyEngine)[] = [
  'startEngine',
  'killEngine',
  'syncNetwork',
  'resyncBlockchain',
  'getFreshAddress',
  'addGapLimitAddresses',
  'makeSpend',
  'signTx',
  'broadcastTx',
  'saveTx',
  'getMaxSpendable',
  'checkSignedTx',
  'changeUserSettings',
  'changeCustomTokens',
  'changeEnabledTokenIds',
  'getStakingStatus',
  'dumpData'
]

for (const [name, fault] of FAULTS) {
  test(`an engine with a method that ${name} delays no other wallet, and each call to it ends`, async t => {
    const bad = METHODS.map(method => makeToy({ id: `bad-${method}`, engine: () => ({ [method]: fault }) }))
    const { account, clock } = await openToyHome(t, { device: { plugins: bad.map(({ plugin }) => plugin) } })
    const types = ['toycoin', ...METHODS.map(method => `bad-${method}`)]
    const results = await account.createCurrencyWallets(types.map(id => ({ type: `wallet:${id}` })))
    const [good, ...others] = results.flatMap(result => (result.ok ? [result.wallet] : []))
    t.is(others.length, METHODS.length)
    await clock.advance(1000)
    t.is(good?.engine.getSnapshot().state, 'started')
    const waiting = new Set<string>()
    for (const wallet of others) {
      for (const [what, call] of Object.entries(callsOf(account, wallet))) {
        const label = `${wallet.currencyInfo.pluginId}: ${what}`
        waiting.add(label)
        const end = (): void => void waiting.delete(label)
        call.then(end, end)
      }
    }
    t.is(typeof (await good?.getReceiveAddress())?.publicAddress, 'string')
    for (let minute = 0; minute < 6; minute++) await clock.advance(60_000)
    t.deepEqual([...waiting], [])
    t.is(good?.engine.getSnapshot().state, 'started')
    const logout = account.logout()
    await clock.advance(60_000)
    await t.notThrowsAsync(logout)
  })
}

/** Everything that reaches an engine, all at once. */
const callsOf = (account: Account, wallet: CurrencyWallet): Record<string, Promise<unknown>> => {
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  const draft: Transaction = {
    ...toyTransaction('', { nativeAmount: nativeAmount('-5') }),
    walletId: wallet.id,
    currencyCode: 'TOY',
    confirmations: 'unconfirmed',
    isSend: true,
    memos: [],
    metadata: {}
  }
  return {
    address: wallet.getReceiveAddress(),
    draft: wallet.makeSpend({ tokenId: null, spendTargets }),
    maximum: wallet.getMaxSpendable({ tokenId: null, spendTargets }),
    tokens: wallet.changeEnabledTokenIds([]),
    settings: account.currencyConfig(wallet.currencyInfo.pluginId).changeUserSettings({ any: 'thing' }),
    resync: wallet.resyncBlockchain(),
    dump: wallet.dumpData(),
    lock: wallet.lockReceiveAddress('address'),
    sync: wallet.sync(),
    pause: wallet.changePaused(true),
    resume: wallet.changePaused(false),
    spend: wallet.spend(draft),
    read: wallet.readSignedTx({ ...draft, txid: 'tx', signedTx: '00', spendTargets: [] })
  }
}

test('a plugin that makes no engine, or something else, fails its own wallet alone', async t => {
  for (const made of [undefined, {}, 7]) {
    const toy = makeToy({ id: 'bad' })
    const plugin: CurrencyPlugin = {
      ...toy.plugin,
      apply(host) {
        const makeEngine = {
          tapPromise: (id: string) => host.hooks.makeEngine.tapPromise(id, async () => made as never)
        }
        return toy.plugin.apply({ ...host, hooks: { ...host.hooks, makeEngine } } as CurrencyHost)
      }
    }
    const { account, clock } = await openToyHome(t, { device: { plugins: [plugin] } })
    const bad = await account.createCurrencyWallet('wallet:bad')
    const good = await account.createCurrencyWallet('wallet:toycoin')
    await clock.advance(1000)
    t.deepEqual(
      [bad, good].map(({ engine }) => engine.getSnapshot().state),
      ['failed', 'started']
    )
  }
})
