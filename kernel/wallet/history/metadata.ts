import { WalletError } from '../../base/errors.ts'
import type { Metadata, MetadataChange } from '../../types/transaction.ts'

type Draft = { -readonly [K in keyof Metadata]: Metadata[K] }

/**
 * Lays a change over metadata: null deletes, absent keeps, fiat amounts merge by code (pure).
 *
 * `amountFiat` is no part of it: see {@link withFiatCode}.
 *
 * @see protocol §6.4 "Metadata edit"
 */
export const mergeMetadata = (under: Metadata, over: MetadataChange): Metadata => {
  const { amountFiat: _shown, ...merged }: Draft = under
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

/**
 * Checks the notes of a user. A number that JSON cannot write would make the file unreadable for deployed clients.
 *
 * @throws OPTION_INVALID naming the field
 */
export const checkMetadata = (change: MetadataChange): void => {
  const refuse = (field: string, rule: string): never => {
    throw new WalletError('OPTION_INVALID', { option: `metadata field ${field}`, rule })
  }
  for (const field of ['name', 'category', 'notes'] as const) {
    const text = change[field] ?? ''
    if (typeof text !== 'string' || text.length > MAX_TEXT)
      refuse(field, `must be text of at most ${MAX_TEXT} letters`)
  }
  for (const field of ['bizId', 'amountFiat'] as const) {
    if (!Number.isFinite(change[field] ?? 0)) refuse(field, 'must be a number')
  }
  for (const [code, amount] of Object.entries(change.exchangeAmount ?? {})) {
    if (!Number.isFinite(amount ?? 0)) refuse(`exchangeAmount ${code}`, 'must be a number')
  }
}

const MAX_TEXT = 100_000

/** A change whose `amountFiat` stands among the amounts by code, as files have it (pure). */
export const withFiatCode = (change: MetadataChange, fiatCode: string): MetadataChange => {
  const { amountFiat, ...rest } = change
  if (amountFiat === undefined) return rest
  return { ...rest, exchangeAmount: { ...rest.exchangeAmount, [fiatCode]: amountFiat } }
}

/** Metadata as it is shown: `amountFiat` is the amount in the wallet's fiat currency, and nothing is empty (pure). */
export const shownMetadata = (metadata: Metadata, fiatCode: string): Metadata => {
  const { exchangeAmount } = metadata
  if (exchangeAmount === undefined) return metadata
  if (Object.hasOwn(exchangeAmount, fiatCode)) {
    // Rows are shown by the thousand, and to spread one takes four times as long.
    return Object.assign({}, metadata, { amountFiat: exchangeAmount[fiatCode] as number })
  }
  if (Object.keys(exchangeAmount).length > 0) return metadata
  const { exchangeAmount: _empty, ...rest } = metadata
  return rest
}

const applyText = (merged: Draft, over: MetadataChange, key: 'name' | 'category' | 'notes'): void => {
  const value = over[key]
  if (value === null) delete merged[key]
  else if (value !== undefined) merged[key] = value
}
