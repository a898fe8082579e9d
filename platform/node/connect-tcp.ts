import type { Socket } from 'node:net'
import { compact } from '../../kernel/base/compact.ts'
import type { Channel, ChannelHandlers, TcpAddress } from '../../kernel/io/io.ts'

/**
 * Opens a TCP or TLS connection that carries UTF-8 text; `Io.connect` of Node.
 *
 * Rejects if it is not open within 30 seconds. A peer that reads so slowly that more than `maxBacklog` bytes wait
 * is closed with an error. TLS certificates are verified against the system's authorities.
 */
export const connectTcp = async (
  { host, port, isTls }: TcpAddress,
  handlers: ChannelHandlers,
  maxBacklog: number
): Promise<Channel> => {
  const start = await starterOf(isTls)
  return new Promise((resolve, reject) => {
    const socket = start(host, port)
    const refuse = (error: Error): void => reject(error)
    const limit = setTimeout(() => socket.destroy(new Error('The connection took too long')), OPEN_LIMIT_MS)
    socket.once('close', () => clearTimeout(limit))
    socket.once('error', refuse)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(limit)
      socket.removeListener('error', refuse)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      resolve(channelOf(socket, handlers, maxBacklog))
    })
  })
}

const OPEN_LIMIT_MS = 30_000
const KEEP_ALIVE_MS = 60_000

/** Loaded when first used. A certificate is asked for by name; addresses have none. */
const starterOf = async (isTls: boolean): Promise<(host: string, port: number) => Socket> => {
  const net = await import('node:net')
  if (!isTls) return (host, port) => net.connect({ host, port })
  const tls = await import('node:tls')
  return (host, port) =>
    tls.connect({ host, port, ...compact({ servername: net.isIP(host) === 0 ? host : undefined }) })
}

const channelOf = (socket: Socket, handlers: ChannelHandlers, maxBacklog: number): Channel => {
  let failure: Error | undefined
  let isClosing = false
  socket.setEncoding('utf8')
  socket.on('data', (text: Buffer | string) => {
    if (!isClosing) handlers.onText(String(text))
  })
  socket.on('error', error => {
    failure = error
  })
  socket.on('close', () => handlers.onClose(failure))
  return {
    send: text => {
      if (isClosing || !socket.writable) return
      socket.write(text)
      if (socket.writableLength > maxBacklog) socket.destroy(new Error('The peer does not read'))
    },
    close: () => {
      isClosing = true
      socket.end()
      setTimeout(() => socket.destroy(), CLOSE_LIMIT_MS).unref()
    }
  }
}

/** The time that a peer has to confirm the end. */
const CLOSE_LIMIT_MS = 1000
