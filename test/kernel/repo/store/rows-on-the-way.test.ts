import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { BulkChange } from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import { encodeSegment, HEAD, openPiece, parseEnds } from '../../../../kernel/repo/store/segment.ts'
import { drawSeed, makeSeededRandom } from '../../../helpers/drawn-runs.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()
const folder = 'repos/r/store'
const keyOf = (): Secret<Uint8Array> => new Secret(new Uint8Array(32).fill(7))

test('at every moment of large and small writes, a table shows the last text of each row', async t => {
  const random = makeSeededRandom(drawSeed(t))
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder, key: keyOf(), report: (error: unknown) => t.fail(`${error}`) }
  const bulk = parseBulkPrefixes(['t/', 'u/'])
  const store = await openPagedStore({ ...place, bulk, limits: { large: 600, gathered: 1500 } }, [])
  const written = new Map<string, string>()
  const shown = async (): Promise<unknown> =>
    Object.fromEntries(
      await Promise.all(
        ['t/', 'u/'].map(async prefix => {
          const rows = await store.table(prefix).page(0, 999)
          return [prefix, Object.fromEntries(rows.map(({ key, text }) => [key, text]).sort())] as const
        })
      )
    )
  const expected = (): unknown =>
    Object.fromEntries(
      ['t/', 'u/'].map(prefix => {
        const rows = [...written].filter(([key]) => key.startsWith(prefix))
        return [prefix, Object.fromEntries(rows.map(([key, text]) => [key.slice(2), text]).sort())]
      })
    )
  const writes: Promise<void>[] = []
  for (let step = 1; step <= 60; step += 1) {
    const changes = new Map<string, BulkChange | null>()
    for (let n = random.oneIn(3) ? 20 : 1 + random.below(3); n > 0; n -= 1) {
      const key = `${random.oneIn(3) ? 'u' : 't'}/${random.below(30)}`
      const text = `${step} ${'x'.repeat(50)}`
      changes.set(key, random.oneIn(4) ? null : { text, order: step, mark: step })
      if (changes.get(key) === null) written.delete(key)
      else written.set(key, text)
    }
    writes.push(store.write(changes))
    for (let turns = random.below(4); turns > 0; turns -= 1)
      await new Promise(resolve => setImmediate(resolve))
    t.deepEqual(await shown(), expected(), `step ${step}`)
    if (random.oneIn(8)) await Promise.all(writes.splice(0))
  }
  await Promise.all(writes)
  t.deepEqual(await shown(), expected())
  await store.close()
})

test('a table that is first read while rows move to the disk shows its own rows, each with its last text', async t => {
  const bulk = parseBulkPrefixes(['t/', 'u/'])
  const rowsOf = (prefix: string, keys: readonly string[], text: string): [string, BulkChange][] =>
    keys.map((key, order) => [`${prefix}${key}`, { text, order, mark: 0 }])
  let held = 0
  // Each write of the move is held once, the last of which removes the rows from memory.
  for (let at = 1; at <= 6; at += 1) {
    const files = new Map<string, string>()
    const disk = makeFaultDisk(files)
    const report = (error: unknown): void => t.fail(`${error}`)
    const place = { io, disk, folder, key: keyOf(), report, bulk }
    const first = await openPagedStore(place, [])
    await first.write(new Map([...rowsOf('t/', ['a', 'b'], 'old'), ...rowsOf('u/', ['a', 'c'], 'other')]))
    await first.close()
    let left = at
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const arrived = new Promise<void>(resolve => {
      disk.setText = (setText => async (path, text) => {
        left -= 1
        if (left === 0) {
          held += 1
          resolve()
        }
        if (left <= 0) await released
        return setText(path, text)
      })(disk.setText)
    })
    const found = [...files.keys()]
    const store = await openPagedStore({ ...place, limits: { large: 9999, gathered: 1 } }, found)
    const writing = store.write(new Map(rowsOf('t/', ['d'], 'new')))
    await Promise.race([arrived, writing.then(() => store.settled())])
    const touching = store.write(new Map([...rowsOf('t/', ['b'], 'newer'), ['t/a', null]]))
    const shown = async (): Promise<unknown> =>
      Promise.all(
        ['t/', 'u/'].map(async prefix =>
          (await store.table(prefix).page(0, 99)).map(({ key, text }) => `${key} ${text}`).sort()
        )
      )
    const expected = [
      ['b newer', 'd new'],
      ['a other', 'c other']
    ]
    t.deepEqual(await shown(), expected, `write ${at}`)
    release()
    await Promise.all([writing, touching])
    await store.settled()
    t.deepEqual(await shown(), expected, `after write ${at}`)
    await store.close()
  }
  t.is(held, 6)
})

test('rows that are written while the index of their table is read are in it afterwards', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const report = (error: unknown): void => t.fail(`${error}`)
  const place = { io, disk, folder, key: keyOf(), report, bulk: parseBulkPrefixes(['t/']) }
  const limits = { large: 10, gathered: 20 }
  const rowsOf = (...keys: readonly string[]) =>
    new Map(keys.map((key, order) => [`t/${key}`, { text: 'x'.repeat(20), order, mark: 0 }] as const))
  const first = await openPagedStore({ ...place, limits }, [])
  await first.write(rowsOf('a', 'b'))
  await first.close()
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let held = 0
  const slow = {
    ...disk,
    async getText(path: string) {
      if (!/\/i\d+$/.test(path) || held > 0) return disk.getText(path)
      held += 1
      await released
      return disk.getText(path)
    }
  }
  const store = await openPagedStore({ ...place, disk: slow, limits }, await disk.list(folder))
  const reading = store.table('t/').page(0, 9)
  while (held === 0) await new Promise(resolve => setImmediate(resolve))
  const writing = store.write(rowsOf('c', 'd'))
  let isWritten = false
  void writing.then(() => {
    isWritten = true
  })
  for (let turn = 0; turn < 500 && !isWritten; turn += 1) await new Promise(resolve => setImmediate(resolve))
  release()
  await Promise.all([reading, writing])
  const keys = async (): Promise<string[]> =>
    (await store.table('t/').page(0, 9)).map(({ key }) => key).sort()
  t.deepEqual(await keys(), ['a', 'b', 'c', 'd'])
  t.true(isWritten, 'the write did not wait for the index')
  await store.close()
})

test('rows of one write are listed by their order, also those of order 0, in whatever order they are written', async t => {
  const orders = [
    [7, 0, 5],
    [0, 0, 3],
    [9, 5, 7],
    [3, 2, 1],
    [1, 2, 3]
  ]
  for (const [at, list] of orders.entries()) {
    const disk = makeFaultDisk(new Map())
    const place = { io, disk, folder, key: keyOf(), report: (error: unknown) => t.fail(`${error}`) }
    const store = await openPagedStore(
      { ...place, bulk: parseBulkPrefixes(['t/']), limits: { large: 10, gathered: 20 } },
      []
    )
    await store.write(
      new Map(list.map((order, i) => [`t/${i}`, { text: 'x'.repeat(20), order, mark: 0 }] as const))
    )
    const found = (await store.table('t/').page(0, 9)).map(({ order }) => order)
    t.deepEqual(
      found,
      list.toSorted((left, right) => right - left),
      `${at}`
    )
    await store.close()
  }
})

test('reading a block after its key was destroyed is a failure, not damage', async t => {
  const rows = [{ key: 'a', text: 'text', order: 1, mark: 2 }]
  const { text } = await encodeSegment({ io, key: keyOf() }, { table: 't/', segment: 5 }, { rows, start: 0 })
  const piece = text.slice(HEAD, parseEnds(text.slice(0, HEAD))?.[0])
  const name = { table: 't/', segment: 5, piece: 0 }
  t.deepEqual((await openPiece({ io, key: keyOf() }, name, piece))?.row(0), rows[0])
  for (const other of [{ table: 'u/' }, { segment: 6 }, { piece: 1 }])
    t.is(await openPiece({ io, key: keyOf() }, { ...name, ...other }, piece), undefined)
  const key = keyOf()
  key.destroy()
  await t.throwsAsync(openPiece({ io, key }, name, piece), { instanceOf: TypeError })
})

test('a segment that cannot be sealed fails as half a character only if it has one', async t => {
  const seal = (key: Secret<Uint8Array>, text: string, crypto = io.crypto): Promise<unknown> => {
    const rows = [{ key: 'a', text, order: 1, mark: 2 }]
    return encodeSegment({ io: { ...io, crypto }, key }, { table: 't/', segment: 5 }, { rows, start: 0 })
  }
  await t.throwsAsync(seal(keyOf(), '\ud800'), { code: 'STORAGE_FAILED' })
  const destroyed = keyOf()
  destroyed.destroy()
  await t.throwsAsync(seal(destroyed, 'text'), { instanceOf: TypeError })
  const failure = new RangeError('no memory')
  const writeUtf8 = (): never => {
    throw failure
  }
  t.is(await t.throwsAsync(seal(keyOf(), 'text', { ...io.crypto, writeUtf8 })), failure)
})

test('the places of blocks are numbers of up to eight digits, each behind the one before', t => {
  const headOf = (ends: readonly (number | string)[]): string =>
    ends
      .map(end => String(end).padStart(8))
      .join('')
      .padEnd(HEAD)
  for (const ends of [
    [HEAD + 1],
    [200, 201, 300],
    [12_345_678, 98_765_432],
    Array.from({ length: 12 }, (_, i) => 200 + i)
  ])
    t.deepEqual(parseEnds(headOf(ends)), ends)
  for (const ends of [
    [],
    [HEAD],
    [200, 200],
    [300, 200],
    [200, 300, 300],
    [200, 300, 250],
    ['x'],
    [200, '2.5'],
    [-5]
  ])
    t.is(parseEnds(headOf(ends)), undefined, ends.join())
})

test('a table has each of its rows on the disk, the first included, and no other', async t => {
  const disk = makeFaultDisk(new Map())
  const place = { io, disk, folder, key: keyOf(), report: (error: unknown) => t.fail(`${error}`) }
  const store = await openPagedStore(
    { ...place, bulk: parseBulkPrefixes(['t/']), limits: { large: 10, gathered: 20 } },
    []
  )
  for (const keys of [['a'], ['b', 'c']]) {
    await store.write(
      new Map(keys.map((key, order) => [`t/${key}`, { text: 'x'.repeat(20), order, mark: 0 }]))
    )
    for (const key of keys) t.true(await store.table('t/').has(key), key)
  }
  t.deepEqual(await Promise.all(['a', 'b', 'c', 'd', ''].map(key => store.table('t/').has(key))), [
    true,
    true,
    true,
    false,
    false
  ])
  await store.close()
  await t.throwsAsync(openPagedStore({ ...place, folder: '../r', bulk: parseBulkPrefixes(['t/']) }, []), {
    code: 'PATH_REFUSED'
  })
})

test('entries are those beside tables: neither rows, in memory or on their way, nor what tells where rows are', async t => {
  const disk = makeFaultDisk(new Map())
  const place = { io, disk, folder, key: keyOf(), report: (error: unknown) => t.fail(`${error}`) }
  const bulk = parseBulkPrefixes(['t/'])
  const store = await openPagedStore({ ...place, bulk, limits: { large: 600, gathered: 100_000 } }, [])
  const keys = (): readonly string[] => [...store.entries('')].map(([key]) => key).sort()
  const row = (order: number): BulkChange => ({ text: 'x'.repeat(50), order, mark: 0 })
  await store.write(
    new Map<string, string | BulkChange>([
      ['e', 'entry'],
      ['t/a', row(1)]
    ])
  )
  t.deepEqual(keys(), ['e'])
  const rows = Array.from({ length: 20 }, (_, n) => [`t/${n}`, row(n)] as const)
  const large = store.write(new Map<string, string | BulkChange>([...rows, ['late', 'entry']]))
  t.deepEqual(keys(), ['e', 'late'])
  const below = (prefix: string): string[] => [...store.entries(prefix)].map(([key]) => key)
  t.deepEqual([below('e'), below('l'), below('z')], [['e'], ['late'], []])
  await large
  t.deepEqual(keys(), ['e', 'late'])
  t.is(await store.table('t/').count(), 21)
  await store.close()
})
