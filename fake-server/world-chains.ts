import type { Json } from '../kernel/base/json.ts'
import { type ElectrumConnect, makeElectrumConnect } from './chain/electrum-connect.ts'
import type { ChainPorts, FakeChain } from './chain/fake-chain.ts'
import type { ChainNetwork } from './chain/network.ts'
import { BITCOIN_REGTEST, LITECOIN_REGTEST } from './chain/networks.ts'
import { openFakeChain } from './chain/open-fake-chain.ts'
import { type ChainId, chainIdOf, chainIds, makeChainDiff } from './world-chain.ts'
import type { WorldJournal } from './world-journal.ts'
import { blaming, type EntrySource } from './world-state.ts'

/** The chains of a world by the plugin whose currency lives on them. */
export type FakeChains = Readonly<Record<ChainId, FakeChain>>

/** A chain as devices in its process reach it: its ports on localhost. */
export interface ChainServer {
  readonly tcpPort: number
  readonly webSocketPort: number
  readonly electrum: ElectrumConnect
}

/** The Electrum servers of each chain, for kernels that live in the process of their world. */
export type ChainServers = Readonly<Record<ChainId, readonly string[]>>

const NETWORKS: Readonly<Record<ChainId, ChainNetwork>> = {
  bitcoin: BITCOIN_REGTEST,
  litecoin: LITECOIN_REGTEST
}

const PORTS: Readonly<Record<ChainId, { readonly tcpPort: number; readonly webSocketPort: number }>> = {
  bitcoin: { tcpPort: 50001, webSocketPort: 50003 },
  litecoin: { tcpPort: 51001, webSocketPort: 51003 }
}

/** Makes something for each chain of a world. */
export const forEachChain = <T>(make: (id: ChainId) => T): Readonly<Record<ChainId, T>> =>
  Object.fromEntries(chainIds.map(id => [id, make(id)])) as Record<ChainId, T>

/** Where a world's chains are inside its process. */
export const CHAIN_SERVERS: ChainServers = forEachChain(id => [
  `tcp://localhost:${PORTS[id].tcpPort}`,
  `ws://localhost:${PORTS[id].webSocketPort}`
])

/**
 * Opens the chains that were saved and begins those that were not, such as a chain that an older world had not.
 *
 * @throws CORRUPT_FILE naming the file that a damaged chain was last in
 */
export const openChains = (
  source: EntrySource,
  saved: ReadonlyMap<ChainId, Json>,
  ports: ChainPorts
): FakeChains =>
  forEachChain(id => {
    const json = saved.get(id)
    const network = NETWORKS[id]
    const options = json === undefined ? { ...ports, network } : { ...ports, network, saved: json }
    return blaming(source, { kind: 'chain', isOwn: entry => chainIdOf(entry) === id }, () =>
      openFakeChain(options)
    )
  })

/** Serves chains to devices in this process. */
export const serveChains = (chains: FakeChains): readonly ChainServer[] =>
  chainIds.map(id => ({ ...PORTS[id], electrum: makeElectrumConnect(chains[id]) }))

/** Everything there is of the chains, as entries. */
export const entriesOfChains = (chains: FakeChains): readonly Json[] =>
  chainIds.map(id => makeChainDiff(id).entryOf(chains[id].toJson()))

/** Tells a journal everything that changes in the chains from now on. */
export const noteChains = (
  journal: WorldJournal,
  chains: FakeChains,
  saved: ReadonlyMap<ChainId, Json>
): void => {
  for (const id of chainIds) {
    const diff = makeChainDiff(id, saved.get(id))
    let isNoted = false
    const note = (): void => {
      if (isNoted) return
      isNoted = true
      journal.add(() => {
        isNoted = false
        return diff.entryOf(chains[id].toJson())
      })
    }
    chains[id].onChange(note)
    // The key of a new faucet must survive, too.
    if (!saved.has(id)) note()
  }
}
