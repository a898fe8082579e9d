import type { Disk } from '../io/disk.ts'
import { compact } from './compact.ts'
import { copyList } from './copy-data.ts'
import { safely, WalletError } from './errors.ts'

/**
 * Checks a path against the grammar that keeps every path inside its root, and returns it.
 *
 * Up to 16 segments of letters, digits and `._+=,@-`; no empty segment, `.` or `..`; 1024 characters.
 *
 * @throws PATH_REFUSED
 *
 * @example
 * ```ts
 * import { checkPath } from 'holdfast/plugin'
 *
 * checkPath('logins/alice.json') // 'logins/alice.json'
 * checkPath('../secrets') // throws PATH_REFUSED
 * ```
 */
export const checkPath = (path: string): string => {
  if (path.length > 1024) throw refusal('is longer than 1024 characters')
  let depth = 1
  let start = 0
  for (let at = 0; at <= path.length; at += 1) {
    const code = at === path.length ? SLASH : path.charCodeAt(at)
    if (code !== SLASH) {
      if (code > 127 || ALLOWED[code] !== 1) throw refusal('has a segment that is not allowed')
      continue
    }
    const length = at - start
    const isDots = length <= 2 && path.charCodeAt(start) === DOT && path.charCodeAt(at - 1) === DOT
    if (length === 0 || length > 200 || isDots) throw refusal('has a segment that is not allowed')
    if (at < path.length) depth += 1
    start = at + 1
  }
  if (depth > 16) throw refusal('is deeper than 16 folders')
  return path
}

/**
 * A disk of a storage plugin, each method read once: what it answers is checked, and what it throws is an error that is
 * safe to look at.
 *
 * @throws TypeError for what is no disk
 */
export const checkedDisk = (given: Disk): Disk => {
  const { getText, getSlice, setText, delete: remove, list, close } = given
  for (const method of [getText, setText, remove, list])
    if (typeof method !== 'function') throw new TypeError('The storage gave no disk')
  return Object.freeze({
    getText: (path: string) => safely(async () => textOf(path, await getText.call(given, path))),
    ...compact({
      getSlice:
        typeof getSlice === 'function'
          ? (path: string, start: number, end: number) =>
              safely(async () => textOf(path, await getSlice.call(given, path, start, end)))
          : undefined
    }),
    setText: (path: string, text: string) => safely(async () => void (await setText.call(given, path, text))),
    delete: (path: string) => safely(async () => void (await remove.call(given, path))),
    list: (folder: string) => safely(async () => pathsOf(folder, await list.call(given, folder))),
    close: () => safely(async () => void (await close?.call(given)))
  })
}

const textOf = (path: string, answer: unknown): string | undefined => {
  if (answer === undefined || typeof answer === 'string') return answer
  throw new WalletError('STORAGE_FAILED', { path, reason: 'it answered with no text' })
}

const pathsOf = (path: string, answer: unknown): string[] => {
  const paths = copyList(answer, MAX_PATHS)
  if (paths?.every(item => typeof item === 'string') === true) return paths as string[]
  throw new WalletError('STORAGE_FAILED', { path, reason: 'it answered with no list of paths' })
}

const MAX_PATHS = 10_000_000

/** The part of a disk below one folder; nothing outside it can be reached. */
export const subDisk = (disk: Disk, folder: string): Disk => {
  const root = `${checkPath(folder)}/`
  const { getSlice } = disk
  return {
    getText: path => disk.getText(root + checkPath(path)),
    ...compact({
      getSlice: getSlice && ((path, start, end) => getSlice(root + checkPath(path), start, end))
    }),
    setText: (path, text) => disk.setText(root + checkPath(path), text),
    delete: path => disk.delete(root + checkPath(path)),
    async list(inner) {
      const paths = await disk.list(inner === '' ? folder : root + checkPath(inner))
      return paths.map(path => path.slice(root.length))
    }
  }
}

const SLASH = 47
const DOT = 46
/** 1 for each letter of a path: looked up, because paths are checked by the ten thousand. */
const ALLOWED: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9._+=,@-]/.test(String.fromCharCode(code)) ? 1 : 0
)

const refusal = (rule: string): WalletError => new WalletError('PATH_REFUSED', { rule })
