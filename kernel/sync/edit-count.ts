import type { Clock, Io } from '../io/io.ts'
import {
  DEVICE,
  deviceOf,
  FOREIGN,
  floorOf,
  hexOf,
  type Lineage,
  lastOf,
  OTHER_CLIENTS,
  OTHER_DEVICES,
  type Provenance,
  SESSION,
  stampFields
} from './lineage.ts'
import { WHOLE_FILE } from './merge.ts'
import { PREFIX } from './repo-record.ts'

/** A name of a device, and the sessions of it that have edited something, as the second parts of their names. */
interface DeviceName {
  readonly device: string
  readonly openings: readonly string[]
  /** True if a copy of the device has it, too, or a loss may have hidden some of its edits: it is not used any more. */
  readonly isCopied: boolean
}

/**
 * The edits of one opening of a repo.
 *
 * It knows the sessions that this device has had. One that is listed beside them is of a copy of the profile, and then the device takes a
 * new name: otherwise the floor of one copy would speak for the edits of the other. Names of before are remembered for what was edited
 * under them.
 */
export class EditCount {
  readonly #random: Io['random']
  readonly #clock: Pick<Clock, 'now'>
  /** The present one first. */
  #names: readonly DeviceName[]
  #opening = ''
  #count = 0

  /** @param stored - {@link stored} of the opening before */
  constructor(
    { random, clock }: Pick<Io, 'random'> & { readonly clock: Pick<Clock, 'now'> },
    stored?: string
  ) {
    this.#random = random
    this.#clock = clock
    this.#names = parseNames(stored)
    const [name] = this.#names
    if (name === undefined || name.isCopied || name.openings.length >= MAX_OPENINGS) this.#renew()
    else this.#open()
  }

  /** What the next opening must know; empty before anything was edited. */
  get stored(): string {
    if (this.#names.every(({ openings }) => openings.length === 0)) return ''
    return storedNames(this.#names)
  }

  /** Adds {@link stored} to the writes of a store, unless it is there. */
  keepIn(store: { get(key: string): string | undefined }, writes: Map<string, unknown>): void {
    const { stored } = this
    if (stored !== (store.get(PREFIX.sessions) ?? '')) writes.set(PREFIX.sessions, stored)
  }

  /** Takes a new name, after a loss: the device may not know all that it has edited. */
  forget(): void {
    this.#names = this.#names.map(name => ({ ...name, isCopied: true }))
    this.#renew()
  }

  /** The names of this device that a copy of it has, too. */
  get copied(): ReadonlySet<string> {
    return new Set(this.#names.flatMap(({ device, isCopied }) => (isCopied ? [device] : [])))
  }

  /** Checks if a session is one of this device. */
  isOwn(session: string): boolean {
    const known = this.#names.find(({ device }) => device === deviceOf(session))
    return known?.openings.includes(session.slice(2 * DEVICE)) === true
  }

  /**
   * Finds out if a copy of this device has edited a file: it is a session of none of ours, or a floor above all that we have edited in
   * that file. The device takes a new name then.
   *
   * @param mine - of this device's version of the file
   */
  findCopies(lineage: Lineage, mine: Lineage): void {
    const isCopied = ({ device }: DeviceName): boolean => {
      const own = lastOf(mine, device)
      return [...lineage].some(([session, count]) => {
        if (count === FOREIGN || deviceOf(session) !== device) return false
        return session === floorOf(session) ? own > 0 && count > own : !this.isOwn(session)
      })
    }
    const found = this.#names.filter(name => !name.isCopied && isCopied(name))
    if (found.length === 0) return
    this.#names = this.#names.map(name => (found.includes(name) ? { ...name, isCopied: true } : name))
    if (this.#names[0]?.isCopied) this.#renew()
  }

  /** Returns the provenance of the next version of a file, given that of its present one and the fields that change. */
  next(present: Provenance | undefined, fields: readonly number[]): Provenance {
    const [{ device, openings } = NO_NAME, ...others] = this.#names
    const session = device + this.#opening
    if (!openings.includes(this.#opening))
      this.#names = [{ device, openings: [...openings, this.#opening], isCopied: false }, ...others]
    // Higher than of every edit that it knows; of those that it does not know, the later one is higher by the clocks.
    let known = this.#count
    for (const [entry, count] of present?.lineage ?? [])
      if (count !== FOREIGN && entry !== OTHER_CLIENTS) known = Math.max(known, count)
    this.#count = Math.max(known + 1, Math.min(Math.floor(this.#clock.now() / 1000), MAX_TIME))
    const own = new Map([[session, this.#count]])
    if (present === undefined) return { lineage: own, stamps: new Map() }
    // Without a stamp it would look like the first version of a file.
    const changed = fields.length === 0 ? [WHOLE_FILE] : fields
    const { lineage } = present
    const rest = lastOf(lineage, session) === 0 ? (lineage.get(OTHER_DEVICES) ?? 0) : 0
    const kept = [...lineage].filter(([other]) => other !== session)
    const floor: [string, number][] = rest > 0 ? [[floorOf(session), rest]] : []
    return stampFields({ lineage: new Map([...own, ...kept, ...floor]), stamps: present.stamps }, changed)
  }

  /** Takes a new name. */
  #renew(): void {
    const used = this.#names.filter(({ openings }) => openings.length > 0)
    this.#names = [{ ...NO_NAME, device: hexOf(this.#random(DEVICE)) }, ...used.slice(0, MAX_NAMES - 1)]
    this.#open()
  }

  #open(): void {
    const opening = this.#random(SESSION - DEVICE)
    // Odd, so that it is never that of a floor. One that was there before does no harm, unless it is that of a copy.
    opening[opening.length - 1] = (opening.at(-1) ?? 0) | 1
    this.#opening = hexOf(opening)
  }
}

const NO_NAME: DeviceName = { device: '', openings: [], isCopied: false }

const parseNames = (stored: string | undefined): DeviceName[] =>
  (stored ?? '').split(' ').flatMap(text => {
    const [, device, mark, openings = ''] = /^([0-9a-f]{8})(!?):((?:[0-9a-f]{4})*)$/.exec(text) ?? []
    return device === undefined
      ? []
      : [{ device, openings: openings.match(/.{4}/g) ?? [], isCopied: mark === '!' }]
  })

const storedNames = (names: readonly DeviceName[]): string =>
  names
    .map(({ device, openings, isCopied }) => `${device}${isCopied ? '!' : ''}:${openings.join('')}`)
    .join(' ')

/** What is stored of the names of a device that is to take a new one with its next opening: after a loss, or on another disk. */
export const retiredNames = (stored: string | undefined): string =>
  storedNames(parseNames(stored).map(name => ({ ...name, isCopied: true })))

/** After so many sessions with edits a device takes a new name; what it keeps of them stays small. */
const MAX_OPENINGS = 100
/** So many names a device remembers. */
const MAX_NAMES = 4
/** In seconds since 1970; a clock that says more is wrong. */
const MAX_TIME = 0xf000_0000
