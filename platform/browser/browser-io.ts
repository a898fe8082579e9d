/// <reference lib="dom" />
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { CryptoPort, Io } from '../../kernel/io/io.ts'
import { browserClock } from './browser-clock.ts'
import { makeBrowserFetch } from './browser-fetch.ts'
import { browserRandom } from './browser-random.ts'
import { makeCrossOriginFetch } from './cross-origin-fetch.ts'
import { makeWebCrypto } from './web-crypto.ts'
import { openWebSocket } from './web-socket.ts'
import { makeWorkerScrypt } from './worker-scrypt.ts'

/** What may differ from the defaults of {@link makeBrowserIo}. */
export interface BrowserIoOptions {
  /** The largest body or message that is held, in bytes. Default 16 MB (architecture decision 18). */
  readonly maxReplyBytes?: number
  /** Where cross-origin requests go that the browser does not allow. Default: the four of protocol §2.12. */
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
    webSocket: (url, handlers) => openWebSocket(url, handlers, maxReplyBytes)
  }
}

const cryptoOf = ({ scryptWorker }: BrowserIoOptions): CryptoPort => {
  const noble = makeNobleCrypto(browserClock)
  // A page that came over plain HTTP has none, whatever its type says.
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined
  return {
    ...noble,
    ...(scryptWorker === undefined ? {} : { scrypt: makeWorkerScrypt(scryptWorker, noble.scrypt) }),
    ...(subtle === undefined ? {} : { async: makeWebCrypto(subtle, noble) })
  }
}

const PROXIES = [1, 2, 3, 4].map(count => `https://cors${count}.edge.app`)
