import { isWalletError } from '../../errors/wallet-error.ts'
import { checkPath } from '../disk.ts'
import { loadChunks } from './load-chunks.ts'
import { LocalStore } from './local-store.ts'
import type { PagedPlace } from './paged-place.ts'
import { PagedStore } from './paged-store.ts'
import { TableFiles } from './table-files.ts'
import { MANIFEST, parseManifest } from './table-manifest.ts'

/**
 * Opens the store of one folder, and removes what a crash left of writes that were never finished.
 *
 * After damage to the entries no manifest can be trusted: the tables are then put together from every segment that there is.
 *
 * @param paths - all paths of the folder, as the disk lists them
 * @throws STORAGE_FAILED, PATH_REFUSED
 */
export const openPagedStore = async (place: PagedPlace, paths: readonly string[]): Promise<PagedStore> => {
  checkPath(place.folder)
  let isSuspect = false
  const report = (error: unknown): void => {
    isSuspect ||= isWalletError(error, 'CORRUPT_FILE')
    place.report(error)
  }
  const loaded = await loadChunks({ ...place, report }, paths)
  const front = new LocalStore(place)
  await front.take(loaded)
  const files = new TableFiles(place, paths)
  if (!isSuspect) {
    const named = new Set<number>()
    for (const [, text] of front.entries(MANIFEST)) {
      const { segments = [], parts = [] } = parseManifest(text) ?? {}
      for (const [id] of [...segments, ...parts]) named.add(id)
    }
    await files.removeSpare(id => named.has(id))
    return new PagedStore({ place, front, files })
  }
  const suspects = await files.survey()
  const store = new PagedStore({ place, front, files, suspects })
  for (const table of suspects.keys()) store.table(table)
  place.damaged?.()
  store.tidySoon()
  return store
}
