import { hex } from '@scure/base'
import { p2wpkh } from '@scure/btc-signer'
import { pubECDSA, sha256 } from '@scure/btc-signer/utils.js'
import type { ChainNetwork } from '../../chain/network.ts'

/** A private key of the fake world in hex. Hashed, so that even a poor source of chance gives a sound one. */
export const makePlayKey = (random: (count: number) => Uint8Array): string => {
  for (let key = sha256(random(32)); ; key = sha256(key)) {
    try {
      pubECDSA(key)
      return hex.encode(key)
    } catch {
      // About one number in 2^128 is no key.
    }
  }
}

/** The address on a network that a key can spend from. */
export const playAddress = (key: string, network: ChainNetwork): string =>
  p2wpkh(pubECDSA(hex.decode(key)), network.prefixes).address ?? ''
