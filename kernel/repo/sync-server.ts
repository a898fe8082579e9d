import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import { makeAbort } from '../io/abort.ts'
import { withDeadline } from '../io/deadline.ts'
import type { FetchOptions, FetchReply, Io } from '../io/io.ts'
import { shuffled } from '../io/shuffled.ts'
import type { Secret } from '../state/secret.ts'
import type { BoxText } from './repo-record.ts'
import type { Report } from './report.ts'
import { parseStoreReply, type StoreReply } from './sync-reply.ts'

/** Where a context begins to look for sync servers. */
export interface SyncServersOptions {
  readonly io: Pick<Io, 'clock' | 'crypto' | 'fetch' | 'random'>
  /** Addresses without a path, such as `https://sync-us1.edge.app`. */
  readonly syncServers: readonly string[]
  readonly infoServers: readonly string[]
  readonly report: Report
}

/** One call of the store route; with `changes` it uploads them. */
export interface StoreRequest {
  readonly syncKey: Secret<Uint8Array>
  readonly hash?: string | undefined
  readonly changes?: ReadonlyMap<string, BoxText | null>
  /** The only server to ask; all are, one after another, if it is left out. */
  readonly server?: string
  /** Servers that are not asked. */
  readonly except?: ReadonlySet<string>
}

/** A reply and the server that gave it. */
export interface ServedReply extends StoreReply {
  readonly server: string
  /** Whether it was asked for everything, because there was no hash or the server did not know it. */
  readonly isComplete: boolean
}

/**
 * The sync servers of one context (protocol §2.9): fail-over, time limits, and the list itself.
 *
 * Each call tries the servers in a new random order; the first good reply counts. The list is refreshed from the
 * info servers in the background, with the first call and then at most every ten minutes.
 */
export class SyncServers {
  readonly #io: SyncServersOptions['io']
  readonly #report: Report
  #syncServers: readonly string[]
  #infoServers: readonly string[]
  #refreshedAt: number | undefined

  constructor({ io, syncServers, infoServers, report }: SyncServersOptions) {
    this.#io = io
    this.#report = report
    this.#syncServers = syncServers.map(trimmed)
    this.#infoServers = infoServers.map(trimmed)
  }

  /** The present lists. */
  get lists(): { readonly syncServers: readonly string[]; readonly infoServers: readonly string[] } {
    return { syncServers: this.#syncServers, infoServers: this.#infoServers }
  }

  /**
   * Reads a repo, or uploads changes to it and reads.
   *
   * A server that does not know the hash (404) is asked once more without it (protocol §8 row 12).
   *
   * @throws SYNC_FAILED with the last server's reason; the reason never holds a key or a URL
   */
  async exchange(request: StoreRequest): Promise<ServedReply> {
    this.#refreshIfDue()
    let failure: WalletError | undefined
    for (const server of this.#serversFor(request)) {
      try {
        return await this.#ask(server, request)
      } catch (error) {
        failure = failureOf(error)
      }
    }
    throw failure ?? new WalletError('SYNC_FAILED', { reason: 'there is no sync server' })
  }

  /** Fetches the lists now; fields that the reply lacks keep what they had (protocol §8 row 36). */
  async refresh(): Promise<void> {
    this.#refreshedAt = this.#io.clock.monotonic()
    for (const server of this.#infoServers) {
      try {
        const reply = await this.#fetch(`${server}/v1/edgeServers`, {})
        if (reply.status < 200 || reply.status > 299) continue
        const { syncServers, infoServers } = JSON.parse(reply.text) as Record<string, unknown>
        this.#syncServers = addressesOf(syncServers) ?? this.#syncServers
        this.#infoServers = addressesOf(infoServers) ?? this.#infoServers
        return
      } catch {
        // The next info server is asked; if none answers, the present lists stay.
      }
    }
  }

  #serversFor({ server, except }: StoreRequest): readonly string[] {
    if (server !== undefined) return [server]
    return shuffled(this.#io, this.#syncServers).filter(candidate => !except?.has(candidate))
  }

  #refreshIfDue(): void {
    const isFresh =
      this.#refreshedAt !== undefined && this.#io.clock.monotonic() - this.#refreshedAt < REFRESH_MS
    if (isFresh || this.#infoServers.length === 0) return
    this.refresh().catch(this.#report)
  }

  async #ask(server: string, request: StoreRequest): Promise<ServedReply> {
    const { syncKey, hash, changes } = request
    const options: FetchOptions = {
      method: changes === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      maxReplyBytes: MAX_REPLY_BYTES,
      ...(changes && { body: bodyOf(changes) })
    }
    const call = (mark: string): Promise<FetchReply> =>
      syncKey.use(key => this.#fetch(`${server}/api/v2/store/${this.#io.crypto.toHex(key)}/${mark}`, options))
    let reply = await call(hash ?? '')
    const isUnknown = reply.status === 404 && hash !== undefined
    if (isUnknown) reply = await call('')
    if (reply.status < 200 || reply.status > 299) {
      throw new WalletError('SYNC_FAILED', { reason: `HTTP ${reply.status}` })
    }
    const { clock } = this.#io
    const parsed = await parseStoreReply(reply.text, {
      isUpload: changes !== undefined,
      clock,
      report: this.#report
    })
    return { ...parsed, server, isComplete: isUnknown || hash === undefined }
  }

  async #fetch(url: string, options: FetchOptions): Promise<FetchReply> {
    const { clock } = this.#io
    const abort = makeAbort()
    const deadline = { clock, milliseconds: TIME_LIMIT_MS, what: 'a sync server' }
    try {
      return await withDeadline(deadline, () => this.#io.fetch(url, { ...options, signal: abort.signal }))
    } catch (error) {
      abort.abort()
      throw error
    }
  }
}

const TIME_LIMIT_MS = 30_000
const REFRESH_MS = 10 * 60_000
const MAX_SERVERS = 50
/** A first reply names every file of a repo: 100,000 transactions are 70 MB. */
const MAX_REPLY_BYTES = 192 * 1024 * 1024

/** Paths need no escapes, and boxes are JSON already. */
const bodyOf = (changes: ReadonlyMap<string, BoxText | null>): string => {
  const entries: string[] = []
  for (const [path, box] of changes) entries.push(`"${path}":${box}`)
  return `{"changes":{${entries.join()}}}`
}

// The message of a failed request may hold its URL, and with it the sync key: nothing of it is repeated, not
// even as the cause.
const failureOf = (error: unknown): WalletError<'SYNC_FAILED'> => {
  if (isWalletError(error, 'SYNC_FAILED')) return error
  if (isWalletError(error, 'DEADLINE')) return new WalletError('SYNC_FAILED', { reason: 'no answer in 30 s' })
  if (isWalletError(error, 'REPLY_TOO_LARGE')) {
    return new WalletError('SYNC_FAILED', { reason: 'the reply is too large' })
  }
  return new WalletError('SYNC_FAILED', { reason: 'no answer' })
}

const trimmed = (address: string): string => address.replace(/\/{1,8}$/, '')

// Fetched addresses are held to https; this machine itself, where fake servers run, needs none.
const ADDRESS =
  /^(?:https:\/\/[A-Za-z0-9.-]{1,253}|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?$/

const addressesOf = (value: unknown): string[] | undefined => {
  if (!Array.isArray(value)) return undefined
  const addresses: string[] = []
  for (const item of value.slice(0, MAX_SERVERS) as unknown[]) {
    if (typeof item === 'string' && ADDRESS.test(trimmed(item))) addresses.push(trimmed(item))
  }
  return addresses.length === 0 ? undefined : addresses
}
