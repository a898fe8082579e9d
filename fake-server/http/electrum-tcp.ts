import { createServer, type Server, type Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { makeLineReader } from '../electrum/connect.ts'
import { type ServerKind, serverKinds } from '../electrum/kinds.ts'
import type { ServedChain } from '../electrum/methods.ts'
import { DEFAULT_LIMITS, type ElectrumLimits, makeElectrumSession } from '../electrum/session.ts'

/** Address and limits of an Electrum server. */
export interface ElectrumServerOptions {
  /** Loopback if left out. */
  readonly host?: string
  /** Any free port if left out or 0. */
  readonly port?: number
  readonly limits?: Partial<ElectrumLimits>
  /** The kind of server that it is like; the fake one's own if left out. */
  readonly kind?: ServerKind
  /** Waits until all changes so far are durable; no reply is sent before, and clients are cut off if it rejects. */
  readonly saved?: () => Promise<void>
}

/** A server that runs. */
export interface ElectrumListener {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Offline, open connections are lost and new ones end at once. */
  setOnline(isOnline: boolean): void
  /** Ends all connections, then stops listening. */
  close(): Promise<void>
}

/** Most characters that wait for a client that does not read; beyond that it is cut off. */
export const MAX_UNSENT = 32_000_000

/**
 * Serves a chain over TCP: JSON-RPC messages that end with a newline.
 *
 * @throws Error (EADDRINUSE, EACCES …) if it cannot listen there
 */
export const serveElectrumTcp = async (
  chain: ServedChain,
  { host = '127.0.0.1', port = 0, limits = {}, kind = serverKinds.ours, saved }: ElectrumServerOptions = {}
): Promise<ElectrumListener> => {
  const sockets = new Set<Socket>()
  let isReachable = true
  const server = createServer(socket => {
    if (!isReachable) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serveSocket(chain, socket, { limits, saved, kind })
  })
  const bound = await listen(server, host, port)
  return {
    host,
    port: bound,
    url: `tcp://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    setOnline(isOnline) {
      isReachable = isOnline
      if (!isOnline) for (const socket of sockets) socket.destroy()
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      })
  }
}

/** The options that all connections of a server share. */
export interface ConnectionOptions {
  readonly limits: Partial<ElectrumLimits>
  readonly saved: (() => Promise<void>) | undefined
}

/** Delays what is sent until it is durable, in order; `cut` ends the connection when that fails. */
export const sendSaved = (
  saved: ConnectionOptions['saved'],
  send: (message: string) => void,
  cut: () => void
): ((message: string) => void) => {
  if (saved === undefined) return send
  let queue = Promise.resolve()
  return message => {
    queue = queue
      .then(saved)
      .then(() => send(message))
      .catch(cut)
  }
}

const serveSocket = (
  chain: ServedChain,
  socket: Socket,
  { limits, saved, kind }: ConnectionOptions & { readonly kind: ServerKind }
): void => {
  const write = (message: string): void => {
    if (socket.writableLength > MAX_UNSENT) socket.destroy()
    else if (socket.writable) socket.write(`${message}\n`)
  }
  const send = sendSaved(saved, write, () => socket.destroy())
  const session = makeElectrumSession(chain, send, limits, { kind, end: () => socket.end() })
  const read = makeLineReader(session, send, limits.maxMessage ?? DEFAULT_LIMITS.maxMessage)
  const decoder = new StringDecoder('utf8')
  socket.setNoDelay(true)
  socket.on('data', bytes => {
    if (!read(decoder.write(bytes))) socket.end()
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => session.close())
}

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
