import { type CurrencyWallet, type JsonObject, parseJsonText, type Transaction } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { isJsonObject, readTextFile } from '../session/input.ts'

const FORMAT = 'holdfast-signed-payment'
const VERSION = 1

/**
 * The fields of a signed payment in a file: enough to review, send and record it, and nothing that could sign another.
 */
const FIELDS = [
  'walletId',
  'tokenId',
  'txid',
  'signedTx',
  'nativeAmount',
  'networkFee',
  'parentNetworkFee',
  'networkFees',
  'feeRateUsed',
  'networkFeeOption',
  'requestedCustomFee',
  'spendTargets',
  'ourReceiveAddresses',
  'memos',
  'metadata',
  'otherParams',
  'spentCoins',
  'replaces',
  'deviceDescription'
] as const satisfies readonly (keyof Transaction)[]

/** Serializes a signed payment: JSON with the name and version of its format. */
export const paymentFileText = ({ currencyInfo }: CurrencyWallet, tx: Transaction): string => {
  const kept = FIELDS.map(field => [field, tx[field]] as const)
  const { pluginId } = currencyInfo
  return `${JSON.stringify({ format: FORMAT, version: VERSION, pluginId, ...Object.fromEntries(kept) }, undefined, 2)}\n`
}

/**
 * Reads the file of a signed payment of this wallet.
 *
 * @throws CliError NOT_FOUND, USAGE if it contains no signed payment; SIGNED_TX_INVALID if it is of another wallet or was
 *   changed
 */
export const readPaymentFile = async (wallet: CurrencyWallet, path: string): Promise<Transaction> => {
  const { format, version, pluginId, ...fields } = parseFile(await readTextFile(path), path)
  if (format !== FORMAT) throw noPayment(path)
  if (version !== VERSION) {
    throw new CliError('USAGE', `The file ${path} has a version that this program does not know`, {
      hint: 'Use the program that wrote it, or a newer one.'
    })
  }
  const own = wallet.currencyInfo
  if (pluginId !== own.pluginId) {
    throw new CliError(
      'USAGE',
      `The file ${path} contains a payment of another currency than ${own.displayName}`
    )
  }
  return wallet.readSignedTx(fields)
}

const noPayment = (path: string, cause?: unknown): CliError =>
  new CliError('USAGE', `The file ${path} contains no signed payment`, { cause })

const parseFile = (text: string, path: string): JsonObject => {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    throw noPayment(path, error)
  }
  if (!isJsonObject(value)) throw noPayment(path)
  return value
}
