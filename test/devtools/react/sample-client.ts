import type { Actions } from '../../../app/actions/actions.ts'
import type { ClientStatus, DevtoolsClient } from '../../../devtools/core/client/client.ts'
import type { JournalEvent } from '../../../devtools/core/model/facts.ts'
import type { Slices, View } from '../../../devtools/core/model/slices.ts'
import {
  type AmountUnits,
  compact,
  type EngineSnapshot,
  Observable,
  type QuoteSnapshot,
  type RouteHopSnapshot,
  type WalletSnapshot
} from '../../../kernel/index.ts'

/** The moment at which the sample was taken, in Unix milliseconds. */
export const SAMPLE_NOW = 1_767_268_800_000
const seconds = SAMPLE_NOW / 1000

/** A client that shows what it is given, and answers actions from a table. */
export const makeSampleClient = (options: {
  readonly view?: Partial<View>
  readonly events?: readonly JournalEvent[]
  readonly status?: Partial<ClientStatus>
  readonly answers?: Partial<{ readonly [K in keyof Actions]: Actions[K]['out'] }>
}): DevtoolsClient => ({
  view: new Observable<View>({ ...emptyView, ...options.view }),
  events: new Observable<readonly JournalEvent[]>(options.events ?? []),
  status: new Observable<ClientStatus>({
    connection: 'live',
    isReadOnly: false,
    hasWorld: true,
    missed: 0,
    ...options.status
  }),
  runAction: async name => {
    const answer = options.answers?.[name]
    if (answer === undefined)
      throw Object.assign(new Error('The sample does not do this.'), { code: 'READ_ONLY' })
    return answer
  },
  close: () => {}
})

/** A kernel that nobody has used. */
const emptyView: View = {
  plugins: new Map(),
  users: new Map(),
  logins: new Map(),
  accounts: new Map(),
  lobbies: new Map(),
  repos: new Map(),
  wallets: new Map(),
  engines: new Map(),
  spends: new Map(),
  rateProviders: new Map(),
  pairs: new Map(),
  routes: new Map(),
  quotes: new Map(),
  orders: new Map(),
  world: new Map()
}

const wallet = (
  walletId: string,
  pluginId: string,
  name: string | null,
  balance: string
): WalletSnapshot => ({
  walletId,
  pluginId,
  type: `wallet:${pluginId}`,
  name,
  fiatCurrencyCode: 'iso:EUR',
  enabledTokenIds: [],
  detectedTokenIds: [],
  unactivatedTokenIds: [],
  tokens: [],
  stakingStatus: { stakedAmounts: [] },
  openPayments: [],
  balances: { '': balance },
  isPaused: false
})

const engine = (walletId: string, pluginId: string, facts: Partial<EngineSnapshot>): EngineSnapshot => ({
  walletId,
  pluginId,
  state: 'started',
  isPaused: false,
  syncRatio: 1,
  blockHeight: 871_204,
  since: seconds - 420,
  ...facts
})

const hop = (
  fromCurrency: string,
  toCurrency: string,
  rate: number,
  source: string,
  age: number
): RouteHopSnapshot => {
  const isInverted = source === 'ecb'
  const bias = source === 'ecb' ? 0.25 : 0
  return {
    fromCurrency,
    toCurrency,
    rate,
    source,
    at: seconds - age,
    ageSeconds: age,
    bias,
    isInverted,
    cost: age / (30 + age) + bias + (isInverted ? 1.1 : 1)
  }
}

const pair = (
  fromCurrency: string,
  toCurrency: string,
  rate: number,
  source: string,
  age: number
): Slices['pairs'] => ({ fromCurrency, toCurrency, rate, source, at: seconds - age })

const quote = (pluginId: string, displayName: string, facts: Partial<QuoteSnapshot>): QuoteSnapshot => ({
  roundId: 'round-2',
  request: {
    ...{ fromWalletId: MAIN, fromPluginId: 'bitcoin', fromTokenId: null, fromCurrencyCode: 'BTC' },
    ...{ toWalletId: SPARE, toPluginId: 'litecoin', toTokenId: null, toCurrencyCode: 'LTC' },
    nativeAmount: '1000000',
    quoteFor: 'from'
  },
  pluginId,
  displayName,
  isDex: false,
  state: 'resolved',
  ...facts
})

const table = <T>(idOf: (snapshot: T) => string, ...snapshots: readonly T[]): ReadonlyMap<string, T> =>
  new Map(snapshots.map(snapshot => [idOf(snapshot), snapshot]))

const plugin = (pluginId: string, kind: Slices['plugins']['kind']): Slices['plugins'] => ({
  pluginId,
  kind,
  state: 'applied',
  needsKeysTo: []
})

const unitsOf = (currencyCode: string, displayName: string, decimals: number): AmountUnits => ({
  ...{ currencyCode, displayName },
  denominations: [{ name: currencyCode, multiplier: `1${'0'.repeat(decimals)}` }]
})

const currency = (pluginId: string, currencyCode: string, decimals: number): Slices['plugins'] => ({
  ...plugin(pluginId, 'currency'),
  currency: { ...unitsOf(currencyCode, `The ${pluginId}`, decimals), walletType: `wallet:${pluginId}` }
})

/** With the number that a custom fee of Bitcoin's family is made of. */
const withRate = ({ currency: taken, ...rest }: Slices['plugins']): Slices['plugins'] => ({
  ...rest,
  ...compact({
    currency: taken && {
      ...taken,
      customFeeTemplate: [{ key: 'satPerByte', displayName: 'Fee rate', unit: 'sat/vB' }]
    }
  })
})

const MAIN = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
const SPARE = 'o4h2mTbO0nJ2Cq9v4T2Xk9SgWqfB0i9nY3o5l8uKx2M='
const COLD = 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU='
const OLD = 'Zp1kX9wQ3rT5yU7iO0aS2dF4gH6jK8lMvBnCxEzAqWs='

/** A kernel in use: four wallets, of which one failed, a round of quotes, routes and repos. */
export const sampleView: View = {
  ...emptyView,
  plugins: table(
    ({ pluginId }) => pluginId,
    plugin('memory', 'storage'),
    withRate(currency('bitcoin', 'BTC', 8)),
    withRate(currency('litecoin', 'LTC', 8)),
    { ...currency('faketoken', 'FTK', 2), needsKeysTo: ['sync'] },
    plugin('coingecko', 'rates'),
    plugin('ecb', 'rates'),
    plugin('thornbridge', 'swap'),
    plugin('swiftly', 'swap'),
    { ...plugin('harbour', 'swap'), state: 'failed', errorCode: 'PLUGIN_BROKEN' },
    { pluginId: 'monero', kind: undefined, state: 'missing', needsKeysTo: [] },
    plugin('devtools', 'observer')
  ),
  accounts: table(({ accountId }) => accountId, {
    accountId: 'account-1',
    username: 'ada',
    appId: '',
    isLoggedIn: true,
    walletIds: [MAIN, SPARE, COLD, OLD],
    activeWalletIds: [MAIN, SPARE, COLD, OLD],
    archivedWalletIds: [],
    hiddenWalletIds: [],
    isPaused: false
  }),
  wallets: table(
    ({ walletId }) => walletId,
    wallet(MAIN, 'bitcoin', 'Savings', '184250000'),
    wallet(SPARE, 'litecoin', 'Spare change', '90071992547409'),
    {
      ...wallet(COLD, 'faketoken', null, '0'),
      balances: { '': '1200', badf00d5: '77000000' },
      enabledTokenIds: ['badf00d5'],
      tokens: [{ tokenId: 'badf00d5', ...unitsOf('USDX', 'Dollar X', 6) }]
    },
    wallet(OLD, 'bitcoin', 'Old phone', '0')
  ),
  engines: table(
    ({ walletId }) => walletId,
    engine(MAIN, 'bitcoin', { status: 'watching 42 addresses' }),
    engine(SPARE, 'litecoin', { syncRatio: 0.62, blockHeight: 2_781_003, status: 'looking for its history' }),
    engine(COLD, 'faketoken', { isPaused: true, blockHeight: 0, syncRatio: 0 }),
    engine(OLD, 'bitcoin', {
      state: 'failed',
      syncRatio: 0,
      blockHeight: 0,
      failure: 'No server of its list answers within 10 seconds',
      errorCode: 'NETWORK_ERROR'
    })
  ),
  repos: table(
    ({ repoId }) => repoId,
    {
      ...{ repoId: 'repo-ada', accountId: 'account-1', isOpen: true },
      pendingCount: 0,
      lastHash: '9f1c0aa84d6e77b2c3c1f0d29a7b6e5f4a3b2c1d',
      lastSync: seconds - 12,
      isSyncing: false
    },
    {
      ...{ repoId: MAIN, accountId: 'account-1', walletId: MAIN, isOpen: true },
      pendingCount: 3,
      lastHash: '51aa0e7cbb1290fe10aa3d9c7b6e5f4a3b2c1d00',
      lastSync: seconds - 340,
      isSyncing: false
    },
    {
      ...{ repoId: SPARE, accountId: 'account-1', walletId: SPARE, isOpen: true },
      ...{ pendingCount: 0, lastSync: 0, isSyncing: true }
    },
    {
      ...{ repoId: COLD, accountId: 'account-1', walletId: COLD, isOpen: true },
      pendingCount: 1,
      lastSync: seconds - 86_400 * 3,
      isSyncing: false,
      errorCode: 'NETWORK_ERROR'
    }
  ),
  rateProviders: table(
    ({ pluginId }) => pluginId,
    {
      pluginId: 'coingecko',
      displayName: 'CoinGecko',
      bias: 0,
      state: 'answered',
      pairCount: 214,
      answeredAt: seconds - 21,
      durationMs: 310
    },
    {
      pluginId: 'ecb',
      displayName: 'European Central Bank',
      bias: 0.25,
      state: 'answered',
      pairCount: 30,
      answeredAt: seconds - 5200
    },
    {
      pluginId: 'kraken',
      displayName: 'Kraken',
      bias: 0.1,
      state: 'silent',
      pairCount: 12,
      answeredAt: seconds - 900
    },
    {
      pluginId: 'openrates',
      displayName: 'Open Rates',
      bias: 0,
      state: 'failed',
      pairCount: 0,
      errorCode: 'NETWORK_ERROR',
      message: 'It answered 503 three times'
    }
  ),
  pairs: table(
    ({ fromCurrency, toCurrency, source }) => `${fromCurrency} ${toCurrency} ${source}`,
    pair('BTC', 'iso:USD', 97_013.2, 'coingecko', 21),
    pair('ETH', 'iso:USD', 3301, 'kraken', 7800),
    pair('LTC', 'iso:USD', 102.4, 'coingecko', 21),
    pair('iso:EUR', 'iso:USD', 1.085, 'ecb', 5200),
    pair('iso:EUR', 'iso:GBP', 0.8402, 'ecb', 5200),
    pair('BTC', 'iso:EUR', 89_390.1, 'kraken', 900)
  ),
  routes: table(({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}`, {
    fromCurrency: 'BTC',
    toCurrency: 'iso:EUR',
    rate: 89_412.5,
    cost: 3.4,
    isStale: false,
    hops: [hop('BTC', 'iso:USD', 97_013.2, 'coingecko', 21), hop('iso:USD', 'iso:EUR', 0.92165, 'ecb', 5200)]
  }),
  quotes: table(
    ({ roundId, pluginId }) => `${roundId} ${pluginId}`,
    quote('thornbridge', 'Thornbridge', {
      quoteId: 'quote-1',
      fromNativeAmount: '1000000',
      toNativeAmount: '118842310',
      minReceiveAmount: '117653887',
      networkFee: '2260',
      isEstimate: true,
      isDex: true,
      expiresAt: SAMPLE_NOW + 96_000,
      maxFulfillmentSeconds: 1500,
      rank: 0,
      rankReason: 'gives 0.8 % more',
      durationMs: 412
    }),
    quote('swiftly', 'Swiftly', {
      quoteId: 'quote-2',
      fromNativeAmount: '1000000',
      toNativeAmount: '117890002',
      networkFee: '2260',
      isEstimate: false,
      expiresAt: SAMPLE_NOW + 31_000,
      rank: 1,
      durationMs: 655
    }),
    quote('mooring', 'Mooring', { state: 'pending' }),
    quote('harbour', 'Harbour Exchange', {
      state: 'failed',
      errorCode: 'SWAP_BELOW_LIMIT',
      message: 'The least it swaps is 2 500 000',
      limit: '2500000',
      direction: 'from',
      durationMs: 230
    }),
    quote('slowpoke', 'Slowpoke', { state: 'timed out', durationMs: 20_000 })
  )
}

/** What the sample tells when it is asked for a route. */
export const sampleRoutes: Actions['rates.route']['out'] = {
  route: sampleView.routes.get('BTC iso:EUR') ?? null,
  alternatives: [
    {
      fromCurrency: 'BTC',
      toCurrency: 'iso:EUR',
      rate: 89_390.1,
      cost: 3.9,
      isStale: false,
      hops: [hop('BTC', 'iso:EUR', 89_390.1, 'kraken', 900)]
    },
    {
      fromCurrency: 'BTC',
      toCurrency: 'iso:EUR',
      rate: 89_100,
      cost: 5.1,
      isStale: true,
      hops: [
        hop('BTC', 'ETH', 29.4, 'coingecko', 21),
        hop('ETH', 'iso:USD', 3301, 'kraken', 7800),
        hop('iso:USD', 'iso:EUR', 0.92165, 'ecb', 5200)
      ]
    }
  ]
}

const taps = ['fetchRates', 'makeEngine', 'openDisk', 'engineChanged', 'fetchQuotes']
const lines: readonly (readonly [string, string, string])[] = [
  ['info', 'kernel', 'logged in as ada'],
  ['info', 'bitcoin', 'watching 42 addresses'],
  ['warn', 'kraken', 'no answer within 5 seconds, asked again'],
  ['error', 'bitcoin', 'No server of its list answers within 10 seconds'],
  ['debug', 'ecb', 'read 30 rates of 2026-01-01']
]

/** `count` events, as a busy kernel makes them: taps, told snapshots and log lines. */
export const sampleEvents = (count: number): readonly JournalEvent[] =>
  Array.from({ length: count }, (_, seq) => {
    const at = SAMPLE_NOW - (count - seq) * 137
    const correlationId = `action-${Math.floor(seq / 4)}`
    if (seq % 3 === 0) {
      const [level = '', source = '', text = ''] = lines[(seq / 3) % lines.length] ?? []
      return {
        seq,
        at,
        hook: 'logged',
        subject: source,
        data: { level, source, text, at: new Date(at).toISOString() }
      }
    }
    const pluginId = seq % 2 === 0 ? 'bitcoin' : 'coingecko'
    const outcome = seq % 31 === 1 ? 'failed' : 'done'
    const hook = taps[seq % taps.length] ?? 'ready'
    return {
      seq,
      at,
      hook: 'tapRan',
      subject: pluginId,
      correlationId,
      data: { hook, pluginId, correlationId, durationMs: (seq % 17) * 1.3, outcome }
    }
  })
