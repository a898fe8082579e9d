import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Address, OutScript } from '@scure/btc-signer'
import { concatBytes, sha256 } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../kernel/base/errors.ts'
import type { ChainNetwork } from './chain-params.ts'

/** The kinds of output script that a node recognises; `unknown` is not relayed. */
export type ScriptKind =
  | 'p2pk'
  | 'p2pkh'
  | 'p2sh'
  | 'p2wpkh'
  | 'p2wsh'
  | 'p2tr'
  | 'p2a'
  | 'witness'
  | 'multisig'
  | 'data'
  | 'unknown'

/** The Electrum name of a script: its SHA-256 reversed, in hex (Electrum protocol, "script hashes"). */
export const scriptHashOf = (script: Uint8Array): string => bytesToHex(sha256(script).reverse())

/** Recognises the standard output scripts (Bitcoin Core, `Solver`). Never throws. */
export const kindOfScript = (script: Uint8Array): ScriptKind => {
  const { length } = script
  const at = (index: number): number => script[index] ?? -1
  if (length === 25 && hasPrefix(script, [0x76, 0xa9, 20]) && at(23) === 0x88 && at(24) === 0xac)
    return 'p2pkh'
  if (length === 23 && hasPrefix(script, [0xa9, 20]) && at(22) === 0x87) return 'p2sh'
  if (length === 22 && hasPrefix(script, [0, 20])) return 'p2wpkh'
  if (length === 34 && hasPrefix(script, [0, 32])) return 'p2wsh'
  if (length === 34 && hasPrefix(script, [0x51, 32])) return 'p2tr'
  if (length === 4 && hasPrefix(script, [0x51, 2, 0x4e, 0x73])) return 'p2a'
  if (isFutureWitness(script)) return 'witness'
  if (at(0) === 0x6a && isPushOnly(script.subarray(1))) return 'data'
  if ((length === 35 && at(0) === 33) || (length === 67 && at(0) === 65))
    return at(length - 1) === 0xac ? 'p2pk' : 'unknown'
  return at(length - 1) === 0xae && multisigOf(script) !== undefined ? 'multisig' : 'unknown'
}

/** The keys of an m-of-n script, in its order; undefined for any other script. */
export const multisigOf = (
  script: Uint8Array
): { readonly m: number; readonly pubkeys: readonly Uint8Array[] } | undefined => {
  try {
    const found = OutScript.decode(script)
    return found.type === 'ms' ? { m: found.m, pubkeys: found.pubkeys } : undefined
  } catch {
    return undefined
  }
}

/** The data that a script pushes, if it does nothing else; undefined for any other script. */
export const pushesOf = (script: Uint8Array): readonly Uint8Array[] | undefined => {
  const pushes: Uint8Array[] = []
  let at = 0
  while (at < script.length) {
    const op = script[at++] as number
    if (op > 0x60 || op === 0x50) return undefined
    if (op > 0x4e) {
      pushes.push(Uint8Array.of(op === 0x4f ? 0x81 : op - 0x50))
      continue
    }
    const lengthBytes = op < 0x4c ? 0 : 1 << (op - 0x4c)
    let count = op
    if (lengthBytes > 0) {
      count = 0
      for (let i = lengthBytes - 1; i >= 0; i -= 1) count = count * 256 + (script[at + i] ?? 0)
      at += lengthBytes
    }
    if (at + count > script.length) return undefined
    pushes.push(script.subarray(at, at + count))
    at += count
  }
  return pushes
}

/** True if a script only pushes data. */
export const isPushOnly = (script: Uint8Array): boolean => pushesOf(script) !== undefined

/** True of the kinds that segwit has brought. */
export const isWitnessKind = (kind: ScriptKind): boolean =>
  kind.startsWith('p2w') || ['p2tr', 'p2a', 'witness'].includes(kind)

/** The smallest amount that is worth spending from a script; less is dust (Bitcoin Core, `GetDustThreshold`). */
export const dustLimitOf = (
  script: Uint8Array,
  { dustRelayPerKvB, fixedDust }: Pick<ChainNetwork, 'dustRelayPerKvB' | 'fixedDust'>
): bigint => {
  const kind = kindOfScript(script)
  if (kind === 'data') return 0n
  if (fixedDust !== undefined) return fixedDust.least
  const isWitness = script.length >= 4 && isWitnessKind(kind)
  const bytes = 8 + (script.length < 253 ? 1 : 3) + script.length + (isWitness ? 67 : 148)
  return (BigInt(bytes) * dustRelayPerKvB) / 1000n
}

/** The script of twenty bytes of public key hash. */
export const pubkeyHashScript = (hash: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(0x76, 0xa9, 20), hash, Uint8Array.of(0x88, 0xac))

/** Begins no address. */
const NO_PREFIX = ' '

/**
 * Reads where to pay: an address of the network, a script in hex, or a script.
 *
 * @throws ADDRESS_INVALID for anything else, addresses of other networks included
 */
export const scriptOf = (network: ChainNetwork, target: string | Uint8Array): Uint8Array => {
  if (typeof target !== 'string') return target.slice()
  if (HEX.test(target)) return hexToBytes(target)
  const { prefixes, oldScriptHashes, readAddress } = network
  const kinds = [prefixes, ...oldScriptHashes.map(scriptHash => ({ ...prefixes, scriptHash }))]
  const readers = [
    ...(readAddress === undefined ? [] : [() => readAddress(target)]),
    ...kinds.map(kind => () => OutScript.encode(Address(kind).decode(target))),
    // Its reader takes what begins with the prefix of segwit for no other address, but base58 has such, too: Qtum's `Qc1…`.
    ...kinds.map(kind => () => OutScript.encode(Address({ ...kind, bech32: NO_PREFIX }).decode(target)))
  ]
  const errors: unknown[] = []
  for (const read of readers) {
    try {
      const script = read()
      if (network.hasSegwit || !isWitnessKind(kindOfScript(script))) return script
    } catch (error) {
      errors.push(error)
    }
  }
  // The first failure is the one to report.
  throw new WalletError('ADDRESS_INVALID', { rule: 'is no address or script of this chain' }, errors[0])
}

const HEX = /^(?:[0-9a-f]{2}){4,10000}$/i

const hasPrefix = (script: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => script[index] === byte)

const isFutureWitness = (script: Uint8Array): boolean => {
  const [version = 0, length = 0] = script
  return version >= 0x51 && version <= 0x60 && length >= 2 && length <= 40 && script.length === length + 2
}
