import type { Json } from '../../kernel/base/json.ts'
import { BITCOIN_REGTEST, type ChainNetwork, LITECOIN_REGTEST } from '../chain/chain-params.ts'
import type { ChainPorts } from '../chain/fake-chain.ts'
import { type ChainId, chainIds, type FakeChains, forEachChain, openFakeChain } from '../chain/open-chain.ts'
import { type ElectrumConnect, makeElectrumConnect } from '../electrum/connect.ts'
import type { WorldJournal } from './journal.ts'
import { chainIdOf, type EntrySource, makeChainDiff, namingCorruptFile } from './state.ts'

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

/** The addresses of a world's chains inside its process. */
export const CHAIN_SERVERS: ChainServers = forEachChain(id => [
  `tcp://localhost:${PORTS[id].tcpPort}`,
  `ws://localhost:${PORTS[id].webSocketPort}`
])

/**
 * Opens the saved chains, and makes those that an older world did not have.
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
    return namingCorruptFile(source, { kind: 'chain', isOwn: entry => chainIdOf(entry) === id }, () =>
      openFakeChain(options)
    )
  })

/** Serves chains to devices in this process. */
export const serveChains = (chains: FakeChains): readonly ChainServer[] =>
  chainIds.map(id => ({ ...PORTS[id], electrum: makeElectrumConnect(chains[id]) }))

/** The whole content of the chains as entries. */
export const entriesOfChains = (chains: FakeChains): readonly Json[] =>
  chainIds.map(id => makeChainDiff(id).entryOf(chains[id].toJson()))

/** Adds every later change of the chains to a journal. */
export const journalChains = (
  journal: WorldJournal,
  chains: FakeChains,
  saved: ReadonlyMap<ChainId, Json>
): void => {
  for (const id of chainIds) {
    const diff = makeChainDiff(id, saved.get(id))
    let isQueued = false
    const queueEntry = (): void => {
      if (isQueued) return
      isQueued = true
      journal.add(() => {
        isQueued = false
        return diff.entryOf(chains[id].toJson())
      })
    }
    chains[id].onChange(queueEntry)
    // The key of a new faucet must survive, too.
    if (!saved.has(id)) queueEntry()
  }
}
