import test from 'ava'
import { openText } from '../../../kernel/crypto/box.ts'
import {
  covers,
  EditCount,
  joined,
  laterSide,
  type Provenance,
  provenanceMark
} from '../../../kernel/repo/lineage.ts'
import { changedFields, WHOLE_FILE } from '../../../kernel/repo/merge-json.ts'
import { RepoBoxes } from '../../../kernel/repo/repo-boxes.ts'
import { parseBox } from '../../../kernel/repo/repo-record.ts'
import { Secret } from '../../../kernel/state/secret.ts'
import { boxOf, dataKey } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const io = makeRepoIo()
const boxes = new RepoBoxes(io, new Secret(dataKey.slice()))

/** What becomes of a file that so many sessions edit, each a field of its own. */
const editedBy = (sessions: number): Provenance => {
  let made: Provenance | undefined
  for (let n = 0; n < sessions; n += 1) made = new EditCount(io).next(made, [n])
  return made ?? { lineage: new Map(), stamps: new Map() }
}

test('where a version comes from is in its box, and any reader opens it as before', t => {
  for (const sessions of [1, 2, 21, 22, 60]) {
    const made = editedBy(sessions)
    const { header, footer } = provenanceMark(made)
    t.true(header.length + 31 <= 255 && footer.length + 31 <= 255)
    for (let n = 0; n < 20; n += 1) {
      const box = boxes.seal('{"x":1}', made)
      const parsed = parseBox(box)
      t.is(parsed && openText(io, dataKey, parsed), '{"x":1}')
      const version = boxes.open(box)
      t.false(version?.isForeign)
      t.deepEqual([...(version?.lineage ?? [])], [...made.lineage].slice(0, 21))
      t.is(version?.stamps.size, Math.min(sessions - 1, 21))
    }
  }
})

test('a box that another client sealed is foreign, however often it is drawn', t => {
  for (let n = 0; n < 200; n += 1) {
    const version = boxes.open(JSON.stringify(boxOf('{"x":1}')))
    t.true(version?.isForeign)
    t.is(version?.lineage.size, 1)
  }
})

test('a version covers what it was made of, and not what another device made of that', t => {
  const first = new EditCount(io).next(undefined, [])
  const [ours, others] = [new EditCount(io).next(first, [1]), new EditCount(io).next(first, [2])]
  t.true(covers(ours.lineage, first.lineage))
  t.false(covers(first.lineage, ours.lineage))
  t.false(covers(ours.lineage, others.lineage))
  t.true(covers(joined(ours.lineage, others.lineage), others.lineage))
})

test('of one field the later value is that of the side which has seen the other one’s edit', t => {
  const session = new EditCount(io)
  const first = session.next(undefined, [])
  const ours = session.next(first, [7])
  const after = new EditCount(io).next(ours, [7])
  const apart = new EditCount(io).next(first, [7])
  t.is(laterSide({ mine: ours, theirs: after, winner: 'mine' }, 7), 'theirs')
  t.is(laterSide({ mine: after, theirs: ours, winner: 'theirs' }, 7), 'mine')
  t.is(laterSide({ mine: ours, theirs: first, winner: 'theirs' }, 7), 'mine')
  t.is(laterSide({ mine: ours, theirs: apart, winner: 'mine' }, 8), undefined)
})

test('of edits that did not know of each other every device prefers the same one, and never one that was replaced', t => {
  const prefers = (mine: Provenance, theirs: Provenance): boolean => {
    const side = laterSide({ mine, theirs, winner: 'mine' }, 7)
    t.is(laterSide({ mine: theirs, theirs: mine, winner: 'mine' }, 7), side === 'mine' ? 'theirs' : 'mine')
    return side === 'mine'
  }
  for (let n = 0; n < 50; n += 1) {
    const first = new EditCount(io).next(undefined, [])
    const replaced = new EditCount(io).next(first, [7])
    const later = new EditCount(io).next(replaced, [7])
    const apart = new EditCount(io).next(first, [7])
    t.false(prefers(replaced, apart) && prefers(apart, later))
  }
})

test('the fields of a file have marks of their own, at every depth and in sets, wherever they stand', t => {
  const marksOf = (before: object, after: object): number[] =>
    changedFields(JSON.stringify(before), JSON.stringify(after))
  const flat = marksOf({ x: 1, y: 1 }, { y: 1, x: 2 })
  t.deepEqual(marksOf({ x: 3, n: { x: 1 } }, { x: 4, n: { x: 1 } }), flat)
  const nested = marksOf({ n: { x: 1 } }, { n: { x: 2 } })
  t.is(new Set([...flat, ...nested]).size, 2)
  const [inner] = marksOf({ n: { ids: ['a'] } }, { n: { ids: ['a', 'b'] } })
  t.deepEqual(marksOf({ n: { ids: ['b', 'c'] } }, { n: { ids: ['c'] } })[0], inner)
  t.deepEqual(marksOf({ x: 1 }, { x: 1 }), [])
  t.deepEqual(changedFields('no JSON', '{}'), [WHOLE_FILE])
})
