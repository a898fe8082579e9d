import { Address } from '@scure/btc-signer'
import { sha256 } from '@scure/btc-signer/utils.js'
import type { ChainNetwork } from '../../chain/network.ts'

/**
 * An address of the fake world that is paid to and never spent from: payouts come from the faucet, so nobody needs a key.
 *
 * @param seed - any bytes; the same ones give the same address on each network
 */
export const playAddress = (seed: Uint8Array, { prefixes }: ChainNetwork): string =>
  Address(prefixes).encode({ type: 'wpkh', hash: sha256(seed).subarray(0, 20) })
