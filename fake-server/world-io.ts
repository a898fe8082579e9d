import type { Channel, ChannelHandlers, Io } from '../kernel/io/io.ts'
import { fakeFetch } from './fake-fetch.ts'
import type { FakeServer } from './fake-server.ts'
import type { FakeProviders } from './providers/fake-providers.ts'
import { providerFetch } from './providers/provider-fetch.ts'
import type { ChainServer } from './world-chains.ts'
import type { WorldClock } from './world-clock.ts'

/** How one device sees the world. */
export interface WorldIoOptions {
  /** Asked at each request and connection; a device that says no has no network, the others have theirs. */
  readonly isOnline?: () => boolean
}

/** The network of a fake world. */
export interface WorldNetwork {
  ioFor(base: Io, options?: WorldIoOptions): Io
  setOnline(isOnline: boolean): void
}

/** The parts of a world that its network joins. */
export interface WorldParts {
  readonly server: FakeServer
  readonly providers: FakeProviders
  readonly chains: readonly ChainServer[]
  readonly clock: WorldClock
  readonly saved: () => Promise<void>
}

/**
 * Makes the network of a world: the servers and the rate and swap providers by fetch, the chains by TCP and WebSocket
 * on localhost, no more.
 */
export const makeWorldIo = ({ server, providers, chains, clock, saved }: WorldParts): WorldNetwork => {
  const open = new Set<Channel>()
  const fetch = providerFetch(providers, fakeFetch(server))
  const reach = async (
    handlers: ChannelHandlers,
    connect: ((handlers: ChannelHandlers) => Promise<Channel>) | undefined
  ): Promise<Channel> => {
    if (connect === undefined || !server.isOnline) throw offline()
    let channel: Channel | undefined
    let isEnded = false
    const gate = makeGate(handlers, saved, () => {
      isEnded = true
      if (channel !== undefined) open.delete(channel)
    })
    channel = await connect(gate.handlers)
    gate.attach(channel)
    if (!isEnded) open.add(channel)
    return channel
  }
  return {
    ioFor(base, { isOnline = () => true } = {}) {
      return {
        crypto: base.crypto,
        clock,
        random: count => base.random(count),
        fetch: async (url, options) => {
          if (!isOnline()) throw offline()
          return fetch(url, options)
        },
        connect: (address, handlers) => {
          const { host, port, isTls } = address
          const isHere = isOnline() && isLoopback(host) && !isTls
          const electrum = chains.find(({ tcpPort }) => isHere && tcpPort === port)?.electrum
          return reach(handlers, electrum && (gated => electrum.connect(address, gated)))
        },
        webSocket: (url, handlers) => {
          const port = isOnline() ? WEB_SOCKET.exec(url)?.[1] : undefined
          const electrum = chains.find(({ webSocketPort }) => `${webSocketPort}` === port)?.electrum
          return reach(handlers, electrum && (gated => electrum.webSocket(url, gated)))
        }
      }
    },
    setOnline(isOnline) {
      server.isOnline = isOnline
      providers.isOnline = isOnline
      if (isOnline) return
      for (const channel of [...open]) channel.close()
      open.clear()
    }
  }
}

const WEB_SOCKET = /^ws:\/\/(?:localhost|127\.0\.0\.1):(\d+)\/?$/

const isLoopback = (host: string): boolean => host === 'localhost' || host === '127.0.0.1' || host === '::1'

const offline = (): Error => new Error('Fake network error')

interface Gate {
  readonly handlers: ChannelHandlers
  attach(channel: Channel): void
}

/**
 * Holds back what a device is told until it is durable, in order. If it cannot be saved, the connection is lost
 * instead: the device then does not believe in a broadcast that the next start would not know.
 */
const makeGate = (handlers: ChannelHandlers, saved: () => Promise<void>, onEnd: () => void): Gate => {
  let channel: Channel | undefined
  let isEnded = false
  let queue = Promise.resolve()
  const end = (error?: Error): void => {
    if (isEnded) return
    isEnded = true
    onEnd()
    handlers.onClose(error)
  }
  const afterwards = (task: () => void | Promise<void>): void => {
    queue = queue.then(task).catch((error: unknown) => {
      end(error instanceof Error ? error : new Error('The fake world failed'))
      channel?.close()
    })
  }
  return {
    attach(opened) {
      channel = opened
    },
    handlers: {
      onText(text) {
        afterwards(saved)
        afterwards(() => {
          if (!isEnded) handlers.onText(text)
        })
      },
      onClose(error) {
        afterwards(() => end(error))
      }
    }
  }
}
