import { fstatSync, readFileSync, type Stats } from 'node:fs'
import { Socket } from 'node:net'
import { canPrompt, type Terminal } from './terminal.ts'

/** The terminal of this process. */
export const processTerminal = (): Terminal => {
  const { stdin, stdout, stderr, env: environment } = process
  const terminal = { stdin, stdout, stderr, environment }
  if (canPrompt(terminal)) drawAtOnce()
  return {
    ...terminal,
    readDescriptor,
    async disableEcho() {
      if (canPrompt(terminal)) await disableEcho()
    },
    disableColors() {
      // Ink decides about colours when it is loaded, and knows neither NO_COLOR nor our flag.
      environment.FORCE_COLOR = '0'
    }
  }
}

/**
 * Lets Ink draw what changes although the environment says `CI`, where it would draw only the end. Somebody looks: a question that
 * is not drawn waits for ever. Before Ink is loaded.
 */
export const drawAtOnce = (): void => {
  for (const name of ['CI', 'CONTINUOUS_INTEGRATION'])
    if (process.env[name] !== undefined) process.env[name] = 'false'
}

const readDescriptor = async (descriptor: number, maxBytes: number): Promise<string> => {
  const info = statsOf(descriptor)
  if (info === undefined) throw new Error('is not open')
  if (info.isFile()) {
    if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) throw new Error('can be read by others')
    if (info.size > maxBytes) throw new Error('is too large')
    return readFileSync(descriptor, 'utf8')
  }
  if (!info.isFIFO() && !info.isSocket()) throw new Error('is no file, pipe or socket')
  if (hasBothEnds(descriptor, info)) throw new Error('is a pipe that this process writes itself')
  const chunks: Buffer[] = []
  let size = 0
  // A file stream would keep a thread waiting, and with it the end of the process.
  for await (const chunk of new Socket({ fd: descriptor, readable: true, writable: false })) {
    size += chunk.length
    if (size > maxBytes) throw new Error('is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const statsOf = (descriptor: number): Stats | undefined => {
  try {
    return fstatSync(descriptor)
  } catch {
    return undefined
  }
}

/** Node has pipes of its own, whose numbers come after those that were inherited: such a pipe never ends. */
const hasBothEnds = (descriptor: number, { dev, ino }: Stats): boolean =>
  Array.from({ length: MAX_OWN_DESCRIPTORS }, (_, at) => at + FIRST_DESCRIPTOR).some(other => {
    const info = other === descriptor ? undefined : statsOf(other)
    return info?.isFIFO() === true && info.dev === dev && info.ino === ino
  })

const FIRST_DESCRIPTOR = 3
const MAX_OWN_DESCRIPTORS = 64

/**
 * Disables the echo of the terminal for the rest of this process, so that a secret that is typed before its prompt
 * appears is not shown. The typed characters are kept for the prompt; Ctrl-C and Ctrl-Z work as before.
 *
 * Node restores the terminal when the process ends. Without effect in the background, and without
 * `stty`.
 */
const disableEcho = async (): Promise<void> => {
  if (process.platform === 'win32') return
  // Loaded here, since most commands need no other process and a start is to be quick.
  const { spawnSync } = await import('node:child_process')
  if (isInForeground(spawnSync)) stty(spawnSync)
}

type Spawn = typeof import('node:child_process').spawnSync

/** A raw mode, which Node offers, would also take the keys that stop a process. */
const stty = (spawnSync: Spawn): void => {
  spawnSync('stty', ['-echo'], { stdio: ['inherit', 'ignore', 'ignore'], timeout: TIMEOUT_MS })
}

const TIMEOUT_MS = 2000

/** The system stops a process that changes the terminal from the background. */
const isInForeground = (spawnSync: Spawn): boolean => {
  try {
    const [own, foreground] = process.platform === 'linux' ? groupsOfProc() : groupsOfPs(spawnSync)
    return own !== undefined && own === foreground
  } catch {
    return false
  }
}

type Groups = readonly [own: string | undefined, foreground: string | undefined]

/** After the name in brackets: state, parent, group, session, terminal, the terminal's foreground group. */
const groupsOfProc = (): Groups => {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [fields[2], fields[5]]
}

const groupsOfPs = (spawnSync: Spawn): Groups => {
  const args = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]
  const [own, foreground] = spawnSync('ps', args, { encoding: 'utf8', timeout: TIMEOUT_MS })
    .stdout.trim()
    .split(/\s+/)
  return [own, foreground]
}
