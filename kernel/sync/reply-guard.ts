import { type ReportError, WalletError } from '../base/errors.ts'
import type { BulkChange } from '../repo/store/bulk.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import type { AppliedReply } from './apply-reply.ts'
import { covers } from './lineage.ts'
import type { AppliedFile, FileBoxes } from './merge-versions.ts'
import type { NamedFile } from './repo-files.ts'
import { type BoxText, PREFIX, type RepoFile, vectorOf, visibleOf } from './repo-record.ts'

/**
 * Returns true if the text that a server has for a path belongs there, given the text that is there now.
 *
 * Boxes do not say which file they are: a server that puts one in another's place is found out by its content.
 */
export type BelongsAt = (
  path: string,
  texts: { readonly theirs: string; readonly present: string }
) => boolean

/** The numbers of files of a reply that the guard did not take as they came. */
export interface GuardFindings {
  /** Files of which the server has a version that was replaced before; ours is sent again. */
  readonly old: number
  /** Files in whose place the server has another's text; ours is sent again. */
  readonly misplaced: number
  /** New files that were not taken, because they do not open and there are too many of them. */
  readonly refused: number
}

export interface GuardOptions {
  readonly reply: AppliedReply
  readonly store: SealedStore
  readonly boxes: FileBoxes
  readonly belongsAt?: BelongsAt | undefined
  /** Milliseconds since 1970. */
  readonly now: number
  readonly report: ReportError
  /** Uniform in 0 to 1. */
  random(): number
}

/** Compares a server's reply with what this device knows, file by file, before anything of it replaces what is here. */
export class ReplyGuard {
  readonly #options: GuardOptions
  #old = 0
  #misplaced = 0
  #refused = 0
  #isStrict: boolean
  #seen = 0
  #remembered = 0
  readonly #offset: number
  #unopened: { count: number; length: number } | undefined

  constructor(options: GuardOptions) {
    this.#options = options
    this.#isStrict = options.store.get(PREFIX.unopened) !== undefined
    this.#offset = Math.floor(options.random() * SAMPLE)
  }

  get findings(): GuardFindings {
    return { old: this.#old, misplaced: this.#misplaced, refused: this.#refused }
  }

  /**
   * Returns true if a file may be taken that replaces nothing.
   *
   * Opening every box would make a first download dear, and they are opened when they are read: large ones are opened, and one
   * of 16 others, until one fails; from then on all are. Some that do not open are kept, as a newer app may have sealed them.
   */
  admits(path: string, box: BoxText): boolean {
    const { boxes, report } = this.#options
    this.#seen += 1
    if (!this.#isStrict && box.length < LARGE && this.#seen % SAMPLE !== this.#offset) return true
    if (boxes.canOpen(box)) return true
    this.#isStrict = true
    this.#unopened ??= this.#readUnopened()
    const { count, length } = this.#unopened
    if (count < MAX_UNOPENED && length + box.length <= MAX_UNOPENED_LENGTH) {
      this.#unopened = { count: count + 1, length: length + box.length }
      return true
    }
    this.#refused += 1
    if (this.#refused <= MAX_REPORTS)
      report(
        new WalletError('CORRUPT_FILE', {
          path,
          rule: 'its box does not open, and too many are kept already'
        })
      )
    return false
  }

  /**
   * Returns the state of an existing file whose server version must not replace it; undefined if the version may be applied.
   *
   * @param apply - applies the reply without the server's version of this file
   */
  settle(before: NamedFile, apply: (reply: AppliedReply) => AppliedFile): AppliedFile | undefined {
    const { reply } = this.#options
    const { path } = before
    const theirs = reply.changes.get(path)
    const present = visibleOf(before)
    if (!theirs || present === undefined || present === theirs) return undefined
    // What was there before an upload may be another's box already; after it, it must be judged again.
    if (before.data === theirs && !reply.sent.has(path)) return undefined
    const verdict = this.#judge(path, { theirs, present })
    if (verdict === undefined) return undefined
    const kept = apply({ ...reply, changes: new Map() })
    // A server that answers an upload has just received our text: sending it again at once would let it keep us uploading.
    if (!verdict.isSentAgain || reply.sent.has(path)) return kept
    const box = kept.pending === undefined ? kept.data : kept.pending.box
    return box === undefined || box === null
      ? kept
      : { ...kept, data: theirs, pending: { box, base: theirs, sent: [] } }
  }

  /** Remembers which boxes of a file were replaced, so that they are known when a server brings them back. */
  remember(before: NamedFile, after: RepoFile, writes: Map<string, string | BulkChange | null>): void {
    const { store, now } = this.#options
    const is = after.data
    if (is !== undefined && store.get(keyOf(before.path, is)) !== undefined) return
    const sent = this.#options.reply.sent.get(before.path)
    for (const box of [before.data, ...(sent?.sent ?? [])]) {
      if (this.#remembered === MAX_REMEMBERED) return
      if (box !== undefined && box !== is && box !== after.pending?.box) {
        this.#remembered += 1
        writes.set(keyOf(before.path, box), String(Math.floor(now / 1000)))
      }
    }
  }

  /** Adds the bounds of what is remembered. */
  finish(writes: Map<string, string | BulkChange | null>): void {
    const { store } = this.#options
    if (this.#unopened !== undefined) writes.set(PREFIX.unopened, JSON.stringify(this.#unopened))
    let added = 0
    for (const key of writes.keys()) if (key.startsWith(PREFIX.old)) added += 1
    // Counting costs a walk over all entries: it is done about once in 256 of them.
    if (added === 0 || this.#options.random() > Math.max(added, 8) / 256) return
    const known = [...store.entries(PREFIX.old)]
    if (known.length <= MAX_OLD) return
    known.sort(([, left], [, right]) => Number(left) - Number(right))
    for (const [key] of known.slice(0, known.length - MAX_OLD)) if (!writes.has(key)) writes.set(key, null)
  }

  #judge(
    path: string,
    { theirs, present }: { readonly theirs: BoxText; readonly present: BoxText }
  ): { readonly isSentAgain: boolean } | undefined {
    const { boxes, report, store, belongsAt } = this.#options
    const version = boxes.open(theirs)
    const text = version?.text
    if (text === undefined && !boxes.canOpen(theirs)) {
      report(new WalletError('CORRUPT_FILE', { path, rule: 'the server’s box does not open' }))
      return { isSentAgain: false }
    }
    if (store.get(keyOf(path, theirs)) !== undefined) {
      this.#old += 1
      // One that ours was not made of is merged, if it belongs here: two devices that knew each other's as an older one would
      // each send its own for ever.
      const own = boxes.open(present)
      const isMerged =
        version?.isForeign === false && own !== undefined && !covers(own.lineage, version.lineage)
      if (!isMerged) return { isSentAgain: true }
    }
    const own = text === undefined || belongsAt === undefined ? undefined : boxes.open(present)?.text
    if (
      text === undefined ||
      own === undefined ||
      belongsAt?.(path, { theirs: text, present: own }) !== false
    )
      return undefined
    this.#misplaced += 1
    if (this.#misplaced <= MAX_REPORTS)
      report(
        new WalletError('CORRUPT_FILE', {
          path,
          rule: 'the server has the text of another file in its place'
        })
      )
    return { isSentAgain: true }
  }

  #readUnopened(): { count: number; length: number } {
    const [count, length] = (
      /^\{"count":(\d+),"length":(\d+)\}$/.exec(this.#options.store.get(PREFIX.unopened) ?? '') ?? []
    )
      .slice(1)
      .map(Number)
    return { count: count ?? 0, length: length ?? 0 }
  }
}

/**
 * A vector is 16 random bytes; half of it is enough to know it again. The path belongs to it: a server may have shown the box in
 * the place of another.
 */
const keyOf = (path: string, box: BoxText): string => `${PREFIX.old}${vectorOf(box).slice(0, 16)}/${path}`

const SAMPLE = 16
const LARGE = 64 * 1024
/** The most boxes of a repo that do not open and are kept, and the most characters of them. */
const MAX_UNOPENED = 200
const MAX_UNOPENED_LENGTH = 4 * 1024 * 1024
/** The number of replaced boxes that are remembered; each takes about a hundred bytes. */
const MAX_OLD = 2000
/** The most of them that one reply, or one 4 MB part of it, adds: remembering all of a large one costs more than applying it. */
const MAX_REMEMBERED = 500
const MAX_REPORTS = 10
