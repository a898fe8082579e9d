import type { BoxMark } from '../crypto/box.ts'
import type { Clock, Io } from '../io/io.ts'
import { type Side, WHOLE_FILE } from './merge.ts'

/**
 * Which edits went into a version of a file: for each session that edited it, the number of the last of its edits.
 *
 * A session is one opening of a repo on one device, so that two copies of a profile are two. The newest edit comes first, but after a merge.
 * It stands in the header of the version's box, whose bytes every reader of the deployed format takes for noise
 * (protocol §1.3), so that no client sees it that does not know it.
 */
export type Lineage = ReadonlyMap<string, number>

/** Checks if a version holds all edits of another one: then it was made of it, or is it. */
export const covers = (later: Lineage, earlier: Lineage): boolean => {
  for (const [session, count] of earlier) if ((later.get(session) ?? 0) < count) return false
  return true
}

/**
 * The time up to which the edits in a version may be missing in its lineage, because that has no room for more; 0 if none is missing.
 *
 * Of another client's edits it is not known when they were made, so that many of them say nothing.
 */
export const forgottenUntil = (lineage: Lineage): number => {
  const kept = newestIn(lineage)
  const own = [...kept.values()].filter(count => count !== FOREIGN)
  return kept.size < MAX_SESSIONS || own.length < MIN_OWN ? 0 : Math.min(...own)
}

/**
 * The edits in a version of the server, with those that its lineage has forgotten.
 *
 * Of the edits of an older version that the server has had, those from before all that are named have gone into the later one, too,
 * but for an upload that was raced, with twenty sessions after it before its device reads again.
 *
 * @param earlier - the edits in a version that the server has acknowledged, or given
 */
export const withForgotten = (later: Lineage, earlier: Lineage): Lineage => {
  const until = forgottenUntil(later)
  const forgotten = [...timesOf(earlier)].filter(([session, time]) => time <= until && !later.has(session))
  if (forgotten.length === 0) return later
  return joinLineages(later, new Map(forgotten.map(([session]) => [session, earlier.get(session) ?? 0])))
}

/** The edits of a version for which a box has no room, and that one of those it was made of does not know. */
export const hiddenEdits = (lineage: Lineage, sides: readonly Lineage[]): Lineage => {
  const kept = newestIn(lineage)
  return new Map(
    [...lineage].filter(
      ([session, count]) => !kept.has(session) && !sides.every(side => holds(side, { session, count }))
    )
  )
}

/** The edits that were made after a time. */
export const editsAfter = (lineage: Lineage, time: number): Lineage =>
  new Map([...lineage].filter(([, count]) => count > time))

/** Checks if two lineages say the same once they are in a box. */
export const saySame = (left: Lineage, right: Lineage): boolean => {
  const [one, other] = [newestIn(left), newestIn(right)]
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

/** The newest edits of a lineage, as many as a box has room for, in their order. */
const newestIn = (lineage: Lineage): Lineage => {
  if (lineage.size <= MAX_SESSIONS) return lineage
  const times = [...timesOf(lineage)].sort(([, left], [, right]) => right - left)
  const kept = new Set(times.slice(0, MAX_SESSIONS).map(([session]) => session))
  return new Map([...lineage].filter(([session]) => kept.has(session)))
}

/** Checks if some edit is in both: then both were made of one file. */
export const areRelated = (left: Lineage, right: Lineage): boolean => {
  for (const session of left.keys()) if (right.has(session)) return true
  return false
}

/** Checks if a version was made of one that another client sealed, and that went into none of ours: it may have known ours. */
export const hasUnknownForeignEdit = (later: Lineage, ours: Lineage): boolean => {
  for (const [session, count] of later) if (count === FOREIGN && !ours.has(session)) return true
  return false
}

/** The edits of several versions together, those of the first one first. */
export const joinLineages = (...lineages: readonly Lineage[]): Lineage => {
  const all = new Map<string, number>()
  for (const lineage of lineages) {
    for (const [session, count] of lineage) all.set(session, Math.max(count, all.get(session) ?? 0))
  }
  return all
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
  /** {@link forgottenUntil} of theirs. */
  readonly until?: number
}

/**
 * Decides whose value of a field is the later one, the same on every device; undefined if neither side says which edit made it, or
 * both the same.
 */
export const laterSide = ({ mine, theirs, winner, until = 0 }: TwoSides, field: number): Side | undefined => {
  const [ours, others] = [mine.stamps.get(field), theirs.stamps.get(field)]
  if (ours !== undefined && others !== undefined) {
    if (ours.session === others.session && ours.count === others.count) return undefined
    const [theyKnow, weKnow] = [holds(theirs.lineage, ours), holds(mine.lineage, others)]
    if (theyKnow !== weKnow) return theyKnow ? 'theirs' : 'mine'
    // An edit of ours wins over another client's, on every device that merges the two.
    const [isOursForeign, isTheirsForeign] = [isForeignEdit(ours), isForeignEdit(others)]
    if (isOursForeign !== isTheirsForeign) return isOursForeign ? 'theirs' : 'mine'
    if (isOursForeign) return winner
    // One order for all devices, in which an edit comes after those that it knew: else of three edits each could win over
    // the next on another device, and the last of them be lost.
    return isAfter(ours, others) ? 'mine' : 'theirs'
  }
  // Theirs may have forgotten that it knew ours, and changed the field after that.
  if (ours !== undefined && !holds(theirs.lineage, ours) && ours.count <= until) return undefined
  if (ours !== undefined) return holds(theirs.lineage, ours) ? 'theirs' : 'mine'
  if (others !== undefined) return holds(mine.lineage, others) ? 'mine' : 'theirs'
  return undefined
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
  const [one, other] = [mine.lineage, theirs.lineage]
  const isNewer = newestCount(one) >= newestCount(other)
  return { lineage: isNewer ? joinLineages(one, other) : joinLineages(other, one), stamps }
}

/** The number of the newest edit of our devices in a version; above all of them if it is another client's alone. */
export const newestCount = (lineage: Lineage): number => {
  const own = [...lineage.values()].filter(count => count !== FOREIGN)
  return own.length === 0 ? FOREIGN : Math.max(...own)
}

/** Encodes the newest edits of the lineage for the header of a version's box, and the stamps for its footer. */
export const encodeProvenance = ({ lineage, stamps }: Provenance): BoxMark => {
  const sessions = [...newestIn(lineage)]
  const header = new Uint8Array(MAGIC.length + 1 + sessions.length * ENTRY)
  header.set(MAGIC)
  header[MAGIC.length] = sessions.length
  const places = new Map<string, number>()
  for (const [i, [session, count]] of sessions.entries()) {
    const at = MAGIC.length + 1 + i * ENTRY
    for (let n = 0; n < SESSION; n += 1) header[at + n] = Number.parseInt(session.slice(2 * n, 2 * n + 2), 16)
    writeNumber(header, at + SESSION, count)
    places.set(session, i)
  }
  const known = [...stamps].filter(([, { session }]) => places.has(session)).slice(0, MAX_STAMPS)
  const footer = new Uint8Array(1 + known.length * STAMP)
  footer[0] = known.length
  for (const [i, [field, { session, count }]] of known.entries()) {
    const at = 1 + i * STAMP
    writeNumber(footer, at, field)
    writeNumber(footer, at + 4, count)
    // Of the count 24 bits are left.
    footer[at + 4] = places.get(session) ?? 0
  }
  return { header, footer }
}

/** Reads what {@link encodeProvenance} has put into a box; undefined if there is only noise, because another client sealed it. */
export const decodeProvenance = ({ header, footer }: BoxMark): Provenance | undefined => {
  const size = header[MAGIC.length] ?? 0
  const isMarked = MAGIC.every((byte, i) => header[i] === byte)
  if (!isMarked || size > MAX_SESSIONS || header.length < MAGIC.length + 1 + size * ENTRY) return undefined
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
  return { lineage, stamps }
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

/** The edits of one opening of a repo. */
export class EditCount {
  readonly #session: string
  readonly #clock: Pick<Clock, 'now'>
  #count = 0

  constructor({ random, clock }: Pick<Io, 'random'> & { readonly clock: Pick<Clock, 'now'> }) {
    this.#session = hexOf(random(SESSION))
    this.#clock = clock
  }

  /** Returns the provenance of the next version of a file, given that of its present one and the fields that change. */
  next(present: Provenance | undefined, fields: readonly number[]): Provenance {
    // Higher than of every edit that it knows; of those that it does not know, the later one is higher by the clocks.
    let known = this.#count
    for (const count of present?.lineage.values() ?? []) if (count !== FOREIGN) known = Math.max(known, count)
    this.#count = Math.max(known + 1, Math.min(Math.floor(this.#clock.now() / 1000), MAX_TIME))
    const own = new Map([[this.#session, this.#count]])
    if (present === undefined) return { lineage: own, stamps: new Map() }
    // Without a stamp it would look like the first version of a file.
    const changed = fields.length === 0 ? [WHOLE_FILE] : fields
    return stampFields({ lineage: joinLineages(own, present.lineage), stamps: present.stamps }, changed)
  }
}

const isAfter = (left: EditId, right: EditId): boolean =>
  left.count === right.count ? left.session > right.session : left.count > right.count

const holds = (lineage: Lineage, { session, count }: EditId): boolean => (lineage.get(session) ?? 0) >= count

const isForeignEdit = ({ count }: EditId): boolean => count === FOREIGN

/** Checks if one of our devices made an edit. */
export const isOwnEdit = (edit: EditId | undefined): boolean => edit !== undefined && !isForeignEdit(edit)

/** The count of what another client sealed: no session comes to so high a number. */
const FOREIGN = 0xffff_ffff
/** In seconds since 1970; a clock that says more is wrong. */
const MAX_TIME = 0xf000_0000

/** The first bytes of a mark, 56 bits, with which noise does not begin. */
const MAGIC: Uint8Array = Uint8Array.of(0x68, 0x66, 0x6c, 0x69, 0x6e, 0x65, 0x01)
const SESSION = 6
const ENTRY = SESSION + 4
const STAMP = 8
/** As many as leave room for noise in a header, and in a footer, of 255 bytes. */
const MAX_SESSIONS = 21
/** Of so many of our own edits in a full lineage the oldest tells what is forgotten. */
const MIN_OWN = 8
const MAX_STAMPS = 26

const writeNumber = (bytes: Uint8Array, at: number, number: number): void => {
  for (let i = 0; i < 4; i += 1) bytes[at + i] = number >>> (24 - 8 * i)
}

const readNumber = (bytes: Uint8Array, at: number): number => {
  let number = 0
  for (let i = 0; i < 4; i += 1) number = number * 256 + (bytes[at + i] ?? 0)
  return number
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
