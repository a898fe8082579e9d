import type { Schema } from 'yup'
import { isRecord, parseJson } from '../../base/json.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import { objectOf, optional, parse, shortText } from '../../schema/shape.ts'

/** What Holdfast adds to a row of a label file, under a key of its own: what does not fit into one label. */
export interface LabelDetails {
  /** Where a file holds the labels of several wallets. */
  readonly walletId?: string
  /** Absent for the chain's own coin. */
  readonly tokenId?: string
  readonly name?: string
  readonly category?: string
  readonly notes?: string
}

/** One line of a label file, as far as it is of use here. @see BIP-329 */
export interface LabelRow {
  /** `tx`, `addr`, or one of those that are not kept here: `pubkey`, `input`, `output`, `xpub`. */
  readonly type: string
  /** The txid or the address. */
  readonly ref: string
  readonly label?: string
  readonly holdfast?: LabelDetails
}

/** As long as a note may be, so that every one that was exported comes back. */
const MAX_LABEL = 100_000

// The guards stand first: the schema below is made while the module loads.
const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LABEL && isWellFormed(value)

const isDetails = (value: unknown): value is LabelDetails =>
  isRecord(value) &&
  [value.walletId, value.tokenId, value.name, value.category, value.notes].every(
    text => text === undefined || isLabel(text)
  )

const asLabelRow: Schema<LabelRow> = objectOf<LabelRow>({
  type: shortText(),
  ref: shortText(),
  label: optional('label', isLabel),
  holdfast: optional('details', isDetails)
})

/** Reads one line of a label file; keys of other programs are left out. @throws BAD_REPLY naming the field */
export const parseLabelRow = (line: string): LabelRow => parse(asLabelRow, parseJson(line, 'label'), 'label')
