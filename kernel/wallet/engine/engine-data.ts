import { isNativeAmount, nativeAmount } from '../../amount.ts'
import { isWalletError, WalletError } from '../../errors/wallet-error.ts'
import { isRecord } from '../../schema/fields.ts'
import { copyJson } from '../../schema/parse.ts'
import type { FreshAddress, StakingStatus } from '../../types/engine.ts'
import type { JsonObject } from '../../types/json.ts'
import type { EngineTransaction, Memo } from '../../types/transaction.ts'
import { isDate } from '../history/transaction-file.ts'

const MAX_TXID = 200

/**
 * Checks a transaction that an engine reports or makes. A guard by hand: they come by the thousand.
 *
 * @throws BOGUS_TX naming the field
 * @see specification §5 "Plugin transactions"
 */
export const checkEngineTransaction = (pluginId: string, value: unknown): EngineTransaction => {
  const bogus = (path: string): WalletError => new WalletError('BOGUS_TX', { pluginId, path })
  if (!isRecord(value)) throw bogus('')
  const tx = value as Record<keyof EngineTransaction, unknown>
  if (typeof tx.txid !== 'string' || tx.txid.length > MAX_TXID) throw bogus('txid')
  if (!isDate(tx.date)) throw bogus('date')
  if (!isNativeAmount(tx.networkFee)) throw bogus('networkFee')
  if (typeof tx.blockHeight !== 'number' || !Number.isSafeInteger(tx.blockHeight)) throw bogus('blockHeight')
  if (!isNativeAmount(tx.nativeAmount)) throw bogus('nativeAmount')
  if (!isTextList(tx.ourReceiveAddresses)) throw bogus('ourReceiveAddresses')
  if (typeof tx.signedTx !== 'string') throw bogus('signedTx')
  if (!isTokenId(tx.tokenId)) throw bogus('tokenId')
  if (tx.memos !== undefined && !(Array.isArray(tx.memos) && tx.memos.every(isMemo))) throw bogus('memos')
  if (tx.isSend !== undefined && typeof tx.isSend !== 'boolean') throw bogus('isSend')
  checkOptionalFields(tx, bogus)
  return value as unknown as EngineTransaction
}

/**
 * Checks a transaction that an engine has signed: as {@link checkEngineTransaction}, and there are bytes and a txid.
 *
 * @throws BOGUS_TX naming the field
 */
export const checkSignedTransaction = (pluginId: string, value: unknown): EngineTransaction => {
  const tx = checkEngineTransaction(pluginId, value)
  if (tx.txid === '') throw new WalletError('BOGUS_TX', { pluginId, path: 'txid' })
  if (tx.signedTx === '') throw new WalletError('BOGUS_TX', { pluginId, path: 'signedTx' })
  return tx
}

/** Tells whether text is a balance: digits only (specification §5). */
export const isBalance = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,100}$/.test(value)

/** Checks an address that an engine hands out. @throws BOGUS_DATA */
export const checkFreshAddress = (pluginId: string, value: unknown): FreshAddress => {
  const { publicAddress } = isRecord(value) ? value : {}
  if (typeof publicAddress === 'string' && publicAddress !== '' && publicAddress.length <= MAX_ADDRESS)
    return value as FreshAddress
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'address', path: 'publicAddress' })
}

const checkOptionalFields = (
  tx: Record<keyof EngineTransaction, unknown>,
  bogus: (path: string) => WalletError
): void => {
  for (const field of OPTIONAL_OBJECTS) {
    if (tx[field] !== undefined && !isRecord(tx[field])) throw bogus(field)
  }
  for (const field of OPTIONAL_TEXTS) {
    if (tx[field] !== undefined && typeof tx[field] !== 'string') throw bogus(field)
  }
  const { parentNetworkFee, confirmations } = tx
  if (parentNetworkFee !== undefined && !isNativeAmount(parentNetworkFee)) throw bogus('parentNetworkFee')
  const isDepth = typeof confirmations === 'number' || CONFIRMATIONS.has(confirmations)
  if (confirmations !== undefined && !isDepth) throw bogus('confirmations')
}

const OPTIONAL_OBJECTS = ['action', 'feeRateUsed', 'metadata', 'otherParams'] as const
const OPTIONAL_TEXTS = ['currencyCode', 'txSecret'] as const
const CONFIRMATIONS: ReadonlySet<unknown> = new Set(['confirmed', 'dropped', 'syncing', 'unconfirmed'])

/** Checks a list of token ids that an engine names. @throws BOGUS_DATA */
export const checkTokenIds = (pluginId: string, value: unknown): readonly string[] => {
  if (isTextList(value) && value.length <= MAX_TOKENS) return value
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'token ids', path: '' })
}

/** Checks what an engine says is staked, and copies it: digits, dates that can be read. @throws BOGUS_DATA */
export const checkStakingStatus = (pluginId: string, value: unknown): StakingStatus => {
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'staking status', path })
  const amounts = isRecord(value) ? value.stakedAmounts : undefined
  if (!Array.isArray(amounts) || amounts.length > MAX_STAKES) throw bogus('stakedAmounts')
  const stakedAmounts = amounts.map(stake => {
    if (!isRecord(stake) || !isBalance(stake.nativeAmount)) throw bogus('nativeAmount')
    const { nativeAmount: digits, unlockDate, otherParams } = stake
    if (unlockDate !== undefined && (typeof unlockDate !== 'string' || Number.isNaN(Date.parse(unlockDate))))
      throw bogus('unlockDate')
    return Object.freeze({
      nativeAmount: nativeAmount(digits),
      ...(unlockDate === undefined ? {} : { unlockDate }),
      ...(otherParams === undefined ? {} : { otherParams: copyParams(otherParams, bogus) })
    })
  })
  return Object.freeze({ stakedAmounts: Object.freeze(stakedAmounts) })
}

const copyParams = (params: unknown, bogus: (path: string) => WalletError): JsonObject => {
  try {
    if (isRecord(params)) return Object.freeze(copyJson(params, 'staking status', MAX_PARAMS) as JsonObject)
  } catch (error) {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
  }
  throw bogus('otherParams')
}

/** Tells whether a plugin names an asset: null for the currency itself, or a token id of a sane length. */
export const isTokenId = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && value.length <= MAX_TOKEN_ID)

const MAX_TOKENS = 10_000
const MAX_TOKEN_ID = 200
const MAX_STAKES = 1000
const MAX_PARAMS = 10_000
const MAX_ADDRESS = 10_000

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const isMemo = (value: unknown): value is Memo =>
  isRecord(value) &&
  typeof value.value === 'string' &&
  ['hex', 'number', 'text'].includes(value.type as string)
