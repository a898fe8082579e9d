import type { JsonObject } from '../kernel/base/json.ts'
import { forEachChain } from './chain/open-chain.ts'
import { CHAIN_SERVERS, type ChainServers } from './world/world-chains.ts'

/**
 * Makes the `pluginOptions` that the plugins that ship need in a fake world: the networks and servers of its
 * chains, and keys, of which its providers take any.
 *
 * @param chainServers - where the chains are; inside the process of their world if left out
 */
export const fakePluginOptions = (
  chainServers: ChainServers = CHAIN_SERVERS
): Readonly<Record<string, JsonObject>> => {
  const chains = forEachChain(id => ({ network: 'regtest', servers: [...chainServers[id]] }))
  return { ...KEYS, ...chains, bitcointestnet: chains.bitcoin }
}

const KEYS = {
  changenow: { apiKey: 'fake-key' },
  coincap: { apiKey: 'fake-key' },
  letsexchange: { apiKey: 'fake-key' },
  sideshift: { affiliateId: 'fake-affiliate' }
}
