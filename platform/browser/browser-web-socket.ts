import { onAbort } from '../../kernel/base/deadline.ts'
import type { AbortSignalLike, Channel, ChannelHandlers } from '../../kernel/io/io.ts'

/**
 * Opens a WebSocket that carries text messages; `Io.webSocket` of a web page.
 *
 * Rejects if it is not open within 30 seconds, and when the signal aborts before. A message of more than `maxBytes` characters, one that is no text, and
 * a peer that leaves more than `maxBytes` unread, close it with an error.
 */
export const openBrowserWebSocket = (
  url: string,
  handlers: ChannelHandlers,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignalLike | undefined }
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const socket = new page.WebSocket(url)
    let isOpen = false
    let isClosing = false
    let failure: Error | undefined
    const end = (error: Error): void => {
      failure ??= error
      socket.close()
    }
    const giveUp = (error: Error): void => {
      reject(error)
      end(error)
    }
    const limit = setTimeout(() => giveUp(new Error('The connection took too long')), OPEN_LIMIT_MS)
    const release = onAbort(signal, giveUp)
    const channel: Channel = {
      send: text => {
        if (isClosing || socket.readyState !== OPEN) return
        socket.send(text)
        if (socket.bufferedAmount > maxBytes) end(new Error('The peer does not read'))
      },
      close: () => {
        isClosing = true
        socket.close()
      }
    }
    socket.onopen = () => {
      clearTimeout(limit)
      release()
      isOpen = true
      resolve(channel)
    }
    socket.onmessage = ({ data }) => {
      if (isClosing || failure !== undefined) return
      if (typeof data !== 'string' || data.length > maxBytes)
        end(new Error('The message is too large, or no text'))
      else handlers.onText(data)
    }
    socket.onerror = () => {
      failure ??= new Error('The connection failed')
    }
    socket.onclose = () => {
      clearTimeout(limit)
      release()
      if (isOpen) handlers.onClose(failure)
      else reject(failure ?? new Error('The connection was refused'))
    }
  })

const OPEN_LIMIT_MS = 30_000
const OPEN = 1

/** The part of the browser's WebSocket that is used here; Node's types have none. */
interface WebSocketLike {
  readonly readyState: number
  readonly bufferedAmount: number
  onopen: () => void
  onmessage: (event: { readonly data: unknown }) => void
  onerror: () => void
  onclose: () => void
  send(text: string): void
  close(): void
}

const page = globalThis as unknown as { readonly WebSocket: new (url: string) => WebSocketLike }
