import type { JsonObject } from '../../kernel/index.ts'
import type { AccountPicture } from './storage-calls.ts'

/** A picture as plain data: what is undefined is left out, and what is ordered by chance is in order. */
export const plainOf = (picture: AccountPicture): AccountPicture => JSON.parse(JSON.stringify(picture))

/**
 * What either core shows of a transaction and takes from files, besides the amounts.
 *
 * `amountFiat` is left out: only the older core repeats the amount under that name; and so are no amounts.
 */
export const transactionPicture = (transaction: object): JsonObject => {
  const { metadata, ...rest } = transaction as Readonly<Record<string, JsonObject>>
  const { amountFiat: _repeated, exchangeAmount, ...noted } = metadata ?? {}
  if (Object.keys(exchangeAmount ?? {}).length > 0) Object.assign(noted, { exchangeAmount })
  const shown = FIELDS.filter(name => rest[name] !== undefined).map(name => [name, rest[name]])
  return JSON.parse(JSON.stringify({ ...Object.fromEntries(shown), metadata: noted }))
}

const FIELDS = [
  'date',
  'currencyCode',
  'nativeAmount',
  'networkFee',
  'isSend',
  'confirmations',
  'networkFeeOption',
  'requestedCustomFee',
  'feeRateUsed',
  'spendTargets',
  'swapData',
  'deviceDescription',
  'memos',
  // Of the newer core alone.
  'savedAction',
  'assetAction'
]
