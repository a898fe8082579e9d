import { makeRandom } from '../fake-server/base/faults.ts'
import { type Disk, isWalletError, type StoragePlugin, type Store } from '../kernel/plugin-api.ts'
import { checkedStore, storeDisk } from '../kernel/store/store-disk.ts'
import { callTaps, openPluginLab } from './plugin-lab.ts'
import { type TestFunction, testSuite } from './run-with.ts'
import { type StoreSubject, storeChecks } from './store-checks.ts'
import { type Check, describeError, must, planSuite, type Suite, type SuiteOptions, skip } from './suite.ts'

/**
 * Makes the plugin under test on a place: an empty one for a number that is new, and otherwise the one that was made for it
 * before, with all that was written to it.
 */
export type MakeStorage = (place: number) => StoragePlugin | Promise<StoragePlugin>

/** What a suite has to know of a storage plugin. */
export interface StorageSuiteOptions extends SuiteOptions {
  /** The id of the plugin, for reports. */
  readonly pluginId: string
  /** False for a store that is gone with its process, as for tests; true if left out. */
  readonly isDurable?: boolean
}

/** A storage plugin, for the checks. */
export interface StorageSubject extends StoreSubject {
  readonly isDurable: boolean
  /** Opens a disk of a place that is new, or of one again. */
  open(place?: number): Promise<Disk>
  /** A number that no place has had. */
  newPlace(): number
}

/**
 * Plans the checks of a storage plugin.
 *
 * @example
 * ```ts
 * import { runSuite, storageSuite } from 'holdfast/testing'
 * import type { StoragePlugin } from 'holdfast/plugin'
 *
 * declare const folderStorage: (folder: string) => StoragePlugin
 * const suite = storageSuite(place => folderStorage(`/tmp/tested/${place}`), { pluginId: 'folder' })
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const storageSuite = (make: MakeStorage, given: StorageSuiteOptions): Suite => {
  const { pluginId, isDurable = true, level = 'full', seed = Date.now() % 1_000_000 } = given
  let count = 0
  const newPlace = (): number => {
    count += 1
    return count
  }
  const openOn = async (place: number): Promise<{ disk: Disk; store: Store | undefined }> => {
    const lab = openPluginLab(await make(place))
    const [disk] = await callTaps(lab, lab.hooks.openDisk, [{ purpose: 'everything' }])
    if (disk !== undefined) return { disk: disk as Disk, store: undefined }
    const [store] = await callTaps(lab, lab.hooks.openStore, [{ purpose: 'everything' }])
    return { disk: storeDisk(checkedStore(store as Store)), store: store as Store }
  }
  const open = async (place = newPlace()): Promise<Disk> => (await openOn(place)).disk
  const openStore = async (): Promise<Store | undefined> => (await openOn(newPlace())).store
  const about = { pluginId, kind: 'storage', level }
  return planSuite(about, storageChecks, { seed, isDurable, open, openStore, newPlace })
}

/**
 * Declares the tests of a storage plugin: those of {@link storageSuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { testStoragePlugin } from 'holdfast/testing'
 * import type { StoragePlugin } from 'holdfast/plugin'
 *
 * declare const folderStorage: (folder: string) => StoragePlugin
 * testStoragePlugin(test, place => folderStorage(`/tmp/tested/${place}`), { pluginId: 'folder' })
 * ```
 */
export const testStoragePlugin = (
  test: TestFunction,
  make: MakeStorage,
  options: StorageSuiteOptions
): void => testSuite(test, storageSuite(make, options))

const DOCS = 'docs/write-a-plugin.md#a-store'

/** Every check of a storage plugin. */
export const storageChecks: readonly Check<StorageSubject>[] = [
  ...storeChecks,
  {
    id: 'storage.loads',
    level: 'quick',
    reason: 'A kernel without a disk does not start.',
    clause: '8.55',
    hint: 'Tap openDisk with a function that gives an object with getText, setText, delete and list, or openStore with one that has getMany, batch, keys and close.',
    async run({ open }) {
      const disk = await open().catch((error: unknown) => must(false, () => describeError(error)))
      const names = ['getText', 'setText', 'delete', 'list'] as const
      const missing = names.find(name => typeof (disk as Partial<Disk> | undefined)?.[name] !== 'function')
      must(missing === undefined, () => `The disk has no ${missing}`)
      await close(disk as Disk)
    }
  },
  {
    id: 'storage.texts',
    level: 'quick',
    reason: 'The kernel stores sealed boxes: one changed letter makes one unreadable.',
    clause: DOCS,
    hint: 'Store texts as UTF-8, without trimming, parsing or converting line ends.',
    run: subject =>
      withDisk(subject, async disk => {
        for (const [index, text] of TEXTS.entries()) {
          await disk.setText(`f${index}`, text)
          const found = await disk.getText(`f${index}`)
          must(found === text, () => `${show(text)} is read back as ${show(found)}`)
        }
        for (const path of ['none', 'none/at/all']) {
          const found = await disk.getText(path)
          must(found === undefined, () => `A path without a text gives ${show(found)}, not undefined`)
        }
      })
  },
  {
    id: 'storage.replace',
    level: 'quick',
    reason: 'A write replaces a text as a whole, and a deletion removes one path.',
    clause: DOCS,
    hint: 'Deleting a path that has no text is no error; neighbours stay.',
    run: subject =>
      withDisk(subject, async disk => {
        await disk.setText('a/b', 'a long text')
        await disk.setText('a/c', '2')
        await disk.setText('a/b', '3')
        await disk.delete('a/c')
        await disk.delete('a/c')
        await disk.delete('never/was')
        const found = await disk.getText('a/b')
        must(found === '3', () => `A text that was replaced by "3" is read as ${show(found)}`)
        const gone = await disk.getText('a/c')
        must(gone === undefined, () => `A deleted text is read as ${show(gone)}`)
      })
  },
  {
    id: 'storage.list',
    level: 'quick',
    reason: 'The kernel finds wallets and changes by listing folders.',
    clause: '7.31',
    hint: 'List every path below the folder, at any depth, in ascending order, and none of bb for b.',
    run: subject =>
      withDisk(subject, async disk => {
        for (const path of PATHS) await disk.setText(path, path)
        await mustList(disk, 'b', ['b/a/0', 'b/a/1', 'b/z'])
        await mustList(disk, 'b/a', ['b/a/0', 'b/a/1'])
        await mustList(disk, '', [...PATHS].sort())
        await mustList(disk, 'c', [])
      })
  },
  {
    id: 'storage.paths',
    level: 'quick',
    reason: 'A path that leads out of the disk reads or overwrites the files of others.',
    clause: DOCS,
    hint: 'Call checkPath on every path, and on a folder that is not empty.',
    run: subject =>
      withDisk(subject, async disk => {
        for (const path of BAD_PATHS) {
          await mustRefuse(path, () => disk.setText(path, 'x'))
          await mustRefuse(path, () => disk.getText(path))
          await mustRefuse(path, () => disk.delete(path))
          if (path !== '') await mustRefuse(path, () => disk.list(path))
          if (disk.getSlice !== undefined) await mustRefuse(path, () => disk.getSlice?.(path, 0, 1))
        }
      })
  },
  {
    id: 'storage.names',
    level: 'quick',
    reason: 'Names with a meaning in JavaScript are ordinary names.',
    clause: DOCS,
    hint: 'Keep texts in a Map, not in an object.',
    run: subject =>
      withDisk(subject, async disk => {
        for (const path of ['__proto__', 'constructor', 'toString', 'hasOwnProperty/x']) {
          const before = await disk.getText(path)
          must(before === undefined, () => `${path} has a text before it is written`)
          await disk.setText(path, path)
          const found = await disk.getText(path)
          must(found === path, () => `${path} is read back as ${show(found)}`)
        }
      })
  },
  {
    id: 'storage.slices',
    level: 'full',
    reason: 'The local store reads rows out of large texts.',
    clause: DOCS,
    hint: 'Leave getSlice out unless it gives exactly the characters from start up to end.',
    run: subject =>
      withDisk(subject, async disk => {
        const { getSlice } = disk
        if (getSlice === undefined) return skip('It has no getSlice')
        const text = 'abcdefghij'.repeat(30_000)
        await disk.setText('a/b', text)
        for (const [start, end] of SLICES) {
          const found = await getSlice.call(disk, 'a/b', start, end)
          must(
            found === text.slice(start, end),
            () => `Characters ${start} to ${end} are read as ${show(found)}`
          )
        }
        const none = await getSlice.call(disk, 'a/none', 0, 5)
        must(none === undefined, () => `A part of a path without a text is ${show(none)}, not undefined`)
      })
  },
  {
    id: 'storage.concurrent',
    level: 'full',
    reason: 'The kernel writes many texts at once, and the last write of a path counts.',
    clause: DOCS,
    hint: 'Let writes to one path wait for each other.',
    run: subject =>
      withDisk(subject, async disk => {
        await Promise.all(Array.from({ length: 300 }, (_, i) => disk.setText(`many/${i % 150}`, `${i}`)))
        const paths = await disk.list('many')
        must(paths.length === 150, () => `Of 150 paths that were written at once, ${paths.length} are there`)
        for (const path of paths) {
          const [found, last] = [await disk.getText(path), `${Number(path.slice(5)) + 150}`]
          must(found === last, () => `${path} was written last with ${last} and is read as ${show(found)}`)
        }
      })
  },
  {
    id: 'storage.random',
    level: 'full',
    reason: 'Any sequence of writes and deletions leaves what a plain map would have.',
    clause: DOCS,
    hint: 'The message names the seed, which repeats the run: pass it as `seed`.',
    async run(subject) {
      const random = makeRandom(subject.seed)
      for (let run = 0; run < RANDOM_RUNS; run += 1)
        await withDisk(subject, disk => mustAgree(disk, random, subject.seed))
    }
  },
  {
    id: 'storage.apart',
    level: 'full',
    reason: 'Two disks of one plugin belong to two profiles.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Keep texts in variables of the disk, not of the module.',
    async run(subject) {
      const [one, other] = [await subject.open(), await subject.open()]
      await one.setText('a', 'x')
      const found = await other.getText('a')
      must(found === undefined, () => 'A text of one disk is read from another')
      await Promise.all([close(one), close(other)])
    }
  },
  {
    id: 'storage.durable',
    level: 'full',
    reason: 'What was written is there when the device starts again, also if that was at the last moment.',
    clause: DOCS,
    hint: 'Resolve a write when it is durable, and let close wait for the writes that have begun.',
    async run(subject) {
      if (!subject.isDurable) return skip('The store says that it is gone with its process')
      const place = subject.newPlace()
      const first = await subject.open(place)
      await first.setText('a/b', 'early')
      await first.setText('a/gone', 'x')
      await first.delete('a/gone')
      const late = errorOf(() => first.setText('a/late', 'late'))
      await close(first)
      const isRefused = (await late) !== undefined
      const second = await subject.open(place)
      const texts = [
        await second.getText('a/b'),
        await second.getText('a/late'),
        await second.getText('a/gone')
      ]
      await close(second)
      const [early, last, gone] = texts
      must(early === 'early', () => `A text is read as ${show(early)} after a restart`)
      must(
        isRefused || last === 'late',
        () => `A write that began before close is read as ${show(last)} after a restart`
      )
      must(gone === undefined, () => 'A deleted text is back after a restart')
    }
  },
  {
    id: 'storage.closed',
    level: 'full',
    reason: 'A late write of a closed disk would undo what another process has written since.',
    clause: DOCS,
    hint: 'After close, refuse every call with STORAGE_FAILED.',
    async run(subject) {
      const disk = await subject.open()
      if (disk.close === undefined) return skip('It has no close')
      await disk.setText('a', 'x')
      await disk.close()
      for (const [name, call] of [
        ['setText', () => disk.setText('a', 'y')],
        ['getText', () => disk.getText('a')],
        ['delete', () => disk.delete('a')],
        ['list', () => disk.list('')]
      ] as const) {
        const error = await errorOf(call)
        must(error !== undefined, () => `${name} still answers after close`)
        must(isWalletError(error), () => `${name} throws ${describeError(error)} after close`)
      }
    }
  }
]

const TEXTS = [
  ...['', ' ', '\0', '\ufeffBOM', 'ä€𝄞', '{"value":"x","expires":1}', 'null', '[]', '\r\n', ' x\n'],
  'x'.repeat(300_000)
]

const PATHS = ['b/z', 'b/a/1', 'b/a/0', 'bb/x', 'a', 'b.json', 'B/x']

const BAD_PATHS = [
  ...['../x', 'a/../../x', '/etc/x', 'a//b', '.', '', 'a\\b', 'a\0b', 'ü', 'a/~b', 'x'.repeat(201)]
]

const SLICES: readonly (readonly [start: number, end: number])[] = [
  [0, 96],
  [96, 120_000],
  [299_990, 300_000]
]

const RANDOM_RUNS = 10
const RANDOM_STEPS = 20
const RANDOM_PATHS = ['a', 'b/c', 'b/d', 'e/f/g']
const RANDOM_TEXTS = ['', 'x', 'ä€𝄞', '{"a":[1]}', '\0', 'null', 'y'.repeat(5000)]

const mustAgree = async (disk: Disk, random: () => number, seed: number): Promise<void> => {
  const model = new Map<string, string>()
  const draw = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  for (let step = 0; step < RANDOM_STEPS; step += 1) {
    const [path, text] = [draw(RANDOM_PATHS), random() < 0.3 ? undefined : draw(RANDOM_TEXTS)]
    if (text === undefined) await disk.delete(path)
    else await disk.setText(path, text)
    if (text === undefined) model.delete(path)
    else model.set(path, text)
  }
  const [found, expected] = [await disk.list(''), [...model.keys()].sort()]
  must(found.join() === expected.join(), () => `It lists ${found}, not ${expected}, with seed ${seed}`)
  for (const [path, text] of model) {
    const read = await disk.getText(path)
    must(read === text, () => `${path} is ${show(read)}, not ${show(text)}, with seed ${seed}`)
  }
}

/** A text in words, cut. */
const show = (text: unknown): string => JSON.stringify(text)?.slice(0, 40) ?? 'undefined'

/** Runs on a disk of its own, and closes it. */
const withDisk = async ({ open }: StorageSubject, run: (disk: Disk) => Promise<void>): Promise<void> => {
  const disk = await open()
  try {
    await run(disk)
  } finally {
    await close(disk)
  }
}

const close = async (disk: Disk): Promise<void> => disk.close?.()

const mustList = async (disk: Disk, folder: string, expected: readonly string[]): Promise<void> => {
  const found = await disk.list(folder)
  must(
    found.join() === expected.join(),
    () => `A list of "${folder}" has ${found.join(' ')}, not ${expected.join(' ')}`
  )
}

const errorOf = async (call: () => Promise<unknown> | undefined): Promise<unknown> => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return undefined
}

const mustRefuse = async (path: string, call: () => Promise<unknown> | undefined): Promise<void> => {
  const error = await errorOf(call)
  const found = describeError(error)
  must(
    isWalletError(error, 'PATH_REFUSED'),
    () => `For the path ${show(path)} it throws ${found}, not PATH_REFUSED`
  )
}
