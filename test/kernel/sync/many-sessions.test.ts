import test from 'ava'
import { changedFields } from '../../../kernel/sync/merge.ts'
import { drawSeed, makeSeededRandom, type SeededRandom } from '../../helpers/drawn-runs.ts'
import { type Device, openDevice } from '../../helpers/repo-device.ts'
import { deleteFile } from '../../helpers/repo-texts.ts'
import {
  devicesWith,
  edit,
  ends,
  manyDevices,
  manySessions,
  PATH,
  provenanceOf,
  race,
  read,
  uploadsOf
} from '../../helpers/session-stories.ts'
import { runSyncPlan } from '../../helpers/sync-run.ts'
import type { SyncStep } from '../../helpers/sync-steps.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

// A version lists 21 sessions; here files have been edited in more, on one device or on many.

test('a file that forty sessions have edited goes from one device to the other without a conflict', async t => {
  const store = makeSyncStore()
  let [a, b] = (await devicesWith(store, { x: 0 })) as [Device, Device]
  const before = uploadsOf(store)
  for (let session = 1; session <= 40; session += 1) {
    await edit(a, { x: session })
    await a.sync()
    await b.sync()
    t.deepEqual(await b.json(PATH), { x: session })
    t.deepEqual([...a.reports, ...b.reports].map(String), [], `session ${session}`)
    t.is(uploadsOf(store), before + session)
    // The next session is that of the other device, or of the same.
    const next = await a.reopen()
    if (session % 3 === 0) a = next
    else [a, b] = [b, next]
  }
})

test('two edits at once of a file of many sessions both stay, each time, and count as nothing but merged', async t => {
  for (const isSessions of [true, false]) {
    const store = makeSyncStore()
    let [a, b] = (await devicesWith(store, { x: 0, y: 0 })) as [Device, Device]
    if (isSessions) a = await manySessions(a)
    else await manyDevices(store)
    await ends(store, [a, b])
    for (let round = 1; round <= 3; round += 1) {
      ;[a, b] = [await a.reopen(), await b.reopen()]
      await edit(a, { x: -round })
      await edit(b, {
        z: round,
        ...Object.fromEntries(Array.from({ length: 29 }, (_, n) => [`f${n}`, round]))
      })
      await race(store, a, () => b.sync())
      t.like(await ends(store, [a, b]), { x: -round, y: 25, z: round, f0: round, f28: round })
    }
  }
})

test('a device that was away for many sessions takes the file as it is, also what was put back, and sends nothing', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, { on: 0, old: 1 })) as [Device, Device]
  await edit(b, { on: 1 })
  for (const device of [b, a]) await device.sync()
  await edit(b, { on: 0, old: undefined })
  const last = await manySessions(b)
  const uploads = uploadsOf(store)
  await a.sync()
  t.is(uploadsOf(store), uploads)
  t.deepEqual(await ends(store, [a, last]), { on: 0, y: 25 })
})

test('what a device edited while it was away for many sessions is merged, and nothing else of it comes back', async t => {
  for (const isSessions of [true, false]) {
    const store = makeSyncStore()
    let [a, b] = (await devicesWith(store, { on: 0, z: 0 })) as [Device, Device]
    await edit(b, { on: 1, z: 1 })
    for (const device of [b, a]) await device.sync()
    await edit(a, { z: 2 })
    a = await a.reopen()
    await edit(a, { x: 'A' })
    await edit(b, { on: 2 })
    await b.sync()
    if (isSessions) b = await manySessions(b)
    else await manyDevices(store)
    t.deepEqual(await ends(store, [a, b]), { on: 2, z: 2, x: 'A', y: 25 })
  }
})

test('a merge that has no room to list old edits gives the fields of these edits their values anew', async t => {
  const store = makeSyncStore()
  const [a, first] = (await devicesWith(store, { y: 0 })) as [Device, Device]
  const before = store.files.get(PATH) ?? null
  await edit(first, { old: 1 })
  await first.sync()
  await manyDevices(store, 'd', 12)
  await a.sync()
  // The server is put back, and others edit what it has then.
  store.put({ [PATH]: before })
  await manyDevices(store, 'e', 12)
  await edit(a, { a: 1 })
  await a.sync()
  t.like(await ends(store, [a]), { a: 1, old: 1, d: 12, e: 12 })
  const { lineage, stamps } = await provenanceOf(a)
  const [newest] = lineage
  const [tag = 0] = changedFields('{}', '{"old":1}')
  t.deepEqual([stamps.get(tag)?.session, stamps.get(tag)?.count], newest)
})

test('a device that has lost its place takes a file of many sessions as it is', async t => {
  const store = makeSyncStore()
  const [a, b] = (await devicesWith(store, { x: 0 })) as [Device, Device]
  await edit(a, { x: 5 })
  const last = await manySessions(a)
  await b.repo.forgetServer()
  t.deepEqual(await ends(store, [b, last]), { x: 5, y: 25 })
})

test('an acknowledged edit that was raced is merged after many sessions, and a deletion that did not know it leaves it', async t => {
  for (const isDeleted of [false, true]) {
    const store = makeSyncStore()
    const [a, b] = (await devicesWith(store, { y: 0 })) as [Device, Device]
    await edit(b, { b: 1 })
    await edit(a, { a: 1 })
    await race(store, a, () => b.sync())
    t.is(b.repo.pendingCount, 0)
    const last = await manySessions(a)
    if (isDeleted) {
      await deleteFile(last.repo, PATH)
      await last.sync()
    }
    t.like(await ends(store, [b, last]), isDeleted ? { b: 1 } : { a: 1, b: 1, y: 25 })
  }
})

test('the deletion of a file of many sessions reaches a device that has missed some, and leaves what that one has edited', async t => {
  for (const missed of [1, 8, 20, 39]) {
    const store = makeSyncStore()
    let [a, b, c] = (await devicesWith(store, { x: 0 }, 3)) as [Device, Device, Device]
    for (let session = 1; session <= 40; session += 1) {
      a = await a.reopen()
      await edit(a, { x: session })
      await a.sync()
      if (session === 40 - missed) await b.sync()
    }
    // It knows only the sessions that the present version lists.
    const fresh = await openDevice(store)
    await fresh.sync()
    await deleteFile(fresh.repo, PATH)
    for (const device of [fresh, a, b]) await device.sync()
    for (const device of [fresh, a, b]) t.is(await device.json(PATH), null, `${missed} missed`)
    await edit(c, { z: 1 })
    t.like(await ends(store, [c, a, b, fresh]), { z: 1 })
  }
})

test('a deletion keeps a file that was never sent, and that is older than all that twenty devices have edited', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await edit(b, { b: 1 })
  await manyDevices(store)
  await a.sync()
  await deleteFile(a.repo, PATH)
  await a.sync()
  t.deepEqual(await ends(store, [b, a]), { b: 1 })
})

test('an upload whose answer was lost many sessions ago does not undo what came after it', async t => {
  const store = makeSyncStore()
  const [a, b, later] = (await devicesWith(store, { x: 0, y: 0 }, 3)) as [Device, Device, Device]
  await edit(b, { x: 'first' })
  store.beforeAnswer = async () => {
    throw new Error('no network')
  }
  await t.throwsAsync(b.sync())
  store.beforeAnswer = undefined
  await later.sync()
  await edit(later, { x: 'second' })
  await later.sync()
  await a.sync()
  const last = await manySessions(a)
  t.deepEqual(await ends(store, [b, last, later]), { x: 'second', y: 25 })
})

test('a device that edits again after more devices than a version lists still knows what it has edited', async t => {
  for (const isDeleted of [false, true]) {
    const store = makeSyncStore()
    let [a, b] = (await devicesWith(store, { x: 0, w: 0 })) as [Device, Device]
    a = await a.reopen()
    await edit(a, { x: 'old' })
    for (const device of [a, b]) await device.sync()
    const visitor = await openDevice(store)
    await visitor.sync()
    await edit(visitor, { x: 'new', w: undefined })
    await visitor.sync()
    await manyDevices(store)
    a = await a.reopen()
    await a.sync()
    await edit(a, { z: 1 })
    await a.sync()
    const fresh = await openDevice(store)
    await fresh.sync()
    if (isDeleted) await deleteFile(fresh.repo, PATH)
    await fresh.sync()
    const uploads = uploadsOf(store)
    t.deepEqual(await ends(store, [b, a, fresh]), isDeleted ? {} : { x: 'new', y: 25, z: 1 })
    t.is(uploadsOf(store), uploads)
  }
})

test('a merge that keeps the text of the server takes its value from no edit that follows', async t => {
  const path = 'w.txt'
  const fields = [{ field: 'x', isRemoved: false }]
  const edits = (device: number): SyncStep => ({ kind: 'edit', device, path, fields })
  const visits = Array.from({ length: 20 }, (): SyncStep => ({ kind: 'visit', path, fields }))
  const steps = [...visits, edits(0), edits(1), { kind: 'sync', device: 1 } as const, edits(1)]
  await t.notThrowsAsync(runSyncPlan({ steps, hasDeployed: false, isStrict: false }))
})

test('a clock that is years ahead makes no old value win', async t => {
  const store = makeSyncStore()
  const [a, b, c] = (await devicesWith(store, { x: 0 }, 3)) as [Device, Device, Device]
  await edit(a, { x: 1 })
  for (const device of [a, b, c]) await device.sync()
  await edit(b, { x: 2 })
  await c.clock.advance(2 * 365 * 24 * 3600_000)
  await edit(c, { y: 1 })
  for (const device of [c, a]) await device.sync()
  await edit(a, { z: 1 })
  t.deepEqual(await ends(store, [a, b, c]), { x: 2, y: 1, z: 1 })
})

/** A device of a random story, and the edits that its version of the file was made of, by their place in the story. */
interface Player {
  device: Device
  known: ReadonlySet<number>
  /** What was saved of it, to be put back. */
  saved?: { readonly files: ReadonlyMap<string, string>; readonly known: ReadonlySet<number> }
}

interface StoryEdit {
  readonly field: string
  readonly value: unknown
  /** The edits that its device knew. */
  readonly known: ReadonlySet<number>
}

/** Checks if an edit is nowhere any more once a device is put back: nobody else has it. */
const isGone = (n: number, players: readonly Player[], sent: ReadonlySet<number>): boolean =>
  !sent.has(n) && !players.some(({ known }) => known.has(n))

/**
 * Plays a story of three devices, most of it in sessions of one edit, with values that come again, and returns what is wrong at the end.
 *
 * Now and then a device whose edits the server has is gone, and a new one comes. With copies, the profile of a device goes on on another one, too, and one is put back to what was saved of it.
 */
const playStory = async (random: SeededRandom, hasCopies = false): Promise<string | undefined> => {
  const store = makeSyncStore()
  let time = Date.UTC(2026, 0, 1)
  const options = hasCopies ? { now: () => time } : {}
  const players: Player[] = (await devicesWith(store, { y: 0 }, 3, options)).map(device => ({
    device,
    known: new Set()
  }))
  const edits: StoryEdit[] = []
  const gone = new Set<number>()
  const pass = async ({ device }: Player, milliseconds: number): Promise<void> => {
    time += milliseconds
    await device.clock.advance(milliseconds)
  }
  const opened = (files: ReadonlyMap<string, string>): Promise<Device> =>
    openDevice(store, { ...options, files: new Map(files) })
  let sent: ReadonlySet<number> = new Set()
  const editOne = async (player: Player): Promise<void> => {
    const field = random.oneIn(3) ? random.pick(['x', 'z', 'w']) : 'y'
    const value = field === 'y' ? edits.length + 1 : random.pick([0, 1, 2, undefined])
    if ((await read(player.device))[field] === value) return
    edits.push({ field, value, known: player.known })
    player.known = new Set([...player.known, edits.length - 1])
    time += 1000
    await edit(player.device, { [field]: value })
  }
  const syncOne = async (player: Player): Promise<void> => {
    await player.device.sync()
    sent = player.known = new Set([...player.known, ...sent])
  }
  const raceOne = async (player: Player, other: Player): Promise<void> => {
    let left = player.known
    await race(store, player.device, async () => {
      left = new Set([...player.known, ...sent])
      await editOne(other)
      await syncOne(other)
    })
    // What the other one sent in between is there again when that one syncs.
    if (left !== player.known) sent = player.known = left
    else sent = player.known = new Set([...player.known, ...sent])
  }
  const copyOne = async (player: Player): Promise<void> => {
    if (players.length < 7) players.push({ device: await opened(player.device.files), known: player.known })
  }
  const putBackOne = async (player: Player): Promise<void> => {
    const { device, saved, known } = player
    if (saved === undefined) {
      player.saved = { files: new Map(device.files), known }
      return
    }
    await device.repo.close()
    Object.assign(player, { device: await opened(saved.files), known: saved.known, saved: undefined })
    for (const n of known) if (isGone(n, players, sent)) gone.add(n)
  }
  const replaceOne = async (player: Player): Promise<void> => {
    if ([...player.known].some(n => !sent.has(n))) return
    await player.device.repo.close()
    Object.assign(player, { device: await opened(new Map()), known: sent, saved: undefined })
    await syncOne(player)
  }
  let present = players[0] as Player
  for (let step = 0; step < 90; step += 1) {
    if (random.oneIn(16)) present = random.pick(players)
    if (random.oneIn(25)) await replaceOne(present)
    if (hasCopies && random.oneIn(20)) await (random.oneIn(2) ? copyOne(present) : putBackOne(present))
    const others = players.filter(player => player !== present)
    const what = random.below(10)
    if (what < 6) {
      if (!random.oneIn(3)) present.device = await present.device.reopen()
      await editOne(present)
    } else if (what < 8) await syncOne(present)
    else if (what === 8 && random.oneIn(2)) await raceOne(present, random.pick(others))
    else await pass(present, random.pick([300_000, 3_600_000, 86_400_000]))
  }
  const file = await ends(
    store,
    players.map(({ device }) => device),
    hasCopies ? { rounds: 4, mayConflict: true } : {}
  )
  for (const field of ['x', 'y', 'z', 'w']) {
    const there = edits.flatMap((edit, n) => (edit.field === field && !gone.has(n) ? [{ ...edit, n }] : []))
    const last = there.filter(({ n }) => !there.some(other => other.known.has(n)))
    if (last.length > 0 && !last.some(({ value }) => value === file[field]))
      return `${field} is ${file[field]}, and last was given ${last.map(({ value }) => value).join(' or ')}`
  }
  return undefined
}

test('each field ends with a value that no device has replaced, also one that was put back, removed or raced', async t => {
  const seed = drawSeed(t)
  for (let run = 0; run < 40; run += 1)
    t.is(await playStory(makeSeededRandom(seed + run)), undefined, `HOLDFAST_SEED=${seed + run}`)
})

test('so does each field where profiles were copied, and put back to what was saved of them', async t => {
  const seed = drawSeed(t)
  for (let run = 0; run < 40; run += 1)
    t.is(await playStory(makeSeededRandom(seed + run), true), undefined, `HOLDFAST_SEED=${seed + run}`)
})
