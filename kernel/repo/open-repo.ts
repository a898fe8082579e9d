import type { Disk } from '../io/disk.ts'
import { importDeployedRepo } from './deployed-repo.ts'
import { Repo } from './repo.ts'
import type { RepoParts } from './repo-parts.ts'
import { BULK } from './repo-record.ts'
import { openPagedStore } from './store/open-paged-store.ts'

/** What opening a repo needs. */
export interface RepoOptions extends RepoParts {
  readonly disk: Disk
  /** Where a deployed client's folders begin on this disk: '' for files, `airbitz/` for a browser's storage. */
  readonly deployedPrefix?: string
}

/**
 * Opens a synced, encrypted repo: its local store under `repos/<id>/store`, where no deployed client looks.
 *
 * A deployed client's folder of the same repo is taken in on first sight and moved to `imported/`.
 *
 * @throws STORAGE_FAILED, STORAGE_FULL
 */
export const openRepo = async (options: RepoOptions): Promise<Repo> => {
  const { io, disk, repoId, dataKey, report, deployedPrefix = '' } = options
  const root = `repos/${repoId}`
  const folder = `${root}/store`
  const listed = await disk.list(root)
  const paths = listed.filter(path => path.startsWith(`${folder}/`))
  let isDamaged = false
  let repo: Repo | undefined
  const damaged = async (): Promise<void> => {
    isDamaged = true
    await repo?.forgetServer().catch(report)
  }
  const store = await openPagedStore({ io, disk, folder, key: dataKey, report, bulk: BULK, damaged }, paths)
  const deployed = deployedPrefix === '' ? listed : await disk.list(deployedPrefix + root)
  await importDeployedRepo({ store, disk, repoId, prefix: deployedPrefix, paths: deployed, report })
  repo = new Repo(options, store)
  if (isDamaged) await repo.forgetServer()
  return repo
}
