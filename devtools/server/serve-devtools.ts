import { randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { tryJsonText } from '../../kernel/index.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../core/protocol/protocol.ts'
import {
  bearerOf,
  RECORDING_FILE_PATH,
  RECORDING_PAGE_PATH,
  SOCKET_PATH,
  SOCKET_PROTOCOL,
  tokenProtocolOf
} from '../core/protocol/server-paths.ts'
import { PAGE_PATH, type PanelFiles } from './panel-files.ts'

/** Options of the server. */
export interface DevtoolsServerOptions {
  /** Joins a panel to the kernel until the returned function is called. Without it no socket opens. */
  readonly attach?: (channel: HostChannel) => () => void
  /** Gives the bytes of a recording, maybe compressed, to each page that comes; it shows them in place of a kernel. */
  readonly recording?: () => Uint8Array
  readonly files: PanelFiles
  /** Any free port if left out or 0. */
  readonly port?: number
  /** Calls a function every so many milliseconds until the returned one is called; `setInterval` if left out. */
  readonly every?: (milliseconds: number, beat: () => void) => () => void
}

/** A server of the panel that runs. */
export interface DevtoolsServer {
  readonly port: number
  /** The address of the page, with the token in the fragment, which browsers send nowhere. A secret. */
  readonly url: string
  /** 32 random bytes in base64url: whoever has it drives the wallet, or reads the recording. */
  readonly token: string
  /** Notifies the panels of the end, cuts off those that do not agree, and stops listening. */
  close(): Promise<void>
}

/** The number of panels that may be open at a time. */
export const MAX_CLIENTS = 8
/** The longest message that a panel may send, in bytes. */
export const MAX_MESSAGE = 64_000

/**
 * Serves the panel on 127.0.0.1: its files over HTTP, and the kernel over a WebSocket (ecosystem 2.4).
 *
 * The socket opens for our own page with our token only; everything else is refused with 403 and without a word. A
 * recording is sent to who brings the token, too.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen there
 */
export const serveDevtools = async ({
  attach,
  recording,
  files,
  port: wanted = 0,
  every = everyInterval
}: DevtoolsServerOptions): Promise<DevtoolsServer> => {
  const token = randomBytes(32).toString('base64url')
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: MAX_MESSAGE,
    // It would take memory that a stranger chooses.
    perMessageDeflate: false,
    // Never the token, which is the other one on offer.
    handleProtocols: () => SOCKET_PROTOCOL
  })
  let port = wanted
  const http = createServer((request, response) =>
    answer(request, response, { files, recording, token, port })
  )
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (
      attach === undefined ||
      request.url !== SOCKET_PATH ||
      !isOwnUpgrade(request.headers, { port, token })
    ) {
      // Whoever is refused may keep their half open for ever, and the end of the server would wait for it.
      return void socket.end(REFUSAL, () => socket.destroy())
    }
    sockets.handleUpgrade(request, socket, head, client => admit(client, sockets, attach))
  })
  port = await listen(http, wanted)
  const stopBeating = every(PING_MS, () => pingClients(sockets.clients))
  return {
    port,
    token,
    url: `http://127.0.0.1:${port}${recording === undefined ? PAGE_PATH : RECORDING_PAGE_PATH}#token=${token}`,
    async close() {
      stopBeating()
      await closeSockets(sockets)
      await new Promise<void>(resolve => {
        http.close(() => resolve())
        http.closeAllConnections()
      })
    }
  }
}

/** The time between two pings of a panel, in milliseconds. */
const PING_MS = 15_000
/** The time that a panel has to agree to the end, in milliseconds. */
const FAREWELL_MS = 500
const REFUSAL = 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

interface Served extends Pick<DevtoolsServer, 'port' | 'token'> {
  readonly files: PanelFiles
  readonly recording: DevtoolsServerOptions['recording'] | undefined
}

const answer = (request: IncomingMessage, response: ServerResponse, served: Served): void => {
  const host = ownHostOf(request.headers, served.port)
  if (host === undefined) {
    // To a stranger not even what this is.
    response.writeHead(403, { connection: 'close' }).end()
    return
  }
  const { status, body, contentType = 'text/plain; charset=utf-8', more } = replyTo(request, served)
  response.writeHead(status, {
    ...pageHeaders(served.recording === undefined ? `ws://${host}` : "'self'"),
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...more
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

interface PageReply {
  readonly status: number
  readonly body: Uint8Array | string
  readonly contentType?: string
  readonly more?: Readonly<Record<string, string>>
}

const replyTo = (request: IncomingMessage, { files, recording, token }: Served): PageReply => {
  const { method, url = '', headers } = request
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, body: 'Only GET and HEAD.\n', more: { allow: 'GET, HEAD', connection: 'close' } }
  }
  if (files.size === 0) {
    return { status: 503, body: 'The panel has not been built. Run: npm run build\n' }
  }
  const [path = ''] = url.split('?')
  if (recording !== undefined && path === RECORDING_FILE_PATH) {
    if (!isOwnReader(headers, token)) return { status: 403, body: 'The token is missing or wrong.\n' }
    return { status: 200, body: recording(), contentType: 'application/x-ndjson' }
  }
  const isRecordingPage = recording !== undefined && path === RECORDING_PAGE_PATH
  const file = files.get(isRecordingPage ? PAGE_PATH : path)
  return file === undefined ? { status: 404, body: 'There is no such file.\n' } : { status: 200, ...file }
}

const admit = (
  client: WebSocket,
  sockets: WebSocketServer,
  attach: NonNullable<DevtoolsServerOptions['attach']>
): void => {
  // `close` follows and handles the end.
  client.on('error', () => client.terminate())
  if (sockets.clients.size > MAX_CLIENTS) {
    client.close(closeCodes.tryLater, 'too many panels')
    return
  }
  responsive.add(client)
  client.on('pong', () => responsive.add(client))
  const detach = attach(makeHostChannel(client))
  client.once('close', detach)
}

/** Those that have answered since the last beat. */
const responsive = new WeakSet<WebSocket>()

/** Cuts off who did not answer the last ping: a laptop that sleeps, a page that hangs. */
const pingClients = (clients: ReadonlySet<WebSocket>): void => {
  for (const client of clients) {
    if (!responsive.delete(client)) client.terminate()
    else client.ping()
  }
}

const everyInterval = (milliseconds: number, call: () => void): (() => void) => {
  const timer = setInterval(call, milliseconds)
  timer.unref()
  return () => clearInterval(timer)
}

const closeSockets = async (sockets: WebSocketServer): Promise<void> => {
  for (const client of sockets.clients) client.close(closeCodes.goingAway, 'the wallet has ended')
  const cut = setTimeout(() => {
    for (const client of sockets.clients) client.terminate()
  }, FAREWELL_MS)
  await new Promise<void>(resolve => sockets.close(() => resolve()))
  clearTimeout(cut)
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })

/**
 * The `Host` of a request, if it names this server: `127.0.0.1:port` or `localhost:port`.
 *
 * A page of a stranger whose name was made to lead here has that name in it (DNS rebinding).
 */
const ownHostOf = ({ host }: IncomingHttpHeaders, port: number): string | undefined =>
  host === `127.0.0.1:${port}` || host === `localhost:${port}` ? host : undefined

/**
 * Returns true if our own page asks for the WebSocket with our token: the `Host` is ours, the `Origin` is the page of that
 * host, and the offered subprotocols hold the token (ecosystem 2.4).
 *
 * Every comparison is made each time, and that of the token takes the same time for every token of its length.
 */
const isOwnUpgrade = (
  headers: IncomingHttpHeaders,
  { port, token }: { readonly port: number; readonly token: string }
): boolean => {
  const host = ownHostOf(headers, port)
  const isOurPage = host !== undefined && headers.origin === `http://${host}`
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map(text => text.trim())
  const [protocol = '', proof = '', ...more] = offered
  const hasToken = isSameText(proof, tokenProtocolOf(token))
  return isOurPage && protocol === SOCKET_PROTOCOL && hasToken && more.length === 0
}

/**
 * Returns true if a request has our token as its bearer. The comparison takes the same time for every token of its
 * length.
 */
const isOwnReader = ({ authorization = '' }: IncomingHttpHeaders, token: string): boolean =>
  isSameText(authorization, bearerOf(token))

const isSameText = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * The headers of every answer: what the page may do, and who may read it.
 *
 * No inline script, no `eval`, no other origin, no frame around it, and no text that becomes markup (Trusted Types, for
 * which the panel needs no policy). Styles that a script sets through the CSSOM are allowed by the standard.
 *
 * @param source - where the page may connect to: `ws://` and the host as {@link ownHostOf} gave it, since a WebSocket on
 *   the same port counts as another origin in old browsers; or `'self'`
 */
const pageHeaders = (source: string): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${source}`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store'
})

/** The kernel's end of a socket. */
export interface HostChannel extends PanelChannel<HostMessage, ClientMessage> {
  /** The panel reads slower than we write: events are to be sampled until it has caught up. */
  isSlow(): boolean
}

/** The number of unread bytes from which a panel counts as slow. */
export const SLOW_BYTES = 1_000_000
/** The number of unread bytes from which a panel is cut off. */
export const CUT_BYTES = 16_000_000

/** Codes of the WebSocket standard (RFC 6455 §7.4.1). */
export const closeCodes = { goingAway: 1001, textOnly: 1003, policy: 1008, tryLater: 1013 } as const

/**
 * Makes a channel of a socket that was let in: JSON text, one message a frame.
 *
 * A frame that is not JSON ends it with 1008, a binary one with 1003. A panel that leaves {@link CUT_BYTES} unread
 * is cut off, so that it costs no memory without bound.
 */
export const makeHostChannel = (socket: WebSocket): HostChannel => {
  // Data after a bad frame is ignored, although the other side does not know of the end yet.
  let isOver = false
  const end = (code: number, reason: string): void => {
    isOver = true
    socket.close(code, reason)
  }
  return {
    send(message) {
      if (isOver || socket.readyState !== socket.OPEN) return
      // What was unread before counts: the tables of many wallets are larger alone, and a panel that was cut off for
      // them would come back and ask for them again.
      if (socket.bufferedAmount > CUT_BYTES) socket.terminate()
      else socket.send(JSON.stringify(message))
    },
    onMessage(listener) {
      socket.on('message', (data, isBinary) => {
        if (isOver) return
        if (isBinary) return end(closeCodes.textOnly, 'text only')
        const message = tryJsonText(data.toString())
        if (message === undefined) end(closeCodes.policy, 'not JSON')
        // Which message it is, if it is any, is looked at by whoever is attached.
        else listener(message as ClientMessage)
      })
    },
    onClose(listener) {
      socket.once('close', listener)
    },
    close: () => end(closeCodes.goingAway, ''),
    isSlow: () => socket.bufferedAmount > SLOW_BYTES
  }
}
