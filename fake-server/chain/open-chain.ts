import { hexToBytes } from '@noble/hashes/utils.js'
import { sha256 } from '@scure/btc-signer/utils.js'
import { WalletError } from '../../kernel/base/errors.ts'
import type { Json } from '../../kernel/base/json.ts'
import { BITCOIN_REGTEST, type ChainNetwork } from './chain-params.ts'
import { ChainState } from './chain-state.ts'
import { type ChainPorts, FakeChain } from './fake-chain.ts'
import { Faucet } from './faucet.ts'
import { parseSavedChain } from './saved-chain.ts'

/** A chain of a world, by the plugin whose currency lives on it. */
export type ChainId = 'bitcoin' | 'litecoin'

/** All chains, in the order in which they are opened and saved. */
export const chainIds: readonly ChainId[] = ['bitcoin', 'litecoin']

/** The chains of a world by the plugin whose currency lives on them. */
export type FakeChains = Readonly<Record<ChainId, FakeChain>>

/** Makes something for each chain of a world. */
export const forEachChain = <T>(make: (id: ChainId) => T): Readonly<Record<ChainId, T>> =>
  Object.fromEntries(chainIds.map(id => [id, make(id)])) as Record<ChainId, T>

/** The clock and random numbers of a chain, and what `toJson` returned earlier. */
export interface FakeChainOptions extends ChainPorts {
  /** Bitcoin's regtest if left out. */
  readonly network?: ChainNetwork
  readonly saved?: Json
}

/**
 * Makes a new chain of one block, or opens a saved one exactly as it was.
 *
 * @throws CORRUPT_FILE if the saved chain is damaged in any way, or of another network
 */
export const openFakeChain = ({
  saved,
  network = BITCOIN_REGTEST,
  ...ports
}: FakeChainOptions): FakeChain => {
  if (saved === undefined) {
    return new FakeChain(new ChainState(network), newFaucet(network, ports.random), ports)
  }
  const { state, faucetKey, feeRates } = parseSavedChain(network, saved)
  return new FakeChain(state, savedFaucet(network, faucetKey), { ...ports, feeRates })
}

const newFaucet = (network: ChainNetwork, random: ChainPorts['random']): Faucet => {
  // Hashed, so that even a poor source gives a valid key; about one number in 2^128 is none.
  for (let key = sha256(random(32)); ; key = sha256(key)) {
    const faucet = faucetOf(network, key)
    if (faucet !== undefined) return faucet
  }
}

const savedFaucet = (network: ChainNetwork, key: string): Faucet => {
  const faucet = /^[0-9a-f]{64}$/.test(key) ? faucetOf(network, hexToBytes(key)) : undefined
  if (faucet === undefined)
    throw new WalletError('CORRUPT_FILE', { path: 'chain', rule: 'has no faucet key' })
  return faucet
}

const faucetOf = (network: ChainNetwork, privateKey: Uint8Array): Faucet | undefined => {
  try {
    return new Faucet(network, privateKey)
  } catch {
    return undefined
  }
}
