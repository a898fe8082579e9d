import type { Socket } from 'node:net'
import { compact } from '../../kernel/base/compact.ts'
import { onAbort } from '../../kernel/base/deadline.ts'
import type { AbortSignalLike, TcpAddress } from '../../kernel/io/io.ts'
import { type CertificateStore, openTls, readCertificate, type TlsTarget } from './certificates.ts'

/** A SOCKS5 proxy. Names of servers are sent to it as they are, and never looked up here. */
export interface SocksProxy {
  readonly host: string
  readonly port: number
}

/** The sockets of one io. */
export interface Sockets {
  /** Opens a socket that may be written to: of TLS, once the certificate has been checked. The signal ends the attempt. */
  open(address: TcpAddress, options?: OpenOptions): Promise<Socket>
  /** Reads the certificate that a server shows, and sends it nothing. */
  certificateOf(address: TcpAddress): ReturnType<typeof readCertificate>
  /** True if every socket goes through a proxy. */
  readonly isProxied: boolean
}

/** Options of an attempt to open a socket. */
export interface OpenOptions {
  readonly certificates?: CertificateStore | undefined
  readonly signal?: AbortSignalLike | undefined
}

/** Makes the sockets of an io: direct ones, or such that go through a proxy and nowhere else. */
export const makeSockets = (proxy: SocksProxy | undefined, session: string): Sockets => {
  const openPlain = proxy === undefined ? openDirect : openThrough(proxy, session)
  return {
    isProxied: proxy !== undefined,
    open: async (address, { certificates, signal } = {}) =>
      address.isTls
        ? openTls(await targetOf(address, openPlain, signal), certificates)
        : openPlain(address, signal),
    certificateOf: async address => readCertificate(await targetOf(address, openPlain))
  }
}

/** The time that a server has to accept a connection. */
const OPEN_LIMIT_MS = 30_000
/** A proxy such as Tor builds a circuit first. */
const PROXIED_LIMIT_MS = 3 * OPEN_LIMIT_MS

type OpenPlain = (address: TcpAddress, signal?: AbortSignalLike) => Promise<Socket>

const targetOf = async (
  address: TcpAddress,
  openPlain: OpenPlain,
  signal?: AbortSignalLike
): Promise<TlsTarget> => {
  const { isIP } = await import('node:net')
  const { host, port } = address
  // A certificate is asked for by name; addresses have none.
  return {
    server: `${host.toLowerCase()}:${port}`,
    host,
    servername: isIP(host) === 0 ? host : undefined,
    open: () => openPlain(address, signal),
    signal
  }
}

const openDirect: OpenPlain = async ({ host, port }, signal) => {
  refuseOnion(host)
  const net = await import('node:net')
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port })
    const limit = setTimeout(() => socket.destroy(new Error('The connection took too long')), OPEN_LIMIT_MS)
    socket.once('error', reject)
    const release = onAbort(signal, error => socket.destroy(error))
    socket.once('close', () => {
      clearTimeout(limit)
      release()
    })
    socket.once('connect', () => {
      clearTimeout(limit)
      release()
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })
}

/** A resolver that is asked for a hidden service tells the network which one is meant. @throws for a name of .onion */
export const refuseOnion = (host: string): void => {
  if (/\.onion\.?$/i.test(host)) throw new Error('A server of .onion needs a proxy')
}

/** The name and the word choose the circuit (Tor's IsolateSOCKSAuth); another of either is another circuit. */
const openThrough =
  (proxy: SocksProxy, session: string): OpenPlain =>
  async ({ host, port, circuit }, signal) => {
    const { SocksClient } = await import('socks')
    const server = `${host}:${port}`
    let release = (): void => undefined
    try {
      const toProxy = await openDirect({ ...proxy, isTls: false }, signal)
      release = onAbort(signal, error => toProxy.destroy(error))
      const { socket } = await SocksClient.createConnection({
        command: 'connect',
        destination: { host, port },
        timeout: PROXIED_LIMIT_MS,
        existing_socket: toProxy,
        proxy: {
          ...{ host: proxy.host, port: proxy.port, type: 5 },
          ...{ userId: `holdfast-${circuit ?? session}`.slice(0, 255), password: server.slice(0, 255) }
        }
      })
      return socket
    } catch (error) {
      throw new Error(`The proxy ${proxy.host}:${proxy.port} did not connect: ${causeOf(error)}`)
    } finally {
      release()
    }
  }

/** The library's error holds the credentials of the circuit, so only its text goes on. */
const causeOf = (error: unknown): string => {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return typeof code === 'string' ? code : String(message ?? 'unknown').slice(0, 100)
}

/** The address that a URL names. */
export const addressOf = ({ protocol, hostname, port }: URL, circuit?: string): TcpAddress => {
  const isTls = protocol === 'https:' || protocol === 'wss:'
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    isTls,
    ...compact({ circuit })
  }
}
