import { compact } from '../../base/compact.ts'
import { type ReportError, WalletError } from '../../base/errors.ts'
import { tryParseJson } from '../../base/json.ts'
import { quarantine } from '../../base/quarantine.ts'
import { utf8Of } from '../../crypto/encoding.ts'
import type { Disk } from '../../io/disk.ts'
import { openFolderStore, type StoreDisk } from '../../store/store-disk.ts'
import type { BlockCrypto } from './block.ts'
import { type BulkChange, type BulkPrefixes, type StoreChanges, textIn } from './bulk.ts'
import { isOldPath, readOldStore } from './old-layout.ts'
import { LOSS_KEY, openSealedStore, type SealedStore, type StoreContents } from './sealed-store.ts'

/** Options of {@link openRepoStore}. */
export interface RepoStoreOptions extends BlockCrypto {
  /** Where its store has one, the store is a part of that. */
  readonly disk: Disk | StoreDisk
  /** The folder of the disk that is the owner's: the store is below it in `log`, one of an older version in `store`. */
  readonly folder: string
  /** All paths of the folder, as the disk lists them. */
  readonly paths: readonly string[]
  readonly bulk: BulkPrefixes
  readonly report: ReportError
  /** Gives the entries that note that something is lost; `get` reads those that are there. */
  readonly damaged?: (get: (key: string) => string | undefined) => StoreChanges
  /** About how many characters a full block has. */
  readonly blockLength?: number
}

/**
 * Opens the store of a folder. One that an older version has left there is converted first.
 *
 * @throws STORAGE_FAILED, STORAGE_FULL, PATH_REFUSED
 */
export const openRepoStore = async (options: RepoStoreOptions): Promise<SealedStore> => {
  const store = await openOver(options, options.paths)
  const old = options.paths.filter(path => path.startsWith(`${options.folder}/store/`) && isOldPath(path))
  if (old.length === 0 && store.get(CONVERTED) === undefined) return store
  try {
    return await convert(options, store, old)
  } catch (error) {
    await store.close().catch(options.report)
    throw error
  }
}

const openOver = async (options: RepoStoreOptions, known?: readonly string[]): Promise<SealedStore> => {
  const { io, disk, folder, bulk, key, report, damaged, blockLength } = options
  const name = `${folder}/log`
  const paths = known?.filter(path => path.startsWith(`${name}/`))
  let hasLost = false
  const store = await openFolderStore(disk, {
    ...{ folder: name, crypto: io.crypto, clock: io.clock, report },
    lossMark: { key: LOSS_KEY, value: Uint8Array.of(1) },
    onLoss(error) {
      hasLost = true
      report(error)
    },
    ...compact({ paths })
  })
  return openSealedStore({
    ...{ io, key, store, name, bulk, report, hasLost },
    ...compact({ damaged, blockLength })
  })
}

/**
 * Takes over what an older version has left, in one write, and deletes it once it has been read back.
 *
 * Beside it an entry says which files these were: what a crash leaves of them is deleted at the next opening. Other files there
 * are of an older version that was started once more; what it has and we have not is taken over, too.
 */
const convert = async (
  options: RepoStoreOptions,
  store: SealedStore,
  old: readonly string[]
): Promise<SealedStore> => {
  const { disk, io, report, damaged = () => new Map() } = options
  const digests = await digestsOf(options, old)
  const known = (tryParseJson(store.get(CONVERTED)) ?? {}) as Partial<Record<string, string>>
  let opened = store
  if (old.some(path => known[path] !== digests[path])) {
    const { contents, isDamaged, damagedPaths } = await readOldStore({ ...options, paths: old })
    const present = new Map(await store.contents())
    const writes = new Map<string, string | BulkChange | null>(contents.filter(([key]) => !present.has(key)))
    const get = (key: string): string | undefined => textIn(writes.get(key) ?? null) ?? store.get(key)
    if (isDamaged || present.size > 0) for (const [key, change] of damaged(get)) writes.set(key, change)
    writes.set(CONVERTED, JSON.stringify(digests))
    await store.write(writes)
    await store.close()
    opened = await openOver(options)
    if (!isAllThere(await opened.contents(), [...present, ...writes]))
      throw new WalletError('STORAGE_FAILED', {
        path: options.folder,
        reason: 'what was written reads otherwise'
      })
    for (const path of damagedPaths) {
      const text = await disk.getText(path).catch(() => undefined)
      if (text === undefined) continue
      report(await quarantine(disk, io.clock, { path, text, rule: 'it does not decrypt as a whole' }))
    }
  }
  for (const path of old) await disk.delete(path)
  await opened.write(new Map([[CONVERTED, null]]))
  return opened
}

const digestsOf = async (
  { disk, io }: RepoStoreOptions,
  paths: readonly string[]
): Promise<Record<string, string>> => {
  const digests: Record<string, string> = {}
  for (const path of paths) {
    const text = await disk.getText(path).catch(() => undefined)
    digests[path] = io.crypto.toHex(io.crypto.sha256(utf8Of(text ?? '')).slice(0, 16))
  }
  return digests
}

const isAllThere = (
  found: StoreContents,
  wanted: readonly (readonly [string, string | BulkChange | null])[]
): boolean => {
  const there = new Map(found)
  const spelt = (change: string | BulkChange | null | undefined): string => JSON.stringify(change ?? null)
  return [...new Map(wanted)].every(([key, change]) => spelt(there.get(key)) === spelt(change))
}

/** The entry that says, while that is needed, which files were taken over. */
const CONVERTED = 'm/converted'
