import test from 'ava'
import { nativeAmount, WalletError } from '../../../kernel/index.ts'
import { bestErrorOf, isExpected, swapErrorOf } from '../../../kernel/swap/errors.ts'

const asset = (currencyCode: string) => ({
  pluginId: currencyCode.toLowerCase(),
  tokenId: null,
  currencyCode,
  multiplier: '100'
})
const place = {
  pluginId: 'shop',
  displayName: 'Shop',
  hook: 'fetchQuotes',
  request: { from: asset('BTC'), to: asset('LTC'), nativeAmount: nativeAmount('5'), quoteFor: 'from' }
} as const

/** An error as plugins of the deployed system throw it: its own class, its fields beside the name. */
const named = (name: string, fields: object = {}): Error =>
  Object.assign(new Error('theirs'), { name, ...fields })
const best = (...errors: unknown[]): WalletError | undefined =>
  bestErrorOf(errors.map(error => swapErrorOf(place, error)))
const below = (nativeMin: string) => named('SwapBelowLimitError', { nativeMin })
const above = (nativeMax: string) => named('SwapAboveLimitError', { nativeMax })

const LADDER: readonly (readonly [code: string, error: Error])[] = [
  ['INSUFFICIENT_FUNDS', named('InsufficientFundsError', { currencyCode: 'BTC' })],
  ['SWAP_BELOW_LIMIT', below('10')],
  ['SWAP_ABOVE_LIMIT', above('10')],
  ['SWAP_PERMISSION', named('SwapPermissionError', { reason: 'geoRestriction' })],
  ['SWAP_CURRENCY', named('SwapCurrencyError')],
  ['PLUGIN_FAILED', new Error('something else')]
]

test('the most useful error is shown: funds, minimum, maximum, permission, pair, others [8.46] [8.47] [8.48] [8.49] [8.50] [8.51]', t => {
  for (const [at, [code, error]] of LADDER.entries()) {
    const lower = LADDER.slice(at).map(([, one]) => one)
    t.is(best(...lower)?.code, code as WalletError['code'])
    t.is(best(...lower.toReversed())?.code, code as WalletError['code'])
    t.is(best(error)?.code, code as WalletError['code'])
  }
  t.is(best(LADDER[1]?.[1], named('PendingFundsError'))?.code, 'PENDING_FUNDS')
  t.is(best(), undefined)
})

test('the smallest minimum and the largest maximum win, as integers; one without a figure loses to any [8.47] [8.48]', t => {
  t.like(best(below('100'), below('9'), below(''), below('20'))?.details, { nativeMin: '9' })
  t.like(best(above('100'), above('9'), above(''), above('20'))?.details, { nativeMax: '100' })
  const huge = '9007199254740993'
  t.like(best(above('9007199254740992'), above(huge))?.details, { nativeMax: huge })
  t.like(best(below(''), below('7'))?.details, { nativeMin: '7' })
})

test('of equal errors the first is shown', t => {
  const [one, other] = [new Error('one'), new Error('other')]
  t.like(best(one, other)?.details, { reason: 'Error: one' })
  t.is(best(named('PendingFundsError'), named('InsufficientFundsError'))?.code, 'PENDING_FUNDS')
})

test('swap errors are known by their names and blame the provider that threw them [8.39] [8.40] [8.41] [8.42]', t => {
  const said = (error: unknown) => {
    const { name, message, details } = swapErrorOf(place, error)
    return { name, message, details }
  }
  t.deepEqual(said(named('SwapAboveLimitError', { nativeMax: '007', direction: 'to', pluginId: 'rival' })), {
    name: 'SwapAboveLimitError',
    message: 'Amount is too high',
    details: { pluginId: 'shop', nativeMax: '7', direction: 'to' }
  })
  t.deepEqual(said(named('SwapBelowLimitError', { nativeMin: '-5', direction: 'up' })), {
    name: 'SwapBelowLimitError',
    message: 'Amount is too low',
    details: { pluginId: 'shop', nativeMin: '', direction: 'from' }
  })
  t.deepEqual(said(named('SwapCurrencyError', { from: 'ETH' })), {
    name: 'SwapCurrencyError',
    message: 'Shop does not support BTC to LTC',
    details: { displayName: 'Shop', pluginId: 'shop', from: 'BTC', to: 'LTC' }
  })
  t.deepEqual(said(named('SwapPermissionError', { reason: 'whim' })), {
    name: 'SwapPermissionError',
    message: 'You are not allowed to make this trade',
    details: { pluginId: 'shop' }
  })
  t.deepEqual(said(new WalletError('SWAP_PERMISSION', { pluginId: 'rival', reason: 'noVerification' })), {
    name: 'SwapPermissionError',
    message: 'You are not allowed to make this trade',
    details: { pluginId: 'shop', reason: 'noVerification' }
  })
})

test('a lack of funds is reported with the error of the wallet, or the code of the paying asset [8.36]', t => {
  const own = new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'BTC', networkFee: '5' })
  t.is(swapErrorOf(place, own), own)
  t.deepEqual(swapErrorOf(place, named('InsufficientFundsError', { currencyCode: 5 })).details, {
    currencyCode: 'BTC'
  })
  t.is(swapErrorOf(place, named('PendingFundsError')).message, 'Not enough confirmed funds')
})

test('an error that does not belong to a swap is a failure of the plugin, also one that would make an application log in', t => {
  const otp = new WalletError('OTP', {} as never)
  for (const odd of [otp, new TypeError('x is undefined'), 'text', undefined, null, 5]) {
    t.is(swapErrorOf(place, odd).code, 'PLUGIN_FAILED')
    t.false(isExpected(swapErrorOf(place, odd)))
  }
  const isExpectedOf = (error: unknown): boolean => isExpected(swapErrorOf(place, error))
  t.true(isExpectedOf(new WalletError('NETWORK', { path: '/quote' })))
  t.true(isExpectedOf(new WalletError('SERVER', { message: 'Shop has an error of its own' })))
  t.true(isExpectedOf(named('SwapCurrencyError')))
  t.false(isExpectedOf(new WalletError('BOGUS_DATA', { pluginId: 'shop', what: 'swap offer', path: '' })))
})

test('no error of a provider reports the outcome of a payment, and an unreadable one becomes readable', t => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const trap = Object.defineProperty(new Error('trap'), 'name', {
    get: () => {
      throw new Error('looked at')
    }
  })
  const lies = [
    new WalletError('BROADCAST_UNKNOWN', { txid: 'a' }),
    new WalletError('BROADCAST_REFUSED', { txid: 'a', reason: 'no' }),
    new WalletError('SIGN_REFUSED', { pluginId: 'policy', reason: 'no' }),
    new WalletError('MAX_FEE', { networkFee: '1', maxFee: '1', currencyCode: 'BTC' }),
    Object.assign(new Error('bare'), { code: 'NETWORK' })
  ]
  for (const odd of [...lies, proxy, trap]) t.is(swapErrorOf(place, odd).code, 'PLUGIN_FAILED')
})

test('a text that a provider throws is cut and freed of anything like a key before it is shown', t => {
  const { details } = swapErrorOf(place, new Error(`key ${'a'.repeat(64)} ${'long '.repeat(1000)}`))
  const { reason } = details as { readonly reason: string }
  t.false(reason.includes('aaaa'))
  t.true(reason.length <= 500)
})
