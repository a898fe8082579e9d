import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { canAsk, type Terminal } from '../terminal.ts'

/**
 * Turns the echo of the terminal off for the rest of this process, so that a secret that is typed before its question
 * is drawn is not shown. What was typed stays for the question; Ctrl-C and Ctrl-Z work as before.
 *
 * Node puts the terminal back as it found it when the process ends. Does nothing for another terminal than that of
 * this process, in the background, whose terminal is somebody else's, and where there is no `stty`.
 */
export const hideTyping = (terminal: Terminal): void => {
  if (terminal.stdin !== process.stdin || !canAsk(terminal) || process.platform === 'win32') return
  if (isInForeground()) stty()
}

/** A raw mode, which Node offers, would also take the keys that stop a process. */
const stty = (): void => {
  spawnSync('stty', ['-echo'], { stdio: ['inherit', 'ignore', 'ignore'], timeout: TIMEOUT_MS })
}

const TIMEOUT_MS = 2000

/** Whoever changes a terminal from the background is stopped by the system. */
const isInForeground = (): boolean => {
  try {
    const [own, foreground] = process.platform === 'linux' ? groupsOfProc() : groupsOfPs()
    return own !== undefined && own === foreground
  } catch {
    return false
  }
}

type Groups = readonly [own: string | undefined, foreground: string | undefined]

/** Behind the name in brackets: state, parent, group, session, terminal, the terminal's foreground group. */
const groupsOfProc = (): Groups => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [fields[2], fields[5]]
}

const groupsOfPs = (): Groups => {
  const args = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]
  const [own, foreground] = spawnSync('ps', args, { encoding: 'utf8', timeout: TIMEOUT_MS })
    .stdout.trim()
    .split(/\s+/)
  return [own, foreground]
}
