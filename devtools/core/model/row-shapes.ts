import type {
  AmountUnits,
  Denomination,
  NativeAmount,
  OpenPaymentSnapshot,
  RateProviderSnapshot,
  RouteHopSnapshot,
  SwapRequestSnapshot
} from '../../../kernel/index.ts'
import type { SliceName, Slices } from './slices.ts'

/** Returns true if a kernel could have sent this row: rows of a file are drawn without further checks (pure). */
export const isRowOf = (slice: SliceName, row: unknown): boolean => fits({ object: shapes[slice] }, row)

/** `table`: texts by name. */
type Kind = 'text' | 'number' | 'flag' | 'texts' | 'table' | 'any'

type Shape =
  | Kind
  | { readonly each: Shapes }
  | { readonly object: Shapes }
  | { readonly maybe: Shape }
  | { readonly orNull: Shape }
  | { readonly words: Readonly<Record<string, true>> }

type Shapes = Readonly<Record<string, Shape>>

/** The shape that the type of a field has; a new field of a snapshot is a compile error until it is written down. */
type ShapesOf<T> = {
  readonly [F in keyof T]-?: null extends T[F]
    ? { readonly orNull: ShapeOf<NonNullable<T[F]>> }
    : undefined extends T[F]
      ? { readonly maybe: ShapeOf<NonNullable<T[F]>> }
      : ShapeOf<T[F]>
}

type ShapeOf<T> = [T] extends [string]
  ? TextShapeOf<T>
  : [T] extends [number]
    ? 'number'
    : [T] extends [boolean]
      ? 'flag'
      : [T] extends [readonly string[]]
        ? 'texts'
        : [T] extends [Readonly<Record<string, string>>]
          ? 'table'
          : [T] extends [readonly (infer Item extends object)[]]
            ? { readonly each: ShapesOf<Item> }
            : Shape

/** Lists every word of a union type. */
type TextShapeOf<T extends string> = [string] extends [T]
  ? 'text'
  : [T] extends [NativeAmount]
    ? 'text'
    : { readonly words: Readonly<Record<T, true>> }

const hasShape = (wanted: Shapes, value: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(([field, shape]) => fits(shape, value[field]))

const fits = (shape: Shape, value: unknown): boolean => {
  if (typeof shape === 'string') return kinds[shape](value)
  if ('maybe' in shape) return value === undefined || fits(shape.maybe, value)
  if ('orNull' in shape) return value === null || fits(shape.orNull, value)
  if ('words' in shape) return typeof value === 'string' && Object.hasOwn(shape.words, value)
  if ('object' in shape) return isRecord(value) && hasShape(shape.object, value)
  return Array.isArray(value) && value.every(item => isRecord(item) && hasShape(shape.each, item))
}

const isText = (value: unknown): boolean => typeof value === 'string'

const kinds: { readonly [K in Kind]: (value: unknown) => boolean } = {
  text: isText,
  number: value => typeof value === 'number',
  flag: value => typeof value === 'boolean',
  texts: value => Array.isArray(value) && value.every(isText),
  table: value => isRecord(value) && Object.values(value).every(isText),
  any: () => true
}

const maybe = <S extends Shape>(shape: S): { readonly maybe: S } => ({ maybe: shape })

const orNull = <S extends Shape>(shape: S): { readonly orNull: S } => ({ orNull: shape })

const words = <W extends string>(
  of: Readonly<Record<W, true>>
): { readonly words: Readonly<Record<W, true>> } => ({
  words: of
})

const units: ShapesOf<AmountUnits> = {
  currencyCode: 'text',
  displayName: 'text',
  denominations: {
    each: { name: 'text', multiplier: 'text', symbol: maybe('text') } satisfies ShapesOf<Denomination>
  }
}

const openPayment: ShapesOf<OpenPaymentSnapshot> = {
  txid: 'text',
  tokenId: orNull('text'),
  currencyCode: 'text',
  nativeAmount: 'text',
  networkFee: 'text',
  targets: { each: { publicAddress: 'text', nativeAmount: 'text' } },
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
  reason: maybe('text'),
  replaces: maybe('text'),
  replacedBy: maybe('text')
}

const hop: ShapesOf<RouteHopSnapshot> = {
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

const request: ShapesOf<SwapRequestSnapshot> = {
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

const rateProvider: ShapesOf<RateProviderSnapshot> = {
  pluginId: 'text',
  displayName: 'text',
  bias: 'number',
  state: words({ idle: true, asked: true, answered: true, silent: true, failed: true, retired: true }),
  pairCount: 'number',
  answeredAt: maybe('number'),
  durationMs: maybe('number'),
  errorCode: maybe('text'),
  message: maybe('text')
}

const shapes: { readonly [K in SliceName]: ShapesOf<Slices[K]> } = {
  plugins: {
    pluginId: 'text',
    kind: maybe(
      words({ currency: true, rates: true, swap: true, storage: true, policy: true, observer: true })
    ),
    state: words({ applied: true, failed: true, missing: true }),
    needsKeysTo: 'texts',
    currency: maybe({ object: { ...units, walletType: 'text' } }),
    errorCode: maybe('text'),
    message: maybe('text')
  },
  users: {
    loginId: 'text',
    username: maybe('text'),
    lastLogin: maybe('text'),
    isPinLoginEnabled: 'flag',
    isLoggedIn: 'flag'
  },
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
    isPaused: 'flag'
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
    tokens: { each: { ...units, tokenId: 'text' } },
    stakingStatus: {
      object: { stakedAmounts: { each: { nativeAmount: 'text', unlockDate: maybe('text') } } }
    },
    balances: 'table',
    balanceDetails: maybe('any'),
    openPayments: { each: openPayment },
    isPaused: 'flag'
  },
  engines: {
    walletId: 'text',
    pluginId: 'text',
    state: words({ created: true, started: true, stopped: true, failed: true }),
    isPaused: 'flag',
    syncRatio: 'number',
    blockHeight: 'number',
    since: 'number',
    status: maybe('text'),
    failure: maybe('text'),
    errorCode: maybe('text')
  },
  spends: {
    correlationId: 'text',
    walletId: 'text',
    stage: words({ intended: true, signed: true, broadcast: true, saved: true, refused: true }),
    txid: maybe('text'),
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
    message: maybe('text'),
    limit: maybe('text'),
    direction: maybe(words({ from: true, to: true }))
  },
  world: { isOnline: 'flag' }
}

/** Returns true for an object with fields that is not a list (pure). */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
