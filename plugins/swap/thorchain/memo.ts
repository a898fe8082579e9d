import { WalletError } from '../../../kernel/plugin-api.ts'

/** The fields that a vault needs to swap a payment. */
export interface SwapMemo {
  /** Full name of what is paid out: `LTC.LTC`. */
  readonly asset: string
  readonly shortName: string | undefined
  readonly destination: string
  /** The least that arrives, in units of the network; for less, the vault sends the money back. */
  readonly limit: bigint
  readonly affiliate?: { readonly name: string; readonly basisPoints: string } | undefined
}

/** The most bytes that a data output of Bitcoin and its relatives carries. */
export const MAX_MEMO_BYTES = 80

/**
 * Writes the memo of a swap (THORChain documentation, "Transaction Memos").
 *
 * `=:ASSET:DESTINATION:LIMIT/INTERVAL/QUANTITY:AFFILIATE:BASISPOINTS`, with the short name of the asset where there is
 * one. An interval of one block and a quantity of 0 let the network choose how it streams. What does not fit leaves out,
 * in this order, the streaming and the affiliate; the limit always stays.
 *
 * @throws MEMO_INVALID if it still does not fit
 */
export const writeMemo = ({ asset, shortName, destination: full, limit, affiliate }: SwapMemo): string => {
  // The network knows these addresses without the name of their chain, whose colon would end the part.
  const destination = full.replace(/^bitcoincash:/, '')
  const start = `=:${shortName ?? shortToken(asset)}:${destination}:${limit}`
  const end = affiliate === undefined ? '' : `:${affiliate.name}:${affiliate.basisPoints}`
  const fitting = [`${start}${STREAMING}${end}`, `${start}${end}`, start].find(
    memo => memo.length <= MAX_MEMO_BYTES
  )
  // Anything but these letters could end a part of the memo early, or be more than a byte.
  if (fitting === undefined || !/^[\w.:=/+-]+$/.test(fitting) || /[:/]/.test(destination)) {
    throw new WalletError('MEMO_INVALID', { rule: `does not fit into ${MAX_MEMO_BYTES} bytes` })
  }
  return fitting
}

const STREAMING = '/1/0'

/** A token by the end of its contract, which the network understands. */
const shortToken = (asset: string): string => asset.replace(/-.*(?=.{6}$)/, '-')
