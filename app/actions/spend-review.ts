import {
  compact,
  type Memo,
  type OpenPaymentSnapshot,
  type PluginId,
  type TokenId,
  type Txid,
  type WalletId
} from '../../kernel/index.ts'
import {
  about,
  address,
  amount,
  code,
  count,
  type Field,
  type FieldsOf,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  optional,
  PLUGIN_NAMES,
  patterned,
  pluginId,
  positive,
  shortText,
  signedAmount,
  table,
  text,
  ticker,
  time,
  txid,
  untrusted,
  untrustedMessage,
  untrustedNote
} from './schema.ts'

/** The payee of a payment, its asset, its fee, and what is written with it. */
export interface SpendRequest {
  readonly walletId: WalletId
  /** Left out: the coin of the chain. */
  readonly tokenId?: TokenId
  /** An address or a payment link. */
  readonly publicAddress: string
  readonly fee?: 'low' | 'standard' | 'high'
  /** The values of a fee of one's own, by name, such as `satPerByte`. */
  readonly customFee?: Readonly<Record<string, string>>
  readonly memos?: readonly Memo[]
  /** The notes of the payment, which stay in the account; of a replacement, those of the open payment if left out. */
  readonly notes?: PaymentNotes
  /** True: incoming coins pay if needed. False: not even unconfirmed change does. */
  readonly withUnconfirmed?: boolean
  /** The txid of the open payment whose place it takes. */
  readonly replaces?: Txid
  /** The coins to pay with, all of them and no others. */
  readonly coins?: readonly string[]
}

/** The notes of a payment. */
interface PaymentNotes {
  readonly name?: string
  readonly category?: string
  readonly notes?: string
}

/** A payee with its amount, in native units. */
interface Payee {
  readonly publicAddress: string
  readonly nativeAmount: string
}

/** A wallet, by its id. */
export interface WalletRef {
  readonly walletId: WalletId
}

/** A payment to draft. */
export interface DraftRequest extends SpendRequest {
  readonly nativeAmount: string
  /** Others that the same payment pays. */
  readonly others?: readonly Payee[]
}

/** The open payment whose place another one takes: to the same payees, with the same amounts, memos and notes. */
export interface ReplaceRequest extends Pick<SpendRequest, 'customFee' | 'fee'> {
  readonly walletId: WalletId
  readonly txid: Txid
}

/** Keys whose coins move into a wallet. */
export interface SweepRequest extends Pick<SpendRequest, 'customFee' | 'fee' | 'withUnconfirmed'> {
  readonly walletId: WalletId
  /** Secret. */
  readonly privateKeys: readonly string[]
  /** The most that the network may take; also allows an unusual fee up to this. */
  readonly maxNetworkFee?: string
}

/** The swap that quotes are wanted for. `nativeAmount` of `max` is not read. */
export interface QuotesRequest {
  readonly fromWalletId: WalletId
  readonly toWalletId: WalletId
  readonly nativeAmount: string
  readonly quoteFor: 'from' | 'to' | 'max'
  /** Left out: the coin of the chain. */
  readonly fromTokenId?: TokenId
  readonly toTokenId?: TokenId
  /** Ranks the quotes of a provider, or those of a kind, before better ones. */
  readonly preferPluginId?: PluginId
  readonly preferType?: 'CEX' | 'DEX'
  /** Providers that are not asked. */
  readonly disabled?: readonly PluginId[]
  /** By provider. */
  readonly promoCodes?: Readonly<Record<PluginId, string>>
  /** The time to wait for answers while there is a quote, in milliseconds. */
  readonly waitMs?: number
}

/** The input that a draft was made from. */
export type SpendDraftInput =
  | DraftRequest
  | ReplaceRequest
  | { readonly bumped: ReplaceRequest }
  | { readonly swept: Omit<SweepRequest, 'privateKeys'> }
  | { readonly quoteId: string }
  | { readonly proposalId: string }

/** What comes of drafting: nothing is signed before the draft is approved by its id. */
export interface DraftedPayment {
  readonly draftId: string
  readonly review: SpendReview
}

/** The id of a draft that waits for a yes. */
export interface DraftRef {
  readonly draftId: string
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

/** What a payment tells the chain besides whom it pays. */
export interface ChainNotes {
  /** A memo that is not text begins with its type. */
  readonly memos?: readonly string[]
  /** The parameters of what is called on the chain, as JSON. */
  readonly params?: readonly string[]
}

/** A signed payment that may still be mined, with the words of others apart. */
export interface OpenPayment extends Omit<OpenPaymentSnapshot, 'reason'> {
  readonly untrusted?: {
    /** The words of the server that refused it. */
    readonly reason?: string
  }
}

/** Moves the words of a server apart (pure). */
export const openPaymentOf = ({ reason, ...payment }: OpenPaymentSnapshot): OpenPayment => ({
  ...payment,
  ...compact({ untrusted: reason === undefined ? undefined : { reason } })
})

/** The rule of an account that refuses a payment. */
export interface RuleRefusal {
  /** When it would be allowed, if waiting helps; milliseconds since 1970. */
  readonly allowedAt?: number
  readonly untrusted: {
    readonly rule: string
    readonly reason: string
    /** The other devices of the account of which any could make it allowed. */
    readonly approvers?: readonly string[]
  }
}

/** The program that proposes a payment. */
export interface ReviewedProposal {
  readonly id: string
  readonly untrusted: { readonly client: string; readonly note?: string }
}

/** Why the keys of a sweep keep coins. */
export const LEFT_REASONS = ['incoming', 'immature', 'frozen', 'reserved', 'costly', 'doesNotFit'] as const

/** What the keys of a sweep keep for one reason, in native units. */
interface LeftCoins {
  readonly reason: (typeof LEFT_REASONS)[number]
  readonly nativeAmount: string
}

/** What a second server says of the coins: `alone` if one was named, `silent` if no second one answers, `unable` if it knows no such coins. */
export const SECOND_WORDS = ['agrees', 'alone', 'differs', 'silent', 'unable'] as const

/** What a person should know of a sweep. `onlyHere`, `onlyThere`: coins that only the first or the second server shows. */
export interface SweepReview {
  readonly coinCount: number
  readonly left: readonly LeftCoins[]
  readonly secondWord: (typeof SECOND_WORDS)[number]
  readonly onlyHere: number
  readonly onlyThere: number
}

/** The terms of a payment or a swap, for a person to read before signing. */
export interface SpendReview {
  /** The program that proposes it. */
  readonly proposal?: ReviewedProposal
  /** A rule of the account that refuses it. */
  readonly refusal?: RuleRefusal
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
  /** What the network takes in tokens besides, one for each. */
  readonly tokenFees?: readonly TokenFee[]
  /** The usual network fee, if this one is so far above it that it needs its own confirmation. */
  readonly usualNetworkFee?: string
  readonly targets: readonly Payee[]
  /** The coins that it pays with, if they were chosen. */
  readonly coins?: readonly string[]
  /** The txid of the payment that this hastens, and pays for. */
  readonly bumps?: string
  /** Of a sweep, which is signed already: the number of coins, and what of the keys it leaves where it is. */
  readonly sweep?: SweepReview
  /** What leaves the wallet of the asset that is paid, and what is left of it. */
  readonly total: string
  readonly remaining: string
  /** The addresses as they were given, where these are spelled as another currency spells its own, too. */
  readonly legacyAddresses?: readonly string[]
  /** The public data on the chain, which a provider of swaps or a payment link may have written. */
  readonly untrusted?: ChainNotes
  /** Payments that may still be mined, up to 20; those of `similar` come first. */
  readonly openPayments?: readonly OpenPayment[]
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

/** A network fee that is paid in a token. */
export interface TokenFee {
  readonly tokenId: TokenId
  /** `?` of a token that the wallet does not know. */
  readonly currencyCode: string
  readonly nativeAmount: string
  /** In the usual unit; in native units of a token that the wallet does not know. */
  readonly display: string
}

/** The id of a wallet. */
export const walletId: Field<WalletId> = about(id, 'The id of a wallet')

/** The input of an action about one wallet. */
export const walletRef: Field<WalletRef> = object<WalletRef>({ walletId })

/** The id of a token; left out of an input, or null in a result, for the coin of the chain. */
export const tokenId: Field<TokenId> = about(text(200), 'The id of a token of the chain')

/** The id of an open payment. */
export const paymentTxid: Field<Txid> = about(txid, 'The id of its transaction')

const MAX_TARGETS = 100

/** The id of a draft. */
export const draftRef: Field<DraftRef> = object<DraftRef>({ draftId: about(id, 'The id of a draft') })

/** The fee level of a payment. */
export const feeField: Field<'low' | 'standard' | 'high'> = about(
  oneOf('low', 'standard', 'high'),
  'The fee level; standard if left out'
)

/** A fee of one's own. */
export const customFeeField: Field<Readonly<Record<string, string>>> = about(
  table(text(100), { max: 20, pattern: '^[A-Za-z0-9_-]{1,50}$' }),
  'The values of a fee of one’s own, such as satPerByte, instead of a level'
)

const memo: Field<Memo> = object<Memo>({
  type: oneOf('hex', 'number', 'text'),
  value: text(10_000),
  memoName: optional(text(100)),
  isHidden: optional(flag)
})

const payeeAddress: Field<string> = about(
  text(1000),
  'An address or a payment link; the amount of a link is not read'
)

const paidAmount: Field<string> = about(positive, 'The amount in native units, without the network fee')

const shownCoin: Field<string> = patterned('^[A-Za-z0-9_+/=.-]{1,200}:[0-9]{1,10}$', 'a coin, as txid:number')

/** A coin: the transaction that made it, and the number of the output. */
export const coinField: Field<string> = { ...shownCoin, show: 'chain' }

const spendRequestFields: FieldsOf<SpendRequest> = {
  walletId,
  tokenId: optional(tokenId),
  publicAddress: payeeAddress,
  fee: optional(feeField),
  customFee: optional(customFeeField),
  memos: optional(about(list(memo, 20), 'Public data on the chain')),
  notes: optional(
    about(
      object<PaymentNotes>({
        name: optional(text(1000)),
        category: optional(text(1000)),
        notes: optional(text(10_000))
      }),
      'Notes of the payment, which stay in the account'
    )
  ),
  withUnconfirmed: optional(
    about(flag, 'True: incoming coins pay if needed. False: not even unconfirmed change does')
  ),
  replaces: optional(about(id, 'The open payment whose place it takes')),
  coins: optional(about(list(coinField, 1000), 'The coins to pay with, all of them and no others'))
}

/** The input of an action about a payment without its amount. */
export const spendRequest: Field<SpendRequest> = object<SpendRequest>(spendRequestFields)

/** The input of an action that drafts a payment. */
export const draftRequest: Field<DraftRequest> = object<DraftRequest>({
  ...spendRequestFields,
  nativeAmount: paidAmount,
  others: optional(
    about(
      list(object<Payee>({ publicAddress: payeeAddress, nativeAmount: paidAmount }), MAX_TARGETS),
      'Others that the same payment pays'
    )
  )
})

/** The input of an action that drafts a payment in the place of an open one. */
export const replaceRequest: Field<ReplaceRequest> = object<ReplaceRequest>({
  walletId,
  txid: paymentTxid,
  fee: optional(feeField),
  customFee: optional(customFeeField)
})

/** The input of an action that asks for quotes. */
export const quotesRequest: Field<QuotesRequest> = object<QuotesRequest>({
  fromWalletId: about(id, 'The id of the wallet that pays'),
  toWalletId: about(id, 'The id of the wallet that receives'),
  nativeAmount: about(amount, 'Native units of the side that quoteFor names; not read for max'),
  quoteFor: about(
    oneOf('from', 'to', 'max'),
    'The side that the amount is of; max pays all that can be spent'
  ),
  fromTokenId: optional(tokenId),
  toTokenId: optional(tokenId),
  preferPluginId: optional(about(pluginId, 'The provider whose quotes come first')),
  preferType: optional(about(oneOf('CEX', 'DEX'), 'The kind of providers whose quotes come first')),
  disabled: optional(about(list(pluginId, 200), 'Providers that are not to be used')),
  promoCodes: optional(about(table(text(200), PLUGIN_NAMES), 'Promotion codes, by provider')),
  waitMs: optional(
    about(count(1000, 60_000), 'How long to wait for answers while there is a quote, in milliseconds')
  )
})

/** The open payments beside which a payment of the same is allowed. */
export const again: Field<readonly string[]> = about(
  list(id, 10_000, 'must be a list of transaction ids'),
  'The open payments beside which the same payee is paid the same amount again'
)

/** The input of an action that approves a draft. */
export const approvedDraft: Field<ApprovedDraft> = object<ApprovedDraft>({
  draftId: about(id, 'The id of a draft'),
  maxNetworkFee: optional(about(amount, 'Allows an unusual network fee, up to this, in native units')),
  again: optional(again)
})

type NetworkFeeFields = Required<OpenPayment>['networkFees'][number]

const openPaymentFields = (shownTxid: Field<string>, shownAddress: Field<string>): FieldsOf<OpenPayment> => ({
  txid: shownTxid,
  tokenId: nullable(tokenId),
  currencyCode: ticker,
  nativeAmount: about(signedAmount, 'What left the wallet in all'),
  networkFee: about(signedAmount, 'In the coin of the chain'),
  networkFees: optional(
    about(
      list(object<NetworkFeeFields>({ tokenId: nullable(tokenId), nativeAmount: signedAmount }), MAX_TARGETS),
      'Every network fee, one for each asset, if one of them is paid in a token'
    )
  ),
  targets: list(object<Payee>({ publicAddress: shownAddress, nativeAmount: signedAmount }), MAX_TARGETS),
  at: time,
  state: oneOf('signed', 'refused', 'notSeen', 'seen', 'notInMempool', 'replaced', 'expired', 'dropped'),
  replaces: optional(shownTxid),
  replacedBy: optional(shownTxid),
  untrusted: optional(object<Required<OpenPayment>['untrusted']>({ reason: optional(untrustedMessage) }))
})

/** The fields of an open payment in a result. */
export const openPayment: FieldsOf<OpenPayment> = openPaymentFields(txid, address)

/** Network fees in tokens. */
export const tokenFees: Field<readonly TokenFee[]> = list(
  object<TokenFee>({ tokenId, currencyCode: ticker, nativeAmount: signedAmount, display: shortText(210) }),
  MAX_TARGETS
)

// A review must be readable to be approved: its addresses are shown even where addresses are hidden.
const shownAddress = shortText(1000)

const review: Field<SpendReview> = object<SpendReview>({
  proposal: optional(
    object<ReviewedProposal>({
      id,
      untrusted: object<ReviewedProposal['untrusted']>({ client: untrusted(), note: optional(untrustedNote) })
    })
  ),
  refusal: optional(
    about(
      object<RuleRefusal>({
        allowedAt: optional(time),
        untrusted: object<RuleRefusal['untrusted']>({
          rule: untrusted(),
          reason: untrustedMessage,
          approvers: optional(about(list(untrusted(), 20), 'Devices that could make it allowed'))
        })
      }),
      'The rule of the account that refuses the payment'
    )
  ),
  provider: optional(pluginId),
  walletId,
  tokenId: optional(tokenId),
  currencyCode: ticker,
  nativeAmount: about(signedAmount, 'The amount that is paid, without the fee'),
  networkFee: about(signedAmount, 'Comes on top, in the coin of the paying chain'),
  tokenFees: optional(about(tokenFees, 'What the network takes in tokens besides')),
  usualNetworkFee: optional(about(signedAmount, 'Present if the network fee is far above this')),
  targets: list(object<Payee>({ publicAddress: shownAddress, nativeAmount: signedAmount }), MAX_TARGETS),
  coins: optional(about(list(shownCoin, 1000), 'The coins that it pays with, if they were chosen')),
  total: about(signedAmount, 'What leaves the wallet of the asset that is paid'),
  remaining: about(signedAmount, 'What is left of that asset'),
  legacyAddresses: optional(
    about(list(shownAddress, MAX_TARGETS), 'Given addresses of a form that another currency uses, too')
  ),
  untrusted: optional(
    // Not cut to 200 characters: a memo can decide where a swap pays out to.
    object<ChainNotes>({
      memos: optional(list(untrusted(1000), 100)),
      params: optional(list(untrusted(1000), 100))
    })
  ),
  openPayments: optional(list(object<OpenPayment>(openPaymentFields(id, shownAddress)), 20)),
  openCount: optional(count(0, 1_000_000)),
  similar: optional(about(list(id, 10_000), 'Open payments to the same payee of the same amount')),
  replaces: optional(id),
  bumps: optional(id),
  sweep: optional(
    object<Required<SpendReview>['sweep']>({
      coinCount: count(1, 100_000),
      left: about(
        list(
          object<LeftCoins>({ reason: oneOf(...LEFT_REASONS), nativeAmount: amount }),
          LEFT_REASONS.length
        ),
        'What the keys keep, and why'
      ),
      secondWord: about(oneOf(...SECOND_WORDS), 'What a second server says of the coins'),
      onlyHere: about(count(0, 100_000), 'The coins that the second server does not show'),
      onlyThere: about(count(0, 100_000), 'The coins that only the second server shows; they are not swept')
    })
  ),
  allowances: optional(list(object<Allowance>({ spender: shownAddress, nativeAmount: signedAmount }), 20)),
  isOwnCheckComplete: optional(flag),
  toWalletId: optional(walletId),
  toTokenId: optional(tokenId),
  toCurrencyCode: optional(ticker),
  toNativeAmount: optional(signedAmount),
  minReceive: optional(signedAmount),
  payoutAddress: optional(shownAddress),
  isEstimate: optional(flag),
  expiresAt: optional(time),
  orderId: optional(code(200))
})

interface Allowance {
  readonly spender: string
  readonly nativeAmount: string
}

/** The result of an action that drafts. */
export const draftedPayment: Field<DraftedPayment> = object<DraftedPayment>({
  draftId: about(id, 'The id of the draft; it can be approved once, within ten minutes'),
  review
})
