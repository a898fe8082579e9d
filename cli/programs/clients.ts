import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { WalletId } from '../../kernel/index.ts'
import { lockFolder } from '../../plugins/storage/file/file-lock.ts'
import { CliError } from '../errors/cli-error.ts'
import { isRecord, readState, writeState } from '../profile/state-files.ts'
import { readSecretFile } from '../secrets/secret-sources.ts'

/**
 * A right of a program, beyond reading. `change`: what can be changed back, such as a new wallet. `propose`: its payments wait
 * for a person. `spend`: what a policy of the account allows this program by its name is paid at once.
 */
export type ProgramScope = 'change' | 'propose' | 'spend'

/** The rights beyond reading, in the order in which they are shown. */
export const programScopes: readonly ProgramScope[] = ['change', 'propose', 'spend']

/** A program that may use an account through `holdfast mcp`. */
export interface ProgramClient {
  /** Lower-case letters, digits and dashes; policies know the program by it. */
  readonly name: string
  /** Distinguishes it from a client of that name that was revoked before. */
  readonly id: string
  readonly scopes: readonly ProgramScope[]
  /** The account that it may use. */
  readonly loginId: string
  readonly username?: string
  /** The only wallets that it sees; all of the account if left out. */
  readonly walletIds?: readonly WalletId[]
  /** ISO times; it is refused from `ends` on. */
  readonly created: string
  readonly ends: string
  /** The start of its last connection. */
  readonly lastUsed?: string
}

/** A client to add; the token, its id and its time are made. */
export type NewProgramClient = Omit<ProgramClient, 'created' | 'id' | 'lastUsed'>

interface StoredClient extends ProgramClient {
  /** SHA-256 of the token, in hex. */
  readonly tokenHash: string
}

const FILE = 'clients.json'
const TOKEN = /^hfc_[A-Za-z0-9_-]{43}$/
const NAME = /^[a-z][a-z0-9-]{0,31}$/
const LOCK_WAIT_MS = 10_000
const MAX_CLIENTS = 100

/**
 * The programs that a device knows, in a private file of its state folder. Of a token only the hash is kept.
 *
 * Each call reads the file, so that a client that another process revokes is refused at once.
 */
export class ProgramClients {
  readonly #folder: string

  /** @param stateFolder - the state folder of the device */
  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'clients')
  }

  /** All clients, those that have ended included, in the order in which they were added. */
  list(): readonly ProgramClient[] {
    return this.#read().map(publicPartOf)
  }

  /**
   * Adds a client.
   *
   * @returns its token, which is kept nowhere
   * @throws CliError USAGE for a name that cannot be used or is taken; STORAGE_LOCKED
   */
  async add(client: NewProgramClient): Promise<{ readonly client: ProgramClient; readonly token: string }> {
    if (!NAME.test(client.name)) {
      throw new CliError(
        'USAGE',
        'The name of a client begins with a letter and has up to 32 lower-case letters, digits and dashes'
      )
    }
    const token = `hfc_${randomBytes(32).toString('base64url')}`
    const added: ProgramClient = {
      ...client,
      id: randomBytes(8).toString('hex'),
      created: new Date().toISOString()
    }
    await this.#change(known => {
      if (known.some(({ name }) => name === client.name)) {
        throw new CliError('USAGE', `There is a client "${client.name}" already`, {
          next: [{ command: `holdfast agent clients revoke ${client.name}`, why: 'revoke it first' }]
        })
      }
      if (known.length >= MAX_CLIENTS) {
        throw new CliError('USAGE', `There are ${MAX_CLIENTS} clients already; revoke one of them`)
      }
      return [...known, { ...added, tokenHash: hashOf(token).toString('hex') }]
    })
    return { client: added, token }
  }

  /** Removes a client. @throws CliError NOT_FOUND */
  async revoke(name: string): Promise<ProgramClient> {
    let revoked: StoredClient | undefined
    await this.#change(known => {
      revoked = known.find(client => client.name === name)
      return known.filter(client => client.name !== name)
    })
    if (revoked !== undefined) return publicPartOf(revoked)
    throw new CliError('NOT_FOUND', 'There is no client of that name', {
      next: [{ command: 'holdfast agent clients list', why: 'see the clients' }]
    })
  }

  /**
   * Finds the client of a token; every hash is compared in constant time.
   *
   * @throws CliError CLIENT_REFUSED for an unknown or revoked token, CLIENT_ENDED
   */
  find(token: string): ProgramClient {
    const hash = hashOf(token)
    const known = this.#read()
    const matches = known.filter(({ tokenHash }) => timingSafeEqual(Buffer.from(tokenHash, 'hex'), hash))
    const [found] = matches
    if (found === undefined) throw refused()
    return checkEnd(publicPartOf(found))
  }

  /** Returns a client that may still be used. @throws CliError CLIENT_REFUSED if it was revoked, CLIENT_ENDED */
  check({ id }: Pick<ProgramClient, 'id'>): ProgramClient {
    const found = this.#read().find(client => client.id === id)
    if (found === undefined) throw refused()
    return checkEnd(publicPartOf(found))
  }

  /** Notes the start of a connection. */
  async noteUse({ id }: ProgramClient): Promise<void> {
    const lastUsed = new Date().toISOString()
    await this.#change(known => known.map(client => (client.id === id ? { ...client, lastUsed } : client)))
  }

  #read(): readonly StoredClient[] {
    const { clients } = readState(this.#folder, FILE) ?? {}
    return Array.isArray(clients) ? clients.filter(isStoredClient) : []
  }

  async #change(change: (known: readonly StoredClient[]) => readonly StoredClient[]): Promise<void> {
    const lock = await lockFolder(this.#folder, { holder: 'holdfast clients', waitMs: LOCK_WAIT_MS })
    try {
      writeState(this.#folder, FILE, { clients: change(this.#read()) })
    } finally {
      await lock.release()
    }
  }
}

/** Reads the token of a private file, as `agent clients add -o` writes it. @throws CliError SECRET_SOURCE, CLIENT_REFUSED */
export const readTokenFile = async (path: string): Promise<string> => {
  const token = (await readSecretFile('client', path)).trim()
  if (TOKEN.test(token)) return token
  throw new CliError('CLIENT_REFUSED', 'The file of --client-file contains no token of a client')
}

const refused = (): CliError =>
  new CliError('CLIENT_REFUSED', 'The token of the client is unknown, or the client was revoked', {
    next: [{ command: 'holdfast agent clients list', why: 'see the clients' }]
  })

const checkEnd = (client: ProgramClient): ProgramClient => {
  if (Date.parse(client.ends) > Date.now()) return client
  throw new CliError('CLIENT_ENDED', `The time of the client "${client.name}" is over`, {
    details: { ends: client.ends },
    next: [{ command: `holdfast agent clients revoke ${client.name}`, why: 'remove it, then add it again' }]
  })
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const publicPartOf = ({ tokenHash: _, ...client }: StoredClient): ProgramClient => client

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
const isTime = (value: unknown): boolean => isText(value) && !Number.isNaN(Date.parse(value))

const isStoredClient = (value: unknown): value is StoredClient => {
  if (!isRecord(value)) return false
  const { name, id, scopes, loginId, username, walletIds, created, ends, lastUsed, tokenHash } = value
  return (
    isText(name) &&
    NAME.test(name) &&
    [id, loginId].every(isText) &&
    isTexts(scopes) &&
    scopes.every(scope => programScopes.includes(scope as ProgramScope)) &&
    (username === undefined || isText(username)) &&
    (walletIds === undefined || isTexts(walletIds)) &&
    [created, ends].every(isTime) &&
    (lastUsed === undefined || isTime(lastUsed)) &&
    isText(tokenHash) &&
    /^[0-9a-f]{64}$/.test(tokenHash)
  )
}
