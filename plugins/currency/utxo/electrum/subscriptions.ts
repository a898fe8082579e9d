import type { Clock, Json } from '../../../../kernel/plugin-api.ts'
import { ChainRefusal } from '../chain/header-chain.ts'
import {
  type ChainServer,
  type ElectrumCall,
  ElectrumFault,
  type ElectrumRefusal,
  hostOf,
  isExhausted
} from './connection.ts'
import type { PoolClient, PoolClients } from './pool-clients.ts'
import { readStatus } from './replies.ts'
import { FEWEST_AT_LIMIT, isFull, type ServerScores, SubscriptionLimit } from './server-scores.ts'

/** What {@link Subscriptions} are made through. */
export interface SubscriptionsOptions {
  readonly clock: Pick<Clock, 'turn'>
  readonly server: ChainServer
  readonly scores: ServerScores
  readonly clients: PoolClients
  /** True if the server forgets a script that no wallet watches any more. */
  canForget(): boolean
  /** Resolves once the server has passed its checks. */
  whenReady(): Promise<void>
  callMany(calls: readonly ElectrumCall[]): readonly Promise<Json>[]
}

/** The subscriptions of one connection, which are never more than its server has shown that it gives. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  /** Those that the server has, and the most that it has had. */
  #answered = 0
  #most = 0
  /** Those that have no answer yet. */
  #waiting = 0
  /** Those that no wallet needs any more, of a server that does not forget them. */
  readonly #left = new Set<string>()

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  get left(): number {
    return this.#left.size
  }

  /**
   * Subscribes scripts in one go and gives their statuses. Throws at once if the server has shown before that it gives no more, so that
   * nothing else is requested for them either.
   *
   * @throws SubscriptionLimit if the server gives no more: the wallet then watches nothing here; ElectrumFault, NETWORK
   */
  subscribe(client: PoolClient, scripthashes: readonly string[]): Promise<(string | null)[]> {
    const { clients } = this.#options
    const more = scripthashes.filter(hash => clients.watchersOf(hash).length === 0 && !this.#left.has(hash))
    if (clients.size + this.left + more.length > this.#limit) throw this.#refuse(client)
    clients.watch(client, scripthashes)
    for (const hash of scripthashes) this.#left.delete(hash)
    return this.#subscribe(client, scripthashes)
  }

  async #subscribe(client: PoolClient, scripthashes: readonly string[]): Promise<(string | null)[]> {
    const { clock, clients, whenReady } = this.#options
    const statuses = new Map<string, string | null>()
    for (let tries = 1; ; tries += 1) {
      const wanted = scripthashes.filter(hash => !statuses.has(hash))
      const refusal = await this.#send(wanted, statuses)
      if (refusal === undefined) return scripthashes.map(hash => statuses.get(hash) ?? null)
      // Answers that have come with the refusal count, too, and those count once the server has passed its checks.
      await whenReady()
      await clock.turn()
      this.#noteLimit(refusal)
      // Of wallets that were refused together, the first to leave make room for the others.
      const hasRoom = clients.size + this.left <= this.#limit && !isExhausted(refusal)
      const refused = scripthashes.filter(hash => !statuses.has(hash))
      if (!hasRoom || tries === MAX_TRIES) throw this.#refuse(client, refused)
    }
  }

  /** Subscribes scripts, and puts the answers into a map. @returns the refusal of those that have none */
  async #send(
    scripthashes: readonly string[],
    statuses: Map<string, string | null>
  ): Promise<Error | undefined> {
    const calls = scripthashes.map(hash => ({ method: 'blockchain.scripthash.subscribe', params: [hash] }))
    let refusal: Error | undefined
    this.#waiting += calls.length
    const replies = this.#options.callMany(calls).map(async (reply, at) => {
      try {
        statuses.set(scripthashes[at] ?? '', readStatus(await reply))
        this.#answered++
        this.#most = Math.max(this.#most, this.#answered)
      } catch (error) {
        if (!isFull(error) || !this.#isLimit(error)) throw error
        refusal = error
      } finally {
        this.#waiting--
      }
    })
    await Promise.all(replies)
    return refusal
  }

  /** Unsubscribes scripts where the server can. `refused`: those that it does not have. */
  forget(scripthashes: readonly string[], refused: readonly string[] = []): void {
    const { canForget, callMany } = this.#options
    if (!canForget()) {
      for (const hash of scripthashes) this.#left.add(hash)
      for (const hash of refused) this.#left.delete(hash)
      return
    }
    const method = 'blockchain.scripthash.unsubscribe'
    for (const reply of callMany(scripthashes.map(scripthash => ({ method, params: [scripthash] }))))
      reply.then(isDone => (this.#answered -= isDone === true ? 1 : 0)).catch(() => undefined)
  }

  /** Notes what the end of the connection says of the limits of its server. */
  end(error: unknown): void {
    const { scores, server } = this.#options
    // A connection that we end ourselves says nothing of a limit.
    if (this.#waiting === 0 || error instanceof ElectrumFault || error instanceof ChainRefusal) return
    if (!isExhausted(error)) scores.noteDrop(server, this.#answered)
    else if (this.#isLimit(error)) this.#noteLimit(error)
  }

  /** False of a server that has had enough of a device with few subscriptions: that cost something else, and it forgives soon. */
  #isLimit(refusal: ElectrumRefusal): boolean {
    return !isExhausted(refusal) || this.#most >= FEWEST_AT_LIMIT
  }

  get #limit(): number {
    const { scores, server } = this.#options
    return scores.limitOf(hostOf(server))
  }

  #noteLimit(error: unknown): void {
    const { scores, server } = this.#options
    scores.noteLimit(server, isExhausted(error) ? Math.floor(this.#most * CAUTION) : this.#most)
  }

  #refuse(client: PoolClient, refused: readonly string[] = []): SubscriptionLimit {
    const { clients, server } = this.#options
    this.forget(clients.forget(client), refused)
    return new SubscriptionLimit(server.url, this.#limit)
  }
}

const MAX_TRIES = 2
/** The part that is asked for again of what was too much: a cost is more than subscriptions. */
const CAUTION = 0.8
