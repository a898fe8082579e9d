import { isNativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { WalletError } from '../../base/errors.ts'
import { isRecord, type Json, type JsonObject } from '../../base/json.ts'
import { isDateSeconds } from '../../base/time.ts'
import type { TokenId, Txid } from '../../types/ids.ts'
import type {
  EngineTransaction,
  Metadata,
  NetworkFeeOption,
  SpentTarget,
  SwapData,
  Transaction
} from '../../types/transaction.ts'

/** The part of a transaction file about one asset. */
export interface AssetRecord {
  readonly metadata: Metadata
  /** Other fields of the metadata, to be written back as they were. */
  readonly otherMetadata?: JsonObject
  readonly nativeAmount?: string
  readonly providerFeeSent?: string
}

/** A recipient, as the file has it. */
export interface FilePayee {
  readonly address: string
  readonly amount: string
  readonly currency: string
  readonly tag?: string
}

/**
 * The synced file of one transaction (specification §3 "Transaction file"; protocol §3.5).
 *
 * Written in the newer form: `tokens` by token id, the chain's own coin under ''. Both forms are read. Fields that
 * this version does not know are kept.
 */
export interface TransactionFile {
  readonly txid: Txid
  readonly internal: boolean
  /** Unix seconds. */
  readonly creationDate: number
  readonly currencies: ReadonlyMap<string, AssetRecord>
  readonly tokens: ReadonlyMap<string, AssetRecord>
  readonly deviceDescription?: string
  readonly feeRateRequested?: NetworkFeeOption | JsonObject
  readonly feeRateUsed?: JsonObject
  /** Recipients, see {@link payeesOf}, and what else other versions have put among them. */
  readonly payees?: readonly unknown[]
  readonly secret?: string
  readonly swap?: SwapData
  /** Fields of other versions, or in another form, to be written back as they were. */
  readonly unknown: ReadonlyMap<string, Json>
}

/**
 * `transaction/<seconds>-<hash>.json`, the date rounded half up; one before 1970 has no form there, so it stands as 0.
 *
 * @see vectors `tx-file-name`
 */
export const transactionFilePath = (creationDate: number, txidHash: string): string =>
  `transaction/${Math.max(0, Math.floor(creationDate + 0.5)).toFixed(0)}-${txidHash}.json`

/** Reads date and hash back from a path, or undefined for a path of another form. */
export const parseTransactionFilePath = (
  path: string
): { readonly creationDate: number; readonly txidHash: string } | undefined => {
  const match = /^transaction\/(\d{1,15})-([1-9A-HJ-NP-Za-km-z]{1,64})\.json$/.exec(path)
  if (match === null) return undefined
  return { creationDate: Number(match[1]), txidHash: match[2] ?? '' }
}

/**
 * Reads a transaction file. A guard by hand: files are read by the thousand.
 *
 * @throws BAD_REPLY naming the field; the caller keeps the file
 */
export const parseTransactionFile = (value: unknown): TransactionFile => {
  if (!isRecord(value)) throw badFile('', 'is no object')
  const { txid, internal, creationDate } = value
  if (typeof txid !== 'string') throw badFile('txid', 'is no text')
  if (typeof internal !== 'boolean') throw badFile('internal', 'is no flag')
  if (!isDateSeconds(creationDate)) throw badFile('creationDate', 'is no date')
  const known: Omit<TransactionFile, 'unknown'> = {
    txid,
    internal,
    creationDate,
    currencies: assetsOf(value.currencies, 'currencies'),
    tokens: assetsOf(value.tokens ?? {}, 'tokens'),
    ...textField(value, 'deviceDescription'),
    ...feeRateRequestedOf(value.feeRateRequested),
    ...compact({
      feeRateUsed: isRecord(value.feeRateUsed) ? (value.feeRateUsed as JsonObject) : undefined,
      payees: Array.isArray(value.payees) ? value.payees : undefined
    }),
    ...textField(value, 'secret'),
    ...compact({ swap: isSwap(value.swap) ? value.swap : undefined })
  }
  return { ...known, unknown: new Map(unreadOf(value, known)) }
}

/** The fields that were not understood. */
const unreadOf = (value: Record<string, unknown>, known: object): [name: string, value: Json][] =>
  Object.entries(value as Record<string, Json>).filter(([name]) => !Object.hasOwn(known, name))

/** The JSON of a transaction file, in the field order of the deployed writers. */
export const transactionFileJson = (file: TransactionFile): JsonObject => {
  const { currencies, tokens, unknown, ...rest } = file
  const { txid, internal, creationDate, ...optional } = rest
  return {
    ...Object.fromEntries(unknown),
    txid,
    internal,
    creationDate,
    currencies: assetsJson(currencies),
    tokens: assetsJson(tokens),
    ...(optional as unknown as JsonObject)
  }
}

const assetsJson = (assets: ReadonlyMap<string, AssetRecord>): JsonObject =>
  Object.fromEntries(
    [...assets].map(([key, { otherMetadata, metadata, ...rest }]) => [
      key,
      { metadata: { ...otherMetadata, ...metadata }, ...rest }
    ])
  ) as unknown as JsonObject

/** The recipients of a spend, as far as they can be shown. */
export const payeesOf = ({ payees }: Pick<TransactionFile, 'payees'>): FilePayee[] | undefined =>
  payees?.filter(isPayee).map(payeeIn)

/** The file of a transaction that this wallet has made or seen for the first time. */
export const newTransactionFile = (tx: Transaction, creationDate: number): TransactionFile => {
  const { amountFiat: _shown, ...metadata } = tx.metadata
  const asset: AssetRecord = { metadata, nativeAmount: tx.nativeAmount }
  const feeRateRequested = tx.networkFeeOption === 'custom' ? tx.requestedCustomFee : tx.networkFeeOption
  return {
    txid: tx.txid,
    internal: tx.isSend,
    creationDate,
    currencies: new Map(),
    tokens: new Map([[tx.tokenId ?? '', asset]]),
    ...compact({
      deviceDescription: tx.deviceDescription,
      feeRateRequested,
      feeRateUsed: tx.feeRateUsed,
      payees: tx.spendTargets?.map(payeeOf),
      secret: tx.txSecret,
      swap: tx.swapData
    }),
    unknown: new Map()
  }
}

/** The content of a file for an incoming transaction, beside the engine's report. */
export interface NewFileFacts {
  /** Unix seconds. */
  readonly creationDate: number
  /** The engine's own notes on it. */
  readonly metadata?: Metadata | undefined
  /** The wallet's fiat currency, in which the engine's `amountFiat` is. */
  readonly fiatCode: string
}

/** The part of a file that the history keeps beside the engine's reports. */
export interface RowFile extends Omit<TransactionFile, 'currencies' | 'tokens' | 'unknown'> {
  readonly currencies: Readonly<Record<string, AssetRecord>>
  readonly tokens: Readonly<Record<string, AssetRecord>>
}

/**
 * The file of an incoming transaction, as it is written: they come by the thousand.
 *
 * @param reports - what the engine says, once for each asset; at least one
 */
export const newFileOf = (
  txid: Txid,
  reports: readonly EngineTransaction[],
  { creationDate, metadata, fiatCode }: NewFileFacts
): RowFile => {
  const tokens = Object.fromEntries(
    reports.map(({ tokenId, nativeAmount }, index): [string, AssetRecord] => {
      const isNoted = index === 0 && metadata !== undefined
      return [tokenId ?? '', { metadata: isNoted ? reportedMetadata(metadata, fiatCode) : {}, nativeAmount }]
    })
  )
  const file: RowFile = { txid, internal: false, creationDate, currencies: {}, tokens }
  const { feeRateUsed, txSecret } = reports[0] ?? {}
  if (feeRateUsed === undefined && txSecret === undefined) return file
  return {
    ...file,
    ...compact({ feeRateUsed, secret: txSecret })
  }
}

/** Takes from a file what a transaction is shown with. */
export const rowFileOf = ({ unknown: _, currencies, tokens, ...rest }: TransactionFile): RowFile => ({
  ...rest,
  currencies: Object.fromEntries(currencies),
  tokens: Object.fromEntries(tokens)
})

/** An asset, and the code of its currency, under which older files keep it. */
export interface AssetName {
  readonly tokenId: TokenId | null
  readonly currencyCode: string
}

/** Finds the part of a file about an asset; the newer map wins over the one by currency code. */
export const assetOf = (
  file: Pick<TransactionFile, 'currencies' | 'tokens'>,
  { tokenId, currencyCode }: AssetName
): AssetRecord | undefined => file.tokens.get(tokenId ?? '') ?? file.currencies.get(currencyCode)

/** The file with other metadata of one asset, which then stands in the newer map only (docs/adr/0017). */
export const withMetadata = (
  file: TransactionFile,
  name: AssetName,
  change: (metadata: Metadata) => Metadata
): TransactionFile => {
  const present = assetOf(file, name) ?? { metadata: {} }
  const asset = { ...present, metadata: change(present.metadata) }
  const currencies = new Map(file.currencies)
  currencies.delete(name.currencyCode)
  return { ...file, currencies, tokens: new Map([...file.tokens, [name.tokenId ?? '', asset]]) }
}

const payeeOf = ({ publicAddress, nativeAmount, currencyCode, memo }: SpentTarget): FilePayee => ({
  address: publicAddress,
  amount: nativeAmount,
  currency: currencyCode,
  ...compact({ tag: memo })
})

const assetsOf = (value: unknown, field: string): ReadonlyMap<string, AssetRecord> => {
  if (!isRecord(value)) throw badFile(field, 'is no object')
  const assets = new Map<string, AssetRecord>()
  for (const [key, asset] of Object.entries(value)) {
    if (!isRecord(asset)) throw badFile(`${field}.${key}`, 'is no object')
    const metadata = metadataOf(asset.metadata)
    const other = isRecord(asset.metadata) ? unreadOf(asset.metadata, metadata) : []
    assets.set(key, {
      ...asset,
      metadata,
      ...compact({ otherMetadata: other.length === 0 ? undefined : Object.fromEntries(other) }),
      ...textField(asset, 'nativeAmount'),
      ...textField(asset, 'providerFeeSent')
    })
  }
  return assets
}

const metadataOf = (value: unknown): Metadata => {
  if (!isRecord(value)) return {}
  return {
    ...compact({ bizId: typeof value.bizId === 'number' ? value.bizId : undefined }),
    ...textField(value, 'category'),
    ...compact({
      exchangeAmount: isRecord(value.exchangeAmount) ? numbersOf(value.exchangeAmount) : undefined
    }),
    ...textField(value, 'name'),
    ...textField(value, 'notes')
  }
}

/** Converts an engine's notes: in a file its `amountFiat` stands among the amounts by code, under the wallet's currency. */
const reportedMetadata = (reported: Metadata, fiatCode: string): Metadata => {
  const { amountFiat } = reported
  const metadata = metadataOf(reported)
  if (typeof amountFiat !== 'number' || !Number.isFinite(amountFiat)) return metadata
  return { ...metadata, exchangeAmount: { ...metadata.exchangeAmount, [fiatCode]: amountFiat } }
}

// Deployed versions have left texts such as "1e-7" among the fiat amounts; they are dropped on reading.
const numbersOf = (value: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => Number.isFinite(entry[1]))
  )

const feeRateRequestedOf = (value: unknown): { feeRateRequested?: NetworkFeeOption | JsonObject } => {
  if (value === 'high' || value === 'standard' || value === 'low') return { feeRateRequested: value }
  return isRecord(value) ? { feeRateRequested: value as JsonObject } : {}
}

const isPayee = (value: unknown): value is FilePayee =>
  isRecord(value) &&
  typeof value.address === 'string' &&
  isNativeAmount(value.amount) &&
  typeof value.currency === 'string'

/** Without a tag that is no text. */
const payeeIn = ({ tag, ...payee }: FilePayee): FilePayee =>
  typeof tag === 'string' ? { ...payee, tag } : payee

const isSwap = (value: unknown): value is SwapData =>
  isRecord(value) &&
  typeof value.isEstimate === 'boolean' &&
  isRecord(value.plugin) &&
  typeof value.plugin.displayName === 'string' &&
  typeof (value.plugin.pluginId ?? '') === 'string' &&
  [value.orderId, value.orderUri, value.refundAddress].every(text => typeof (text ?? '') === 'string') &&
  typeof value.payoutAddress === 'string' &&
  typeof value.payoutCurrencyCode === 'string' &&
  typeof value.payoutNativeAmount === 'string' &&
  typeof value.payoutWalletId === 'string'

const textField = <K extends string>(value: Record<string, unknown>, key: K): { [Key in K]?: string } =>
  typeof value[key] === 'string' ? ({ [key]: value[key] } as { [Key in K]?: string }) : {}

const badFile = (path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: 'transaction file', path, rule })

/** The folder in which the oldest clients kept transactions, under random names. */
export const LEGACY_TRANSACTIONS = 'Transactions'

/** The facts that a legacy file leaves to its wallet: the code of its coin, and the fiat currency of its one amount. */
export interface LegacyDefaults {
  readonly currencyCode: string
  readonly fiatCode: string
}

/**
 * Reads a transaction file of the oldest form, which is only ever read (protocol §3.5 "Legacy transaction").
 *
 * @throws BAD_REPLY naming the field; the caller keeps the file
 */
export const parseLegacyFile = (
  value: unknown,
  { currencyCode, fiatCode }: LegacyDefaults
): TransactionFile => {
  const file = recordOf(value, '')
  const meta = recordOf(file.meta, 'meta')
  const state = recordOf(file.state, 'state')
  numberOf(file.airbitzFeeWanted, 'airbitzFeeWanted')
  textOf(file.ntxid, 'ntxid')
  for (const field of UNUSED_NUMBERS) numberOf(meta[field], `meta.${field}`)
  if (typeof state.internal !== 'boolean') throw badLegacyFile('state.internal', 'is no flag')
  if (!isDateSeconds(state.creationDate)) throw badLegacyFile('state.creationDate', 'is no date')
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
  if (!isRecord(value)) throw badLegacyFile(field, 'is no object')
  return value
}

const numberOf = (value: unknown, field: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badLegacyFile(field, 'is no number')
  return value
}

const textOf = (value: unknown, field: string): string => {
  if (typeof value !== 'string') throw badLegacyFile(field, 'is no text')
  return value
}

const badLegacyFile = (path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: 'transaction file', path, rule })
