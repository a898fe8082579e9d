import { abs, compare, ZERO } from '../../base/amount.ts'
import { WalletError } from '../../base/errors.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { TokenId, Txid, WalletId } from '../../types/ids.ts'
import { coinFeeOf, type FeesOfTransaction, otherFeesOf } from '../../types/network-fee.ts'
import type { CountedPayment, PaidAmount } from '../../types/policy.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import type { History } from '../history/history.ts'
import { type HistoryRow, parseRow } from '../history/row.ts'
import { ListCursor, lastBefore } from '../history/row-list.ts'
import type { SpendIntent, SpendJournal } from './journal.ts'

/** The wallet whose payments are counted. */
export interface CountedWallet {
  readonly walletId: WalletId
  readonly info: CurrencyInfo
  readonly journal: SpendJournal
  readonly history: History
  /** The tokens whose histories count. */
  readonly tokenIds: readonly TokenId[]
}

/** The time to count from, in milliseconds since 1970, and a payment that is judged without being reserved. */
export interface CountOptions {
  readonly since: number
  readonly trial?: SpendIntent | undefined
}

/**
 * Counts what a wallet has paid or may still pay: every payment of the journal, whatever its stage, and every sent transaction
 * of the history that the journal lacks, such as those of other devices. Each counts once by txid; of payments that replace
 * each other the highest counts until one of them is confirmed.
 *
 * Only the chain takes a payment out: a conflicting transaction that is confirmed, or coins that no longer exist.
 *
 * @throws CORRUPT_FILE for an entry of the journal that cannot be read: nobody knows what it paid
 */
export const countPayments = async (
  wallet: CountedWallet,
  { since, trial }: CountOptions
): Promise<CountedPayment[]> => {
  const entries = entriesOf(wallet.journal)
  if (trial !== undefined) entries.push({ intent: trial, isPast: false })
  const known = new Set(entries.map(({ intent }) => intent.tx.txid))
  const counted: CountedPayment[] = []
  const confirmedCoins = new Set(
    entries.flatMap(({ intent: { confirmedAt, tx } }) =>
      confirmedAt === undefined ? [] : (tx.spentCoins ?? [])
    )
  )
  for (const forms of groupsOf(entries)) {
    const payment = await countForms(wallet, forms, confirmedCoins)
    if (payment !== undefined && (payment.isOpen || payment.at >= since)) counted.push(payment)
  }
  return [...counted, ...(await countRows(wallet, known, since))]
}

/** An entry of the journal. `isPast`: a person forgot it. */
interface Entry {
  readonly intent: SpendIntent
  readonly isPast: boolean
}

const entriesOf = (journal: SpendJournal): Entry[] => {
  const onDamaged = (error: unknown): never => {
    throw new WalletError('CORRUPT_FILE', { path: 'spend journal', rule: 'it cannot be read' }, error)
  }
  const { unfinished, sent } = journal.entries(onDamaged)
  const live = [...unfinished, ...sent].map(intent => ({ intent, isPast: false }))
  const txids = new Set(live.map(({ intent }) => intent.tx.txid))
  const past = journal.past(onDamaged).filter(({ tx }) => !txids.has(tx.txid))
  return [...live, ...past.map(intent => ({ intent, isPast: true }))]
}

/**
 * Joins the payments of which at most one can be mined: each with what it replaces, directly or through others, if it spends a coin
 * of each of them. That it replaces one is only said; the coins are in its bytes.
 */
const groupsOf = (entries: readonly Entry[]): readonly (readonly Entry[])[] => {
  const replaced = new Map(entries.map(({ intent: { tx } }) => [tx.txid, tx.replaces]))
  const rootOf = ({ correlationId, tx }: SpendIntent): string => {
    if (tx.txid === '' && tx.replaces === undefined) return correlationId
    let root: Txid = tx.txid === '' ? (tx.replaces ?? '') : tx.txid
    const seen = new Set<Txid>()
    for (let next = replaced.get(root); next !== undefined && !seen.has(next); next = replaced.get(root)) {
      seen.add(root)
      root = next
    }
    return root
  }
  const groups = new Map<string, Entry[]>()
  for (const entry of entries) {
    const root = rootOf(entry.intent)
    groups.set(root, [...(groups.get(root) ?? []), entry])
  }
  return [...groups.values()].flatMap(exclusiveOf)
}

const exclusiveOf = (forms: readonly Entry[]): readonly (readonly Entry[])[] => {
  const groups: Entry[][] = []
  for (const form of forms) {
    const group = groups.find(others => others.every(other => isRival(form, other)))
    if (group === undefined) groups.push([form])
    else group.push(form)
  }
  return groups
}

/** Currencies that do not name the coins have none to compare. */
const isRival = ({ intent: { tx: one } }: Entry, { intent: { tx: other } }: Entry): boolean =>
  one.txid === other.txid ||
  (one.spentCoins === undefined && other.spentCoins === undefined) ||
  one.spentCoins?.some(coin => other.spentCoins?.includes(coin) === true) === true

const countForms = async (
  { walletId, info, history }: CountedWallet,
  forms: readonly Entry[],
  confirmedCoins: ReadonlySet<string>
): Promise<CountedPayment | undefined> => {
  const confirmed =
    forms.find(({ intent }) => intent.confirmedAt !== undefined) ?? (await minedPastOf(history, forms))
  const live: SpendIntent[] = confirmed === undefined ? [] : [confirmed.intent]
  for (const { intent, isPast } of confirmed === undefined ? forms : [])
    if (!(await isOver(history, intent, isPast ? confirmedCoins : undefined))) live.push(intent)
  if (live.length === 0) return undefined
  const blockTime = confirmed === undefined ? 0 : await history.blockTimeOf(confirmed.intent.tx.txid)
  let amounts: readonly PaidAmount[] = []
  for (const { tx } of live) amounts = highestOf(amounts, outgoingOf(info.pluginId, [tx]))
  return {
    walletId,
    txids: live.map(({ tx }) => tx.txid).filter(txid => txid !== ''),
    isOpen: confirmed === undefined,
    at: Math.max(...live.map(({ countedAt, at }) => countedAt ?? at), blockTime),
    clients: [...new Set(live.flatMap(({ requestedBy }) => requestedBy ?? []))],
    amounts,
    values: worthOf(live)
  }
}

/** The payment that a person forgot and that was mined all the same: nobody watches it, so that only its row says so. */
const minedPastOf = async (history: History, forms: readonly Entry[]): Promise<Entry | undefined> => {
  for (const form of forms.filter(({ isPast }) => isPast)) {
    const { txid, tokenId } = form.intent.tx
    if ((await history.find(txid, tokenId))?.confirmations === 'confirmed') return form
  }
  return undefined
}

/** The highest worth by fiat code, where every form has one: a dearer form that has none is valued again. */
const worthOf = (forms: readonly SpendIntent[]): Readonly<Record<string, string>> => {
  const [first, ...others] = forms.map(({ values = {} }) => values)
  const highest: Record<string, string> = {}
  for (const code of Object.keys(first ?? {})) {
    const all = [first, ...others].map(values => values?.[code])
    const [top] = all.sort((left, right) => Number(right) - Number(left))
    if (top !== undefined && !all.includes(undefined)) highest[code] = top
  }
  return highest
}

/** Returns true if the chain has decided against a payment. */
const isOver = async (
  history: History,
  { tx, sight }: SpendIntent,
  confirmedCoins: ReadonlySet<string> | undefined
): Promise<boolean> => {
  if (tx.txid === '') return false
  if (sight?.isFinal === true) return true
  if (confirmedCoins !== undefined && tx.spentCoins?.some(coin => confirmedCoins.has(coin)) === true)
    return true
  return (await history.find(tx.txid, tx.tokenId))?.confirmations === 'dropped'
}

/** The amounts that leave with a transaction, of which each asset has a report; the coin's include the fee. */
const outgoingOf = (
  pluginId: string,
  reports: readonly (FeesOfTransaction & Pick<EngineTransaction, 'nativeAmount'>)[]
): readonly PaidAmount[] => {
  const amounts: PaidAmount[] = []
  for (const { tokenId, nativeAmount } of reports)
    if (nativeAmount.startsWith('-')) amounts.push({ pluginId, tokenId, nativeAmount: abs(nativeAmount) })
  const [first] = reports
  const isReported = (asset: TokenId | null): boolean => reports.some(({ tokenId }) => tokenId === asset)
  const fee = first === undefined || isReported(null) ? ZERO : coinFeeOf(first)
  if (compare(fee, ZERO) > 0) amounts.push({ pluginId, tokenId: null, nativeAmount: fee })
  for (const { tokenId, nativeAmount } of reports.flatMap(otherFeesOf))
    if (!isReported(tokenId) && !amounts.some(amount => amount.tokenId === tokenId))
      amounts.push({ pluginId, tokenId, nativeAmount })
  return amounts
}

/** Returns the amounts that leave with a draft, fees included. */
export const paidAmountsOf = (
  pluginId: string,
  tx: Parameters<typeof outgoingOf>[1][number]
): readonly PaidAmount[] => outgoingOf(pluginId, [tx])

const highestOf = (left: readonly PaidAmount[], right: readonly PaidAmount[]): readonly PaidAmount[] => {
  const all = new Map(left.map(amount => [amount.tokenId, amount]))
  for (const amount of right) {
    const other = all.get(amount.tokenId)
    if (other === undefined || compare(amount.nativeAmount, other.nativeAmount) > 0)
      all.set(amount.tokenId, amount)
  }
  return [...all.values()]
}

/** The rows of the history that the journal lacks. A row can be listed by a date that a wrong clock wrote. */
const countRows = async (
  { walletId, info, history, tokenIds }: CountedWallet,
  known: ReadonlySet<Txid>,
  since: number
): Promise<CountedPayment[]> => {
  const counted = new Map<Txid, CountedPayment>()
  for (const tokenId of [null, ...tokenIds]) {
    const cursor = new ListCursor(() => history.list(tokenId), {
      floor: lastBefore(since - LISTED_EARLIER_MS),
      from: async () => 0
    })
    for (let rows = await cursor.next(PAGE); rows.length > 0; rows = await cursor.next(PAGE)) {
      for (const { text } of rows) {
        const row = parseRow(text)
        const [report] = row.reports
        if (report === undefined || known.has(report.txid) || isDropped(row)) continue
        const isOpen = report.blockHeight === 0
        const at = report.date * 1000
        const amounts = outgoingOf(info.pluginId, row.reports)
        if ((!isOpen && at < since) || amounts.length === 0) continue
        const facts = { walletId, txids: [report.txid], isOpen, at, clients: [], values: {} }
        counted.set(report.txid, { ...facts, amounts })
      }
    }
  }
  return [...counted.values()]
}

const isDropped = ({ reports: [report] }: HistoryRow): boolean =>
  report !== undefined && (report.blockHeight < 0 || report.confirmations === 'dropped')

const PAGE = 100
const LISTED_EARLIER_MS = 30 * 24 * 60 * 60_000
