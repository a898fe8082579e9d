import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/** The files that a plugin is made of, as far as they are known. */
export interface FollowedFiles {
  /** Wherever they are. */
  readonly paths: readonly string[]
  /** True while more may be imported: then every file in the folder of the project counts. */
  readonly isAll: boolean
  /** When they were read, in milliseconds since 1970: what was saved after that has changed. */
  readonly since: number
}

/** A watch of the files that a plugin is made of. */
export interface ProjectWatch {
  /** Watches other files from now on. */
  follow(files: FollowedFiles): void
  close(): void
}

/**
 * Calls back after changes of the files of a plugin, those of packages and hidden ones in its folder aside; of all in its
 * folder until {@link ProjectWatch.follow} names them. Changes that come together are one.
 *
 * @param onChange - receives the time of the newest file in milliseconds since 1970
 */
export const watchProject = (folder: string, onChange: (savedAt: number) => void): ProjectWatch => {
  const watchers = new Map<string, FSWatcher>()
  let followed: ReadonlySet<string> = new Set()
  let isAll = true
  let timer: NodeJS.Timeout | undefined
  let newest = 0
  let isClosed = false
  const note = (path: string): void => {
    const found = statSync(path, { throwIfNoEntry: false })
    // What was removed changes the project now.
    newest = Math.max(newest, found?.mtimeMs ?? Date.now())
    clearTimeout(timer)
    timer = setTimeout(() => {
      const savedAt = newest
      newest = 0
      watchFolders()
      if (!isClosed) onChange(savedAt)
    }, GATHER_MS)
  }
  const changed = (path: string, name: string | null): void => {
    const file = name === null ? path : join(path, name)
    const isInFolder = isAll && (path === folder || path.startsWith(join(folder, sep)))
    if (name === null || followed.has(file) || (isInFolder && !isIgnored(name))) note(file)
  }
  const watchFolders = (): void => {
    if (isClosed) return
    const folders = new Set([
      ...(isAll ? foldersIn(folder) : []),
      ...[...followed].map(path => dirname(path))
    ])
    for (const [path, watcher] of watchers) {
      if (folders.has(path)) continue
      watcher.close()
      watchers.delete(path)
    }
    for (const path of folders) {
      if (watchers.has(path) || !existsSync(path)) continue
      const watcher = watch(path, (_event, name) => changed(path, name))
      // Its folder is gone; the folder above reports that.
      watcher.on('error', () => {})
      watchers.set(path, watcher)
    }
  }
  watchFolders()
  return {
    follow(files) {
      const before = followed
      followed = new Set(files.paths.filter(path => !path.split(sep).includes('node_modules')))
      isAll = files.isAll
      watchFolders()
      for (const path of followed) if (!before.has(path) && timeOf(path) > files.since) note(path)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    }
  }
}

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** An editor writes a file in several steps. */
const GATHER_MS = 20
const MAX_FOLDERS = 300

const foldersIn = (folder: string): readonly string[] => {
  const found = [folder]
  for (const path of found) {
    if (found.length >= MAX_FOLDERS) break
    for (const entry of entriesOf(path))
      if (entry.isDirectory() && !isIgnored(entry.name)) found.push(join(path, entry.name))
  }
  return found.slice(0, MAX_FOLDERS)
}

const entriesOf = (path: string) => {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Packages, hidden files, and what editors write beside a file. */
const isIgnored = (name: string): boolean =>
  name === 'node_modules' || name.startsWith('.') || name.endsWith('~') || /\.(?:swp|tmp)$/.test(name)
