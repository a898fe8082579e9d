import { randomFillSync } from 'node:crypto'
import type { Clock, Io } from '../../kernel/io/io.ts'
import { chooseCrypto } from './choose-crypto.ts'
import { connectTcp } from './connect-tcp.ts'
import { makeNodeFetch } from './fetch.ts'
import { openNodeWebSocket } from './node-web-socket.ts'

/** Options of {@link makeNodeIo}. */
export interface NodeIoOptions {
  /** `noble` forces the JavaScript crypto; `native`, the default, takes it only if Node's fails its self-test. */
  readonly crypto?: 'native' | 'noble'
  /** The largest body, message or backlog that is held, in bytes. Default 16 MB (architecture decision 18). */
  readonly maxReplyBytes?: number
}

/** Makes the io of Node: native crypto, the system's clock and randomness, HTTP, TCP, TLS and WebSocket. */
export const makeNodeIo = (options: NodeIoOptions = {}): Io => {
  const { crypto = 'native', maxReplyBytes = 16 * 1024 * 1024 } = options
  return {
    crypto: chooseCrypto(crypto, nodeClock),
    clock: nodeClock,
    random: makeNodeRandom(),
    fetch: makeNodeFetch(maxReplyBytes),
    connect: (address, handlers) => connectTcp(address, handlers, maxReplyBytes),
    webSocket: (url, handlers) => openNodeWebSocket(url, handlers, maxReplyBytes)
  }
}

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
