import test from 'ava'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import { editFields, JsonFile, objectAt } from '../../../kernel/sync/json-file.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf, type Device, openDevice } from '../../helpers/repo-device.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../helpers/sync-store.ts'

const PATH = 'Settings.json'

const open = async (
  device: Device,
  text?: string
): Promise<{ file: JsonFile; kept: Map<string, string>; reports: unknown[] }> => {
  const [kept, reports] = [new Map<string, string>(), [] as unknown[]]
  if (text !== undefined) await setText(device.repo, PATH, text)
  const { repo, clock } = device
  const disk = makeFaultDisk(kept)
  return {
    file: new JsonFile({ repo, disk, clock, report: error => reports.push(error) }, PATH),
    kept,
    reports
  }
}

test('an edit changes its fields and leaves everything else as it is', async t => {
  const device = await openDevice(makeSyncStore())
  const { file } = await open(device, '{"a":{"b":1,"c":[1]},"future":{"x":null}}')
  await file.edit(() => [
    { path: ['a', 'b'], value: 2 },
    { path: ['new', 'deep', 'er'], value: { y: 1 } },
    { path: ['a', 'gone'], value: undefined }
  ])
  t.deepEqual(await file.read(), {
    a: { b: 2, c: [1] },
    future: { x: null },
    new: { deep: { er: { y: 1 } } }
  })
  await file.edit(() => [{ path: ['new'], value: undefined }])
  t.deepEqual(await file.read(), { a: { b: 2, c: [1] }, future: { x: null } })
})

test('a missing file is read as none, and an edit that changes nothing writes nothing', async t => {
  const device = await openDevice(makeSyncStore())
  const { file } = await open(device)
  t.is(await file.read(), undefined)
  await file.edit(fields => {
    t.is(fields, undefined)
    return [{ path: ['a', 'b'], value: undefined }]
  })
  t.is(device.repo.pendingCount, 0)
  await setText(device.repo, PATH, ' { "b" : {"x":1,"y":2}, "a" : 1 }')
  await device.sync()
  await file.edit(() => [{ path: ['b'], value: { y: 2, x: 1 } }])
  t.is(device.repo.pendingCount, 0)
})

const DAMAGED: readonly [string, string, string][] = [
  ['cut short', '{"a":1', 'it is no JSON'],
  ['a list', '[1]', 'it is no object'],
  ['empty', '', 'it is no JSON'],
  ['with a field that would reach a prototype', '{"__proto__":{}}', 'it has a forbidden key'],
  ['with text where an object should be', '{"a":"text","b":1}', 'a field in it is no object']
]

for (const [name, text, rule] of DAMAGED) {
  test(`a file that is ${name} is kept as an encrypted box before an edit replaces it`, async t => {
    const device = await openDevice(makeSyncStore())
    const { file, kept, reports } = await open(device, text)
    await file.edit(() => [{ path: ['a', 'x'], value: undefined }])
    t.is(await device.repo.getText(PATH), text)
    t.is(kept.size, 0)
    await file.edit(() => [{ path: ['a', 'x'], value: 1 }])
    t.deepEqual(await file.read(), name.startsWith('with text') ? { a: { x: 1 }, b: 1 } : { a: { x: 1 } })
    const [[keptAs = '', box = ''] = []] = kept
    t.regex(keptAs, /^quarantine\/repos\+.*\+Settings\.json\.\d+$/)
    t.false(text !== '' && box.includes(text))
    await setText(device.repo, PATH, '{}')
    const other = await openDevice(makeSyncStore())
    await other.repo.applyReply({ changes: new Map([[PATH, box]]), sent: new Map() })
    t.is(await other.repo.getText(PATH), text)
    t.like(reports.at(-1), { code: 'CORRUPT_FILE', details: { keptAs, rule } })
  })
}

test('a box that does not open is reported, reads as no file, and is kept before an edit replaces it', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  const box = boxOf('{"a":1}')
  const last = box.data_base64.at(-5) === 'A' ? 'B' : 'A'
  const damaged = {
    ...box,
    data_base64: `${box.data_base64.slice(0, -5)}${last}${box.data_base64.slice(-4)}`
  }
  const folder = new Map([
    ['repos/r/status.json', '{}'],
    ['repos/r/data/Settings.json', JSON.stringify(damaged)]
  ])
  const files = new Map([...folder].map(([path, text]) => [path.replace('/r/', `/${device.repo.id}/`), text]))
  const other = await openDevice(store, { files })
  const { file, kept, reports } = await open(other)
  t.deepEqual(await file.read(), {})
  t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
  await file.edit(() => [{ path: ['b'], value: 2 }])
  t.deepEqual(await file.read(), { b: 2 })
  t.deepEqual(JSON.parse([...kept.values()][0] ?? ''), damaged)
})

test('if a damaged file cannot be kept, it is not replaced', async t => {
  const device = await openDevice(makeSyncStore())
  await setText(device.repo, PATH, 'damaged')
  const { repo, clock } = device
  const disk = makeFaultDisk(new Map(), { at: 1, kind: 'full' })
  const file = new JsonFile({ repo, disk, clock, report: () => {} }, PATH)
  await t.throwsAsync(
    file.edit(() => [{ path: ['a'], value: 1 }]),
    { code: 'STORAGE_FULL' }
  )
  t.is(await repo.getText(PATH), 'damaged')
})

test('names such as __proto__ are ordinary field names', t => {
  const { fields } = editFields({}, [
    { path: ['__proto__', 'x'], value: 1 },
    { path: ['constructor'], value: 2 },
    { path: ['toString', 'y'], value: 3 }
  ])
  t.is(JSON.stringify(fields), '{"__proto__":{"x":1},"constructor":2,"toString":{"y":3}}')
  t.is(({} as { x?: number }).x, undefined)
})

test('an edit of a file that the disk cannot read now fails and replaces nothing', async t => {
  const device = await openDevice(makeSyncStore())
  const { file, kept, reports } = await open(device, '{"a":1}')
  const failure = new WalletError('STORAGE_FAILED', { path: PATH, reason: 'busy' })
  const { repo, clock } = device
  const busy = new Proxy(repo, {
    get(target, name) {
      if (name === 'getText') return () => Promise.reject(failure)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
  const report = (error: unknown): void => void reports.push(error)
  const edited = new JsonFile({ repo: busy, disk: makeFaultDisk(kept), clock, report }, PATH)
  t.is(await t.throwsAsync(edited.edit(() => [{ path: ['b'], value: 2 }])), failure)
  t.deepEqual(await file.read(), { a: 1 })
  t.deepEqual([kept.size, reports.length], [0, 0])
})

test('an edit is made of the text that is there when it is written, also where another write came in between', async t => {
  const device = await openDevice(makeSyncStore())
  const { file } = await open(device, '{"a":1}')
  let edits = 0
  await file.edit(fields => {
    edits += 1
    // The write of the others is queued first, so that the edit meets another text than it read.
    if (edits === 1) void setText(device.repo, PATH, '{"a":1,"b":2}')
    return [{ path: ['sum'], value: Object.keys(fields ?? {}).length }]
  })
  t.is(edits, 2)
  t.deepEqual(await file.read(), { a: 1, b: 2, sum: 2 })
})

test('fields that every object inherits are not there until they are set, and what is taken away is gone', t => {
  const made = editFields({}, [{ path: ['toString', 'x'], value: 1 }])
  t.deepEqual(made, { fields: { toString: { x: 1 } } as never, isDisplacing: false })
  const { fields } = editFields({ a: 1, b: 2 }, [{ path: ['a'], value: undefined }])
  t.deepEqual(Object.keys(fields), ['b'])
  t.is(objectAt({ a: { b: 1 } }, ['a', 'b']), undefined)
  t.is(objectAt({ a: { b: 1 } }, ['toString']), undefined)
  t.deepEqual(objectAt({ a: { b: 1 } }, ['a']), { b: 1 })
})
