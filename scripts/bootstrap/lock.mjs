import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const BEAT_MS = 2000
// Containers that share a folder cannot see each other's process ids, so a holder also has to show a pulse.
const DEAD_MS = 30_000

/** Runs a task while holding a lock file; waits for another process that holds it, unless that one died. */
export const withLock = async (path, task) => {
  mkdirSync(dirname(path), { recursive: true })
  let reported = false
  while (!take(path)) {
    if (!reported) console.error('holdfast: waiting until another process has set up this folder…')
    reported = true
    breakIfDead(path)
    await sleep(200)
  }
  const pulse = setInterval(() => beat(path), BEAT_MS)
  try {
    return await task()
  } finally {
    clearInterval(pulse)
    rmSync(path, { force: true })
  }
}

const take = path => {
  try {
    writeFileSync(path, `${process.pid} ${hostname()}`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

const beat = path => {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // Somebody cleaned the folder. The task goes on; at worst a second one runs beside it.
  }
}

const breakIfDead = path => {
  const aside = `${path}.${process.pid}.dead`
  try {
    const seen = readFileSync(path, 'utf8')
    if (isAlive(seen, statSync(path).mtimeMs)) return
    // Two waiters may get here; only one rename succeeds, and it must have moved what was judged.
    renameSync(path, aside)
    if (readFileSync(aside, 'utf8') !== seen) renameSync(aside, path)
    rmSync(aside, { force: true })
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

const isAlive = (holder, lastBeatMs) => {
  if (Date.now() - lastBeatMs > DEAD_MS) return false
  const [pid, host] = holder.split(' ')
  // Empty for the moment between its making and its first bytes.
  if (host === undefined || host !== hostname()) return true
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}
