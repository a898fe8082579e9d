import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { compact } from '../../kernel/base/compact.ts'
import { onAbort } from '../../kernel/base/deadline.ts'
import { WalletError } from '../../kernel/base/errors.ts'
import type { AbortSignalLike } from '../../kernel/io/io.ts'

/** A pinned certificate, and when its owner pinned it, as ISO text. */
export interface PinnedCertificate {
  /** SHA-256 of the certificate's DER, as OpenSSL writes it: `AB:CD:…`. */
  readonly fingerprint: string
  /** Absent where only the fingerprint was given. */
  readonly pem?: string
}

/**
 * What is remembered of the certificates of servers, each named `host:port`. Used by {@link Io.connect} and {@link Io.webSocket}.
 */
export interface CertificateStore {
  /** The pinned certificate; `authority`: it had one of an authority before; undefined: it was never asked. */
  find(server: string): PinnedCertificate | 'authority' | undefined
  /**
   * Called after a first connection, with what it has shown. Keeps what was remembered meanwhile, as by another process: the connection is
   * compared with that then.
   */
  remember(server: string, shown: Required<PinnedCertificate> | 'authority'): void
  /** True pins a self-signed certificate at the first connection; false refuses it then. */
  readonly pinsAtFirstUse: boolean
}

/** A server that speaks TLS. */
export interface TlsTarget {
  /** `host:port`. */
  readonly server: string
  /** The name or address that a certificate of an authority has to be of. */
  readonly host: string
  /** Asked for in the handshake; undefined for an address. */
  readonly servername: string | undefined
  /** Opens a connection to it, which the caller encrypts. */
  open(): Promise<Socket>
  /** Ends a handshake. */
  readonly signal?: AbortSignalLike | undefined
}

/**
 * Opens a TLS connection whose certificate has been checked before a byte is written: against the authorities of the system, or
 * strictly against the pinned one. Sessions are never resumed: a resumed one shows no certificate.
 *
 * @throws CERTIFICATE_REFUSED
 */
export const openTls = async (target: TlsTarget, store: CertificateStore | undefined): Promise<TLSSocket> => {
  const { server } = target
  const known = store?.find(server)
  if (typeof known === 'object') return openPinned(target, known)
  const strict = await handshake(target, {}).catch((error: unknown) => error as Error & { code?: unknown })
  if (!(strict instanceof Error)) {
    return known === undefined ? remembered({ target, store, socket: strict }, 'authority') : strict
  }
  const reason = certificateReason(strict)
  if (reason === undefined) throw strict
  if (reason !== SELF_SIGNED || store === undefined || known === 'authority')
    throw new WalletError('CERTIFICATE_REFUSED', { server, reason: known === undefined ? reason : LAPSED })
  const shown = await readCertificate(target)
  if (!store.pinsAtFirstUse)
    throw new WalletError('CERTIFICATE_REFUSED', { server, reason, presented: shown.fingerprint })
  const socket = await openPinned(target, shown)
  return remembered({ target, store, socket }, shown)
}

interface FirstConnection {
  readonly target: TlsTarget
  readonly store: CertificateStore | undefined
  readonly socket: TLSSocket
}

/**
 * Gives the connection once its certificate is remembered. It is ended, not left without an owner, on a full disk, and if another first
 * connection has remembered another certificate.
 */
const remembered = (
  { target, store, socket }: FirstConnection,
  shown: Required<PinnedCertificate> | 'authority'
): TLSSocket => {
  const { server } = target
  try {
    store?.remember(server, shown)
    const known = store?.find(server)
    if (known === 'authority' && shown !== 'authority')
      throw new WalletError('CERTIFICATE_REFUSED', { server, reason: LAPSED })
    if (typeof known === 'object') {
      const fingerprint =
        shown === 'authority' ? socket.getPeerX509Certificate()?.fingerprint256 : shown.fingerprint
      if (known.fingerprint !== fingerprint)
        throw changed(target, known, fingerprint === undefined ? undefined : { fingerprint })
    }
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/**
 * Reads the certificate that a server shows, and closes the connection without a byte written to it.
 *
 * @throws CERTIFICATE_REFUSED with OpenSSL's name for one that could be neither pinned nor verified
 */
export const readCertificate = async (
  target: TlsTarget
): Promise<Required<PinnedCertificate> & { readonly isSelfSigned: boolean }> => {
  const { server } = target
  const socket = await handshake(target, { rejectUnauthorized: false })
  const certificate = socket.getPeerX509Certificate()
  const reason = socket.authorized ? undefined : String(socket.authorizationError)
  socket.destroy()
  if (certificate === undefined) throw new WalletError('CERTIFICATE_REFUSED', { server, reason: ABSENT })
  const isSelfSigned = reason !== undefined
  const expiry = isSelfSigned ? expiryOf(certificate) : undefined
  if (expiry !== undefined) throw new WalletError('CERTIFICATE_REFUSED', { server, reason: expiry })
  if (isSelfSigned && reason !== SELF_SIGNED)
    throw new WalletError('CERTIFICATE_REFUSED', { server, reason: reasonName(reason) })
  return { fingerprint: certificate.fingerprint256, pem: certificate.toString(), isSelfSigned }
}

const openPinned = async (target: TlsTarget, pinned: PinnedCertificate): Promise<TLSSocket> => {
  const { server } = target
  // Of a server that was named with its fingerprint, the certificate itself is not known yet.
  const shown = pinned.pem === undefined ? await readCertificate(target) : undefined
  if (shown !== undefined && shown.fingerprint !== pinned.fingerprint) throw changed(target, pinned, shown)
  const ca = shown?.isSelfSigned === false ? undefined : (shown ?? pinned).pem
  let socket: TLSSocket
  try {
    // A pinned certificate names the server: what stands in it of hosts is often nothing, or localhost.
    const strict = ca === undefined ? {} : { ca: [ca], checkServerIdentity: () => undefined }
    socket = await handshake(target, strict)
  } catch (error) {
    const reason = certificateReason(error)
    if (reason === undefined) throw error
    if (reason === 'CERT_HAS_EXPIRED' || reason === 'CERT_NOT_YET_VALID')
      throw new WalletError('CERTIFICATE_REFUSED', { server, reason })
    throw changed(target, pinned, await readCertificate(target).catch(() => undefined))
  }
  // Another certificate that the pinned one has signed is verified, too.
  const { fingerprint256: presented } = socket.getPeerX509Certificate() ?? {}
  if (presented === pinned.fingerprint) return socket
  socket.destroy()
  throw changed(target, pinned, presented === undefined ? undefined : { fingerprint: presented })
}

const changed = (
  { server }: TlsTarget,
  { fingerprint: pinned }: PinnedCertificate,
  shown: PinnedCertificate | undefined
): WalletError<'CERTIFICATE_REFUSED'> =>
  new WalletError('CERTIFICATE_REFUSED', {
    ...{ server, reason: 'CHANGED', pinned },
    ...compact({ presented: shown?.fingerprint })
  })

const SELF_SIGNED = 'DEPTH_ZERO_SELF_SIGNED_CERT'
const ABSENT = 'it showed none'
const LAPSED = 'it had one of an authority before, and now shows another'

const expiryOf = ({ validFrom, validTo }: X509Certificate): string | undefined => {
  const now = Date.now()
  if (Date.parse(validTo) < now) return 'CERT_HAS_EXPIRED'
  return Date.parse(validFrom) > now ? 'CERT_NOT_YET_VALID' : undefined
}

/** OpenSSL's name of what is wrong with a certificate; undefined for another failure of the connection. */
const certificateReason = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && CERTIFICATE_CODE.test(code) ? code : undefined
}

const CERTIFICATE_CODE =
  /^(?:ERR_TLS_CERT_|CERT_|CRL_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_)/

const reasonName = (text: string): string => (/^[A-Z_]{1,60}$/.test(text) ? text : 'unknown')

const handshake = async (
  { host, servername, open, signal }: TlsTarget,
  options: ConnectionOptions
): Promise<TLSSocket> => {
  const [tls, socket] = await Promise.all([import('node:tls'), open()])
  return new Promise((resolve, reject) => {
    const secure = tls.connect({ socket, host, ...compact({ servername }), ...options })
    const limit = setTimeout(() => secure.destroy(new Error('The connection took too long')), HANDSHAKE_MS)
    const refuse = (error: Error): void => {
      clearTimeout(limit)
      release()
      secure.destroy()
      reject(error)
    }
    secure.once('error', refuse)
    // One that ends in the middle of the handshake says nothing else.
    const end = (): void => refuse(new Error('The server closed the connection during the TLS handshake'))
    secure.once('close', end)
    let release = (): void => undefined
    release = onAbort(signal, refuse)
    secure.once('secureConnect', () => {
      clearTimeout(limit)
      release()
      secure.removeListener('error', refuse)
      secure.removeListener('close', end)
      resolve(secure)
    })
  })
}

const HANDSHAKE_MS = 30_000
