import { type SliceName, type Slices, sliceNames } from './slices.ts'

/** How many rows each table keeps. */
export type TableLimits = { readonly [K in SliceName]: number }

/** Generous for a person with thousands of wallets, and still bounded. Of quotes: rounds and not rows. */
export const tableLimits: TableLimits = {
  plugins: 1000,
  users: 1000,
  logins: 50,
  accounts: 50,
  lobbies: 50,
  repos: 20_000,
  wallets: 20_000,
  engines: 20_000,
  spends: 200,
  rateProviders: 500,
  pairs: 100_000,
  routes: 200,
  quotes: 50,
  world: 1
}

/** Hears which row of which table is another one, or gone. */
export type RowListener = (slice: SliceName, id: string, what: 'changed' | 'removed') => void

/**
 * The tables on the side of the kernel: changed in place, so that an event costs one entry and copies nothing.
 *
 * A full table loses the row that was seen first; the quotes lose their oldest round.
 */
export class Tables {
  readonly #maps = Object.fromEntries(sliceNames.map(name => [name, new Map()])) as {
    readonly [K in SliceName]: Map<string, Slices[K]>
  }
  readonly #rounds = new Map<string, string[]>()
  readonly #limits: TableLimits
  readonly #tell: RowListener

  constructor(limits: TableLimits, tell: RowListener) {
    this.#limits = limits
    this.#tell = tell
  }

  /** The rows of a table, in the order in which their ids were first seen. */
  rows<K extends SliceName>(slice: K): ReadonlyMap<string, Slices[K]> {
    return this.#maps[slice]
  }

  /** Puts a row in the place of an earlier one of the same id. */
  put<K extends SliceName>(slice: K, id: string, row: Slices[K]): void {
    const map = this.#maps[slice]
    const isNew = !map.has(id)
    map.set(id, row)
    this.#tell(slice, id, 'changed')
    if (isNew && slice !== 'quotes' && map.size > this.#limits[slice]) this.#removeFirst(slice)
  }

  /** Puts a lane of a round of quotes. */
  putQuote(quote: Slices['quotes']): void {
    const { roundId, pluginId, state } = quote
    const id = `${roundId} ${pluginId}`
    // Every lane begins as pending: a later word of a round that is not there would bring back a part of it as the newest.
    if (state !== 'pending' && !this.#rounds.has(roundId)) return
    if (!this.#maps.quotes.has(id)) this.#noteLane(roundId, id)
    this.put('quotes', id, quote)
  }

  /** Takes a row away, if it is there. */
  remove(slice: SliceName, id: string): void {
    if (this.#maps[slice].delete(id)) this.#tell(slice, id, 'removed')
  }

  #removeFirst(slice: SliceName): void {
    const [first] = this.#maps[slice].keys()
    if (first !== undefined) this.remove(slice, first)
  }

  #noteLane(roundId: string, id: string): void {
    const lanes = this.#rounds.get(roundId)
    if (lanes !== undefined) {
      lanes.push(id)
      return
    }
    this.#rounds.set(roundId, [id])
    if (this.#rounds.size <= this.#limits.quotes) return
    const [oldest] = this.#rounds
    if (oldest === undefined) return
    this.#rounds.delete(oldest[0])
    for (const lane of oldest[1]) this.remove('quotes', lane)
  }
}
