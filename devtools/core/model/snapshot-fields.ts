import type {
  AmountUnits,
  BalanceDetails,
  CurrencySnapshot,
  Denomination,
  OpenPaymentSnapshot,
  RateProviderSnapshot,
  RouteHopSnapshot,
  StakingStatus,
  SwapRequestSnapshot,
  TokenSnapshot,
  UserSnapshot
} from '../../../kernel/index.ts'
import type { FactName, Facts } from './facts.ts'
import { chainText, chainTexts, type FieldsOf, masked, maybe, orNull, words } from './field.ts'
import type { SliceName, Slices } from './slices.ts'

const user: FieldsOf<UserSnapshot> = {
  loginId: 'text',
  username: maybe('text'),
  lastLogin: maybe('text'),
  isPinLoginEnabled: 'flag',
  isLoggedIn: 'flag',
  isDeviceOnly: maybe('flag')
}

const balanceParts: FieldsOf<BalanceDetails> = {
  spendable: 'text',
  incoming: 'text',
  immature: 'text',
  reserved: 'text',
  frozen: maybe('text'),
  grade: maybe(words({ agreed: true, claimed: true })),
  paymentsGrade: maybe(words({ agreed: true, claimed: true, proven: true }))
}

const rateProvider: FieldsOf<RateProviderSnapshot> = {
  pluginId: 'text',
  displayName: 'text',
  bias: 'number',
  state: words({ idle: true, asked: true, answered: true, silent: true, failed: true, retired: true }),
  pairCount: 'number',
  answeredAt: maybe('number'),
  durationMs: maybe('number'),
  errorCode: maybe('text'),
  message: maybe(masked)
}

const hop: FieldsOf<RouteHopSnapshot> = {
  fromCurrency: 'text',
  toCurrency: 'text',
  rate: 'number',
  source: 'text',
  at: 'number',
  ageSeconds: 'number',
  bias: 'number',
  isInverted: 'flag',
  cost: 'number'
}

const staked: FieldsOf<StakingStatus['stakedAmounts'][number]> = {
  nativeAmount: 'text',
  unlockDate: maybe('text'),
  // Whatever an engine likes to put there.
  otherParams: 'hidden'
}

const openPaymentFields: FieldsOf<OpenPaymentSnapshot> = {
  txid: chainText,
  tokenId: orNull('text'),
  currencyCode: 'text',
  nativeAmount: 'text',
  networkFee: 'text',
  networkFees: maybe({ each: { tokenId: orNull('text'), nativeAmount: 'text' } }),
  targets: { each: { publicAddress: chainText, nativeAmount: 'text' } },
  at: 'number',
  state: words({
    signed: true,
    refused: true,
    notSeen: true,
    seen: true,
    notInMempool: true,
    replaced: true,
    expired: true,
    dropped: true
  }),
  // A node's own words.
  reason: maybe(masked),
  replaces: maybe(chainText),
  replacedBy: maybe(chainText)
}

const request: FieldsOf<SwapRequestSnapshot> = {
  fromWalletId: 'text',
  fromPluginId: 'text',
  fromTokenId: orNull('text'),
  fromCurrencyCode: 'text',
  toWalletId: 'text',
  toPluginId: 'text',
  toTokenId: orNull('text'),
  toCurrencyCode: 'text',
  nativeAmount: 'text',
  quoteFor: words({ from: true, max: true, to: true })
}

const denomination: FieldsOf<Denomination> = { name: 'text', multiplier: 'text', symbol: maybe('text') }

const units: FieldsOf<AmountUnits> = {
  currencyCode: 'text',
  displayName: 'text',
  denominations: { each: denomination }
}

const currency: FieldsOf<CurrencySnapshot> = {
  ...units,
  walletType: 'text',
  isSignedByKernel: maybe('flag'),
  customFeeTemplate: maybe({ each: { key: 'text', displayName: 'text', unit: 'text' } })
}

const token: FieldsOf<TokenSnapshot> = { ...units, tokenId: 'text' }

/** The fields of each table's rows. */
export const rowFields: { readonly [K in SliceName]: FieldsOf<Slices[K]> } = {
  plugins: {
    pluginId: 'text',
    kind: maybe(
      words({ currency: true, rates: true, swap: true, storage: true, policy: true, observer: true })
    ),
    state: words({ applied: true, failed: true, missing: true }),
    needsKeysTo: 'texts',
    currency: maybe({ object: currency }),
    errorCode: maybe('text'),
    message: maybe(masked),
    // Names of our interface, but for what the plugin has there.
    mistake: maybe({ object: { field: 'text', found: masked, expected: 'text', hint: maybe('text') } })
  },
  users: user,
  logins: {
    attemptId: 'text',
    method: words({ create: true, password: true, pin: true, key: true, edge: true, recovery: true }),
    stage: words({ deriving: true, asking: true, opening: true, ready: true, failed: true }),
    errorCode: maybe('text')
  },
  accounts: {
    accountId: 'text',
    username: maybe('text'),
    appId: 'text',
    isLoggedIn: 'flag',
    loginMethods: maybe('texts'),
    walletIds: 'texts',
    activeWalletIds: 'texts',
    archivedWalletIds: 'texts',
    hiddenWalletIds: 'texts',
    isPaused: 'flag',
    isDeviceOnly: maybe('flag')
  },
  lobbies: {
    lobbyId: 'text',
    state: words({ pending: true, started: true, done: true, error: true, closed: true }),
    username: maybe('text'),
    errorCode: maybe('text'),
    skippedReplies: maybe('number')
  },
  repos: {
    repoId: 'text',
    accountId: 'text',
    walletId: maybe('text'),
    isOpen: 'flag',
    pendingCount: 'number',
    keptCount: maybe('number'),
    rolledBackAt: maybe('number'),
    rolledBackFiles: maybe('number'),
    lastHash: maybe('text'),
    lastSync: 'number',
    isSyncing: 'flag',
    isDeviceOnly: maybe('flag'),
    errorCode: maybe('text'),
    mergedCount: maybe('number'),
    doubtfulCount: maybe('number')
  },
  wallets: {
    walletId: 'text',
    pluginId: 'text',
    type: 'text',
    name: orNull('text'),
    fiatCurrencyCode: 'text',
    enabledTokenIds: 'texts',
    detectedTokenIds: 'texts',
    unactivatedTokenIds: 'texts',
    tokens: { each: token },
    stakingStatus: { object: { stakedAmounts: { each: staked } } },
    balances: 'table',
    balanceDetails: maybe({ values: balanceParts }),
    openPayments: { each: openPaymentFields },
    isPaused: 'flag',
    isWatchOnly: maybe('flag')
  },
  engines: {
    walletId: 'text',
    pluginId: 'text',
    state: words({ created: true, started: true, stopped: true, failed: true }),
    isPaused: 'flag',
    syncRatio: 'number',
    blockHeight: 'number',
    since: 'number',
    status: maybe(masked),
    failure: maybe(masked),
    errorCode: maybe('text')
  },
  spends: {
    correlationId: 'text',
    walletId: 'text',
    stage: words({ intended: true, signed: true, broadcast: true, saved: true, refused: true }),
    txid: maybe(chainText),
    // A word, or how deep it lies.
    confirmations: maybe('any')
  },
  rateProviders: rateProvider,
  pairs: { fromCurrency: 'text', toCurrency: 'text', rate: 'number', source: 'text', at: 'number' },
  routes: {
    fromCurrency: 'text',
    toCurrency: 'text',
    rate: 'number',
    hops: { each: hop },
    cost: 'number',
    isStale: 'flag'
  },
  quotes: {
    roundId: 'text',
    request: { object: request },
    pluginId: 'text',
    displayName: 'text',
    isDex: 'flag',
    state: words({ pending: true, resolved: true, failed: true, 'timed out': true }),
    quoteId: maybe('text'),
    fromNativeAmount: maybe('text'),
    toNativeAmount: maybe('text'),
    minReceiveAmount: maybe('text'),
    networkFee: maybe('text'),
    isEstimate: maybe('flag'),
    canBePartial: maybe('flag'),
    expiresAt: maybe('number'),
    maxFulfillmentSeconds: maybe('number'),
    hasPromoCode: maybe('flag'),
    fate: maybe(words({ approved: true, closed: true, expired: true })),
    rank: maybe('number'),
    rankReason: maybe('text'),
    durationMs: maybe('number'),
    errorCode: maybe('text'),
    message: maybe(masked),
    limit: maybe('text'),
    direction: maybe(words({ from: true, to: true }))
  },
  orders: {
    txid: chainText,
    walletId: 'text',
    pluginId: 'text',
    displayName: 'text',
    orderId: maybe(masked),
    orderUri: 'hidden',
    payoutWalletId: 'text',
    payoutCurrencyCode: 'text',
    payoutNativeAmount: 'text',
    paidAt: 'number',
    state: words({
      ...{ waiting: true, seen: true, exchanging: true, sending: true, paidOut: true },
      ...{ refunded: true, failed: true, late: true, unknown: true }
    }),
    since: 'number',
    checkedAt: maybe('number'),
    payoutTxid: maybe(chainText),
    refundTxid: maybe(chainText),
    isFollowed: 'flag',
    failure: maybe(masked)
  },
  world: { isOnline: 'flag' }
}

/** Every table, in the order in which a message lists them. */
export const sliceNames: readonly SliceName[] = Object.keys(rowFields) as SliceName[]

/** The fields of each event. */
export const factFields: { readonly [F in FactName]: FieldsOf<Facts[F]> } = {
  pluginChanged: rowFields.plugins,
  usersChanged: { users: { each: user } },
  loginChanged: rowFields.logins,
  accountChanged: {
    accountId: 'text',
    username: maybe('text'),
    appId: 'text',
    isLoggedIn: 'flag',
    loginMethods: maybe('texts'),
    isPaused: 'flag',
    isDeviceOnly: maybe('flag'),
    walletCount: 'number',
    activeCount: 'number',
    archivedCount: 'number',
    hiddenCount: 'number'
  },
  lobbyChanged: rowFields.lobbies,
  repoChanged: rowFields.repos,
  // The names that are made here are hashed; what another client calls its files is up to that client.
  filesExchanged: {
    repoId: 'text',
    sent: chainTexts,
    received: chainTexts,
    sentCount: 'number',
    receivedCount: 'number'
  },
  // How tokens are written is in the row of the wallet; each event would say it once more.
  walletChanged: { ...rowFields.wallets, tokens: 'hidden' },
  engineChanged: rowFields.engines,
  transactionsChanged: {
    walletId: 'text',
    created: chainTexts,
    changed: chainTexts,
    tokenIds: maybe('texts'),
    createdCount: 'number',
    changedCount: 'number'
  },
  addressChanged: { walletId: 'text' },
  tokensDetected: { walletId: 'text', tokenIds: 'texts' },
  spendChanged: rowFields.spends,
  ratesChanged: { pairCount: 'number', providers: { each: rateProvider } },
  routeFound: rowFields.routes,
  quoteChanged: rowFields.quotes,
  orderChanged: rowFields.orders,
  pluginFault: {
    pluginId: 'text',
    hook: 'text',
    errorName: masked,
    errorCode: maybe('text'),
    message: masked
  },
  logged: {
    source: 'text',
    level: words({ debug: true, info: true, warn: true, error: true }),
    text: masked,
    at: 'text'
  },
  worldChanged: rowFields.world,
  pluginCalled: {
    pluginId: 'text',
    call: 'text',
    args: maybe(masked),
    result: maybe(masked),
    outcome: words({ done: true, failed: true }),
    durationMs: 'number',
    message: maybe(masked)
  },
  tapRan: {
    hook: 'text',
    pluginId: 'text',
    correlationId: maybe('text'),
    durationMs: 'number',
    outcome: words({ done: true, answered: true, failed: true })
  },
  action: {
    action: 'text',
    outcome: words({ done: true, failed: true }),
    durationMs: 'number',
    subject: maybe('text'),
    errorCode: maybe('text')
  }
}
