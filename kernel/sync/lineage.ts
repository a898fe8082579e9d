import type { BoxMark } from '../crypto/box.ts'
import type { Side } from './merge.ts'

/**
 * Which edits went into a version of a file: for each session that edited it, the number of the last of its edits, the newest first.
 *
 * A session is one opening of a repo; the first four bytes of its name are those of the device, the other two its own. A device knows
 * its own edits, so that one entry, its floor, can stand for all of them up to a number. Of a device that is not listed, all edits up
 * to a time count as known. A device whose profile was copied takes a new name ({@link EditCount}).
 *
 * It stands in the header of the version's box, whose bytes every reader of the deployed format takes for noise
 * (protocol §1.3), so that no client sees it that does not know it.
 */
export type Lineage = ReadonlyMap<string, number>

/** Checks if a version holds all edits of another one: then it was made of it, or is it. */
export const covers = (later: Lineage, earlier: Lineage): boolean => {
  let time = FOREIGN
  for (const [session, count] of earlier) {
    if (count !== FOREIGN) time = count
    if (!holds(later, { session, count }, time)) return false
  }
  return true
}

/**
 * Checks if an edit is in a version.
 *
 * @param time - when it was made, which the number of an edit of ours is; of another client's {@link timesOf} says it
 */
export const holds = (lineage: Lineage, { session, count }: EditId, time: number = count): boolean => {
  if ((lineage.get(session) ?? 0) >= count) return true
  if (count === FOREIGN) return (lineage.get(OTHER_CLIENTS) ?? 0) >= time
  const floor = floorOf(session)
  if ((lineage.get(floor) ?? 0) >= count) return true
  const own = ofDevice(lineage, session)
  if (own.length === 0) return (lineage.get(OTHER_DEVICES) ?? 0) >= count
  return session === floor && own.some(known => known >= count)
}

/**
 * A lineage in as many entries as there is room for.
 *
 * The oldest sessions go into the floors of their devices, and nothing is lost by that. Of more devices than that, those that have not
 * edited for longest are listed no more, nor are the oldest of many edits of other clients: two entries say up to which time such edits
 * count as known.
 *
 * @example fitted(new Map([['aaaaaaaa0005', 9], ['aaaaaaaa0003', 8], ['aaaaaaaa0001', 7]]), 2) // aaaaaaaa0005: 9, aaaaaaaa0000: 8
 */
export const fitted = (lineage: Lineage, room: number = MAX_ENTRIES): Lineage => {
  if (lineage.size <= room) return lineage
  const left = new Map(lineage)
  const raise = (key: string, count: number): void => {
    left.set(key, Math.max(count, left.get(key) ?? 0))
  }
  const oldest = [...timesOf(lineage)].reverse().sort(([, one], [, other]) => one - other)
  // In the order of their newest edits.
  const newest = new Map<string, string>()
  for (const [session] of oldest) {
    newest.delete(deviceOf(session))
    newest.set(deviceOf(session), session)
  }
  const isForeign = (session: string): boolean => lineage.get(session) === FOREIGN
  const sessions = oldest.filter(([session]) => !isForeign(session) && session !== floorOf(session))
  const moveInto = (
    target: (session: string) => string,
    entries: readonly (readonly [string, number])[]
  ): void => {
    for (const [session, time] of entries) {
      if (left.size <= room) return
      left.delete(session)
      raise(target(session), Math.min(time, FOREIGN - 1))
    }
  }
  const isNewest = ([session]: readonly [string, number]): boolean =>
    newest.get(deviceOf(session)) === session
  moveInto(
    floorOf,
    sessions.filter(entry => !isNewest(entry))
  )
  moveInto(
    floorOf,
    sessions.slice(0, -1).filter(entry => isNewest(entry) && left.has(floorOf(entry[0])))
  )
  moveInto(() => OTHER_CLIENTS, oldest.filter(([session]) => isForeign(session)).slice(0, -MAX_FOREIGN))
  const devices = [...newest.values()].filter(session => !isForeign(session) && !UNLISTED.includes(session))
  for (const device of devices) {
    if (left.size <= room) break
    raise(OTHER_DEVICES, lastOf(left, device))
    for (const [session, count] of left)
      if (count !== FOREIGN && deviceOf(session) === deviceOf(device)) left.delete(session)
  }
  return joinLineages(left)
}

/** The edits of a version that its box does not list, and that one of the versions it was made of does not know. */
export const hiddenEdits = (lineage: Lineage, sides: readonly Lineage[]): Lineage => {
  const listed = listedEdits(fitted(lineage))
  const times = timesOf(lineage)
  return new Map(
    [...lineage].filter(
      ([session, count]) =>
        !UNLISTED.includes(session) &&
        !holds(listed, { session, count }) &&
        !sides.every(side => holds(side, { session, count }, times.get(session)))
    )
  )
}

/** The version of a file whose edits another one may say too much of. */
export interface DoubtedLineage {
  readonly mine: Lineage
  /** Of the version without the change that waits, if one does. */
  readonly waiting: Lineage | undefined
  /** Of the version before the edits that the other one may have been made without; undefined if it knows all. */
  readonly before: Lineage | undefined
  /** The devices whose name a copy has, too. */
  readonly copied: ReadonlySet<string>
  /** Returns true for a session of the device that has made these edits, and not of a copy. */
  isOwn(session: string): boolean
}

/**
 * A lineage without what it says too much of some edits: the floor of a device that has copies is that of one copy only; and that edits
 * of their time are known is not said of those that wait. The same lineage if it says nothing of that.
 */
export const withoutClaims = (
  lineage: Lineage,
  { mine, waiting, before, copied, isOwn }: DoubtedLineage
): Lineage => {
  const lowered = new Map<string, number>()
  for (const device of new Set([...listedEdits(mine).keys()].map(deviceOf))) {
    const floor = floorOf(device)
    const isListed = lastOf(lineage, device) > 0
    const base = isListed ? (copied.has(device) ? before : undefined) : waiting
    if (base === undefined) continue
    const claimed = lineage.get(isListed ? floor : OTHER_DEVICES) ?? 0
    const last = lastOf(base, device)
    const isDoubted = [...mine].some(
      ([session, count]) =>
        count !== FOREIGN && count > last && deviceOf(session) === device && (!isListed || isOwn(session))
    )
    if (isDoubted && claimed > last) lowered.set(floor, last)
  }
  return lowered.size === 0 ? lineage : new Map([...lineage, ...lowered])
}

/** A lineage with only the floors of devices that have copies: by the number of its own edit, a copy would know all that another has edited before. */
export const ofFloors = (lineage: Lineage, copied: ReadonlySet<string>): Lineage =>
  copied.size === 0
    ? lineage
    : new Map(
        [...lineage].filter(([session]) => !copied.has(deviceOf(session)) || session === floorOf(session))
      )

/** The edits that are listed in a lineage, without those that only count as known by their time. */
const listedEdits = (lineage: Lineage): Lineage =>
  new Map([...lineage].filter(([session]) => !UNLISTED.includes(session)))

/** The number of the last edit of a device in a version; 0 if it has none of it. */
export const lastOf = (lineage: Lineage, device: string): number => Math.max(0, ...ofDevice(lineage, device))

/** Checks if two lineages say the same once they are in a box. */
export const saySame = (left: Lineage, right: Lineage): boolean => {
  const [one, other] = [fitted(left), fitted(right)]
  return covers(one, other) && covers(other, one)
}

/** When each edit was made, by the counts; another client's has none, and mostly was there before the one that stands before it. */
const timesOf = (lineage: Lineage): Map<string, number> => {
  const times = new Map<string, number>()
  let last = FOREIGN
  for (const [session, count] of lineage) {
    if (count !== FOREIGN) last = count
    times.set(session, last)
  }
  return times
}

/** The name of a session's device. */
export const deviceOf = (session: string): string => session.slice(0, 2 * DEVICE)

/** The entry that stands for all edits of a session's device up to a number. */
export const floorOf = (session: string): string => deviceOf(session) + NO_OPENING

/** The numbers in all entries of a session's device. */
const ofDevice = (lineage: Lineage, session: string): number[] => {
  const device = deviceOf(session)
  return [...lineage]
    .filter(([other, count]) => count !== FOREIGN && other.startsWith(device))
    .map(([, count]) => count)
}

/** Checks if some edit is in both: then both were made of one file. */
export const areRelated = (left: Lineage, right: Lineage): boolean => {
  for (const session of left.keys()) if (right.has(session)) return true
  return hasFloorIn(left, right) || hasFloorIn(right, left)
}

const hasFloorIn = (left: Lineage, right: Lineage): boolean =>
  [...left].some(([session, count]) => count !== FOREIGN && (right.get(floorOf(session)) ?? 0) > 0)

/** Checks if a version was made of one that another client sealed, and that went into none of ours: it may have known ours. */
export const hasUnknownForeignEdit = (later: Lineage, ours: Lineage): boolean => {
  const times = timesOf(later)
  for (const [session, count] of later)
    if (count === FOREIGN && !holds(ours, { session, count }, times.get(session))) return true
  return false
}

/** The edits of several versions together, the newest first: what one of them holds. */
export const joinLineages = (...lineages: readonly Lineage[]): Lineage => {
  const all = new Map<string, number>()
  const latest = new Map<string, number>()
  const add = (session: string, count: number, time: number): void => {
    latest.set(session, Math.max(time, latest.get(session) ?? 0))
    all.set(session, Math.max(count, all.get(session) ?? 0))
  }
  for (const lineage of lineages)
    for (const [session, time] of timesOf(lineage)) add(session, lineage.get(session) ?? 0, time)
  // What one version has of a device because it lists it no more.
  for (const lineage of lineages) {
    const rest = lineage.get(OTHER_DEVICES) ?? 0
    const listed = new Set([...lineage.keys()].map(deviceOf))
    for (const [session, count] of rest === 0 ? [] : [...all]) {
      const isListed = count === FOREIGN || UNLISTED.includes(session) || listed.has(deviceOf(session))
      if (!isListed) add(floorOf(session), rest, rest)
    }
  }
  // Of the same time, an edit of ours is the one that stood before another client's.
  const isForeign = (session: string): number => (all.get(session) === FOREIGN ? 1 : 0)
  const ordered = [...latest].sort(
    ([one, time], [other, otherTime]) => otherTime - time || isForeign(one) - isForeign(other)
  )
  return new Map(
    ordered.map(([session]) => [session, all.get(session) ?? 0] as const).filter(([, count]) => count > 0)
  )
}

/** One edit of one session. */
export interface EditId {
  readonly session: string
  readonly count: number
}

/** The origin of a version: the edits in it, and for the fields that changed last the edit that gave each its value. */
export interface Provenance {
  readonly lineage: Lineage
  /** By the tag of the field, the newest first; of very many those that changed last. */
  readonly stamps: ReadonlyMap<number, EditId>
}

/** Two versions that are merged. */
export interface TwoSides {
  readonly mine: Provenance
  readonly theirs: Provenance
  /** Whose value stands if nothing says which is the later one. */
  readonly winner: Side
}

/**
 * Decides whose value of a field is the later one, the same on every device; undefined if neither side says which edit made it, if
 * both say the same, or if the one that does not say may have known the other's.
 */
export const laterSide = ({ mine, theirs, winner }: TwoSides, field: number): Side | undefined => {
  const [ours, others] = [mine.stamps.get(field), theirs.stamps.get(field)]
  if (ours !== undefined && others !== undefined) {
    if (ours.session === others.session && ours.count === others.count) return undefined
    const [theyKnow, weKnow] = [knows(theirs, ours, mine) === true, knows(mine, others, theirs) === true]
    if (theyKnow !== weKnow) return theyKnow ? 'theirs' : 'mine'
    // An edit of ours wins over another client's, on every device that merges the two.
    const [isOursForeign, isTheirsForeign] = [isForeignEdit(ours), isForeignEdit(others)]
    if (isOursForeign !== isTheirsForeign) return isOursForeign ? 'theirs' : 'mine'
    if (isOursForeign) return winner
    // One order for all devices, in which an edit comes after those that it knew: else of three edits each could win over
    // the next on another device, and the last of them be lost.
    return isAfter(ours, others) ? 'mine' : 'theirs'
  }
  const isKnown = ours ? knows(theirs, ours, mine) : others && knows(mine, others, theirs)
  if (isKnown === undefined) return undefined
  return isKnown === (ours !== undefined) ? 'theirs' : 'mine'
}

/** Returns the provenance of the merge of two versions, of which one may be another client's, which stamps nothing. */
export const mergedProvenance = (sides: TwoSides): Provenance => {
  const { mine, theirs } = sides
  const stamps = new Map<number, EditId>()
  for (const field of [...theirs.stamps.keys(), ...mine.stamps.keys()]) {
    const [ours, others] = [mine.stamps.get(field), theirs.stamps.get(field)]
    const isOurs = others === undefined || (ours !== undefined && laterSide(sides, field) === 'mine')
    const stamp = isOurs ? ours : others
    if (stamp !== undefined) stamps.set(field, stamp)
  }
  return { lineage: joinLineages(mine.lineage, theirs.lineage), stamps }
}

/** Encodes the lineage for the header of a version's box, as {@link fitted}, and the stamps for its footer. */
export const encodeProvenance = ({ lineage, stamps }: Provenance): BoxMark => {
  const kept = fitted(lineage)
  const sessions = [...kept]
  const header = new Uint8Array(MAGIC.length + 1 + sessions.length * ENTRY + WITH_FLOORS.length)
  header.set(MAGIC)
  header.set(WITH_FLOORS, header.length - WITH_FLOORS.length)
  header[MAGIC.length] = sessions.length
  const places = new Map<string, number>()
  for (const [i, [session, count]] of sessions.entries()) {
    const at = MAGIC.length + 1 + i * ENTRY
    for (let n = 0; n < SESSION; n += 1) header[at + n] = Number.parseInt(session.slice(2 * n, 2 * n + 2), 16)
    writeNumber(header, at + SESSION, count)
    places.set(session, i)
  }
  const placeOf = ({ session, count }: EditId): number | undefined => {
    const entry = kept.has(session) ? session : floorOf(session)
    // Of the count there is room for 24 bits: what is farther back has no stamp any more.
    const back = (kept.get(entry) ?? 0) - count
    return back >= 0 && back < 1 << 24 ? places.get(entry) : undefined
  }
  const known = [...stamps].filter(([, stamp]) => placeOf(stamp) !== undefined).slice(0, MAX_STAMPS)
  const footer = new Uint8Array(1 + known.length * STAMP)
  footer[0] = known.length
  for (const [i, [field, stamp]] of known.entries()) {
    const at = 1 + i * STAMP
    writeNumber(footer, at, field)
    writeNumber(footer, at + 4, stamp.count)
    footer[at + 4] = placeOf(stamp) ?? 0
  }
  return { header, footer }
}

/** Reads what {@link encodeProvenance} has put into a box; undefined if there is only noise, because another client sealed it. */
export const decodeProvenance = ({ header, footer }: BoxMark): Provenance | undefined => {
  const size = header[MAGIC.length] ?? 0
  const isMarked = MAGIC.every((byte, i) => header[i] === byte)
  if (!isMarked || size > MAX_ENTRIES || header.length < MAGIC.length + 1 + size * ENTRY) return undefined
  const lineage = new Map<string, number>()
  const sessions: string[] = []
  for (let n = 0, at = MAGIC.length + 1; n < size; n += 1, at += ENTRY) {
    const session = hexOf(header.subarray(at, at + SESSION))
    sessions.push(session)
    lineage.set(session, readNumber(header, at + SESSION))
  }
  const stamps = new Map<number, EditId>()
  const stampCount = Math.min(footer[0] ?? 0, Math.floor((footer.length - 1) / STAMP))
  for (let n = 0, at = 1; n < stampCount; n += 1, at += STAMP) {
    const session = sessions[footer[at + 4] ?? 0]
    const last = session === undefined ? 0 : (lineage.get(session) ?? 0)
    // 24 bits are kept: it is none of the session's edits after the last.
    const count = last - (((last & 0xffffff) - (readNumber(footer, at + 4) & 0xffffff)) & 0xffffff)
    if (session !== undefined) stamps.set(readNumber(footer, at), { session, count })
  }
  const end = MAGIC.length + 1 + size * ENTRY
  const hasFloors = WITH_FLOORS.every((byte, i) => header[end + i] === byte)
  return { lineage: hasFloors ? lineage : withOldEdits(lineage), stamps }
}

/** A lineage of before there were floors: a full one has lost what is older than all that it lists. */
const withOldEdits = (lineage: Lineage): Lineage => {
  const own = [...lineage].filter(([, count]) => count !== FOREIGN)
  if (lineage.size < MAX_ENTRIES || own.length < MIN_OWN) return lineage
  const oldest = Math.min(...own.map(([, count]) => count))
  return new Map([
    ...lineage,
    ...own.map(([session]): [string, number] => [floorOf(session), oldest]),
    [OTHER_DEVICES, oldest]
  ])
}

/** Returns the provenance of a version that another client sealed: an edit of its own, named by the vector of its box. */
export const foreignProvenance = (vector: string): Provenance => ({
  lineage: new Map([[vector.slice(0, 2 * SESSION), FOREIGN]]),
  stamps: new Map()
})

/** A version whose fields were given their values by the newest edit in it. */
export const stampFields = ({ lineage, stamps }: Provenance, fields: readonly number[]): Provenance => {
  const [[session, count] = ['', 0]] = lineage
  const changed = new Map<number, EditId>(
    fields.slice(0, MAX_STAMPS).map(field => [field, { session, count }])
  )
  const newer = new Set(fields)
  for (const [field, stamp] of stamps) if (!newer.has(field)) changed.set(field, stamp)
  return { lineage, stamps: changed }
}

const isAfter = (left: EditId, right: EditId): boolean =>
  left.count === right.count ? left.session > right.session : left.count > right.count

/** Checks if one version holds an edit that gave a field of the other one its value; undefined if it only counts as known by its time. */
const knows = (
  { lineage }: Provenance,
  edit: EditId,
  { lineage: origin }: Provenance
): boolean | undefined => {
  if (holds(listedEdits(lineage), edit)) return true
  const time = isForeignEdit(edit) ? timesOf(origin).get(edit.session) : edit.count
  return holds(lineage, edit, time) ? undefined : false
}

const isForeignEdit = ({ count }: EditId): boolean => count === FOREIGN

/** Checks if one of our devices made an edit. */
export const isOwnEdit = (edit: EditId | undefined): boolean => edit !== undefined && !isForeignEdit(edit)

/** The count of what another client sealed: no session comes to so high a number. */
export const FOREIGN = 0xffff_ffff

/** The first bytes of a mark, 56 bits, with which noise does not begin. */
const MAGIC: Uint8Array = Uint8Array.of(0x68, 0x66, 0x6c, 0x69, 0x6e, 0x65, 0x01)
export const DEVICE = 4
export const SESSION = 6
/** After the entries, where versions of before have noise. */
const WITH_FLOORS: Uint8Array = Uint8Array.of(0x68, 0x66, 0x6c, 0x32)
/** Of so many edits of ours the oldest says what a full lineage of before has lost. */
const MIN_OWN = 8
/** Of no session, in the entry of a floor. */
const NO_OPENING = '0000'
/** The entry for the edits, up to a time, of devices that are not listed. */
export const OTHER_DEVICES = 'ffffffff0000'
/** The entry for the edits of other clients, up to a time, that are not listed. */
export const OTHER_CLIENTS = 'fffffffe0000'
const UNLISTED: readonly string[] = [OTHER_DEVICES, OTHER_CLIENTS]
const ENTRY = SESSION + 4
const STAMP = 8
/** As many as leave room for noise in a header, and in a footer, of 255 bytes. */
const MAX_ENTRIES = 21
/** So many edits of other clients are listed in any case. */
const MAX_FOREIGN = 8
const MAX_STAMPS = 26

const writeNumber = (bytes: Uint8Array, at: number, number: number): void => {
  for (let i = 0; i < 4; i += 1) bytes[at + i] = number >>> (24 - 8 * i)
}

const readNumber = (bytes: Uint8Array, at: number): number => {
  let number = 0
  for (let i = 0; i < 4; i += 1) number = number * 256 + (bytes[at + i] ?? 0)
  return number
}

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
