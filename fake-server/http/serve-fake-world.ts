import type { FakeWorld } from '../fake-world.ts'
import type { NetworkConditions } from '../network-conditions.ts'
import { serveElectrumTcp } from './electrum-tcp.ts'
import { serveElectrumWebSocket } from './electrum-web-socket.ts'
import { serveFakeServer } from './http-server.ts'

/** Where a world listens; any free port for each that is left out or 0, loopback if `host` is left out. */
export interface ServeWorldOptions {
  readonly host?: string
  readonly httpPort?: number
  readonly electrumPort?: number
  readonly electrumWebSocketPort?: number
}

/** A world that listens, with the addresses that a kernel in another process is configured with. */
export interface ServedWorld {
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** `tcp://…` and `ws://…`. */
  readonly electrumServers: readonly string[]
  /** Ends all connections, stops listening and saves. The world itself stays open. */
  close(): Promise<void>
}

/**
 * Serves a whole world to other processes: login, info, sync and the rate and swap providers over HTTP, the chain
 * over Electrum. `fetchThroughWorld` is the fetch of such a process.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen; then nothing listens
 */
export const serveFakeWorld = async (
  world: FakeWorld,
  { host = '127.0.0.1', httpPort = 0, electrumPort = 0, electrumWebSocketPort = 0 }: ServeWorldOptions = {}
): Promise<ServedWorld> => {
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
    const { saved, chain, providers } = world
    const http = keep(await serveFakeServer(world.server, { host, port: httpPort, providers }))
    const tcp = keep(await serveElectrumTcp(chain, { host, port: electrumPort, saved }))
    const webSocket = keep(await serveElectrumWebSocket(chain, { host, port: electrumWebSocketPort, saved }))
    const follow = ({ isOnline }: NetworkConditions): void => {
      tcp.setOnline(isOnline)
      webSocket.setOnline(isOnline)
    }
    follow(world.network.current)
    const stop = world.network.onChange(follow)
    keep({ close: async () => stop() })
    return {
      authServer: `${http.url}/api`,
      infoServers: [http.url],
      syncServers: [http.url],
      electrumServers: [tcp.url, webSocket.url],
      close
    }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}
