/// <reference lib="dom" />

import { compact } from '../../kernel/base/compact.ts'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { Clock, CryptoPort, Io } from '../../kernel/io/io.ts'
import { makeWebCrypto, makeWorkerScrypt } from './browser-crypto.ts'
import { makeBrowserFetch } from './browser-fetch.ts'
import { openBrowserWebSocket } from './browser-web-socket.ts'
import { makeCrossOriginFetch } from './cross-origin-fetch.ts'

/** Options of {@link makeBrowserIo}. */
export interface BrowserIoOptions {
  /** The largest body or message that is held, in bytes. Default 16 MB (architecture decision 18). */
  readonly maxReplyBytes?: number
  /** Proxies for cross-origin requests that the browser does not allow. Default: the four of protocol §2.12. */
  readonly proxies?: readonly string[]
  /**
   * Starts a Web Worker of the file `holdfast/browser/scrypt-worker`, which derives keys of passwords beside the page. Without
   * it the page does so in slices of 5 ms. The page starts it, since its address and its policy are the page's own.
   */
  readonly scryptWorker?: () => Worker
}

/** The io of a web page. */
export interface BrowserIo extends Io {
  /**
   * As `fetch`, but a server that this page may not ask is asked through a proxy (protocol §2.12).
   *
   * Proxies see the whole request, so it is for public data only; plain `fetch` never uses them.
   */
  readonly fetchCrossOrigin: Io['fetch']
}

/** Makes the io of a web page: its own crypto and that in JavaScript, the browser's clock, randomness, HTTP and WebSocket, no TCP. */
export const makeBrowserIo = (options: BrowserIoOptions = {}): BrowserIo => {
  const { maxReplyBytes = 16 * 1024 * 1024, proxies = PROXIES } = options
  const fetch = makeBrowserFetch(maxReplyBytes)
  return {
    crypto: cryptoOf(options),
    clock: browserClock,
    random: browserRandom,
    fetch,
    fetchCrossOrigin: makeCrossOriginFetch({ fetch, clock: browserClock, random: browserRandom, proxies }),
    webSocket: (url, handlers, { signal } = {}) =>
      openBrowserWebSocket(url, handlers, { maxBytes: maxReplyBytes, signal })
  }
}

const cryptoOf = ({ scryptWorker }: BrowserIoOptions): CryptoPort => {
  const noble = makeNobleCrypto(browserClock)
  // A page that came over plain HTTP has none, whatever its type says.
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined
  return {
    ...noble,
    ...compact({
      scrypt: scryptWorker === undefined ? undefined : makeWorkerScrypt(scryptWorker, noble.scrypt),
      async: subtle === undefined ? undefined : makeWebCrypto(subtle, noble)
    })
  }
}

const PROXIES = [1, 2, 3, 4].map(count => `https://cors${count}.edge.app`)

/** The clock of a web page. */
const browserClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, task) => {
    let timer: ReturnType<typeof setTimeout>
    const wait = (restMs: number): void => {
      const stepMs = Math.min(Math.max(restMs, 0), MAX_TIMER_MS)
      timer = setTimeout(() => (restMs <= MAX_TIMER_MS ? task() : wait(restMs - stepMs)), stepMs)
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turn: () =>
    // Timers of a page wait at least 4 ms when they follow each other; messages do not.
    new Promise(resolve => {
      const { port1, port2 } = new MessageChannel() as unknown as Channel
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(undefined)
    })
}

/** As the standard has it; Node's types lack the handler. */
interface Channel {
  readonly port1: { onmessage: () => void; close(): void }
  readonly port2: { postMessage(value: unknown): void }
}

/** Browsers fire at once when asked to wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Random bytes of the browser's generator, which gives 65,536 at a time. */
const browserRandom = (count: number): Uint8Array => {
  const bytes = new Uint8Array(count)
  for (let start = 0; start < count; start += MAX_DRAW) {
    globalThis.crypto.getRandomValues(bytes.subarray(start, start + MAX_DRAW))
  }
  return bytes
}

const MAX_DRAW = 65_536
