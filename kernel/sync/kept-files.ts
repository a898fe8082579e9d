import type { BulkChange } from '../repo/store/bulk.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import { type BoxText, PREFIX } from './repo-record.ts'

/** The reason for which a former text of a file is kept. */
export type KeptReason = 'deleted' | 'replaced'

/** A text that a file had before a server deleted or replaced it; it can be brought back for 30 days. */
export interface KeptFile {
  /** Names it within its repo. */
  readonly keptId: string
  readonly path: string
  readonly reason: KeptReason
  /** Milliseconds since 1970. */
  readonly keptAt: number
}

/** A file's box from before a reply. */
export type OldFile = readonly [path: string, box: BoxText]

/** Every text that is kept for some time yet, newest first. */
export const listKept = (store: Pick<SealedStore, 'entries'>, now: number): KeptFile[] => {
  const kept: KeptFile[] = []
  for (const [prefix, reason] of REASONS) {
    for (const [key] of store.entries(prefix)) {
      const keptAt = Number(key.slice(prefix.length, prefix.length + TIME_LENGTH))
      if (keptAt >= now - KEEP_MS)
        kept.push({ keptId: key, path: key.slice(prefix.length + TIME_LENGTH + 1), reason, keptAt })
    }
  }
  return kept.sort((left, right) => right.keptAt - left.keptAt || (left.path < right.path ? -1 : 1))
}

/** Returns true for the key of a kept text. */
export const isKept = (key: string): boolean =>
  key.startsWith(PREFIX.removed) || key.startsWith(PREFIX.replaced)

/** Counts the kept texts. */
export const countKept = (store: Pick<SealedStore, 'entries'>): number => {
  let count = 0
  for (const [prefix] of REASONS) for (const _ of store.entries(prefix)) count += 1
  return count
}

/** The box of a kept text, and the file that it belongs to. */
export const findKept = (
  store: Pick<SealedStore, 'get'>,
  keptId: string
): { readonly path: string; readonly box: BoxText } | undefined => {
  const prefix = REASONS.find(([known]) => keptId.startsWith(known))?.[0]
  const box = prefix === undefined ? undefined : store.get(keptId)
  return prefix === undefined || box === undefined
    ? undefined
    : { path: keptId.slice(prefix.length + TIME_LENGTH + 1), box }
}

/**
 * Adds to the writes of a store that texts are kept for 30 days: the newest thousand that were deleted, and the newest
 * 3,000, of at most five million characters, that were replaced. Of a file that was replaced often the first and the last text
 * stay longest, so that repeated replacements never push the first one out.
 */
export const planKept = (
  store: Pick<SealedStore, 'entries'>,
  {
    reason,
    files,
    now
  }: { readonly reason: KeptReason; readonly files: readonly OldFile[]; readonly now: number },
  writes: Map<string, string | BulkChange | null>
): void => {
  if (files.length === 0) return
  const prefix = reason === 'deleted' ? PREFIX.removed : PREFIX.replaced
  const kept = [...store.entries(prefix)].map(([key, box]) => ({ key, length: box.length }))
  const taken = new Set(kept.map(({ key }) => key))
  for (const [path, box] of files) {
    let time = now
    // A clock may stand still, or be set back.
    while (taken.has(`${prefix}${timeText(time)}/${path}`)) time += 1
    const key = `${prefix}${timeText(time)}/${path}`
    writes.set(key, box)
    kept.push({ key, length: box.length })
  }
  kept.sort((left, right) => (left.key < right.key ? 1 : -1))
  const oldest = prefix + timeText(now - KEEP_MS)
  const limits = LIMITS[reason]
  const pathOf = ({ key }: { readonly key: string }): string => key.slice(prefix.length + TIME_LENGTH + 1)
  const first = new Map(kept.map(file => [pathOf(file), file]))
  const last = new Map(kept.toReversed().map(file => [pathOf(file), file]))
  const isMiddle = (file: (typeof kept)[number]): boolean =>
    first.get(pathOf(file)) !== file && last.get(pathOf(file)) !== file
  const ordered = [...kept.filter(file => !isMiddle(file)), ...kept.filter(isMiddle)]
  let length = 0
  for (const [index, file] of ordered.entries()) {
    length += file.length
    if (index >= limits.count || length > limits.length || file.key < oldest) writes.set(file.key, null)
  }
}

const REASONS: readonly (readonly [prefix: string, reason: KeptReason])[] = [
  [PREFIX.removed, 'deleted'],
  [PREFIX.replaced, 'replaced']
]
const KEEP_MS = 30 * 24 * 3600 * 1000
const TIME_LENGTH = 15
const LIMITS: Readonly<Record<KeptReason, { readonly count: number; readonly length: number }>> = {
  deleted: { count: 1000, length: Number.POSITIVE_INFINITY },
  replaced: { count: 3000, length: 5_000_000 }
}

/** Returns whether so many replaced texts can be kept, all of them. */
export const canKeep = (files: readonly OldFile[]): boolean =>
  files.length <= LIMITS.replaced.count &&
  files.reduce((length, [, text]) => length + text.length, 0) <= LIMITS.replaced.length

const timeText = (now: number): string => String(Math.floor(now)).padStart(TIME_LENGTH, '0')
