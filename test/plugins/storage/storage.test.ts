import { EventEmitter } from 'node:events'
import test from 'ava'
import type { KeyvStoreAdapter } from 'keyv'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { keyvDisk } from '../../../plugins/storage/keyv-disk.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { testStoragePlugin } from '../../../testing/storage-suite.ts'
import { testDisk } from '../../helpers/test-disk.ts'

/** A store as a database adapter would be: no Map, no native listing, iterated in groups of its own. */
class PlainStore extends EventEmitter {
  readonly opts = { dialect: 'plain', url: '' }
  readonly rows = new Map<string, string>()
  failure: Error | undefined

  async get(key: string): Promise<string | undefined> {
    this.#check()
    return this.rows.get(key)
  }

  async set(key: string, value: string, ttl?: number): Promise<boolean> {
    this.#check()
    if (ttl !== undefined) throw new Error('no time to live is ever set')
    this.rows.set(key, value)
    return true
  }

  async delete(key: string): Promise<boolean> {
    this.#check()
    return this.rows.delete(key)
  }

  async clear(): Promise<void> {
    this.rows.clear()
  }

  async *iterator(): AsyncGenerator<[string, string]> {
    this.#check()
    yield* this.rows
  }

  #check(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

const asStore = (store: PlainStore): KeyvStoreAdapter => store as unknown as KeyvStoreAdapter

testStoragePlugin(test, () => memoryStorage(), { pluginId: 'memory', isDurable: false })

const maps = new Map<number, Map<string, string>>()
testDisk(
  test,
  async place => {
    const map = maps.get(place) ?? new Map<string, string>()
    maps.set(place, map)
    return keyvDisk(map)
  },
  { pluginId: 'a Map given to Keyv' }
)

const stores = new Map<number, PlainStore>()
testDisk(
  test,
  async place => {
    const store = stores.get(place) ?? new PlainStore()
    stores.set(place, store)
    return keyvDisk(asStore(store))
  },
  { pluginId: 'a Keyv adapter without a listing' }
)

test('a Keyv store holds exactly our text under exactly our path', async t => {
  const store = new PlainStore()
  await keyvDisk(asStore(store)).setText('logins/x.json', '{"a":1}')
  t.deepEqual([...store.rows], [['logins/x.json', '{"a":1}']])
})

test('a store that fails is an error of the catalogue in every call, never an empty answer', async t => {
  const store = new PlainStore()
  const disk = keyvDisk(asStore(store))
  await disk.setText('a', '1')
  const failures = [
    [new Error('broken'), 'STORAGE_FAILED'],
    [Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'STORAGE_FULL'],
    [Object.assign(new Error('quota'), { code: 'EDQUOT' }), 'STORAGE_FULL']
  ] as const
  for (const [failure, code] of failures) {
    store.failure = failure
    for (const call of [disk.getText('a'), disk.setText('a', '2'), disk.delete('a'), disk.list('')]) {
      t.true(isWalletError(await t.throwsAsync(call), code))
    }
    store.failure = undefined
    t.is(await disk.getText('a'), '1')
  }
})

test('a value that is no text is damage', async t => {
  const rows = new Map<string, unknown>([['a', { value: 5 }]])
  const disk = keyvDisk(rows as Map<string, string>)
  t.true(isWalletError(await t.throwsAsync(disk.getText('a')), 'CORRUPT_FILE'))
})

test('the memory plugin answers openDisk with its own files', async t => {
  const files = new Map([['a', '1']])
  const plugin = memoryStorage(files)
  const answers: (() => Promise<import('../../../kernel/io/disk.ts').Disk>)[] = []
  const openDisk = { tapPromise: (_: string, fn: never) => void answers.push(fn) }
  plugin.apply({ hooks: { openDisk } } as never)
  t.is(await (await answers[0]?.())?.getText('a'), '1')
})
