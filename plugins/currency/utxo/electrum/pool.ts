import {
  type Abort,
  type EngineLog,
  type Io,
  type Json,
  makeAbort,
  patienceOf,
  type SigningOptions,
  type WalletError
} from '../../../../kernel/plugin-api.ts'
import type { BlockHeader } from '../chain/header.ts'
import { type ChainOrigin, ChainRefusal } from '../chain/header-chain.ts'
import { isTxHash } from '../chain/transaction.ts'
import type { FeeEstimates, NetworkRow } from '../params/coin.ts'
import {
  type ChainConnection,
  type ChainServer,
  type ElectrumCall,
  ElectrumFault,
  ElectrumRefusal,
  ServerLesson
} from './connection.ts'
import { type ChainTip, HeaderCache, type LinkedHeaders } from './headers.ts'
import { type PoolClient, PoolClients } from './pool-clients.ts'
import {
  checkKnownBlocks,
  knownBlocksOf,
  NEWEST,
  OLDEST,
  readStatus,
  readTip,
  readVersion,
  type SpokenVersion
} from './replies.ts'
import { ServerFees } from './server-fees.ts'
import type { ServerScores } from './server-scores.ts'
import { ServerTurn } from './server-turn.ts'
import { Subscriptions } from './subscriptions.ts'
import { TipFollower } from './tip-follower.ts'

/** Options of {@link ElectrumPool}. */
export interface ElectrumPoolOptions {
  /** The servers, and what all pools of them know. */
  readonly scores: ServerScores
  readonly log: EngineLog
  /** What pools of one network share. */
  readonly linked: LinkedHeaders
  /** Through a proxy, the connections of pools with other circuits cannot be linked to those of this one. */
  readonly circuit?: string
  /** Is called after each failure of a server, once the next attempt is due. */
  readonly onLost?: () => void
}

/**
 * One connection of a coin, shared by wallets, or of one wallet through a proxy; it moves on to the next server when one fails, and
 * passes over those that other pools ask.
 *
 * It is open exactly while somebody is attached. A server whose first block is not the network's is never used.
 */
export class ElectrumPool {
  readonly #io: Io
  readonly #network: NetworkRow
  readonly #scores: ServerScores
  readonly #onLost: (() => void) | undefined
  /** The URLs of servers that closed a connection instead of agreeing on a version; they are given one version only. */
  readonly #oldServers = new Set<string>()
  /** What the server has agreed to. A try of what it does not know is an error, and a hundred errors end the connection. */
  #spoken: SpokenVersion | undefined
  readonly #log: EngineLog
  readonly #clients = new PoolClients()
  readonly #waiting = new Set<Waiting>()
  readonly #headers: HeaderCache
  /** Of a proxy; other pools use others. */
  readonly #circuit: string | undefined
  readonly #linked: LinkedHeaders
  #connection: ChainConnection | undefined
  #ready: Promise<void> = Promise.resolve()
  #isReady = false
  /** Ends when no wallet needs a connection any more. */
  #opening: Abort | undefined
  #cancelRetry: (() => void) | undefined
  #cancelTrust: (() => void) | undefined
  #endListening: (() => void) | undefined
  readonly #turn: ServerTurn
  #generation = 0
  /** Requests that have no answer yet. */
  #waitingCalls = 0
  #tip: ChainTip | undefined
  /** Of the connection. */
  #follower: TipFollower | undefined
  readonly #fees: ServerFees
  #server: ChainServer | undefined
  /** Of the connection. */
  #subscriptions: Subscriptions | undefined

  constructor(io: Io, network: NetworkRow, options: ElectrumPoolOptions) {
    this.#io = io
    this.#network = network
    this.#headers = new HeaderCache(io, network)
    this.#linked = options.linked
    this.#fees = new ServerFees(io.clock)
    this.#scores = options.scores
    // Pools of a proxy ask the same server on circuits of their own.
    this.#turn = new ServerTurn(options.scores, { user: this, mayShare: options.circuit !== undefined })
    this.#onLost = options.onLost
    this.#log = options.log
    this.#circuit = options.circuit
  }

  get tip(): ChainTip | undefined {
    return this.#tip
  }

  get safeHeight(): number {
    return this.#linked.safeHeight
  }

  /** The fee rates of other servers than the present one. */
  get otherFees(): readonly FeeEstimates[] {
    return this.#fees.ofOthers(this.#server?.url)
  }

  /** Counts connections; what was subscribed under an older number is no longer. */
  get generation(): number {
    return this.#generation
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  /** True once the server has passed its checks. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** True while a request of a wallet has no answer: what becomes of a payment is not known then. */
  get isBusy(): boolean {
    return this.#waitingCalls > 0
  }

  /** True if no wallet is attached. */
  get isEmpty(): boolean {
    return this.#clients.isEmpty
  }

  /** How many subscriptions the server has of this pool, or will have. */
  get load(): number {
    return this.#clients.load + (this.#subscriptions?.left ?? 0)
  }

  /** Begins with another server than the first, as long as no wallet is attached. */
  startAt(place: number): void {
    if (this.isEmpty) this.#turn.startAt(place)
  }

  /** True if the server takes a payment together with those that it spends. */
  get takesPackages(): boolean {
    return this.#isReady && this.#spoken?.takesPackages === true
  }

  /** See {@link ChainConnection.scriptsAtOnce}. */
  get scriptsAtOnce(): number {
    return this.#connection?.scriptsAtOnce ?? Number.POSITIVE_INFINITY
  }

  /** See {@link ChainConnection.cursor}. */
  get cursor(): ChainConnection['cursor'] {
    return this.#isReady ? this.#connection?.cursor : undefined
  }

  /** Adds a wallet; the returned function removes it and all that it watches. */
  attach(client: PoolClient): () => void {
    this.#clients.add(client)
    this.#endListening ??= this.#linked.listen(this.#onLinked)
    if (this.#connection === undefined) this.#open()
    return () => this.#detach(client)
  }

  /**
   * Resolves once a server has passed its checks.
   *
   * @param isPatient - goes on waiting although every server has failed since: another try may come within the limit
   * @throws NETWORK after `limitMs`, three times as much through a proxy, unless a server is open and being checked; or when every
   * server has failed
   */
  whenReady(limitMs: number, isPatient = false): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    if (this.#scores.servers.length === 0)
      return Promise.reject(this.#turn.unreachable('no server is configured'))
    // An explicit request does not wait for the end of a back-off, which may be a minute; a server of one's own that restarts needs its seconds.
    if (this.#cancelRetry !== undefined && !this.#turn.isRetrying) {
      this.#cancelRetry()
      this.#cancelRetry = undefined
      this.#open()
    }
    return new Promise((resolve, reject) => {
      const done = (error?: Error): void => {
        cancel()
        this.#waiting.delete(waiting)
        if (error === undefined) resolve()
        else reject(error)
      }
      let cancel = (): void => undefined
      const wait = (): void => {
        cancel = this.#io.clock.after(limitMs * patienceOf(this.#io), () => {
          // A server that has connected answers, or its connection ends; its headers may take a while.
          if (this.isOpen && !isPatient) wait()
          else done(this.#turn.unreachable('The server does not answer'))
        })
      }
      wait()
      const waiting = {
        done,
        failuresLeft: isPatient ? Number.POSITIVE_INFINITY : this.#scores.servers.length
      }
      this.#waiting.add(waiting)
    })
  }

  /** What a wallet met while its server was there: the loss of it, or of every server if none stays. */
  lossOf(error: unknown): WalletError {
    return this.#turn.lossOf(this.serverUrl, error)
  }

  /** Asks many things at once; every promise settles by itself. @throws ElectrumRefusal, ElectrumFault, NETWORK */
  callMany(calls: readonly ElectrumCall[]): Promise<Json>[] {
    const connection = this.#connection
    if (connection === undefined)
      return calls.map(() => Promise.reject(this.#turn.unreachable('no server is connected')))
    const ready = this.#ready
    this.#waitingCalls += calls.length
    return connection.callMany(calls).map(async reply => {
      const value = await reply.finally(() => this.#waitingCalls--)
      await ready
      return value
    })
  }

  /** Looks through all coins of a server without an index of scripts; undefined of any other. @throws NETWORK, SIGN_STOPPED */
  searchCoins(
    scripts: readonly Uint8Array[],
    options: SigningOptions
  ): ReturnType<NonNullable<ChainConnection['searchCoins']>> | undefined {
    return this.#isReady ? this.#connection?.searchCoins?.(scripts, options) : undefined
  }

  /**
   * Subscribes scripts in one go and gives their statuses. Throws at once where nothing is to be requested.
   *
   * @throws SubscriptionLimit if the server gives no more; ElectrumFault, NETWORK
   */
  subscribe(client: PoolClient, scripthashes: readonly string[]): Promise<(string | null)[]> {
    if (this.#subscriptions === undefined) throw this.#turn.unreachable('no server is connected')
    return this.#subscriptions.subscribe(client, scripthashes)
  }

  /** Headers by height; those asked before come from memory. @throws ElectrumFault, NETWORK */
  headersAt(heights: readonly number[]): Promise<ReadonlyMap<number, BlockHeader>> {
    return this.#headers.fetch(
      heights,
      calls => this.callMany(calls),
      (height, hash) => this.#linked.standingOf(height, hash) === 'other'
    )
  }

  /**
   * Returns the origin of the linked chain that a block is in, `other` if that has another block at its height, and undefined where
   * it has none.
   */
  readonly standingOf = (height: number, hash: string): ChainOrigin | 'other' | undefined =>
    this.#linked.standingOf(height, hash)

  /** Asks the server for its newest block once more, and links up to it. @throws ChainRefusal, ElectrumFault, NETWORK */
  async relink(): Promise<void> {
    const follower = this.#follower
    const [reply] = this.callMany([{ method: 'blockchain.headers.subscribe', params: [] }])
    const tip = readTip(await reply)
    if (follower === this.#follower) await follower?.take(tip)
  }

  /** The server that is asked now. */
  get serverUrl(): string {
    return this.#server?.url ?? 'the server'
  }

  /** Forgets the linked headers, which the server has to show again. */
  async forgetHeaders(): Promise<void> {
    this.#connection?.forgetHistory?.()
    await this.#linked.forget()
    if (this.#isReady) await this.relink()
  }

  /** Fee rates not older than a minute, if the server has any; otherwise the last known ones. */
  async refreshFees(): Promise<FeeEstimates> {
    const connection = this.#connection
    if (this.#isReady && connection !== undefined) await this.#fees.refresh(connection)
    return this.#fees.latest
  }

  /** True of an error that says that a server lied, broke the protocol, or refuses what a wallet needs. */
  isFault(error: unknown): error is Error {
    return FAULTS.some(fault => error instanceof fault)
  }

  /** Gives up the present server because of a fault. */
  blame(error: unknown): void {
    if (this.isFault(error)) this.#connection?.close(error)
  }

  #detach(client: PoolClient): void {
    const forgotten = this.#clients.remove(client)
    if (forgotten === undefined) return
    if (this.#clients.isEmpty) {
      this.#scores.leave(this)
      // Its wallets may know a newer one by the time in which one comes back.
      this.#tip = undefined
      this.#cancelRetry?.()
      this.#cancelRetry = undefined
      this.#endListening?.()
      this.#endListening = undefined
      this.#opening?.abort()
      this.#opening = undefined
      this.#connection?.close(new Error(UNNEEDED))
      for (const { done } of [...this.#waiting]) done(this.#turn.unreachable('the wallet was closed'))
    } else this.#subscriptions?.forget(forgotten)
  }

  #open(): void {
    if (this.#opening !== undefined || this.#cancelRetry !== undefined || this.#clients.isEmpty) return
    const server = this.#turn.next()
    if (server === undefined)
      return void this.#clients.each(client => client.onFault('No server is configured'))
    const attempt = makeAbort()
    this.#opening = attempt
    let opened: ChainConnection | undefined
    const handlers = {
      scripts: this.#clients.scripts,
      signal: attempt.signal,
      onBusy: (reason: string | undefined): boolean => this.#onBusy(server, reason),
      onNotification: (method: string, params: readonly Json[]): void => this.#onPush(method, params),
      onClose: (error: Error): void => {
        if (opened !== undefined && opened === this.#connection) this.#lost(server, error)
      }
    }
    const opening = server.open(this.#io, handlers, this.#circuit)
    Promise.all([opening, this.#linked.load()]).then(
      ([connection]) => {
        if (this.#opening !== attempt) return connection.close(new Error(UNNEEDED))
        this.#opening = undefined
        opened = connection
        if (!connection.isOpen) this.#lost(server, new Error('The server closed the connection'))
        else this.#begin(connection, server)
      },
      error => {
        // The headers of the disk may have failed, and not the server.
        attempt.abort()
        opening.then(connection => connection.close(new Error(UNNEEDED))).catch(() => undefined)
        if (this.#opening !== attempt) return
        this.#opening = undefined
        this.#lost(server, error)
      }
    )
  }

  #begin(connection: ChainConnection, server: ChainServer): void {
    this.#connection = connection
    this.#server = server
    this.#generation = this.#scores.nextGeneration()
    this.#subscriptions = new Subscriptions({
      ...{ clock: this.#io.clock, server, scores: this.#scores, clients: this.#clients },
      canForget: () => this.#isReady && this.#spoken?.canForget === true,
      whenReady: () => this.#ready,
      callMany: calls => this.callMany(calls)
    })
    const follower = new TipFollower(this.#io, connection, {
      ...{ headers: this.#headers, linked: this.#linked, before: this.#tip },
      onTip: tip => {
        if (follower === this.#follower) this.#announce(tip)
      },
      onLinked: this.#onLinked
    })
    this.#follower = follower
    this.#clients.watchNothing()
    this.#ready = this.#greet(connection, follower)
    this.#ready.then(
      () => {
        if (connection !== this.#connection) return
        this.#isReady = true
        this.#turn.onReady(server)
        this.#cancelTrust = this.#io.clock.after(TRUST_MS, () => this.#turn.trust(server))
        for (const { done } of [...this.#waiting]) done()
        this.#clients.each(client => client.onReady())
      },
      error => connection.close(error)
    )
    this.#clients.each(client => client.onOpen())
  }

  async #greet(connection: ChainConnection, follower: TipFollower): Promise<void> {
    const span = this.#linked.nextSpan
    // Electrum Personal Server cannot read two versions, and closes the connection.
    const versions = this.#oldServers.has(connection.url) ? OLDEST : [OLDEST, NEWEST]
    const greeting = connection.callMany([
      { method: 'server.version', params: ['holdfast', versions] },
      { method: 'blockchain.headers.subscribe', params: [] },
      ...knownBlocksOf(this.#network).map(({ height }) => ({
        method: 'blockchain.block.header',
        params: [height]
      }))
    ])
    const early = span && follower.query(span.start, span.count)
    early?.catch(() => undefined)
    const agreed = (greeting[0] as Promise<Json>).then(readVersion)
    // Of a connection that ends before it, the greeting says why.
    agreed.catch(() => undefined)
    const fees = this.#fees.fetch(connection, agreed)
    greeting[0]?.catch(() => {
      if (!connection.isOpen) this.#oldServers.add(connection.url)
    })
    const [, tip, ...blocks] = await Promise.all(greeting)
    this.#spoken = await agreed
    checkKnownBlocks(this.#io.crypto, this.#network, blocks)
    const newest = readTip(tip)
    const linked = follower.take(newest, span && { ...span, headers: (await early) ?? [] })
    // What one more request brings is waited for; the rest comes in the background.
    const isShort = newest.height - (this.#network.checkpoint?.height ?? 0) < SHORT
    if (isShort || (span !== undefined && newest.height < span.start + span.count)) await linked
    await fees
  }

  #onPush(method: string, params: readonly Json[]): void {
    // What is pushed counts only once the server has passed its checks.
    this.#ready
      .then(() => {
        if (method === 'blockchain.headers.subscribe') {
          const tip = readTip(params[0])
          const early = { start: tip.height, headers: [this.#io.crypto.fromHex(tip.hex)] }
          this.#follower?.take(tip, early).catch(() => undefined)
        }
        if (method === 'blockchain.scripthash.subscribe') this.#onScriptStatus(params)
      })
      .catch(error => this.blame(error))
  }

  #onScriptStatus([scripthash, status]: readonly Json[]): void {
    if (!isTxHash(scripthash)) throw new ElectrumFault('The server sent a bad script notification')
    const read = readStatus(status)
    for (const client of this.#clients.watchersOf(scripthash)) client.onScript(scripthash, read)
  }

  readonly #onLinked = (): void => {
    this.#clients.each(client => client.onLinked())
  }

  #announce(tip: ChainTip): void {
    this.#tip = tip
    this.#clients.each(client => client.onTip(tip))
  }

  /** A server that is busy is waited for if there is no other one. */
  #onBusy({ url }: ChainServer, reason: string | undefined): boolean {
    if (this.#scores.servers.length > 1 || this.#clients.isEmpty) return false
    this.#turn.loss = reason === undefined ? undefined : { server: url, reason }
    const text = reason === undefined ? '' : `${url}: ${reason}`
    this.#clients.each(client => client.onFault(text))
    return true
  }

  #lost(server: ChainServer, error: unknown): void {
    const wasReady = this.#isReady
    this.#connection = undefined
    this.#isReady = false
    const subscriptions = this.#subscriptions
    this.#subscriptions = undefined
    this.#cancelTrust?.()
    if (this.#clients.isEmpty) return
    subscriptions?.end(error)
    if (error instanceof ServerLesson) return void this.#open()
    const loss = this.#turn.fail(server, error)
    const { reason } = loss
    this.#log.warn(`electrum ${server.url}: ${reason}`)
    this.#clients.each(client => {
      client.onFault(`${server.url}: ${reason}`)
      if (wasReady) client.onLost(loss)
    })
    for (const waiting of [...this.#waiting]) {
      if (!this.#turn.isRetrying) waiting.failuresLeft--
      if (waiting.failuresLeft <= 0) waiting.done(this.#turn.unreachable(reason))
    }
    this.#cancelRetry = this.#io.clock.after(this.#turn.delayMs(this.#io.random(1)[0]), () => {
      this.#cancelRetry = undefined
      this.#open()
    })
    if (!this.#turn.isRetrying) this.#onLost?.()
  }
}

/** Somebody who waits for a server, and after how many failures no longer. */
interface Waiting {
  readonly done: (error?: Error) => void
  failuresLeft: number
}

const FAULTS = [ElectrumFault, ElectrumRefusal, ChainRefusal]
const UNNEEDED = 'Nobody needs the connection any more'
const TRUST_MS = 30_000
/** As many blocks as one request for headers brings. */
const SHORT = 2016
