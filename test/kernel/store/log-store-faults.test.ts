import test from 'ava'
import { errorOf, WalletError } from '../../../kernel/base/errors.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import type { Store, StoreChange } from '../../../kernel/io/store.ts'
import { openLogStore } from '../../../kernel/store/log-store.ts'
import { passWalletError } from '../../helpers/drawn-runs.ts'
import { type Fault, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { makeShakyDisk } from '../../helpers/shaky-disk.ts'

const { crypto, clock } = makeRepoIo()
const folder = 'store'
const losses: string[] = []

const openOn = (disk: Disk): Promise<Store> =>
  openLogStore({
    ...{ disk, folder, crypto, clock },
    onLoss: error => losses.push(errorOf(error).message),
    report: () => {}
  })

const open = (files: Map<string, string>, fault?: Fault): Promise<Store> =>
  openOn(makeFaultDisk(files, fault))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const put = (key: string, value: string): StoreChange => ({ key: bytes(key), value: bytes(value) })

/** The first letters of a value. */
const read = async (store: Store, key: string): Promise<string | undefined> => {
  const [value] = await store.getMany([bytes(key)])
  return value && new TextDecoder().decode(value.subarray(0, 10))
}

const nextTurns = async (): Promise<void> => {
  for (let i = 0; i < 60; i += 1) await new Promise(resolve => setImmediate(resolve))
}

/** Eight chunks that are not merged yet; the merge is cut off at its first write. */
const makeEightChunks = async (kind: Fault['kind']): Promise<Map<string, string>> => {
  const files = new Map<string, string>()
  for (let i = 1; i <= 8; i += 1) {
    const store = await open(files, { at: 2, kind })
    await store.batch([put(`key${i}`, `value ${i}`)])
    // A store that is closed would be one chunk.
    await nextTurns()
  }
  return files
}

const nameOf = (from: number, to = from): string =>
  `${folder}/${[from, to].map(count => `${count}`.padStart(12, '0')).join('-')}`

test.beforeEach(() => void losses.splice(0))

test.serial(
  'what takes the number of a half-written batch is read, and not the text that stood there',
  async t => {
    const files = new Map<string, string>()
    await (await open(files)).batch([put('a', '1')])
    const torn = await open(files, { at: 2, kind: 'lost' })
    await t.throwsAsync(torn.batch([1, 2, 3].map(i => put(`large${i}`, `${i}`.repeat(700_000)))))
    t.true(files.has(nameOf(2)), 'the first of three parts is there')
    const store = await open(files)
    await store.batch([put('b', '2')])
    t.is(await read(store, 'b'), '2')
    t.deepEqual(losses, [])
  }
)

for (const at of [1, 2])
  test.serial(
    `while step ${at} of the repair fails nothing is merged: a merge would take the name of a file that it deletes`,
    async t => {
      const files = await makeEightChunks('torn')
      t.true(files.has(nameOf(1, 8)), 'half of a merged chunk is there')
      const disk = makeFaultDisk(files, { at, kind: 'full' })
      const store = await openOn(disk)
      await t.throwsAsync(store.batch([put('late', '1')]), { code: 'STORAGE_FULL' })
      await nextTurns()
      t.is(disk.writeCount, at)
      await store.batch([put('late', '2')])
      await store.close()
      const again = await open(files)
      for (let i = 1; i <= 8; i += 1) t.is(await read(again, `key${i}`), `value ${i}`)
      t.is(await read(again, 'late'), '2')
    }
  )

test.serial(
  'a batch after a repair that failed at first takes a number of its own, also if a chunk is missing',
  async t => {
    const files = await makeEightChunks('lost')
    files.delete(nameOf(2))
    const more = await open(files, { at: 3, kind: 'lost' })
    await more.batch([put('late', '1')])
    await more.close()
    files.delete(nameOf(2))
    const store = await open(files, { at: 1, kind: 'full' })
    await t.throwsAsync(store.batch([put('late', '2')]), { code: 'STORAGE_FULL' })
    await nextTurns()
    await store.batch([put('late', '3')])
    await store.close()
    t.is(await read(await open(files), 'late'), '3')
  }
)

test.serial(
  'a worn chunk that is written again loses nothing, also if that write fails and arrives all the same',
  async t => {
    const files = new Map<string, string>()
    const disk = makeShakyDisk(files, 1)
    const store = await openOn(disk)
    const rows = [...'abcdefgh'].map(key => put(key, key.repeat(80_000)))
    await store.batch(rows)
    disk.fail({ call: 'set', at: 2, arrives: true })
    await store.batch(rows.slice(0, 7).map(({ key }) => ({ key, value: undefined })))
    await nextTurns()
    t.is(disk.failureCount, 1)
    t.is(await read(store, 'h'), 'h'.repeat(10))
    // The next merge is made of what is there.
    await store.batch([put('next', '1')])
    await store.close()
    const again = await open(files)
    t.is(await read(again, 'h'), 'h'.repeat(10))
    t.deepEqual((await again.keys({ limit: 9 })).length, 2)
    t.deepEqual(losses, [])
  }
)

test.serial(
  'a worn chunk is written again under another name, so that half a text costs nothing',
  async t => {
    const files = new Map<string, string>()
    const disk = makeFaultDisk(files)
    const store = await openOn(disk)
    const rows = [...'abcdefgh'].map(key => put(key, key.repeat(80_000)))
    await store.batch(rows)
    disk.strike({ at: 2, kind: 'torn' })
    await store.batch(rows.slice(0, 7).map(({ key }) => ({ key, value: undefined })))
    await store.close()
    t.true(disk.hasFired)
    t.is(await read(await open(files), 'h'), 'h'.repeat(10))
  }
)

test.serial('a damaged letter costs its own value and no other one, also after merges', async t => {
  // Files as bytes, a letter for each, on a disk that refuses whole texts which are no ASCII.
  const files = new Map<string, string>()
  const plain = makeFaultDisk(files)
  const disk: Disk = {
    ...plain,
    list: path => plain.list(path),
    setText: (path, text) => plain.setText(path, Buffer.from(text, 'utf8').toString('latin1')),
    getSlice: async (path, start, end) => (await plain.getText(path))?.slice(start, end),
    getText: async path => {
      const text = await plain.getText(path)
      if (text === undefined || /^[ -~]*$/.test(text)) return text
      throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' })
    }
  }
  const store = await openOn(disk)
  await store.batch([put('a', 'aaaa'), put('b', 'bbbb'), put('c', 'cccc')])
  const text = files.get(nameOf(1)) ?? ''
  files.set(nameOf(1), text.replace('YmJiYg==', 'Ym\u00e9iYg=='))
  for (let i = 0; i < 10; i += 1) await store.batch([put('count', `${i}`)])
  await store.close()
  t.false(files.has(nameOf(1)), 'it was merged')
  const again = await openOn(disk)
  t.is(await read(again, 'a'), 'aaaa')
  t.is(await read(again, 'b'), undefined)
  t.is(await read(again, 'c'), 'cccc')
  t.is(await read(again, 'count'), '9')
  t.is(losses.length, 1)
})

test.serial('a damaged chunk that cannot be read just now is not deleted without a copy', async t => {
  const files = new Map<string, string>()
  const first = await open(files)
  for (const key of ['a', 'b', 'c']) await first.batch([put(key, key)])
  const damaged = `x${files.get(nameOf(2))?.slice(1)}`
  files.set(nameOf(2), damaged)
  const disk = makeShakyDisk(files, 1)
  const store = await openOn(disk)
  disk.fail({ call: 'get', at: 1, arrives: false })
  await t.throwsAsync(store.batch([put('d', 'd')]), { code: 'STORAGE_FAILED' })
  t.is(files.get(nameOf(2)), damaged)
  await store.batch([put('d', 'd')])
  t.true([...files].some(([path, text]) => path.startsWith('quarantine/') && text === damaged))
})

test.serial(
  'the mark of a loss is there until its owner deletes it, whatever was marked before and wherever the repair ends',
  async t => {
    const lossMark = put('lost', '1')
    const openMarked = (files: Map<string, string>, fault?: Fault): Promise<Store> =>
      openLogStore({
        ...{ disk: makeFaultDisk(files, fault), folder, crypto, clock, lossMark },
        onLoss: () => {},
        report: () => {}
      })
    for (const kind of ['full', 'late', 'lost'] as const) {
      for (let at = 1; at <= 4; at += 1) {
        const files = new Map<string, string>()
        const first = await openMarked(files)
        for (let i = 1; i <= 4; i += 1) await first.batch([put(`key${i}`, `value ${i}`)])
        files.delete(nameOf(2))
        // An earlier loss, whose mark its owner has deleted.
        const second = await openMarked(files)
        await second.batch([{ key: lossMark.key, value: undefined }])
        files.delete(nameOf(3))
        const third = await openMarked(files, { at, kind })
        await third.batch([put('late', '1')]).catch(passWalletError)
        await nextTurns()
        const paths = [...files.keys()].join()
        const isRepaired = files.has(nameOf(3)) || !paths.includes(nameOf(4))
        const fourth = await openMarked(files)
        t.true(!isRepaired || (await read(fourth, 'lost')) === '1', `${kind} at write ${at}: ${paths}`)
        // What nothing hides yet is noticed again.
        await fourth.batch([put('later', '1')])
        t.is(await read(fourth, 'lost'), '1', `${kind} at write ${at}`)
      }
    }
  }
)

test.serial(
  'a damaged newest chunk stays until the mark of the loss is durable, wherever the repair ends',
  async t => {
    const lossMark = put('lost', '1')
    let marked = 0
    for (const kind of ['full', 'late', 'lost'] as const) {
      for (let at = 1; at <= 4; at += 1) {
        const files = new Map<string, string>()
        const openMarked = (fault?: Fault): Promise<Store> =>
          openLogStore({
            ...{ disk: makeFaultDisk(files, fault), folder, crypto, clock, lossMark },
            onLoss: () => {},
            report: () => {}
          })
        const first = await openMarked()
        for (let i = 1; i <= 4; i += 1) await first.batch([put(`key${i}`, `value ${i}`)])
        files.set(nameOf(4), (files.get(nameOf(4)) ?? '').replace('HOLDFAST', 'RUBBISH!'))
        const second = await openMarked({ at, kind })
        await second.batch([put('late', '1')]).catch(passWalletError)
        await nextTurns()
        const third = await openMarked()
        const isMarked = (await read(third, 'lost')) === '1'
        marked += Number(isMarked)
        t.true(isMarked || files.get(nameOf(4))?.startsWith('RUBBISH!'), `${kind} at write ${at}`)
        await third.batch([put('later', '1')])
        t.is(await read(third, 'lost'), '1', `${kind} at write ${at}`)
        t.is(await read(third, 'key3'), 'value 3')
        const fourth = await openMarked()
        t.is(await read(fourth, 'lost'), '1')
        t.is(await read(fourth, 'later'), '1')
      }
    }
    t.true(marked > 2)
  }
)

test.serial(
  'a repair that fails at any step and is tried again keeps the mark of the loss, and the next opening finds nothing wrong',
  async t => {
    const lossMark = put('lost', '1')
    const openMarked = (files: Map<string, string>, fault?: Fault): Promise<Store> =>
      openLogStore({
        ...{ disk: makeFaultDisk(files, fault), folder, crypto, clock, lossMark },
        onLoss: error => losses.push(errorOf(error).message),
        report: () => {}
      })
    // A copy, a deletion, the mark and what takes the place of the missing chunk.
    for (let at = 1; at <= 4; at += 1) {
      const files = new Map<string, string>()
      const first = await openMarked(files)
      for (let i = 1; i <= 4; i += 1) await first.batch([put(`key${i}`, `value ${i}`)])
      files.delete(nameOf(2))
      // The newest one was being written; its number is the one that the mark takes.
      files.set(nameOf(5), (files.get(nameOf(4)) ?? '').slice(0, -4))
      const store = await openMarked(files, { at, kind: 'full' })
      await t.throwsAsync(store.batch([put('late', '1')]), { code: 'STORAGE_FULL' })
      await store.batch([put('late', '2')])
      await nextTurns()
      losses.splice(0)
      const again = await openMarked(files)
      t.is(await read(again, 'lost'), '1', `write ${at}`)
      t.is(await read(again, 'late'), '2', `write ${at}`)
      for (const i of [1, 3, 4]) t.is(await read(again, `key${i}`), `value ${i}`)
      t.deepEqual(losses, [], `write ${at}`)
    }
  }
)

/** Chunks of one value each, and a second one of two. */
const makeThreeChunks = async (): Promise<Map<string, string>> => {
  const files = new Map<string, string>()
  const store = await open(files)
  await store.batch([put('a', 'aaaa')])
  await store.batch([put('b', 'bbbb'), put('c', 'cccc')])
  await store.batch([put('d', 'dddd')])
  return files
}

test.serial('a chunk in the middle that was cut off counts as far as it goes', async t => {
  for (const cut of [1, 5]) {
    const files = await makeThreeChunks()
    files.set(nameOf(2), (files.get(nameOf(2)) ?? '').slice(0, -cut))
    const store = await open(files)
    for (const key of ['a', 'b', 'd']) t.is(await read(store, key), key.repeat(4))
    t.is(await read(store, 'c'), cut === 1 ? 'cccc' : undefined)
    t.is(losses.splice(0).length, cut === 1 ? 0 : 1)
  }
})

test.serial('a merged chunk that was cut off counts for nothing while its parts are there', async t => {
  const parts = await makeThreeChunks()
  const files = new Map(parts)
  const merging = await open(files)
  await merging.close()
  t.true(files.has(nameOf(1, 3)))
  for (const [path, text] of parts) files.set(path, text)
  const merged = files.get(nameOf(1, 3)) ?? ''
  files.set(nameOf(1, 3), merged.slice(0, -8))
  const store = await open(files)
  for (const key of 'abcd') t.is(await read(store, key), key.repeat(4))
  t.deepEqual(losses, [])
})

test.serial(
  'each chunk that is damaged or missing is reported once, and so is a row of missing ones',
  async t => {
    const files = new Map<string, string>()
    const first = await open(files)
    for (const key of 'abcdef') await first.batch([put(key, key)])
    // Written again, and damaged since.
    files.set(`${nameOf(2)}.1`, 'rubbish')
    files.delete(nameOf(2))
    for (const number of [4, 5]) files.delete(nameOf(number))
    const store = await open(files)
    t.is(losses.length, 2, losses.join())
    t.deepEqual((await store.keys({ limit: 9 })).length, 3)
    await store.batch([put('g', 'g')])
    await store.close()
    losses.splice(0)
    await open(files)
    t.deepEqual(losses, [])
  }
)

test.serial(
  'of a chunk that was written again the newest version counts, in whatever order they are listed',
  async t => {
    const files = new Map<string, string>()
    const names = ['', '.1', '.2', '.10'].map(version => nameOf(1) + version)
    for (const [i, name] of names.entries()) {
      const one = new Map<string, string>()
      await (await open(one)).batch([put('a', `version ${i}`)])
      files.set(name, one.get(nameOf(1)) ?? '')
    }
    for (const paths of [names, names.toReversed()]) {
      const store = await openLogStore({
        ...{ disk: makeFaultDisk(files), folder, crypto, clock, paths },
        ...{ onLoss: error => losses.push(errorOf(error).message), report: () => {} }
      })
      t.is(await read(store, 'a'), 'version 3')
    }
    t.deepEqual(losses, [])
  }
)

test.serial('a value that moves each time it is read is found in the end, and is no damage', async t => {
  const files = new Map<string, string>()
  const plain = makeFaultDisk(files)
  let moves = 0
  const disk: Disk = {
    ...plain,
    list: path => plain.list(path),
    async getSlice(path, start, end) {
      if (moves > 0) {
        const count = moves
        moves = 0
        // Enough for a merge of all there is.
        for (let i = 0; i < 8; i += 1) await store.batch([put(`b${count}`, `${i}`)])
        await nextTurns()
        moves = count - 1
      }
      return (await plain.getText(path))?.slice(start, end)
    }
  }
  const store = await openOn(disk)
  await store.batch([put('a', 'aaaa')])
  moves = 3
  t.is(await read(store, 'a'), 'aaaa')
  t.is(moves, 0)
  t.deepEqual(losses, [])
})
