import { isWalletError, type ReportError, WalletError } from '../../base/errors.ts'
import { tryParseJson } from '../../base/json.ts'
import { quarantine } from '../../base/quarantine.ts'
import { utf8Of } from '../../crypto/encoding.ts'
import type { Disk } from '../../io/disk.ts'
import { openFolderStore } from '../../store/store-disk.ts'
import type { BlockCrypto } from './block.ts'
import { type BulkChange, type BulkPrefixes, type StoreChanges, textIn } from './bulk.ts'
import { isOldPath, readOldStore } from './old-layout.ts'
import { LOSS_KEY, openSealedStore, type SealedStore, type StoreContents } from './sealed-store.ts'

/** Options of {@link openRepoStore}. */
export interface RepoStoreOptions extends BlockCrypto {
  /** Where it is a table of a store, ours is a part of that. */
  readonly disk: Disk
  /** The folder of the disk that is the owner's: the store is below it in `log`, one of an older version in `store`. */
  readonly folder: string
  /** All paths of the folder, as the disk lists them. */
  readonly paths: readonly string[]
  readonly bulk: BulkPrefixes
  readonly report: ReportError
  /** Gives the entries that make the next sync fetch everything: something is lost, or older; `get` reads those that are there. */
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
  return convert(options, store, old)
}

const openOver = async (options: RepoStoreOptions, known?: readonly string[]): Promise<SealedStore> => {
  const { io, disk, folder, bulk, key, report, damaged, blockLength } = options
  const name = `${folder}/log`
  const paths = known?.filter(path => path.startsWith(`${name}/`))
  let hasLost = false
  const store = await openFolderStore(disk, {
    ...{ folder: name, crypto: io.crypto, clock: io.clock, report },
    lossMark: LOSS_MARK,
    onLoss(error) {
      hasLost = true
      report(error)
    },
    paths
  })
  return openSealedStore({
    ...{ io, key, store, name, bulk, report, hasLost, damaged, blockLength }
  })
}

/**
 * Takes over what an older version has left, in one write, and deletes it once it has been read back.
 *
 * An entry says which files these were, from the write on: what a crash leaves of them is read back, or deleted, at the next
 * opening. Other files there are of an older version that was started once more: keys that it has and we have not are taken over,
 * too.
 */
const convert = async (
  options: RepoStoreOptions,
  store: SealedStore,
  old: readonly string[]
): Promise<SealedStore> => {
  let opened = store
  try {
    const digests = await digestsOf(options, old)
    const record = (tryParseJson(store.get(CONVERTED)) ?? {}) as Partial<Conversion>
    const isSame = old.every(path => record.digests?.[path] === digests[path])
    if (!isSame || record.isChecked !== true) {
      const wanted = await takeOver(options, store, {
        old,
        digests,
        isUnfinished: isSame && record.isAlone === true
      })
      await store.close()
      opened = await openOver(options)
      if (!isAllThere(await opened.contents(), wanted))
        throw new WalletError('STORAGE_FAILED', {
          path: options.folder,
          reason: 'what was written reads otherwise'
        })
      await opened.write(new Map([[CONVERTED, recordOf({ digests, isChecked: true, isAlone: false })]]))
    }
    for (const path of old) await options.disk.delete(path)
    await opened.write(new Map([[CONVERTED, null]]))
    return opened
  } catch (error) {
    await opened.close().catch(options.report)
    throw error
  }
}

/** Which old files were taken over, and whether what was written has been read back. */
interface Conversion {
  readonly digests: Readonly<Record<string, string>>
  readonly isChecked: boolean
  /** Nothing else was in the store when they were written, and they have not been read back. */
  readonly isAlone: boolean
}

const recordOf = (conversion: Conversion): string => JSON.stringify(conversion)

interface OldFiles {
  readonly old: readonly string[]
  readonly digests: Readonly<Record<string, string>>
  /** They were written before, into an empty store, and not read back, so that they count. */
  readonly isUnfinished: boolean
}

/** Keeps the damaged files of an old store, writes what it has, and gives what should be there then. */
const takeOver = async (
  options: RepoStoreOptions,
  store: SealedStore,
  { old, digests, isUnfinished }: OldFiles
): Promise<readonly (readonly [string, string | BulkChange | null])[]> => {
  const { disk, io, report, damaged = () => new Map() } = options
  const { contents, isDamaged, damagedPaths } = await readOldStore({ ...options, paths: old })
  for (const path of damagedPaths) {
    const text = await textOf(disk, path)
    if (text === undefined) continue
    report(await quarantine(disk, io.clock, { path, text, rule: 'it does not decrypt as a whole' }))
  }
  const found = await store.contents()
  // Damage that was found by that is noted meanwhile.
  await store.settled()
  const present = new Map([...found, ...store.entries('')])
  const taken = contents.filter(([key]) => isUnfinished || !present.has(key))
  const writes = new Map<string, string | BulkChange | null>(taken)
  const get = (key: string): string | undefined => textIn(writes.get(key) ?? null) ?? store.get(key)
  const isOther = present.size > 0 && !isUnfinished
  if (isDamaged || isOther) for (const [key, change] of damaged(get)) writes.set(key, change)
  writes.set(CONVERTED, recordOf({ digests, isChecked: false, isAlone: isUnfinished || present.size === 0 }))
  await store.write(writes)
  return [...present, ...writes]
}

const digestsOf = async (
  { disk, io }: RepoStoreOptions,
  paths: readonly string[]
): Promise<Record<string, string>> => {
  const digests: Record<string, string> = {}
  for (const path of paths) {
    // A damaged text may hold what UTF-8 has no bytes for.
    const spelling = utf8Of(JSON.stringify((await textOf(disk, path)) ?? null))
    digests[path] = io.crypto.toHex(io.crypto.sha256(spelling).slice(0, 16))
  }
  return digests
}

/** The text of a file; undefined if the disk finds it damaged, or it is gone. @throws STORAGE_FAILED */
const textOf = async (disk: Disk, path: string): Promise<string | undefined> => {
  try {
    return await disk.getText(path)
  } catch (error) {
    if (isWalletError(error, 'CORRUPT_FILE')) return undefined
    throw error
  }
}

const isAllThere = (
  found: StoreContents,
  wanted: readonly (readonly [string, string | BulkChange | null])[]
): boolean => {
  const there = new Map(found)
  const spelt = (change: string | BulkChange | null | undefined): string => JSON.stringify(change ?? null)
  return [...new Map(wanted)].every(([key, change]) => spelt(there.get(key)) === spelt(change))
}

const LOSS_MARK = { key: LOSS_KEY, value: Uint8Array.of(1) }

/** The entry that says, while that is needed, which files were taken over. */
const CONVERTED = 'm/converted'
