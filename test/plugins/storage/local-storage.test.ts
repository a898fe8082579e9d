import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { createKernel } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { localStorageDisk, openLocalDisk, type WebStorage } from '../../../plugins/storage/local-storage.ts'
import type { WebLocks } from '../../../plugins/storage/page-lock.ts'
import { testStoragePlugin } from '../../../testing/storage-suite.ts'

/** Web Storage as the standard has it, with a quota in characters. */
class MemoryStorage implements WebStorage {
  readonly items = new Map<string, string>()
  quota = Number.POSITIVE_INFINITY

  get length(): number {
    return this.items.size
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null
  }

  getItem(key: string): string | null {
    return this.items.get(key) ?? null
  }

  setItem(key: string, text: string): void {
    if (key.length + text.length > this.quota) throw new DOMException('It is full', 'QuotaExceededError')
    this.items.set(key, text)
  }

  removeItem(key: string): void {
    this.items.delete(key)
  }
}

/** Web Locks of one browser. */
const makeLocks = (): WebLocks => {
  const held = new Set<string>()
  return {
    request: async (name, _options, hold) => {
      if (held.has(name)) return hold(null)
      held.add(name)
      try {
        return await hold({ name })
      } finally {
        held.delete(name)
      }
    }
  }
}

const storages = new Map<number, MemoryStorage>()
testStoragePlugin(
  test,
  place => {
    const storage = storages.get(place) ?? new MemoryStorage()
    storages.set(place, storage)
    return localStorageDisk({ storage })
  },
  { pluginId: 'local storage' }
)

test('texts are kept as they are below the prefix of the deployed client, beside what is not ours [9.30]', async t => {
  const storage = new MemoryStorage()
  storage.setItem('theme', 'dark')
  storage.setItem('airbitz', 'not a path')
  storage.setItem('airbitz/logins/made-by-another-client.json', '{}')
  const disk = await openLocalDisk({ storage })
  await disk.setText('client.json', '{"clientId":"x"}')
  t.is(storage.getItem('airbitz/client.json'), '{"clientId":"x"}')
  t.deepEqual(await disk.list(''), ['client.json', 'logins/made-by-another-client.json'])
  t.is(await disk.getText('logins/made-by-another-client.json'), '{}')
  await disk.delete('client.json')
  t.deepEqual([...storage.items.keys()], ['theme', 'airbitz', 'airbitz/logins/made-by-another-client.json'])
})

test('a full storage is STORAGE_FULL and keeps the old text; any other failure is STORAGE_FAILED', async t => {
  const storage = new MemoryStorage()
  const disk = await openLocalDisk({ storage })
  await disk.setText('a', 'old')
  storage.quota = 20
  t.true(isWalletError(await t.throwsAsync(disk.setText('a', 'x'.repeat(100))), 'STORAGE_FULL'))
  t.is(await disk.getText('a'), 'old')
  storage.getItem = () => {
    throw new DOMException('The user said no', 'SecurityError')
  }
  t.true(isWalletError(await t.throwsAsync(disk.getText('a')), 'STORAGE_FAILED'))
})

test('a second page is kept out until the first closes, and a closed disk refuses everything', async t => {
  const storage = new MemoryStorage()
  const locks = makeLocks()
  const disk = await openLocalDisk({ storage, locks })
  t.true(isWalletError(await t.throwsAsync(openLocalDisk({ storage, locks })), 'STORAGE_LOCKED'))
  await disk.close?.()
  await t.throwsAsync(disk.setText('a', 'x'), { code: 'STORAGE_FAILED' })
  await new Promise(resolve => setImmediate(resolve))
  const second = await openLocalDisk({ storage, locks })
  t.deepEqual(await second.list(''), [])
  await second.close?.()
})

test.serial('only the storage of the page itself waits for the locks of the page', async t => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  const names: string[] = []
  const locks: WebLocks = {
    request: (name, _options, hold) => {
      names.push(name)
      return hold({ name })
    }
  }
  class PageStorage extends MemoryStorage {}
  const ownStorage = Object.getOwnPropertyDescriptor(globalThis, 'Storage')
  Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  Object.defineProperty(globalThis, 'Storage', { value: PageStorage, configurable: true })
  try {
    await openLocalDisk({ storage: new MemoryStorage() })
    t.deepEqual(names, [])
    await openLocalDisk({ storage: new PageStorage() })
    t.deepEqual(names, ['airbitz/lock'])
  } finally {
    for (const [name, property] of [
      ['navigator', own],
      ['Storage', ownStorage]
    ] as const) {
      if (property === undefined) Reflect.deleteProperty(globalThis, name)
      else Object.defineProperty(globalThis, name, property)
    }
  }
})

test('a page that may hold no locks has no storage, and the error says so', async t => {
  const locks: WebLocks = {
    request: () => Promise.reject(new DOMException('Access to the Locks API is denied', 'SecurityError'))
  }
  await t.throwsAsync(openLocalDisk({ storage: new MemoryStorage(), locks }), { code: 'STORAGE_FAILED' })
})

test("a browser that answers late does not make a free name another page's", async t => {
  const locks = makeLocks()
  // The browser grants at once; the page hears of it later than it waits for a taken name.
  const late: WebLocks = {
    request: (name, options, hold) =>
      locks.request(name, options, async lock => {
        await sleep(1100)
        const { signal } = options as { signal?: AbortSignal }
        if (signal?.aborted) throw signal.reason
        await hold(lock)
      })
  }
  const storage = new MemoryStorage()
  const disk = await openLocalDisk({ storage, locks: late })
  await t.throwsAsync(openLocalDisk({ storage, locks: late }), { code: 'STORAGE_LOCKED' })
  await disk.close?.()
})

test('opening waits for a page that is just closing', async t => {
  const storage = new MemoryStorage()
  const locks = makeLocks()
  const disk = await openLocalDisk({ storage, locks })
  const next = openLocalDisk({ storage, locks })
  await disk.setText('a', 'x')
  await disk.close?.()
  t.is(await (await next).getText('a'), 'x')
})

test('a kernel keeps its data in it', async t => {
  const storage = new MemoryStorage()
  const kernel = await createKernel({
    ...{ io: makeNodeIo(), apiKey: '', authServer: 'http://localhost/api', infoServers: [] },
    ...{ syncServers: [], plugins: [localStorageDisk({ storage })] }
  })
  t.regex(storage.getItem('airbitz/client.json') ?? '', /clientId/)
  await kernel.close()
})
