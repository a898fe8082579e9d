import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { p2wpkh, Transaction } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import type { Coin } from './coins.ts'
import type { ChainNetwork } from './network.ts'
import { dustLimitOf, scriptHashOf } from './script.ts'

/** An amount in native units and the script that gets it. */
export interface Payment {
  readonly script: Uint8Array
  readonly amount: bigint
}

/** The rich stranger of the fake world: it earns the blocks and pays from them with real signatures. */
export class Faucet {
  readonly #privateKey: Uint8Array
  readonly #network: ChainNetwork
  /** A curve point costs more than all else of a world that is only opened, so it waits for its first use. */
  #script: Uint8Array | undefined
  #scriptHash: string | undefined

  /** @throws RangeError if the bytes are no private key */
  constructor(network: ChainNetwork, privateKey: Uint8Array) {
    if (!secp256k1.utils.isValidSecretKey(privateKey)) throw new RangeError('This is no private key')
    this.#network = network
    this.#privateKey = privateKey.slice()
  }

  /** The p2wpkh script it is paid to. */
  get script(): Uint8Array {
    this.#script ??= p2wpkh(pubECDSA(this.#privateKey), this.#network.prefixes).script
    return this.#script
  }

  /** The Electrum name of its script. */
  get scriptHash(): string {
    this.#scriptHash ??= scriptHashOf(this.script)
    return this.#scriptHash
  }

  /** The key in hex, for the saved world. It guards play money only. */
  get savedKey(): string {
    return bytesToHex(this.#privateKey)
  }

  /**
   * Signs a transaction that makes these payments from as few of the coins as it can, in their order.
   *
   * @returns its bytes in hex, or undefined if the coins are not enough
   */
  pay(coins: readonly Coin[], payments: readonly Payment[]): string | undefined {
    const chosen: Coin[] = []
    let change = 0n - payments.reduce((sum, payment) => sum + payment.amount, 0n)
    let fee = FEE_RATE * sizeOf([...payments.map(payment => payment.script), this.script])
    for (const coin of coins) {
      if (change >= fee) break
      chosen.push(coin)
      change += coin.amount
      fee += FEE_RATE * INPUT_SIZE
    }
    if (change < fee) return undefined
    return this.#sign(chosen, payments, change - fee)
  }

  #sign(coins: readonly Coin[], payments: readonly Payment[], change: bigint): string {
    const tx = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true })
    for (const { txid, index, amount, script } of coins) {
      tx.addInput({ txid, index, sequence: 0xfffffffd, witnessUtxo: { amount, script } })
    }
    for (const payment of payments) tx.addOutput(payment)
    if (change >= dustLimitOf(this.script, this.#network))
      tx.addOutput({ script: this.script, amount: change })
    tx.sign(this.#privateKey)
    tx.finalize()
    return tx.hex
  }
}

const FEE_RATE = 5n
const INPUT_SIZE = 69n
const sizeOf = (scripts: readonly Uint8Array[]): bigint =>
  BigInt(scripts.reduce((size, script) => size + 11 + script.length, 15))
