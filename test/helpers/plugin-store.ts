import { WalletError } from '../../kernel/base/errors.ts'
import { Secret } from '../../kernel/base/secret.ts'
import type { Store, StoreChange } from '../../kernel/io/store.ts'
import { parseBulkPrefixes } from '../../kernel/repo/store/bulk.ts'
import {
  openSealedStore,
  type SealedStore,
  type SealedStoreOptions
} from '../../kernel/repo/store/sealed-store.ts'
import { SortedMap, textOfKey } from '../../kernel/store/sorted-map.ts'
import { makeRepoIo } from './repo-io.ts'

const io = makeRepoIo()

/**
 * What becomes of a batch: it is made, refused, given up while it may still be made, shown until it is refused, or its answer is
 * lost, and it was made or not.
 */
export type Fate = 'late' | 'lost' | 'lost but made' | 'made' | 'refused' | 'undone'

/** The store of a storage plugin, in memory, which a test steers. */
export interface PluginStore extends Store {
  readonly values: SortedMap<Uint8Array>
  /** Of the next batches. */
  fate: Fate
  /** A batch that is made is answered when this has ended. */
  answer: Promise<void>
  /** What the next listings of keys fail with. */
  keysFailure: Error | undefined
  /** True while it can be neither read nor written. */
  isDown: boolean
  /** Makes the batches that were given up. */
  land(): void
}

/** Makes one. */
export const makePluginStore = (): PluginStore => {
  const values = new SortedMap<Uint8Array>()
  const make = (changes: readonly StoreChange[]): void => {
    for (const { key, value } of changes) {
      if (value === undefined) values.delete(textOfKey(key))
      else values.set(textOfKey(key), value)
    }
  }
  const checkUp = (): void => {
    if (store.isDown) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'the database is gone' })
  }
  const late: (readonly StoreChange[])[] = []
  const store: PluginStore = {
    isDown: false,
    land() {
      for (const changes of late.splice(0)) make(changes)
    },
    values,
    fate: 'made',
    answer: Promise.resolve(),
    keysFailure: undefined,
    async getMany(keys) {
      await io.clock.turn()
      checkUp()
      return keys.map(key => values.get(textOfKey(key)))
    },
    async batch(changes) {
      const { fate } = store
      await io.clock.turn()
      checkUp()
      const before = changes.map(({ key }) => ({ key, value: values.get(textOfKey(key)) }))
      if (fate === 'made' || fate === 'lost but made' || fate === 'undone') make(changes)
      await store.answer
      if (fate === 'undone') make(before)
      if (fate === 'made') return
      if (fate === 'late') {
        late.push(changes)
        throw new WalletError('STORAGE_TIMEOUT', { path: '', what: 'write' })
      }
      const unclear = fate === 'refused' || fate === 'undone' ? {} : { mayBeSaved: true as const }
      throw new WalletError('STORAGE_FAILED', { path: '', reason: fate, ...unclear })
    },
    async keys(range) {
      await io.clock.turn()
      checkUp()
      if (store.keysFailure !== undefined) throw store.keysFailure
      return values.keys(range)
    },
    close: async () => {}
  }
  return store
}

/** Opens a sealed store with the tables `t/` and `u/<name>/` and small blocks; what is reported is a failure unless `report` is given. */
export const openOn = (store: Store, options: Partial<SealedStoreOptions> = {}): Promise<SealedStore> =>
  openSealedStore({
    ...{ io, store, name: 'r', key: new Secret(new Uint8Array(32).fill(7)), blockLength: 600 },
    bulk: parseBulkPrefixes(['t/', 'u/+/']),
    damaged: () => new Map([['damaged', 'yes']]),
    report(error) {
      throw error
    },
    ...options
  })

/** The keys of a store, and which part of which kind of block each names; the entries have bodies alone. */
export const blockKeys = async (
  store: PluginStore
): Promise<{
  readonly heads: Uint8Array[]
  readonly bodies: Uint8Array[]
  readonly entries: Uint8Array[]
  readonly searches: Uint8Array[]
  readonly others: Uint8Array[]
}> => {
  const keys = await store.keys({ limit: 10_000 })
  const blocks = keys.filter(key => key.length === 13)
  const tagOf = (key: Uint8Array): string => textOfKey(key.slice(0, 8))
  const heads = blocks.filter(key => key[8] === 0)
  const tables = new Set(heads.map(tagOf))
  return {
    heads,
    bodies: blocks.filter(key => key[8] === 1 && tables.has(tagOf(key))),
    entries: blocks.filter(key => key[8] === 1 && !tables.has(tagOf(key))),
    searches: blocks.filter(key => key[8] === 2),
    others: keys.filter(key => key.length !== 13)
  }
}
