import { randomBytes, randomFillSync } from 'node:crypto'
import type { Socket } from 'node:net'
import { compact } from '../../kernel/base/compact.ts'
import type { Channel, ChannelHandlers, Clock, Io } from '../../kernel/io/io.ts'
import type { CertificateStore } from './certificates.ts'
import { chooseCrypto } from './choose-crypto.ts'
import { makeNodeFetch } from './fetch.ts'
import { openNodeWebSocket } from './node-web-socket.ts'
import { addressOf, makeSockets, type SocksProxy } from './open-socket.ts'

/** Options of {@link makeNodeIo}. */
export interface NodeIoOptions {
  /** `noble` forces the JavaScript crypto; `native`, the default, takes it only if Node's fails its self-test. */
  readonly crypto?: 'native' | 'noble'
  /** The largest body, message or backlog that is held, in bytes. Default 16 MB (architecture decision 18). */
  readonly maxReplyBytes?: number
  /** A SOCKS5 proxy for every connection; none is made without it, and no name is looked up but the proxy's own. */
  readonly proxy?: SocksProxy
  /**
   * Pins the self-signed certificates of servers that `connect` and `webSocket` reach, and keeps those that were pinned. Without it
   * a self-signed certificate is refused. Requests of `fetch` take certificates of authorities only.
   */
  readonly certificates?: CertificateStore
  /**
   * The login for requests of `fetch` to an origin, as `user:password`; undefined for none. It is called for each request, since
   * nodes write a new one at each start, and what asks never sees it.
   */
  readonly loginOf?: (origin: string) => string | undefined
}

/** Makes the io of Node: native crypto, the system's clock and randomness, HTTP, TCP, TLS and WebSocket. */
export const makeNodeIo = (options: NodeIoOptions = {}): Io => {
  const { crypto = 'native', maxReplyBytes = 16 * 1024 * 1024, proxy, certificates, loginOf } = options
  const sockets = makeSockets(proxy, randomBytes(8).toString('hex'))
  const openUrl = (url: URL, circuit?: string): Promise<Socket> => sockets.open(addressOf(url, circuit))
  const limits = { maxBytes: maxReplyBytes, openLimitMs: sockets.isProxied ? 90_000 : 30_000 }
  return {
    crypto: chooseCrypto(crypto, nodeClock),
    clock: nodeClock,
    random: makeNodeRandom(),
    fetch: withLogins(makeNodeFetch(maxReplyBytes, sockets.isProxied ? openUrl : undefined), loginOf),
    connect: async (address, handlers, { signal } = {}) =>
      textChannel(await sockets.open(address, { certificates, signal }), handlers, maxReplyBytes),
    webSocket: (url, handlers, { circuit, signal } = {}) =>
      openNodeWebSocket(url, handlers, {
        ...{ ...limits, signal },
        open: target => sockets.open(addressOf(target, circuit), { certificates, signal })
      }),
    ...compact({ isProxied: sockets.isProxied ? true : undefined })
  }
}

/** Adds logins to requests (RFC 7617). Redirects stay at their origin, so that no other one gets a login. */
const withLogins = (fetch: Io['fetch'], loginOf: NodeIoOptions['loginOf']): Io['fetch'] => {
  if (loginOf === undefined) return fetch
  return async (url, options = {}) => {
    const login = options.withLogin === true && URL.canParse(url) ? loginOf(new URL(url).origin) : undefined
    if (login === undefined) return fetch(url, options)
    const authorization = `Basic ${Buffer.from(login).toString('base64')}`
    return fetch(url, { ...options, headers: { ...options.headers, authorization } })
  }
}

/**
 * Makes a connection that carries UTF-8 text of an open socket; `Io.connect` of Node.
 *
 * A peer that reads so slowly that more than `maxBacklog` bytes wait is closed with an error.
 */
const textChannel = (socket: Socket, handlers: ChannelHandlers, maxBacklog: number): Channel => {
  socket.setNoDelay(true)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  return channelOf(socket, handlers, maxBacklog)
}

const KEEP_ALIVE_MS = 60_000

const channelOf = (socket: Socket, handlers: ChannelHandlers, maxBacklog: number): Channel => {
  let failure: Error | undefined
  let isClosing = false
  socket.setEncoding('utf8')
  socket.on('data', (text: Buffer | string) => {
    if (!isClosing) handlers.onText(String(text))
  })
  socket.on('error', error => {
    failure = error
  })
  socket.on('close', () => handlers.onClose(failure))
  return {
    send: text => {
      if (isClosing || !socket.writable) return
      socket.write(text)
      if (socket.writableLength > maxBacklog) socket.destroy(new Error('The peer does not read'))
    },
    close: () => {
      isClosing = true
      socket.end()
      setTimeout(() => socket.destroy(), CLOSE_LIMIT_MS).unref()
    }
  }
}

/** The time that a peer has to confirm the end. */
const CLOSE_LIMIT_MS = 1000

/** The clock of the process. Its timers are unref'ed: a program ends although they wait. */
const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, task) => {
    let timer: NodeJS.Timeout
    const wait = (restMs: number): void => {
      const stepMs = Math.min(Math.max(restMs, 0), MAX_TIMER_MS)
      const isLast = restMs <= MAX_TIMER_MS
      timer = setTimeout(() => (isLast ? task() : wait(restMs - stepMs)), stepMs)
      timer.unref()
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turn: () => new Promise(resolve => setImmediate(resolve))
}

/** Node fires at once when asked to wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Makes the source of random bytes: the system's generator, drawn a few kilobytes at a time.
 *
 * Bytes handed out are overwritten in the pool, so no key can be read there later.
 */
const makeNodeRandom = (): ((count: number) => Uint8Array) => {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  return count => {
    if (count > POOL_BYTES / 8) return randomFillSync(new Uint8Array(count))
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + count)
    pool.fill(0, used, used + count)
    used += count
    return bytes
  }
}

const POOL_BYTES = 4096
