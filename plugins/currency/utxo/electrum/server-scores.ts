import type { Clock } from '../../../../kernel/plugin-api.ts'
import { type ChainServer, ElectrumRefusal, hostOf, isExhausted } from './connection.ts'

/** What is known of one host, whose ports are one server. */
interface HostRecord {
  /** When it failed last, unless it has been there since. */
  failedAt: number | undefined
  /** The most subscriptions that it gives, until it is tried again. */
  limit: number
  limitUntil: number
  /** How often in a row it has refused more, and the most that it has given then. */
  refusals: number
  most: number
  /** Connections in a row that it ended while subscriptions were waiting, and how many it had answered then. */
  drops: { readonly at: number; readonly times: number }
}

/** What all pools of one currency know of its servers: who asks which, which failed, and how many subscriptions each gives. */
export class ServerScores {
  readonly servers: readonly ChainServer[]
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #hosts = new Map<string, HostRecord>()
  /** The host that each user asks, or will ask next. */
  readonly #users = new Map<object, string>()
  #generation = 0

  constructor(servers: readonly ChainServer[], clock: Pick<Clock, 'monotonic'>) {
    this.servers = servers
    this.#clock = clock
  }

  /** The number of a new connection; no two connections have the same. */
  nextGeneration(): number {
    this.#generation += 1
    return this.#generation
  }

  /** How many failures after the first server the next one stands that no other user asks; the same number if there is none. */
  place(user: object, failures: number): number {
    const { length } = this.servers
    for (let at = failures; at < failures + length; at += 1) {
      const server = this.servers[at % length]
      if (server !== undefined && !this.isTaken(hostOf(server), user)) return at
    }
    return failures
  }

  /** How many servers a user can ask without another one: at least one. */
  countFor(user: object): number {
    return Math.max(1, this.servers.filter(server => !this.isTaken(hostOf(server), user)).length)
  }

  take(user: object, server: ChainServer): void {
    this.#users.set(user, hostOf(server))
  }

  leave(user: object): void {
    this.#users.delete(user)
  }

  hostOf(user: object): string | undefined {
    return this.#users.get(user)
  }

  isTaken(host: string, except?: object): boolean {
    return [...this.#users].some(([user, taken]) => taken === host && user !== except)
  }

  /** The place of the first server that is neither taken nor has failed within a minute; undefined if there is none. */
  freePlace(isWanted: (host: string) => boolean = () => true): number | undefined {
    const at = this.servers.findIndex(server => {
      const host = hostOf(server)
      return !this.isTaken(host) && !this.isFailing(host) && isWanted(host)
    })
    return at === -1 ? undefined : at
  }

  noteReady(server: ChainServer): void {
    const record = this.#recordOf(hostOf(server))
    record.failedAt = undefined
  }

  noteFailure(server: ChainServer): void {
    this.#recordOf(hostOf(server)).failedAt = this.#clock.monotonic()
  }

  /** Notes that a connection has lasted: what the server ended before was no limit. */
  noteTrust(server: ChainServer): void {
    this.#recordOf(hostOf(server)).drops = NO_DROPS
  }

  /** The most subscriptions that a host gives, as far as it has shown. */
  limitOf(host: string): number {
    const record = this.#hosts.get(host)
    if (record === undefined || this.#clock.monotonic() >= record.limitUntil) return Number.POSITIVE_INFINITY
    return record.limit
  }

  /** Notes how many subscriptions a server has given when it refused more; it is asked for more again minutes later. */
  noteLimit(server: ChainServer, limit: number): void {
    const record = this.#recordOf(hostOf(server))
    const now = this.#clock.monotonic()
    // One that has given more than ever before has changed its mind; a cost gives somewhat more at one time than at another.
    if (limit > record.most * 1.1) record.refusals = 0
    record.most = Math.max(record.most, limit)
    record.limit = limit
    if (now < record.limitUntil) return
    record.limitUntil = now + LIMIT_MS * 2 ** Math.min(record.refusals, 4)
    record.refusals += 1
  }

  /** True of a host that has shown a limit, also one that is to be tried again. */
  hasRefused(host: string): boolean {
    return (this.#hosts.get(host)?.refusals ?? 0) > 0
  }

  /** How many subscriptions a host has room for: a twentieth of a limit is left to wallets that grow. */
  roomOf(host: string): number {
    return Math.floor(this.limitOf(host) * 0.95)
  }

  /**
   * Notes that a server has ended a connection while subscriptions were waiting: it is a limit if it does so three times in a row at
   * about the same number. A network that breaks does not count so well.
   */
  noteDrop(server: ChainServer, answered: number): void {
    const record = this.#recordOf(hostOf(server))
    const { at, times } = record.drops
    const isSame = answered >= FEWEST_AT_LIMIT && Math.abs(answered - at) <= answered * DROP_SPAN
    record.drops = { at: answered, times: isSame ? times + 1 : 1 }
    if (isSame && times + 1 >= DROPS) this.noteLimit(server, Math.min(at, answered))
  }

  isFailing(host: string): boolean {
    const { failedAt } = this.#hosts.get(host) ?? {}
    return failedAt !== undefined && this.#clock.monotonic() - failedAt < FAILED_MS
  }

  #recordOf(host: string): HostRecord {
    const known = this.#hosts.get(host)
    if (known !== undefined) return known
    const fresh = { failedAt: undefined, limit: 0, limitUntil: Number.NEGATIVE_INFINITY, refusals: 0 }
    const record: HostRecord = { ...fresh, most: 0, drops: NO_DROPS }
    this.#hosts.set(host, record)
    return record
  }
}

/** A server that has failed is not given wallets of others for so long. */
const FAILED_MS = 60_000
/** After which a server is asked for more than it gave; twice as long each time. */
export const LIMIT_MS = 600_000
/** A server that ends a connection with fewer subscriptions has another reason. */
export const FEWEST_AT_LIMIT = 500
const DROPS = 3
const DROP_SPAN = 0.05
const NO_DROPS = { at: 0, times: 0 }

/** True if a server refuses a subscription because of those that it has. */
export const isFull = (error: unknown): error is ElectrumRefusal =>
  isExhausted(error) ||
  (error instanceof ElectrumRefusal &&
    /subscription/i.test(error.message) &&
    /limit|too many|exceed/i.test(error.message))

/** A server that gives this device no more subscriptions: the wallet needs another one. */
export class SubscriptionLimit extends Error {
  readonly server: string
  /** How many it gives. */
  readonly limit: number

  constructor(server: string, limit: number) {
    super(`${server} gives this device no more than ${limit} subscriptions`)
    this.name = 'SubscriptionLimit'
    this.server = server
    this.limit = limit
  }
}

/** True of a node, which has no other users, and of a server of this computer or its network. */
export const isOwn = (server: ChainServer): boolean => {
  const host = hostOf(server)
  return server.url.startsWith('rpc+') || !/[.:]/.test(host) || OWN.test(host)
}

const OWN =
  /^(?:127|10)(?:\.\d+){3}$|^(?:192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+){2}$|^\[(?:::1\]|f[cd]|fe80)|\.(?:local|lan|home\.arpa)$/
