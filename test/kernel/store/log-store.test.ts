import test from 'ava'
import { makeRandom } from '../../../fake-server/base/faults.ts'
import { compact } from '../../../kernel/base/compact.ts'
import { errorOf, WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import type { Store, StoreChange } from '../../../kernel/io/store.ts'
import { openLogStore } from '../../../kernel/store/log-store.ts'
import { textOfKey } from '../../../kernel/store/sorted-map.ts'
import { passWalletError } from '../../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { makeShakyDisk } from '../../helpers/shaky-disk.ts'

const { crypto, clock } = makeRepoIo()
const folder = 'local/store'

interface Opened {
  readonly store: Store
  readonly losses: string[]
  readonly reports: string[]
}

const openOn = async (disk: Disk): Promise<Opened> => {
  const losses: string[] = []
  const reports: string[] = []
  const store = await openLogStore({
    ...{ disk, folder, crypto, clock },
    onLoss: error => losses.push(errorOf(error).message),
    report: error => reports.push(errorOf(error).message)
  })
  return { store, losses, reports }
}

const open = (files: Map<string, string>): Promise<Opened> => openOn(makeFaultDisk(files))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const put = (key: string, value: string | Uint8Array): StoreChange => ({
  key: bytes(key),
  value: typeof value === 'string' ? bytes(value) : value
})
const remove = (key: string): StoreChange => ({ key: bytes(key), value: undefined })

/** Everything in a store, read in pages of three. */
const contentOf = async (store: Store): Promise<Record<string, string>> => {
  const content: [string, string][] = []
  for (let after: Uint8Array | undefined; ; ) {
    const keys = await store.keys({ limit: 3, ...compact({ after }) })
    const values = await store.getMany(keys)
    for (const [i, key] of keys.entries())
      content.push([textOfKey(key), new TextDecoder().decode(values[i] ?? bytes('DAMAGED'))])
    after = keys.at(-1)
    if (after === undefined) return Object.fromEntries(content)
  }
}

const chunksOf = (files: Map<string, string>): string[] =>
  [...files.keys()].filter(path => path.startsWith(folder)).sort()

test('batches are read back after a restart, the last change of a key counts, and deleted keys stay away', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch([put('b', '1'), put('a', '2'), put('gone', '3'), put('b', '4')])
  await store.batch([remove('gone'), put('__proto__', '5'), remove('never')])
  const expected = { a: '2', b: '4', ['__proto__']: '5' }
  t.deepEqual(Object.entries(await contentOf(store)).sort(), Object.entries(expected).sort())
  await store.close()
  const again = await open(files)
  t.deepEqual(Object.entries(await contentOf(again.store)).sort(), Object.entries(expected).sort())
  t.deepEqual(await again.store.getMany([bytes('gone'), bytes('b')]), [undefined, bytes('4')])
  t.deepEqual([again.losses, again.reports], [[], []])
})

test('a chunk has the letters that it always had, and is read back', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch([put('a', 'text'), put('key', ''), remove('gone')])
  t.deepEqual(Object.fromEntries(files), {
    [`${folder}/000000000001-000000000001`]: `${'HOLDFAST-LOG-1 0 1 52 04c4b2499a82d02b0fbb48dfa4f78f9f'.padEnd(96)}AAFhAAAABJgtnj4AA2tleQAAAADjsMRCAARnb25l/////wAAAAA=dGV4dA==.`
  })
  t.deepEqual(await contentOf((await open(files)).store), { a: 'text', key: '' })
})

test('keys come in the order of their bytes, from either end and between bounds', async t => {
  const { store } = await open(new Map())
  const keys = [
    Uint8Array.of(255),
    Uint8Array.of(0),
    Uint8Array.of(128, 1),
    Uint8Array.of(128),
    Uint8Array.of(1)
  ]
  await store.batch(keys.map(key => ({ key, value: key })))
  const page = async (range: object): Promise<number[][]> =>
    (await store.keys({ limit: 10, ...range })).map(key => [...key])
  t.deepEqual(await page({}), [[0], [1], [128], [128, 1], [255]])
  t.deepEqual(await page({ reverse: true, limit: 2 }), [[255], [128, 1]])
  t.deepEqual(await page({ after: Uint8Array.of(1), before: Uint8Array.of(255) }), [[128], [128, 1]])
  t.deepEqual(await page({ after: Uint8Array.of(1), before: Uint8Array.of(128, 1), reverse: true }), [[128]])
  await store.batch([{ key: Uint8Array.of(128), value: undefined }, put('a', '')])
  t.deepEqual(await page({}), [[0], [1], [97], [128, 1], [255]])
})

test('an empty value is a value', async t => {
  const files = new Map<string, string>()
  await (await open(files)).store.batch([put('a', '')])
  t.deepEqual(await (await open(files)).store.getMany([bytes('a'), bytes('b')]), [
    new Uint8Array(),
    undefined
  ])
})

test('batches of one moment share a chunk', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch([])
  t.is(chunksOf(files).length, 0, 'of nothing there is none')
  await Promise.all(['a', 'b', 'c'].map(key => store.batch([put(key, key)])))
  t.is(chunksOf(files).length, 1)
  t.deepEqual(await contentOf(store), { a: 'a', b: 'b', c: 'c' })
})

/** Whether each number from 1 on is in one chunk: nothing is missing, and nothing is left of what others stand for. */
const isWhole = (files: Map<string, string>): boolean => {
  let next = 1
  for (const path of chunksOf(files)) {
    const [from, to] = path
      .slice(folder.length + 1)
      .split(/[-.]/)
      .map(Number)
    if (from !== next || to === undefined) return false
    next = to + 1
  }
  return true
}

/** A story with a batch of several parts and enough batches for merges; `done` gets each state that is durable. */
const play = async (store: Store, done: (content: Record<string, string>) => void): Promise<void> => {
  const content: Record<string, string> = {}
  const batch = async (changes: readonly (readonly [string, string | undefined])[]): Promise<void> => {
    await store.batch(changes.map(([key, value]) => (value === undefined ? remove(key) : put(key, value))))
    for (const [key, value] of changes) {
      if (value === undefined) delete content[key]
      else content[key] = value
    }
    done({ ...content })
  }
  await batch([['first', '1']])
  // 2.5 MB are three parts.
  await batch(Array.from({ length: 5 }, (_, i) => [`large${i}`, `${i}`.repeat(500_000)]))
  for (let i = 0; i < 9; i += 1)
    await batch([
      ['count', `${i}`],
      [`small${i}`, 'x'],
      [`small${i - 2}`, undefined]
    ])
  await batch([
    ['large1', undefined],
    ['large2', 'short'],
    ['large3', undefined]
  ])
  await store.close()
}

for (const kind of FAULT_KINDS) {
  test(`a batch is there as a whole or not at all, and what was acknowledged is there, if any write is ${kind}`, async t => {
    const counting = makeFaultDisk(new Map())
    const states: Record<string, string>[] = [{}]
    await play((await openOn(counting)).store, state => states.push(state))
    t.true(counting.writeCount > states.length + 3, 'there are merges, and a batch of several parts')
    const texts = states.map(state => JSON.stringify(Object.entries(state).sort()))
    for (let at = 1; at <= counting.writeCount; at += 1) {
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      let durable = 0
      const { store } = await openOn(disk)
      await play(store, () => {
        durable += 1
      }).catch(passWalletError)
      t.true(disk.hasFired)
      await store.close()
      const after = await open(files)
      const content = JSON.stringify(Object.entries(await contentOf(after.store)).sort())
      const state = texts.indexOf(content)
      t.true(
        state === durable || state === durable + 1,
        `write ${at}: state ${state} of ${durable} acknowledged`
      )
      // It goes on from there, and the next start finds nothing wrong.
      await after.store.batch([put('later', 'y')])
      await after.store.close()
      t.true(isWhole(files), `write ${at}: ${chunksOf(files)}`)
      const again = await open(files)
      const expected = [...Object.entries(states[state] ?? {}), ['later', 'y']].sort()
      t.deepEqual(Object.entries(await contentOf(again.store)).sort(), expected as [string, string][])
      t.deepEqual(again.losses, [], `write ${at}`)
    }
  })
}

test('a failed batch changes nothing, also if it arrived, and the next one takes its place', async t => {
  const seed = Date.now() % 1_000_000
  t.log(`seed ${seed}`)
  for (const arrives of [false, true]) {
    // The batch has four parts.
    for (const at of [1, 2, 3, 4]) {
      const files = new Map<string, string>()
      const disk = makeShakyDisk(files, seed + at)
      const { store } = await openOn(disk)
      await store.batch([put('a', 'old')])
      disk.fail({ call: 'set', at, arrives })
      const large = [put('a', 'new'), ...[0, 1, 2, 3].map(i => put(`b${i}`, `${i}`.repeat(500_000)))]
      await t.throwsAsync(store.batch(large), { code: 'STORAGE_FAILED' })
      t.deepEqual(await contentOf(store), { a: 'old' })
      await store.batch([put('c', '1')])
      t.deepEqual(await contentOf(store), { a: 'old', c: '1' })
      await store.close()
      const again = await open(files)
      t.deepEqual(await contentOf(again.store), { a: 'old', c: '1' })
      t.deepEqual(again.losses, [])
    }
  }
})

test('any history leaves what a map would have, through merges, restarts and reads between them', async t => {
  const seed = Date.now() % 1_000_000
  t.log(`seed ${seed}`)
  const random = makeRandom(seed)
  const draw = (count: number): number => Math.floor(random() * count)
  for (let run = 0; run < 20; run += 1) {
    const files = new Map<string, string>()
    const model = new Map<string, string>()
    let { store } = await openOn(makeShakyDisk(files, seed + run))
    for (let step = 0; step < 60; step += 1) {
      const changes: StoreChange[] = []
      for (let i = draw(4); i >= 0; i -= 1) {
        const key = `k${draw(12)}`
        const value = draw(4) === 0 ? undefined : `${step}`.repeat(draw(10) === 0 ? 20_000 : draw(40))
        changes.push(value === undefined ? remove(key) : put(key, value))
        if (value === undefined) model.delete(key)
        else model.set(key, value)
      }
      const written = store.batch(changes)
      // Reads while it is written see one state or the other.
      if (draw(3) === 0) await contentOf(store)
      await written
      if (draw(8) === 0) {
        await store.close()
        store = (await openOn(makeShakyDisk(files, seed + run + step))).store
      }
    }
    t.deepEqual(await contentOf(store), Object.fromEntries([...model].sort()), `run ${run}`)
    await store.close()
    const { store: again, losses } = await open(files)
    t.deepEqual(await contentOf(again), Object.fromEntries([...model].sort()), `run ${run}`)
    t.deepEqual(losses, [])
  }
})

test('the files stay few, and no larger than twice what counts', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (let i = 0; i < 300; i += 1)
    await store.batch([put(`row${i % 10}`, `${i}`.repeat(10_000)), put(`small${i}`, 'x')])
  await store.close()
  const size = chunksOf(files).reduce((sum, path) => sum + (files.get(path) ?? '').length, 0)
  // Ten rows of 30 KB are 400,000 letters of base64.
  t.true(size < 1_000_000, `${size} letters`)
  t.true(chunksOf(files).length < 40, `${chunksOf(files).length} files`)
  t.is(Object.keys(await contentOf((await open(files)).store)).length, 310)
})

test('a deletion stays through a merge of newer chunks while an older one has what it deletes', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch([put('large', 'x'.repeat(100_000)), put('gone', 'old')])
  await store.batch([remove('gone')])
  for (let i = 0; i < 7; i += 1) await store.batch([put(`small${i}`, 'x')])
  // The eight small ones become one.
  await store.close()
  t.is(chunksOf(files).length, 2)
  const again = await open(files)
  t.deepEqual(await again.store.getMany([bytes('gone')]), [undefined])
  t.false((await again.store.keys({ limit: 99 })).some(key => textOfKey(key) === 'gone'))
})

test('what is deleted leaves nothing behind once nothing older is there', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const names = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  await store.batch([put('kept', 'x')])
  await store.batch(names.map(name => put(name, 'x'.repeat(30))))
  await store.batch(names.map(remove))
  await store.close()
  const [chunk = '', ...others] = chunksOf(files)
  t.deepEqual(others, [])
  t.true((files.get(chunk)?.length ?? 0) < 200)
  t.deepEqual(await contentOf((await open(files)).store), { kept: 'x' })
})

test('a batch that cannot be encoded fails when nothing of it is on its way any more, and the next is made', async t => {
  const files = new Map<string, string>()
  const plain = makeFaultDisk(files)
  let writeCount = 0
  let isWriting = false
  const disk: Disk = {
    ...plain,
    list: folder => plain.list(folder),
    async setText(path, text) {
      writeCount += 1
      isWriting = true
      for (let turn = 0; turn < 9; turn += 1) await clock.turn()
      await plain.setText(path, text)
      isWriting = false
    }
  }
  const store = await openLogStore({
    ...{
      disk,
      folder,
      clock,
      onLoss: error => t.fail(String(error)),
      report: error => t.fail(String(error))
    },
    crypto: {
      ...crypto,
      toBase64(value) {
        if (value[0] === 7) throw new RangeError('no memory')
        return crypto.toBase64(value)
      }
    }
  })
  const large = [1, 2, 7].map(first => put(`${first}`, new Uint8Array(700_000).fill(first)))
  await t.throwsAsync(store.batch(large), { message: 'no memory' })
  t.true(writeCount > 0)
  t.false(isWriting)
  await store.batch([put('a', 'a')])
  await store.close()
  t.true(isWhole(files))
  t.deepEqual(await contentOf((await open(files)).store), { a: 'a' })
})

test('a part that fails while the next is encoded fails its batch and nothing else', async t => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const plain = makeFaultDisk(new Map())
  let isFailing = true
  const store = await openLogStore({
    ...{ folder, clock, onLoss: note, report: note },
    disk: {
      ...plain,
      list: folder => plain.list(folder),
      async setText(path, text) {
        if (isFailing) throw new WalletError('STORAGE_FULL', { path })
        return plain.setText(path, text)
      }
    },
    crypto: {
      ...crypto,
      toBase64(value) {
        // So slow that other work gets a turn before the next value.
        const end = performance.now() + 30
        while (performance.now() < end);
        return crypto.toBase64(value)
      }
    }
  })
  const large = Array.from({ length: 3 }, (_, i) => put(`${i}`, new Uint8Array(700_000).fill(i)))
  await t.throwsAsync(store.batch(large), { code: 'STORAGE_FULL' })
  isFailing = false
  await store.batch([put('a', 'a')])
  t.deepEqual(await contentOf(store), { a: 'a' })
  t.deepEqual(unhandled, [])
})

test('a damaged value is missing and reported once; all others are read', async t => {
  const files = new Map<string, string>()
  await (await open(files)).store.batch([put('a', 'aaaa'), put('b', 'bbbb'), put('c', 'cccc')])
  const [path = ''] = chunksOf(files)
  const text = files.get(path) ?? ''
  files.set(path, text.replace(crypto.toBase64(bytes('bbbb')), crypto.toBase64(bytes('bbXb'))))
  const { store, losses } = await open(files)
  t.deepEqual(await contentOf(store), { a: 'aaaa', b: 'DAMAGED', c: 'cccc' })
  t.deepEqual(await store.getMany([bytes('b')]), [undefined])
  t.is(losses.length, 1)
})

test('a chunk that is missing or damaged is reported, the others are read, and the next start finds nothing wrong', async t => {
  for (const damage of ['missing', 'damaged', 'swapped']) {
    const files = new Map<string, string>()
    const { store } = await open(files)
    for (const key of ['a', 'b', 'c']) await store.batch([put(key, key)])
    const [first = '', second = ''] = chunksOf(files)
    const kept = files.get(second) ?? ''
    if (damage === 'missing') files.delete(second)
    else files.set(second, damage === 'swapped' ? (files.get(first) ?? '') : `x${kept.slice(1)}`)
    const before = new Map(files)
    const { store: hurt, losses } = await open(files)
    t.deepEqual(await contentOf(hurt), { a: 'a', c: 'c' })
    t.is(losses.length, 1, damage)
    t.deepEqual(files, before, 'opening changes nothing')
    await hurt.batch([put('d', 'd')])
    await hurt.close()
    const again = await open(files)
    t.deepEqual(await contentOf(again.store), { a: 'a', c: 'c', d: 'd' })
    t.deepEqual(again.losses, [])
    const inQuarantine = [...files.keys()].filter(path => path.startsWith('quarantine/'))
    t.is(inQuarantine.length, damage === 'missing' ? 0 : 1)
  }
})

test('a chunk of which the disk itself says that it is damaged is reported, and the next batch is made', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const key of ['a', 'b', 'c']) await store.batch([put(key, key)])
  const [, second = ''] = chunksOf(files)
  const plain = makeFaultDisk(files)
  const { store: hurt, losses } = await openOn({
    ...plain,
    list: folder => plain.list(folder),
    async getText(path) {
      if (path === second && files.has(path))
        throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' })
      return plain.getText(path)
    },
    async setText(path, text) {
      t.true(path.startsWith(folder), 'there is no text to put aside')
      return plain.setText(path, text)
    }
  })
  t.deepEqual(await contentOf(hurt), { a: 'a', c: 'c' })
  await hurt.batch([put('d', 'd')])
  await hurt.close()
  t.is(losses.length, 1)
  t.true(isWhole(files))
  t.true(
    [...files.keys()].every(path => path.startsWith(folder)),
    'there is no text to put aside'
  )
  const again = await open(files)
  t.deepEqual(await contentOf(again.store), { a: 'a', c: 'c', d: 'd' })
  t.deepEqual(again.losses, [])
})

test('a store whose only chunk is damaged reports it, and shows it in quarantine once there is a batch', async t => {
  const files = new Map<string, string>()
  await (await open(files)).store.batch([put('a', 'a')])
  const [chunk = ''] = chunksOf(files)
  const damaged = `x${files.get(chunk)?.slice(1)}`
  files.set(chunk, damaged)
  const { store, losses } = await open(files)
  t.is(losses.length, 1)
  t.deepEqual(await contentOf(store), {})
  await store.batch([put('b', 'b')])
  t.is([...files].find(([path]) => path.startsWith('quarantine/'))?.[1], damaged)
  const again = await open(files)
  t.deepEqual(await contentOf(again.store), { b: 'b' })
  t.deepEqual(again.losses, [])
})

test('a damaged chunk that a merged one stands for is no loss, also beside one that is missing', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const key of ['a', 'b', 'c', 'd']) await store.batch([put(key, key)])
  const [first = '', second = '', third = ''] = chunksOf(files)
  const kept = files.get(first) ?? ''
  await store.close()
  t.deepEqual(chunksOf(files).length, 1, 'all are merged')
  const again = await open(files)
  for (const key of ['e', 'f']) await again.store.batch([put(key, key)])
  const [, missing = '', newest = ''] = chunksOf(files)
  t.true(newest !== '')
  files.delete(missing)
  // What a crash after the merge has left.
  for (const path of [first, second, third]) files.set(path, `x${kept.slice(1)}`)
  const { store: hurt, losses } = await open(files)
  t.deepEqual(await contentOf(hurt), { a: 'a', b: 'b', c: 'c', d: 'd', f: 'f' })
  t.is(losses.length, 1)
  t.true(losses[0]?.includes(missing))
})

test('a file whose name is no range of numbers is no chunk, and stays where it is', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch([put('a', 'a')])
  const [chunk = ''] = chunksOf(files)
  const names = [
    '000000000000-000000000003',
    '000000000009-000000000003',
    '1-1',
    `${'1'.repeat(13)}-${'1'.repeat(12)}`
  ]
  names.push(
    '000000000003-000000000003.0',
    '000000000003-000000000003.',
    'x000000000003-000000000003',
    'notes'
  )
  for (const name of names) files.set(`${folder}/${name}`, files.get(chunk) ?? '')
  const { store: again, losses } = await open(files)
  await again.batch([put('b', 'b')])
  await again.close()
  t.deepEqual(losses, [])
  t.deepEqual(await contentOf((await open(files)).store), { a: 'a', b: 'b' })
  for (const name of names) t.true(files.has(`${folder}/${name}`), name)
})

test('a store reads parts of its chunks where the disk can', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch(Array.from({ length: 40 }, (_, i) => put(`row${i}`, `${i % 10}`.repeat(15_000))))
  await store.close()
  let read = 0
  const plain = makeFaultDisk(files)
  const disk: Disk = {
    ...plain,
    list: folder => plain.list(folder),
    getText: () => Promise.reject(new Error('a whole text was read')),
    getSlice: async (path, start, end) => {
      const text = (await plain.getText(path))?.slice(start, end)
      read += text?.length ?? 0
      return text
    }
  }
  const { store: again } = await openOn(disk)
  const [value] = await again.getMany([bytes('row7')])
  t.deepEqual(value, bytes('7'.repeat(15_000)))
  t.true(read < 40_000, `${read} letters were read`)
})

test('a value that is deleted or changed while it is read is gone or the new one, and nothing is lost', async t => {
  for (const [change, expected] of [
    [remove('a'), undefined],
    [put('a', 'new'), bytes('new')]
  ] as const) {
    const files = new Map<string, string>()
    // So long that no part of the chunk stays in memory.
    await (await open(files)).store.batch([put('a', 'old'.repeat(10_000)), put('b', 'b')])
    const plain = makeFaultDisk(files)
    let isDue = false
    const disk: Disk = {
      ...plain,
      list: folder => plain.list(folder),
      getText: path => plain.getText(path),
      async getSlice(path, start, end) {
        if (!isDue) return (await plain.getText(path))?.slice(start, end)
        isDue = false
        await store.batch([change])
        return undefined
      }
    }
    const { store, losses } = await openOn(disk)
    isDue = true
    t.deepEqual(await store.getMany([bytes('a')]), [expected])
    t.false(isDue)
    t.deepEqual(losses, [])
    t.deepEqual(await store.getMany([bytes('b')]), [bytes('b')])
  }
})

test('a chunk of many keys, whose index takes more than one read, is read back', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.batch(Array.from({ length: 1500 }, (_, i) => put(`key ${i}`, `value ${i}`)))
  await store.batch([put('last', 'x')])
  const disk = makeFaultDisk(files)
  const getSlice = async (path: string, start: number, end: number): Promise<string | undefined> =>
    (await disk.getText(path))?.slice(start, end)
  for (const there of [disk, { ...disk, getSlice }]) {
    const again = await openOn(there)
    const values = await again.store.getMany(Array.from({ length: 1500 }, (_, i) => bytes(`key ${i}`)))
    t.deepEqual(
      values.map(value => new TextDecoder().decode(value)),
      Array.from({ length: 1500 }, (_, i) => `value ${i}`)
    )
    t.deepEqual(again.losses, [])
  }
})

test('a disk that cannot be read is not taken for an empty one', async t => {
  const disk = makeFaultDisk(new Map())
  disk.cutPower()
  await t.throwsAsync(openOn(disk), { code: 'STORAGE_FAILED' })
})

test('a key or a value beyond the limits is refused alone, and other batches of the moment are not', async t => {
  const { store } = await open(new Map())
  const sound = store.batch([put('a', '1')])
  const value = new Uint8Array(64 * 1024 * 1024 + 1)
  for (const change of [
    { key: new Uint8Array(), value: undefined },
    { key: new Uint8Array(1101), value: bytes('x') },
    { key: bytes('large'), value }
  ])
    await t.throwsAsync(store.batch([put('b', '2'), change]), { code: 'STORAGE_FAILED' })
  await sound
  t.deepEqual(await contentOf(store), { a: '1' })
})

test('a closed store has ended its batches and refuses everything', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const written = store.batch([put('a', '1')])
  await store.close()
  await written
  for (const call of [() => store.batch([]), () => store.getMany([]), () => store.keys({ limit: 1 })])
    await t.throwsAsync(call, { code: 'STORAGE_FAILED' })
  t.deepEqual(await contentOf((await open(files)).store), { a: '1' })
})

test('a small store that is closed is one chunk, and a large one keeps its chunks', async t => {
  for (const [size, chunks] of [
    [20, 1],
    [9000, 4]
  ] as const) {
    const files = new Map<string, string>()
    const { store } = await open(files)
    for (let i = 0; i < 4; i += 1) await store.batch([put(`key${i}`, `${i}`.repeat(size))])
    await store.close()
    t.is(files.size, chunks)
    const { store: again } = await open(files)
    for (let i = 0; i < 4; i += 1)
      t.deepEqual(await again.getMany([bytes(`key${i}`)]), [bytes(`${i}`.repeat(size))])
  }
})
