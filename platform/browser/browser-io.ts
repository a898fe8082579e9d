import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { Io } from '../../kernel/io/io.ts'
import { browserClock } from './browser-clock.ts'
import { makeBrowserFetch } from './browser-fetch.ts'
import { browserRandom } from './browser-random.ts'
import { makeCrossOriginFetch } from './cross-origin-fetch.ts'
import { openWebSocket } from './web-socket.ts'

/** What may differ from the defaults of {@link makeBrowserIo}. */
export interface BrowserIoOptions {
  /** The largest body or message that is held, in bytes. Default 16 MB (architecture decision 18). */
  readonly maxReplyBytes?: number
  /** Where cross-origin requests go that the browser does not allow. Default: the four of protocol §2.12. */
  readonly proxies?: readonly string[]
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

/** Makes the io of a web page: crypto in JavaScript, the browser's clock, randomness, HTTP and WebSocket, no TCP. */
export const makeBrowserIo = (options: BrowserIoOptions = {}): BrowserIo => {
  const { maxReplyBytes = 16 * 1024 * 1024, proxies = PROXIES } = options
  const fetch = makeBrowserFetch(maxReplyBytes)
  return {
    // WebCrypto answers later, and a box is opened at once.
    crypto: makeNobleCrypto(browserClock),
    clock: browserClock,
    random: browserRandom,
    fetch,
    fetchCrossOrigin: makeCrossOriginFetch({ fetch, clock: browserClock, random: browserRandom, proxies }),
    webSocket: (url, handlers) => openWebSocket(url, handlers, maxReplyBytes)
  }
}

const PROXIES = [1, 2, 3, 4].map(count => `https://cors${count}.edge.app`)
