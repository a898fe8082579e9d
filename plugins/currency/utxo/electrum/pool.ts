import {
  type ConnectionLoss,
  compact,
  type EngineLog,
  type Io,
  type Json,
  makeYielder,
  patienceOf,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { type BlockHeader, parseHeader } from '../chain/header.ts'
import { isTxHash } from '../chain/transaction.ts'
import type { FeeEstimates, NetworkRow } from '../params/coin.ts'
import {
  type ElectrumCall,
  ElectrumConnection,
  ElectrumFault,
  ElectrumRefusal,
  type ElectrumServer
} from './connection.ts'
import { fetchFeeEstimates, readHeaderHex, readStatus, readTip } from './replies.ts'

/** The calls of the pool to a wallet. */
export interface PoolClient {
  /** A new connection: every subscription has to be made again. */
  onOpen(): void
  onTip(tip: ChainTip): void
  onScript(scripthash: string, status: string | null): void
  /** The connection that was ready is gone. */
  onLost(loss: ConnectionLoss): void
  /** A server has passed its checks. */
  onReady(): void
  onFault(text: string): void
}

/** Options of {@link ElectrumPool}. */
export interface ElectrumPoolOptions {
  readonly servers: readonly ElectrumServer[]
  readonly log: EngineLog
  /** Through a proxy, the connections of pools with other circuits cannot be linked to those of this one. */
  readonly circuit?: string
}

/**
 * The one connection of a coin, shared by all its wallets, or by one wallet through a proxy; it moves on to the next server when one fails.
 *
 * It is open exactly while somebody is attached. A server whose first block is not the network's is never used.
 */
export class ElectrumPool {
  readonly #io: Io
  readonly #network: NetworkRow
  readonly #servers: readonly ElectrumServer[]
  readonly #log: EngineLog
  /** Each with what it watches. */
  readonly #clients = new Map<PoolClient, Set<string>>()
  /** Almost all scripts have one watcher: a list of one takes a fifth of a set's memory. */
  readonly #watchers = new Map<string, readonly PoolClient[]>()
  readonly #waiting = new Set<Waiting>()
  readonly #headers: HeaderCache
  /** Of a proxy; other pools use others. */
  readonly #circuit: string | undefined
  #connection: ElectrumConnection | undefined
  #ready: Promise<void> = Promise.resolve()
  #isReady = false
  #isOpening = false
  #cancelRetry: (() => void) | undefined
  #cancelTrust: (() => void) | undefined
  #failures = 0
  /** How often a connection failed since a server was last ready for a while. */
  #untrusted = 0
  /** Of the server that failed last. */
  #loss: ConnectionLoss | undefined
  #generation = 0
  #tip: ChainTip | undefined
  #fees: FeeEstimates = {}
  #feesAt = Number.NEGATIVE_INFINITY
  #server: ElectrumServer | undefined
  /** The latest fee rates of each server, by its URL. */
  readonly #feesBy = new Map<string, FeeEstimates>()

  constructor(io: Io, network: NetworkRow, options: ElectrumPoolOptions) {
    this.#io = io
    this.#network = network
    this.#headers = new HeaderCache(io, network)
    this.#servers = options.servers
    this.#log = options.log
    this.#circuit = options.circuit
  }

  get tip(): ChainTip | undefined {
    return this.#tip
  }

  get fees(): FeeEstimates {
    return this.#fees
  }

  /** The fee rates of other servers than the present one. */
  get otherFees(): readonly FeeEstimates[] {
    return [...this.#feesBy].flatMap(([url, fees]) => (url === this.#server?.url ? [] : [fees]))
  }

  /** Counts connections; what was subscribed under an older number is no longer. */
  get generation(): number {
    return this.#generation
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  /** Adds a wallet; the returned function removes it and all that it watches. */
  attach(client: PoolClient): () => void {
    this.#clients.set(client, new Set())
    if (this.#connection === undefined) this.#open()
    return () => this.#detach(client)
  }

  /**
   * Resolves once a server has passed its checks.
   *
   * @param isPatient - goes on waiting although every server has failed since: another try may come within the limit
   * @throws NETWORK after `limitMs`, three times as much through a proxy, or when every server has failed
   */
  whenReady(limitMs: number, isPatient = false): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    if (this.#servers.length === 0) return Promise.reject(this.#unreachable('no server is configured'))
    // An explicit request does not wait for the end of a back-off, which may be a minute.
    if (this.#cancelRetry !== undefined) {
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
      const cancel = this.#io.clock.after(limitMs * patienceOf(this.#io), () =>
        done(this.#unreachable('The server does not answer'))
      )
      const waiting = { done, failuresLeft: isPatient ? Number.POSITIVE_INFINITY : this.#servers.length }
      this.#waiting.add(waiting)
    })
  }

  /** What a wallet met while its server was there: the loss of it, or of every server if none stays. */
  lossOf(error: unknown): WalletError {
    if (this.#untrusted >= this.#servers.length) return this.#unreachable(reasonOf(error))
    const { server, reason } = this.#loss ?? {
      server: this.#connection?.url ?? 'the server',
      reason: reasonOf(error)
    }
    return new WalletError('CONNECTION_LOST', { server, reason }, error)
  }

  /** Asks many things at once; every promise settles by itself. @throws ElectrumRefusal, ElectrumFault, NETWORK */
  callMany(calls: readonly ElectrumCall[]): Promise<Json>[] {
    const connection = this.#connection
    if (connection === undefined)
      return calls.map(() => Promise.reject(this.#unreachable('no server is connected')))
    const ready = this.#ready
    return connection.callMany(calls).map(async reply => {
      const value = await reply
      await ready
      return value
    })
  }

  /** Subscribes scripts in one go and gives their statuses. @throws ElectrumFault, NETWORK */
  async subscribe(client: PoolClient, scripthashes: readonly string[]): Promise<(string | null)[]> {
    const watched = this.#clients.get(client)
    for (const scripthash of scripthashes) {
      watched?.add(scripthash)
      const watchers = this.#watchers.get(scripthash)
      if (watchers === undefined) this.#watchers.set(scripthash, [client])
      else if (!watchers.includes(client)) this.#watchers.set(scripthash, [...watchers, client])
    }
    const calls = scripthashes.map(hash => ({ method: 'blockchain.scripthash.subscribe', params: [hash] }))
    return (await Promise.all(this.callMany(calls))).map(readStatus)
  }

  /** Headers by height; those asked before come from memory. @throws ElectrumFault, NETWORK */
  headersAt(heights: readonly number[]): Promise<ReadonlyMap<number, BlockHeader>> {
    return this.#headers.fetch(heights, calls => this.callMany(calls))
  }

  /** Fee rates not older than a minute, if the server has any; otherwise the last known ones. */
  async refreshFees(): Promise<FeeEstimates> {
    if (!this.#isReady || this.#io.clock.monotonic() - this.#feesAt < FEES_FRESH_MS) return this.#fees
    await this.#fetchFees().catch(() => undefined)
    return this.#fees
  }

  /** Gives up the present server because it lied, broke the protocol, or refuses what a wallet needs. */
  blame(error: unknown): void {
    if (!(error instanceof ElectrumFault || error instanceof ElectrumRefusal)) return
    this.#connection?.close(error)
  }

  #detach(client: PoolClient): void {
    const watched = this.#clients.get(client)
    if (watched === undefined) return
    this.#clients.delete(client)
    const forgotten: ElectrumCall[] = []
    for (const scripthash of watched) {
      const left = this.#watchers.get(scripthash)?.filter(other => other !== client)
      if (left === undefined) continue
      if (left.length > 0) {
        this.#watchers.set(scripthash, left)
        continue
      }
      this.#watchers.delete(scripthash)
      forgotten.push({ method: 'blockchain.scripthash.unsubscribe', params: [scripthash] })
    }
    if (this.#clients.size === 0) {
      this.#cancelRetry?.()
      this.#cancelRetry = undefined
      this.#connection?.close(new Error('Nobody needs the connection any more'))
      for (const { done } of [...this.#waiting]) done(this.#unreachable('the wallet was closed'))
    } else if (this.#isReady) {
      // Servers older than protocol 1.4.2 refuse this; then they push to nobody.
      for (const reply of this.callMany(forgotten)) reply.catch(() => undefined)
    }
  }

  #open(): void {
    if (this.#isOpening || this.#cancelRetry !== undefined || this.#clients.size === 0) return
    const server = this.#servers[this.#failures % Math.max(1, this.#servers.length)]
    if (server === undefined) {
      for (const client of [...this.#clients.keys()]) client.onFault('No server is configured')
      return
    }
    this.#isOpening = true
    let opened: ElectrumConnection | undefined
    const handlers = {
      onNotification: (method: string, params: readonly Json[]): void => this.#onPush(method, params),
      onClose: (error: Error): void => {
        if (opened !== undefined && opened === this.#connection) this.#lost(server, error)
      }
    }
    ElectrumConnection.open(this.#io, { server, circuit: this.#circuit }, handlers).then(
      connection => {
        this.#isOpening = false
        opened = connection
        if (this.#clients.size === 0) connection.close(new Error('Nobody needs the connection any more'))
        else {
          this.#server = server
          this.#begin(connection)
        }
      },
      error => {
        this.#isOpening = false
        this.#lost(server, error)
      }
    )
  }

  #begin(connection: ElectrumConnection): void {
    this.#connection = connection
    this.#generation++
    this.#watchers.clear()
    for (const watched of this.#clients.values()) watched.clear()
    this.#ready = this.#greet(connection)
    this.#ready.then(
      () => {
        if (connection !== this.#connection) return
        this.#isReady = true
        // Keeps the place in the list, forgets the failed rounds.
        this.#cancelTrust = this.#io.clock.after(TRUST_MS, () => {
          this.#failures %= this.#servers.length
          this.#untrusted = 0
        })
        this.#loss = undefined
        for (const { done } of [...this.#waiting]) done()
        for (const client of [...this.#clients.keys()]) client.onReady()
      },
      error => connection.close(error)
    )
    for (const client of [...this.#clients.keys()]) client.onOpen()
  }

  async #greet(connection: ElectrumConnection): Promise<void> {
    const { name, genesis, genesisDigest = genesis, checkpoint, headerForm } = this.#network
    const wanted = [{ height: 0, hash: genesisDigest }, ...(checkpoint === undefined ? [] : [checkpoint])]
    const greeting = connection.callMany([
      { method: 'server.version', params: ['holdfast', '1.4'] },
      { method: 'blockchain.headers.subscribe', params: [] },
      ...wanted.map(({ height }) => ({ method: 'blockchain.block.header', params: [height] }))
    ])
    const fees = this.#fetchFees()
    const [, tip, ...blocks] = await Promise.all(greeting)
    for (const [at, { hash }] of wanted.entries()) {
      const bytes = this.#io.crypto.fromHex(readHeaderHex(blocks[at] ?? null))
      // Its hash is known, which says more than its work.
      if (parseHeader(bytes, compact({ headerForm })).hash !== hash)
        throw new ElectrumFault(`The server is not of ${name}`)
    }
    this.#setTip(readTip(tip))
    await fees
  }

  async #fetchFees(): Promise<void> {
    const connection = this.#connection
    if (connection === undefined) return
    const fees = await fetchFeeEstimates(calls => connection.callMany(calls))
    if (connection !== this.#connection) return
    this.#fees = fees
    if (this.#server !== undefined) this.#feesBy.set(this.#server.url, fees)
    this.#feesAt = this.#io.clock.monotonic()
  }

  #onPush(method: string, params: readonly Json[]): void {
    // What is pushed counts only once the server has passed its checks.
    this.#ready
      .then(() => {
        if (method === 'blockchain.headers.subscribe') this.#setTip(readTip(params[0]))
        if (method === 'blockchain.scripthash.subscribe') this.#onScriptStatus(params)
      })
      .catch(error => this.blame(error))
  }

  #onScriptStatus([scripthash, status]: readonly Json[]): void {
    if (!isTxHash(scripthash)) throw new ElectrumFault('The server sent a bad script notification')
    const read = readStatus(status)
    for (const client of this.#watchers.get(scripthash) ?? []) client.onScript(scripthash, read)
  }

  #setTip({ height, hex }: { readonly height: number; readonly hex: string }): void {
    const tip = { height, header: this.#headers.read(hex) }
    this.#headers.extend(this.#tip, tip)
    this.#tip = tip
    for (const client of [...this.#clients.keys()]) client.onTip(tip)
  }

  /** No server of the list can be asked; names the one that failed last, and why. */
  #unreachable(reason: string): WalletError {
    const { server, reason: lastReason } = this.#loss ?? {
      server: this.#servers[0]?.url ?? 'the chain',
      reason
    }
    const many = this.#servers.length
    return new WalletError('NETWORK', {
      path: 'electrum',
      server: many < 2 ? server : `any of ${many} servers, the last of them ${server}`,
      reason: lastReason
    })
  }

  #lost(server: ElectrumServer, error: unknown): void {
    const wasReady = this.#isReady
    this.#connection = undefined
    this.#isReady = false
    this.#cancelTrust?.()
    if (this.#clients.size === 0) return
    this.#failures++
    this.#untrusted++
    const reason = reasonOf(error)
    const loss = { server: server.url, reason }
    this.#loss = loss
    this.#log.warn(`electrum ${server.url}: ${reason}`)
    for (const client of [...this.#clients.keys()]) {
      client.onFault(`${server.url}: ${reason}`)
      if (wasReady) client.onLost(loss)
    }
    for (const waiting of [...this.#waiting]) {
      waiting.failuresLeft--
      if (waiting.failuresLeft <= 0) waiting.done(this.#unreachable(reason))
    }
    const round = Math.floor((this.#failures - 1) / this.#servers.length)
    const isNextRound = this.#failures % this.#servers.length === 0
    const delay = isNextRound
      ? Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(round, 20))
      : FIRST_RETRY_MS / 2
    const jitter = (this.#io.random(1)[0] ?? 0) / 256
    this.#cancelRetry = this.#io.clock.after(Math.round(delay * (1 + jitter / 2)), () => {
      this.#cancelRetry = undefined
      this.#open()
    })
  }
}

/** Somebody who waits for a server, and after how many failures no longer. */
interface Waiting {
  readonly done: (error?: Error) => void
  failuresLeft: number
}

const FEES_FRESH_MS = 60_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 60_000
const TRUST_MS = 30_000

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'The connection failed'

/** The newest block a server knows. */
export interface ChainTip {
  readonly height: number
  readonly header: BlockHeader
}

/** Block headers by height, bounded, and forgotten near the tip when the chain turns out to be another one. */
export class HeaderCache {
  readonly #io: Pick<Io, 'clock' | 'crypto'>
  readonly #network: Pick<NetworkRow, 'headerForm' | 'work'>
  readonly #headers = new Map<number, BlockHeader>()
  #reorgs = 0

  constructor(io: Pick<Io, 'clock' | 'crypto'>, network: Pick<NetworkRow, 'headerForm' | 'work'>) {
    this.#io = io
    this.#network = network
  }

  /** Parses a header. @throws ElectrumFault if it is damaged or lacks work */
  read(hex: string): BlockHeader {
    try {
      return parseHeader(this.#io.crypto.fromHex(hex), this.#network)
    } catch (error) {
      throw new ElectrumFault(error instanceof Error ? error.message : 'The server sent a bad block header')
    }
  }

  /** Takes a new tip in. */
  extend(before: ChainTip | undefined, { height, header }: ChainTip): void {
    if (
      before !== undefined &&
      before.header.hash !== header.hash &&
      header.previous !== before.header.hash
    ) {
      // Another chain, or blocks missed: what is remembered near the tip may be of blocks that are gone.
      this.#reorgs += 1
      const safe = Math.min(before.height, height) - MAX_REORG
      for (const cached of this.#headers.keys()) if (cached > safe) this.#headers.delete(cached)
    }
    this.#headers.set(height, header)
  }

  /** Headers by height; what is not remembered is asked for. @throws ElectrumFault, NETWORK */
  async fetch(
    heights: readonly number[],
    callMany: (calls: readonly ElectrumCall[]) => readonly Promise<Json>[]
  ): Promise<ReadonlyMap<number, BlockHeader>> {
    const reorgs = this.#reorgs
    const found = new Map<number, BlockHeader>()
    const missing: number[] = []
    for (const height of new Set(heights)) {
      const header = this.#headers.get(height)
      if (header === undefined) missing.push(height)
      else found.set(height, header)
    }
    if (missing.length === 0) return found
    const replies = await Promise.all(
      callMany(missing.map(height => ({ method: 'blockchain.block.header', params: [height] })))
    )
    if (this.#headers.size > MAX_HEADERS) this.#headers.clear()
    const yielder = makeYielder(this.#io.clock)
    for (const [at, reply] of replies.entries()) {
      const height = missing[at] as number
      const header = this.read(readHeaderHex(reply))
      // Asked before a reorganisation, it may be of a block that is gone.
      if (reorgs === this.#reorgs) this.#headers.set(height, header)
      found.set(height, header)
      await yielder()
    }
    return found
  }
}

const MAX_HEADERS = 20_000
const MAX_REORG = 100
