import { compact } from '../base/compact.ts'
import { makeAbort, patienceOf, withDeadline } from '../base/deadline.ts'
import { isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import { parseJsonText } from '../base/json.ts'
import { shuffled } from '../base/random.ts'
import type { Secret } from '../base/secret.ts'
import type { FetchOptions, FetchReply, Io } from '../io/io.ts'
import type { BoxText } from './repo-record.ts'
import { parseStoreReply, type StoreReply } from './store-reply.ts'

/** The configured servers of a context. */
export interface SyncServersOptions {
  readonly io: Pick<Io, 'clock' | 'crypto' | 'fetch' | 'isProxied' | 'random'>
  /** Addresses without a path, such as `https://sync-us1.edge.app`. */
  readonly syncServers: readonly string[]
  readonly infoServers: readonly string[]
  readonly report: ReportError
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
  /** True if the request was for everything, because there was no hash or the server did not know it. */
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
  readonly #report: ReportError
  readonly #syncServers: ServerList
  readonly #infoServers: ServerList
  #hasReportedHosts = false
  #refreshedAt: number | undefined

  constructor({ io, syncServers, infoServers, report }: SyncServersOptions) {
    this.#io = io
    this.#report = report
    this.#syncServers = new ServerList(syncServers)
    this.#infoServers = new ServerList(infoServers)
  }

  /** The present lists. */
  get lists(): { readonly syncServers: readonly string[]; readonly infoServers: readonly string[] } {
    return { syncServers: this.#syncServers.all, infoServers: this.#infoServers.all }
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
        return await this.#query(server, request)
      } catch (error) {
        failure = failureOf(error)
      }
    }
    throw failure ?? new WalletError('SYNC_FAILED', { reason: 'there is no sync server' })
  }

  /**
   * Fetches the lists now; fields that the reply lacks keep what they had (protocol §8 row 36).
   *
   * A reply adds servers of the configured domains and takes none away: an info server could otherwise send every repo to
   * hosts of its choice. Servers of other domains are reported once and left out.
   */
  async refresh(): Promise<void> {
    this.#refreshedAt = this.#io.clock.monotonic()
    for (const server of this.#infoServers.all) {
      try {
        const reply = await this.#fetch(`${server}/v1/edgeServers`, { maxReplyBytes: MAX_LIST_BYTES })
        if (reply.status < 200 || reply.status > 299) continue
        const { syncServers, infoServers } = parseJsonText(reply.text) as Record<string, unknown>
        const refused = this.#syncServers.add(syncServers) + this.#infoServers.add(infoServers)
        if (refused > 0) this.#reportHosts(refused)
        return
      } catch {
        // The next info server is asked; if none answers, the present lists stay.
      }
    }
  }

  #reportHosts(count: number): void {
    if (this.#hasReportedHosts) return
    this.#hasReportedHosts = true
    const rule = `names ${count} servers outside of the domains of this profile`
    this.#report(new WalletError('BAD_REPLY', { source: 'info server', path: '', rule }))
  }

  #serversFor({ server, except }: StoreRequest): readonly string[] {
    if (server !== undefined) return [server]
    return shuffled(this.#io, this.#syncServers.all).filter(candidate => !except?.has(candidate))
  }

  #refreshIfDue(): void {
    const isFresh =
      this.#refreshedAt !== undefined && this.#io.clock.monotonic() - this.#refreshedAt < REFRESH_MS
    if (isFresh || this.#infoServers.all.length === 0) return
    this.refresh().catch(this.#report)
  }

  async #query(server: string, request: StoreRequest): Promise<ServedReply> {
    const { syncKey, hash, changes } = request
    const options: FetchOptions = {
      method: changes === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      maxReplyBytes: MAX_REPLY_BYTES,
      ...compact({ body: changes && bodyOf(changes) })
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
    const deadline = { clock, milliseconds: TIME_LIMIT_MS * patienceOf(this.#io), what: 'a sync server' }
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
const MAX_LIST_BYTES = 256 * 1024
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
  if (isWalletError(error, 'DEADLINE'))
    return new WalletError('SYNC_FAILED', { reason: `no answer in ${error.details.milliseconds / 1000} s` })
  if (isWalletError(error, 'REPLY_TOO_LARGE')) {
    return new WalletError('SYNC_FAILED', { reason: 'the reply is too large' })
  }
  return new WalletError('SYNC_FAILED', { reason: 'no answer' })
}

const trimmed = (address: string): string => address.replace(/\/{1,8}$/, '')

/** The configured servers of one kind, and those that an info server has added. */
class ServerList {
  readonly #configured: readonly string[]
  readonly #hosts: readonly string[]
  #added: readonly string[] = []

  constructor(configured: readonly string[]) {
    this.#configured = configured.map(trimmed)
    this.#hosts = this.#configured.map(hostOf)
  }

  get all(): readonly string[] {
    return this.#added.length === 0 ? this.#configured : [...this.#configured, ...this.#added]
  }

  /** Takes the servers that a reply names in place of those that the last one named. @returns how many were refused */
  add(value: unknown): number {
    if (!Array.isArray(value)) return 0
    const named = (value as unknown[]).slice(0, MAX_SERVERS).filter(item => typeof item === 'string')
    const addresses = [...new Set(named.map(trimmed))]
    const allowed = addresses.filter(address => this.#isAllowed(address))
    this.#added = allowed.filter(address => !this.#configured.includes(address))
    return addresses.length - allowed.length
  }

  #isAllowed(address: string): boolean {
    if (!ADDRESS.test(address)) return false
    const host = hostOf(address)
    if (isLoopback(host)) return this.#hosts.some(isLoopback)
    return this.#hosts.some(own => !isLoopback(own) && isOfDomain(host, domainOf(own)))
  }
}

// Fetched addresses are held to https; this machine itself, where fake servers run, needs none.
const ADDRESS =
  /^(?:https:\/\/[A-Za-z0-9.-]{1,253}|https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?$/

const hostOf = (address: string): string =>
  (/^https?:\/\/(\[[^\]]*\]|[^:/?#]*)/i.exec(address)?.[1] ?? '').toLowerCase()

const isLoopback = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host)

/** The domain of a configured host: `edge.app` for `sync-us1.edge.app`; the host itself where that would be a suffix. */
const domainOf = (host: string): string => {
  const labels = host.split('.')
  const parent = labels.slice(1)
  const isSuffix = parent.length < 2 || (parent.length === 2 && parent.every(({ length }) => length <= 3))
  return isSuffix || /^[\d.]+$/.test(host) ? host : parent.join('.')
}

const isOfDomain = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)
