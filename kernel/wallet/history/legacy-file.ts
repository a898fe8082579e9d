import { WalletError } from '../../base/errors.ts'
import { isRecord } from '../../base/json.ts'
import { isDate, type TransactionFile } from './transaction-file.ts'

/** Where the oldest clients kept transactions, under names that say nothing. */
export const LEGACY_FOLDER = 'Transactions'

/** What a legacy file leaves to its wallet: the code of its coin, and the fiat currency of its one amount. */
export interface LegacyPlace {
  readonly currencyCode: string
  readonly fiatCode: string
}

/**
 * Reads a transaction file of the oldest form, which is only ever read (protocol §3.5 "Legacy transaction").
 *
 * @throws BAD_REPLY naming the field; the caller keeps the file
 */
export const parseLegacyFile = (value: unknown, { currencyCode, fiatCode }: LegacyPlace): TransactionFile => {
  const file = recordOf(value, '')
  const meta = recordOf(file.meta, 'meta')
  const state = recordOf(file.state, 'state')
  numberOf(file.airbitzFeeWanted, 'airbitzFeeWanted')
  textOf(file.ntxid, 'ntxid')
  for (const field of UNUSED_NUMBERS) numberOf(meta[field], `meta.${field}`)
  if (typeof state.internal !== 'boolean') throw bad('state.internal', 'is no flag')
  if (!isDate(state.creationDate)) throw bad('state.creationDate', 'is no date')
  const asset = {
    metadata: {
      bizId: numberOf(meta.bizId, 'meta.bizId'),
      category: textOf(meta.category, 'meta.category'),
      exchangeAmount: { [fiatCode]: numberOf(meta.amountCurrency, 'meta.amountCurrency') },
      name: textOf(meta.name, 'meta.name'),
      notes: textOf(meta.notes, 'meta.notes')
    },
    providerFeeSent: String(numberOf(meta.amountFeeAirBitzSatoshi, 'meta.amountFeeAirBitzSatoshi'))
  }
  return {
    txid: textOf(state.malleableTxId, 'state.malleableTxId'),
    internal: state.internal,
    creationDate: state.creationDate,
    currencies: new Map([[currencyCode, asset]]),
    tokens: new Map(),
    unknown: new Map()
  }
}

const UNUSED_NUMBERS = [
  'balance',
  'fee',
  'attributes',
  'amountSatoshi',
  'amountFeeMinersSatoshi',
  'airbitzFee'
] as const

const recordOf = (value: unknown, field: string): Record<string, unknown> => {
  if (!isRecord(value)) throw bad(field, 'is no object')
  return value
}

const numberOf = (value: unknown, field: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw bad(field, 'is no number')
  return value
}

const textOf = (value: unknown, field: string): string => {
  if (typeof value !== 'string') throw bad(field, 'is no text')
  return value
}

const bad = (path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: 'transaction file', path, rule })
