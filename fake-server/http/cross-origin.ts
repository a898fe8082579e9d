import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Lets the pages of this machine read the replies of a fake server (Fetch standard, CORS), so that a web wallet can be tried
 * against it from its own development server. Pages from anywhere else cannot.
 *
 * @returns true for the question of a browser whether it may ask, which is answered
 */
export const answerOrigin = ({ method, headers }: IncomingMessage, response: ServerResponse): boolean => {
  const { origin } = headers
  response.setHeader('vary', 'origin')
  if (origin === undefined || !isOfThisMachine(origin)) return false
  response.setHeader('access-control-allow-origin', origin)
  const asked = headers['access-control-request-method']
  if (method !== 'OPTIONS' || asked === undefined) return false
  response
    .writeHead(204, {
      'access-control-allow-methods': asked,
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
