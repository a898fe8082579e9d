import type { ErrorEntry, NoDetails } from './entry.ts'

/** Details of the failures of amounts, addresses, spends and swaps (specification §8). Amounts are native. */
export interface SpendErrorDetails {
  /** `minimum`: the smallest native amount that the network relays to this kind of address. */
  DUST_SPEND: { minimum?: string; currencyCode?: string }
  INSUFFICIENT_FUNDS: {
    currencyCode: string
    tokenId?: string | null
    needed?: string
    available?: string
    networkFee?: string
  }
  NO_AMOUNT_SPECIFIED: NoDetails
  PENDING_FUNDS: NoDetails
  SPEND_TO_SELF: NoDetails
  SAME_CURRENCY: NoDetails
  /** '' for a limit that the provider does not name. */
  SWAP_ABOVE_LIMIT: { pluginId: string; nativeMax: string; direction: 'from' | 'to' }
  SWAP_BELOW_LIMIT: { pluginId: string; nativeMin: string; direction: 'from' | 'to' }
  SWAP_CURRENCY: { displayName: string; pluginId: string; from: string; to: string }
  SWAP_PERMISSION: { pluginId: string; reason?: 'geoRestriction' | 'noVerification' | 'needsActivation' }
  NO_SWAP_PROVIDERS: NoDetails
  /** A quote that cannot be approved any more, or was declined when it was to be confirmed. */
  QUOTE_ENDED: { pluginId: string; reason: 'expired' | 'approved' | 'closed' | 'declined' }
  /** What a provider asks for at approval is worse than what it offered, or pays nowhere. Nothing was signed. */
  SWAP_CHANGED: { pluginId: string; rule: string }
  /** No route of exchange rates leads from one currency to the other. */
  NO_RATE: { from: string; to: string }
  /** Text that is no amount of this currency. `rule` says what was expected. */
  AMOUNT_INVALID: { rule: string }
  /** An address or URI that this currency and network cannot pay. */
  ADDRESS_INVALID: { rule: string }
  FEE_INVALID: { rule: string }
  MEMO_INVALID: { rule: string }
  /** The network refused the transaction. `reason` is the node's own text. */
  BROADCAST_REFUSED: { txid: string; reason: string }
  /** The network could not be asked; the signed bytes are kept and sent again. */
  BROADCAST_UNKNOWN: { txid: string }
  SIGN_REFUSED: { pluginId: string; reason: string }
  /** A signed transaction from outside that is of another wallet, damaged, or not what it says. */
  SIGNED_TX_INVALID: { field: string; rule: string }
  MAX_FEE: { networkFee: string; maxFee: string; currencyCode: string }
  SPEND_WITH_KEYS: NoDetails
}

const permissionHint = ({ pluginId, reason }: SpendErrorDetails['SWAP_PERMISSION']): string => {
  switch (reason) {
    case 'geoRestriction':
      return `${pluginId} does not serve the place you are in.`
    case 'noVerification':
      return `${pluginId} wants to know who you are first.`
    case 'needsActivation':
      return `${pluginId} wants a key: give it with the options or the settings of the plugin.`
    default:
      return `Choose another provider than ${pluginId}.`
  }
}

/** Messages, exit codes and advice for {@link SpendErrorDetails}. */
export const spendErrors: { readonly [C in keyof SpendErrorDetails]: ErrorEntry<SpendErrorDetails[C]> } = {
  DUST_SPEND: {
    name: 'DustSpendError',
    exitCode: 33,
    message: () => 'Please send a larger amount',
    hint: ({ minimum }) =>
      minimum === undefined
        ? 'The network drops amounts this small.'
        : `Send at least ${minimum} native units.`
  },
  INSUFFICIENT_FUNDS: {
    name: 'InsufficientFundsError',
    exitCode: 31,
    message: ({ currencyCode }) => `Insufficient ${currencyCode}`,
    hint: ({ needed, available }) =>
      needed === undefined || available === undefined
        ? 'Send less, or use --amount max.'
        : `It needs ${needed} native units and there are ${available}. Send less, or use --amount max.`
  },
  NO_AMOUNT_SPECIFIED: {
    name: 'NoAmountSpecifiedError',
    exitCode: 30,
    message: () => 'Unable to create zero-amount transaction.'
  },
  PENDING_FUNDS: {
    name: 'PendingFundsError',
    exitCode: 32,
    message: () => 'Not enough confirmed funds',
    hint: () => 'Wait for the incoming payment to confirm.',
    retryable: true
  },
  SPEND_TO_SELF: { name: 'SpendToSelfError', exitCode: 34, message: () => 'Spending to self' },
  SAME_CURRENCY: {
    name: 'SameCurrencyError',
    exitCode: 44,
    message: () => 'Wallets can not be the same currency'
  },
  SWAP_ABOVE_LIMIT: {
    name: 'SwapAboveLimitError',
    exitCode: 42,
    message: () => 'Amount is too high',
    hint: ({ nativeMax }) =>
      nativeMax === ''
        ? 'The provider does not say how much it takes.'
        : `Swap at most ${nativeMax} native units.`
  },
  SWAP_BELOW_LIMIT: {
    name: 'SwapBelowLimitError',
    exitCode: 41,
    message: () => 'Amount is too low',
    hint: ({ nativeMin }) =>
      nativeMin === ''
        ? 'The provider does not say how much it wants.'
        : `Swap at least ${nativeMin} native units.`
  },
  SWAP_CURRENCY: {
    name: 'SwapCurrencyError',
    exitCode: 40,
    message: ({ displayName, from, to }) => `${displayName} does not support ${from} to ${to}`
  },
  SWAP_PERMISSION: {
    name: 'SwapPermissionError',
    exitCode: 43,
    message: () => 'You are not allowed to make this trade',
    hint: permissionHint
  },
  NO_SWAP_PROVIDERS: { name: 'Error', exitCode: 45, message: () => 'No swap providers enabled' },
  QUOTE_ENDED: {
    name: 'Error',
    exitCode: 46,
    message: ({ reason }) => {
      if (reason === 'expired') return 'The quote has expired'
      return reason === 'declined' ? 'The payment was not confirmed' : `The quote was ${reason} already`
    },
    hint: () => 'Ask for new quotes.'
  },
  SWAP_CHANGED: {
    name: 'Error',
    exitCode: 46,
    message: ({ pluginId, rule }) => `The order of ${pluginId} ${rule}`,
    hint: () => 'Nothing was signed or sent. Ask for new quotes.'
  },
  NO_RATE: {
    name: 'Error',
    exitCode: 47,
    message: ({ from, to }) => `No exchange rate leads from ${from} to ${to}`,
    hint: () => 'See which rates there are with: holdfast rates pairs',
    retryable: true
  },
  AMOUNT_INVALID: {
    name: 'Error',
    exitCode: 2,
    message: ({ rule }) => `The amount ${rule}`,
    hint: () => 'Write it as 0.01 BTC, 1000000 native, or max.'
  },
  ADDRESS_INVALID: {
    name: 'Error',
    exitCode: 2,
    message: ({ rule }) => `The address ${rule}`,
    hint: () => 'Copy the address again, and check that it is of the same network as the wallet.'
  },
  FEE_INVALID: { name: 'Error', exitCode: 2, message: ({ rule }) => `The fee ${rule}` },
  MEMO_INVALID: { name: 'Error', exitCode: 2, message: ({ rule }) => `The memo ${rule}` },
  SIGNED_TX_INVALID: {
    name: 'Error',
    exitCode: 2,
    message: ({ field, rule }) => `The signed transaction cannot be used: ${field} ${rule}`,
    hint: () => 'Nothing was sent. Take it as it was signed, or sign the payment again.'
  },
  BROADCAST_REFUSED: {
    name: 'Error',
    exitCode: 35,
    message: ({ reason }) => `The network refused the transaction: ${reason}`,
    hint: () => 'Nothing was spent. Sync the wallet and make the payment again.'
  },
  BROADCAST_UNKNOWN: {
    name: 'NetworkError',
    exitCode: 35,
    message: () => 'The transaction is signed and saved, but the network could not be reached',
    hint: ({ txid }) => `It is sent again by itself; look for ${txid} before you pay a second time.`,
    retryable: true
  },
  SIGN_REFUSED: {
    name: 'Error',
    exitCode: 36,
    message: ({ pluginId, reason }) => `The policy ${pluginId} refused to sign: ${reason}`
  },
  MAX_FEE: {
    name: 'Error',
    exitCode: 36,
    message: ({ networkFee, maxFee, currencyCode }) =>
      `The network fee of ${networkFee} is above the limit of ${maxFee} native ${currencyCode}`
  },
  SPEND_WITH_KEYS: { name: 'Error', exitCode: 2, message: () => 'Only sweepPrivateKeys takes private keys' }
}
