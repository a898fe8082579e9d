import test from 'ava'
import { mapDisk } from '../../examples/map-storage.ts'
import { mapStore } from '../../examples/map-store.ts'
import { type Disk, SortedMap, type StoragePlugin, type Store, WalletError } from '../../kernel/plugin-api.ts'
import { type MakeStorage, storageChecks, storageSuite } from '../../testing/storage-suite.ts'
import { storeChecks } from '../../testing/store-checks.ts'
import { runSuite } from '../../testing/suite.ts'

/** A storage plugin on a Map for each place, whose disks a mistake changes. */
const mapPlaces = (change: (disk: Disk, files: Map<string, string>) => Disk = disk => disk): MakeStorage => {
  const places = new Map<number, Map<string, string>>()
  return place => {
    const files = places.get(place) ?? new Map<string, string>()
    places.set(place, files)
    return pluginOf(() => change({ ...mapDisk(files), ...slicesOf(files) }, files))
  }
}

const slicesOf = (files: ReadonlyMap<string, string>): Pick<Disk, 'getSlice'> => ({
  getSlice: async (path, start, end) => {
    await mapDisk(new Map()).getText(path)
    return files.get(path)?.slice(start, end)
  }
})

const pluginOf = (openDisk: () => Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'map',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('map', async () => openDisk())
})

/** A storage plugin on a sorted map for each place, whose stores a mistake changes. */
const storePlaces = (change: (store: Store) => Store = store => store): MakeStorage => {
  const places = new Map<number, SortedMap<Uint8Array>>()
  return place => {
    const values = places.get(place) ?? new SortedMap<Uint8Array>()
    places.set(place, values)
    return {
      kind: 'storage',
      id: 'map',
      apply: ({ hooks }) => hooks.openStore.tapPromise('map', async () => change(mapStore(values)))
    }
  }
}

for (const [what, make, skipped] of [
  ['disk', mapPlaces(), storeChecks.map(({ id }) => id)],
  ['store', storePlaces(), ['storage.slices']]
] as const) {
  test(`a sound ${what} passes every check of the suite that is about it`, async t => {
    const results = await runSuite(storageSuite(make, { pluginId: 'map' }))
    const notPassed = results.filter(({ outcome }) => outcome !== 'passed')
    t.deepEqual(
      notPassed
        .filter(({ outcome }) => outcome !== 'skipped')
        .map(({ title, message }) => `${title}: ${message}`),
      []
    )
    t.deepEqual(
      notPassed.map(({ id }) => id),
      skipped
    )
  })
}

const common = new Map<string, string>()

const brokenStores: readonly { readonly breaks: string; readonly make: MakeStorage }[] = [
  { breaks: 'storage.loads', make: () => ({ kind: 'storage', id: 'map', apply() {} }) },
  {
    breaks: 'storage.texts',
    make: mapPlaces(disk => ({
      ...disk,
      setText: (path, text) => disk.setText(path, text.replaceAll('\r\n', '\n'))
    }))
  },
  {
    breaks: 'storage.replace',
    make: mapPlaces((disk, files) => ({
      ...disk,
      async delete(path) {
        if (path === 'never/was') throw new WalletError('STORAGE_FAILED', { path, reason: 'no such file' })
        files.delete(path)
        return disk.delete(path)
      }
    }))
  },
  {
    breaks: 'storage.list',
    make: mapPlaces((disk, files) => ({
      ...disk,
      async list(folder) {
        await disk.list(folder)
        return [...files.keys()].filter(path => path.startsWith(folder)).sort()
      }
    }))
  },
  {
    breaks: 'storage.paths',
    make: mapPlaces((disk, files) => ({
      ...disk,
      getText: async path => (await disk.list('')) && files.get(path)
    }))
  },
  {
    breaks: 'storage.names',
    make: mapPlaces(disk => ({
      ...disk,
      getText: async path => (path in {} ? 'function' : disk.getText(path))
    }))
  },
  {
    breaks: 'storage.slices',
    make: mapPlaces(disk => ({
      ...disk,
      getSlice: async (path, start, end) => disk.getSlice?.(path, start, end + 1)
    }))
  },
  {
    breaks: 'storage.concurrent',
    make: mapPlaces(disk => {
      let open = 0
      return {
        ...disk,
        async setText(path, text) {
          open += 1
          // The first writes end last.
          if (open <= 10 && path.startsWith('many')) await new Promise(resolve => setImmediate(resolve))
          await disk.setText(path, text)
        }
      }
    })
  },
  {
    breaks: 'storage.random',
    make: mapPlaces(disk => ({
      ...disk,
      setText: async (path, text) => disk.setText(path, path === 'e/f/g' ? `${text} ` : text)
    }))
  },
  {
    breaks: 'storage.apart',
    make: mapPlaces(disk => ({
      ...disk,
      async setText(path, text) {
        if (path === 'a') common.set(path, text)
        await disk.setText(path, text)
      },
      async getText(path) {
        return (await disk.getText(path)) ?? (text => (text === 'x' ? text : undefined))(common.get(path))
      }
    }))
  },
  {
    breaks: 'storage.durable',
    make: () => {
      const files = new Map<string, string>()
      return pluginOf(() => ({ ...mapDisk(files), ...slicesOf(files) }))
    }
  },
  {
    breaks: 'storage.batches',
    make: storePlaces(store => ({
      ...store,
      getMany: async keys => (await store.getMany(keys)).map(value => value?.subarray(0, 2_000_000))
    }))
  },
  {
    breaks: 'storage.key-order',
    make: storePlaces(store => ({
      ...store,
      keys: async ({ before, ...range }) =>
        store.keys(range.reverse === true || before === undefined ? range : { ...range, before })
    }))
  },
  {
    breaks: 'storage.key-pages',
    make: storePlaces(store => ({
      ...store,
      async keys(range) {
        const [value] = range.after === undefined ? [new Uint8Array()] : await store.getMany([range.after])
        return range.limit === 30 && value === undefined ? [] : store.keys(range)
      }
    }))
  },
  {
    breaks: 'storage.random-batches',
    make: storePlaces(store => ({
      ...store,
      batch: changes => store.batch(changes.length === 4 ? changes.slice(0, 3) : changes)
    }))
  },
  {
    breaks: 'storage.closed',
    make: mapPlaces(disk => ({ ...disk, async close() {} }))
  }
]

for (const { breaks, make } of brokenStores) {
  test(`a store with a mistake for ${breaks} fails that check`, async t => {
    const results = await runSuite(storageSuite(make, { pluginId: 'map' }))
    const failed = [...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))]
    t.true(failed.includes(breaks), failed.join())
    // Without a disk everything fails.
    if (breaks !== 'storage.loads') t.deepEqual(failed, [breaks])
  })
}

test('every check of stores has a broken store that it finds', t => {
  t.deepEqual(brokenStores.map(({ breaks }) => breaks).sort(), storageChecks.map(({ id }) => id).sort())
})
