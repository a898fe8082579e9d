import type { OpenPaymentSnapshot } from '../../../kernel/index.ts'

/** Names what has become of a payment, as the command line and the panel show it (pure). */
export const sentStateText = (
  state: OpenPaymentSnapshot['state'],
  { reason, replacedBy }: Pick<OpenPaymentSnapshot, 'reason' | 'replacedBy'> = {}
): string => {
  const words = STATES[state]
  if (state === 'replaced' && replacedBy !== undefined) return `${words} by ${replacedBy}`
  return reason === undefined ? words : `${words}: ${reason}`
}

/** Says why a draft may pay a second time (pure). */
export const secondPaymentText = (txid: string): string =>
  `The open payment ${txid} pays the same amount to the same payee`

/** Says what can happen once an open payment is forgotten (pure). */
export const forgetText = (txid: string): string =>
  `Whoever has the bytes of ${txid} can still have them mined. Its coins become free: if you then pay somebody with other coins, both can be paid, and nothing brings the first back.`

/** Returns what a person types to have a payment forgotten: the first eight characters of its txid (pure). */
export const forgetWord = (txid: string): string => txid.slice(0, 8)

/** Says what a swap's payee was compared with where not all own addresses could be derived. */
export const OWN_CHECK_TEXT = 'the payee was compared only with own addresses that were shown, saved or paid'

const STATES: Readonly<Record<OpenPaymentSnapshot['state'], string>> = {
  signed: 'signed, not sent from here',
  refused: 'a server refused it, others may have it',
  notSeen: 'sent, not seen yet',
  seen: 'seen by the network',
  notInMempool: 'in no mempool; it is sent again by itself',
  replaced: 'replaced',
  expired: 'expired',
  dropped: 'dropped: what it spends is gone'
}
