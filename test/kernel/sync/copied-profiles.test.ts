import test from 'ava'
import { bodiesIn, damageValue } from '../../helpers/damaged-log.ts'
import { type Device, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import {
  devicesWith,
  edit,
  ends,
  manySessions,
  PATH,
  provenanceOf,
  race,
  uploadsOf
} from '../../helpers/session-stories.ts'
import { makeSyncStore, type SyncStore } from '../../helpers/sync-store.ts'

// Two devices with one profile, and so with one name: what is said of all edits of that name is of one of them only.

/** A device whose file has been edited in many sessions, and a device with a copy of its profile. */
const copiedDevice = async (store: SyncStore): Promise<[Device, Device]> => {
  const [first] = (await devicesWith(store, { x: 0, w: 0 }, 1)) as [Device]
  const device = await manySessions(first)
  return [device, await openDevice(store, { files: new Map(device.files) })]
}

/** The name of the device that has edited the file last. */
const lastName = async (device: Device): Promise<string | undefined> =>
  [...(await provenanceOf(device)).lineage.keys()][0]?.slice(0, 8)

test('two copies of one profile keep what each has edited in a session of its own', async t => {
  for (const sessions of [1, 12, 30]) {
    const store = makeSyncStore()
    const [first] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
    const a = await manySessions(first)
    let copy = await openDevice(store, { files: new Map(a.files) })
    await edit(copy, { copy: 1 })
    let last = await a.reopen()
    for (let session = 0; session < sessions; session += 1) {
      await edit(last, { x: session })
      await last.sync()
      last = await last.reopen()
    }
    t.deepEqual(await ends(store, [copy, last]), { x: sessions - 1, y: 25, copy: 1 }, `${sessions} sessions`)
    copy = await copy.reopen()
    await edit(copy, { copy: 2 })
    await edit(last, { x: 'last' })
    await race(store, last, () => copy.sync())
    t.deepEqual(await ends(store, [copy, last]), { x: 'last', y: 25, copy: 2 })
  }
})

test('a copy of a profile keeps what it sent in vain, what was raced, and what a deletion did not know', async t => {
  for (const what of ['in vain', 'raced', 'deleted'] as const) {
    const store = makeSyncStore()
    const [first] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
    const a = await manySessions(first)
    const copy = await openDevice(store, { files: new Map(a.files) })
    await edit(copy, { copy: 1 })
    if (what === 'in vain') {
      store.fault = () => {
        throw new Error('no network')
      }
      await t.throwsAsync(copy.sync())
      store.fault = undefined
      await edit(copy, { copy: 2 })
    } else if (what === 'raced') {
      await edit(a, { x: 1 })
      await race(store, a, () => copy.sync())
    }
    const last = await manySessions(a)
    if (what === 'deleted') {
      await deleteFile(last.repo, PATH)
      await last.sync()
    }
    const other = await openDevice(store)
    for (const device of [other, copy, other, last]) await device.sync()
    t.like(await ends(store, [copy, last, other]), { copy: what === 'in vain' ? 2 : 1, y: 25 })
  }
})

test('what a copy has edited stays for a device that has seen the other copy between', async t => {
  const store = makeSyncStore()
  const [first] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
  const a = await manySessions(first)
  const copy = await openDevice(store, { files: new Map(a.files) })
  await edit(copy, { copy: 1 })
  await edit(a, { q: 1 })
  await a.sync()
  const other = await openDevice(store)
  await other.sync()
  const last = await manySessions(a)
  for (const device of [copy, other]) await device.sync()
  t.deepEqual(await ends(store, [copy, last, other]), { x: 0, y: 25, q: 1, copy: 1 })
})

test('what the server took from a copy before it was raced is merged, and removes nothing of the other copy', async t => {
  for (const sessions of [0, 1, 25]) {
    const store = makeSyncStore()
    const [first] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
    const a = await manySessions(first)
    const copy = await openDevice(store, { files: new Map(a.files) })
    let last = await a.reopen()
    await edit(last, { q: 1 })
    await edit(copy, { copy: 1 })
    await race(store, last, () => copy.sync())
    for (let session = 1; session <= sessions; session += 1) {
      last = await last.reopen()
      await edit(last, { y: 100 + session })
      await last.sync()
    }
    t.deepEqual(
      await ends(store, [copy, last]),
      { x: 0, y: sessions === 0 ? 25 : 100 + sessions, q: 1, copy: 1 },
      `${sessions} sessions`
    )
  }
})

test('a device that edits what one copy has sent takes what the other one merged with it', async t => {
  const store = makeSyncStore()
  const [a, copy] = await copiedDevice(store)
  await edit(copy, { copy: 1 })
  const last = await manySessions(a)
  const other = await openDevice(store)
  await other.sync()
  await edit(other, { o: 1 })
  await copy.sync()
  // The copy is not there any more to send it again.
  t.like(await ends(store, [other, last]), { copy: 1, y: 25, o: 1 })
})

test('a copy that was away for many sessions keeps what the other one has sent meanwhile', async t => {
  const store = makeSyncStore()
  const [a, copy] = await copiedDevice(store)
  let away = copy
  for (let session = 1; session <= 30; session += 1) {
    away = await away.reopen()
    await edit(away, { copy: session })
  }
  const last = await a.reopen()
  await edit(last, { q: 1 })
  await last.sync()
  // The other copy is not there any more to send it again.
  const other = await openDevice(store)
  await other.sync()
  t.like(await ends(store, [away, other]), { copy: 30, y: 25, q: 1 })
})

test('a field that a copy removed before it edited many others stays away', async t => {
  const store = makeSyncStore()
  const [a, copy] = await copiedDevice(store)
  await edit(copy, { w: undefined })
  await edit(copy, Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, n])))
  const last = await a.reopen()
  await edit(last, { q: 1 })
  await last.sync()
  const file = await ends(store, [copy, last])
  t.like(file, { y: 25, q: 1, f0: 0, f29: 29 })
  t.false('w' in file)
})

test('a copy shows also where others have edited so much that no session of it is listed', async t => {
  for (const isDeleted of [false, true]) {
    const store = makeSyncStore()
    const [first] = (await devicesWith(store, { x: 0, w: 0 }, 1)) as [Device]
    const copy = await openDevice(store, { files: new Map(first.files) })
    await edit(copy, { copy: 1 })
    const a = await first.reopen()
    await edit(a, { x: 1 })
    await edit(a, { x: 2 })
    await a.sync()
    let last = a
    for (let n = 0; n < 11; n += 1) {
      last = await openDevice(store)
      for (let session = 0; session < 2; session += 1) {
        await last.sync()
        await edit(last, { y: 2 * n + session })
        await last.sync()
        last = await last.reopen()
      }
    }
    if (isDeleted) await deleteFile(last.repo, PATH)
    await last.sync()
    t.like(await ends(store, [copy, last]), isDeleted ? { copy: 1 } : { x: 2, y: 21, copy: 1 })
  }
})

test('a copy that only reads, and a profile that is put back, take what others edit, replace and delete', async t => {
  for (const what of ['edited', 'deleted', 'made again'] as const) {
    const store = makeSyncStore()
    const [first, b] = (await devicesWith(store, { x: 'old' })) as [Device, Device]
    const files = new Map(first.files)
    const a = await first.reopen()
    await edit(a, { x: 'older' })
    for (const device of [a, b]) await device.sync()
    const copy = await openDevice(store, { files })
    await copy.clock.advance(300_000)
    await copy.sync()
    await edit(b, { x: 'new' })
    await edit(b, Object.fromEntries(Array.from({ length: 27 }, (_, n) => [`f${n}`, n])))
    const last = await manySessions(b)
    if (what !== 'edited') await deleteFile(last.repo, PATH)
    await last.sync()
    if (what === 'made again') await edit(last, { x: 'made again' })
    const uploads = uploadsOf(store)
    await copy.sync()
    t.is(uploadsOf(store), uploads)
    const file = await ends(store, [copy, last])
    if (what === 'deleted') t.deepEqual(file, {})
    else t.is(file.x, what === 'edited' ? 'new' : what)
  }
})

test('what a copy sent stays where the file was deleted without it, and made again, and nothing else comes back', async t => {
  const store = makeSyncStore()
  const [a, copy] = await copiedDevice(store)
  await edit(copy, { copy: 1 })
  await edit(a, { x: 1 })
  await race(store, a, () => copy.sync())
  const last = await manySessions(a)
  await deleteFile(last.repo, PATH)
  await last.sync()
  await edit(last, { y: 'again' })
  await last.sync()
  t.deepEqual(await ends(store, [copy, last]), { copy: 1, y: 'again' })
})

test('two copies that each make a file keep what both have put into it', async t => {
  const store = makeSyncStore()
  const first = await openDevice(store)
  await setText(first.repo, 'other.json', '{}')
  await first.sync()
  const copy = await openDevice(store, { files: new Map(first.files) })
  await edit(copy, { copy: 1 })
  const last = await manySessions(await first.reopen())
  t.deepEqual(await ends(store, [copy, last]), { copy: 1, y: 25 })
})

test('a profile that was put back while an edit of it was new takes what another device has replaced since', async t => {
  const store = makeSyncStore()
  let [a, b] = (await devicesWith(store, { y: 0 })) as [Device, Device]
  const restored: Map<string, string>[] = []
  for (let n = 1; n <= 4; n += 1) {
    a = await a.reopen()
    await edit(a, n === 3 ? { x: 'old' } : { y: n })
    await a.sync()
    if (n === 2) restored.push(new Map(a.files))
  }
  const back = await openDevice(store, { files: restored[0] ?? new Map() })
  for (const device of [back, b]) await device.sync()
  b = await b.reopen()
  await edit(b, { x: 'new' })
  await b.sync()
  await edit(b, Object.fromEntries(Array.from({ length: 27 }, (_, n) => [`f${n}`, n])))
  const last = await manySessions(b)
  const uploads = uploadsOf(store)
  await back.sync()
  t.is(uploadsOf(store), uploads)
  t.is((await ends(store, [back, last])).x, 'new')
})

test('a copy that has found its disk damaged keeps what it has edited', async t => {
  for (const isReopened of [false, true]) {
    const store = makeSyncStore()
    const [a, copy] = await copiedDevice(store)
    await edit(copy, { copy: 1 })
    await copy.repo.forgetServer()
    const last = await manySessions(a)
    t.like(await ends(store, [isReopened ? await copy.reopen() : copy, last]), { copy: 1, y: 25 })
  }
})

test('a device takes a new name after a loss, and keeps it', async t => {
  const store = makeSyncStore()
  const [first] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
  const name = await lastName(first)
  const a = await first.reopen()
  await edit(a, { x: 1 })
  t.is(await lastName(a), name)
  await a.repo.forgetServer()
  await edit(a, { x: 2 })
  const later = await lastName(a)
  t.not(later, name)
  const last = await a.reopen()
  await edit(last, { x: 3 })
  t.is(await lastName(last), later)
})

test('a device that has found its disk damaged has a new name in its next session', async t => {
  const store = makeSyncStore()
  const [a] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
  const name = await lastName(a)
  const paths = Array.from({ length: 600 }, (_, n) => `transaction/${n}-t.json`)
  await a.repo.write({ texts: new Map(paths.map(path => [path, 'x'.repeat(1000)])) })
  await a.sync()
  await a.repo.close()
  for (const body of bodiesIn(a.files)) damageValue(a.files, body)
  const found = await openDevice(store, { files: a.files })
  await found.repo.getTexts(paths)
  t.not(found.reports.length, 0)
  const last = await found.reopen()
  await last.sync()
  await edit(last, { x: 1 })
  t.not(await lastName(last), name)
})

test('a device that opens with a part of its log lost has a new name', async t => {
  const store = makeSyncStore()
  const [a] = (await devicesWith(store, { x: 0 }, 1)) as [Device]
  const name = await lastName(a)
  const before = new Set(a.files.keys())
  await setText(a.repo, 'other.json', '{}')
  await a.sync()
  await a.repo.close()
  const [lost = ''] = [...a.files.keys()].filter(path => path.includes('/log/') && !before.has(path)).sort()
  a.files.set(lost, 'rubbish')
  const last = await openDevice(store, { files: a.files })
  t.not(last.reports.length, 0)
  await last.sync()
  await edit(last, { x: 1 })
  t.not(await lastName(last), name)
})
