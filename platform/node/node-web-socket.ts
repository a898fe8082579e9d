import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { onAbort } from '../../kernel/base/deadline.ts'
import type { AbortSignalLike, Channel, ChannelHandlers } from '../../kernel/io/io.ts'

/** Options of {@link openNodeWebSocket}. */
export interface WebSocketLimits {
  /** The largest message, and the most that a peer may leave unread. */
  readonly maxBytes: number
  readonly openLimitMs: number
  /** Ends the attempt to open it. */
  readonly signal?: AbortSignalLike | undefined
}

/**
 * Opens a WebSocket that carries text messages; `Io.webSocket` of Node.
 *
 * Takes the connection from `open`, and rejects if it is not open in time. A message larger than `maxBytes`, and a peer that leaves more than
 * `maxBytes` unread, close it with an error. Follows no redirect. Compression is off: it would defeat the limit.
 */
export const openNodeWebSocket = async (
  url: string,
  handlers: ChannelHandlers,
  { maxBytes, openLimitMs, signal, open }: WebSocketLimits & { open(url: URL): Promise<Socket> }
): Promise<Channel> => {
  const { WebSocket } = await import('ws')
  // Before the request, so that a refused certificate is the error.
  const connection = await open(new URL(url))
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      createConnection: () => connection,
      handshakeTimeout: openLimitMs,
      maxPayload: maxBytes,
      perMessageDeflate: false
    })
    const channel = channelOf(socket, handlers, maxBytes)
    let release = (): void => undefined
    const refuse = (error: Error): void => {
      release()
      reject(error)
    }
    socket.once('error', refuse)
    release = onAbort(signal, error => {
      reject(error)
      socket.terminate()
      connection.destroy()
    })
    socket.once('open', () => {
      release()
      socket.removeListener('error', refuse)
      resolve(channel)
    })
  })
}

const channelOf = (socket: WebSocket, handlers: ChannelHandlers, maxBytes: number): Channel => {
  let failure: Error | undefined
  let isOpen = false
  let isClosing = false
  socket.on('open', () => {
    isOpen = true
  })
  socket.on('message', data => {
    if (!isClosing) handlers.onText(textOf(data))
  })
  socket.on('error', error => {
    failure ??= error
  })
  socket.on('close', () => {
    if (isOpen) handlers.onClose(failure)
  })
  return {
    send: text => {
      if (isClosing || socket.readyState !== socket.OPEN) return
      socket.send(text, ignoreFailure)
      if (socket.bufferedAmount <= maxBytes) return
      failure = new Error('The peer does not read')
      socket.terminate()
    },
    close: () => {
      isClosing = true
      socket.close()
      setTimeout(() => socket.terminate(), CLOSE_LIMIT_MS).unref()
    }
  }
}

/** The time that a peer has to confirm the end. */
const CLOSE_LIMIT_MS = 1000

/** `onClose` notifies the owner. */
const ignoreFailure = (): void => undefined

const textOf = (data: RawData): string => {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8')
}
