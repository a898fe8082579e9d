import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { compact } from '../../kernel/base/compact.ts'
import { WalletError } from '../../kernel/base/errors.ts'
import type { FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import { refuseOnion } from './open-socket.ts'

/**
 * Makes `Io.fetch` over Node's HTTP client, whose connections are kept for the next request.
 *
 * Through `open`, if it is given, instead of Node's own connections. Rejects with REPLY_TOO_LARGE as soon as a body passes `maxReplyBytes`, with an `AbortError` when the signal
 * fires, and with the system's error if there is no answer. Follows at most five redirects, none to another origin.
 */
export const makeNodeFetch = (maxReplyBytes: number, open?: OpenSocket): Io['fetch'] => {
  const clients = open === undefined ? directClients : makeClients(open)
  const send = async (url: URL, options: FetchOptions, redirects: number): Promise<FetchReply> => {
    const reply = await requestOnce(url, options, { maxReplyBytes, clients })
    const next = redirectOf(url, reply)
    if (next === undefined) return reply
    if (redirects === 0) throw new TypeError('The server redirects without end')
    return send(next, redirectedOptions(options, reply.status), redirects - 1)
  }
  return async (url, options = {}) => {
    const { bodyBytes } = options
    // A copy: the caller may go on writing into its own bytes.
    const own = bodyBytes === undefined ? options : { ...options, bodyBytes: Buffer.from(bodyBytes) }
    const target = parseUrl(url)
    if (open === undefined) refuseOnion(target.hostname)
    return send(target, own, MAX_REDIRECTS)
  }
}

const MAX_REDIRECTS = 5

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('This is no http or https address')
  }
  return url
}

/** Where a reply sends the client on, if that is the same origin; another origin's redirect is the answer itself. */
const redirectOf = (from: URL, { status, headers }: FetchReply): URL | undefined => {
  const { location } = headers
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  if (!URL.canParse(location, from.href)) return undefined
  const next = new URL(location, from)
  return next.origin === from.origin && next.username === '' && next.password === '' ? next : undefined
}

/** As the fetch standard: 303, and 301 or 302 after a POST, continue as GET without a body. */
const redirectedOptions = (options: FetchOptions, status: number): FetchOptions => {
  const isPost = options.method?.toUpperCase() === 'POST'
  if (status !== 303 && !(isPost && status < 303)) return options
  const { method: _, body: __, bodyBytes: ___, ...rest } = options
  return rest
}

const requestOnce = async (
  url: URL,
  options: FetchOptions,
  { maxReplyBytes, clients }: { readonly maxReplyBytes: number; readonly clients: Clients }
): Promise<FetchReply> => {
  const start = await clients(url.protocol, options.circuit)
  const limit = options.maxReplyBytes ?? maxReplyBytes
  const attempt = (): Promise<FetchReply> => exchange(start, { url, options, maxReplyBytes: limit })
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error
    return attempt()
  }
}

type StartRequest = (url: URL, options: RequestOptions) => ClientRequest

/** Opens the connection of a request. */
type OpenSocket = (url: URL, circuit: string | undefined) => Promise<Socket>

/** The clients of a protocol and a circuit. They are loaded when first used: most commands of the terminal need neither. */
type Clients = (protocol: string, circuit: string | undefined) => Promise<StartRequest>

const makeClients = (open?: OpenSocket): Clients => {
  const made = new Map<string, Promise<StartRequest>>()
  return (protocol, circuit) => {
    // Without a proxy there are no circuits, and a kept connection serves everyone.
    const key = open === undefined || circuit === undefined ? protocol : `${protocol} ${circuit}`
    const known = made.get(key)
    if (known !== undefined) return known
    const client = protocol === 'https:' ? import('node:https') : import('node:http')
    const start = client.then(({ Agent, request }): StartRequest => {
      // A resumed session of TLS shows no certificate.
      const agent = new Agent({ keepAlive: true, ...compact({ maxCachedSessions: open && 0 }) })
      dropIdle(agent)
      if (open !== undefined) connectBy(agent, protocol, url => open(url, circuit))
      return (url, options) => request(url, { ...options, agent })
    })
    made.set(key, start)
    const [oldest] = made.keys()
    if (made.size > MAX_CLIENTS && oldest !== undefined) made.delete(oldest)
    return start
  }
}

const directClients = makeClients()

/** Clients that are kept: a wallet has one or two, for as long as it is open. */
const MAX_CLIENTS = 200

interface Connecting {
  readonly host?: string
  readonly port?: number | string
}

/** Lets an agent of Node take its connections from here; it keeps them for later requests as before. */
const connectBy = (agent: object, protocol: string, open: (url: URL) => Promise<Socket>): void => {
  const createConnection = (
    { host = '', port }: Connecting,
    onOpen: (error: Error | null, socket?: Socket) => void
  ): void => {
    const name = host.includes(':') ? `[${host}]` : host
    open(new URL(`${protocol}//${name}${port === undefined ? '' : `:${port}`}`)).then(
      socket => onOpen(null, socket),
      error => onOpen(error instanceof Error ? error : new Error('The connection failed'))
    )
  }
  Object.assign(agent, { createConnection })
}

/** How long a connection may be kept that was used, by what its server said. */
const idleTimes = new WeakMap<Duplex, number>()

/** As of the server's `Keep-Alive: timeout=5`, a second less: what is sent when the server closes a connection gets no answer. */
const idleTimeOf = (hint: string): number => {
  const [, seconds] = /\btimeout=(\d{1,6})\b/.exec(hint) ?? []
  return seconds === undefined ? IDLE_MS : (Number(seconds) - 1) * 1000
}

/** Few servers close a connection sooner. */
const IDLE_MS = 4000

/** Lets an agent of Node close a connection that is kept before the server does. */
const dropIdle = (agent: Agent): void => {
  // Declared without its result: whether the connection is kept.
  const keepAlive = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean
  agent.keepSocketAlive = socket => {
    const idleMs = idleTimes.get(socket) ?? IDLE_MS
    if (idleMs <= 0 || !keepAlive(socket)) return false
    // The agent closes a kept connection at its timeout; in use, nobody listens to it.
    if ('setTimeout' in socket && typeof socket.setTimeout === 'function') socket.setTimeout(idleMs)
    return true
  }
}

/** The server had closed a kept connection before it saw this request, which is safe to repeat. */
class StaleConnection extends Error {}

interface Exchange {
  readonly url: URL
  readonly options: FetchOptions
  readonly maxReplyBytes: number
}

const exchange = (start: StartRequest, { url, options, maxReplyBytes }: Exchange): Promise<FetchReply> => {
  const { method = 'GET', headers = {}, bodyBytes, replyAs = 'text', signal } = options
  const body = bodyBytes ?? options.body
  const { isRepeatable = IDEMPOTENT.has(method.toUpperCase()) } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortError())
      return
    }
    // Without it, Node sends the body of a DELETE so that the server takes it for the next request.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const request = start(url, { method, headers: { ...headers, ...length } })
    const abort = (): void => fail(abortError())
    const settle = (): void => signal?.removeEventListener('abort', abort)
    const fail = (error: Error): void => {
      settle()
      reject(isRepeatable && isStale(request, error) ? new StaleConnection() : error)
      request.destroy()
    }
    signal?.addEventListener('abort', abort)
    request.on('error', fail)
    request.on('response', response => {
      idleTimes.set(response.socket, idleTimeOf(`${response.headers['keep-alive']}`))
      const source = `${url.host}${url.pathname}`
      readBody(response, { source, limit: maxReplyBytes }).then(chunks => {
        settle()
        const head = { status: response.statusCode ?? 0, headers: headersOf(response) }
        resolve(
          replyAs === 'bytes'
            ? { ...head, text: '', bytes: new Uint8Array(Buffer.concat(chunks)) }
            : { ...head, text: textOfReply(chunks) }
        )
      }, fail)
    })
    request.end(body)
  })
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])

const isStale = ({ reusedSocket }: ClientRequest, error: Error): boolean =>
  reusedSocket && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** By events: an async iterator costs as much again as the rest of a short reply. */
const readBody = (
  response: IncomingMessage,
  { source, limit }: { source: string; limit: number }
): Promise<readonly Buffer[]> =>
  new Promise<readonly Buffer[]>((resolve, reject) => {
    const refuse = (): void => reject(new WalletError('REPLY_TOO_LARGE', { source, limit }))
    if (Number(response.headers['content-length'] ?? 0) > limit) {
      refuse()
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) refuse()
      else chunks.push(chunk)
    })
    response.on('end', () => resolve(chunks))
    response.on('error', reject)
    // Of a connection that breaks off; after 'end' it changes nothing.
    response.on('close', () => reject(new Error('The reply ended too early')))
  })

const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

const abortError = (): Error => Object.assign(new Error('The request was aborted'), { name: 'AbortError' })

/** The text of a UTF-8 reply as the fetch standard reads it: no byte order mark, bad bytes replaced. */
const textOfReply = (chunks: readonly Buffer[]): string => {
  const text = Buffer.concat(chunks).toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
