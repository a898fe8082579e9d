import type {
  AmountUnits,
  BalanceDetails,
  CurrencySnapshot,
  Denomination,
  OpenPaymentSnapshot,
  RateProviderSnapshot,
  TokenSnapshot,
  UserSnapshot
} from '../../../kernel/index.ts'
import type { ActionName, Actions, SpendReview } from './actions.ts'
import type { FactName, Facts } from './facts.ts'
import type { SliceName, Slices } from './slices.ts'

/**
 * The rule for a field. `plain`: short text, numbers, flags, and lists and tables of them. `text`: words of
 * people and plugins, with everything masked that could be a key. `chain`: addresses and txids, which can be hidden.
 * `hidden`: never. `each`: the objects of a list; `values`: those of a table, by names that are not judged.
 */
export type FieldRule =
  | 'plain'
  | 'text'
  | 'chain'
  | 'hidden'
  | { readonly each: Readonly<Record<string, FieldRule>> }
  | { readonly object: Readonly<Record<string, FieldRule>> }
  | { readonly values: Readonly<Record<string, FieldRule>> }

/** One rule for each field: a new field of a snapshot is a compile error until somebody decides. */
type FieldRules<T> = { readonly [F in keyof Required<T>]: FieldRule }

const user: FieldRules<UserSnapshot> = {
  loginId: 'plain',
  username: 'plain',
  lastLogin: 'plain',
  isPinLoginEnabled: 'plain',
  isLoggedIn: 'plain'
}

const balanceParts: FieldRules<BalanceDetails> = {
  spendable: 'plain',
  incoming: 'plain',
  immature: 'plain',
  reserved: 'plain'
}

const rateProvider: FieldRules<RateProviderSnapshot> = {
  pluginId: 'plain',
  displayName: 'plain',
  bias: 'plain',
  state: 'plain',
  pairCount: 'plain',
  answeredAt: 'plain',
  durationMs: 'plain',
  errorCode: 'plain',
  message: 'text'
}

const hop: FieldRules<Slices['routes']['hops'][number]> = {
  fromCurrency: 'plain',
  toCurrency: 'plain',
  rate: 'plain',
  source: 'plain',
  at: 'plain',
  ageSeconds: 'plain',
  bias: 'plain',
  isInverted: 'plain',
  cost: 'plain'
}

const staked: FieldRules<Slices['wallets']['stakingStatus']['stakedAmounts'][number]> = {
  nativeAmount: 'plain',
  unlockDate: 'plain',
  // Whatever an engine likes to put there.
  otherParams: 'hidden'
}

const openPayment: FieldRules<OpenPaymentSnapshot> = {
  txid: 'chain',
  tokenId: 'plain',
  currencyCode: 'plain',
  nativeAmount: 'plain',
  networkFee: 'plain',
  targets: { each: { publicAddress: 'chain', nativeAmount: 'plain' } },
  at: 'plain',
  state: 'plain',
  // A node's own words.
  reason: 'text',
  replaces: 'chain',
  replacedBy: 'chain'
}

const request: FieldRules<Slices['quotes']['request']> = {
  fromWalletId: 'plain',
  fromPluginId: 'plain',
  fromTokenId: 'plain',
  fromCurrencyCode: 'plain',
  toWalletId: 'plain',
  toPluginId: 'plain',
  toTokenId: 'plain',
  toCurrencyCode: 'plain',
  nativeAmount: 'plain',
  quoteFor: 'plain'
}

const units: FieldRules<AmountUnits> = {
  currencyCode: 'plain',
  displayName: 'plain',
  denominations: {
    each: { name: 'plain', multiplier: 'plain', symbol: 'plain' } satisfies FieldRules<Denomination>
  }
}

const currency: FieldRules<CurrencySnapshot> = { ...units, walletType: 'plain' }

const token: FieldRules<TokenSnapshot> = { ...units, tokenId: 'plain' }

/** The fields of each table's rows that may be shown. */
export const rowRules: { readonly [K in SliceName]: FieldRules<Slices[K]> } = {
  plugins: {
    pluginId: 'plain',
    kind: 'plain',
    state: 'plain',
    needsKeysTo: 'plain',
    currency: { object: currency },
    errorCode: 'plain',
    message: 'text'
  },
  users: user,
  logins: { attemptId: 'plain', method: 'plain', stage: 'plain', errorCode: 'plain' },
  accounts: {
    accountId: 'plain',
    username: 'plain',
    appId: 'plain',
    isLoggedIn: 'plain',
    loginMethods: 'plain',
    walletIds: 'plain',
    activeWalletIds: 'plain',
    archivedWalletIds: 'plain',
    hiddenWalletIds: 'plain',
    isPaused: 'plain'
  },
  lobbies: {
    lobbyId: 'plain',
    state: 'plain',
    username: 'plain',
    errorCode: 'plain',
    skippedReplies: 'plain'
  },
  repos: {
    repoId: 'plain',
    accountId: 'plain',
    walletId: 'plain',
    isOpen: 'plain',
    pendingCount: 'plain',
    keptCount: 'plain',
    rolledBackAt: 'plain',
    rolledBackFiles: 'plain',
    lastHash: 'plain',
    lastSync: 'plain',
    isSyncing: 'plain',
    errorCode: 'plain',
    mergedCount: 'plain',
    doubtfulCount: 'plain'
  },
  wallets: {
    walletId: 'plain',
    pluginId: 'plain',
    type: 'plain',
    name: 'plain',
    fiatCurrencyCode: 'plain',
    enabledTokenIds: 'plain',
    detectedTokenIds: 'plain',
    unactivatedTokenIds: 'plain',
    tokens: { each: token },
    stakingStatus: { object: { stakedAmounts: { each: staked } } },
    balances: 'plain',
    balanceDetails: { values: balanceParts },
    openPayments: { each: openPayment },
    isPaused: 'plain'
  },
  engines: {
    walletId: 'plain',
    pluginId: 'plain',
    state: 'plain',
    isPaused: 'plain',
    syncRatio: 'plain',
    blockHeight: 'plain',
    since: 'plain',
    status: 'text',
    failure: 'text',
    errorCode: 'plain'
  },
  spends: {
    correlationId: 'plain',
    walletId: 'plain',
    stage: 'plain',
    txid: 'chain',
    confirmations: 'plain'
  },
  rateProviders: rateProvider,
  pairs: { fromCurrency: 'plain', toCurrency: 'plain', rate: 'plain', source: 'plain', at: 'plain' },
  routes: {
    fromCurrency: 'plain',
    toCurrency: 'plain',
    rate: 'plain',
    hops: { each: hop },
    cost: 'plain',
    isStale: 'plain'
  },
  quotes: {
    roundId: 'plain',
    request: { object: request },
    pluginId: 'plain',
    displayName: 'plain',
    isDex: 'plain',
    state: 'plain',
    quoteId: 'plain',
    fromNativeAmount: 'plain',
    toNativeAmount: 'plain',
    minReceiveAmount: 'plain',
    networkFee: 'plain',
    isEstimate: 'plain',
    canBePartial: 'plain',
    expiresAt: 'plain',
    maxFulfillmentSeconds: 'plain',
    hasPromoCode: 'plain',
    fate: 'plain',
    rank: 'plain',
    rankReason: 'plain',
    durationMs: 'plain',
    errorCode: 'plain',
    message: 'text',
    limit: 'plain',
    direction: 'plain'
  },
  world: { isOnline: 'plain' }
}

/** The fields of each event that may be shown. */
export const factRules: { readonly [F in FactName]: FieldRules<Facts[F]> } = {
  pluginChanged: rowRules.plugins,
  usersChanged: { users: { each: user } },
  loginChanged: rowRules.logins,
  accountChanged: {
    accountId: 'plain',
    username: 'plain',
    appId: 'plain',
    isLoggedIn: 'plain',
    loginMethods: 'plain',
    isPaused: 'plain',
    walletCount: 'plain',
    activeCount: 'plain',
    archivedCount: 'plain',
    hiddenCount: 'plain'
  },
  lobbyChanged: rowRules.lobbies,
  repoChanged: rowRules.repos,
  // The names that are made here are hashed; what another client calls its files is up to that client.
  filesExchanged: {
    repoId: 'plain',
    sent: 'chain',
    received: 'chain',
    sentCount: 'plain',
    receivedCount: 'plain'
  },
  // How tokens are written is in the row of the wallet; each event would say it once more.
  walletChanged: { ...rowRules.wallets, tokens: 'hidden' },
  engineChanged: rowRules.engines,
  transactionsChanged: {
    walletId: 'plain',
    created: 'chain',
    changed: 'chain',
    createdCount: 'plain',
    changedCount: 'plain'
  },
  addressChanged: { walletId: 'plain' },
  tokensDetected: { walletId: 'plain', tokenIds: 'plain' },
  spendChanged: rowRules.spends,
  ratesChanged: { pairCount: 'plain', providers: { each: rateProvider } },
  routeFound: rowRules.routes,
  quoteChanged: rowRules.quotes,
  pluginFault: {
    pluginId: 'plain',
    hook: 'plain',
    errorName: 'text',
    errorCode: 'plain',
    message: 'text'
  },
  logged: { source: 'plain', level: 'plain', text: 'text', at: 'plain' },
  worldChanged: rowRules.world,
  tapRan: { hook: 'plain', pluginId: 'plain', correlationId: 'plain', durationMs: 'plain', outcome: 'plain' },
  action: { action: 'plain', outcome: 'plain', durationMs: 'plain', subject: 'plain', errorCode: 'plain' }
}

const reviewedPayment: FieldRules<OpenPaymentSnapshot> = {
  txid: 'plain',
  tokenId: 'plain',
  currencyCode: 'plain',
  nativeAmount: 'plain',
  networkFee: 'plain',
  targets: { each: { publicAddress: 'plain', nativeAmount: 'plain' } },
  at: 'plain',
  state: 'plain',
  // A node's own words.
  reason: 'text',
  replaces: 'plain',
  replacedBy: 'plain'
}

/** A review must be readable to be approved: its addresses are shown even where addresses are hidden. */
const review: FieldRules<SpendReview> = {
  provider: 'plain',
  walletId: 'plain',
  tokenId: 'plain',
  currencyCode: 'plain',
  nativeAmount: 'plain',
  networkFee: 'plain',
  usualNetworkFee: 'plain',
  targets: { each: { publicAddress: 'plain', nativeAmount: 'plain' } },
  toWalletId: 'plain',
  toTokenId: 'plain',
  legacyAddress: 'plain',
  memos: 'plain',
  params: 'plain',
  openPayments: { each: reviewedPayment },
  openCount: 'plain',
  similar: 'plain',
  replaces: 'plain',
  allowances: { each: { spender: 'plain', nativeAmount: 'plain' } },
  isOwnCheckComplete: 'plain',
  toCurrencyCode: 'plain',
  toNativeAmount: 'plain',
  minReceive: 'plain',
  payoutAddress: 'plain',
  isEstimate: 'plain',
  expiresAt: 'plain',
  orderId: 'plain'
}

const drafted: FieldRules<Actions['spend.draft']['out']> = { draftId: 'plain', review: { object: review } }
const paid: FieldRules<Actions['swap.approve']['out']> = { txid: 'chain', orderId: 'plain' }

/** The fields of each action's result that may be shown. */
export const outputRules: { readonly [K in ActionName]: FieldRules<Actions[K]['out']> } = {
  'account.create': { accountId: 'plain' },
  'account.login': { accountId: 'plain' },
  'account.logout': {},
  'wallet.create': { walletId: 'plain' },
  'wallet.receive': { publicAddress: 'chain', uri: 'chain' },
  'engine.pause': {},
  'engine.resume': {},
  'engine.resync': {},
  'repo.sync': {},
  'spend.draft': drafted,
  'spend.max': { nativeAmount: 'plain' },
  'spend.approve': { txid: 'chain' },
  'spend.discard': {},
  'spend.resend': { txid: 'chain' },
  'spend.replace': drafted,
  'spend.forget': {},
  'swap.ask': { roundId: 'plain' },
  'swap.close': {},
  'swap.review': drafted,
  'swap.approve': paid,
  'swap.discard': {},
  'swap.enable': {},
  'rates.route': { route: { object: rowRules.routes }, alternatives: { each: rowRules.routes } },
  'rates.refresh': {},
  'world.fund': { txid: 'chain' },
  'world.mine': { height: 'plain' },
  'world.network': { isOnline: 'plain' }
}
