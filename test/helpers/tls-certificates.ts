import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import type { ExecutionContext } from 'ava'

/** A certificate with its key, as a server of TLS takes them. */
export interface ServerIdentity {
  readonly key: string
  readonly cert: string
}

/** Makes a certificate with OpenSSL: self-signed for ten years, as the install scripts of Electrum servers do. */
export const selfSigned = (
  name = 'localhost',
  { isExpired = false }: { readonly isExpired?: boolean } = {}
): ServerIdentity =>
  inFolder(folder => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', `/CN=${name}`]
    if (!isExpired) {
      openssl(['req', '-x509', ...NEW_KEY, ...subject, '-days', '3650', '-keyout', key, '-out', cert])
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    }
    const [request, config] = [join(folder, 'request.pem'), join(folder, 'ca.cnf')]
    openssl(['req', '-new', ...NEW_KEY, ...subject, '-keyout', key, '-out', request])
    writeFileSync(join(folder, 'index.txt'), '')
    writeFileSync(config, CA_CONFIG.replaceAll('FOLDER', folder))
    const dates = ['-startdate', '20200101000000Z', '-enddate', '20210101000000Z']
    openssl([
      ...['ca', '-batch', '-selfsign', '-config', config, '-keyfile', key, '-in', request, '-out', cert],
      ...['-notext', '-create_serial', ...dates]
    ])
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  })

/** Makes a certificate that another one has signed, so that its chain ends in an unknown authority. */
export const signedBy = (issuer: ServerIdentity, name = 'localhost'): ServerIdentity =>
  inFolder(folder => {
    const at = (file: string): string => join(folder, file)
    writeFileSync(at('issuer-key.pem'), issuer.key)
    writeFileSync(at('issuer.pem'), issuer.cert)
    const subject = ['-subj', `/CN=${name}`]
    openssl(['req', '-new', ...NEW_KEY, ...subject, '-keyout', at('key.pem'), '-out', at('request.pem')])
    openssl([
      ...['x509', '-req', '-in', at('request.pem'), '-CA', at('issuer.pem'), '-CAkey', at('issuer-key.pem')],
      ...['-CAcreateserial', '-days', '100', '-out', at('cert.pem')]
    ])
    return { key: readFileSync(at('key.pem'), 'utf8'), cert: readFileSync(at('cert.pem'), 'utf8') }
  })

/** A server of TLS on loopback whose certificate can be replaced. */
export interface TlsServer {
  readonly port: number
  /** All that clients have sent, before any answer. */
  readonly received: readonly string[]
  /** How many handshakes were completed. */
  readonly connections: () => number
  /** How many connections are open now. */
  openCount(): Promise<number>
  present(identity: ServerIdentity): void
}

/** Serves lines over TLS: each socket is given to `onSocket`. */
export const serveTls = async (
  t: ExecutionContext,
  identity: ServerIdentity,
  onSocket: (socket: Socket) => void = () => undefined
): Promise<TlsServer> => {
  const received: string[] = []
  let connections = 0
  const sockets = new Set<Socket>()
  const server: Server & { setSecureContext(context: object): void } = createServer(
    { ...identity },
    socket => {
      connections++
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', data => received.push(String(data)))
      onSocket(socket)
    }
  )
  server.on('tlsClientError', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    openCount: () => new Promise(resolve => server.getConnections((_, count) => resolve(count))),
    present: other => server.setSecureContext({ ...other })
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

const CA_CONFIG = `[ca]
default_ca = own
[own]
dir = FOLDER
database = FOLDER/index.txt
new_certs_dir = FOLDER
serial = FOLDER/serial
default_md = sha256
policy = any
[any]
commonName = supplied
`

const openssl = (args: readonly string[]): void => {
  execFileSync('openssl', [...args], { stdio: ['ignore', 'ignore', 'pipe'] })
}

const inFolder = <T>(work: (folder: string) => T): T => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
  try {
    return work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
