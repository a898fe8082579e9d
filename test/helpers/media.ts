import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Disk, StoragePlugin, Store } from '../../kernel/index.ts'
import type { StoreChange } from '../../kernel/io/store.ts'
import { type StoreDisk, storeDisk } from '../../kernel/store/store-disk.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { openKeyvDisk } from '../../plugins/storage/keyv-storage.ts'
import { type LevelPackage, openLevelStore } from '../../plugins/storage/level.ts'
import { openPostgresStore, type PostgresPackage } from '../../plugins/storage/postgres.ts'
import { bytesOfLetters, letters } from './fault-store.ts'
import { installNpmFolder } from './npm-folder.ts'
import { compileSqlite } from './sqlite-adapter.ts'

/** A place outside the process that a storage plugin keeps data in. It can be sent to another process, which opens the same. */
export type Medium = FolderMedium | ServerMedium

interface FolderMedium {
  readonly kind: 'file' | 'level'
  readonly folder: string
}

interface ServerMedium {
  readonly kind: 'postgres' | 'redis' | 'sqlite'
  readonly url: string
  readonly name: string
}

/** The contents of a medium, by path, or by key and value with a letter for each byte. */
export type Contents = ReadonlyMap<string, string>

/** Returns `disk` for a disk of texts, `store` for a store of bytes. */
export const kindOf = ({ kind }: Pick<Medium, 'kind'>): 'disk' | 'store' =>
  kind === 'level' || kind === 'postgres' ? 'store' : 'disk'

/** Opens a medium with its shipped storage plugin; one that is a store as the disk over it. Waits for a process that is dying. */
export const openMedium = async (medium: Medium): Promise<Disk> => {
  const waitMs = 5000
  if ('folder' in medium)
    return medium.kind === 'file'
      ? openFileDisk(medium.folder, { waitMs })
      : storeDisk(await openLevelStore(medium.folder, { waitMs, load: loadLevel }))
  const { kind, url, name } = medium
  return kind === 'postgres'
    ? storeDisk(await openPostgresStore(url, { name, waitMs, load: loadPostgres }))
    : openKeyvDisk(url, { name, isUnprotected: true, load: loadPackage })
}

/** The store that a disk is a table of; undefined if it is a disk alone. */
export const storeUnder = (disk: Disk): Store | undefined =>
  'store' in disk ? (disk as StoreDisk).store : undefined

/** A storage plugin that opens a disk, or the store under it. */
export const storageOn = (kind: 'disk' | 'store', open: () => Promise<Disk>): StoragePlugin => ({
  kind: 'storage',
  id: 'medium',
  apply({ hooks }) {
    if (kind === 'disk') hooks.openDisk.tapPromise('medium', open)
    else hooks.openStore.tapPromise('medium', async () => storeUnder(await open()) as Store)
  }
})

/** The storage plugin of a medium. */
export const mediumStorage = (medium: Medium): StoragePlugin =>
  storageOn(kindOf(medium), () => openMedium(medium))

/** Puts contents on an empty medium. */
export const fillMedium = async (medium: Medium, contents: Contents): Promise<void> => {
  const disk = await openMedium(medium)
  const store = storeUnder(disk)
  if (store !== undefined) await store.batch([...contents].map(([key, value]) => changeOf(key, value)))
  else for (const [path, text] of contents) await disk.setText(path, text)
  await disk.close?.()
}

/** Reads everything that is on a medium. */
export const readMedium = async (medium: Medium): Promise<Contents> => {
  const disk = await openMedium(medium)
  const contents = new Map<string, string>()
  const store = storeUnder(disk)
  if (store !== undefined) {
    const keys = await store.keys({ limit: 100_000 })
    const values = await store.getMany(keys)
    for (const [i, key] of keys.entries()) contents.set(letters(key), letters(values[i] ?? new Uint8Array()))
  } else for (const path of await disk.list('')) contents.set(path, (await disk.getText(path)) ?? '')
  await disk.close?.()
  return contents
}

const changeOf = (key: string, value: string): StoreChange => ({
  key: bytesOfLetters(key),
  value: bytesOfLetters(value)
})

/** The address of a database of SQLite. */
export const sqliteUrl = (file: string): string => pathToFileURL(file).href.replace('file:', 'sqlite:')

/** Loads a package that the tests have installed for the storage plugins. */
export const loadPackage = async (name: string): Promise<unknown> => {
  const { lock, problem } = await installNpmFolder('test/nodes/stores/adapters')
  if (problem !== undefined) throw new Error(problem)
  if (name === '@keyv/sqlite') await compileSqlite(join(dirname(lock), 'node_modules'))
  return import(pathToFileURL(createRequire(lock).resolve(name)).href)
}

/** {@link loadPackage} of LevelDB. */
export const loadLevel = async (): Promise<LevelPackage> => defaultOf<LevelPackage>('classic-level')

/** {@link loadPackage} of PostgreSQL. */
export const loadPostgres = async (): Promise<PostgresPackage> => defaultOf<PostgresPackage>('pg')

const defaultOf = async <Package>(name: string): Promise<Package> => {
  const loaded = (await loadPackage(name)) as Package & { readonly default?: Package }
  return loaded.default ?? loaded
}
