import type { ErrorEntry, NoDetails } from './entry.ts'

/**
 * The fault of an address. `typo`: a letter that no address has, or too few or too many; `checksum`: all letters are
 * possible, and one is another; `network`: of another network of the same currency; `currency`: of another currency; `kind`: of
 * this currency, and nothing that this wallet pays; `owner`: none of this wallet, where one is wanted; `form`: no address at all.
 */
export type AddressFault = 'checksum' | 'currency' | 'form' | 'kind' | 'network' | 'owner' | 'typo'

const ADDRESS_HINTS: { readonly [F in AddressFault]: string } = {
  typo: 'Copy the whole address again: it has a letter that addresses never have, or letters are missing or too many.',
  checksum: 'Copy the address again and do not type it: a letter is missing, mistyped or swapped.',
  network: 'Ask for an address of the network of this wallet.',
  currency: 'Pay from a wallet of that currency, or ask for an address of this one.',
  kind: 'This wallet cannot pay this kind of address; ask for another kind.',
  owner: 'Take an address that this wallet has received on, or gives out with address show.',
  form: 'Copy the address again, and check that it belongs to the same network as the wallet.'
}

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
  /** `found`: what foreign keys hold, in native units: nothing, or less than it costs to move it. */
  NOTHING_TO_SWEEP: { currencyCode: string; found: string }
  /** A second server shows coins of foreign keys, and the first none that a sweep can move. */
  COINS_DISPUTED: { currencyCode: string; server: string; coinCount: number }
  /** `incoming`, `immature`, `reserved`, `frozen`: what the payment could take if it were spendable, in native units of the coin. */
  PENDING_FUNDS: {
    currencyCode?: string
    incoming?: string
    immature?: string
    reserved?: string
    frozen?: string
  }
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
  /** The order at approval is worse than the offer, or has no valid payee. Nothing was signed. */
  SWAP_CHANGED: { pluginId: string; rule: string }
  /** No route of exchange rates leads from one currency to the other. */
  NO_RATE: { from: string; to: string }
  /** Text that is no amount of this currency. `rule` says what was expected. */
  AMOUNT_INVALID: { rule: string }
  /** An address or URI that this currency and network cannot pay. `fault`: what is wrong with it; an older plugin leaves it out. */
  ADDRESS_INVALID: { rule: string; fault?: AddressFault }
  FEE_INVALID: { rule: string }
  MEMO_INVALID: { rule: string }
  /** A server refused the transaction, which it has all the same. `reason` is the node's own text. */
  BROADCAST_REFUSED: { txid: string; reason: string }
  /** The network could not be asked; the signed bytes are kept and sent again. */
  BROADCAST_UNKNOWN: { txid: string }
  /**
   * `refusedBy`: a policy unless it says otherwise; `wallet` is the kernel, whose `pluginId` then is that of the currency.
   * `rule`: the rule of the account that refused, `no rule` if none allows it, or `rules unreadable`. `allowedAt`: ISO text.
   */
  SIGN_REFUSED: {
    pluginId: string
    reason: string
    refusedBy?: 'account' | 'currency plugin' | 'policy' | 'wallet'
    rule?: string
    allowedAt?: string
  }
  /** A change of the account's rules that may loosen them needs the account's password. */
  POLICY_PASSWORD: { rule: string }
  /**
   * A signed payment spends a coin, `txid:vout`, that was frozen since its draft was made. Nothing was sent. `isKept`: the signed bytes
   * are kept as an open payment.
   */
  COIN_FROZEN: { txid: string; coin: string; isKept: boolean }
  /** The caller has stopped a signature before it was there. Nothing was kept, and nothing has left. */
  SIGN_STOPPED: NoDetails
  /** A currency plugin has signed, or says that it has sent, something else than the draft that was reviewed. */
  SIGNED_OTHERWISE: { pluginId: string; field: string }
  /** A signed transaction from outside that is of another wallet, damaged, or not what it says. */
  SIGNED_TX_INVALID: { field: string; rule: string }
  MAX_FEE: { networkFee: string; maxFee: string; currencyCode: string }
  /** A network fee above a tenth of what is paid and above ten times the usual one, which the user has not allowed. */
  FEE_UNUSUAL: { networkFee: string; usualNetworkFee: string; currencyCode: string }
  SPEND_WITH_KEYS: NoDetails
  /** The wallet holds public keys alone. */
  WATCH_ONLY: NoDetails
}

const permissionHint = ({ pluginId, reason }: SpendErrorDetails['SWAP_PERMISSION']): string => {
  switch (reason) {
    case 'geoRestriction':
      return `${pluginId} does not serve your country.`
    case 'noVerification':
      return `${pluginId} requires identity verification first.`
    case 'needsActivation':
      return `${pluginId} needs a key: set it in the options or the settings of the plugin.`
    default:
      return `Choose another provider than ${pluginId}.`
  }
}

const pendingHint = ({
  incoming = '0',
  immature = '0',
  reserved = '0',
  frozen = '0'
}: SpendErrorDetails['PENDING_FUNDS']): string => {
  const parts = [
    incoming === '0'
      ? ''
      : `${incoming} native units are incoming: wait for their confirmation, or use --unconfirmed; until then their sender can take them back.`,
    reserved === '0'
      ? ''
      : `${reserved} native units are reserved for an open payment: wait until it is confirmed, replaced or forgotten.`,
    frozen === '0' ? '' : `${frozen} native units are frozen: free them with coins unfreeze.`,
    immature === '0' ? '' : `${immature} native units come from new blocks: wait until they are mature.`
  ]
  const hint = parts.filter(part => part !== '').join(' ')
  return hint === '' ? 'Wait until more of the coins are confirmed.' : hint
}

/** Messages, exit codes and advice for {@link SpendErrorDetails}. */
export const spendErrors: { readonly [C in keyof SpendErrorDetails]: ErrorEntry<SpendErrorDetails[C]> } = {
  COIN_FROZEN: {
    name: 'Error',
    exitCode: 36,
    message: ({ coin }) => `The payment spends a coin that is frozen: ${coin}`,
    hint: ({ isKept }) =>
      `Nothing was sent. Free the coin with coins unfreeze in the wallet that has it, or ${isKept ? 'forget the payment with tx forget' : 'make the payment again without it'}.`
  },
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
  NOTHING_TO_SWEEP: {
    name: 'Error',
    exitCode: 31,
    message: ({ currencyCode }) => `The keys hold no ${currencyCode} that a sweep can move`,
    hint: ({ found }) =>
      found === '0'
        ? 'The server knows no unspent coin of them. Check the currency and the network.'
        : `They hold ${found} native units, and to move these costs more than would arrive. Try a lower fee.`
  },
  COINS_DISPUTED: {
    name: 'Error',
    exitCode: 31,
    message: ({ currencyCode }) => `Two servers differ about the ${currencyCode} that the keys hold`,
    hint: ({ server, coinCount }) =>
      `${server} shows ${coinCount === 1 ? 'a coin' : `${coinCount} coins`} in blocks, which the first server does not show. Keep the keys, and try again; if it stays so, name another server first.`,
    retryable: true
  },
  PENDING_FUNDS: {
    name: 'PendingFundsError',
    exitCode: 32,
    message: () => 'Not enough confirmed funds',
    hint: pendingHint,
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
      nativeMax === '' ? 'The provider does not state its limit.' : `Swap at most ${nativeMax} native units.`
  },
  SWAP_BELOW_LIMIT: {
    name: 'SwapBelowLimitError',
    exitCode: 41,
    message: () => 'Amount is too low',
    hint: ({ nativeMin }) =>
      nativeMin === ''
        ? 'The provider does not state its minimum.'
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
      return reason === 'declined' ? 'The payment was not confirmed' : `The quote was already ${reason}`
    },
    hint: () => 'Get new quotes.'
  },
  SWAP_CHANGED: {
    name: 'Error',
    exitCode: 46,
    message: ({ pluginId, rule }) => `The order of ${pluginId} ${rule}`,
    hint: () => 'Nothing was signed or sent. Get new quotes.'
  },
  NO_RATE: {
    name: 'Error',
    exitCode: 47,
    message: ({ from, to }) => `No exchange rate leads from ${from} to ${to}`,
    hint: () => 'See the known rates with: holdfast rates pairs',
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
    hint: ({ fault }) => ADDRESS_HINTS[fault ?? 'form']
  },
  FEE_INVALID: { name: 'Error', exitCode: 2, message: ({ rule }) => `The fee ${rule}` },
  MEMO_INVALID: { name: 'Error', exitCode: 2, message: ({ rule }) => `The memo ${rule}` },
  SIGNED_TX_INVALID: {
    name: 'Error',
    exitCode: 2,
    message: ({ field, rule }) => `The signed transaction cannot be used: ${field} ${rule}`,
    hint: () => 'Nothing was sent. Use the file as it was signed, or sign the payment again.'
  },
  BROADCAST_REFUSED: {
    name: 'Error',
    exitCode: 35,
    message: ({ reason }) => `The network refused the transaction: ${reason}`,
    hint: ({ txid }) =>
      `The server may still have relayed it, so the wallet keeps ${txid} and reserves its coins. ` +
      'Send the same bytes with tx resend, or replace the payment with tx replace.'
  },
  BROADCAST_UNKNOWN: {
    name: 'NetworkError',
    exitCode: 35,
    message: () => 'The transaction is signed and saved, but the network could not be reached',
    hint: ({ txid }) =>
      `It may have been sent. The wallet sends it again while it is open, or at once with tx resend, and reserves its coins. ` +
      `See the state of ${txid} with tx open; tx replace replaces it.`,
    retryable: true
  },
  SIGN_REFUSED: {
    name: 'Error',
    exitCode: 36,
    message: ({ pluginId, reason, refusedBy = 'policy' }) =>
      refusedBy === 'wallet' || refusedBy === 'account'
        ? `The ${refusedBy === 'wallet' ? 'wallet' : 'rules of the account'} refused to sign: ${reason}`
        : `The ${refusedBy} ${pluginId} refused to sign: ${reason}`,
    hint: ({ refusedBy, allowedAt }) =>
      refusedBy === 'wallet'
        ? 'Nothing was signed. See the open payments of the wallet.'
        : refusedBy !== 'account'
          ? undefined
          : allowedAt === undefined
            ? 'Nothing was signed. See the rules with policy explain.'
            : `Nothing was signed. It would be allowed from ${allowedAt} on; see the rules with policy explain.`
  },
  POLICY_PASSWORD: {
    name: 'PasswordError',
    exitCode: 36,
    message: () => 'Only the password of the account allows this change, as the account has rules',
    hint: () => 'A change that can only make the rules stricter needs none.'
  },
  SIGN_STOPPED: {
    name: 'Error',
    exitCode: 36,
    message: () => 'Signing was stopped: nothing was sent, and the coins are free'
  },
  SIGNED_OTHERWISE: {
    name: 'Error',
    exitCode: 36,
    message: ({ pluginId, field }) =>
      `The plugin ${pluginId} did not sign the reviewed payment: ${field} differs`,
    hint: ({ pluginId }) =>
      `The wallet kept and sent nothing. Do not pay with ${pluginId} until its author has fixed it.`
  },
  MAX_FEE: {
    name: 'Error',
    exitCode: 36,
    message: ({ networkFee, maxFee, currencyCode }) =>
      `The network fee of ${networkFee} is above the limit of ${maxFee} native ${currencyCode}`
  },
  FEE_UNUSUAL: {
    name: 'Error',
    exitCode: 36,
    message: ({ networkFee, usualNetworkFee, currencyCode }) =>
      `The network fee of ${networkFee} native ${currencyCode} is more than ten times the usual ${usualNetworkFee}, and more than a tenth of the payment`,
    hint: () =>
      'Nothing was signed. Wait, choose the fee yourself, or allow this much with --max-fee (maxNetworkFee).'
  },
  SPEND_WITH_KEYS: {
    name: 'Error',
    exitCode: 2,
    message: () => 'Only sweepPrivateKeys accepts private keys'
  },
  WATCH_ONLY: {
    name: 'Error',
    exitCode: 36,
    message: () => 'This wallet only watches: it has no private key',
    hint: () => 'Pay with the program or device that holds its key, or import that key here.'
  }
}
