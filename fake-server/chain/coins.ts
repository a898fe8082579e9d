import { type ChainTransaction, isCoinbase, outpointOf } from './transaction.ts'

/** An output that exists: its origin, amount and script. */
export interface Coin {
  readonly txid: string
  readonly index: number
  readonly amount: bigint
  readonly script: Uint8Array
  readonly scriptHash: string
  /** The block it was created in; 0 while its transaction is unconfirmed. */
  readonly height: number
  readonly isCoinbase: boolean
}

/** The outputs of a transaction as coins; those that can never be spent are left out. */
export const coinsOf = (tx: ChainTransaction, height: number): readonly Coin[] => {
  const coinbase = isCoinbase(tx)
  return tx.outputs.flatMap(({ amount, script, scriptHash }, index) =>
    script[0] === 0x6a
      ? []
      : [{ txid: tx.txid, index, amount, script, scriptHash, height, isCoinbase: coinbase }]
  )
}

/** The confirmed outputs that no block has spent. The mempool does not change it. */
export class CoinTable {
  readonly #coins = new Map<string, Coin>()

  get(txid: string, index: number): Coin | undefined {
    return this.#coins.get(outpointOf(txid, index))
  }

  add(coin: Coin): void {
    this.#coins.set(outpointOf(coin.txid, coin.index), coin)
  }

  remove(coin: Coin): void {
    this.#coins.delete(outpointOf(coin.txid, coin.index))
  }
}
