import test from 'ava'
import fc from 'fast-check'
import { Secret } from '../../../kernel/base/secret.ts'
import { openText } from '../../../kernel/crypto/box.ts'
import { EditCount, retiredNames } from '../../../kernel/sync/edit-count.ts'
import {
  areRelated,
  covers,
  decodeProvenance,
  type EditId,
  encodeProvenance,
  foreignProvenance,
  hasUnknownForeignEdit,
  hiddenEdits,
  isOwnEdit,
  joinLineages,
  type Lineage,
  laterSide,
  mergedProvenance,
  type Provenance,
  stampFields,
  withoutClaims
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
      const { lineage, stamps } = version ?? made
      t.is(lineage.size, Math.min(sessions, 21))
      if (sessions <= 21) t.deepEqual([...lineage], [...made.lineage])
      t.true(covers(lineage, made.lineage))
      t.is(stamps.size, Math.min(sessions - 1, 20))
    }
  }
})

/** The session of a device, both by their numbers. */
const sessionOf = (device: number, opening: number): string =>
  device.toString(16).padStart(8, '0') + (2 * opening + 1).toString(16).padStart(4, '0')

/** The edits of some sessions of a device, one each, the newest first; their counts are their numbers. */
const sessionsOf = (device: number, from: number, to: number): Lineage =>
  new Map(Array.from({ length: to - from + 1 }, (_, i) => [sessionOf(device, to - i), to - i]))

const inBox = (lineage: Lineage): Lineage => boxed({ lineage, stamps: new Map() }).lineage

test('however many sessions of a few devices edit a file, its box tells which of all their edits are in it', t => {
  const [long, other] = [sessionsOf(1, 1, 60), sessionsOf(2, 30, 90)]
  const both = inBox(joinLineages(long, other))
  t.is(both.size, 21)
  t.true(covers(both, joinLineages(long, other)))
  t.true(covers(both, sessionsOf(1, 7, 7)))
  t.false(covers(both, sessionsOf(1, 61, 61)))
  t.false(covers(both, sessionsOf(3, 1, 1)), 'a third device, long ago')
  t.true(covers(inBox(joinLineages(both, sessionsOf(3, 1, 1))), sessionsOf(3, 1, 1)))
  const before = inBox(joinLineages(long, sessionsOf(2, 30, 40)))
  t.true(covers(both, before))
  t.false(covers(before, both))
  t.deepEqual([...inBox(joinLineages(before, both))].sort(), [...both].sort())
})

const floor = (device: number): string => `${device.toString(16).padStart(8, '0')}0000`
const [OTHER_DEVICES, OTHER_CLIENTS] = ['ffffffff0000', 'fffffffe0000']
const noStamps = new Map<number, EditId>()

test('a list in a box has the newest edit first, and of other clients the eight newest', t => {
  const foreign = Array.from({ length: 15 }, (_, i) => [`f${i}`.padEnd(12, '0'), 0xffff_ffff] as const)
  const own = joinLineages(...Array.from({ length: 20 }, (_, i) => sessionsOf(i, 50 + i, 50 + i)))
  const [first, ...others] = [...own]
  const fit = [...inBox(new Map([...(first ? [first] : []), ...foreign, ...others]))]
  t.is(fit.length, 21)
  t.deepEqual(
    fit.filter(([, count]) => count === 0xffff_ffff),
    foreign.slice(0, 8)
  )
  const counts = fit.map(([, count]) => count).filter(count => count !== 0xffff_ffff)
  t.deepEqual(
    counts,
    [...counts].sort((one, other) => other - one)
  )
})

test('two versions together hold what each holds, also of a device that only one of them lists', t => {
  const listing = sessionsOf(1, 5, 5)
  const unlisting = new Map([...sessionsOf(2, 20, 20), [OTHER_DEVICES, 9] as const])
  for (const both of [joinLineages(listing, unlisting), joinLineages(unlisting, listing)]) {
    t.true(covers(both, listing) && covers(both, unlisting))
    t.true(covers(both, sessionsOf(1, 9, 9)), 'the second one knows it')
    t.false(covers(both, sessionsOf(1, 10, 10)))
  }
  t.false(areRelated(listing, new Map([[floor(1), 0]])))
  t.true(areRelated(listing, new Map([[floor(1), 9]])))
})

test('of two versions the one that lists the device of an edit does not lose it to one that knows it only by its time', t => {
  const edit = { session: sessionOf(1, 5), count: 5 }
  const mine = { lineage: sessionsOf(1, 5, 5), stamps: new Map([[7, edit]]) }
  const knowing = (lineage: Lineage): Provenance => ({ lineage, stamps: noStamps })
  const byTime = knowing(new Map([...sessionsOf(2, 20, 20), [OTHER_DEVICES, 9] as const]))
  t.is(laterSide({ mine, theirs: byTime, winner: 'mine' }, 7), undefined)
  t.is(laterSide({ mine: byTime, theirs: mine, winner: 'mine' }, 7), undefined)
  t.is(laterSide({ mine, theirs: knowing(new Map([[floor(1), 9]])), winner: 'mine' }, 7), 'theirs')
  t.is(laterSide({ mine, theirs: knowing(sessionsOf(2, 20, 20)), winner: 'theirs' }, 7), 'mine')
})

test('nothing but a listed session stands for an edit that waits, or that a copy may have made', t => {
  const [mine, base] = [sessionsOf(1, 4, 5), sessionsOf(1, 4, 4)]
  const claiming = new Map([...sessionsOf(2, 20, 20), [OTHER_DEVICES, 9] as const])
  const copied = new Set([floor(1).slice(0, 8)])
  const known = { mine, waiting: undefined, before: undefined, copied: new Set<string>(), isOwn: () => true }
  const waiting = { ...known, waiting: base }
  const doubted = withoutClaims(claiming, waiting)
  t.false(covers(doubted, mine))
  t.true(covers(doubted, base))
  t.is(withoutClaims(claiming, { ...waiting, mine: base }), claiming)
  t.is(
    withoutClaims(claiming, { ...known, before: base, copied }),
    claiming,
    'by its time, what was sent is known'
  )
  const foreign = new Map([...base, [OTHER_CLIENTS, 3] as const])
  t.is(withoutClaims(claiming, { ...waiting, mine: foreign }), claiming, 'no device has that name')
  const mixed = new Map([...foreignProvenance('12'.repeat(16)).lineage, ...base])
  t.is(withoutClaims(claiming, { ...waiting, mine: mixed }), claiming, 'nor has another client')
  const listing = new Map([...sessionsOf(1, 9, 9), [floor(1), 8] as const])
  t.is(withoutClaims(listing, waiting), listing)
  const sent = { ...known, before: base, copied }
  t.false(covers(withoutClaims(listing, sent), mine))
  t.true(covers(withoutClaims(listing, sent), base))
  t.is(
    withoutClaims(listing, { ...sent, before: undefined }),
    listing,
    'nothing was edited since it was read'
  )
  t.is(withoutClaims(listing, { ...sent, mine: base }), listing)
  t.is(withoutClaims(listing, { ...sent, isOwn: () => false }), listing, 'the other one made it')
})

test('a stamp of a session that is no entry any more is that of the floor, and none if it is later or long before it', t => {
  const known = new Map([...sessionsOf(2, 20, 20), [floor(1), 0x2000_0000] as const])
  const stampOf = (count: number): EditId | undefined => {
    const stamps = new Map([[7, { session: sessionOf(1, 5), count }]])
    return decodeProvenance(encodeProvenance({ lineage: known, stamps }))?.stamps.get(7)
  }
  for (const count of [0x2000_0000, 0x1fff_0000, 0x1f00_0001])
    t.deepEqual(stampOf(count), { session: floor(1), count })
  for (const count of [0x2000_0001, 0x1f00_0000, 5]) t.is(stampOf(count), undefined)
})

test('an edit that only one of two versions knows, and for which their box has no room, is hidden', t => {
  const others = joinLineages(...Array.from({ length: 21 }, (_, i) => sessionsOf(i, 50 + i, 50 + i)))
  const mine = sessionsOf(99, 45, 45)
  const both = joinLineages(mine, others)
  t.deepEqual(hiddenEdits(both, [both, others]), mine)
  t.is(hiddenEdits(both, [both, both]).size, 0)
  const newer = joinLineages(sessionsOf(99, 80, 80), others)
  t.false(hiddenEdits(newer, [others]).has(sessionOf(99, 80)))
})

test('what is known of other clients by its time raises no number of an edit', t => {
  const present = { lineage: new Map([[OTHER_CLIENTS, 0xffff_fffe]]), stamps: noStamps }
  const [[, count = 0] = []] = new EditCount(io).next(present, []).lineage
  t.true(count < 0xf000_0000)
})

test('a full list of before there were floors has lost what is older, unless most of it is another client’s', t => {
  const before = (lineage: Lineage): Lineage => {
    const { header, footer } = encodeProvenance({ lineage, stamps: new Map() })
    return decodeProvenance({ header: header.slice(0, -4), footer })?.lineage ?? new Map()
  }
  const listed = joinLineages(...Array.from({ length: 21 }, (_, i) => sessionsOf(i, 50 + i, 50 + i)))
  t.true(covers(before(listed), sessionsOf(3, 20, 50)))
  t.true(covers(before(listed), sessionsOf(77, 50, 50)))
  t.false(covers(before(listed), sessionsOf(3, 51, 51)))
  t.false(covers(inBox(listed), sessionsOf(77, 50, 50)))
  const fewer = new Map([...listed].slice(1))
  t.deepEqual(before(fewer), fewer)
  const foreign = Array.from({ length: 15 }, (_, i) => foreignProvenance(`${i}`.padStart(32, '0')).lineage)
  const mixed = new Map([...[...listed].slice(0, 6), ...foreign.flatMap(lineage => [...lineage])])
  t.deepEqual(before(mixed), mixed)
})

test('an opening lists its sessions for the next one, and takes a new name when it meets a copy of itself, or after a hundred', t => {
  const first = new EditCount(io)
  t.is(first.stored, '')
  const [[session = ''] = []] = first.next(undefined, []).lineage
  const again = new EditCount(io, first.stored)
  t.true(first.stored.startsWith(session.slice(0, 8)))
  const both = again.next(first.next(undefined, []), [1]).lineage
  t.is(new Set([...both.keys()].map(name => name.slice(0, 8))).size, 1)
  again.findCopies(both, both)
  t.is(again.copied.size, 0)
  // The copy was made before the second session, which it does not know.
  const copy = new EditCount(io, first.stored)
  copy.findCopies(both, first.next(undefined, []).lineage)
  t.deepEqual([...copy.copied], [session.slice(0, 8)])
  const [[renamed = ''] = []] = copy.next({ lineage: both, stamps: new Map() }, [1]).lineage
  t.not(renamed.slice(0, 8), session.slice(0, 8))
  t.is(copy.stored.split(' ').length, 2)
  // A floor shows a copy if it is above what this device has edited in the file, if that is known.
  const floors = new Map([[`${session.slice(0, 8)}0000`, 0xefff_ffff]])
  const reading = new EditCount(io, first.stored)
  reading.findCopies(floors, new Map([[floor(7), 1]]))
  t.is(reading.copied.size, 0)
  reading.findCopies(floors, new Map([[session, 1]]))
  t.is(reading.copied.size, 1)
  const [[elsewhere = ''] = []] = new EditCount(io, retiredNames(first.stored)).next(undefined, []).lineage
  t.not(elsewhere.slice(0, 8), session.slice(0, 8))
  let last = first
  for (let opening = 2; opening <= 110; opening += 1) {
    last = new EditCount(io, last.stored)
    last.next(undefined, [])
  }
  const lengths = last.stored.split(' ').map(name => name.length)
  t.is(lengths.length, 2)
  t.is(lengths[1], 9 + 400)
  last.forget()
  t.true(last.stored.split(' ').every((name, n) => name.includes(n === 0 ? ':' : '!:')))
  for (const damaged of ['', 'x', '0123', '01234567:', '01234567:123', `${first.stored}0`])
    t.is(new EditCount(io, damaged).stored, '')
})

test('beyond the room, the oldest device and another client’s oldest edits count as known up to their time', t => {
  const devices = joinLineages(...Array.from({ length: 30 }, (_, i) => sessionsOf(i, 10 * i, 10 * i)))
  const known = inBox(devices)
  t.is(known.size, 21)
  t.true(covers(known, devices))
  t.false(covers(known, sessionsOf(77, 95, 95)), 'it is newer than all that is left out')
  t.true(covers(known, sessionsOf(77, 85, 85)))
  const later = inBox(joinLineages(sessionsOf(30, 300, 300), known))
  t.true(covers(later, known))
  t.false(covers(known, later))

  const foreign = (from: number, to: number): Lineage =>
    new Map(Array.from({ length: to - from + 1 }, (_, i) => [`${to - i}`.padStart(12, 'f0'), 0xffff_ffff]))
  const mixed = new Map([
    ...sessionsOf(1, 50, 50),
    ...foreign(6, 30),
    ...sessionsOf(1, 40, 40),
    ...foreign(1, 5)
  ])
  const fit = inBox(mixed)
  t.is(fit.size, 21)
  t.true(covers(fit, mixed))
  t.false(covers(fit, sessionsOf(2, 45, 45)), 'an edit of ours is not taken for known by that')
  t.false(
    covers(fit, foreignProvenance('00112233445566778899aabbccddeeff').lineage),
    'nor a new one of another client'
  )
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
    maxLength: 21,
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

test('a box stores the lineage of its version, of up to 21 sessions as it is, and 26 stamps', t => {
  fc.assert(
    fc.property(anyProvenance(), fc.uint8Array({ maxLength: 40 }), (made, noise) => {
      const { header, footer } = encodeProvenance(made)
      const lineage = [...made.lineage]
      const stamps = [...made.stamps].slice(0, 26)
      const noisy = { header: Uint8Array.of(...header, ...noise), footer: Uint8Array.of(...footer, ...noise) }
      for (const mark of [{ header, footer }, noisy]) {
        const read = decodeProvenance(mark)
        t.deepEqual([...(read?.lineage ?? [])], lineage)
        t.deepEqual([...(read?.stamps ?? [])], stamps)
      }
      for (const length of [0, 7, header.length - 5])
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
  // The session, what stands behind it, and nothing but zeros.
  t.is(decodeProvenance({ header: crowded, footer })?.lineage.size, 3)
  crowded[3] = 0
  t.is(decodeProvenance({ header: crowded, footer }), undefined)
})

/** A version of a file, and what is true of it: every edit in it, and which of them gave each field its value. */
interface TrueVersion {
  readonly made: Provenance
  readonly edits: ReadonlySet<string>
  readonly values: ReadonlyMap<number, string>
}

/** A provenance as others read it from a box. */
const boxed = (made: Provenance): Provenance => {
  const read = decodeProvenance(encodeProvenance(made))
  if (read === undefined) throw new Error('it is noise')
  return read
}

/** What some devices make of one file in many sessions, each edit with a number of its own. */
const drawVersions = (seededRandom: SeededRandom, steps: number): TrueVersion[] => {
  const clock = { now: () => 1_700_000_000_000 + 1000 * seededRandom.below(3) }
  const first = new EditCount({ ...io, clock }).next(undefined, [])
  const root: TrueVersion = { made: first, edits: new Set(['root']), values: new Map() }
  const devices = [0, 1, 2].map(() => ({ edits: new EditCount({ ...io, clock }), now: root }))
  const seen = [root]
  for (let n = 0; n < steps; n += 1) {
    const device = seededRandom.pick(devices)
    if (seededRandom.oneIn(2)) device.edits = new EditCount({ ...io, clock }, device.edits.stored)
    const { made, edits, values } = device.now
    if (seededRandom.oneIn(2)) {
      const field = seededRandom.below(3)
      device.now = {
        made: device.edits.next(made, [field]),
        edits: new Set([...edits, `${n}`]),
        values: new Map([...values, [field, `${n}`]])
      }
    } else device.now = united(device.now, seededRandom.pick(devices).now)
    device.now = { ...device.now, made: boxed(device.now.made) }
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
  for (const steps of [...Array(12).fill(14), ...Array(4).fill(80), 200]) {
    const seen = drawVersions(seededRandom, steps).slice(-40)
    for (const mine of seen)
      for (const theirs of seen) {
        t.is(
          covers(mine.made.lineage, theirs.made.lineage),
          [...theirs.edits].every(n => mine.edits.has(n))
        )
        t.true(areRelated(mine.made.lineage, theirs.made.lineage))
        const sides = { mine: mine.made, theirs: theirs.made, winner: 'mine' } as const
        const merged = mergedProvenance(sides)
        t.true(covers(merged.lineage, mine.made.lineage) && covers(merged.lineage, theirs.made.lineage))
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
