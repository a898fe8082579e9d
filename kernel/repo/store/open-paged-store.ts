import { checkPath } from '../../base/disk-path.ts'
import { WalletError } from '../../base/errors.ts'
import { openLocalStore } from './local-store.ts'
import type { PagedPlace } from './paged-place.ts'
import { PagedStore } from './paged-store.ts'
import { TableFiles } from './table-files.ts'
import { LOSS_MARK, MANIFEST, parseManifest } from './table-manifest.ts'

/**
 * Opens the store of one folder, and removes what a crash left of writes that were never finished.
 *
 * After damage to the entries, or when the last of them are missing, no manifest can be trusted: the tables are then put together from every segment that there is.
 * An opening that is cut off before that is done does not hide it from the next one.
 *
 * @param paths - all paths of the folder, as the disk lists them
 * @throws STORAGE_FAILED, PATH_REFUSED
 */
export const openPagedStore = async (place: PagedPlace, paths: readonly string[]): Promise<PagedStore> => {
  checkPath(place.folder)
  const lossMark = [LOSS_MARK + place.io.clock.now(), 'lost'] as const
  const front = await openLocalStore(place, paths, lossMark)
  let isSuspect = false
  const named = new Set<number>()
  for (const [key, text] of front.entries(MANIFEST)) {
    isSuspect ||= key.startsWith(LOSS_MARK)
    const { segments = [], parts = [] } = parseManifest(text) ?? {}
    for (const [id] of [...segments, ...parts]) named.add(id)
  }
  const files = new TableFiles(place, paths, named)
  if (!isSuspect && files.tellOfLoss(named)) {
    isSuspect = true
    place.report(
      new WalletError('CORRUPT_FILE', { path: place.folder, rule: 'its last entries are missing' })
    )
    await front.write(new Map([lossMark])).catch(place.report)
  }
  if (!isSuspect) {
    await files.removeSpare(named)
    return new PagedStore({ place, front, files })
  }
  const suspects = await files.survey()
  const store = new PagedStore({ place, front, files, suspects })
  for (const table of suspects.keys()) if (place.bulk.tableOf(table) === table) store.table(table)
  await place.damaged?.()
  store.tidySoon()
  return store
}
