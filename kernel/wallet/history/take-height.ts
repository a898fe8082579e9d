import { type ChainView, type HistoryRow, parseRow } from './history-row.ts'
import type { HistoryRows, RowChange } from './history-rows.ts'
import { confirmationsIn } from './transaction-view.ts'

/** What a height is taken into. */
export interface HeightPlace {
  readonly rows: HistoryRows
  /** The chain as rows were judged by it last. */
  readonly chain: ChainView
  breathe(): Promise<void> | undefined
}

/**
 * Judges rows by a new height; returns the txids whose confirmations it changes.
 *
 * Only rows in blocks that are not deep enough by both heights are read. A row that was confirmed stays so: when the
 * height falls, those it would judge otherwise are marked for good.
 *
 * @see specification §4 "Transaction confirmations"
 */
export const takeHeight = async (
  { rows, chain, breathe }: HeightPlace,
  height: number
): Promise<string[]> => {
  const next = { ...chain, height }
  const keys = await rows.keysAbove(Math.min(chain.height, height) - chain.required + 1)
  const txids: string[] = []
  const marked = new Map<string, RowChange>()
  for (let start = 0; start < keys.length; start += SLICE) {
    const some = keys.slice(start, start + SLICE)
    for (const [at, text] of (await rows.texts(some)).entries()) {
      await breathe()
      if (text === undefined) continue
      const row = parseRow(text)
      const before = confirmationsIn(row, chain)
      if (before === confirmationsIn(row, next)) continue
      if (before !== 'confirmed') txids.push(txidOf(row))
      else marked.set(some[at] ?? '', { before: row, after: { ...row, isFinal: true } })
    }
  }
  // Else the height that is kept judges all rows as this one does.
  if (txids.length + marked.size > 0) await rows.write({ rows: marked, state: { height } })
  return txids
}

/** So many rows are in memory at once: of a new wallet all may lie above the height. */
const SLICE = 1000

const txidOf = ({ reports }: HistoryRow): string => reports[0]?.txid ?? ''
