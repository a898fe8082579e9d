import type { NetworkConditions } from '../base/network-conditions.ts'
import { type ChainId, chainIds, forEachChain } from '../chain/open-chain.ts'
import type { FakeWorld } from '../fake-world.ts'
import type { ChainServers } from '../world/world-chains.ts'
import { type ElectrumListener, serveElectrumTcp } from './electrum-tcp.ts'
import { serveElectrumWebSocket } from './electrum-web-socket.ts'
import { serveFakeServer } from './http-server.ts'

/** The ports of a world: any free one for each that is left out or 0; loopback if `host` is left out. */
export interface ServeWorldOptions {
  readonly host?: string
  readonly httpPort?: number
  /** Bitcoin's chain by TCP. */
  readonly electrumPort?: number
  /** Bitcoin's chain by WebSocket. */
  readonly electrumWebSocketPort?: number
  readonly litecoinPort?: number
  readonly litecoinWebSocketPort?: number
}

/** A world that listens, with the addresses that a kernel in another process is configured with. */
export interface ServedWorld {
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** Bitcoin's: `tcp://…` and `ws://…`. */
  readonly electrumServers: readonly string[]
  /** Those of every chain, by plugin id. */
  readonly chainServers: ChainServers
  /** Ends all connections, stops listening and saves. The world itself stays open. */
  close(): Promise<void>
}

/**
 * Serves a whole world to other processes: login, info, sync and the rate and swap providers over HTTP, the chains
 * over Electrum. `fetchThroughWorld` is the fetch of such a process.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen; then nothing listens
 */
export const serveFakeWorld = async (
  world: FakeWorld,
  options: ServeWorldOptions = {}
): Promise<ServedWorld> => {
  const { host = '127.0.0.1', httpPort = 0 } = options
  const running: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const server of running.splice(0).reverse()) await server.close()
    await world.saved()
  }
  const keep = <T extends { close(): Promise<void> }>(server: T): T => {
    running.push(server)
    return server
  }
  try {
    const { saved, providers } = world
    const http = keep(await serveFakeServer(world.server, { host, port: httpPort, providers }))
    const electrum: [ChainId, ElectrumListener][] = []
    for (const id of chainIds) {
      const chain = world.chains[id]
      const [tcpPort, webSocketPort] = portsOf(id, options)
      electrum.push([id, keep(await serveElectrumTcp(chain, { host, port: tcpPort, saved }))])
      electrum.push([id, keep(await serveElectrumWebSocket(chain, { host, port: webSocketPort, saved }))])
    }
    const chainServers = forEachChain(id =>
      electrum.flatMap(([owner, { url }]) => (owner === id ? [url] : []))
    )
    const follow = ({ isOnline }: NetworkConditions): void => {
      for (const [, server] of electrum) server.setOnline(isOnline)
    }
    follow(world.network.current)
    const stop = world.network.onChange(follow)
    keep({ close: async () => stop() })
    return {
      authServer: `${http.url}/api`,
      infoServers: [http.url],
      syncServers: [http.url],
      electrumServers: chainServers.bitcoin,
      chainServers,
      close
    }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

const portsOf = (
  id: ChainId,
  { electrumPort, electrumWebSocketPort, litecoinPort, litecoinWebSocketPort }: ServeWorldOptions
): readonly [tcp: number, webSocket: number] =>
  id === 'bitcoin'
    ? [electrumPort ?? 0, electrumWebSocketPort ?? 0]
    : [litecoinPort ?? 0, litecoinWebSocketPort ?? 0]
