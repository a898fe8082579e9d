import type { Metadata, MetadataChange } from '../../types/transaction.ts'

type Draft = { -readonly [K in keyof Metadata]: Metadata[K] }

/**
 * Lays a change over metadata: null deletes, absent keeps, fiat amounts merge by code (pure).
 *
 * @see protocol §6.4 "Metadata edit"
 */
export const mergeMetadata = (under: Metadata, over: MetadataChange): Metadata => {
  const merged: Draft = { ...under }
  const exchangeAmount = new Map(Object.entries(under.exchangeAmount ?? {}))
  for (const [code, value] of Object.entries(over.exchangeAmount ?? {})) {
    if (value === null) exchangeAmount.delete(code)
    else exchangeAmount.set(code, value)
  }
  merged.exchangeAmount = Object.fromEntries(exchangeAmount)
  applyText(merged, over, 'name')
  applyText(merged, over, 'category')
  applyText(merged, over, 'notes')
  if (over.bizId === null) delete merged.bizId
  else if (over.bizId !== undefined) merged.bizId = over.bizId
  return merged
}

const applyText = (merged: Draft, over: MetadataChange, key: 'name' | 'category' | 'notes'): void => {
  const value = over[key]
  if (value === null) delete merged[key]
  else if (value !== undefined) merged[key] = value
}
