import { type NativeAmount, nativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { looseCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import { copyJson, isRecord, isShortText, type JsonObject } from '../../base/json.ts'
import { isFeeOption } from '../../types/network-fee.ts'
import type { SpentTarget, Transaction } from '../../types/transaction.ts'
import { checkSignedTransaction, isBalance } from '../engine/validate.ts'
import { checkMetadata } from '../history/metadata.ts'
import { codeOf } from '../history/view.ts'
import { engineCopyOf } from './reviewed-transaction.ts'
import type { SpenderOptions } from './spender.ts'

/**
 * Reads a signed transaction of this wallet that was kept outside, such as in a file, as JSON with the fields of a
 * {@link Transaction}. Where the currency can tell, the bytes must be of this wallet and do exactly what is said of
 * them. Unknown fields are left out, and the depth, the date and the code are not believed.
 *
 * @throws SIGNED_TX_INVALID naming the field; nothing was sent or kept
 */
export const readSignedTx = async (context: SpenderOptions, value: unknown): Promise<Transaction> => {
  const tx = parseSignedTx(context, value)
  await context.engine.call('checking a signed payment', async engine =>
    engine.checkSignedTx?.(engineCopyOf(tx), looseCopy(tx.spendTargets ?? []))
  )
  return tx
}

const MAX_LENGTH = 16_000_000
const MAX_TARGETS = 1000
const invalid = (field: string, rule: string, cause?: unknown): WalletError =>
  new WalletError('SIGNED_TX_INVALID', { field, rule }, cause)

const WRONG = 'is missing or has the wrong form'

const parseSignedTx = (
  { info, walletId, history, services }: SpenderOptions,
  value: unknown
): Transaction => {
  const json = orInvalid('the whole', () => copyJson(value, 'signed transaction', MAX_LENGTH))
  if (!isRecord(json)) throw invalid('the whole', WRONG)
  if (json.walletId !== walletId) throw invalid('walletId', 'is of another wallet')
  const date = services.io.clock.now() / 1000
  const checked = orInvalid(undefined, () =>
    checkSignedTransaction(info.pluginId, { ...json, date, blockHeight: 0, isSend: true })
  )
  // Nothing but the file travels, so that bytes elsewhere are no payment.
  if (checked.signedTx === '') throw invalid('signedTx', WRONG)
  const currencyCode = codeOf(history.options, checked.tokenId)
  const { txid, signedTx, tokenId, nativeAmount: net, networkFee, parentNetworkFee } = checked
  return {
    ...{ walletId, currencyCode, tokenId, txid, signedTx, date, networkFee, nativeAmount: net },
    ...{ blockHeight: 0, confirmations: 'unconfirmed', isSend: true },
    ...compact({ parentNetworkFee }),
    ourReceiveAddresses: checked.ourReceiveAddresses,
    memos: checked.memos ?? [],
    ...compact({
      feeRateUsed: checked.feeRateUsed,
      otherParams: checked.otherParams,
      spentCoins: checked.spentCoins,
      networkFees: checked.networkFees
    }),
    ...replacedIn(json),
    ...feeChoiceOf(json),
    metadata: metadataOf(json.metadata ?? {}),
    spendTargets: targetsOf(json.spendTargets, currencyCode)
  }
}

/** Names the field that a check of a plugin's data, or of notes, has found. */
const orInvalid = <T>(field: string | undefined, check: () => T): T => {
  try {
    return check()
  } catch (error) {
    const { path } = error instanceof WalletError ? (error.details as { path?: string }) : {}
    throw invalid(field ?? path ?? '', WRONG, error)
  }
}

const feeChoiceOf = ({
  networkFeeOption = 'standard',
  requestedCustomFee,
  deviceDescription
}: Record<string, unknown>): Pick<
  Transaction,
  'deviceDescription' | 'networkFeeOption' | 'requestedCustomFee'
> => {
  if (!isFeeOption(networkFeeOption)) throw invalid('networkFeeOption', WRONG)
  if (requestedCustomFee !== undefined && !isRecord(requestedCustomFee))
    throw invalid('requestedCustomFee', WRONG)
  if (deviceDescription !== undefined && !isShortText(deviceDescription))
    throw invalid('deviceDescription', WRONG)
  return {
    networkFeeOption,
    ...compact({
      requestedCustomFee: requestedCustomFee as JsonObject | undefined,
      deviceDescription
    })
  }
}

const replacedIn = ({ replaces }: Record<string, unknown>): Pick<Transaction, 'replaces'> => {
  if (replaces === undefined) return {}
  if (!isShortText(replaces)) throw invalid('replaces', WRONG)
  return { replaces }
}

const metadataOf = (value: unknown): Transaction['metadata'] => {
  if (!isRecord(value) || !isRecord(value.exchangeAmount ?? {})) throw invalid('metadata', WRONG)
  orInvalid('metadata', () => checkMetadata(value))
  return value
}

const targetsOf = (value: unknown, currencyCode: string): readonly SpentTarget[] => {
  if (!Array.isArray(value) || value.length > MAX_TARGETS) throw invalid('spendTargets', WRONG)
  return value.map(target => {
    const { publicAddress, nativeAmount: amount, memo } = isRecord(target) ? target : {}
    if (!isShortText(publicAddress) || !isBalance(amount)) throw invalid('spendTargets', WRONG)
    if (memo !== undefined && !isShortText(memo)) throw invalid('spendTargets', WRONG)
    const native: NativeAmount = nativeAmount(amount)
    return {
      ...{ currencyCode, publicAddress, nativeAmount: native },
      ...compact({ memo, uniqueIdentifier: memo })
    }
  })
}
