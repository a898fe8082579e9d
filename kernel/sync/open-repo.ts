import { compact } from '../base/compact.ts'
import { checkPath } from '../base/disk-path.ts'
import { type ReportError, WalletError } from '../base/errors.ts'
import type { Disk } from '../io/disk.ts'
import { type BulkChange, textIn } from '../repo/store/bulk.ts'
import { openRepoStore } from '../repo/store/open-store.ts'
import type { SealedStore, StoreContents } from '../repo/store/sealed-store.ts'
import { retiredNames } from './edit-count.ts'
import { canKeep, isKept, type OldFile, planKept } from './kept-files.ts'
import { Repo, type RepoOptions } from './repo.ts'
import { RepoFiles } from './repo-files.ts'
import { BULK, boxText, PREFIX, parseBox, pendingEntry } from './repo-record.ts'
import { damageNotes, parseStatus } from './repo-state.ts'
import { isTombstonePath, tombstoneKey } from './tombstones.ts'

export interface OpenRepoOptions extends RepoOptions {
  readonly disk: Disk
  /** The prefix of a deployed client's folders on this disk: '' for files, `airbitz/` for a browser's storage. */
  readonly deployedPrefix?: string
}

/**
 * Opens a synced, encrypted repo: its local store under `repos/<id>/log`, where no deployed client looks.
 *
 * A deployed client's folder of the same repo is imported at the first opening and moved to `imported/`.
 *
 * @throws STORAGE_FAILED, STORAGE_FULL
 */
export const openRepo = async (options: OpenRepoOptions): Promise<Repo> => {
  const { io, disk, repoId, dataKey, report, deployedPrefix = '' } = options
  const folder = `repos/${repoId}`
  const listed = await disk.list(folder)
  let repo: Repo | undefined
  const store = await openRepoStore({
    ...{ io, disk, folder, key: dataKey, report, bulk: BULK, paths: listed },
    damaged: get =>
      repo?.damageNotes() ??
      damageNotes(get(PREFIX.status), io.clock.now(), retiredNames(get(PREFIX.sessions)))
  })
  try {
    const paths = deployedPrefix === '' ? listed : await disk.list(deployedPrefix + folder)
    await importDeployedRepo({ store, disk, repoId, prefix: deployedPrefix, paths, report })
  } catch (error) {
    await store.close().catch(report)
    throw error
  }
  repo = new Repo(options, store)
  return repo
}

/** The repo that is restored. */
export interface RestoreRepoOptions
  extends Pick<OpenRepoOptions, 'io' | 'disk' | 'repoId' | 'dataKey' | 'report'> {
  /** True for the key of an entry that stays as this device has it, where it has one. */
  staysAsItIs(key: string): boolean
}

/**
 * Makes the local store of a repo what a backup has of it, in one write: after a crash all of it is there, or nothing.
 *
 * The device may have had the repo before. Files that the backup has otherwise, or not at all, are kept for 30 days then.
 *
 * @throws BACKUP_INVALID if they are too many to be kept; STORAGE_FAILED, STORAGE_FULL
 */
export const restoreRepo = async (
  { io, disk, repoId, dataKey, report, staysAsItIs }: RestoreRepoOptions,
  contents: StoreContents
): Promise<void> => {
  const folder = `repos/${repoId}`
  const paths = await disk.list(folder)
  const store = await openRepoStore({ io, disk, folder, paths, key: dataKey, report, bulk: BULK })
  try {
    const writes = new Map<string, string | BulkChange | null>(contents)
    const replaced: OldFile[] = []
    for (const [key, change] of await store.contents()) {
      if (staysAsItIs(key)) {
        writes.delete(key)
        continue
      }
      const [text, next] = [textIn(change), textIn(writes.get(key) ?? null)]
      if (key.startsWith(PREFIX.file) && text !== null && text !== next)
        replaced.push([key.slice(PREFIX.file.length), text])
      if (!writes.has(key) && !isKept(key)) writes.set(key, null)
    }
    if (!canKeep(replaced))
      throw new WalletError('BACKUP_INVALID', {
        rule: 'differs in more texts than can be kept beside it from what this device has of the account since before'
      })
    planKept(store, { reason: 'replaced', files: replaced, now: io.clock.now() }, writes)
    // A device of its own: it does not know what was edited since the backup.
    const sessions = writes.get(PREFIX.sessions)
    writes.set(PREFIX.sessions, retiredNames(typeof sessions === 'string' ? sessions : '') || null)
    await store.write(writes)
  } finally {
    await store.close()
  }
}

/** The place of a deployed client's copy of a repo, and the store that imports it. */
export interface DeployedRepo {
  readonly store: SealedStore
  readonly disk: Disk
  readonly repoId: string
  /** '' for files, `airbitz/` for the keys of a browser's local storage (protocol §3). */
  readonly prefix: string
  /** All paths below the repo's folder. */
  readonly paths: readonly string[]
  readonly report: ReportError
}

/**
 * Imports a repo as a deployed client keeps it: `repos/<id>/{status.json,data/…,changes/…}` (protocol §3.3).
 *
 * A file that our store already has wins. Everything is durable in our store before the first old file moves to
 * `imported/`; a crash in between goes on at the next opening. A file that is no box, or whose path is outside
 * the grammar, is reported and stays where it is.
 */
const importDeployedRepo = async (source: DeployedRepo): Promise<void> => {
  const { store, disk, repoId, prefix } = source
  const old = await readDeployed(source)
  if (old.paths.length === 0) return
  const files = new RepoFiles(store)
  const writes = new Map<string, string | BulkChange | null>()
  for (const { path, data, pending } of await files.read([
    ...new Set([...old.data.keys(), ...old.changes.keys()])
  ])) {
    if (data !== undefined || pending !== undefined) continue
    const base = old.data.get(path)
    if (isTombstonePath(path)) {
      if (base !== undefined) writes.set(tombstoneKey(path), base)
      continue
    }
    const box = old.changes.get(path) ?? base ?? null
    files.put(writes, path, box)
    const isChange = box !== (base ?? null)
    const change = isChange ? { box, base: base ?? null, sent: [] } : undefined
    if (isChange) writes.set(PREFIX.pending + path, pendingEntry({ data: base, pending: change }))
  }
  const { lastSync, isDamaged } = parseStatus(store.get(PREFIX.status))
  if (old.status !== undefined && lastSync === 0) {
    // Of a damaged store everything is fetched anew.
    const status = isDamaged === true ? { lastHash: undefined, isDamaged } : {}
    writes.set(PREFIX.status, JSON.stringify({ ...parseStatus(old.status), ...status }))
  }
  await store.write(writes)
  await forEachInGroups(old.paths, async path => {
    const text = await disk.getText(path)
    if (text !== undefined) await disk.setText(`imported/${path}`, text)
  })
  // The status goes last: while it is there, a deployed client trusts the folder.
  const statusPath = `${prefix}repos/${repoId}/status.json`
  await forEachInGroups(old.paths, async path => {
    if (path !== statusPath) await disk.delete(path)
  })
  await disk.delete(statusPath)
}

/**
 * Writes a repo in the layout of deployed clients, boxes as they are.
 *
 * Deletions that are still pending have no form there: the files are left out, and a deployed client gets them
 * back with its next full download (protocol §3.3).
 */
export const exportDeployedRepo = async (repo: Repo, disk: Disk, prefix: string = ''): Promise<void> => {
  const root = `${prefix}repos/${repo.id}`
  for await (const { path, data, pending } of repo.records()) {
    if (pending?.box === null) continue
    if (data !== undefined) await disk.setText(`${root}/data/${path}`, data)
    if (pending !== undefined) await disk.setText(`${root}/changes/${path}`, pending.box)
  }
  const { lastSync, lastHash } = repo.state.getSnapshot()
  await disk.setText(
    `${root}/status.json`,
    JSON.stringify({ lastSync, ...compact({ lastHash: lastHash || undefined }) })
  )
}

interface DeployedFiles {
  readonly data: Map<string, string>
  readonly changes: Map<string, string>
  status: string | undefined
  /** The files that were understood, by their path on the disk. */
  readonly paths: string[]
}

const readDeployed = async ({
  disk,
  repoId,
  prefix,
  paths,
  report
}: DeployedRepo): Promise<DeployedFiles> => {
  const root = `${prefix}repos/${repoId}/`
  const old: DeployedFiles = { data: new Map(), changes: new Map(), status: undefined, paths: [] }
  await forEachInGroups(paths, async full => {
    const name = full.slice(root.length)
    const [folder, ...rest] = name.split('/')
    try {
      if (name === 'status.json') old.status = await disk.getText(full)
      else if (folder !== 'data' && folder !== 'changes') return
      else old[folder].set(checkPath(rest.join('/')), await readBox(disk, full))
      old.paths.push(full)
    } catch (error) {
      report(error)
    }
  })
  return old
}

const readBox = async (disk: Disk, path: string): Promise<string> => {
  const box = parseBox(await disk.getText(path))
  if (box === undefined) throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no box' })
  return boxText(box)
}

/** Overlaps the work of many files, but not of all at once. */
const forEachInGroups = async <T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> => {
  for (let start = 0; start < items.length; start += DISK_GROUP) {
    await Promise.all(items.slice(start, start + DISK_GROUP).map(task))
  }
}

const DISK_GROUP = 64
