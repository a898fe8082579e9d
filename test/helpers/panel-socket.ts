import { WebSocket } from 'ws'
import { type DevtoolsClient, makeClient } from '../../devtools/core/client/client.ts'
import { connectSocket, type SocketOptions } from '../../devtools/core/client/socket.ts'
import { SOCKET_PATH } from '../../devtools/core/protocol/server-paths.ts'

/** A panel without a page: its client, and what came over its sockets. */
export interface PanelOverSocket {
  readonly client: DevtoolsClient
  /** The newest one last. */
  readonly sockets: readonly WebSocket[]
  /** Every frame that was sent to it, as text. */
  readonly frames: readonly string[]
}

/**
 * Opens the socket as the page would whose address this is: with the origin of the page, and the token of its fragment.
 *
 * `later`: when a lost socket is tried again; after its pause if left out.
 */
export const openPanel = (url: string, options: Pick<SocketOptions, 'later'> = {}): PanelOverSocket => {
  const { host, origin, hash } = new URL(url)
  const sockets: WebSocket[] = []
  const frames: string[] = []
  const channel = connectSocket({
    ...options,
    url: `ws://${host}${SOCKET_PATH}`,
    token: hash.replace(/^#token=/, ''),
    makeWebSocket(address, protocols) {
      const socket = new WebSocket(address, protocols, { origin })
      socket.on('message', data => frames.push(data.toString()))
      sockets.push(socket)
      return socket
    }
  })
  return { client: makeClient(channel), sockets, frames }
}
