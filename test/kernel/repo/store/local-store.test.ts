import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Disk } from '../../../../kernel/io/disk.ts'
import { decodeChunk, encodeChunk } from '../../../../kernel/repo/store/chunk.ts'
import { type LocalStore, openLocalStore } from '../../../../kernel/repo/store/local-store.ts'
import { mergeCountOf } from '../../../../kernel/store/merge-policy.ts'
import { FAULT_KINDS, type FaultDisk, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import { makeShakyDisk } from '../../../helpers/shaky-disk.ts'

const io = makeRepoIo()
const key = new Secret(new Uint8Array(32).fill(7))
const folder = 'local/w/store'

const openOn = async (disk: Disk): Promise<{ store: LocalStore; reports: unknown[] }> => {
  const reports: unknown[] = []
  const place = { io, disk, folder, key, report: (error: unknown) => reports.push(error) }
  return { store: await openLocalStore(place, await disk.list(folder)), reports }
}

const open = async (
  files: Map<string, string>,
  disk: FaultDisk = makeFaultDisk(files)
): Promise<{ store: LocalStore; reports: unknown[]; disk: FaultDisk }> => ({ ...(await openOn(disk)), disk })

const contentOf = (store: LocalStore): Record<string, string> => Object.fromEntries(store.entries(''))
const chunksOf = (files: Map<string, string>): string[] =>
  [...files.keys()].filter(path => path.startsWith(folder)).sort()

test('written texts are there after reopening, and deleted ones stay deleted', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(
    new Map([
      ['a', '1'],
      ['b', '2'],
      ['__proto__', '3']
    ])
  )
  await store.write(
    new Map([
      ['a', null],
      ['b', '4']
    ])
  )
  t.is(store.get('a'), undefined)
  const { store: again, reports } = await open(files)
  t.deepEqual([...again.entries('')].sort(), [
    ['__proto__', '3'],
    ['b', '4']
  ])
  t.deepEqual(reports, [])
})

test('a deletion survives its merge beside a larger chunk with the key, and the merge of that chunk', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(
    new Map([
      ['a', '1'],
      ['large', 'x'.repeat(100_000)]
    ])
  )
  await store.write(new Map([['a', null]]))
  for (let n = 0; n < 7; n += 1) await store.write(new Map([[`k${n}`, '2']]))
  await store.settled()
  t.is(chunksOf(files).length, 2)
  const { store: again } = await open(files)
  t.is(again.get('a'), undefined)
  await again.close()
  const { store: third } = await open(files)
  t.is(third.get('a'), undefined)
  t.is(third.get('k6'), '2')
})

test('reads see a write at once, and the writes of one turn share a chunk', async t => {
  const files = new Map<string, string>()
  const { store, disk } = await open(files)
  const writes = Array.from({ length: 50 }, (_, i) => store.write(new Map([[`k${i}`, `${i}`]])))
  t.is(store.get('k49'), '49')
  t.is([...store.entries('k')].length, 50)
  await Promise.all(writes)
  t.is(disk.writeCount, 1)
  t.is(store.chunkCount, 1)
})

test('writes that arrive during a flush share the next chunk, and the newest text wins', async t => {
  const files = new Map<string, string>()
  const { store, disk } = await open(files)
  const first = store.write(
    new Map([
      ['k', '1'],
      ['gone', 'x']
    ])
  )
  await Promise.resolve()
  const later = [store.write(new Map([['k', '2']])), store.write(new Map([['gone', null]]))]
  t.is(store.get('k'), '2')
  t.is(store.get('gone'), undefined)
  t.deepEqual([...store.entries('')], [['k', '2']])
  await Promise.all([first, ...later])
  t.is(disk.writeCount, 2)
  t.deepEqual(contentOf((await open(files)).store), { k: '2' })
})

test('no text or key on the disk is readable without the key of the store', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map([['secret-key-name', 'secret-text']]))
  const all = JSON.stringify([...files])
  t.false(/secret/.test(all))
  t.false(all.includes(Buffer.from('secret').toString('base64').slice(0, 7)))
})

test('3,000 single writes leave few chunks, and rewrite each byte only a few times', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const count = 3000
  for (let i = 0; i < count; i += 1) await store.write(new Map([[`k${i}`, 'x'.repeat(300)]]))
  await store.settled()
  t.true(store.chunkCount <= 40, `${store.chunkCount} chunks`)
  t.is(chunksOf(files).length, store.chunkCount)
  const { store: again, reports } = await open(files)
  t.is([...again.entries('')].length, count)
  t.deepEqual(reports, [])
})

test('the next opening deletes merged chunks that a crash left', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const before = new Map<string, string>()
  for (let i = 0; i < 20; i += 1) {
    await store.write(new Map([[`k${i}`, `${i}`]]))
    for (const [path, text] of files) before.set(path, text)
  }
  await store.close()
  const merged = chunksOf(files)
  t.true(merged.length < before.size)
  for (const [path, text] of before) files.set(path, text)
  const { store: again, reports } = await open(files)
  t.deepEqual(chunksOf(files), merged)
  t.is([...again.entries('k')].length, 20)
  t.deepEqual(reports, [])
})

test('repeated writes of one key take bounded space', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (let i = 0; i < 500; i += 1) await store.write(new Map([['k', `${i}`]]))
  await store.write(new Map([['k', null]]))
  await store.settled()
  t.true(chunksOf(files).length <= 16)
  t.deepEqual(contentOf((await open(files)).store), {})
})

test('the number of chunks is logarithmic for any sizes, and the cost amortised', t => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 400 }), writes => {
      const sizes: number[] = []
      let written = 0
      let rewritten = 0
      for (const size of writes) {
        sizes.push(size)
        written += size
        for (let count = mergeCountOf(sizes); count > 0; count = mergeCountOf(sizes)) {
          const merged = sizes.splice(-count).reduce((sum, part) => sum + part, 0)
          sizes.push(merged)
          rewritten += merged
        }
      }
      return sizes.length <= 70 && rewritten <= written * 8
    }),
    { numRuns: 100 }
  )
  t.pass()
})

test('at every crash point, any failing write leaves acknowledged data, a writable store and a clean second opening', async t => {
  let fired = 0
  const story = async (store: LocalStore, acknowledged: Map<string, string | null>): Promise<void> => {
    for (let i = 0; i < 30; i += 1) {
      const changes = new Map<string, string | null>([[`k${i % 11}`, `${i}`]])
      if (i % 5 === 4) changes.set(`k${(i + 3) % 11}`, null)
      const isSaved = await store.write(changes).then(
        () => true,
        () => false
      )
      if (isSaved) for (const [name, text] of changes) acknowledged.set(name, text)
      else for (const name of changes.keys()) acknowledged.delete(name)
      await store.settled()
    }
  }
  const whole = makeFaultDisk(new Map())
  await story((await open(new Map(), whole)).store, new Map())
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      const acknowledged = new Map<string, string | null>()
      await story((await open(files, disk)).store, acknowledged)
      fired += disk.hasFired ? 1 : 0
      const { store } = await open(files)
      for (const [name, text] of acknowledged) {
        t.is(store.get(name), text ?? undefined, `${kind} at write ${at}: ${name}`)
      }
      await store.write(new Map([['after', 'crash']]))
      await store.close()
      const { store: second, reports } = await open(files)
      t.is(second.get('after'), 'crash')
      t.deepEqual(reports, [], `${kind} at write ${at}: the second opening is clean`)
    }
  }
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
})

test('at every crash point, a fault during the repair of a damaged chunk loses nothing more', async t => {
  const make = async (): Promise<Map<string, string>> => {
    const files = new Map<string, string>()
    const { store } = await open(files)
    for (const name of ['a', 'b', 'c']) await store.write(new Map([[name, name]]))
    files.set(`${folder}/000000000002-000000000002`, 'rubbish')
    return files
  }
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= 2; at += 1) {
      const files = await make()
      await open(files, makeFaultDisk(files, { at, kind })).catch(() => {})
      const { store } = await open(files)
      t.deepEqual(contentOf(store), { a: 'a', c: 'c' })
      await store.write(new Map([['d', 'd']]))
      const { store: second, reports } = await open(files)
      t.deepEqual(contentOf(second), { a: 'a', c: 'c', d: 'd' })
      t.deepEqual(reports, [])
      t.true([...files.values()].includes('rubbish'), 'the damaged text is kept')
    }
  }
})

test('a damaged chunk is kept and reported, its intact boxes are saved, and the rest opens', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map(Array.from({ length: 4 }, (_, i) => [`k${i}`, String(i).repeat(100_000)])))
  await store.write(new Map([['last', 'x']]))
  const path = `${folder}/000000000001-000000000001`
  const lines = files.get(path)?.split('\n') ?? []
  t.is(lines.length, 4)
  lines[1] = (lines[1] ?? '').replace('"data_base64":"', '"data_base64":"AAAA')
  files.set(path, lines.join('\n'))
  const { store: again, reports } = await open(files)
  t.deepEqual([...again.entries('')].map(([name]) => name).sort(), ['k0', 'k2', 'k3', 'last'])
  t.is(reports.length, 1)
  const [report] = reports
  t.true(isWalletError(report, 'CORRUPT_FILE') && files.get(report.details.keptAs ?? '') === lines.join('\n'))
  const { reports: second } = await open(files)
  t.deepEqual(second, [])
})

test('swapped, doubled and cut chunks are damage', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map([['a', '1']]))
  await store.write(new Map([['b', '2']]))
  const names = [`${folder}/000000000001-000000000001`, `${folder}/000000000002-000000000002`] as const
  const texts = names.map(name => files.get(name) ?? '')
  files.set(names[0], texts[1] ?? '')
  files.set(names[1], `${texts[1]}\n${texts[1]}`)
  const { store: again, reports } = await open(files)
  t.is(reports.length, 2)
  t.is(again.get('a'), undefined)
})

test('a missing chunk is reported once, and the store is clean afterwards', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const name of ['a', 'b', 'c']) await store.write(new Map([[name, name]]))
  files.delete(`${folder}/000000000002-000000000002`)
  const { store: again, reports } = await open(files)
  t.deepEqual(contentOf(again), { a: 'a', c: 'c' })
  t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
  t.deepEqual((await open(files)).reports, [])
})

test('a chunk that disappears between listing and reading is reported as missing', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const name of ['a', 'b', 'c']) await store.write(new Map([[name, name]]))
  const paths = chunksOf(files)
  files.delete(`${folder}/000000000002-000000000002`)
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const again = await openLocalStore({ io, disk: makeFaultDisk(files), folder, key, report }, paths)
  t.deepEqual(contentOf(again), { a: 'a', c: 'c' })
  t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
  t.deepEqual((await open(files)).reports, [])
})

test('a disk that cannot be read is an error, never an empty store', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map([['a', '1']]))
  const disk = { ...makeFaultDisk(files), getText: () => Promise.reject(new Error('EIO')) }
  await t.throwsAsync(openLocalStore({ io, disk, folder, key, report: () => t.fail() }, chunksOf(files)), {
    message: 'EIO'
  })
})

test('a failed write rejects for all its callers and is dropped, and the store goes on', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files, makeFaultDisk(files, { at: 2, kind: 'full' }))
  await store.write(new Map([['a', '1']]))
  const shared = [
    store.write(new Map([['a', '2']])),
    store.write(new Map([['b', '2']])),
    store.write(new Map())
  ]
  for (const write of shared) t.true(isWalletError(await t.throwsAsync(write), 'STORAGE_FULL'))
  t.deepEqual(contentOf(store), { a: '1' })
  await store.write(new Map([['b', '3']]))
  t.deepEqual(contentOf((await open(files)).store), { a: '1', b: '3' })
})

test('an empty write takes away what a failed one left on the disk all the same, or fails', async t => {
  const files = new Map<string, string>()
  const disk = makeShakyDisk(files, 1)
  const { store } = await openOn(disk)
  await store.write(new Map([['a', '1']]))
  disk.fail({ call: 'set', at: 1, arrives: true })
  await t.throwsAsync(store.write(new Map([['a', '2']])))
  t.is(store.get('a'), '1')
  t.is((await openOn(makeShakyDisk(new Map(files), 2))).store.get('a'), '2', 'it has arrived')
  disk.fail({ call: 'delete', at: 1, arrives: false })
  t.true(isWalletError(await t.throwsAsync(store.write(new Map())), 'STORAGE_FAILED'))
  await store.write(new Map())
  t.is((await openOn(makeShakyDisk(new Map(files), 3))).store.get('a'), '1')
  await store.write(new Map([['b', '3']]))
  await store.write(new Map())
  t.deepEqual(contentOf((await openOn(makeShakyDisk(files, 4))).store), { a: '1', b: '3' })
})

test('an empty write waits for the chunk in flight and the next one, and fails with either', async t => {
  for (const failing of [1, 2]) {
    const files = new Map<string, string>()
    const { store } = await open(files, makeFaultDisk(files, { at: failing, kind: 'full' }))
    const first = store.write(new Map([['a', '1']]))
    await Promise.resolve()
    const second = store.write(new Map([['b', '2']]))
    const nothing = store.write(new Map())
    const ends = Promise.allSettled([first, second])
    t.true(isWalletError(await t.throwsAsync(nothing), 'STORAGE_FULL'))
    t.deepEqual([...store.durableEntries('')], failing === 1 ? [['b', '2']] : [['a', '1']])
    await ends
  }
})

test('a closed store finishes its writes and refuses new ones', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const write = store.write(new Map([['a', '1']]))
  await store.close()
  // Whoever closes the disk now loses nothing.
  t.deepEqual(contentOf((await open(new Map(files))).store), { a: '1' })
  await write
  t.true(isWalletError(await t.throwsAsync(store.write(new Map([['a', '2']]))), 'STORAGE_FAILED'))
  t.is(store.get('a'), '1')
})

test('a small store is one chunk when it is closed, so that it opens with one read', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (let i = 0; i < 5; i += 1) await store.write(new Map([[`k${i}`, `${i}`]]))
  await store.write(new Map([['k0', null]]))
  await store.close()
  t.deepEqual(chunksOf(files), [`${folder}/000000000001-000000000006`])
  const { store: again, reports } = await open(files)
  t.deepEqual(contentOf(again), { k1: '1', k2: '2', k3: '3', k4: '4' })
  t.deepEqual(reports, [])
})

test('a store with little live data becomes one chunk when it is tidied, and not before', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (let i = 0; i < 5; i++) await store.write(new Map([[`k${i}`, 'x'.repeat(60_000)]]))
  await store.settled()
  store.tidySoon()
  await store.settled()
  t.is(store.chunkCount, 5)

  for (let i = 0; i < 4; i++) await store.write(new Map([[`k${i}`, null]]))
  store.tidySoon()
  const late = store.write(new Map([['late', 'y']]))
  await Promise.all([store.settled(), late])
  t.true(store.chunkCount <= 2)
  await store.write(new Map([['more', 'x'.repeat(200_000)]]))
  await store.write(new Map([['more', null]]))
  await store.settled()
  t.true(store.chunkCount > 1)
  store.tidySoon()
  await store.settled()
  t.is(store.chunkCount, 1)
  const { store: again, reports } = await open(files)
  t.deepEqual([...again.entries('')].map(([name]) => name).sort(), ['k4', 'late'])
  t.deepEqual(reports, [])
})

test('tidying leaves a small store unchanged, even with little live data', async t => {
  const { store } = await open(new Map())
  await store.write(new Map([['k', 'x'.repeat(60_000)]]))
  await store.write(new Map([['k', null]]))
  await store.settled()
  const before = store.chunkCount
  store.tidySoon()
  await store.settled()
  t.is(store.chunkCount, before)
})

test('random writes, deletions and reopenings agree with a plain map', async t => {
  const change = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.option(fc.string({ maxLength: 5000 })))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(change, fc.constant('reopen' as const)), { maxLength: 80 }),
      async steps => {
        const files = new Map<string, string>()
        const model = new Map<string, string>()
        let { store } = await open(files)
        for (const step of steps) {
          if (step === 'reopen') {
            await store.close()
            store = (await open(files)).store
            continue
          }
          const [name, text] = step
          if (text === null) model.delete(`k${name}`)
          else model.set(`k${name}`, text)
          await store.write(new Map([[`k${name}`, text]]))
        }
        await store.close()
        const again = (await open(files)).store
        return JSON.stringify([...again.entries('')].sort()) === JSON.stringify([...model].sort())
      }
    ),
    { numRuns: 60 }
  )
  t.pass()
})

test('a key that is destroyed while a store opens is no damage: nothing is reported, moved or written', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map([['k', 'text']]))
  await store.close()
  const before = new Map(files)
  const key = new Secret(new Uint8Array(32).fill(7))
  key.destroy()
  const reports: unknown[] = []
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder, key, report: (error: unknown) => void reports.push(error) }
  await t.throwsAsync(async () => openLocalStore(place, await disk.list(folder)), {
    instanceOf: TypeError
  })
  t.deepEqual(reports, [])
  t.deepEqual(files, before)
})

test('a large chunk is sealed and opened with a pause after each of its slices', async t => {
  let [now, pauses] = [0, 0]
  const clock = {
    ...io.clock,
    monotonic: () => {
      now += 1000
      return now
    },
    turn: async () => {
      pauses += 1
    }
  }
  const crypto = { io: { ...io, clock }, key }
  const range = { from: 1, to: 1 }
  const changes = Array.from({ length: 10 }, (_, n) => [`k${n}`, `${n}`.repeat(100_000)] as const)
  const text = await encodeChunk(crypto, range, changes)
  const count = text.split('\n').length
  t.true(count >= 5)
  t.is(pauses, count)
  t.deepEqual(await decodeChunk(crypto, range, text), { changes, isWhole: true })
  t.is(pauses, 2 * count)
})

test('a merged chunk that is torn gives way to its parts while they are there', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const name of ['a', 'b', 'c', 'd']) await store.write(new Map([[name, name]]))
  files.set(`${folder}/000000000001-000000000003`, 'torn')
  const { store: again, reports } = await open(files)
  t.deepEqual(contentOf(again), { a: 'a', b: 'b', c: 'c', d: 'd' })
  t.is(reports.length, 1)
  t.deepEqual(contentOf((await open(files)).store), { a: 'a', b: 'b', c: 'c', d: 'd' })
})

test('sound parts beside a torn merged chunk are kept although one part is missing, and the next opening is clean', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const [name, text] of [
    ['a', 'old'],
    ['b', 'b'],
    ['a', 'new'],
    ['d', 'd']
  ] as const)
    await store.write(new Map([[name, text]]))
  const part = (at: number): string => `${folder}/00000000000${at}-00000000000${at}`
  // What the merge saved of the missing part is newer than what a sound part knows of the same key.
  const lines = (
    await encodeChunk({ io, key }, { from: 1, to: 3 }, [
      ['a', 'new'],
      ['b', 'b'.repeat(200_000)]
    ])
  ).split('\n')
  t.is(lines.length, 2)
  files.set(`${folder}/000000000001-000000000003`, [lines[0], 'torn'].join('\n'))
  files.delete(part(3))
  const { store: again, reports } = await open(files)
  t.deepEqual(contentOf(again), { a: 'new', b: 'b', d: 'd' })
  t.is(reports.length, 1)
  const { store: third, reports: nothing } = await open(files)
  t.deepEqual(contentOf(third), { a: 'new', b: 'b', d: 'd' })
  t.deepEqual(nothing, [])
})

test('a damaged chunk that a full disk lets nobody repair is reported with that, and the rest opens', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const name of ['a', 'b', 'c']) await store.write(new Map([[name, name]]))
  files.delete(`${folder}/000000000002-000000000002`)
  const { store: again, reports } = await open(files, makeFaultDisk(files, { at: 1, kind: 'full' }))
  t.deepEqual(contentOf(again), { a: 'a', c: 'c' })
  t.deepEqual(
    reports.map(error => (isWalletError(error) ? error.code : error)),
    ['CORRUPT_FILE', 'STORAGE_FULL']
  )
})
