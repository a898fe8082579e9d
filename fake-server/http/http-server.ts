import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { compact } from '../../kernel/base/compact.ts'
import { type FakeReply, type FakeRequest, invalidRequest } from '../base/replies.ts'
import type { FakeProviders } from '../providers/fake-providers.ts'
import { type FakeServer, MAX_BODY } from '../routes/fake-server.ts'

/** Address and limits of an HTTP server. */
export interface HttpServerOptions {
  /** Loopback if left out. */
  readonly host?: string
  /** Any free port if left out or 0. */
  readonly port?: number
  /** Answer below `/<host>`, such as `/api.coinbase.com/v2/exchange-rates`. */
  readonly providers?: FakeProviders
}

/** A fake server that listens. */
export interface HttpServer {
  /** The origin, on `localhost` where that is true, so that the domain rule lets it pass: `http://localhost:4455`. */
  readonly url: string
  readonly port: number
  /** Ends all connections and stops listening. */
  close(): Promise<void>
}

/**
 * Serves the fake login, info and sync servers over real HTTP, on one port.
 *
 * `/v1/edgeServers` then lists this address, so that clients stay here (protocol §2.9). A request that gets no
 * answer from the server (offline, or a middleware threw) ends as a broken connection.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen there
 */
export const serveFakeServer = async (
  server: FakeServer,
  { host = '127.0.0.1', port = 0, providers }: HttpServerOptions = {}
): Promise<HttpServer> => {
  const answer = (request: FakeRequest): Promise<FakeReply> => {
    const [, provider = '', path = '/'] = PROVIDER_PATH.exec(request.path) ?? []
    if (providers?.serves(provider)) return providers.handle(provider, { ...request, path })
    return server.handle(request)
  }
  const http = createServer((request, response) => {
    if (answerOrigin(request, response)) return
    void respond(answer, request, response)
  })
  http.maxHeadersCount = 100
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => {
      http.off('error', reject)
      resolve()
    })
  })
  const address = http.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const url = `http://${nameOf(host)}:${bound}`
  const before = server.servers
  server.servers = { infoServers: [url], syncServers: [url] }
  return {
    url,
    port: bound,
    close: () =>
      new Promise(resolve => {
        server.servers = before
        http.close(() => resolve())
        http.closeAllConnections()
      })
  }
}

/** No path of the server itself begins with a name that has a dot. */
const PROVIDER_PATH = /^\/([a-z0-9-]+(?:\.[a-z0-9-]+)+)(\/.*)?$/

const nameOf = (host: string): string => {
  if (host === '127.0.0.1' || host === '::1' || host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const respond = async (
  answer: (request: FakeRequest) => Promise<FakeReply>,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> => {
  try {
    const body = await readBody(request)
    const reply =
      body === undefined
        ? { ...invalidRequest('the body is too large'), status: 413 }
        : await answer({
            method: request.method ?? 'GET',
            path: request.url ?? '/',
            headers: headersOf(request),
            body
          })
    const length = Buffer.byteLength(reply.body)
    if (body === undefined) response.setHeader('connection', 'close')
    response.writeHead(reply.status, {
      ...reply.headers,
      ...compact({ 'content-length': reply.status === 304 ? undefined : length }),
      'cache-control': 'no-store'
    })
    response.end(reply.body)
  } catch {
    request.socket.destroy()
  }
}

/** The text of the body; undefined if it is larger than allowed, and then the rest is not read. */
const readBody = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> => {
  const texts: [string, string][] = []
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string') texts.push([name, value])
  return Object.fromEntries(texts)
}

/**
 * Lets the pages of this machine read the replies of a fake server (Fetch standard, CORS), so that a web wallet can be tried
 * against it from its own development server. Pages from anywhere else cannot.
 *
 * @returns true for the question of a browser whether it may ask, which is answered
 */
const answerOrigin = ({ method, headers }: IncomingMessage, response: ServerResponse): boolean => {
  const { origin } = headers
  response.setHeader('vary', 'origin')
  if (origin === undefined || !isOfThisMachine(origin)) return false
  response.setHeader('access-control-allow-origin', origin)
  const requested = headers['access-control-request-method']
  if (method !== 'OPTIONS' || requested === undefined) return false
  response
    .writeHead(204, {
      'access-control-allow-methods': requested,
      'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
      'access-control-max-age': '600'
    })
    .end()
  return true
}

const isOfThisMachine = (origin: string): boolean => {
  const hostname = URL.canParse(origin) ? new URL(origin).hostname : ''
  return LOOPBACK.includes(hostname) || hostname.endsWith('.localhost')
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
