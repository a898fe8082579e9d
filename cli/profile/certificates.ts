import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compact, tryJsonText } from '../../kernel/index.ts'
import type { CertificateStore, PinnedCertificate } from '../../platform/node/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { ProfilePaths } from './paths.ts'
import { isRecord, writeNewState, writeState } from './state-files.ts'

/** What a profile remembers of the certificate of a server. */
export interface KnownServer extends Partial<PinnedCertificate> {
  /** `host:port`. */
  readonly server: string
  /** ISO time of the first connection, or of the pin. */
  readonly since: string
  /** The file that it stands in. */
  readonly path: string
}

/** A server whose file cannot be read: it is refused until it is forgotten. */
export interface DamagedServer extends Pick<KnownServer, 'path' | 'server'> {
  readonly isDamaged: true
}

/** The certificates of the servers of one profile. */
export interface ProfileCertificates extends CertificateStore {
  /** Pins a certificate, or only its fingerprint, in place of what was remembered. */
  pin(server: string, certificate: PinnedCertificate): void
  /** Forgets what is remembered of a server; false if that was nothing. */
  forget(server: string): boolean
  list(): readonly (KnownServer | DamagedServer)[]
}

const FOLDER = 'certificates'
const VERSION = 1
const MAX_PEM = 100_000

/**
 * Opens the certificates of a profile: a file for each server, so that two processes that meet two servers lose neither. Each call
 * reads the disk; what a command pins is used by an agent that runs.
 *
 * `find` throws CliError PROFILE_INVALID for a damaged file: a server with one is refused, and never met as a new one.
 */
export const profileCertificates = (
  { config }: Pick<ProfilePaths, 'config'>,
  pinsAtFirstUse: boolean
): ProfileCertificates => {
  const folder = join(config, FOLDER)
  const fileOf = (server: string): string => `${encodeURIComponent(server.toLowerCase())}.json`
  const recordOf = (server: string, { fingerprint, pem }: Partial<PinnedCertificate>): object => ({
    ...{ version: VERSION, server: server.toLowerCase(), since: new Date().toISOString() },
    ...compact({ fingerprint, pem })
  })
  const read = (server: string): KnownServer | undefined => {
    const path = join(folder, fileOf(server))
    return existsSync(path) ? parseKnown(readFileSync(path, 'utf8'), path) : undefined
  }
  return {
    pinsAtFirstUse,
    find(server) {
      const known = read(server)
      if (known === undefined) return undefined
      const { fingerprint, pem } = known
      return fingerprint === undefined ? 'authority' : { fingerprint, ...compact({ pem }) }
    },
    remember: (server, shown) =>
      writeNewState(folder, fileOf(server), recordOf(server, shown === 'authority' ? {} : shown)),
    pin: (server, certificate) => writeState(folder, fileOf(server), recordOf(server, certificate)),
    forget(server) {
      const path = join(folder, fileOf(server))
      if (!existsSync(path)) return false
      rmSync(path)
      return true
    },
    list: () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter(name => name.endsWith('.json'))
        .sort()
        .map(name => readListed(join(folder, name), name))
  }
}

/** One damaged file hides no other. */
const readListed = (path: string, name: string): KnownServer | DamagedServer => {
  try {
    return parseKnown(readFileSync(path, 'utf8'), path)
  } catch {
    return { server: serverNamedBy(name), path, isDamaged: true }
  }
}

const serverNamedBy = (file: string): string => {
  const name = file.replace(/\.json$/, '')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const parseKnown = (text: string, path: string): KnownServer => {
  const value = text.length > 2 * MAX_PEM ? undefined : tryJsonText(text)
  const { version, server, since, fingerprint, pem } = isRecord(value) ? value : {}
  const isSound =
    version === VERSION &&
    typeof server === 'string' &&
    typeof since === 'string' &&
    Number.isFinite(Date.parse(since)) &&
    (fingerprint === undefined ? pem === undefined : readFingerprint(fingerprint) === fingerprint) &&
    (pem === undefined || (typeof pem === 'string' && fingerprintOf(pem) === fingerprint))
  if (!isSound)
    throw new CliError('PROFILE_INVALID', `The pinned certificate ${path} is damaged`, {
      hint: 'Restore the file, or forget the server: holdfast profile trust --forget <server>.'
    })
  return { server, since, path, ...compact({ fingerprint, pem }) } as KnownServer
}

const fingerprintOf = (pem: string): string | undefined => {
  try {
    return new X509Certificate(pem.slice(0, MAX_PEM)).fingerprint256
  } catch {
    return undefined
  }
}

/** Reads a SHA-256 fingerprint of 64 digits, with colons or without; undefined for anything else. */
export const readFingerprint = (text: unknown): string | undefined => {
  if (typeof text !== 'string' || !/^(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}$/i.test(text)) return undefined
  return text.replaceAll(':', '').toUpperCase().match(/../g)?.join(':')
}
