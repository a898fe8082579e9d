import { utf8 } from '@scure/base'
import { WalletError } from '../../kernel/base/errors.ts'
import type { Channel, ChannelHandlers, Clock, FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import { fetchedReply, sentBody } from '../base/replies.ts'
import type { FakeProviders } from '../providers/fake-providers.ts'
import type { FakeServer } from '../routes/fake-server.ts'
import type { ChainServer } from './world-chains.ts'

/** Options of the io of one device. */
export interface WorldIoOptions {
  /** Called at each request and connection; false leaves this device without a network, and no other one. */
  readonly isOnline?: () => boolean
}

/** The network of a fake world. */
export interface WorldNetwork {
  ioFor(base: Io, options?: WorldIoOptions): Io
  setOnline(isOnline: boolean): void
}

/** The parts of a world that its network joins. */
export interface WorldNetworkOptions {
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
export const makeWorldIo = ({
  server,
  providers,
  chains,
  clock,
  saved
}: WorldNetworkOptions): WorldNetwork => {
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
    // The network may have gone meanwhile, which closed only what was open by then.
    if (!server.isOnline) {
      channel.close()
      throw offline()
    }
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
        connect: (address, handlers, options) => {
          const { host, port, isTls } = address
          const isHere = isOnline() && isLoopback(host) && !isTls
          const electrum = chains.find(({ tcpPort }) => isHere && tcpPort === port)?.electrum
          return reach(handlers, electrum && (gated => electrum.connect(address, gated, options)))
        },
        webSocket: (url, handlers, options) => {
          const port = isOnline() ? WEB_SOCKET.exec(url)?.[1] : undefined
          const electrum = chains.find(({ webSocketPort }) => `${webSocketPort}` === port)?.electrum
          return reach(handlers, electrum && (gated => electrum.webSocket(url, gated, options)))
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
 * Holds back messages to a device until they are durable, in order. If it cannot be saved, the connection is lost
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

/** Options of {@link fakeFetch}. */
export interface FakeFetchOptions {
  /** Fetches from all other hosts; without it they are out of reach, as tests and demonstrations want. */
  readonly elsewhere?: Io['fetch']
}

/**
 * A fetch that reaches the fake server inside this process under every address that the domain rule allows
 * (specification §2): localhost, `edge.app`, `edgetest.app` and their subdomains, with any port.
 *
 * Rejects with `Fake network error` while the server is offline, and when the signal aborts.
 */
export const fakeFetch = (server: FakeServer, { elsewhere }: FakeFetchOptions = {}): Io['fetch'] => {
  return async (url, options = {}) => {
    const path = pathOf(url)
    if (path !== undefined) return untilAborted(fetchFromServer(server, path, options), options.signal)
    if (elsewhere !== undefined) return elsewhere(url, options)
    throw new Error('Fake network error')
  }
}

const ADDRESS =
  /^(?:https?:\/\/localhost|https:\/\/(?:[A-Za-z0-9_-]+\.)*edge(?:test)?\.app)(?::\d{1,5})?(\/[^#]*)?(?:#.*)?$/

const pathOf = (url: string): string | undefined => {
  const found = ADDRESS.exec(url)
  return found === null ? undefined : (found[1] ?? '/')
}

const fetchFromServer = async (
  server: FakeServer,
  path: string,
  options: FetchOptions
): Promise<FetchReply> => {
  const headers: [string, string][] = Object.entries(options.headers ?? {})
  const reply = await server.handle({
    method: (options.method ?? 'GET').toUpperCase(),
    path,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: sentBody(options)
  })
  return fetchedReply(reply, options)
}

/** Waits for work, until the signal aborts. */
const untilAborted = <T>(work: Promise<T>, signal: FetchOptions['signal']): Promise<T> => {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('The request was aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    const settle = (): void => signal.removeEventListener('abort', abort)
    work.then(resolve, reject).finally(settle)
  })
}

/**
 * A fetch that reaches fake providers inside this process under their own addresses, and everything else
 * through `elsewhere`.
 *
 * Rejects with `Fake network error` while they are offline, with REPLY_TOO_LARGE as {@link Io.fetch} does, and when
 * the signal aborts.
 */
const providerFetch = (providers: FakeProviders, elsewhere: Io['fetch']): Io['fetch'] => {
  return (url, options = {}) => {
    const address = addressOf(url)
    if (address === undefined || !providers.serves(address.host)) return elsewhere(url, options)
    return untilAborted(fetchFromProvider(providers, address, options), options.signal)
  }
}

/**
 * A fetch for another process: every address that is not on localhost is asked of a served world, whose origin this
 * is, so that nothing real is ever reached.
 *
 * @param origin - such as `http://localhost:4455`
 */
export const fetchThroughWorld =
  (fetch: Io['fetch'], origin: string): Io['fetch'] =>
  (url, options) => {
    const address = addressOf(url)
    return fetch(address === undefined ? url : `${origin}/${address.host}${address.path}`, options)
  }

interface ProviderAddress {
  readonly host: string
  readonly path: string
}

const PROVIDER_ADDRESS = /^https?:\/\/([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d{1,5})?(\/[^#]*)?(?:#.*)?$/
const IP_V4 = /^\d+\.\d+\.\d+\.\d+$/

/** Undefined for localhost and numbers, which are no provider's. */
const addressOf = (url: string): ProviderAddress | undefined => {
  const [, host, path = '/'] = PROVIDER_ADDRESS.exec(url) ?? []
  return host === undefined || IP_V4.test(host) ? undefined : { host: host.toLowerCase(), path }
}

/** As every platform's io, in bytes. */
const MAX_REPLY = 16 * 1024 * 1024

const fetchFromProvider = async (
  providers: FakeProviders,
  { host, path }: ProviderAddress,
  options: FetchOptions
): Promise<FetchReply> => {
  const { method = 'GET', headers = {}, maxReplyBytes = MAX_REPLY } = options
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const body = sentBody(options)
  const request = { method: method.toUpperCase(), path, headers: Object.fromEntries(named), body }
  const reply = await providers.handle(host, request)
  if (utf8.decode(reply.body).length > maxReplyBytes) {
    const source = `${host}${path.replace(/\?.*/s, '')}`
    throw new WalletError('REPLY_TOO_LARGE', { source, limit: maxReplyBytes })
  }
  return fetchedReply(reply, options)
}

/** The time of a fake world: that of its host, moved forward by what a user skipped. */
export interface WorldClock extends Clock {
  /** Milliseconds that the world is ahead of its host. */
  readonly offset: number
  /** Skips time, as for a two-factor reset. Timers are not moved. */
  skip(milliseconds: number): void
}

/** Makes the clock of a world. `onSkip` gets the new offset. */
export const makeWorldClock = (
  base: Clock,
  { offset = 0, onSkip }: { readonly offset?: number; readonly onSkip?: (offset: number) => void } = {}
): WorldClock => {
  let ahead = offset
  return {
    get offset() {
      return ahead
    },
    now: () => base.now() + ahead,
    monotonic: () => base.monotonic(),
    after: (delayMs, task) => base.after(delayMs, task),
    turn: () => base.turn(),
    skip(milliseconds) {
      if (!Number.isFinite(milliseconds) || milliseconds < 0) throw new RangeError('Time only goes forward')
      ahead += milliseconds
      onSkip?.(ahead)
    }
  }
}
