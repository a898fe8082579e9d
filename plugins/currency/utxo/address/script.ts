import { p2tr } from '@scure/btc-signer'
import type { Purpose } from '../keys/branches.ts'
import type { ScriptType } from '../params/coin-row.ts'
import { hash160 } from './hashes.ts'

/** What an output script pays to: its type and the hash or key in it. */
export interface Program {
  readonly type: ScriptType
  readonly data: Uint8Array
}

/** How the keys of a purpose are paid. */
export const scriptTypeOf: Readonly<Record<Purpose, ScriptType>> = {
  32: 'p2pkh',
  44: 'p2pkh',
  49: 'p2sh',
  84: 'p2wpkh',
  86: 'p2tr'
}

/** The hash or tweaked key that a public key of this purpose is paid by; 20 bytes, taproot 32. */
export const programOf = (purpose: Purpose, publicKey: Uint8Array): Uint8Array => {
  if (purpose === 49) return hash160(redeemScriptOf(publicKey))
  // BIP-86: key path only, tweaked with no script tree.
  if (purpose === 86) return p2tr(publicKey.slice(1)).tweakedPubkey
  return hash160(publicKey)
}

/** The script inside P2SH for a nested segwit key (BIP-141). */
export const redeemScriptOf = (publicKey: Uint8Array): Uint8Array =>
  writeScript({ type: 'p2wpkh', data: hash160(publicKey) })

/** The bytes of an output script. */
export const writeScript = ({ type, data }: Program): Uint8Array => {
  const [before, after] = frames[type]
  return Uint8Array.from([...before, ...data, ...after])
}

const frames: Readonly<Record<ScriptType, readonly [before: readonly number[], after: readonly number[]]>> = {
  p2pkh: [
    [0x76, 0xa9, 0x14],
    [0x88, 0xac]
  ],
  p2sh: [[0xa9, 0x14], [0x87]],
  p2wpkh: [[0x00, 0x14], []],
  p2wsh: [[0x00, 0x20], []],
  p2tr: [[0x51, 0x20], []]
}
