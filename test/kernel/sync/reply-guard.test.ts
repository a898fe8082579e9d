import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { type ErrorCode, isWalletError } from '../../../kernel/index.ts'
import type { BulkChange } from '../../../kernel/repo/store/bulk.ts'
import type { SealedStore } from '../../../kernel/repo/store/sealed-store.ts'
import type { FileBoxes } from '../../../kernel/sync/merge-versions.ts'
import { type GuardOptions, ReplyGuard } from '../../../kernel/sync/reply-guard.ts'
import { RepoBoxes } from '../../../kernel/sync/repo-boxes.ts'
import { boxText, type RepoFile } from '../../../kernel/sync/repo-record.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, dataKey, openDevice } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { deleteFile, setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, replyOf, type SyncStore } from '../../helpers/sync-store.ts'

const DAY_MS = 24 * 3600 * 1000

const codesOf = ({ reports }: Device): (ErrorCode | undefined)[] =>
  reports.map(report => (isWalletError(report) ? report.code : undefined))

/** Two versions of a file, of which the device has the second and the server shows the first. */
const rolledBack = async (): Promise<{ store: SyncStore; device: Device; first: Box; second: Box }> => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const [first, second] = [boxOf('{"a":1}'), boxOf('{"a":2}')]
  store.put({ file: first, other: boxOf('x') })
  await device.sync()
  store.put({ file: second })
  await device.sync()
  store.put({ file: first })
  return { store, device, first, second }
}

test('an older version of a file from a server is detected, and the server gets the newer one again', async t => {
  const { store, device, second } = await rolledBack()
  await device.sync()
  t.is(await device.repo.getText('file'), '{"a":2}')
  t.deepEqual(store.files.get('file'), second)
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
  const at = device.clock.now() / 1000
  t.like(device.repo.state.getSnapshot(), {
    rolledBackAt: Math.floor(at),
    rolledBackFiles: 1,
    pendingCount: 0
  })
  const again = await device.reopen()
  t.like(again.repo.state.getSnapshot(), { rolledBackAt: Math.floor(at), rolledBackFiles: 1 })
})

test('our edit stays when the server shows a version older than its base', async t => {
  const { store, device } = await rolledBack()
  await setText(device.repo, 'file', '{"a":3}')
  await device.sync()
  t.is(await device.repo.getText('file'), '{"a":3}')
  const other = await openDevice(store)
  await other.sync()
  t.is(await other.repo.getText('file'), '{"a":3}')
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
})

test('our own replaced texts are remembered, whether the server or this device replaced them', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const boxes: Box[] = []
  for (const text of ['1', '2', '3']) {
    await setText(device.repo, 'file', text)
    await device.sync()
    boxes.push(store.files.get('file') as Box)
  }
  for (const old of boxes.slice(0, 2)) {
    store.put({ file: old })
    await device.sync()
    t.is(await device.repo.getText('file'), '3')
    t.deepEqual(store.files.get('file'), boxes[2])
  }
  t.is(codesOf(device).length, 2)
})

test('a server that fell back to an older state gets everything that it lacks, and the fallback is reported', async t => {
  const [store, old] = [makeSyncStore(), makeSyncStore()]
  const device = await openDevice({ fetch: (url, options) => server.fetch(url, options) })
  let server = store
  const first = { a: boxOf('1'), b: boxOf('1') }
  for (const each of [store, old]) each.put(first)
  await device.sync()
  store.put({ a: boxOf('2'), c: boxOf('1') })
  await device.sync()
  server = old
  await device.sync()
  await device.sync()
  t.deepEqual([...old.files].sort(), [...store.files].sort())
  t.true(codesOf(device).includes('SYNC_OLD_STATE'))
  t.is(await device.repo.getText('a'), '2')
})

test('an older hash alone is detected, and the next sync fetches everything', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ a: boxOf('1') })
  await device.sync()
  const { lastHash = '' } = device.repo.state.getSnapshot()
  store.put({ a: boxOf('2'), b: boxOf('1') })
  await device.sync()
  store.fault = () => replyOf(200, { changes: {}, hash: lastHash })
  await device.sync()
  t.deepEqual(codesOf(device), ['SYNC_OLD_STATE'])
  store.fault = undefined
  store.calls.length = 0
  await device.sync()
  t.true(store.calls[0]?.url.endsWith('/'), store.calls[0]?.url)
})

test('the last known state is not an older state, also after this device has forgotten its hash', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ a: boxOf('1') })
  await device.sync()
  await device.repo.forgetServer()
  await device.sync()
  await device.sync()
  t.deepEqual(codesOf(device), [])
})

test('edits of two devices, restored values and deletions do not count as an older state', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  for (let i = 0; i < 20; i += 1) {
    const [one, two] = i % 2 === 0 ? [a, b] : [b, a]
    await setText(one.repo, 'file', `{"x":${i % 3}}`)
    if (i % 5 === 0) await deleteFile(two.repo, 'file')
    await one.sync()
    await two.sync()
    await one.sync()
  }
  t.deepEqual([codesOf(a), codesOf(b)], [[], []])
})

test('a server that always shows old versions cannot keep a device uploading within one sync', async t => {
  const { store, device, first } = await rolledBack()
  store.fault = call =>
    call.method === 'POST' ? replyOf(200, { changes: { file: first }, hash: 'ff' }) : undefined
  store.calls.length = 0
  await device.sync()
  t.true(store.calls.length <= 3, `${store.calls.length} requests`)
  t.is(await device.repo.getText('file'), '{"a":2}')
})

test('a text is restored only once it is on the disk, and a full disk restores none', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const device = await openDevice(store, { files, disk })
  store.put({ gone: boxOf('there') })
  await device.sync()
  store.put({ gone: null })
  await device.sync()
  const [{ keptId = '' } = {}] = device.repo.keptFiles()
  disk.strike({ at: 1, kind: 'full' })
  await t.throwsAsync(device.repo.restoreKept(keptId), { code: 'STORAGE_FULL' })
  t.is(await device.repo.getText('gone'), undefined)
  const before = disk.writeCount
  t.is(await device.repo.restoreKept(keptId), 'gone')
  t.true(disk.writeCount > before)
  const again = await openDevice(store, { files: new Map(files) })
  t.is(await again.repo.getText('gone'), 'there')
})

test('a repo says that it syncs, when it did last, and why a sync failed until the next one succeeds', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const { state } = device.repo
  const seen: boolean[] = []
  state.subscribe(() => void seen.push(state.getSnapshot().isSyncing))
  await device.sync()
  const { isSyncing, lastSync, errorCode } = state.getSnapshot()
  t.deepEqual([isSyncing, lastSync, errorCode], [false, device.clock.now() / 1000, undefined])
  t.true(seen.includes(true))
  store.fault = () => replyOf(500, {})
  await t.throwsAsync(device.sync(), { code: 'SYNC_FAILED' })
  t.like(state.getSnapshot(), { isSyncing: false, errorCode: 'SYNC_FAILED', lastSync })
  store.fault = undefined
  await device.clock.advance(2000)
  await device.sync()
  t.like(state.getSnapshot(), { isSyncing: false, errorCode: undefined, lastSync: device.clock.now() / 1000 })
  await t.throwsAsync(
    device.repo.runSync(async () => {
      throw new Error('no error of ours')
    })
  )
  t.like(state.getSnapshot(), { isSyncing: false, errorCode: 'SYNC_FAILED' })
})

test('a text that a server replaces or deletes can be restored for 30 days, and the text that it replaces is kept instead', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  store.put({ file: boxOf('first'), gone: boxOf('there') })
  await device.sync()
  t.is(device.repo.state.getSnapshot().keptCount, undefined)
  store.put({ file: boxOf('second'), gone: null })
  await device.sync()
  t.is(device.repo.state.getSnapshot().keptCount, 2)
  const again = await device.reopen()
  const kept = again.repo.keptFiles()
  t.deepEqual(
    kept.map(({ path, reason }) => [path, reason]),
    [
      ['file', 'replaced'],
      ['gone', 'deleted']
    ]
  )
  t.is(again.repo.keptText(kept[0]?.keptId ?? ''), 'first')
  for (const { keptId, path } of kept) t.is(await again.repo.restoreKept(keptId), path)
  t.is(await again.repo.restoreKept('k/nothing'), undefined)
  t.is(again.repo.keptText('k/nothing'), undefined)
  t.is(await again.repo.getText('file'), 'first')
  t.is(await again.repo.getText('gone'), 'there')
  t.deepEqual(
    again.repo.keptFiles().map(({ path, keptId }) => [path, again.repo.keptText(keptId)]),
    [['file', 'second']]
  )
  await again.sync()
  const other = await openDevice(store)
  await other.sync()
  t.deepEqual(await Promise.all(['file', 'gone'].map(path => other.repo.getText(path))), ['first', 'there'])
  await again.clock.advance(31 * DAY_MS)
  store.put({ gone: null })
  await again.sync()
  t.deepEqual(
    again.repo.keptFiles().map(({ path }) => path),
    ['gone']
  )
})

test('boxes that do not open are kept up to a limit, and reaching it is reported', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const junk = { ...boxOf('x'), data_base64: 'A'.repeat(1024) }
  const real = Array.from({ length: 100 }, (_, i) => [`real/${i}`, boxOf(`${i}`)] as const)
  const others = Array.from({ length: 3000 }, (_, i) => [`junk/${i}`, junk] as const)
  store.put(Object.fromEntries([...others.slice(0, 1500), ...real, ...others.slice(1500)]))
  await device.sync()
  t.is((await device.repo.list('real')).length, 100)
  const count = (await device.repo.list('junk')).length
  t.true(count >= 200 && count < 500, `${count} of 3000 are kept`)
  t.true(codesOf(device).includes('REPO_LIMIT'))
  store.put(Object.fromEntries(others.map(([path]) => [`${path}-again`, junk])))
  await device.sync()
  t.is(
    (await device.repo.list('junk')).length,
    count,
    'no more of them in a second reply, or after a restart'
  )
  const again = await device.reopen()
  store.put(
    Object.fromEntries([...others.map(([path]) => [`${path}-more`, junk] as const), ['real/new', boxOf('y')]])
  )
  await again.sync()
  t.is((await again.repo.list('junk')).length, count)
  t.is(await again.repo.getText('real/new'), 'y')
})

/** A guard of a reply with these changes, over a store of these entries. */
const guardOf = (
  changes: ReadonlyMap<string, string | null>,
  {
    entries = new Map<string, string>(),
    random = () => 0,
    ...place
  }: Partial<GuardOptions> & { readonly entries?: Map<string, string> } = {}
) => {
  const reports: unknown[] = []
  const store = {
    get: (key: string) => entries.get(key),
    entries: (prefix: string) => [...entries].filter(([key]) => key.startsWith(prefix))
  }
  const guard = new ReplyGuard({
    reply: { sent: new Map(), changes },
    store: store as unknown as SealedStore,
    boxes: new RepoBoxes(makeRepoIo(), new Secret(dataKey.slice())),
    now: 5_999,
    report: error => void reports.push(error),
    random,
    ...place
  })
  return { guard, reports }
}

/** A box as large as its data says, which opens nothing. */
const junkOf = (n: number, length = 8): string =>
  boxText({ encryptionType: 0, iv_hex: vectorOf(n), data_base64: 'A'.repeat(length) })

const vectorOf = (n: number): string => n.toString(16).padStart(16, '0').padEnd(32, 'f')

test('one of 16 new boxes is opened to check it, every large one, and all after one that does not open', t => {
  const good = boxText(boxOf('x'))
  let opened = 0
  const boxes = {
    canOpen: (box: string) => {
      opened += 1
      return box === good
    }
  } as unknown as FileBoxes
  const { guard } = guardOf(new Map(), { boxes, random: () => 0.5 })
  for (let n = 1; n <= 32; n += 1) {
    t.true(guard.admits(`f${n}`, good))
    t.is(opened, n < 8 ? 0 : n < 24 ? 1 : 2, `after ${n}`)
  }
  t.true(guard.admits('large', junkOf(1, 64 * 1024)))
  t.is(opened, 3)
  for (let n = 0; n < 5; n += 1) t.true(guard.admits('any', good))
  t.is(opened, 8)
  t.deepEqual(guard.findings, { old: 0, misplaced: 0, refused: 0 })
})

test('boxes that do not open are kept up to a limit over all replies, and ten of the refused ones are reported', t => {
  const entries = new Map([['u', '{"count":198,"length":100}']])
  const { guard, reports } = guardOf(new Map(), { entries })
  const admitted = Array.from({ length: 30 }, (_, n) => guard.admits(`f${n}`, junkOf(n)))
  t.deepEqual(
    admitted.map((isAdmitted, n) => (isAdmitted ? n : -1)).filter(n => n >= 0),
    [0, 1]
  )
  t.deepEqual(guard.findings, { old: 0, misplaced: 0, refused: 28 })
  t.is(reports.length, 10)
  const writes = new Map<string, string | BulkChange | null>()
  guard.finish(writes)
  t.deepEqual([...writes], [['u', JSON.stringify({ count: 200, length: 100 + 2 * junkOf(0).length })]])

  const large = guardOf(new Map(), { entries: new Map([['u', '{"count":0,"length":4194000}']]) }).guard
  t.true(large.admits('small', junkOf(0)))
  t.false(large.admits('large', junkOf(1, 300)))
  t.true(large.admits('small too', junkOf(2)))
})

test('the newest two thousand replaced boxes are remembered, and those of the present reply stay', t => {
  const numbered = Array.from({ length: 2005 }, (_, n) => [`o/${n}`, String(n * 7)] as const)
  const entries = new Map([...numbered].sort(([a], [b]) => (a < b ? -1 : 1)))
  const { guard } = guardOf(new Map(), { entries })
  const writes = new Map<string, string | BulkChange | null>([
    ['o/2', 'again'],
    ['other', null]
  ])
  guard.finish(writes)
  t.deepEqual(
    [...writes].filter(([, text]) => text === null).map(([key]) => key),
    ['other', 'o/0', 'o/1', 'o/3', 'o/4']
  )
  t.is(writes.get('o/2'), 'again')

  for (const count of [1, 1500, 2000]) {
    const room = new Map<string, string | BulkChange | null>([['o/new', '1']])
    guardOf(new Map(), { entries: new Map(numbered.slice(0, count)) }).guard.finish(room)
    t.is(room.size, 1, `of ${count} none is forgotten`)
  }
  const quiet = new Map<string, string | BulkChange | null>([['other', 'x']])
  guard.finish(quiet)
  t.is(quiet.size, 1, 'a reply that replaces nothing forgets nothing')
  const rare = new Map<string, string | BulkChange | null>([['o/new', '1']])
  guardOf(new Map(), { entries, random: () => 0.04 }).guard.finish(rare)
  t.is(rare.size, 1, 'it is counted about once in 32 small replies')
  guardOf(new Map(), { entries, random: () => 0.03 }).guard.finish(rare)
  t.is(rare.size, 6)
})

test('the version of a file before a reply is remembered under its path, not the present or pending one', t => {
  const [A, B, C, D] = [1, 2, 3, 4].map(n => junkOf(n)) as [string, string, string, string]
  const keyOf = (n: number): string => `o/${vectorOf(n).slice(0, 16)}/f`
  const noted = (
    before: RepoFile,
    after: RepoFile,
    { sent = [], entries }: { sent?: string[]; entries?: Map<string, string> } = {}
  ): [string, string | BulkChange | null][] => {
    const reply = {
      sent: new Map([['f', { box: B, base: A, sent }]]),
      changes: new Map<string, string | null>()
    }
    const writes = new Map<string, string | BulkChange | null>()
    guardOf(new Map(), { reply, ...(entries && { entries }) }).guard.remember(
      { path: 'f', isLost: false, ...before },
      after,
      writes
    )
    return [...writes]
  }
  const file = (data?: string): RepoFile => ({ data, pending: undefined })
  t.deepEqual(noted(file(A), file(B)), [[keyOf(1), '5']])
  t.deepEqual(noted(file(A), file(A)), [])
  t.deepEqual(noted(file(), file(B)), [])
  t.deepEqual(noted(file(A), { data: B, pending: { box: A, base: B, sent: [] } }), [])
  t.deepEqual(noted(file(), file(B), { sent: [C, D, B] }), [
    [keyOf(3), '5'],
    [keyOf(4), '5']
  ])
  t.deepEqual(noted(file(A), file(), { sent: [] }), [[keyOf(1), '5']])
  t.deepEqual(noted(file(A), file(B), { entries: new Map([[keyOf(2), '1']]) }), [], 'an old one came back')
})

test('one reply adds at most five hundred remembered boxes', t => {
  const { guard } = guardOf(new Map())
  const writes = new Map<string, string | BulkChange | null>()
  for (let n = 0; n < 600; n += 1) {
    const [old, now] = [junkOf(n), junkOf(n + 1)]
    const before = { path: `f${n}`, isLost: false, data: old, pending: undefined }
    guard.remember(before, { data: now, pending: undefined }, writes)
  }
  t.is(writes.size, 500)
})

test('a server that lacks files and shows an older version of another is reported with the count of all', async t => {
  const { store, device, first } = await rolledBack()
  store.put({ gone: boxOf('1'), lost: boxOf('2'), file: boxOf('{"a":3}') })
  await device.sync()
  const old = { hash: '00', changes: { file: first, other: store.files.get('other') } }
  store.fault = ({ method, url }) =>
    method === 'GET' ? (url.endsWith('/') ? replyOf(200, old) : replyOf(404, {})) : undefined
  await device.sync()
  t.is(device.repo.state.getSnapshot().rolledBackFiles, 3)
  t.is(store.files.size, 4)
})

test('a single box that is refused because too many are kept that do not open is reported', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const junk = (n: number) => ({ ...boxOf('x'), data_base64: 'A'.repeat(1024 + n) })
  const many = Array.from({ length: 230 }, (_, n) => [`junk/${n}`, junk(n)] as const)
  store.put(Object.fromEntries(many))
  await device.sync()
  device.reports.length = 0
  store.put({ 'junk/one': junk(500) })
  await device.sync()
  t.like(device.reports, [{ code: 'CORRUPT_FILE' }, { code: 'REPO_LIMIT', details: { count: 1 } }])
  device.reports.length = 0
  store.put({ real: boxOf('x') })
  await device.sync()
  t.deepEqual(device.reports, [])
})

test('an older version that this device never had is reported as one file', async t => {
  const store = makeSyncStore()
  const [a, b] = [await openDevice(store), await openDevice(store)]
  await setText(b.repo, 'file', '{"x":1}')
  await b.sync()
  const old = store.files.get('file') as Box
  await setText(b.repo, 'file', '{"x":2}')
  await b.sync()
  await a.sync()
  store.put({ file: old })
  await a.sync()
  t.is(await a.repo.getText('file'), '{"x":2}')
  t.deepEqual(codesOf(a), ['SYNC_OLD_STATE'])
  t.is(a.repo.state.getSnapshot().rolledBackFiles, 1)
})

test('a file that does not open here is replaced by what the server has, whatever belongs there', t => {
  const requested: string[] = []
  const theirs = boxText(boxOf('{"x":1}'))
  const belongsAt = (path: string): boolean => {
    requested.push(path)
    return false
  }
  const broken = boxText({ ...boxOf('{"x":0}'), iv_hex: '00'.repeat(16) })
  for (const [data, isKept] of [
    [broken, false],
    [boxText(boxOf('{"x":0}')), true]
  ] as const) {
    const { guard } = guardOf(new Map([['f', theirs]]), { belongsAt })
    const before = { path: 'f', isLost: false, data, pending: undefined }
    const kept = guard.settle(before, () => ({ data, pending: undefined }) as never)
    t.is(kept !== undefined, isKept)
    t.is(guard.findings.misplaced, isKept ? 1 : 0)
  }
  t.deepEqual(requested, ['f'])
})

test('what the server has in place of a version is judged by whether it opens, is old, and answers an upload', t => {
  const [present, old, unread] = [boxText(boxOf('{"x":2}')), boxText(boxOf('{"x":1}')), junkOf(1)]
  const before = { path: 'f', isLost: false, data: present, pending: undefined }
  const kept = { data: present, pending: undefined }
  const remembered = new Map<string, string | BulkChange | null>()
  guardOf(new Map()).guard.remember(
    { ...before, data: old },
    { data: present, pending: undefined },
    remembered
  )
  const entries = new Map([...remembered.keys()].map(key => [key, '1']))
  const settled = (theirs: string, options: Parameters<typeof guardOf>[1] = {}, after: RepoFile = kept) => {
    const { guard, reports } = guardOf(new Map([['f', theirs]]), { entries, ...options })
    return { file: guard.settle(before, () => after as never), reports: reports.length }
  }
  const upload = { box: present, base: old, sent: [] }
  const answered = { reply: { sent: new Map([['f', upload]]), changes: new Map([['f', old]]) } }
  const sentAgain = { ...kept, data: old, pending: { box: present, base: old, sent: [] } }
  t.deepEqual(settled(unread), { file: kept, reports: 1 }, 'what does not open replaces nothing')
  t.deepEqual(settled(old), { file: sentAgain, reports: 0 })
  t.deepEqual(settled(old, answered), { file: kept, reports: 0 }, 'the answer to an upload starts no other')
  const deleting = { data: present, pending: { box: null, base: present, sent: [] } }
  t.deepEqual(settled(old, {}, deleting), { file: deleting, reports: 0 }, 'a deletion sends no text')
  t.deepEqual(settled(old, {}, { data: undefined, pending: undefined }).file, {
    ...{ data: undefined, pending: undefined }
  })
  const { guard, reports } = guardOf(new Map([['f', old]]), { entries })
  t.is(
    guard.settle({ ...before, pending: deleting.pending }, () => t.fail() as never),
    undefined,
    'nothing to keep'
  )
  const known = guardOf(new Map([['f', unread]]))
  const edited = { ...before, data: unread, pending: { box: present, base: unread, sent: [] } }
  t.is(
    known.guard.settle(edited, () => t.fail() as never),
    undefined,
    'it was judged when it came'
  )
  t.deepEqual([...reports, ...known.reports], [])
  const binary = { open: () => undefined, canOpen: () => true } as unknown as FileBoxes
  t.deepEqual(settled(unread, { boxes: binary }), { file: undefined, reports: 0 }, 'a box may hold no text')
})

test('of the texts of other files in a reply the first ten are reported, and each is counted', t => {
  const changes = new Map(Array.from({ length: 12 }, (_, n) => [`f${n}`, boxText(boxOf(`{"x":${n}}`))]))
  const { guard, reports } = guardOf(changes, { belongsAt: () => false })
  const data = boxText(boxOf('{"y":1}'))
  for (const path of changes.keys())
    t.truthy(
      guard.settle(
        { path, isLost: false, data, pending: undefined },
        () => ({ data, pending: undefined }) as never
      )
    )
  t.is(guard.findings.misplaced, 12)
  t.is(reports.length, 10)
})

test('a deletion that waits stays when the server shows an older version of the file', async t => {
  const { store, device } = await rolledBack()
  await deleteFile(device.repo, 'file')
  await device.sync()
  t.is(await device.repo.getText('file'), undefined)
  await device.sync()
  t.false(store.files.has('file'))
})
