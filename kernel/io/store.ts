/** One change of a batch; without a value, the key is deleted. */
export interface StoreChange {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
}

/** Which keys {@link Store.keys} gives. */
export interface KeyRange {
  /** Only greater keys than this one. */
  readonly after?: Uint8Array
  /** Only lesser keys than this one. */
  readonly before?: Uint8Array
  /** From the greatest key down; from the least up if left out. */
  readonly reverse?: boolean
  /** The most keys of an answer, at least 1. */
  readonly limit: number
}

/**
 * An ordered map of bytes with atomic batches: what a storage plugin may provide in place of a {@link Disk}.
 *
 * Keys are 1 to 1100 bytes in unsigned bytewise order; values have at most 64 MB. A batch that resolves is durable: it survives a
 * crash of the process and of the machine. The map has one owner, which changes no bytes that it has passed or was given, so a
 * store needs neither locks nor transactions that read and write.
 *
 * @example
 * ```ts
 * import { SortedMap, type Store, textOfKey } from 'holdfast/plugin'
 *
 * const values = new SortedMap<Uint8Array>()
 * const store: Store = {
 *   getMany: async keys => keys.map(key => values.get(textOfKey(key))),
 *   async batch(changes) {
 *     for (const { key, value } of changes) {
 *       if (value === undefined) values.delete(textOfKey(key))
 *       else values.set(textOfKey(key), value)
 *     }
 *   },
 *   keys: async range => values.keys(range),
 *   close: async () => {}
 * }
 * ```
 */
export interface Store {
  /**
   * Reads values, in the order of the keys; undefined for a key without one, and for a value that is damaged.
   *
   * @throws STORAGE_FAILED
   */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>
  /**
   * Makes all changes or none; of two changes of one key the later one counts. Resolves when they are durable.
   *
   * @throws STORAGE_FULL, STORAGE_FAILED; nothing has changed then. Where the changes may be there after all after a restart, since
   *   the medium did not confirm them, STORAGE_FAILED says `mayBeSaved`
   */
  batch(changes: readonly StoreChange[]): Promise<void>
  /** One page of keys. Pages are no snapshot: a batch between two of them may show. @throws STORAGE_FAILED */
  keys(range: KeyRange): Promise<Uint8Array[]>
  /** Ends the batches that have begun, and releases locks and handles. A closed store refuses everything. */
  close(): Promise<void>
}
