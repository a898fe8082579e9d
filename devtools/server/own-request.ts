import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { bearerOf } from '../core/recording-path.ts'
import { SOCKET_PROTOCOL, tokenProtocolOf } from '../core/socket-protocol.ts'

/**
 * The `Host` of a request, if it names this server: `127.0.0.1:port` or `localhost:port`.
 *
 * A page of a stranger whose name was made to lead here has that name in it (DNS rebinding).
 */
export const ownHostOf = ({ host }: IncomingHttpHeaders, port: number): string | undefined =>
  host === `127.0.0.1:${port}` || host === `localhost:${port}` ? host : undefined

/**
 * Whether a WebSocket is asked for by our own page with our token: the `Host` is ours, the `Origin` is the page of that
 * host, and the offered subprotocols hold the token (ecosystem 2.4).
 *
 * Every comparison is made each time, and that of the token takes the same time for every token of its length.
 */
export const isOwnUpgrade = (
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

/** Whether a request brings our token as its bearer's. The comparison takes the same time for every token of its length. */
export const isOwnReader = ({ authorization = '' }: IncomingHttpHeaders, token: string): boolean =>
  isSameText(authorization, bearerOf(token))

const isSameText = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}
