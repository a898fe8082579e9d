import { WalletError } from '../errors/wallet-error.ts'
import { type AppliedReply, applyToFile, type FileBoxes, type RepoFile, sameBox } from './apply-reply.ts'
import { boxText, PREFIX, parseStatus, pendingText } from './repo-record.ts'
import type { PagedStore } from './store/paged-store.ts'

/** What planning needs to see of a repo. */
export interface ReplyPlace {
  readonly reply: AppliedReply
  readonly store: PagedStore
  readonly fileOf: (path: string) => RepoFile
  readonly boxes: FileBoxes
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What a reply comes to: one write of the store, and the paths whose visible content it changes. */
export interface ReplyPlan {
  readonly writes: Map<string, string | null>
  readonly changed: readonly string[]
}

/**
 * Works out everything that a server's reply changes, without changing anything.
 *
 * A file that the server deletes is kept for 30 days under `q/`, the newest thousand of them. A reply that
 * changes nothing plans no write; a new hash is one.
 *
 * @throws SYNC_FAILED if the reply would delete more than 50 files and more than a tenth of the repo
 */
export const planReply = (place: ReplyPlace): ReplyPlan => {
  const { reply, store, fileOf, boxes } = place
  const writes = new Map<string, string | null>()
  const changed: string[] = []
  const removed: string[] = []
  for (const path of new Set([...reply.sent.keys(), ...reply.changes.keys()])) {
    const before = fileOf(path)
    const after = applyToFile(before, path, reply, boxes)
    if (!sameBox(before.data, after.data)) {
      writes.set(PREFIX.data + path, after.data === undefined ? null : boxText(after.data))
    }
    const pending = after.pending === undefined ? null : pendingText(after.pending)
    if ((store.get(PREFIX.pending + path) ?? null) !== pending) writes.set(PREFIX.pending + path, pending)
    if (!sameBox(visibleOf(before), visibleOf(after))) changed.push(path)
    if (visibleOf(before) !== undefined && visibleOf(after) === undefined) removed.push(path)
  }
  checkDeletions(store, removed.length)
  keepRemoved(place, removed, writes)
  addStatus(place, writes)
  return { writes, changed }
}

const KEEP_MS = 30 * 24 * 3600 * 1000
const KEEP_COUNT = 1000

const visibleOf = ({ data, pending }: RepoFile): RepoFile['data'] | null =>
  pending === undefined ? data : (pending.box ?? undefined)

const checkDeletions = (store: PagedStore, count: number): void => {
  if (count <= 50) return
  let total = 0
  for (const _ of store.entries(PREFIX.data)) total += 1
  if (count > total / 10) {
    throw new WalletError('SYNC_FAILED', { reason: `a reply would delete ${count} of ${total} files` })
  }
}

const keepRemoved = (
  { fileOf, store, now }: ReplyPlace,
  removed: readonly string[],
  writes: Map<string, string | null>
): void => {
  if (removed.length === 0) return
  const kept = [...store.entries(PREFIX.removed)].map(([key]) => key)
  for (const path of removed) {
    const box = visibleOf(fileOf(path))
    if (!box) continue
    const key = `${PREFIX.removed}${String(Math.floor(now)).padStart(15, '0')}/${path}`
    writes.set(key, boxText(box))
    kept.push(key)
  }
  kept.sort()
  const oldest = `${PREFIX.removed}${String(Math.floor(now - KEEP_MS)).padStart(15, '0')}`
  const spare = kept.length - KEEP_COUNT
  for (const [index, key] of kept.entries()) if (index < spare || key < oldest) writes.set(key, null)
}

// The time alone is not worth a write: only the first sync and a new hash are.
const addStatus = ({ reply, store, now }: ReplyPlace, writes: Map<string, string | null>): void => {
  const status = parseStatus(store.get(PREFIX.status))
  const lastHash = reply.hash ?? status.lastHash
  if (status.lastSync > 0 && lastHash === status.lastHash) return
  writes.set(PREFIX.status, JSON.stringify({ lastSync: now / 1000, ...(lastHash && { lastHash }) }))
}
