import {
  type AmountUnits,
  amountText,
  type OpenPaymentSnapshot,
  type Txid,
  type UnusualFee
} from '../../kernel/index.ts'

/** Names what has become of a payment, as the command line and the panel show it (pure). */
export const sentStateText = (
  state: OpenPaymentSnapshot['state'],
  { reason, replacedBy }: Pick<OpenPaymentSnapshot, 'reason' | 'replacedBy'> = {}
): string => {
  const words = STATES[state]
  if (state === 'replaced' && replacedBy !== undefined) return `${words} by ${replacedBy}`
  return reason === undefined ? words : `${words}: ${reason}`
}

/** Names what has become of an open payment beside a draft, which may replace it (pure). */
export const openStateText = (
  { txid, state, ...facts }: Pick<OpenPaymentSnapshot, 'reason' | 'replacedBy' | 'state' | 'txid'>,
  replaces: string | undefined
): string => (txid === replaces ? 'this payment replaces it' : sentStateText(state, facts))

/** A network fee that is paid in a token, in words. */
export const tokenFeeText = ({ tokenId, currencyCode, nativeAmount, display }: TokenFeeAmount): string =>
  currencyCode === '?' ? `${nativeAmount} native units of ${tokenId}` : `${display} ${currencyCode}`

interface TokenFeeAmount {
  readonly tokenId: string
  /** `?` of a token that the wallet does not know. */
  readonly currencyCode: string
  readonly nativeAmount: string
  readonly display: string
}

/** Says that a network fee is far above the usual one; `coin`: of the paying chain (pure). */
export const unusualFeeText = ({ networkFee, usualNetworkFee }: UnusualFee, coin: AmountUnits): string =>
  `the network fee of ${amountText(networkFee, coin)} is more than ten times the usual ${amountText(usualNetworkFee, coin)}`

/** Says that an address is spelled as another currency spells its own, too (pure). */
export const oldFormText = (address: string, currency: string): string =>
  `${address} has an old form that another currency uses, too: make sure that it is an address of ${currency}`

/** Says why a draft may pay a second time (pure). */
export const secondPaymentText = (txid: Txid): string =>
  `The open payment ${txid} pays the same amount to the same payee`

/** Says what can happen once an open payment is forgotten (pure). */
export const forgetText = (txid: Txid): string =>
  `Anyone who has the bytes of ${txid} can still have them mined. Forgetting frees its coins: if you then pay again with other coins, both payments can be mined, and you cannot take the first one back.`

/** Returns what a person types to have a payment forgotten: the first eight characters of its txid (pure). */
export const forgetWord = (txid: Txid): string => txid.slice(0, 8)

/** Says what a swap's payee was compared with where not all own addresses could be derived. */
export const OWN_CHECK_TEXT = 'the payee was compared only with own addresses that were shown, saved or paid'

interface SweptKeys {
  readonly coinCount: number
  readonly left: readonly { readonly reason: keyof typeof LEFT_TEXTS; readonly nativeAmount: string }[]
  readonly secondWord: keyof typeof SECOND_TEXTS
  readonly onlyHere: number
  readonly onlyThere: number
}

/** Says how many coins a sweep moves, what its keys keep, and what a second server says of them (pure). */
export const sweepRows = (
  { coinCount, left, secondWord, onlyHere, onlyThere }: SweptKeys,
  amountOf: (native: string) => string
): readonly (readonly [name: string, text: string])[] => [
  ['coins', String(coinCount)],
  ...left.map(
    ({ reason, nativeAmount }) => ['stays', `${amountOf(nativeAmount)} ${LEFT_TEXTS[reason]}`] as const
  ),
  ...(onlyHere === 0
    ? []
    : [['careful', `a second server does not show ${coinText(onlyHere)} of these`] as const]),
  ...(onlyThere === 0
    ? []
    : [
        ['careful', `a second server shows ${coinText(onlyThere)} more in blocks: sweep again later`] as const
      ]),
  ['keep the keys', `until it is confirmed${SECOND_TEXTS[secondWord]}`]
]

const coinText = (coins: number): string => (coins === 1 ? 'a coin' : `${coins} coins`)

const LEFT_TEXTS = {
  incoming: 'that is incoming: sweep again once a block has it, or take incoming coins, too (--unconfirmed)',
  immature: 'of new blocks, which must mature first',
  frozen: 'that is frozen in a wallet of the account',
  reserved: 'that an open payment of a wallet of the account spends',
  costly: 'in coins that cost more than they bring',
  doesNotFit: 'that does not fit into one transaction: sweep again'
} as const

const SECOND_TEXTS = {
  agrees: '; two servers show the same coins',
  alone: ': one server alone was asked which coins they hold',
  differs: ': two servers differ about the coins that they hold',
  silent: ': one server alone has said which coins they hold, and no second one answers',
  unable:
    ': one server alone has said which coins they hold, as the second one shows none of other wallets: name another of Electrum or Esplora'
} as const

const STATES: Readonly<Record<OpenPaymentSnapshot['state'], string>> = {
  signed: 'signed, not sent from here',
  refused: 'a server refused it, others may have it',
  notSeen: 'sent, not seen yet',
  seen: 'seen by the network',
  notInMempool: 'in no mempool; the wallet sends it again',
  replaced: 'replaced',
  expired: 'expired',
  dropped: 'dropped: its coins no longer exist'
}
