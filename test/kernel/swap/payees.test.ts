import { HDKey } from '@scure/bip32'
import { p2wpkh, TEST_NETWORK } from '@scure/btc-signer'
import test from 'ava'
import {
  type CurrencyPlugin,
  type JsonObject,
  nativeAmount,
  type SpendInfo,
  WalletError
} from '../../../kernel/index.ts'
import { checkPayees, type PayeeCheck, readAllowances } from '../../../kernel/swap/payees.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { waitFor } from '../../helpers/device.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'
import { openTrader, type Trader } from '../../helpers/swap-trader.ts'

/** The native segwit address at a place of a wallet of regtest, derived without the plugin. */
const addressAt = (xpub: string, change: number, index: number): string => {
  const account = HDKey.fromExtendedKey(xpub, { public: 0x045f1cf6, private: 0x045f18bc })
  const { publicKey } = account.deriveChild(change).deriveChild(index)
  const { address } = p2wpkh(publicKey ?? new Uint8Array(33), { ...TEST_NETWORK, bech32: 'bcrt' })
  return address ?? ''
}

/** A shop that is to be paid where a test says. */
const openShop = async (coin?: CurrencyPlugin): Promise<Trader & { payTo: { address: string } }> => {
  const payTo = { address: '' }
  const shop = makeShop({
    answer: tapContext => {
      const spends: SpendInfo[] = [
        {
          tokenId: null,
          spendTargets: [{ publicAddress: payTo.address, nativeAmount: tapContext.request.nativeAmount }]
        }
      ]
      tapContext.offer({ ...offerOf(tapContext), payment: { spends } })
    }
  })
  return { ...(await openTrader([shop], coin)), payTo }
}

test('a swap that pays an address of any wallet of the account is refused, though it was never shown, saved or paid', async t => {
  const trader = await openShop()
  t.teardown(() => trader.close())
  const { account, btc, payTo } = trader
  const [paused, archived] = await account.createCurrencyWallets(
    ['Paused', 'Archived'].map(name => ({ type: 'wallet:bitcoin', name }))
  )
  if (paused?.ok !== true || archived?.ok !== true) throw new Error('There are no wallets')
  await paused.wallet.changePaused(true)
  await account.changeWalletStates({ [archived.walletId]: { archived: true } })
  for (const wallet of [btc, paused.wallet, archived.wallet]) {
    const xpub = await account.walletKeys.getDisplayPublicKey(wallet.id)
    t.regex(xpub, /^vpub/)
    for (const [change, index] of [
      [0, 40],
      [1, 199]
    ] as const) {
      payTo.address = addressAt(xpub, change, index)
      const [quote] = await account.fetchSwapQuotes(trader.swapRequest())
      const code = { code: 'SWAP_CHANGED', message: /pays an address of your own/ }
      await t.throwsAsync(async () => quote?.approve(), code, `${wallet.name} ${change}/${index}`)
    }
  }
  t.deepEqual(
    (await btc.getTransactions()).filter(({ isSend }) => isSend),
    []
  )
})

/** Bitcoin, whose engine cannot be made for a wallet that comes while `isBroken`, then or later. */
const coinWithoutEngines = (): { readonly coin: CurrencyPlugin; isBroken: boolean } => {
  const broken = new Set<string>()
  const coin: CurrencyPlugin = {
    ...bitcoin,
    apply(host) {
      const makeEngine: typeof host.hooks.makeEngine = {
        tapPromise: (name, make) =>
          host.hooks.makeEngine.tapPromise(name, async request => {
            if (state.isBroken) broken.add(request.walletInfo.id)
            if (broken.has(request.walletInfo.id)) throw new Error('The engine cannot be made')
            return make(request)
          })
      }
      return bitcoin.apply({ ...host, hooks: { ...host.hooks, makeEngine } })
    }
  }
  const state = { coin, isBroken: false }
  return state
}

test('a swap that pays an address of a wallet whose engine cannot be made is refused, and the check counts as complete', async t => {
  const plugin = coinWithoutEngines()
  const trader = await openShop(plugin.coin)
  t.teardown(() => trader.close())
  const { account, payTo } = trader
  plugin.isBroken = true
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Without an engine' })
  await waitFor(() => wallet.engine.getSnapshot().state === 'failed')
  plugin.isBroken = false
  payTo.address = addressAt(await account.walletKeys.getDisplayPublicKey(wallet.id), 0, 40)
  const [own] = await account.fetchSwapQuotes(trader.swapRequest())
  await t.throwsAsync(async () => own?.approve(), {
    code: 'SWAP_CHANGED',
    message: /pays an address of your own/
  })
  payTo.address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const [other] = await account.fetchSwapQuotes(trader.swapRequest())
  const checks: boolean[] = []
  await other?.approve({
    async confirm({ isOwnCheckComplete }) {
      checks.push(isOwnCheckComplete)
      return true
    }
  })
  t.deepEqual(checks, [true])
})

test('a swap to an invalid payee is refused, and a wallet that cannot check addresses gives the reason', async t => {
  const check = (parseUri: () => Promise<object>) => {
    const fromWallet = { currencyInfo: { displayName: 'Toycoin' }, parseUri }
    const findOwn = async () => ({ own: new Set<string>(), isComplete: true })
    return checkPayees(
      { pluginId: 'shop', fromWallet, deposit: undefined, findOwn } as unknown as PayeeCheck,
      [{ tokenId: null, spendTargets: [{ publicAddress: 'there' }] }]
    )
  }
  const refused = { code: 'SWAP_CHANGED', message: /none of Toycoin/ }
  for (const publicAddress of [undefined, ''])
    await t.throwsAsync(
      check(async () => ({ publicAddress })),
      refused
    )
  await t.throwsAsync(
    check(async () => {
      throw new WalletError('ADDRESS_INVALID', { rule: 'of another network' } as never)
    }),
    refused
  )
  await t.throwsAsync(
    check(async () => {
      throw new Error('The plugin did not load')
    }),
    { message: 'The plugin did not load' }
  )
})

const [ROUTER, THIEF] = ['0xAb'.padEnd(42, '1'), '0xcd'.padEnd(42, '2')] as const
const [APPROVE, INCREASE, APPROVE_ALL] = ['095ea7b3', '39509351', 'a22cb465'] as const

/** The data of a call, without 0x. */
const callOf = (selector: string, spender: string, amount: bigint): string =>
  selector + spender.slice(2).toLowerCase().padStart(64, '0') + amount.toString(16).padStart(64, '0')

const spendWith = (more: Partial<SpendInfo>, target: JsonObject = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: ROUTER, ...target }],
  ...more
})

/** Every place of a spend in which data of a call may stand. */
const PLACES: readonly ((data: string) => SpendInfo)[] = [
  data => spendWith({ memos: [{ type: 'hex', value: data }] }),
  data => spendWith({ memos: [{ type: 'hex', value: `0x${data.toUpperCase()}` }] }),
  data => spendWith({ memos: [{ type: 'text', value: data }] }),
  data => spendWith({ otherParams: { data: `0x${data}` } }),
  data => spendWith({ otherParams: { tx: [{ deep: data }] } }),
  data => spendWith({}, { otherParams: { data } }),
  data => spendWith({}, { memo: `0x${data}` }),
  data => spendWith({}, { uniqueIdentifier: data })
]

const verdictOf = (...spends: readonly SpendInfo[]): string => {
  try {
    const rule = { pluginId: 'shop', fromNativeAmount: nativeAmount('1000') }
    return readAllowances(rule, spends)
      .map(({ spender, nativeAmount: amount }) => `${spender} ${amount}`)
      .join()
  } catch (error) {
    return error instanceof WalletError ? `${error.code}: ${error.message}` : String(error)
  }
}

test('wherever the data of a call stands, an approval lets the payee alone take what the swap costs at most', t => {
  const payment = spendWith({})
  for (const [at, place] of PLACES.entries()) {
    const verdict = (data: string): string => verdictOf(place(data), payment)
    for (const selector of [APPROVE, INCREASE]) {
      t.is(verdict(callOf(selector, ROUTER, 1000n)), `${ROUTER.toLowerCase()} 1000`, `place ${at}`)
      t.is(verdict(callOf(selector, ROUTER, 0n)), `${ROUTER.toLowerCase()} 0`)
      t.regex(verdict(callOf(selector, ROUTER, 1001n)), /^SWAP_CHANGED.*1001 native units instead of 1000/)
      t.regex(verdict(callOf(selector, THIEF, 1n)), /^SWAP_CHANGED.*to take your tokens/)
      t.regex(verdict(callOf(selector, ROUTER, 2n ** 256n - 1n)), /^SWAP_CHANGED.*unlimited/)
    }
    for (const selector of [APPROVE_ALL, 'a9059cbb'])
      t.regex(verdict(callOf(selector, ROUTER, 1n)), /^SWAP_CHANGED.*something else/, `place ${at}`)
    const dirty = callOf(APPROVE, ROUTER, 1n).replace('0000', '0001')
    t.regex(verdict(dirty), /^SWAP_CHANGED.*something else/)
  }
})

test('a payment gives no allowance, wherever it stands, and may call anything else', t => {
  for (const place of PLACES) {
    for (const selector of [APPROVE, INCREASE, APPROVE_ALL])
      t.regex(verdictOf(place(callOf(selector, ROUTER, 1n))), /^SWAP_CHANGED.*allowance with the payment/)
    t.is(verdictOf(place(callOf('a9059cbb', ROUTER, 1n))), '')
  }
  t.is(verdictOf(), '')
})

test('a payment to the deposit of the receiving wallet alone searches no wallet, and leaves no doubt', async t => {
  const queried: string[][] = []
  const check = (deposit: string | undefined): PayeeCheck => ({
    ...{ pluginId: 'shop', deposit },
    fromWallet: {
      currencyInfo: { pluginId: 'coin', displayName: 'Coin' },
      parseUri: async (uri: string) => ({ publicAddress: uri.toLowerCase() })
    } as unknown as PayeeCheck['fromWallet'],
    async findOwn(_, addresses) {
      queried.push([...addresses])
      return { own: new Set(), isComplete: false }
    }
  })
  const spends = [{ tokenId: null, spendTargets: [{ publicAddress: 'DEPOSIT' }] }]
  const read = [{ tokenId: null, spendTargets: [{ publicAddress: 'deposit' }] }]
  t.deepEqual(await checkPayees(check('deposit'), spends), { spends: read, isComplete: true })
  t.deepEqual(queried, [])
  t.deepEqual(await checkPayees(check('other'), spends), { spends: read, isComplete: false })
  t.deepEqual(await checkPayees(check(undefined), spends), { spends: read, isComplete: false })
  t.deepEqual(queried, [['deposit'], ['deposit']])
})

test('a text that is no data of a call says nothing of allowances', t => {
  const payment = spendWith({})
  for (const text of [
    'z'.repeat(72),
    `0x${'z'.repeat(72)}`,
    ROUTER,
    `0x${'ab'.repeat(32)}`,
    'ab'.repeat(20),
    'ab'.repeat(32),
    'abcdef01',
    '0xabcdef',
    'ab'.repeat(37),
    ''
  ])
    t.is(
      verdictOf(spendWith({ otherParams: { text, list: [1, null, true] } }, { memo: text }), payment),
      '',
      text
    )
  for (const data of ['0xabcdef01', 'ab'.repeat(36), `0x${'ab'.repeat(37)}`])
    t.regex(verdictOf(spendWith({ otherParams: { data } }), payment), /something else/, data)
  t.regex(verdictOf(spendWith({ memos: [{ type: 'hex', value: 'ab' }] }), payment), /something else/)
  t.is(verdictOf(spendWith({ memos: [{ type: 'text', value: 'ab' }] }), payment), '')
})
