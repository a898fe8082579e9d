import type { Metadata, Transaction } from '../../types/transaction.ts'
import type { AddressRecord } from '../address-files.ts'
import type { LabelDetails, LabelRow } from './parse-label-row.ts'

/** The notes that labels carry. */
export type LabelTexts = Pick<Metadata, 'category' | 'name' | 'notes'>

/** The fields of {@link LabelTexts}; the first that there is becomes the label. */
export const LABEL_FIELDS = ['name', 'notes', 'category'] as const

/**
 * The row of a transaction's notes for one of its assets; undefined where nothing is noted.
 *
 * The standard has one label for each thing. It is the name, or else the notes, or else the category; where there is
 * more than a name, all of it stands beside the label under a key that other programs pass over.
 *
 * @see BIP-329
 */
export const transactionLabel = ({
  txid,
  tokenId,
  walletId,
  metadata
}: Pick<Transaction, 'metadata' | 'tokenId' | 'txid' | 'walletId'>): LabelRow | undefined =>
  rowOf('tx', txid, { metadata, details: { walletId, ...(tokenId === null ? {} : { tokenId }) } })

/** The row of a saved address; undefined where nothing is noted on it. */
export const addressLabel = (
  walletId: string,
  { address, metadata }: Pick<AddressRecord, 'address' | 'metadata'>
): LabelRow | undefined => rowOf('addr', address, { metadata, details: { walletId } })

/** A row as a line of a label file, without its end. */
export const labelLine = ({ type, ref, label, holdfast }: LabelRow): string =>
  JSON.stringify({ type, ref, label, holdfast })

/** What a row says, field by field. A label that another program has changed is taken for the name. */
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
