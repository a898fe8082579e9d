/**
 * What a transaction on the chain does to one asset, for a core that has no chain here. Amounts are native, the date
 * in seconds. No token id: the chain's own coin. No height: deep enough.
 */
export interface ChainTransaction {
  readonly txid: string
  readonly tokenId?: string
  readonly blockHeight?: number
  readonly date: number
  readonly nativeAmount: string
  readonly networkFee: string
}
