import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { sha256Twice } from '../address/hashes.ts'

/** How the output that an input spends is signed for: before segwit, BIP-143, or the key path of BIP-341. */
export type SignatureKind = 'legacy' | 'segwit' | 'taproot'

/** An input as its signature sees it. */
export interface HashedInput {
  readonly txid: string
  readonly vout: number
  readonly sequence: number
  /** What the spent output is worth, in native units. */
  readonly value: bigint
  /** The script of the spent output. */
  readonly script: Uint8Array
  readonly kind: SignatureKind
  /** The script that is signed: that of the output, or for segwit the P2PKH script of its key hash. */
  readonly scriptCode: Uint8Array
}

/** An unsigned transaction. Its version is 2. */
export interface HashedTransaction {
  readonly lockTime: number
  readonly inputs: readonly HashedInput[]
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[]
}

/**
 * The 32 bytes that each input signs, with SIGHASH_ALL (taproot: SIGHASH_DEFAULT).
 *
 * What all inputs have in common is hashed once. @scure/btc-signer hashes it for each input, so that 1,000 inputs take
 * 20 times as long as 100; a test compares the hashes with its own.
 */
export class SignatureHashes {
  readonly #inputs: readonly HashedInput[]
  readonly #lockTime: Uint8Array
  readonly #outpoints: readonly Uint8Array[]
  readonly #sequences: readonly Uint8Array[]
  readonly #outputs: Uint8Array
  readonly #outputCount: Uint8Array
  #shared: { outpoints: Uint8Array; sequences: Uint8Array; outputs: Uint8Array } | undefined
  #spent: { values: Uint8Array; scripts: Uint8Array } | undefined

  constructor({ lockTime, inputs, outputs }: HashedTransaction) {
    this.#inputs = inputs
    this.#lockTime = uint32(lockTime)
    this.#outpoints = inputs.map(({ txid, vout }) => joined([reversedHex(txid), uint32(vout)]))
    this.#sequences = inputs.map(({ sequence }) => uint32(sequence))
    this.#outputs = joined(
      outputs.flatMap(({ value, script }) => [uint64(value), count(script.length), script])
    )
    this.#outputCount = count(outputs.length)
  }

  /** The hash that the input at this place signs. */
  hashOf(at: number): Uint8Array {
    const input = this.#inputs[at]
    if (input === undefined) throw new RangeError(`There is no input ${at}`)
    if (input.kind === 'legacy') return this.#legacyHash(at, input)
    return input.kind === 'segwit' ? this.#segwitHash(at, input) : this.#taprootHash(at)
  }

  /** The whole transaction, with the script code in this input and nothing in the others. */
  #legacyHash(at: number, { scriptCode }: HashedInput): Uint8Array {
    const inputs = this.#inputs.flatMap((_, place) => [
      this.#outpoints[place] as Uint8Array,
      ...(place === at ? [count(scriptCode.length), scriptCode] : [NOTHING]),
      this.#sequences[place] as Uint8Array
    ])
    const counts = [count(this.#inputs.length), this.#outputCount] as const
    return sha256Twice(
      joined([VERSION, counts[0], ...inputs, counts[1], this.#outputs, this.#lockTime, uint32(SIGHASH_ALL)])
    )
  }

  /** BIP-143. */
  #segwitHash(at: number, { scriptCode, value }: HashedInput): Uint8Array {
    const { outpoints, sequences, outputs } = this.#sharedHashes()
    return sha256Twice(
      joined([
        ...[VERSION, sha256(outpoints), sha256(sequences), this.#outpoints[at] as Uint8Array],
        ...[count(scriptCode.length), scriptCode, uint64(value), this.#sequences[at] as Uint8Array],
        ...[sha256(outputs), this.#lockTime, uint32(SIGHASH_ALL)]
      ])
    )
  }

  /** BIP-341: epoch, hash type, spend type 0 (key path, no annex). */
  #taprootHash(at: number): Uint8Array {
    const { outpoints, sequences, outputs } = this.#sharedHashes()
    this.#spent ??= {
      values: sha256(joined(this.#inputs.map(({ value }) => uint64(value)))),
      scripts: sha256(joined(this.#inputs.flatMap(({ script }) => [count(script.length), script])))
    }
    const { values, scripts } = this.#spent
    const begin = [TAP_SIGHASH, TAP_SIGHASH, NOTHING, NOTHING, VERSION, this.#lockTime]
    return sha256(joined([...begin, outpoints, values, scripts, sequences, outputs, NOTHING, uint32(at)]))
  }

  /** Single SHA-256 of each part; BIP-143 hashes them a second time. */
  #sharedHashes(): { outpoints: Uint8Array; sequences: Uint8Array; outputs: Uint8Array } {
    this.#shared ??= {
      outpoints: sha256(joined(this.#outpoints)),
      sequences: sha256(joined(this.#sequences)),
      outputs: sha256(this.#outputs)
    }
    return this.#shared
  }
}

const SIGHASH_ALL = 1
const NOTHING = Uint8Array.of(0)
const VERSION = Uint8Array.of(2, 0, 0, 0)
const TAP_SIGHASH = sha256(utf8ToBytes('TapSighash'))

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const uint32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24)

const uint64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value, true)
  return bytes
}

/** A compact size. No transaction that fits a block counts more than 16 bits, but scripts and tests may. */
const count = (value: number): Uint8Array => {
  if (value < 0xfd) return Uint8Array.of(value)
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >>> 8)
  return joined([Uint8Array.of(0xfe), uint32(value)])
}

const reversedHex = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length / 2)
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[bytes.length - 1 - at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16)
  }
  return bytes
}
