import { isWalletError } from '../../base/errors.ts'
import type { Metadata } from '../../types/transaction.ts'
import type { CurrencyWallet } from '../currency-wallet.ts'
import { mergeMetadata } from '../history/metadata.ts'
import { type LabelTexts, textsOf } from './label-row.ts'
import { type AddressSource, findOwnAddresses } from './own-addresses.ts'
import { type LabelRow, parseLabelRow } from './parse-label-row.ts'
import { planLabel } from './plan-label.ts'

/** What the import asks of a wallet. */
export type LabelledWallet = AddressSource &
  Pick<CurrencyWallet, 'getTransaction' | 'id' | 'saveReceiveAddress' | 'saveTxMetadata'>

/** How labels are taken in. */
export interface LabelImport {
  /** A row that names one of them is for that one; every other row is for all that know what it is about. */
  readonly wallets: readonly LabelledWallet[]
  /** Tells what would be done, and writes nothing. */
  readonly dryRun?: boolean
  /** Lets the file win where another text is noted already. */
  readonly mayReplace?: boolean
}

/** What became of one row in one wallet. */
export interface LabelResult {
  /** Of the file, from 1. */
  readonly line: number
  readonly type: string
  readonly ref: string
  readonly walletId?: string
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
 * Takes labels into wallets and tells of each row what became of it; nothing that is noted is replaced unasked.
 *
 * Transactions come first, as they are read; addresses follow when the file is at its end, because whose they are is
 * looked up for all of them at once.
 *
 * @param lines - of a BIP-329 file; empty ones are passed over
 * @throws STORAGE_FULL, STORAGE_FAILED, LOGGED_OUT; what was told as applied stays
 */
export async function* importLabels(
  lines: AsyncIterable<string> | Iterable<string>,
  options: LabelImport
): AsyncGenerator<LabelResult, void> {
  const planned: PlannedNotes = new Map()
  const addresses: NumberedRow[] = []
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const row = readRow(line === 1 ? text.replace(/^\ufeff/, '') : text)
    if ('reason' in row) yield { line, type: '', ref: '', status: 'invalid', reason: row.reason }
    else if (row.type === 'addr' && hasTexts(row)) addresses.push({ line, row })
    else if (row.type === 'tx' && hasTexts(row)) yield* importTransaction({ line, row }, options, planned)
    else yield { line, type: row.type, ref: row.ref, status: 'ignored' }
  }
  if (addresses.length > 0) yield* importAddresses(addresses, options, planned)
}

/** What rows have written, or would have in a dry run, for later rows about the same thing. */
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

interface Place {
  /** Names the thing among all wallets. */
  readonly key: string
  readonly metadata: Metadata
  readonly planned: PlannedNotes
  write(change: LabelTexts): Promise<void>
}

const applyRow = async (
  row: LabelRow,
  { dryRun = false, mayReplace = false }: LabelImport,
  { key, metadata, planned, write }: Place
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
  txid: string,
  tokenId: string | null
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
