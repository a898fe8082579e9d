import type { Schema } from 'yup'
import { compact } from '../base/compact.ts'
import { isWalletError } from '../base/errors.ts'
import { isRecord, parseJson } from '../base/json.ts'
import { isWellFormed } from '../crypto/encoding.ts'
import { objectOf, optional, parse, shortText } from '../schema/shape.ts'
import type { TokenId, Txid, WalletId } from '../types/ids.ts'
import type { Metadata, Transaction } from '../types/transaction.ts'
import type { AddressRecord } from './addresses.ts'
import type { CoinNote } from './coins.ts'
import { mergeMetadata } from './history/metadata.ts'
import { type AddressSource, findOwnAddresses } from './own-addresses.ts'
import type { CurrencyWallet } from './wallet.ts'

/** The methods of a wallet that the import calls. */
export type LabelledWallet = AddressSource &
  Pick<
    CurrencyWallet,
    | 'changeCoin'
    | 'coinNotes'
    | 'getTransaction'
    | 'id'
    | 'listCoins'
    | 'saveReceiveAddress'
    | 'saveTxMetadata'
  >

/** Options for importing labels. */
export interface LabelImport {
  /**
   * A row that names one of them is for that one; every other row is for each wallet that knows its txid or address.
   */
  readonly wallets: readonly LabelledWallet[]
  /** Returns the results without writing anything. */
  readonly dryRun?: boolean
  /** Replaces notes that differ from the file. */
  readonly mayReplace?: boolean
}

/** The result of one row in one wallet. */
export interface LabelResult {
  /** Of the file, from 1. */
  readonly line: number
  readonly type: string
  readonly ref: string
  readonly walletId?: WalletId
  /**
   * `conflict`: another text is noted, and stays. `unknown`: no wallet knows the transaction or address.
   * `ignored`: a kind of label that is not kept here, or one that says nothing. `invalid`: no label at all.
   */
  readonly status: 'applied' | 'conflict' | 'ignored' | 'invalid' | 'same' | 'unknown'
  /** In which fields there is a conflict. */
  readonly fields?: readonly (keyof LabelTexts)[]
  /** Why a line is invalid. */
  readonly reason?: string
}

interface NumberedRow {
  readonly line: number
  readonly row: LabelRow
}

/**
 * Imports labels into wallets and yields the result of each row; existing notes are replaced only on request.
 *
 * Transactions are handled as they are read; addresses follow at the end of the file, because their wallets are
 * looked up for all of them at once.
 *
 * @param lines - of a BIP-329 file; empty ones are skipped
 * @throws STORAGE_FULL, STORAGE_FAILED, LOGGED_OUT; rows that were reported as applied stay
 *
 * @example
 * ```ts
 * import { importLabels } from 'holdfast'
 *
 * const lines = ['{"type":"addr","ref":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080","label":"Landlady"}']
 * for await (const { line, status } of importLabels(lines, { wallets: [wallet] })) console.log(line, status)
 * ```
 */
export async function* importLabels(
  lines: AsyncIterable<string> | Iterable<string>,
  options: LabelImport
): AsyncGenerator<LabelResult, void> {
  const planned: PlannedNotes = new Map()
  const addresses: NumberedRow[] = []
  const coins: KnownCoins = new Map()
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const row = readRow(line === 1 ? text.replace(/^\ufeff/, '') : text)
    if ('reason' in row) yield { line, type: '', ref: '', status: 'invalid', reason: row.reason }
    else if (row.type === 'addr' && hasTexts(row)) addresses.push({ line, row })
    else if (row.type === 'output' && (hasTexts(row) || row.spendable !== undefined))
      yield* importCoin({ line, row }, options, { planned, coins })
    else if (row.type === 'tx' && hasTexts(row)) yield* importTransaction({ line, row }, options, planned)
    else yield { line, type: row.type, ref: row.ref, status: 'ignored' }
  }
  if (addresses.length > 0) yield* importAddresses(addresses, options, planned)
}

/** The texts that rows have written, or would have in a dry run, for later rows about the same thing. */
type PlannedNotes = Map<string, Metadata>

async function* importTransaction(
  { line, row }: NumberedRow,
  options: LabelImport,
  planned: PlannedNotes
): AsyncGenerator<LabelResult> {
  const { type, ref } = row
  const tokenId = row.holdfast?.tokenId ?? null
  let isKnown = false
  for (const wallet of walletsFor(row, options)) {
    const metadata = await notesOf(wallet, ref, tokenId)
    if (metadata === undefined) continue
    isKnown = true
    const apply = await applyRow(row, options, {
      key: JSON.stringify([wallet.id, ref, tokenId]),
      metadata,
      planned,
      write: change => wallet.saveTxMetadata(ref, change, tokenId)
    })
    yield { line, type, ref, walletId: wallet.id, ...apply }
  }
  if (!isKnown) yield { line, type, ref, status: 'unknown' }
}

/** A coin has one label; of a row with more texts the first one. Frozen coins are freed only if rows may replace what is here. */
async function* importCoin(
  { line, row }: NumberedRow,
  options: LabelImport,
  { planned, coins }: { readonly planned: PlannedNotes; readonly coins: KnownCoins }
): AsyncGenerator<LabelResult> {
  const { type, ref, spendable } = row
  const label = firstOf(textsOf(row))
  let isKnown = false
  for (const wallet of walletsFor(row, options)) {
    const known = await coinsOf(wallet, coins)
    const noted = known.get(ref)
    if (noted === undefined) continue
    isKnown = true
    const apply = await applyRow({ type, ref, ...compact({ label }) }, options, {
      key: JSON.stringify([wallet.id, ref]),
      metadata: compact({ name: noted.label }),
      planned,
      write: ({ name = '' }) => wallet.changeCoin(ref, { label: name })
    })
    const isFreed = spendable === true && noted.isFrozen
    const isFrozenNow = spendable === false && !noted.isFrozen
    const mayChange = isFrozenNow || (isFreed && options.mayReplace === true)
    if (mayChange && options.dryRun !== true) await wallet.changeCoin(ref, { isFrozen: isFrozenNow })
    if (mayChange) known.set(ref, { ...noted, isFrozen: isFrozenNow })
    const status = mayChange && apply.status === 'same' ? 'applied' : apply.status
    yield {
      line,
      type,
      ref,
      walletId: wallet.id,
      ...apply,
      status: isFreed && !mayChange ? 'conflict' : status
    }
  }
  if (!isKnown) yield { line, type, ref, status: 'unknown' }
}

/** The coins of each wallet that rows were about, by outpoint: read once. */
type KnownCoins = Map<string, Map<string, CoinNote>>

/** The coins that a wallet has or notes something of. */
const coinsOf = async (wallet: LabelledWallet, coins: KnownCoins): Promise<Map<string, CoinNote>> => {
  const known = coins.get(wallet.id) ?? new Map<string, CoinNote>()
  if (coins.has(wallet.id)) return known
  coins.set(wallet.id, known)
  const listed = await wallet.listCoins().catch((error: unknown) => {
    if (isWalletError(error, 'NOT_SUPPORTED')) return []
    throw error
  })
  for (const { txid, vout } of listed)
    known.set(`${txid}:${vout}`, { outpoint: `${txid}:${vout}`, isFrozen: false })
  for (const note of await wallet.coinNotes()) known.set(note.outpoint, note)
  return known
}

async function* importAddresses(
  rows: readonly NumberedRow[],
  options: LabelImport,
  planned: PlannedNotes
): AsyncGenerator<LabelResult> {
  const known = new Set<NumberedRow>()
  for (const wallet of options.wallets) {
    const own = rows.filter(({ row }) => walletsFor(row, options).includes(wallet))
    if (own.length === 0) continue
    const found = await findOwnAddresses(wallet, new Set(own.map(({ row }) => row.ref)))
    for (const numbered of own) {
      const { line, row } = numbered
      const metadata = found.get(row.ref)
      if (metadata === undefined) continue
      known.add(numbered)
      const apply = await applyRow(row, options, {
        key: JSON.stringify([wallet.id, row.ref]),
        metadata,
        planned,
        write: change => wallet.saveReceiveAddress(row.ref, change)
      })
      yield { line, type: row.type, ref: row.ref, walletId: wallet.id, ...apply }
    }
  }
  for (const numbered of rows) {
    const { line, row } = numbered
    if (!known.has(numbered)) yield { line, type: row.type, ref: row.ref, status: 'unknown' }
  }
}

interface LabelAddress {
  /** Names the thing among all wallets. */
  readonly key: string
  readonly metadata: Metadata
  readonly planned: PlannedNotes
  write(change: LabelTexts): Promise<void>
}

const applyRow = async (
  row: LabelRow,
  { dryRun = false, mayReplace = false }: LabelImport,
  { key, metadata, planned, write }: LabelAddress
): Promise<Pick<LabelResult, 'fields' | 'status'>> => {
  const noted = planned.get(key) ?? metadata
  const plan = planLabel(noted, textsOf(row), mayReplace)
  if (plan.status === 'applied') {
    if (!dryRun) await write(plan.change)
    planned.set(key, mergeMetadata(noted, plan.change))
  }
  return plan.status === 'conflict' ? plan : { status: plan.status }
}

const walletsFor = ({ holdfast }: LabelRow, { wallets }: LabelImport): readonly LabelledWallet[] => {
  const named = wallets.filter(({ id }) => id === holdfast?.walletId)
  return named.length > 0 ? named : wallets
}

const notesOf = async (
  wallet: LabelledWallet,
  txid: Txid,
  tokenId: TokenId | null
): Promise<Metadata | undefined> => {
  try {
    return (await wallet.getTransaction(txid, tokenId)).metadata
  } catch (error) {
    if (isWalletError(error, 'TX_NOT_FOUND')) return undefined
    throw error
  }
}

const hasTexts = (row: LabelRow): boolean => Object.keys(textsOf(row)).length > 0

const readRow = (text: string): LabelRow | { readonly reason: string } => {
  if (text.length > MAX_LINE) return { reason: 'the line is too long' }
  try {
    return parseLabelRow(text)
  } catch (error) {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
    const { path, rule } = error.details
    return { reason: `${path} ${rule}`.trim() }
  }
}

/** Three notes at their longest, each letter spelled with six, and the first of them again as the label. */
const MAX_LINE = 2_500_000

/** The notes that labels carry. */
export type LabelTexts = Pick<Metadata, 'category' | 'name' | 'notes'>

/** The fields of {@link LabelTexts}; the first that there is becomes the label. */
const LABEL_FIELDS = ['name', 'notes', 'category'] as const

/**
 * Returns the label row of a transaction's notes for one of its assets; undefined without notes.
 *
 * The standard has one label for each thing. It is the name, or else the notes, or else the category. If there is
 * more than a name, all notes stand beside the label under a key that other programs skip.
 *
 * @see BIP-329
 *
 * @example
 * ```ts
 * import { labelLine, transactionLabel } from 'holdfast'
 *
 * for (const tx of await wallet.getTransactions()) {
 *   const row = transactionLabel(tx)
 *   if (row !== undefined) console.log(labelLine(row))
 * }
 * ```
 */
export const transactionLabel = ({
  txid,
  tokenId,
  walletId,
  metadata
}: Pick<Transaction, 'metadata' | 'tokenId' | 'txid' | 'walletId'>): LabelRow | undefined =>
  rowOf('tx', txid, { metadata, details: { walletId, ...compact({ tokenId: tokenId ?? undefined }) } })

/**
 * Returns the label row of a saved address; undefined without notes.
 *
 * @example
 * ```ts
 * import { addressLabel } from 'holdfast'
 *
 * const rows = (await wallet.savedAddresses()).map(record => addressLabel(wallet.id, record))
 * ```
 */
export const addressLabel = (
  walletId: WalletId,
  { address, metadata }: Pick<AddressRecord, 'address' | 'metadata'>
): LabelRow | undefined => rowOf('addr', address, { metadata, details: { walletId } })

/**
 * Returns the label row of a coin; undefined for one that is neither labelled nor frozen.
 *
 * @example
 * ```ts
 * import { coinLabel } from 'holdfast'
 *
 * const rows = (await wallet.coinNotes()).map(note => coinLabel(wallet.id, note))
 * ```
 */
export const coinLabel = (
  walletId: WalletId,
  { outpoint, isFrozen, label }: CoinNote
): LabelRow | undefined => {
  if (!isFrozen && label === undefined) return undefined
  return {
    ...{ type: 'output', ref: outpoint, holdfast: { walletId } },
    ...compact({ label, spendable: isFrozen ? false : undefined })
  }
}

/**
 * Writes a row as a line of a label file, without its line end.
 *
 * @example
 * ```ts
 * import { labelLine } from 'holdfast'
 *
 * labelLine({ type: 'tx', ref: 'f91d…', label: 'Rent' }) // '{"type":"tx","ref":"f91d…","label":"Rent"}'
 * ```
 */
export const labelLine = ({ type, ref, label, spendable, holdfast }: LabelRow): string =>
  JSON.stringify({ type, ref, label, spendable, holdfast })

/** Splits a row into fields. A label that another program has changed counts as the name. */
export const textsOf = ({ label = '', holdfast = {} }: LabelRow): LabelTexts => {
  const texts = presentTexts(holdfast)
  if (label === '' || label === firstOf(texts)) return texts
  return { ...texts, name: label }
}

interface Noted {
  readonly metadata: Metadata
  readonly details: LabelDetails
}

const rowOf = (type: string, ref: string, { metadata, details }: Noted): LabelRow | undefined => {
  const texts = presentTexts(metadata)
  const label = firstOf(texts)
  if (label === undefined) return undefined
  const isWhole = texts.notes === undefined && texts.category === undefined
  return { type, ref, label, holdfast: isWhole ? details : { ...details, ...texts } }
}

const firstOf = (texts: LabelTexts): string | undefined => texts.name ?? texts.notes ?? texts.category

const presentTexts = (from: LabelTexts): LabelTexts =>
  Object.fromEntries(
    LABEL_FIELDS.map(field => [field, from[field]] as const).filter(([, text]) => (text ?? '') !== '')
  )

/** The fields that Holdfast adds to a row of a label file, under a key of its own: one label cannot hold them. */
export interface LabelDetails {
  /** Set in a file with the labels of several wallets. */
  readonly walletId?: WalletId
  /** Absent for the chain's own coin. */
  readonly tokenId?: TokenId
  readonly name?: string
  readonly category?: string
  readonly notes?: string
}

/** One line of a label file, with the fields that are used. @see BIP-329 */
export interface LabelRow {
  /** `tx`, `addr`, `output`, or one of those that are not kept here: `pubkey`, `input`, `xpub`. */
  readonly type: string
  /** The txid, the address or the outpoint. */
  readonly ref: string
  readonly label?: string
  /** Of an output: false if it is frozen. */
  readonly spendable?: boolean
  readonly holdfast?: LabelDetails
}

/** As long as a note may be, so that every one that was exported comes back. */
const MAX_LABEL = 100_000

// The guards stand first: the schema below is made while the module loads.
const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LABEL && isWellFormed(value)

const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'

const isDetails = (value: unknown): value is LabelDetails =>
  isRecord(value) &&
  [value.walletId, value.tokenId, value.name, value.category, value.notes].every(
    text => text === undefined || isLabel(text)
  )

const asLabelRow: Schema<LabelRow> = objectOf<LabelRow>({
  type: shortText(),
  ref: shortText(),
  label: optional('label', isLabel),
  spendable: optional('flag', isFlag),
  holdfast: optional('details', isDetails)
})

/** Reads one line of a label file; keys of other programs are left out. @throws BAD_REPLY naming the field */
export const parseLabelRow = (line: string): LabelRow => parse(asLabelRow, parseJson(line, 'label'), 'label')

/** The plan for importing one label. */
export type LabelPlan =
  /** Something new, which replaces nothing unless that was asked for. */
  | { readonly status: 'applied'; readonly change: LabelTexts }
  /** All of it is here already. */
  | { readonly status: 'same' }
  /** Another text stands in a field, and stays. */
  | { readonly status: 'conflict'; readonly fields: readonly (keyof LabelTexts)[] }

/** Lays the texts of a label beside what is noted (pure). A field that is empty here takes the new text. */
export const planLabel = (noted: Metadata, texts: LabelTexts, mayReplace: boolean): LabelPlan => {
  const differing = LABEL_FIELDS.filter(field => texts[field] !== undefined && texts[field] !== noted[field])
  if (differing.length === 0) return { status: 'same' }
  const taken = differing.filter(field => (noted[field] ?? '') !== '')
  if (taken.length > 0 && !mayReplace) return { status: 'conflict', fields: taken }
  return { status: 'applied', change: Object.fromEntries(differing.map(field => [field, texts[field]])) }
}
