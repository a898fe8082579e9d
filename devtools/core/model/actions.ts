import type {
  JsonObject,
  OpenPaymentSnapshot,
  PluginId,
  RouteSnapshot,
  TokenId,
  Txid,
  WalletId
} from '../../../kernel/index.ts'

/**
 * Everything that the panel can do. Actions and their results are JSON, so that the same ones go to a kernel in the page
 * and to one in another process. Amounts are native units, as decimal text.
 */
export interface Actions {
  // Who is here
  'account.create': {
    in: { username?: string; password?: string; pin?: string }
    out: { accountId: string }
  }
  'account.login': {
    in: { username?: string; loginId?: string; password?: string; pin?: string }
    out: { accountId: string }
  }
  'account.logout': { in: { accountId: string }; out: JsonObject }

  // Wallets and engines
  'wallet.create': {
    in: { accountId: string; walletType: string; name?: string }
    out: { walletId: WalletId }
  }
  'wallet.receive': { in: { walletId: WalletId }; out: { publicAddress: string; uri: string } }
  'engine.pause': { in: { walletId: WalletId }; out: JsonObject }
  'engine.resume': { in: { walletId: WalletId }; out: JsonObject }
  'engine.resync': { in: { walletId: WalletId }; out: JsonObject }
  'repo.sync': { in: { repoId: string }; out: JsonObject }

  // Sending: a draft is reviewed, then approved once
  'spend.draft': {
    in: SpendRequest & { nativeAmount: string }
    out: { draftId: string; review: SpendReview }
  }
  'spend.max': { in: SpendRequest; out: { nativeAmount: string } }
  'spend.approve': { in: ApprovedDraft; out: { txid: Txid } }
  'spend.discard': { in: { draftId: string }; out: JsonObject }

  // Open payments: what may have left and is not confirmed. `confirm`: the first eight characters of the txid
  'spend.resend': { in: { walletId: WalletId; txid: Txid }; out: { txid: Txid } }
  'spend.replace': { in: ReplaceRequest; out: { draftId: string; review: SpendReview } }
  'spend.forget': { in: { walletId: WalletId; txid: Txid; confirm: string }; out: JsonObject }

  // Swapping: a quote is ordered and reviewed, then approved once
  'swap.ask': {
    in: {
      fromWalletId: WalletId
      toWalletId: WalletId
      nativeAmount: string
      quoteFor: 'from' | 'to' | 'max'
    }
    out: { roundId: string }
  }
  'swap.close': { in: { roundId: string }; out: JsonObject }
  'swap.review': { in: { quoteId: string }; out: { draftId: string; review: SpendReview } }
  'swap.approve': { in: ApprovedDraft; out: { txid: Txid; orderId?: string } }
  'swap.discard': { in: { draftId: string }; out: JsonObject }
  'swap.enable': { in: { accountId: string; pluginId: PluginId; isEnabled: boolean }; out: JsonObject }

  // Rates: these two only read
  'rates.route': {
    in: { from: string; to: string; biases?: Readonly<Record<string, number>>; alternatives?: number }
    out: { route: RouteSnapshot | null; alternatives: readonly RouteSnapshot[] }
  }
  'rates.refresh': { in: JsonObject; out: JsonObject }

  // The fake world
  'world.fund': { in: { walletId: WalletId; nativeAmount: string }; out: { txid: Txid } }
  'world.mine': { in: { pluginId: PluginId; count: number }; out: { height: number } }
  'world.network': { in: { isOnline: boolean }; out: { isOnline: boolean } }
}

/** The name of an action. */
export type ActionName = keyof Actions

/** One action with what it needs. */
export type Action = {
  readonly [K in ActionName]: { readonly name: K; readonly input: Actions[K]['in'] }
}[ActionName]

/** The payee of a payment, its asset and its fee level. */
export interface SpendRequest {
  readonly walletId: WalletId
  /** Left out: the coin of the chain. */
  readonly tokenId?: TokenId
  /** An address or a payment link. */
  readonly publicAddress: string
  readonly fee?: 'low' | 'standard' | 'high'
}

/** The open payment whose place another one takes: to the same payees, with the same amounts, memos and notes. */
export interface ReplaceRequest extends Pick<SpendRequest, 'fee'> {
  readonly walletId: WalletId
  readonly txid: Txid
}

/**
 * A draft that a person has said yes to. `maxNetworkFee`: allows a fee that is not usual, up to this. `again`: the open
 * payments beside which the same payee is paid the same amount once more.
 */
export interface ApprovedDraft {
  readonly draftId: string
  readonly maxNetworkFee?: string
  readonly again?: readonly string[]
}

/** The terms of a payment or a swap, for a person to read before signing. */
export interface SpendReview {
  /** The plugin that is paid through, of a swap. */
  readonly provider?: string
  readonly walletId: WalletId
  /** The asset that is paid; left out: the coin of the chain. */
  readonly tokenId?: TokenId
  readonly currencyCode: string
  /** The amount that is paid, without the fee; positive. */
  readonly nativeAmount: string
  /** Comes on top, in the coin of the paying chain. */
  readonly networkFee: string
  /** The usual network fee, if this one is so far above it that it needs its own confirmation. */
  readonly usualNetworkFee?: string
  readonly targets: readonly { readonly publicAddress: string; readonly nativeAmount: string }[]
  /** The address as it was given, where it is spelled as another currency spells its own, too. */
  readonly legacyAddress?: string
  /** The public data on the chain; a memo that is not text begins with its type. */
  readonly memos?: readonly string[]
  /** The parameters of what is called on the chain, as JSON. */
  readonly params?: readonly string[]
  /** Payments that may still be mined, up to 20; those of `similar` come first. */
  readonly openPayments?: readonly OpenPaymentSnapshot[]
  /** The number of open payments, if there are more than listed. */
  readonly openCount?: number
  /** The txids of open payments to the same payee of the same amount: a second one has to be allowed by itself. */
  readonly similar?: readonly string[]
  /** The txid of the open payment whose place this takes. */
  readonly replaces?: string
  /** For a swap: the contracts that may take tokens of the wallet afterwards, and how many. */
  readonly allowances?: readonly { readonly spender: string; readonly nativeAmount: string }[]
  /**
   * For a swap: true if the payee was compared with the addresses of all wallets of the account, false if only with
   * known ones.
   */
  readonly isOwnCheckComplete?: boolean
  /** For a swap: the wallet and the amount that arrive. */
  readonly toWalletId?: WalletId
  readonly toTokenId?: TokenId
  readonly toCurrencyCode?: string
  readonly toNativeAmount?: string
  /** The least that arrives; absent of an estimate for which the provider promises nothing. */
  readonly minReceive?: string
  readonly payoutAddress?: string
  readonly isEstimate?: boolean
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly orderId?: string
}

/** The actions that change nothing, which a read-only panel may do, too. */
export const readingActions: ReadonlySet<ActionName> = new Set<ActionName>(['rates.route'])

/** The actions that are about an address or a txid itself: of no use where these are hidden. */
export const addressActions: ReadonlySet<ActionName> = new Set<ActionName>([
  ...(['wallet.receive', 'spend.resend', 'spend.replace', 'spend.forget'] as const)
])

/** Does actions; rejects with an error that has `code`, `message` and maybe a `hint`. */
export type ActionHandler = <K extends ActionName>(
  name: K,
  input: Actions[K]['in']
) => Promise<Actions[K]['out']>
