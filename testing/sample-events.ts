import {
  type EngineSnapshot,
  nativeAmount,
  type OpenPaymentSnapshot,
  type OrderSnapshot,
  type QuoteSnapshot,
  type SpendSnapshot,
  type SwapRequestSnapshot
} from '../kernel/plugin-api.ts'
import type { ObserverHooks } from '../kernel/plugins/hook-types.ts'

/** For each hook of an observer some of what it may carry: with every optional field, and with none. */
export type SampleEvents = {
  readonly [Name in keyof ObserverHooks]: readonly Parameters<ObserverHooks[Name]['call']>[0][]
}

const units = {
  currencyCode: 'BTC',
  displayName: 'Bitcoin',
  denominations: [{ name: 'BTC', multiplier: '100000000' }]
}
const token = {
  ...{ tokenId: 'usdc', currencyCode: 'USDC', displayName: 'USD Coin' },
  denominations: [{ name: 'USDC', multiplier: '1000000' }]
}
const [some, none] = [nativeAmount('5000000'), nativeAmount('0')]
const details = { spendable: some, incoming: none, immature: none, reserved: none }
const target = { publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: '1000000' }
const request: SwapRequestSnapshot = {
  ...{ fromWalletId: 'w1', fromPluginId: 'bitcoin', fromTokenId: null, fromCurrencyCode: 'BTC' },
  ...{ toWalletId: 'w2', toPluginId: 'litecoin', toTokenId: null, toCurrencyCode: 'LTC' },
  ...{ nativeAmount: '1000000', quoteFor: 'from' }
} as const
const provider = {
  pluginId: 'coinbase',
  displayName: 'Coinbase',
  bias: -0.1,
  state: 'answered',
  pairCount: 1
} as const
const rate = {
  fromCurrency: 'BTC',
  toCurrency: 'iso:USD',
  rate: 64_000,
  source: 'coinbase',
  at: 1_767_225_600
}
const hop = { ...rate, ageSeconds: 12, bias: -0.1, isInverted: false, cost: 1.2 }
const wallet = {
  ...{ walletId: 'w1', pluginId: 'bitcoin', type: 'wallet:bitcoin', name: null, fiatCurrencyCode: 'iso:USD' },
  ...{ enabledTokenIds: [], detectedTokenIds: [], unactivatedTokenIds: [], tokens: [] },
  ...{ stakingStatus: { stakedAmounts: [] }, balances: {}, openPayments: [], isPaused: false }
}
const payment: OpenPaymentSnapshot = {
  ...{
    txid: 'f91d0a8a78462bc59398f2c5d7a84fcff491c26ba54c4833478b202796c8aafd',
    tokenId: null,
    currencyCode: 'BTC'
  },
  ...{ nativeAmount: '1001128', networkFee: '1128', targets: [target], at: 1_767_225_600_000, state: 'seen' }
} as const
const account = {
  ...{ accountId: 'a1', appId: '', isLoggedIn: true, isPaused: false },
  ...{ walletIds: ['w1'], activeWalletIds: ['w1'], archivedWalletIds: [], hiddenWalletIds: [] }
}
const engine: EngineSnapshot = {
  ...{ walletId: 'w1', pluginId: 'bitcoin', state: 'started', isPaused: false },
  ...{ syncRatio: 1, blockHeight: 840_000, since: 1_767_225_600 }
} as const
const quote: QuoteSnapshot = {
  ...{
    roundId: 'r1',
    request,
    pluginId: 'changenow',
    displayName: 'ChangeNOW',
    isDex: false,
    state: 'pending'
  }
} as const
const order: OrderSnapshot = {
  ...{
    txid: payment.txid,
    walletId: 'w1',
    pluginId: 'changenow',
    displayName: 'ChangeNOW',
    isFollowed: true
  },
  ...{ payoutWalletId: 'w2', payoutCurrencyCode: 'LTC', payoutNativeAmount: '740000000' },
  ...{ paidAt: 1_767_225_600_000, state: 'waiting', since: 1_767_225_600_000 }
}
const repo = { repoId: 'p1', accountId: 'a1', isOpen: true, pendingCount: 0, lastSync: 0, isSyncing: false }

/** The samples that the checks of an observer use. */
export const sampleEvents: SampleEvents = {
  pluginChanged: [
    { pluginId: 'gone', kind: undefined, state: 'missing', needsKeysTo: [] },
    {
      ...{ pluginId: 'bitcoin', kind: 'currency', state: 'applied', needsKeysTo: ['spend'] },
      currency: { ...units, walletType: 'wallet:bitcoin' }
    },
    {
      ...{ pluginId: 'shop', kind: 'swap', state: 'failed', needsKeysTo: [], errorCode: 'PLUGIN_INVALID' },
      ...{
        message: 'displayName is missing',
        mistake: { field: 'displayName', found: 'nothing', expected: 'a text' }
      }
    }
  ],
  usersChanged: [
    [],
    [
      { loginId: 'l1', isPinLoginEnabled: false, isLoggedIn: false },
      {
        loginId: 'l2',
        username: 'alice',
        lastLogin: '2026-01-01T00:00:00.000Z',
        isPinLoginEnabled: true,
        isLoggedIn: true
      }
    ]
  ],
  loginChanged: [
    { attemptId: 't1', method: 'password', stage: 'deriving' },
    { attemptId: 't1', method: 'edge', stage: 'failed', errorCode: 'PASSWORD' }
  ],
  accountChanged: [
    account,
    { ...account, username: 'alice', loginMethods: ['password', 'pin'], isPaused: true }
  ],
  lobbyChanged: [
    { lobbyId: 'b1', state: 'pending' },
    { lobbyId: 'b1', state: 'error', username: 'alice', errorCode: 'NETWORK', skippedReplies: 2 }
  ],
  repoChanged: [
    repo,
    {
      ...{ ...repo, walletId: 'w1', lastHash: 'abc', errorCode: 'NETWORK', keptCount: 1, isSyncing: true },
      ...{ rolledBackAt: 1_767_225_600, rolledBackFiles: 2, mergedCount: 1, doubtfulCount: 1 }
    }
  ],
  filesExchanged: [
    { repoId: 'p1', sent: [], received: [] },
    { repoId: 'p1', sent: ['Settings.json'], received: ['transaction/x.json'] }
  ],
  walletChanged: [
    wallet,
    {
      ...{ ...wallet, name: 'Savings', enabledTokenIds: ['usdc'], tokens: [token], isPaused: true },
      ...{ balances: { '': '5000000', usdc: '1' }, balanceDetails: { '': details } },
      openPayments: [
        payment,
        { ...payment, state: 'refused', reason: 'too low', replaces: 'x', replacedBy: 'y' }
      ]
    }
  ],
  engineChanged: [
    engine,
    {
      ...engine,
      state: 'failed',
      status: 'looking for a server',
      failure: 'none answers',
      errorCode: 'NETWORK'
    }
  ],
  transactionsChanged: [
    { walletId: 'w1', created: [], changed: [] },
    { walletId: 'w1', created: ['x'], changed: ['y', 'z'] }
  ],
  addressChanged: [{ walletId: 'w1' }],
  tokensDetected: [{ walletId: 'w1', tokenIds: ['usdc'] }],
  spendChanged: [
    { correlationId: 's1', walletId: 'w1', stage: 'intended' },
    { correlationId: 's1', walletId: 'w1', stage: 'saved', txid: payment.txid, confirmations: 2 }
  ],
  ratesChanged: [
    { pairs: [], providers: [] },
    {
      pairs: [rate],
      providers: [
        provider,
        { ...provider, state: 'failed', answeredAt: 1, durationMs: 5, errorCode: 'SERVER', message: 'no' }
      ]
    }
  ],
  routeFound: [
    { fromCurrency: 'BTC', toCurrency: 'BTC', rate: 1, hops: [], cost: 0, isStale: false },
    { fromCurrency: 'BTC', toCurrency: 'iso:USD', rate: 64_000, hops: [hop], cost: 1.2, isStale: true }
  ],
  quoteChanged: [
    quote,
    {
      ...{
        ...quote,
        state: 'resolved',
        quoteId: 'q1',
        fromNativeAmount: '1000000',
        toNativeAmount: '740000000'
      },
      ...{
        minReceiveAmount: '1',
        networkFee: '321',
        isEstimate: true,
        canBePartial: false,
        expiresAt: 1_767_226_200_000
      },
      ...{
        maxFulfillmentSeconds: 600,
        hasPromoCode: true,
        fate: 'approved',
        rank: 1,
        rankReason: 'better',
        durationMs: 9
      }
    },
    {
      ...{ ...quote, state: 'failed', errorCode: 'SWAP_BELOW_LIMIT', message: 'Amount is too low' },
      ...{ limit: '10000', direction: 'from' }
    }
  ],
  orderChanged: [
    order,
    {
      ...{ ...order, orderId: 'order-1', orderUri: 'https://shop.example.org/order-1', state: 'paidOut' },
      ...{
        checkedAt: 1_767_226_200_000,
        payoutTxid: 'x',
        refundTxid: 'y',
        isFollowed: false,
        failure: 'no answer'
      }
    }
  ],
  pluginFault: [
    { pluginId: 'shop', hook: 'fetchQuotes', errorName: 'TypeError', message: 'odd' },
    { pluginId: 'shop', hook: 'fetchQuotes', errorName: 'WalletError', errorCode: 'SERVER', message: 'odd' }
  ],
  logged: [{ source: 'shop', level: 'warn', text: 'odd', at: '2026-01-01T00:00:00.000Z' }],
  tapRan: [
    { hook: 'ready', pluginId: 'shop', durationMs: 1, outcome: 'done' },
    { hook: 'fetchQuotes', pluginId: 'shop', correlationId: 'r1', durationMs: 1, outcome: 'failed' }
  ]
}

/** A spend as a policy is given it. */
export const sampleSpend: SpendSnapshot = {
  ...{
    use: 'spend',
    correlationId: 's1',
    walletId: 'w1',
    pluginId: 'bitcoin',
    currencyCode: 'BTC',
    tokenId: null
  },
  ...{ nativeAmount: '1001128', networkFee: '1128', targets: [target] }
}

/** The request of sample quotes. */
export const sampleRequest: SwapRequestSnapshot = request

/** Watches data that a plugin is given: what it tries to change is noted, and nothing changes. */
export const readOnly = <T>(data: T, onChange: (what: string) => void): T => {
  if (typeof data !== 'object' || data === null) return data
  const refuse =
    (what: string) =>
    (_target: object, name?: unknown): boolean => {
      onChange(`${what} ${String(name)}`)
      // The same as for frozen data.
      return false
    }
  // A proxy of frozen data would have to give it as it is.
  return new Proxy(Array.isArray(data) ? [...data] : { ...data }, {
    get: (target, name) => readOnly(Reflect.get(target, name), onChange),
    set: refuse('sets'),
    defineProperty: refuse('defines'),
    deleteProperty: refuse('deletes'),
    setPrototypeOf: refuse('changes')
  }) as T
}
