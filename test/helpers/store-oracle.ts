import { isWalletError } from '../../kernel/base/errors.ts'
import type { BulkChange, BulkRow } from '../../kernel/repo/store/bulk.ts'

type Change = string | BulkChange | null

interface Written {
  readonly begun: number
  readonly changes: ReadonlyMap<string, Change>
  /** `unclear` if the failure said that it may be saved. */
  state: 'pending' | 'done' | 'failed' | 'unclear'
  ended: number
}

/** From the moment in which a read began to the one in which it ended. */
export interface Span {
  readonly since: number
  readonly until: number
}

/** What a store should hold, from the writes that it was given: a plain list of them. */
export class StoreOracle {
  #writes: Written[] = []
  #now = 0

  /** A moment, for {@link allowed}. */
  get now(): number {
    this.#now += 1
    return this.#now
  }

  /** Notes a write that begins, and how it ends. */
  async write(changes: ReadonlyMap<string, Change>, done: Promise<void>): Promise<void> {
    const written: Written = { begun: this.now, changes, state: 'pending', ended: 0 }
    this.#writes.push(written)
    const end = (state: Written['state']): void => {
      written.ended = this.now
      written.state = state
    }
    await done.then(
      () => end('done'),
      (error: unknown) =>
        end(
          isWalletError(error, 'STORAGE_FAILED') && error.details.mayBeSaved === true ? 'unclear' : 'failed'
        )
    )
  }

  /** What a read may say of a key. Asked for a turn later, when every writer has heard of a failure that the read has seen. */
  allowed(key: string, { since, until }: Span): Set<string> {
    const texts = new Set<string>()
    for (const { begun, changes, state, ended } of this.#writes.toReversed()) {
      const change = changes.get(key)
      if (change === undefined || begun > until || (state === 'failed' && ended < since)) continue
      texts.add(spelt(key, change))
      if (begun < since && state !== 'failed' && state !== 'unclear') return texts
    }
    return texts.add(ABSENT)
  }

  /** Whether a write has failed that may have been saved. */
  get isUnclear(): boolean {
    return this.#writes.some(({ state }) => state === 'unclear')
  }

  /** Takes what is there, while nothing is on its way, for what has become of the writes that may have been saved. */
  settle(there: ReadonlyMap<string, string>): void {
    for (const written of this.#writes.filter(({ state }) => state === 'unclear').toReversed()) {
      const later = this.#writes
        .slice(this.#writes.indexOf(written) + 1)
        .filter(({ state }) => state !== 'failed')
      const isThere = [...written.changes].every(
        ([key, change]) =>
          later.some(({ changes }) => changes.has(key)) || (there.get(key) ?? ABSENT) === spelt(key, change)
      )
      written.state = isThere ? 'done' : 'failed'
    }
  }

  /** What may be there of a key after a crash: what was acknowledged last, or anything later. */
  afterCrash(key: string): Set<string> {
    const texts = new Set<string>()
    for (const { changes, state } of this.#writes.toReversed()) {
      const change = changes.get(key)
      if (change === undefined) continue
      texts.add(spelt(key, change))
      if (state === 'done') return texts
    }
    return texts.add(ABSENT)
  }

  /** Writes of which a state shows a part only, told by their keys. */
  torn(there: ReadonlyMap<string, string>): string[] {
    return this.#writes.flatMap(({ changes }, i) => {
      const later = this.#writes.slice(i + 1)
      const keys = [...changes.keys()].filter(
        key => changes.get(key) !== null && !later.some(other => other.changes.has(key))
      )
      const seen = keys.filter(key => (there.get(key) ?? ABSENT) === spelt(key, changes.get(key) ?? null))
      return seen.length === 0 || seen.length === keys.length ? [] : [keys.join()]
    })
  }

  /** Takes what is there for all that was ever written. */
  begin(there: ReadonlyMap<string, Change>): void {
    this.#writes = [{ begun: this.now, changes: there, state: 'done', ended: this.now }]
  }

  /** What is there when nothing is on its way, by whole keys. */
  present(): Map<string, Change> {
    const present = new Map<string, Change>()
    for (const { changes, state } of this.#writes) {
      if (state === 'failed') continue
      for (const [key, change] of changes) {
        if (change === null) present.delete(key)
        else present.set(key, change)
      }
    }
    return present
  }

  /** The rows of a table when nothing is on its way, in their order. */
  rows(table: string): BulkRow[] {
    const rows: BulkRow[] = []
    for (const [key, change] of this.present())
      if (key.startsWith(table)) rows.push(rowOf(table, key, change))
    return rows.sort((left, right) => right.order - left.order)
  }
}

/** A key that is not there. */
export const ABSENT = '-'

/** A row or an entry as one text. */
export const spelt = (key: string, change: Change): string => {
  if (change === null) return ABSENT
  if (typeof change === 'string') return change
  const { text, order = 0, mark = 0 } = change
  return `${key} ${order} ${mark} ${text}`
}

const rowOf = (table: string, key: string, change: Change): BulkRow => {
  const {
    text,
    order = 0,
    mark = 0
  } = typeof change === 'object' && change !== null ? change : { text: change ?? '' }
  return { key: key.slice(table.length), text, order, mark }
}
