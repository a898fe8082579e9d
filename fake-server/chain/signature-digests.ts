import { hexToBytes } from '@noble/hashes/utils.js'
import { Transaction } from '@scure/btc-signer'
import type { Payment } from './chain-params.ts'
import type { ChainTransaction } from './transaction.ts'

/** The usual kind of digest: of all inputs and outputs. */
export const SIGHASH_ALL = 0x01

/** That of Bitcoin Cash, whose signatures another chain does not take. */
export const SIGHASH_FORKID = 0x41

/** The bytes that signatures are of, by the rules of each generation of scripts; made by btc-signer, not by the wallet's signer. */
export interface Digests {
  legacy(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
  /** Also the digest of Bitcoin Cash, whose kinds have one bit more. */
  witness(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
  taproot(index: number, hashType: number): Uint8Array
}

/** The digests of a transaction. `coins`: the coin of each input, in order. */
export const digestsOf = (tx: ChainTransaction, coins: readonly Payment[]): Digests => {
  const signer = signerOf(tx)
  const scripts = coins.map(coin => coin.script)
  const amounts = coins.map(coin => coin.amount)
  return {
    legacy: (index, scriptCode, hashType) => signer.preimageLegacy(index, scriptCode, hashType),
    witness: (index, scriptCode, hashType) =>
      signer.preimageWitnessV0(index, scriptCode, hashType, amounts[index] as bigint),
    taproot: (index, hashType) => signer.preimageWitnessV1(index, scripts, hashType, amounts)
  }
}

/** btc-signer keeps the legacy digest to itself in its types, unlike its two younger siblings. */
interface Preimages extends Pick<Transaction, 'preimageWitnessV0' | 'preimageWitnessV1'> {
  preimageLegacy(index: number, scriptCode: Uint8Array, hashType: number): Uint8Array
}

const signerOf = (tx: ChainTransaction): Preimages =>
  Transaction.fromRaw(hexToBytes(tx.hex), {
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
    allowUnknownVersion: true,
    disableScriptCheck: true
  }) as unknown as Preimages
