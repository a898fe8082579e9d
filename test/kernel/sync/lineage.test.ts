import test from 'ava'
import fc from 'fast-check'
import { Secret } from '../../../kernel/base/secret.ts'
import { openText } from '../../../kernel/crypto/box.ts'
import {
  areRelated,
  covers,
  decodeProvenance,
  EditCount,
  encodeProvenance,
  foreignProvenance,
  forgottenUntil,
  hasUnknownForeignEdit,
  isOwnEdit,
  joinLineages,
  type Lineage,
  laterSide,
  mergedProvenance,
  newestCount,
  type Provenance,
  stampFields,
  withForgotten
} from '../../../kernel/sync/lineage.ts'
import { changedFields, WHOLE_FILE } from '../../../kernel/sync/merge.ts'
import { RepoBoxes } from '../../../kernel/sync/repo-boxes.ts'
import { parseBox } from '../../../kernel/sync/repo-record.ts'
import { drawSeed, makeSeededRandom, type SeededRandom } from '../../helpers/drawn-runs.ts'
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

test('the lineage of a version is in its box, and every reader still opens the box', t => {
  for (const sessions of [1, 2, 21, 22, 60]) {
    const made = editedBy(sessions)
    const { header, footer } = encodeProvenance(made)
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

test('a full lineage has forgotten what is older than all that it names, unless most of that is another client’s', t => {
  const edits = (count: number, from = 1): Lineage =>
    new Map(Array.from({ length: count }, (_, i) => [`s${from + count - 1 - i}`, from + count - 1 - i]))
  const older = edits(30)
  t.deepEqual(withForgotten(edits(20, 11), older), edits(20, 11))
  t.deepEqual([...withForgotten(edits(21, 11), older).keys()].sort(), [...edits(31).keys()].sort())
  t.deepEqual([...withForgotten(edits(25, 11), older).keys()].sort(), [...edits(35).keys()].sort())
  t.false(withForgotten(edits(21, 11), new Map([['apart', 12]])).has('apart'))
  const foreign = (count: number): Lineage =>
    new Map(Array.from({ length: count }, (_, i) => [`f${i}`, 0xffff_ffff]))
  const mixed = joinLineages(edits(1, 40), foreign(20))
  t.is(withForgotten(mixed, older), mixed)
  t.true(withForgotten(joinLineages(edits(10, 21), foreign(11)), older).has('s3'))
})

test('a version of another client alone is never taken for one from before a lineage', t => {
  const { lineage } = foreignProvenance('00112233445566778899aabbccddeeff')
  t.true(newestCount(lineage) > forgottenUntil(lineage))
  t.is(newestCount(joinLineages(lineage, new Map([['a', 5]]))), 5)
  const [mine, theirs] = [lineage, new Map([['a', 5]])].map(each => ({ lineage: each, stamps: new Map() }))
  if (mine === undefined || theirs === undefined) throw new Error('two versions')
  const both = mergedProvenance({ mine, theirs, winner: 'mine' })
  t.deepEqual([...both.lineage.keys()], [...lineage.keys(), 'a'])
})

test('a box of another client is always foreign, whatever its random header', t => {
  for (let n = 0; n < 200; n += 1) {
    const version = boxes.open(JSON.stringify(boxOf('{"x":1}')))
    t.true(version?.isForeign)
    t.is(version?.lineage.size, 1)
  }
})

test('a version covers its base, and no other version with that base', t => {
  const first = new EditCount(io).next(undefined, [])
  const [ours, others] = [new EditCount(io).next(first, [1]), new EditCount(io).next(first, [2])]
  t.true(covers(ours.lineage, first.lineage))
  t.false(covers(first.lineage, ours.lineage))
  t.false(covers(ours.lineage, others.lineage))
  t.true(covers(joinLineages(ours.lineage, others.lineage), others.lineage))
})

test('the later value of a field is that of the side that knew the other one’s edit', t => {
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

test('every device prefers the same one of concurrent edits, and never a replaced one', t => {
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

test('each field of a file has its own tag, at every depth, in sets and in any position', t => {
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

/** A version as a box may say: its sessions, and stamps of the last 16 million edits of each. */
const anyProvenance = (): fc.Arbitrary<Provenance> => {
  const session = fc.stringMatching(/^[0-9a-f]{12}$/)
  const sessions = fc.uniqueArray(fc.tuple(session, fc.integer({ min: 2 ** 24, max: 0xffff_ffff })), {
    maxLength: 30,
    selector: ([name]) => name
  })
  const stamp = fc.tuple(fc.integer({ min: 0, max: 0xffff_ffff }), fc.nat(29), fc.nat(0xffffff))
  return fc.tuple(sessions, fc.array(stamp, { maxLength: 40 })).map(([edits, drawn]) => {
    const stamps = new Map<number, { session: string; count: number }>()
    for (const [field, n, ago] of drawn) {
      const [name, last] = edits[n % edits.length] ?? []
      if (name !== undefined && last !== undefined) stamps.set(field, { session: name, count: last - ago })
    }
    return { lineage: new Map(edits), stamps }
  })
}

test('a box stores the lineage of its version: all edits of the first 21 sessions, and 26 stamps', t => {
  fc.assert(
    fc.property(anyProvenance(), fc.uint8Array({ maxLength: 40 }), (made, noise) => {
      const { header, footer } = encodeProvenance(made)
      const lineage = [...made.lineage].slice(0, 21)
      const names = new Set(lineage.map(([name]) => name))
      const stamps = [...made.stamps].filter(([, { session }]) => names.has(session)).slice(0, 26)
      const noisy = { header: Uint8Array.of(...header, ...noise), footer: Uint8Array.of(...footer, ...noise) }
      for (const mark of [{ header, footer }, noisy]) {
        const read = decodeProvenance(mark)
        t.deepEqual([...(read?.lineage ?? [])], lineage)
        t.deepEqual([...(read?.stamps ?? [])], stamps)
      }
      for (const length of [0, 7, header.length - 1])
        if (length < header.length)
          t.is(decodeProvenance({ header: header.slice(0, length), footer }), undefined)
      t.deepEqual([...(decodeProvenance({ header, footer: new Uint8Array(0) })?.stamps ?? [])], [])
    }),
    { seed: drawSeed(t), numRuns: 40 }
  )
})

test('a header that begins like a lineage but counts more sessions than fit is noise', t => {
  const { header, footer } = encodeProvenance(editedBy(1))
  t.is(String.fromCharCode(...header.slice(0, 7)), 'hfline\u0001', 'as in the boxes that are there')
  const crowded = new Uint8Array(255)
  crowded.set(header)
  crowded[7] = 22
  t.is(decodeProvenance({ header: crowded, footer }), undefined)
  crowded[7] = 21
  t.is(decodeProvenance({ header: crowded, footer })?.lineage.size, 2)
  crowded[3] = 0
  t.is(decodeProvenance({ header: crowded, footer }), undefined)
})

/** A version of a file, and what is true of it: every edit in it, and which of them gave each field its value. */
interface TrueVersion {
  readonly made: Provenance
  readonly edits: ReadonlySet<string>
  readonly values: ReadonlyMap<number, string>
}

/** What some devices make of one file, each edit with a number of its own. */
const drawVersions = (seededRandom: SeededRandom): TrueVersion[] => {
  const clock = { now: () => 1_700_000_000_000 + 1000 * seededRandom.below(3) }
  const first = new EditCount({ ...io, clock }).next(undefined, [])
  const root: TrueVersion = { made: first, edits: new Set(['root']), values: new Map() }
  const devices = [0, 1, 2].map(() => ({ edits: new EditCount({ ...io, clock }), now: root }))
  const seen = [root]
  for (let n = 0; n < 14; n += 1) {
    const device = seededRandom.pick(devices)
    const { made, edits, values } = device.now
    if (seededRandom.oneIn(2)) {
      const field = seededRandom.below(3)
      device.now = {
        made: device.edits.next(made, [field]),
        edits: new Set([...edits, `${n}`]),
        values: new Map([...values, [field, `${n}`]])
      }
    } else device.now = united(device.now, seededRandom.pick(devices).now)
    seen.push(device.now)
  }
  return seen
}

/** The later side by the whole story; undefined where neither edit knew the other. */
const trueSide = (mine: TrueVersion, theirs: TrueVersion, field: number): 'mine' | 'theirs' | undefined => {
  const [ours, others] = [mine.values.get(field) ?? 'root', theirs.values.get(field) ?? 'root']
  const [theyKnow, weKnow] = [theirs.edits.has(ours), mine.edits.has(others)]
  return theyKnow === weKnow ? undefined : theyKnow ? 'theirs' : 'mine'
}

const united = (mine: TrueVersion, theirs: TrueVersion): TrueVersion => {
  const sides = { mine: mine.made, theirs: theirs.made, winner: 'mine' } as const
  const values = new Map([...theirs.values, ...mine.values])
  for (const field of values.keys()) {
    const side = trueSide(mine, theirs, field) ?? laterSide(sides, field) ?? 'mine'
    values.set(field, (side === 'mine' ? mine : theirs).values.get(field) ?? 'root')
  }
  return { made: mergedProvenance(sides), edits: new Set([...mine.edits, ...theirs.edits]), values }
}

test('versions name their edits and the later value of each field as a full history does', t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 12; run += 1) {
    const seen = drawVersions(seededRandom)
    for (const mine of seen)
      for (const theirs of seen) {
        t.is(
          covers(mine.made.lineage, theirs.made.lineage),
          [...theirs.edits].every(n => mine.edits.has(n))
        )
        t.true(areRelated(mine.made.lineage, theirs.made.lineage))
        const sides = { mine: mine.made, theirs: theirs.made, winner: 'mine' } as const
        const merged = mergedProvenance(sides)
        t.is(merged.lineage.size, new Set([...mine.made.lineage.keys(), ...theirs.made.lineage.keys()]).size)
        for (const field of [0, 1, 2]) {
          const side = laterSide(sides, field)
          const stamp = (side === 'mine' ? mine : theirs).made.stamps.get(field)
          t.deepEqual(merged.stamps.get(field), stamp)
          const known = trueSide(mine, theirs, field)
          if (known !== undefined) t.is(side, known)
          // Of edits apart both devices take the same one, whoever asks.
          const other = laterSide({ mine: theirs.made, theirs: mine.made, winner: 'theirs' }, field)
          t.is(other, side === undefined ? undefined : side === 'mine' ? 'theirs' : 'mine')
        }
      }
  }
})

test('two versions that were created separately are not related', t => {
  const [one, two] = [new EditCount(io).next(undefined, []), new EditCount(io).next(undefined, [])]
  t.false(areRelated(one.lineage, two.lineage))
  t.true(areRelated(one.lineage, joinLineages(two.lineage, one.lineage)))
})

test('an edit of another client has no count, and gives way to an edit of ours that it did not know', t => {
  const theirs = stampFields(foreignProvenance('00112233445566778899aabbccddeeff'), [7])
  const others = stampFields(foreignProvenance('ffeeddccbbaa99887766554433221100'), [7])
  t.deepEqual([...theirs.lineage.keys()], ['001122334455'])
  const ours = new EditCount(io).next(new EditCount(io).next(undefined, []), [7])
  t.true(isOwnEdit(ours.stamps.get(7)))
  t.false(isOwnEdit(theirs.stamps.get(7)))
  t.false(isOwnEdit(undefined))
  for (const winner of ['mine', 'theirs'] as const) {
    t.is(laterSide({ mine: ours, theirs, winner }, 7), 'mine')
    t.is(laterSide({ mine: theirs, theirs: ours, winner }, 7), 'theirs')
    t.is(laterSide({ mine: theirs, theirs: others, winner }, 7), winner)
  }
  const made = new EditCount(io).next(theirs, [8])
  t.true((made.lineage.values().next().value ?? 0) < 0xf000_0001, 'no count is taken from another client')
  t.true(hasUnknownForeignEdit(made.lineage, ours.lineage))
  t.false(hasUnknownForeignEdit(made.lineage, theirs.lineage))
  t.false(hasUnknownForeignEdit(ours.lineage, theirs.lineage))
})

test('a side without a stamp for a field has the later value only if it knew the edit of the other', t => {
  const first = new EditCount(io).next(undefined, [])
  const ours = new EditCount(io).next(first, [7])
  const knowing = { ...new EditCount(io).next(ours, [8]), stamps: new Map() }
  const apart = { ...new EditCount(io).next(first, [8]), stamps: new Map() }
  for (const winner of ['mine', 'theirs'] as const) {
    t.is(laterSide({ mine: ours, theirs: knowing, winner }, 7), 'theirs')
    t.is(laterSide({ mine: knowing, theirs: ours, winner }, 7), 'mine')
    t.is(laterSide({ mine: ours, theirs: apart, winner }, 7), 'mine')
    t.is(laterSide({ mine: apart, theirs: ours, winner }, 7), 'theirs')
  }
})

test('an edit counts higher than every edit that it knew and recent ones, whatever a clock in the far future says', t => {
  const countAt = (ms: number, present?: Provenance): number =>
    new EditCount({ ...io, clock: { now: () => ms } }).next(present, [1]).lineage.values().next().value ?? 0
  t.is(countAt(5_999), 5)
  const future = new EditCount({ ...io, clock: { now: () => 9_000_999 } }).next(undefined, [])
  t.is(countAt(5_999, future), 9_001)
  t.is(countAt(1e15), 0xf000_0000)
  const session = new EditCount({ ...io, clock: { now: () => 5_999 } })
  const counts = [1, 2, 3].map(() => session.next(undefined, []).lineage.values().next().value)
  t.deepEqual(counts, [5, 6, 7])
})

test('an edit stamps its changed fields before the others, or the whole file if it names none', t => {
  const first = new EditCount(io).next(undefined, [3])
  t.is(first.stamps.size, 0, 'of a first version the lineage says it')
  const one = new EditCount(io).next(first, [1, 2])
  const two = new EditCount(io).next(one, [2, 3])
  t.deepEqual([...two.stamps.keys()], [2, 3, 1])
  const [[session, count] = ['', 0]] = two.lineage
  t.deepEqual(two.stamps.get(2), { session, count })
  t.deepEqual(two.stamps.get(1), one.stamps.get(1))
  t.deepEqual([...new EditCount(io).next(first, []).stamps.keys()], [WHOLE_FILE])
})

/** FNV-1a over the names on the way to a field, each after a separator: what versions on other devices reckon with. */
const markOf = (...path: string[]): number => {
  let mark = 0x811c9dc5n
  const take = (byte: number): void => {
    mark = ((mark ^ BigInt(byte)) * 0x01000193n) & 0xffff_ffffn
  }
  for (const name of path) {
    take(0x1f)
    for (let at = 0; at < name.length; at += 1) take(name.charCodeAt(at))
  }
  return Number(mark)
}

const changes: readonly {
  readonly from: unknown
  readonly to: unknown
  readonly marks: readonly string[][]
  /** Where they are others if new objects and sets are left out. */
  readonly deep?: readonly string[][]
}[] = [
  { from: { a: 1 }, to: { a: 2, b: 3 }, marks: [['a'], ['b']] },
  { from: { a: 1, b: 2 }, to: { b: 2 }, marks: [['a']] },
  { from: { a: { x: 1, y: 1 } }, to: { a: { x: 1, y: 2 } }, marks: [['a', 'y']] },
  { from: {}, to: { a: { x: 1 } }, marks: [['a', 'x'], ['a']], deep: [['a', 'x']] },
  { from: {}, to: { a: {} }, marks: [['a']] },
  { from: { a: 1 }, to: { a: { x: 1 } }, marks: [['a']] },
  { from: { a: { x: 1 } }, to: { a: 1 }, marks: [['a']] },
  { from: { a: null }, to: { a: { x: 1 } }, marks: [['a', 'x'], ['a']], deep: [['a', 'x']] },
  {
    from: { a: ['b', 'c'] },
    to: { a: ['c', 'd'] },
    marks: [
      ['a', 'b'],
      ['a', 'd']
    ]
  },
  { from: {}, to: { a: ['b'] }, marks: [['a', 'b'], ['a']], deep: [['a', 'b']] },
  { from: {}, to: { a: [] }, marks: [['a']] },
  { from: { a: ['b'] }, to: { a: [] }, marks: [['a', 'b']] },
  { from: { a: 'b' }, to: { a: ['b'] }, marks: [['a']] },
  { from: { a: ['c', 'b'] }, to: { a: ['b'] }, marks: [['a']] },
  { from: { a: ['b'] }, to: { a: ['c', 'b'] }, marks: [['a']] },
  { from: { a: [1] }, to: { a: [1, 2] }, marks: [['a']] },
  { from: { a: ['b'] }, to: {}, marks: [['a']] },
  { from: [1], to: [1], marks: [] },
  { from: [1], to: [2], marks: [[]] },
  { from: [1], to: {}, marks: [[]] }
]

for (const { from, to, marks, deep = marks } of changes) {
  const [before, after] = [JSON.stringify(from), JSON.stringify(to)]
  test(`from ${before} to ${after} the changed fields are ${marks.map(path => path.join('.') || 'the file').join(', ') || 'none'}`, t => {
    t.deepEqual(
      changedFields(before, after),
      marks.map(path => markOf(...path))
    )
    t.deepEqual(
      changedFields(before, after, { isDeep: true }),
      deep.map(path => markOf(...path))
    )
  })
}

test('of two concurrent edits with equal counts, every version takes that of the greater session as the later one', t => {
  const by = (session: string) => ({
    lineage: new Map([[session, 1]]),
    stamps: new Map([[7, { session, count: 1 }]])
  })
  const sides = (mine: string, theirs: string) => ({
    mine: by(mine),
    theirs: by(theirs),
    winner: 'mine' as const
  })
  t.is(laterSide(sides('b', 'a'), 7), 'mine')
  t.is(laterSide(sides('a', 'b'), 7), 'theirs')
})

test('another client’s edit is the later one if it was made of a version that had ours, and gives way to ours if not', t => {
  const [ours, others] = [
    { session: 'aa', count: 5 },
    { session: 'ff', count: 0xffff_ffff }
  ]
  const sideOf = (stamp: typeof ours, ...known: readonly (typeof ours)[]): Provenance => ({
    lineage: new Map([stamp, ...known].map(({ session, count }) => [session, count])),
    stamps: new Map([[7, stamp]])
  })
  for (const winner of ['mine', 'theirs'] as const) {
    const later = (mine: Provenance, theirs: Provenance) => laterSide({ mine, theirs, winner }, 7)
    t.is(later(sideOf(ours), sideOf(others)), 'mine')
    t.is(later(sideOf(ours), sideOf(others, ours)), 'theirs')
    t.is(later(sideOf(others), sideOf(ours)), 'theirs')
    t.is(later(sideOf(others, ours), sideOf(ours)), 'mine')
  }
})

test('a footer that counts more stamps than it has, or names a session that is not there, has the others', t => {
  const { header, footer } = encodeProvenance(editedBy(3))
  const stamps = decodeProvenance({ header, footer })?.stamps
  t.is(stamps?.size, 2)
  const many = footer.slice()
  many[0] = 9
  t.deepEqual(decodeProvenance({ header, footer: many })?.stamps, stamps)
  const cut = footer.subarray(0, footer.length - 1)
  t.deepEqual([...(decodeProvenance({ header, footer: cut })?.stamps ?? [])], [...(stamps ?? [])].slice(0, 1))
  const astray = footer.slice()
  astray[5] = 20
  t.deepEqual([...(decodeProvenance({ header, footer: astray })?.stamps ?? [])], [...(stamps ?? [])].slice(1))
})
