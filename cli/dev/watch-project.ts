import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** A watch of the files of a project. */
export interface ProjectWatch {
  close(): void
}

/**
 * Calls back after changes of the files in a project, those of packages and hidden folders aside. Changes that come together
 * are one.
 *
 * @param onChange - receives the time of the newest file in milliseconds since 1970
 */
export const watchProject = (folder: string, onChange: (savedAt: number) => void): ProjectWatch => {
  const watchers = new Map<string, FSWatcher>()
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
      follow()
      if (!isClosed) onChange(savedAt)
    }, GATHER_MS)
  }
  const follow = (): void => {
    if (isClosed) return
    const folders = new Set(foldersIn(folder))
    for (const [path, watcher] of watchers) {
      if (folders.has(path)) continue
      watcher.close()
      watchers.delete(path)
    }
    for (const path of folders) {
      if (watchers.has(path)) continue
      const watcher = watch(path, (_event, name) => {
        if (name === null || !isIgnored(name)) note(name === null ? path : join(path, name))
      })
      // Its folder is gone; the folder above reports that.
      watcher.on('error', () => {})
      watchers.set(path, watcher)
    }
  }
  follow()
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    }
  }
}

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
