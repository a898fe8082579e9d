import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { EditCount } from '../../../kernel/sync/edit-count.ts'
import { type Provenance, stampFields } from '../../../kernel/sync/lineage.ts'
import { changedFields } from '../../../kernel/sync/merge.ts'
import { RepoBoxes } from '../../../kernel/sync/repo-boxes.ts'
import type { NamedFile } from '../../../kernel/sync/repo-files.ts'
import { boxText, PREFIX } from '../../../kernel/sync/repo-record.ts'
import { checkFile, planWrite, sealChanged, type WriteContext } from '../../../kernel/sync/write-plan.ts'
import { boxOf, dataKey } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const io = makeRepoIo()
const boxes = new RepoBoxes(io, new Secret(dataKey.slice()))

/** A version that another of our devices sealed. */
const ownBox = (text: string, provenance: Provenance): string => boxes.seal(text, provenance)

const fileOf = (file: Partial<NamedFile>): NamedFile => ({
  path: 'f',
  isLost: false,
  data: undefined,
  pending: undefined,
  ...file
})

/** Where the new version of a file says that it comes from. */
const editedOf = async (file: NamedFile, text: string): Promise<Provenance> => {
  const [changed] = await sealChanged(boxes, new Map([['f', text]]), [file])
  const version = boxes.open(changed?.box ?? '')
  if (version === undefined) throw new Error('Nothing was sealed')
  return version
}

const other = new EditCount(io).next(undefined, [])

test('an edit of our own version keeps its edits and the stamps of the other fields', async t => {
  const [x] = changedFields('{"x":0}', '{"x":1}')
  const made = stampFields(new EditCount(io).next(other, []), [x ?? 0])
  const { lineage, stamps } = await editedOf(fileOf({ data: ownBox('{"x":1}', made) }), '{"x":1,"y":2}')
  for (const session of made.lineage.keys()) t.true(lineage.has(session))
  t.is(lineage.size, made.lineage.size + 1)
  t.deepEqual(stamps.get(x ?? 0), made.stamps.get(x ?? 0))
})

test('an edit of another client’s version records all that is known of its history', async t => {
  const foreign = boxText(boxOf('{"x":1}'))
  const [base, sent, past] = [0, 1, 2].map(() => new EditCount(io).next(undefined, []))
  if (base === undefined || sent === undefined || past === undefined) throw new Error('unreachable')
  const file = fileOf({
    data: ownBox('{"x":0}', base),
    pending: { box: foreign, base: ownBox('{"x":0}', base), sent: [ownBox('{"x":2}', sent)] },
    past: { at: 1, boxes: [ownBox('{"x":3}', past)] }
  })
  const { lineage, stamps } = await editedOf(file, '{"x":9}')
  for (const known of [base, sent, past])
    for (const session of known.lineage.keys()) t.true(lineage.has(session))
  const [foreignSession = ''] = boxes.open(foreign)?.lineage.keys() ?? []
  t.true(lineage.has(foreignSession))
  t.is(lineage.size, 5)
  t.is(stamps.size, 1)
})

test('the first version of a file has no base, and texts that are there already are not sealed', async t => {
  const { lineage, stamps } = await editedOf(fileOf({}), '{"x":1}')
  t.is(lineage.size, 1)
  t.is(stamps.size, 0)
  const file = fileOf({ data: ownBox('same', other) })
  t.deepEqual(await sealChanged(boxes, new Map([['f', 'same']]), [file]), [])
  t.deepEqual(await sealChanged(boxes, new Map([['f', null]]), [fileOf({})]), [])
  t.deepEqual(await sealChanged(boxes, new Map([['f', null]]), [file]), [{ before: file, box: null }])
})

test('remembered deletions are pruned only when files are deleted', async t => {
  let pruned = 0
  const files = {
    read: async (paths: readonly string[]) =>
      paths.map(path => fileOf({ path, data: ownBox('{"x":1}', other) })),
    put: () => undefined,
    pruneDeletions: () => {
      pruned += 1
    }
  }
  const context = {
    ...{ clock: io.clock, files, boxes },
    store: { get: () => undefined, *entries() {} },
    pending: { sentBefore: () => [] }
  } as unknown as WriteContext
  const { writes } = await planWrite(context, { texts: new Map([['f', '{"x":2}']]) })
  t.is(pruned, 0)
  t.true(writes.has('c/f'))
  await planWrite(context, { texts: new Map([['f', null]]) })
  t.is(pruned, 1)
})

test('a write keeps the last version of each file that it deletes, and none of those that it changes', async t => {
  const box = ownBox('{"x":1}', other)
  const files = {
    read: async (paths: readonly string[]) => paths.map(path => fileOf({ path, data: box })),
    put: () => undefined,
    pruneDeletions: () => undefined
  }
  const context = {
    ...{ clock: io.clock, files, boxes },
    store: { get: () => undefined, *entries() {} },
    pending: { sentBefore: () => [] }
  } as unknown as WriteContext
  const texts = new Map([
    ['a', null],
    ['b', '{"x":2}'],
    ['c', null]
  ])
  const { writes } = await planWrite(context, { texts })
  const kept = [...writes].filter(([key]) => key.startsWith(PREFIX.removed))
  t.deepEqual(
    kept.map(([key, value]) => [key.slice(-1), value]),
    [
      ['a', box],
      ['c', box]
    ]
  )
})

test('a text with half a character is not written, and the failure names a file of the write', async t => {
  const files = [fileOf({ path: 'same', data: ownBox('1', other) }), fileOf({ path: 'half' })]
  const texts = new Map([
    ['same', '1'],
    ['half', '\ud800']
  ])
  const error = await t.throwsAsync(sealChanged(boxes, texts, files), { code: 'STORAGE_FAILED' })
  t.like(error, { details: { path: 'half' } })
})

test('each of many files is sealed once, and those that have their text already are noticed', async t => {
  const present = new Map<string, string>()
  let sealed = 0
  const counting = {
    edits: boxes.edits,
    openVersions: (list: readonly (string | undefined)[]) => boxes.openVersions(list),
    sealMany: (versions: Parameters<RepoBoxes['sealMany']>[0]) => {
      sealed += versions.length
      return boxes.sealMany(versions)
    }
  }
  const files = {
    read: async (paths: readonly string[]) => paths.map(path => fileOf({ path, data: present.get(path) })),
    put: () => undefined
  }
  const context = {
    ...{ clock: io.clock, files, boxes: counting },
    store: { get: () => undefined, *entries() {} },
    pending: { sentBefore: () => [] }
  } as unknown as WriteContext
  for (const count of [0, 1, 513, 1100]) {
    const texts = new Map(Array.from({ length: count }, (_, n) => [`f${n}`, `{"n":${n}}`]))
    sealed = 0
    const { writes, hasSkipped } = await planWrite(context, { texts })
    t.deepEqual([sealed, writes.size, hasSkipped], [count, count, false])
    present.set('f0', ownBox('{"n":0}', other))
    const again = await planWrite(context, { texts })
    t.is(again.writes.size, Math.max(count - 1, 0))
    t.is(again.hasSkipped, count > 0)
    present.clear()
  }
})

test('a file has a path of the grammar, and at most 8 MB', t => {
  const largest = 'x'.repeat(8 * 1024 * 1024)
  t.notThrows(() => checkFile('a/b', largest))
  t.throws(() => checkFile('a/b', `${largest}x`), { code: 'STORAGE_FAILED' })
  t.throws(() => checkFile('../b', ''), { code: 'PATH_REFUSED' })
})
