import { WalletError } from '../../base/errors.ts'
import { equalBytes } from '../../crypto/encoding.ts'
import type { KeyRange, Store, StoreChange } from '../../io/store.ts'
import { SortedMap, textOfKey } from '../../store/sorted-map.ts'
import { BLOCK_PARTS, blockKey, parseBlockKey } from './block.ts'

/**
 * A store that holds in memory what could not be saved: reads see it as if it were there, and the next batch saves it, too.
 *
 * While nothing is held, which is nearly always, it is the store below.
 */
export class UnsavedStore implements Store {
  readonly #store: Store
  /** By their keys as texts; undefined while nothing is held. */
  #held: Map<string, StoreChange> | undefined
  /** A batch with it that failed and may have been made. */
  #unclear: readonly StoreChange[] | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Takes changes that the store below has refused. */
  hold(changes: readonly StoreChange[]): void {
    const held = this.#held ?? new Map<string, StoreChange>()
    this.#held = held
    // A body is never written again, so a block whose body is held was never saved: nothing of it is left to delete.
    const gone = changes.flatMap(({ key, value }) => {
      const { tag, part, block = 0 } = parseBlockKey(key) ?? {}
      const isHeld = value === undefined && held.get(textOfKey(key))?.value !== undefined
      return isHeld && tag !== undefined && part === 'body'
        ? BLOCK_PARTS.map(name => textOfKey(blockKey(tag, name, block)))
        : []
    })
    for (const change of changes) held.set(textOfKey(change.key), change)
    for (const key of gone) held.delete(key)
  }

  /** True while something waits for the next batch. */
  get isHolding(): boolean {
    return this.#held !== undefined
  }

  /** As {@link Store.batch}, with what is held; where it fails, that is still held. */
  async batch(changes: readonly StoreChange[]): Promise<void> {
    if (this.#held === undefined) return this.#store.batch(changes)
    const all = [...this.#held.values(), ...changes]
    try {
      await this.#store.batch(all)
    } catch (error) {
      if (isUnclear(error)) this.#unclear = all
      throw error
    }
    this.#held = undefined
  }

  /** Finds out whether a batch that may have been made was: then nothing is held any more. @throws STORAGE_FAILED */
  async settleUnclear(): Promise<void> {
    if (this.#unclear === undefined) return
    const last = new Map(this.#unclear.map(change => [textOfKey(change.key), change]))
    // Sealed values are never equal by chance. A batch of deletions alone is made where nothing of them is left.
    const [written] = [...last.values()].filter(({ value }) => value !== undefined)
    const looked = written === undefined ? [...last.values()] : [written]
    const found = await this.#store.getMany(looked.map(({ key }) => key))
    const isMade = looked.every(({ value }, i) => equalOrNone(value, found[i]))
    if (isMade) this.#held = undefined
    this.#unclear = undefined
  }

  /** A batch of nothing, of what is held neither: the store below settles what others have left. */
  settle(): Promise<void> {
    return this.#store.batch([])
  }

  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.#held === undefined ? this.#store.getMany(keys) : this.#getMany(keys, this.#held)
  }

  async #getMany(
    keys: readonly Uint8Array[],
    held: ReadonlyMap<string, StoreChange>
  ): Promise<(Uint8Array | undefined)[]> {
    const changes = keys.map(key => held.get(textOfKey(key)))
    const below = await this.#store.getMany(keys.filter((_, i) => changes[i] === undefined))
    let next = 0
    return changes.map(change => (change === undefined ? below[next++] : change.value))
  }

  keys(range: KeyRange): Promise<Uint8Array[]> {
    return this.#held === undefined ? this.#store.keys(range) : this.#keys(range, this.#held)
  }

  async #keys(range: KeyRange, held: ReadonlyMap<string, StoreChange>): Promise<Uint8Array[]> {
    const keys = new SortedMap<true>()
    // So many more that a whole page is left, whatever of it is held as deleted.
    for (const key of await this.#store.keys({ ...range, limit: range.limit + held.size }))
      keys.set(textOfKey(key), true)
    for (const [key, { value }] of held) {
      if (value === undefined) keys.delete(key)
      else keys.set(key, true)
    }
    return keys.keys(range)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** Checks if a batch that failed may have been made all the same. */
export const isUnclear = (error: unknown): boolean =>
  error instanceof WalletError && (error.details as { mayBeSaved?: unknown }).mayBeSaved === true

const equalOrNone = (left: Uint8Array | undefined, right: Uint8Array | undefined): boolean =>
  left === undefined || right === undefined ? left === right : equalBytes(left, right)
