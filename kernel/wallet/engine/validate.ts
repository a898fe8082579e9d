import { isNativeAmount, nativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { copyData, copyList } from '../../base/copy-data.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import { copyJson, isRecord, type JsonObject } from '../../base/json.ts'
import { isDateSeconds } from '../../base/time.ts'
import type {
  BalanceDetails,
  FreshAddress,
  ParsedUri,
  PaymentSight,
  StakingStatus
} from '../../types/engine.ts'
import type { PluginId } from '../../types/ids.ts'
import type { EngineTransaction, Grade, Memo, SentState } from '../../types/transaction.ts'

const MAX_TXID = 200

/**
 * Checks a transaction that an engine reports or makes. A guard by hand: they come by the thousand.
 *
 * @throws BOGUS_TX naming the field
 * @see specification §5 "Plugin transactions"
 */
export const checkEngineTransaction = (pluginId: PluginId, value: unknown): EngineTransaction => {
  const bogus = (path: string): WalletError => new WalletError('BOGUS_TX', { pluginId, path })
  if (!isRecord(value)) throw bogus('')
  const tx = value as Record<keyof EngineTransaction, unknown>
  if (typeof tx.txid !== 'string' || tx.txid.length > MAX_TXID) throw bogus('txid')
  if (!isDateSeconds(tx.date)) throw bogus('date')
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
 * Reads a transaction that an engine reports or makes: each field once, into an object of its own; then
 * checks that. Fields that an engine has no business with are left out.
 *
 * @throws BOGUS_TX naming the field
 */
export const readEngineTransaction = (pluginId: PluginId, value: unknown): EngineTransaction => {
  const tx: Record<string, unknown> = {}
  let field = ''
  const refuse = (): WalletError => new WalletError('BOGUS_TX', { pluginId, path: field })
  try {
    if (!isRecord(value)) throw refuse()
    for (const name of TX_FIELDS) {
      field = name
      const given = value[name]
      if (given === undefined) continue
      if (typeof given === 'string' && given.length > MAX_TX_LENGTH) throw refuse()
      tx[name] = typeof given === 'object' ? copyData(given, { maxLength: MAX_TX_LENGTH, refuse }) : given
    }
  } catch {
    // Whatever a getter has thrown.
    throw refuse()
  }
  const checked = checkEngineTransaction(pluginId, tx)
  const { tokenId, parentNetworkFee, networkFees } = checked
  if (networkFees === undefined || tokenId === null || parentNetworkFee !== undefined) return checked
  const coin = networkFees.find(fee => fee.tokenId === null)
  return coin === undefined ? checked : { ...checked, parentNetworkFee: coin.nativeAmount }
}

const MAX_TX_LENGTH = 16_000_000

const FIELDS: Readonly<Record<keyof EngineTransaction, true>> = {
  ...{ tokenId: true, txid: true, date: true, blockHeight: true, nativeAmount: true, networkFee: true },
  ...{ parentNetworkFee: true, ourReceiveAddresses: true, signedTx: true, memos: true, isSend: true },
  ...{ currencyCode: true, confirmations: true, action: true, metadata: true, feeRateUsed: true },
  ...{ txSecret: true, otherParams: true, spentCoins: true, usualNetworkFee: true, networkFees: true },
  grade: true
}
const TX_FIELDS = Object.keys(FIELDS)

/**
 * Checks a transaction that an engine has signed: as {@link checkEngineTransaction}, and there is a txid, by which the
 * payment is found again.
 *
 * Its `signedTx` may be empty: the engines of some chains keep the bytes elsewhere, in `otherParams` or at a server.
 *
 * @throws BOGUS_TX naming the field
 */
export const checkSignedTransaction = (pluginId: PluginId, value: unknown): EngineTransaction => {
  const tx = checkEngineTransaction(pluginId, value)
  if (tx.txid === '') throw new WalletError('BOGUS_TX', { pluginId, path: 'txid' })
  return tx
}

/**
 * Copies data that a plugin gave, so that the plugin cannot change it; each property is read once.
 *
 * @param what - what it is, for the error
 * @throws BOGUS_DATA
 */
export const copyPluginData = (
  { pluginId, what }: { readonly pluginId: PluginId; readonly what: string },
  value: unknown,
  maxLength: number
): unknown => {
  const refuse = (rule: string): WalletError => new WalletError('BOGUS_DATA', { pluginId, what, path: rule })
  return copyData(value, { maxLength, refuse })
}

/** Checks if text is a balance: digits only (specification §5). */
export const isBalance = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,100}$/.test(value)

/** Reads the parts of a balance, and copies them; undefined unless each is digits, and a grade one that there is. */
export const checkBalanceDetails = (value: unknown): BalanceDetails | undefined => {
  if (!isRecord(value)) return undefined
  const { spendable, incoming, immature, reserved, frozen, grade, paymentsGrade } = value
  if (grade !== undefined && (grade === 'proven' || !GRADES.has(grade))) return undefined
  if (paymentsGrade !== undefined && !GRADES.has(paymentsGrade)) return undefined
  if (!isBalance(spendable) || !isBalance(incoming) || !isBalance(immature) || !isBalance(reserved))
    return undefined
  if (frozen !== undefined && !isBalance(frozen)) return undefined
  return Object.freeze({
    spendable: nativeAmount(spendable),
    incoming: nativeAmount(incoming),
    immature: nativeAmount(immature),
    reserved: nativeAmount(reserved),
    ...compact({
      frozen: frozen === undefined ? undefined : nativeAmount(frozen),
      grade: grade as BalanceDetails['grade'],
      paymentsGrade: paymentsGrade as Grade | undefined
    })
  })
}

/** Reads an address that an engine hands out. @throws BOGUS_DATA */
export const checkFreshAddress = (pluginId: PluginId, value: unknown): FreshAddress => {
  const what = 'address'
  const copy = copyPluginData({ pluginId, what }, value, 3 * MAX_ADDRESS)
  const { publicAddress, segwitAddress, legacyAddress } = isRecord(copy) ? copy : {}
  if (!isAddress(publicAddress))
    throw new WalletError('BOGUS_DATA', { pluginId, what, path: 'publicAddress' })
  return Object.freeze({
    publicAddress,
    ...compact({
      segwitAddress: isAddress(segwitAddress) ? segwitAddress : undefined,
      legacyAddress: isAddress(legacyAddress) ? legacyAddress : undefined
    })
  })
}

/** Reads what a plugin makes of a URI or an address. @throws BOGUS_DATA naming the field */
export const readParsedUri = (pluginId: PluginId, value: unknown): ParsedUri => {
  const what = 'payment URI'
  const bogus = (path: string): WalletError => new WalletError('BOGUS_DATA', { pluginId, what, path })
  const copy = copyPluginData({ pluginId, what }, value, MAX_URI)
  if (!isRecord(copy)) throw bogus('')
  const { nativeAmount: amount, ...others } = copy
  const texts = URI_TEXTS.flatMap(name => {
    const text = others[name] ?? undefined
    if (text === undefined) return []
    if (typeof text !== 'string') throw bogus(name)
    return [[name, text]]
  })
  if (amount !== undefined && amount !== null && !isBalance(amount)) throw bogus('nativeAmount')
  return Object.freeze({
    ...(Object.fromEntries(texts) as Omit<ParsedUri, 'nativeAmount'>),
    ...compact({ nativeAmount: typeof amount === 'string' ? nativeAmount(amount) : undefined })
  })
}

const URI_TEXTS = ['publicAddress', 'legacyAddress', 'currencyCode', 'label', 'message'] as const

/** A text that a plugin answers with. @throws BOGUS_DATA */
export const readPluginText = (
  { pluginId, what }: { readonly pluginId: PluginId; readonly what: string },
  value: unknown
): string => {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_URI) return value
  throw new WalletError('BOGUS_DATA', { pluginId, what, path: '' })
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
  const { parentNetworkFee, confirmations, spentCoins } = tx
  const isCoins = spentCoins === undefined || (isTextList(spentCoins) && spentCoins.length <= MAX_COINS)
  if (!isCoins) throw bogus('spentCoins')
  if (parentNetworkFee !== undefined && !isNativeAmount(parentNetworkFee)) throw bogus('parentNetworkFee')
  if (tx.networkFees !== undefined && !isFeeList(tx)) throw bogus('networkFees')
  if (tx.usualNetworkFee !== undefined && !isBalance(tx.usualNetworkFee)) throw bogus('usualNetworkFee')
  if (tx.grade !== undefined && !GRADES.has(tx.grade)) throw bogus('grade')
  const isDepth = typeof confirmations === 'number' || CONFIRMATIONS.has(confirmations)
  if (confirmations !== undefined && !isDepth) throw bogus('confirmations')
}

const MAX_COINS = 10_000

/** One fee for each asset, and the same as the two fields that say it for the own asset and the coin: no face may show another. */
const isFeeList = ({
  networkFees: fees,
  tokenId,
  networkFee,
  parentNetworkFee
}: Record<keyof EngineTransaction, unknown>): boolean => {
  if (!Array.isArray(fees) || fees.length > MAX_FEES) return false
  const byAsset = new Map<unknown, unknown>()
  for (const fee of fees) {
    if (!isRecord(fee) || !isTokenId(fee.tokenId) || !isBalance(fee.nativeAmount)) return false
    byAsset.set(fee.tokenId, fee.nativeAmount)
  }
  const isSame = (asset: unknown, amount: unknown): boolean =>
    BigInt(String(byAsset.get(asset) ?? '0')) === BigInt(String(amount))
  const isCoinSame = tokenId === null || parentNetworkFee === undefined || isSame(null, parentNetworkFee)
  return byAsset.size === fees.length && isSame(tokenId, networkFee) && isCoinSame
}

const MAX_FEES = 20

const OPTIONAL_OBJECTS = ['action', 'feeRateUsed', 'metadata', 'otherParams'] as const
const OPTIONAL_TEXTS = ['currencyCode', 'txSecret'] as const
const GRADES: ReadonlySet<unknown> = new Set(['agreed', 'claimed', 'proven'] satisfies Grade[])
const CONFIRMATIONS: ReadonlySet<unknown> = new Set(['confirmed', 'dropped', 'syncing', 'unconfirmed'])

const SENT_STATES: ReadonlySet<unknown> = new Set([
  'notSeen',
  'seen',
  'notInMempool',
  'replaced',
  'expired',
  'dropped'
] satisfies SentState[])

/** Checks what an engine says of a payment that was sent, and copies it. @throws BOGUS_DATA */
export const checkPaymentSight = (pluginId: PluginId, value: unknown): PaymentSight => {
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'state of a payment', path })
  const copy = copyPluginData({ pluginId, what: 'state of a payment' }, value, MAX_PARAMS)
  const { state, replacedBy, isFinal } = isRecord(copy) ? copy : {}
  if (!SENT_STATES.has(state)) throw bogus('state')
  if (replacedBy !== undefined && !(typeof replacedBy === 'string' && replacedBy.length <= MAX_TXID))
    throw bogus('replacedBy')
  if (isFinal !== undefined && typeof isFinal !== 'boolean') throw bogus('isFinal')
  return {
    state: state as SentState,
    ...compact({ replacedBy, isFinal: isFinal === true || undefined })
  }
}

/** Checks a list of token ids that an engine names. @throws BOGUS_DATA */
export const checkTokenIds = (pluginId: PluginId, value: unknown): readonly string[] => {
  const tokenIds = copyList(value, MAX_TOKENS)
  if (tokenIds?.every(tokenId => tokenId !== null && isTokenId(tokenId)) === true) return tokenIds as string[]
  throw new WalletError('BOGUS_DATA', { pluginId, what: 'token ids', path: '' })
}

/** Checks what an engine says is staked, and copies it: digits, dates that can be read. @throws BOGUS_DATA */
export const checkStakingStatus = (pluginId: PluginId, value: unknown): StakingStatus => {
  const what = 'staking status'
  const bogus = (path: string): WalletError => new WalletError('BOGUS_DATA', { pluginId, what, path })
  const copy = copyPluginData({ pluginId, what }, value, MAX_STAKES * MAX_PARAMS)
  const amounts = isRecord(copy) ? copy.stakedAmounts : undefined
  if (!Array.isArray(amounts) || amounts.length > MAX_STAKES) throw bogus('stakedAmounts')
  const stakedAmounts = amounts.map(stake => {
    if (!isRecord(stake) || !isBalance(stake.nativeAmount)) throw bogus('nativeAmount')
    const { nativeAmount: digits, unlockDate, otherParams } = stake
    if (unlockDate !== undefined && (typeof unlockDate !== 'string' || Number.isNaN(Date.parse(unlockDate))))
      throw bogus('unlockDate')
    return Object.freeze({
      nativeAmount: nativeAmount(digits),
      ...compact({
        unlockDate,
        otherParams: otherParams === undefined ? undefined : copyParams(otherParams, bogus)
      })
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

/** Checks if a plugin names an asset: null for the currency itself, or a token id of a sane length. */
export const isTokenId = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && value.length <= MAX_TOKEN_ID)

const MAX_TOKENS = 10_000
const MAX_TOKEN_ID = 200
const MAX_STAKES = 1000
const MAX_PARAMS = 10_000
const MAX_ADDRESS = 10_000
const MAX_URI = 100_000

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ADDRESS

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const isMemo = (value: unknown): value is Memo =>
  isRecord(value) &&
  typeof value.value === 'string' &&
  ['hex', 'number', 'text'].includes(value.type as string)
