import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ServedChain } from '../electrum/methods.ts'
import { DEFAULT_LIMITS, makeElectrumSession } from '../electrum/session.ts'
import {
  type ConnectionOptions,
  type ElectrumListener,
  type ElectrumServerOptions,
  MAX_UNSENT,
  sendSaved
} from './electrum-tcp.ts'

/**
 * Serves a chain over WebSocket: one JSON-RPC message a frame, without a newline.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen there
 */
export const serveElectrumWebSocket = async (
  chain: ServedChain,
  { host = '127.0.0.1', port = 0, limits = {}, saved }: ElectrumServerOptions = {}
): Promise<ElectrumListener> => {
  const http = createServer((_request, response) =>
    response.writeHead(426).end('This is a WebSocket server.\n')
  )
  const maxPayload = limits.maxMessage ?? DEFAULT_LIMITS.maxMessage
  const server = new WebSocketServer({ server: http, maxPayload, perMessageDeflate: false })
  let isReachable = true
  server.on('connection', socket => {
    if (isReachable) serveSocket(chain, socket, { limits, saved })
    else socket.terminate()
  })
  // The same failure reaches `http`, where it is answered.
  server.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, () => resolve(void http.off('error', reject)))
  })
  const address = http.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    host,
    port: bound,
    url: `ws://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    setOnline(isOnline) {
      isReachable = isOnline
      if (!isOnline) for (const socket of server.clients) socket.terminate()
    },
    close: () =>
      new Promise(resolve => {
        for (const socket of server.clients) socket.terminate()
        server.close(() => {
          http.close(() => resolve())
          http.closeAllConnections()
        })
      })
  }
}

const serveSocket = (chain: ServedChain, socket: WebSocket, { limits, saved }: ConnectionOptions): void => {
  const write = (message: string): void => {
    if (socket.bufferedAmount > MAX_UNSENT) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.send(message)
  }
  const send = sendSaved(saved, write, () => socket.terminate())
  const session = makeElectrumSession(chain, send, limits)
  socket.on('message', (data, isBinary) => {
    if (isBinary) socket.close(1003, 'text only')
    else session.receive(data.toString())
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => session.close())
}
