import {
  compact,
  type Grade,
  nativeAmount,
  type SentState,
  type TokenId,
  type Transaction,
  type Txid
} from '../../kernel/index.ts'
import { type CommandNames, type CommandWords, trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { findTransactions, stateOf, type TransactionFilter, type TxState } from './find-transactions.ts'
import { tokenFeesOf } from './open-payment-checks.ts'
import {
  about,
  address,
  code,
  count,
  type FieldsOf,
  flag,
  id,
  list,
  number,
  object,
  oneOf,
  optional,
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
import { walletOf } from './services.ts'
import {
  type AssetUnits,
  assetFields,
  displayOf,
  gradeField,
  IN_TABLES,
  unitsOfAsset
} from './shared-fields.ts'
import {
  type OpenPayment,
  openPayment,
  openPaymentOf,
  paymentTxid,
  type SpendReview,
  tokenFees,
  tokenId,
  type WalletRef,
  walletId
} from './spend-review.ts'

interface HistoryQuery
  extends WalletRef,
    Pick<TransactionFilter, 'before' | 'direction' | 'search' | 'state'> {
  readonly tokenId?: TokenId
  readonly since?: number
  readonly until?: number
  readonly limit?: number
}

/** One effect of a transaction on one asset of a wallet. Amounts are signed: negative leaves the wallet. */
interface HistoryEntry extends AssetUnits {
  readonly txid: Txid
  readonly at: number
  readonly isSend: boolean
  readonly nativeAmount: string
  readonly display: string
  /** In the coin of the chain. */
  readonly networkFee: string
  readonly blockHeight: number
  readonly state: TxState
  /** How deep it lies, as long as that is not enough. */
  readonly depth?: number
  readonly grade?: Grade
  readonly sentState?: SentState
  readonly replaces?: Txid
  readonly replacedBy?: Txid
  readonly untrusted: { readonly name?: string; readonly category?: string; readonly notes?: string }
}

interface HistoryPage {
  readonly transactions: readonly HistoryEntry[]
  /** Give it as `before` for the next page; absent on the last one. */
  readonly next?: Txid
}

interface TransactionRef extends WalletRef {
  readonly txid: Txid
  readonly tokenId?: TokenId
}

interface Payee {
  readonly publicAddress: string
  readonly nativeAmount: string
}

interface PaidSwapRecord {
  readonly pluginId: string
  readonly isEstimate: boolean
  readonly payoutAddress: string
  readonly payoutCurrencyCode: string
  readonly payoutNativeAmount: string
  readonly payoutWalletId: string
  readonly orderId?: string
  readonly untrusted: { readonly providerName: string; readonly orderUri?: string }
}

interface TransactionDetails extends Omit<HistoryEntry, 'untrusted'>, Pick<SpendReview, 'tokenFees'> {
  readonly targets: readonly Payee[]
  readonly ourReceiveAddresses: readonly string[]
  readonly fee?: string
  /** What it was worth, by currency such as `iso:EUR`. */
  readonly worthThen: Readonly<Record<string, number>>
  readonly swap?: PaidSwapRecord
  readonly untrusted: HistoryEntry['untrusted'] & {
    readonly memos?: readonly string[]
    readonly device?: string
  }
}

interface OpenPaymentRow extends OpenPayment {
  readonly walletId: string
}

/** Actions that read transactions. */
export interface HistoryActions {
  readonly 'tx.list': { readonly in: HistoryQuery; readonly out: HistoryPage }
  readonly 'tx.get': { readonly in: TransactionRef; readonly out: TransactionDetails }
  readonly 'spend.open': {
    readonly in: WalletRef
    readonly out: { readonly payments: readonly OpenPaymentRow[] }
  }
}

const [MAX_ENTRIES, USUAL_ENTRIES] = [100, 20]
const MAX_ADDRESSES = 100
/** Milliseconds since 1970, to the end of the year 9999. */
const moment = count(0, 253_402_300_799_999)
const TX_STATES = ['confirmed', 'dropped', 'syncing', 'unconfirmed'] as const satisfies readonly TxState[]

const entryFields: Omit<FieldsOf<HistoryEntry>, 'untrusted'> = {
  ...assetFields,
  txid,
  at: time,
  isSend: flag,
  nativeAmount: about(signedAmount, 'Negative if it left the wallet'),
  display: about(shortText(210), 'The amount in the usual unit, as decimal text'),
  networkFee: about(signedAmount, 'In the coin of the chain'),
  blockHeight: about(number, '0: unconfirmed; negative: dropped'),
  state: oneOf(...TX_STATES),
  depth: optional(about(count(0, Number.MAX_SAFE_INTEGER), 'How deep it lies, while that is not enough')),
  grade: optional(gradeField),
  sentState: optional(oneOf('notSeen', 'seen', 'notInMempool', 'replaced', 'expired', 'dropped')),
  replaces: optional(txid),
  replacedBy: optional(txid)
}

const noteFields: FieldsOf<HistoryEntry['untrusted']> = {
  name: optional(untrusted()),
  category: optional(untrusted()),
  notes: optional(untrustedNote)
}

/** Reads the history of wallets, newest first. */
export const historyActions: DeclarationsOf<HistoryActions> = {
  'tx.list': {
    title: 'List transactions',
    summary:
      'Lists the transactions of a wallet in its assets, or in one of them, newest first, a page at a time.',
    effect: 'reads',
    input: object<HistoryQuery>({
      walletId,
      tokenId: optional(about(tokenId, 'Only this token; the coin and all enabled tokens if left out')),
      since: optional(about(moment, 'Only those of this time or later')),
      until: optional(about(moment, 'Only those before this time')),
      state: optional(oneOf(...TX_STATES)),
      direction: optional(oneOf('in', 'out')),
      search: optional(about(text(200), 'Only those with this in a text, an amount or an address')),
      limit: optional(about(count(1, MAX_ENTRIES), `The most to give; ${USUAL_ENTRIES} if left out`)),
      before: optional(about(id, 'Only those that follow this one in the list'))
    }),
    output: object<HistoryPage>({
      transactions: list(
        object<HistoryEntry>({
          ...entryFields,
          untrusted: object<HistoryEntry['untrusted']>(noteFields)
        }),
        // A page ends with the last effect of a transaction on an asset.
        2 * MAX_ENTRIES
      ),
      next: optional(about(txid, 'Give it as before for the next page; absent on the last one'))
    }),
    async run(services, { walletId: reading, tokenId: token, limit = USUAL_ENTRIES, ...filter }) {
      const { wallet } = await walletOf(services, reading)
      const { since, until, ...others } = filter
      const assets = token === undefined ? [null, ...wallet.getSnapshot().enabledTokenIds] : [token]
      const { effects, hasMore } = await findTransactions(
        assets.map(asset => ({ wallet, asset: unitsOfAsset(wallet, asset) })),
        { ...others, ...compact({ since: dateOf(since), until: dateOf(until) }) },
        { limit }
      )
      const next = hasMore ? effects.at(-1)?.tx.txid : undefined
      return { transactions: effects.map(({ tx, asset }) => entryOf(tx, asset)), ...compact({ next }) }
    },
    commandLine: (input, names) => listWords(input, names),
    faces: {
      cli: {
        command: 'tx list',
        own: 'it lists several wallets in one order, with whole texts; both find them by the same code'
      },
      panel: 'transaction-list',
      mcp: 'tool'
    }
  },
  'tx.get': {
    title: 'Show a transaction',
    summary: 'Shows one transaction of a wallet with its payees, notes and swap.',
    effect: 'reads',
    isAboutAddresses: true,
    input: object<TransactionRef>({ walletId, txid: paymentTxid, tokenId: optional(tokenId) }),
    output: object<TransactionDetails>({
      ...entryFields,
      targets: list(object<Payee>({ publicAddress: address, nativeAmount: signedAmount }), MAX_ADDRESSES),
      ourReceiveAddresses: list(address, MAX_ADDRESSES),
      fee: optional(about(code(20), 'The fee level')),
      worthThen: about(
        table(number, { max: 20, pattern: '^[A-Za-z0-9:_.-]{1,50}$' }),
        'What it was worth, by currency'
      ),
      swap: optional(
        object<PaidSwapRecord>({
          pluginId: code(100),
          isEstimate: flag,
          payoutAddress: address,
          payoutCurrencyCode: ticker,
          payoutNativeAmount: signedAmount,
          payoutWalletId: code(200),
          orderId: optional(code(200)),
          untrusted: object<PaidSwapRecord['untrusted']>({
            providerName: untrusted(),
            orderUri: optional(untrusted(1000))
          })
        })
      ),
      untrusted: object<TransactionDetails['untrusted']>({
        ...noteFields,
        memos: optional(list(untrusted(), 100)),
        device: optional(untrustedMessage)
      }),
      tokenFees: optional(tokenFees)
    }),
    async run(services, { walletId: reading, txid: wanted, tokenId: token }) {
      const { wallet } = await walletOf(services, reading)
      const tx = await wallet.getTransaction(wanted, token ?? null)
      return { ...detailsOf(tx, unitsOfAsset(wallet, token ?? null)), ...tokenFeesOf(wallet, [tx]) }
    },
    commandLine: ({ walletId: reading, txid: wanted, tokenId: token }, names) => {
      const { word, account } = names.walletOf(reading)
      return { words: ['tx', 'show', word, wanted], flags: { token, account } }
    },
    faces: {
      cli: {
        command: 'tx show',
        own: 'it shows every fact of a transaction with whole texts, and its signed bytes'
      },
      panel: { none: 'the panel shows what a kernel does, not the history of a wallet' },
      mcp: 'tool'
    }
  },
  'spend.open': {
    title: 'List open payments',
    summary: 'Lists the payments of a wallet that may still be mined, after a look at the network.',
    effect: 'reads',
    input: object<WalletRef>({ walletId }),
    output: object<HistoryActions['spend.open']['out']>({
      payments: list(object<OpenPaymentRow>({ ...openPayment, walletId }), 500)
    }),
    async run(services, { walletId: reading }) {
      const { wallet } = await walletOf(services, reading)
      const payments = await wallet.lookAtOpenPayments()
      return { payments: payments.map(payment => ({ ...openPaymentOf(payment), walletId: reading })) }
    },
    commandLine: ({ walletId: reading }, names) => {
      const { word, account } = names.walletOf(reading)
      return { words: ['tx', 'open', word], flags: { account } }
    },
    faces: {
      cli: 'tx open',
      panel: IN_TABLES,
      mcp: 'tool'
    }
  }
}

/** A command looks for text with `--search`; `trimmed` keeps a dash at its start. */
const listWords = (
  { walletId: reading, tokenId: token, limit, before, search, state, direction, ...times }: HistoryQuery,
  names: CommandNames
): CommandWords => {
  const { word, account } = names.walletOf(reading)
  const { since, until } = times
  return {
    words: ['tx', 'list', word],
    flags: {
      search: search === undefined ? undefined : trimmed(search),
      since: dateOf(since)?.toISOString(),
      until: dateOf(until)?.toISOString(),
      state,
      in: direction === 'in',
      out: direction === 'out',
      limit: limit === undefined ? undefined : String(limit),
      before,
      token,
      account
    }
  }
}

const dateOf = (time: number | undefined): Date | undefined =>
  time === undefined ? undefined : new Date(time)

const placeInTime = (confirmations: Transaction['confirmations']): Pick<HistoryEntry, 'depth' | 'state'> => ({
  state: stateOf(confirmations),
  ...compact({ depth: typeof confirmations === 'number' ? confirmations : undefined })
})

const entryOf = (tx: Transaction, { tokenId: token, currencyCode, decimals }: AssetUnits): HistoryEntry => {
  const { grade, sentState, replaces, replacedBy, metadata } = tx
  return {
    ...{ tokenId: token, currencyCode, decimals, txid: tx.txid, at: Math.round(tx.date * 1000) },
    ...{
      isSend: tx.isSend,
      nativeAmount: tx.nativeAmount,
      display: displayOf(tx.nativeAmount, { decimals })
    },
    networkFee: tx.parentNetworkFee ?? tx.networkFee,
    blockHeight: tx.blockHeight,
    ...placeInTime(tx.confirmations),
    ...compact({ grade, sentState, replaces, replacedBy }),
    untrusted: compact({ name: metadata.name, category: metadata.category, notes: metadata.notes })
  }
}

const detailsOf = (tx: Transaction, units: AssetUnits): TransactionDetails => {
  const entry = entryOf(tx, units)
  const { spendTargets = [], memos, metadata, networkFeeOption: fee, deviceDescription: device } = tx
  return {
    ...entry,
    targets: spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({
      publicAddress,
      nativeAmount: nativeAmount(paid)
    })),
    ourReceiveAddresses: tx.ourReceiveAddresses,
    worthThen: metadata.exchangeAmount ?? {},
    ...compact({ fee, swap: swapOf(tx) }),
    untrusted: {
      ...entry.untrusted,
      ...compact({ memos: memos.length === 0 ? undefined : memos.map(({ value }) => value), device })
    }
  }
}

const swapOf = ({ swapData }: Transaction): PaidSwapRecord | undefined => {
  if (swapData === undefined) return undefined
  const { plugin, isEstimate, payoutAddress, payoutCurrencyCode, payoutNativeAmount } = swapData
  const { payoutWalletId, orderId, orderUri } = swapData
  return {
    ...{ pluginId: plugin.pluginId, isEstimate, payoutAddress, payoutCurrencyCode, payoutNativeAmount },
    payoutWalletId,
    ...compact({ orderId }),
    untrusted: { providerName: plugin.displayName, ...compact({ orderUri }) }
  }
}
