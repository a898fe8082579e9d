import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { p2wpkh, Transaction } from '@scure/btc-signer'
import { hash160, pubECDSA } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../kernel/base/errors.ts'
import type { ChainNetwork, Payment } from './chain-params.ts'
import { dustLimitOf, pubkeyHashScript, scriptHashOf } from './script.ts'
import type { ChainCoin } from './transaction.ts'

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

  /** The script it is paid to: p2wpkh, or p2pkh where there is no segwit. */
  get script(): Uint8Array {
    this.#script ??= this.#network.hasSegwit
      ? p2wpkh(pubECDSA(this.#privateKey), this.#network.prefixes).script
      : pubkeyHashScript(hash160(pubECDSA(this.#privateKey)))
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
  pay(coins: readonly ChainCoin[], payments: readonly Payment[]): string | undefined {
    const chosen: ChainCoin[] = []
    let change = 0n - payments.reduce((sum, payment) => sum + payment.amount, 0n)
    const rate = (FEE_RATE * this.#network.relayPerKvB) / 1000n
    let fee = rate * sizeOf([...payments.map(payment => payment.script), this.script])
    for (const coin of coins) {
      if (change >= fee) break
      chosen.push(coin)
      change += coin.amount
      fee += rate * (this.#network.hasSegwit ? INPUT_SIZE : LEGACY_INPUT_SIZE)
    }
    if (change < fee) return undefined
    const rest = { script: this.script, amount: change - fee }
    const isWorthIt = rest.amount > 0n && rest.amount >= dustLimitOf(this.script, this.#network)
    const outputs = isWorthIt ? [...payments, rest] : payments
    return this.#network.signLegacy?.(this.#privateKey, chosen, outputs) ?? this.#sign(chosen, outputs)
  }

  #sign(coins: readonly ChainCoin[], outputs: readonly Payment[]): string {
    const tx = new Transaction({ allowUnknownOutputs: true, disableScriptCheck: true })
    for (const { txid, index, amount, script } of coins) {
      tx.addInput({ txid, index, sequence: 0xfffffffd, witnessUtxo: { amount, script } })
    }
    for (const output of outputs) tx.addOutput(output)
    tx.sign(this.#privateKey)
    tx.finalize()
    return tx.hex
  }
}

const FEE_RATE = 5n
const INPUT_SIZE = 69n
const LEGACY_INPUT_SIZE = 149n
const sizeOf = (scripts: readonly Uint8Array[]): bigint =>
  BigInt(scripts.reduce((size, script) => size + 11 + script.length, 15))

/** Native units for each virtual byte, by the number of blocks that a transaction may wait. */
export type FeeRates = Readonly<Record<string, number>>

/** The fee rates of a fake network until a test sets others: those of a calm Bitcoin, as often as its nodes want more. */
export const usualFeeRates = ({ relayPerKvB }: ChainNetwork): FeeRates =>
  Object.fromEntries(
    [
      [1, 20],
      [3, 12],
      [6, 8],
      [12, 5],
      [25, 2]
    ].map(([target, rate = 0]) => [target, (rate * Number(relayPerKvB)) / 1000])
  )

/**
 * Checks fee rates that come from outside.
 *
 * @throws OPTION_INVALID unless each is a rate of 0 to 100,000 for a target of 1 to 1008 blocks
 */
export const parseFeeRates = (rates: FeeRates): ReadonlyMap<number, number> => {
  const parsed = new Map<number, number>()
  for (const [target, rate] of Object.entries(rates)) {
    const blocks = Number(target)
    const isSound =
      Number.isInteger(blocks) &&
      blocks >= 1 &&
      blocks <= 1008 &&
      Number.isFinite(rate) &&
      rate >= 0 &&
      rate <= 100_000
    if (!isSound) {
      throw new WalletError('OPTION_INVALID', {
        option: 'fee rates',
        rule: 'must be numbers by target blocks'
      })
    }
    parsed.set(blocks, rate)
  }
  return new Map([...parsed].sort(([a], [b]) => a - b))
}

/** The rate for the longest known wait that is not longer than `blocks`, else the dearest; undefined if none is known. */
export const feeRateFor = (rates: ReadonlyMap<number, number>, blocks: number): number | undefined => {
  let found: number | undefined
  for (const [target, rate] of rates) if (found === undefined || target <= blocks) found = rate
  return found
}
