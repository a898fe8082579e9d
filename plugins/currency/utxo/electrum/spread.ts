import { type EngineLog, type Io, makeAbort } from '../../../../kernel/plugin-api.ts'
import type { NetworkRow } from '../params/coin.ts'
import { type ChainServer, hostOf } from './connection.ts'
import type { LinkedHeaders } from './headers.ts'
import { ElectrumPool } from './pool.ts'
import type { PoolClient } from './pool-clients.ts'
import { isOwn, LIMIT_MS, ServerScores } from './server-scores.ts'

/** Options of {@link ServerSpread}. */
export interface ServerSpreadOptions {
  /** In the order of the user. */
  readonly servers: readonly ChainServer[]
  readonly log: EngineLog
  readonly linked: LinkedHeaders
}

/**
 * Spreads the wallets of one currency over the servers that the user named. Each wallet has one of them at a time.
 *
 * All are with the first as long as it carries no more than its share of subscriptions; then the next is opened, and once all carry their
 * share, the least loaded one takes the next wallet. A server of the user's own network has no share: if it is named first, a wallet goes to
 * others only while that one fails or refuses. It is looked for each minute then, and gets its wallets back once it is there, unless it has
 * shown a limit. A server that refuses more subscriptions gets no more.
 */
export class ServerSpread {
  readonly #io: Io
  readonly #network: NetworkRow
  readonly #options: ServerSpreadOptions
  readonly #scores: ServerScores
  /** The pools that wallets share, at least one; each asks another host. */
  readonly #pools: ElectrumPool[]
  /** The hosts of the user's own. */
  readonly #own: ReadonlySet<string>
  /** Those of them that are named before all others. */
  readonly #preferred: ReadonlySet<string>
  /** Of the wallets that are attached. */
  readonly #seats = new Set<WalletSeat>()
  /** Lost pools that more wallets are about to leave. */
  readonly #leaving = new Set<ElectrumPool>()
  /** Of the next look for a server of one's own. */
  #cancelLook: (() => void) | undefined
  /** Ends a connection to one that no wallet has yet. */
  #endScout: (() => void) | undefined

  constructor(io: Io, network: NetworkRow, options: ServerSpreadOptions) {
    this.#io = io
    this.#network = network
    this.#options = options
    this.#scores = new ServerScores(options.servers, io.clock)
    this.#own = new Set(options.servers.filter(isOwn).map(hostOf))
    const others = options.servers.findIndex(server => !isOwn(server))
    this.#preferred = new Set(options.servers.slice(0, others === -1 ? undefined : others).map(hostOf))
    this.#pools = [this.#makePool()]
  }

  /** A seat for one wallet, which is not attached yet. `circuit`: of a proxy; the wallet then has a connection of its own. */
  seat(client: PoolClient, circuit?: string): WalletSeat {
    // Through a proxy each wallet comes from another place: what servers refuse one says nothing of others.
    const scores =
      circuit === undefined ? this.#scores : new ServerScores(this.#options.servers, this.#io.clock)
    return new WalletSeat(this, this.#pools[0] as ElectrumPool, { client, circuit, scores })
  }

  /** Gives the pool that a wallet is attached to, and notes that it is. */
  enter(seat: WalletSeat): ElectrumPool {
    this.#seats.add(seat)
    if (this.#cancelLook === undefined) this.#lookLater(RETURN_MS)
    return this.#find(seat, undefined) ?? (this.#pools[0] as ElectrumPool)
  }

  /** Gives another pool than the present one, which has refused the wallet, with room for it; undefined if there is none. */
  findOther(seat: WalletSeat): ElectrumPool | undefined {
    seat.noteRefusal(seat.scores.hostOf(seat.pool), this.#io.clock.monotonic())
    return this.#find(seat, seat.pool)
  }

  leave(seat: WalletSeat): void {
    this.#seats.delete(seat)
  }

  #makePool({ circuit, scores }: Partial<WalletSeat> = {}): ElectrumPool {
    const { log, linked } = this.#options
    const pool: ElectrumPool = new ElectrumPool(this.#io, this.#network, {
      ...{ scores: scores ?? this.#scores, log, linked },
      ...(circuit === undefined ? { onLost: () => this.#onLost(pool) } : { circuit })
    })
    return pool
  }

  #find(seat: WalletSeat, except: ElectrumPool | undefined): ElectrumPool | undefined {
    const { expected } = seat.client
    seat.forgive(this.#io.clock.monotonic())
    if (seat.circuit !== undefined) return this.#findOwn(seat, except)
    const used = this.#pools.filter(pool => !pool.isEmpty)
    const hasRoom = (host: string): boolean => seat.mayUse(host) && expected <= this.#scores.roomOf(host)
    if (used.length === 0) {
      // A server that was lost may be back.
      this.#pools[0]?.startAt(this.#scores.freePlace(hasRoom) ?? 0)
      return this.#pools[0]
    }
    const open = used.filter(pool => pool !== except && seat.mayUse(this.#scores.hostOf(pool)))
    const live = open.filter(pool => !this.#scores.isFailing(this.#scores.hostOf(pool) ?? ''))
    const isPreferred = (host = ''): boolean => this.#preferred.has(host)
    const preferred = live.filter(pool => isPreferred(this.#scores.hostOf(pool)))
    const back = this.#scores.freePlace(host => isPreferred(host) && hasRoom(host))
    const within =
      this.#leastLoaded(preferred, expected) ??
      (back === undefined ? this.#leastLoaded(live, expected, this.#shareOf) : undefined)
    if (within !== undefined) return within
    const free = back ?? this.#scores.freePlace(hasRoom)
    // A wallet that its own server refuses must be able to go back to where it was.
    const others = used.filter(pool => !isPreferred(this.#scores.hostOf(pool)))
    if (free === undefined || others.length >= MAX_CONNECTIONS)
      return this.#leastLoaded(live, expected) ?? this.#leastLoaded(open, expected)
    return this.#poolAt(free)
  }

  /** A pool without wallets that begins with the server at a place of the list. */
  #poolAt(place: number): ElectrumPool {
    let pool = this.#pools.find(({ isEmpty }) => isEmpty)
    if (pool === undefined) {
      pool = this.#makePool()
      this.#pools.push(pool)
    }
    pool.startAt(place)
    return pool
  }

  readonly #shareOf = (host: string): number => (this.#own.has(host) ? Number.POSITIVE_INFINITY : SHARE)

  #leastLoaded(
    pools: readonly ElectrumPool[],
    expected: number,
    mostOf: (host: string) => number = () => Number.POSITIVE_INFINITY
  ): ElectrumPool | undefined {
    const [least] = pools
      .filter(pool => {
        const host = this.#scores.hostOf(pool) ?? ''
        return pool.load + expected <= Math.min(mostOf(host), this.#scores.roomOf(host))
      })
      .sort((one, other) => one.load - other.load)
    return least
  }

  /** A connection of the wallet's own, which begins with the server that has room and carries the fewest. */
  #findOwn(seat: WalletSeat, except: ElectrumPool | undefined): ElectrumPool | undefined {
    const { scores } = seat
    const { expected } = seat.client
    const loads = new Map<string, number>()
    for (const { pool, scores: own } of this.#seats) {
      const host = own.hostOf(pool) ?? ''
      loads.set(host, (loads.get(host) ?? 0) + pool.load)
    }
    const fit = scores.servers
      .map((server, place) => ({ host: hostOf(server), place }))
      .filter(({ host }) => seat.mayUse(host) && !scores.isFailing(host))
      .filter(({ host }) => expected <= scores.roomOf(host))
    const loadOf = ({ host }: { readonly host: string }): number => loads.get(host) ?? 0
    const found =
      fit.find(option => loadOf(option) + expected <= this.#shareOf(option.host)) ??
      [...fit].sort((one, other) => loadOf(one) - loadOf(other))[0]
    if (found === undefined && except !== undefined) return undefined
    const pool = this.#makePool(seat)
    pool.startAt(found?.place ?? 0)
    return pool
  }

  /**
   * Takes the wallets of a pool whose server has failed to the others, some at a time, so that none is asked for all of them at once.
   * While a server is free and no other has room for all within its share, the pool itself goes there with its wallets.
   */
  #onLost(pool: ElectrumPool): void {
    if (this.#cancelLook === undefined) this.#lookLater(RETURN_MS)
    if (this.#leaving.has(pool)) return
    const others = this.#pools.filter(other => other !== pool && other.isReady)
    const isFew = this.#leastLoaded(others, pool.load, this.#shareOf) !== undefined
    if (isFew || this.#scores.freePlace() === undefined) this.#moveSome(pool)
  }

  #moveSome(pool: ElectrumPool): void {
    this.#leaving.delete(pool)
    const ready = this.#pools.filter(other => other !== pool && other.isReady)
    let moves = 0
    for (const seat of this.#seats) {
      if (seat.pool !== pool) continue
      if (pool.isReady) return
      if (moves === MOVES_AT_ONCE) return void this.#moveMoreLater(pool)
      const { expected } = seat.client
      seat.forgive(this.#io.clock.monotonic())
      const willing = ready.filter(other => seat.mayUse(this.#scores.hostOf(other)))
      const to = this.#leastLoaded(willing, expected, this.#shareOf) ?? this.#leastLoaded(willing, expected)
      // There may still be room for a smaller one.
      if (to === undefined) continue
      seat.moveTo(to)
      moves += 1
    }
  }

  #moveMoreLater(pool: ElectrumPool): void {
    this.#leaving.add(pool)
    const jitter = (this.#io.random(1)[0] ?? 0) / 256
    this.#io.clock.after(MOVE_PAUSE_MS * (1 + jitter), () => this.#moveSome(pool))
  }

  #lookLater(delayMs: number): void {
    if (this.#preferred.size === 0) return
    this.#cancelLook?.()
    this.#cancelLook = this.#io.clock.after(delayMs, () => {
      this.#cancelLook = undefined
      this.#lookBack()
    })
  }

  /** Takes wallets that are with others back to servers of one's own, some at a time, or looks if one of these is there again. */
  #lookBack(): void {
    const strayed = [...this.#seats].filter(({ pool, circuit }) => {
      const host = this.#scores.hostOf(pool)
      return circuit === undefined && host !== undefined && !this.#preferred.has(host)
    })
    const back = this.#pools.filter(pool => pool.isReady && this.#takesBack(this.#scores.hostOf(pool)))
    if (strayed.length === 0 || back.length === 0) {
      this.#endScout?.()
      if (strayed.length === 0) return
      this.#lookOut()
      this.#lookLater(RETURN_MS)
      return
    }
    // What waits for an answer may be a payment: nobody would know what has become of it. Those who leave make a pool busy, too.
    const busy = new Set(this.#pools.filter(({ isBusy }) => isBusy))
    let moves = 0
    let isMore = false
    for (const seat of strayed) {
      const willing = back.filter(pool => seat.mayUse(this.#scores.hostOf(pool)))
      const to = this.#leastLoaded(willing, seat.client.expected)
      if (to === undefined) continue
      if (moves === MOVES_AT_ONCE || busy.has(seat.pool)) isMore = true
      else {
        seat.moveTo(to)
        moves += 1
      }
    }
    if (!isMore) this.#endScout?.()
    this.#lookLater(isMore ? MOVE_PAUSE_MS : RETURN_MS)
  }

  readonly #takesBack = (host = ''): boolean => this.#preferred.has(host) && !this.#scores.hasRefused(host)

  /** Connects to a server of one's own that is perhaps back, and keeps the connection until wallets have it. */
  #lookOut(): void {
    const place = this.#scores.freePlace(this.#takesBack)
    // One connection more than wallets share, until they are back and leave another.
    if (place === undefined) return
    const leave = this.#poolAt(place).attach({
      ...{ scripts: { placeOf: () => undefined, branches: () => [], likely: () => [] }, expected: 0 },
      ...{ onOpen() {}, onTip() {}, onLinked() {}, onScript() {}, onLost() {} },
      onReady: () => this.#lookLater(0),
      onFault: () => this.#endScout?.()
    })
    this.#endScout = () => {
      this.#endScout = undefined
      leave()
    }
  }
}

/** The place of one wallet among the connections to the servers: it stays the same, and its pool may become another. */
export class WalletSeat {
  readonly client: PoolClient
  /** Of a proxy. */
  readonly circuit: string | undefined
  /** What is known of the servers where the wallet comes from. */
  readonly scores: ServerScores
  readonly #spread: ServerSpread
  /** When a host refused the wallet: it is not asked again for a while. */
  readonly #refusedAt = new Map<string, number>()
  #pool: ElectrumPool
  #detach: (() => void) | undefined
  #moved = makeAbort()

  constructor(
    spread: ServerSpread,
    pool: ElectrumPool,
    { client, circuit, scores }: Pick<WalletSeat, 'circuit' | 'client' | 'scores'>
  ) {
    this.#spread = spread
    this.#pool = pool
    this.client = client
    this.circuit = circuit
    this.scores = scores
  }

  /** The connection that the wallet has now. */
  get pool(): ElectrumPool {
    return this.#pool
  }

  /** Attaches the wallet, if it is not. */
  attach(): void {
    if (this.#detach !== undefined) return
    this.#pool = this.#spread.enter(this)
    this.#detach = this.#pool.attach(this.client)
  }

  detach(): void {
    this.#spread.leave(this)
    this.#detach?.()
    this.#detach = undefined
  }

  /** Notes that a host has refused the wallet, at a time in milliseconds. */
  noteRefusal(host: string | undefined, now: number): void {
    if (host !== undefined) this.#refusedAt.set(host, now)
  }

  /** Forgets refusals of long ago. */
  forgive(now: number): void {
    for (const [host, at] of this.#refusedAt) if (now - at >= LIMIT_MS) this.#refusedAt.delete(host)
  }

  /** True if a host has not refused the wallet, as far as is noted. */
  readonly mayUse = (host: string | undefined): boolean => !this.#refusedAt.has(host ?? '')

  /** The hosts that were not asked for room because they have failed within a minute; undefined if there is none. */
  get failing(): string | undefined {
    const hosts = new Set(this.scores.servers.map(hostOf))
    const failing = [...hosts].filter(host => this.scores.isFailing(host))
    return failing.length === 0 ? undefined : failing.join(', ')
  }

  /** Goes to another server with room. @returns false if there is none */
  move(): boolean {
    const pool = this.#spread.findOther(this)
    if (pool === undefined || this.#detach === undefined) return false
    this.moveTo(pool)
    return true
  }

  /** Takes the wallet from one pool to another. */
  moveTo(pool: ElectrumPool): void {
    const detach = this.#detach
    const moved = this.#moved
    this.#moved = makeAbort()
    this.#pool = pool
    this.#detach = pool.attach(this.client)
    detach?.()
    if (pool.tip !== undefined) this.client.onTip(pool.tip)
    if (pool.isOpen) this.client.onOpen()
    if (pool.isReady) this.client.onReady()
    moved.abort()
  }

  /** Resolves once the server of the wallet, whichever it is by then, has passed its checks. See {@link ElectrumPool.whenReady}. */
  async ready(limitMs: number, isPatient = false): Promise<void> {
    for (let pool: ElectrumPool | undefined; pool !== this.#pool; ) {
      pool = this.#pool
      const { signal } = this.#moved
      let onMoved = (): void => {}
      const moved = new Promise<void>(resolve => {
        onMoved = () => resolve()
        signal.addEventListener('abort', onMoved)
      })
      try {
        await Promise.race([pool.whenReady(limitMs, isPatient), moved])
      } catch (error) {
        if (pool === this.#pool) throw error
      } finally {
        signal.removeEventListener('abort', onMoved)
      }
    }
  }
}

/** Subscriptions after which a server is spared as long as another one has fewer: an ElectrumX becomes slow from 3,000 on. */
const SHARE = 5000
/** The most connections that wallets share to servers that are not the user's own. */
const MAX_CONNECTIONS = 8
/** Wallets that leave a lost server together. */
const MOVES_AT_ONCE = 16
const MOVE_PAUSE_MS = 250
/** The pause between two looks for a server of one's own that was lost. */
const RETURN_MS = 60_000
