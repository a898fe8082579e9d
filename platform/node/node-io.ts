import type { Io } from '../../kernel/io/io.ts'
import { chooseCrypto } from './choose-crypto.ts'
import { connectTcp } from './connect-tcp.ts'
import { makeNodeFetch } from './fetch.ts'
import { nodeClock } from './node-clock.ts'
import { makeNodeRandom } from './node-random.ts'
import { openWebSocket } from './web-socket.ts'

/** What may differ from the defaults of {@link makeNodeIo}. */
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
    crypto: chooseCrypto(crypto),
    clock: nodeClock,
    random: makeNodeRandom(),
    fetch: makeNodeFetch(maxReplyBytes),
    connect: (address, handlers) => connectTcp(address, handlers, maxReplyBytes),
    webSocket: (url, handlers) => openWebSocket(url, handlers, maxReplyBytes)
  }
}
