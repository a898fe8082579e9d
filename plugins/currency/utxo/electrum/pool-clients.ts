import type { ConnectionLoss } from '../../../../kernel/plugin-api.ts'
import type { ScriptSource } from '../wallet/scripts.ts'
import type { ChainTip } from './headers.ts'

/** The calls of the pool to a wallet. */
export interface PoolClient {
  readonly scripts: ScriptSource
  /** How many scripts it watches, or will. */
  readonly expected: number
  /** A new connection: every subscription has to be made again. */
  onOpen(): void
  onTip(tip: ChainTip): void
  /** More headers are linked, or others. */
  onLinked(): void
  onScript(scripthash: string, status: string | null): void
  /** The connection that was ready is gone. */
  onLost(loss: ConnectionLoss): void
  /** A server has passed its checks. */
  onReady(): void
  onFault(text: string): void
}

/** The wallets of one pool, and the scripts that they watch on its present connection. */
export class PoolClients {
  /** Each with what it watches. */
  readonly #watched = new Map<PoolClient, Set<string>>()
  /** What each was going to watch when it came. */
  readonly #expected = new Map<PoolClient, number>()
  /** Almost all scripts have one watcher: a list of one takes a fifth of a set's memory. */
  readonly #watchers = new Map<string, readonly PoolClient[]>()

  readonly scripts: ScriptSource = {
    placeOf: scripthash => this.watchersOf(scripthash)[0]?.scripts.placeOf(scripthash),
    branches: () => [...this.#watched.keys()].flatMap(({ scripts }) => scripts.branches()),
    likely: () => [...this.#watched.keys()].flatMap(({ scripts }) => scripts.likely()),
    kept: () => [...this.#watched.keys()].flatMap(({ scripts }) => scripts.kept?.() ?? [])
  }

  get isEmpty(): boolean {
    return this.#watched.size === 0
  }

  /** How many scripts are watched. */
  get size(): number {
    return this.#watchers.size
  }

  /** How many scripts are watched, or will be. */
  get load(): number {
    let load = 0
    for (const [client, expected] of this.#expected)
      load += Math.max(expected, this.#watched.get(client)?.size ?? 0)
    return load
  }

  add(client: PoolClient): void {
    this.#watched.set(client, new Set())
    this.#expected.set(client, client.expected)
  }

  /** Removes a wallet. @returns the scripts that no other one watches; undefined if it was not there */
  remove(client: PoolClient): readonly string[] | undefined {
    if (!this.#watched.has(client)) return undefined
    const forgotten = this.forget(client)
    this.#watched.delete(client)
    this.#expected.delete(client)
    return forgotten
  }

  /** Lets a wallet watch nothing, as long as it does not begin again. @returns the scripts that no other one watches */
  forget(client: PoolClient): readonly string[] {
    const forgotten: string[] = []
    const watched = this.#watched.get(client) ?? new Set()
    for (const scripthash of watched) {
      const left = this.watchersOf(scripthash).filter(other => other !== client)
      if (left.length > 0) this.#watchers.set(scripthash, left)
      else if (this.#watchers.delete(scripthash)) forgotten.push(scripthash)
    }
    watched.clear()
    this.#expected.set(client, 0)
    return forgotten
  }

  /** Calls each wallet that is there now. */
  each(call: (client: PoolClient) => void): void {
    for (const client of [...this.#watched.keys()]) call(client)
  }

  /** Notes that a wallet watches scripts. */
  watch(client: PoolClient, scripthashes: readonly string[]): void {
    const watched = this.#watched.get(client)
    for (const scripthash of scripthashes) {
      watched?.add(scripthash)
      const watchers = this.watchersOf(scripthash)
      if (!watchers.includes(client)) this.#watchers.set(scripthash, [...watchers, client])
    }
  }

  watchersOf(scripthash: string): readonly PoolClient[] {
    return this.#watchers.get(scripthash) ?? NONE
  }

  /** Forgets what is watched, on a new connection. */
  watchNothing(): void {
    this.#watchers.clear()
    for (const watched of this.#watched.values()) watched.clear()
  }
}

const NONE: readonly PoolClient[] = []
