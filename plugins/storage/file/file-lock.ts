import { readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJsonText, WalletError } from '../../../kernel/plugin-api.ts'

/** The time to wait for a folder that another process holds, and the name of this one. */
export interface LockOptions {
  /** Milliseconds to wait for the present holder; 0 fails at once. */
  readonly waitMs?: number
  /** The name that a waiting process is shown, such as the command line's: `holdfast send`. Never a secret. */
  readonly holder?: string
}

/** How {@link lockFolder} holds a folder. */
export interface HoldOptions {
  /** While it is true, an exit leaves the lock: a write may land until the process is gone. */
  readonly isWriting?: () => boolean
  /**
   * The folder is in a form that version 0.1 does not read: its lock is always of another machine to that version, which takes no such
   * lock over, and a free one stays in the folder.
   */
  readonly keepsOlderOut?: boolean
}

/** A folder held by this process. */
export interface FileLock {
  release(): Promise<void>
}

/** The name of the lock file in the root; no path of a disk may be this. */
export const LOCK_NAME = 'lock'

interface Holder {
  readonly pid: number
  readonly host: string
  /** Nobody holds it. */
  readonly isFree: boolean
  /** The machine, where `host` keeps older versions out. */
  readonly machine?: string | undefined
  readonly holder: string
  /** ISO time at which the holder's process began, for people. */
  readonly started: string
  /** Distinguishes processes of the same pid: boot id and start ticks where Linux has them, else ''. */
  readonly birth: string
}

const POLL_MS = 50

/**
 * Holds a folder against every other process, and against a second opener in this one.
 *
 * The lock file appears at once with its content (a hard link), is taken over if its process is gone, and is
 * removed, or replaced by a free one, at release or when the process exits.
 *
 * @throws STORAGE_LOCKED with the holder's name after `waitMs`
 */
export const lockFolder = async (
  root: string,
  options: LockOptions = {},
  { isWriting = () => false, keepsOlderOut = false }: HoldOptions = {}
): Promise<FileLock> => {
  const { waitMs = 0, holder = 'holdfast' } = options
  await mkdir(root, { recursive: true, mode: 0o700 })
  const path = join(root, LOCK_NAME)
  const self = describeSelf(holder)
  const own = JSON.stringify(keepsOlderOut ? { ...self, host: LATER, machine: self.host } : self)
  const deadline = performance.now() + waitMs
  while (!(await tryLock(path, own))) {
    const present = await readHolder(path)
    const stale = present !== undefined && isGone(present.text) ? present.text : undefined
    const taken = stale === undefined ? 'busy' : await takeOver(path, own, stale)
    if (taken === 'held') break
    if (taken === 'again') continue
    if (performance.now() >= deadline) {
      throw new WalletError('STORAGE_LOCKED', { holder: nameOf(present?.text) })
    }
    await sleep(Math.min(POLL_MS, Math.max(1, deadline - performance.now())))
  }
  return heldLock(path, { own, isWriting, keepsOlderOut })
}

const held = new Map<string, Held>()

interface Held {
  /** The text of the lock file. */
  readonly own: string
  readonly keepsOlderOut: boolean
  isWriting(): boolean
}

/** Has spaces, so that no machine is called so. */
const LATER = 'a later version of Holdfast'
/** The lock of a folder that nobody holds. */
const FREE = JSON.stringify({
  ...{ pid: 1, host: LATER, holder: `${LATER}, in whose form the folder is now`, started: '', birth: '' },
  isFree: true
})

// One listener for all locks. Nothing that fails at exit can be helped; the next opener sees that this process
// is gone.
const releaseAll = (): void => {
  for (const [path, lock] of held) if (!lock.isWriting()) releaseNow(path, lock)
}

const heldLock = (path: string, lock: Held): FileLock => {
  if (held.size === 0) process.on('exit', releaseAll)
  held.set(path, lock)
  return {
    async release() {
      if (held.get(path) !== lock) return
      held.delete(path)
      if (held.size === 0) process.removeListener('exit', releaseAll)
      releaseNow(path, lock)
    }
  }
}

const releaseNow = (path: string, { own, keepsOlderOut }: Held): void => {
  try {
    if (!keepsOlderOut || !isReplaced(path, own, FREE)) removeNow(path, own)
  } catch {
    // Who comes next sees it when this process is gone.
  }
}

/** Puts a lock in the place of another one, as {@link replaceNow}; false if that fails, as on a full disk. */
const isReplaced = (path: string, meant: string, next: string): boolean => {
  try {
    return replaceNow(path, meant, next)
  } catch {
    return false
  }
}

/** Puts a lock in the place of the one that is meant, so that there is one at each moment; false if another stands there. */
const replaceNow = (path: string, meant: string, next: string): boolean => {
  const draft = `${path}.${process.pid}.next.~tmp`
  try {
    writeFileSync(draft, next, { mode: 0o600 })
    if (readFileSync(path, 'utf8') !== meant) return false
    renameSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Removes a lock if it still is the one that is meant; it looks and removes in one go, so that hardly anybody comes between. */
const removeNow = (path: string, meant: string): void => {
  try {
    if (readFileSync(path, 'utf8') === meant) unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

let count = 0

const tryLock = async (path: string, own: string): Promise<boolean> => {
  count += 1
  const draft = `${path}.${process.pid}.${count}.~tmp`
  await writeFile(draft, own, { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Whoever has just got the folder has removed our draft as a leftover.
    if (code === 'EEXIST' || code === 'ENOENT') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

const readHolder = async (path: string): Promise<{ text: string } | undefined> => {
  try {
    return { text: await readFile(path, 'utf8') }
  } catch {
    return undefined
  }
}

// Two waiters may judge the same lock stale, and the slower one must not replace what the quicker one holds by then:
// only who has the guard replaces a lock, and only the one that was judged. So it is with the guard itself, which may be
// a leftover, too, or lost as one.
const takeOver = async (path: string, own: string, stale: string): Promise<'again' | 'busy' | 'held'> => {
  const guard = `${path}.guard.~tmp`
  if (await tryLock(guard, own)) {
    try {
      return replaceNow(path, stale, own) ? 'held' : 'again'
    } finally {
      removeNow(guard, own)
    }
  }
  const present = await readHolder(guard)
  if (present === undefined || !isGone(present.text)) return 'busy'
  removeNow(guard, present.text)
  return 'again'
}

const parseHolder = (text: string): Holder | undefined => {
  try {
    const value = parseJsonText(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { pid, host, machine, isFree, holder, started, birth } = value as Record<string, unknown>
    if (!Number.isSafeInteger(pid) || (pid as number) <= 0) return undefined
    return {
      pid: pid as number,
      host: String(host),
      isFree: isFree === true,
      machine: typeof machine === 'string' ? machine : undefined,
      holder: String(holder).slice(0, 100),
      started: String(started).slice(0, 40),
      birth: String(birth)
    }
  } catch {
    return undefined
  }
}

const isGone = (text: string): boolean => {
  const holder = parseHolder(text)
  // A lock that was not written whole is no lock.
  if (holder === undefined || holder.isFree) return true
  // Whether a process of another machine lives cannot be known from here.
  if ((holder.machine ?? holder.host) !== hostname()) return false
  if (!isAlive(holder.pid)) return true
  const birth = birthOf(holder.pid)
  return birth !== '' && holder.birth !== '' && birth !== holder.birth
}

const birthOf = (pid: number | 'self'): string => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name may hold spaces and brackets; the 20th field after it is the start time.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return ticks === undefined ? '' : `${boot}:${ticks}`
  } catch {
    return ''
  }
}

const describeSelf = (holder: string): Omit<Holder, 'isFree'> => ({
  pid: process.pid,
  host: hostname(),
  holder,
  started: new Date(Date.now() - process.uptime() * 1000).toISOString(),
  birth: birthOf('self')
})

const nameOf = (text: string | undefined): string => {
  const holder = text === undefined ? undefined : parseHolder(text)
  // One that is free is about to be another's.
  return holder === undefined || holder.isFree
    ? 'another process'
    : `${holder.holder} (process ${holder.pid})`
}

/** Checks if a process of this machine lives, also one of another user. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
