import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../errors/cli-error.ts'

/** How clients reach a running agent. */
export interface AgentRecord {
  readonly pid: number
  /** A Unix socket, or on Windows a named pipe. */
  readonly socket: string
  /** Clients present it; each agent has another one. */
  readonly token: string
}

/** The folder of a profile's agent, below its state folder. Only its owner can use it (mode 0700). */
export const agentFolder = (stateFolder: string): string => join(stateFolder, 'agent')

const RECORD = 'agent.json'

/**
 * Checks that no other user can use a folder: it is a folder and no link, belongs to this user, and gives others no
 * rights.
 *
 * @returns the rest of a sentence about the folder; undefined for a private one, and for one that does not exist
 */
export const folderProblem = (folder: string): string | undefined => {
  const facts = lstatSync(folder, { throwIfNoEntry: false })
  if (facts === undefined) return undefined
  if (!facts.isDirectory()) return 'is no folder'
  if (process.platform === 'win32') return undefined
  if (facts.uid !== process.getuid?.()) return 'belongs to another user'
  return (facts.mode & 0o077) === 0 ? undefined : 'can be used by others'
}

/** Makes a folder that is private by {@link folderProblem}. @throws CliError AGENT_FAILED with its sentence */
export const makeAgentFolder = (folder: string): void => {
  const problem = creationProblem(folder) ?? folderProblem(folder)
  if (problem !== undefined) throw new CliError('AGENT_FAILED', `The folder ${folder} ${problem}`)
}

const creationProblem = (folder: string): string | undefined => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return undefined
  } catch (error) {
    return `cannot be made (${codeOf(error)})`
  }
}

/** The name of a failure of the system, such as ENOSPC; errors of the system name files, and these are known already. */
export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? error)

/** Saves the record of a new agent; only its owner can read it (mode 0600). */
export const writeRecord = (stateFolder: string, record: AgentRecord): void => {
  const path = join(agentFolder(stateFolder), RECORD)
  // A file that is there may have other rights.
  rmSync(path, { force: true })
  writeFileSync(path, JSON.stringify(record), { mode: 0o600, flag: 'wx' })
}

/** Removes the record of an agent that ends. */
export const removeRecord = (stateFolder: string): void => {
  rmSync(join(agentFolder(stateFolder), RECORD), { force: true })
}

/** Reads the record of the running agent; undefined if there is none, or a damaged one. */
export const readRecord = (stateFolder: string): AgentRecord | undefined => {
  try {
    const text = readFileSync(join(agentFolder(stateFolder), RECORD), 'utf8')
    const { pid, socket, token } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const isSound = typeof pid === 'number' && typeof socket === 'string' && typeof token === 'string'
    return isSound ? { pid, socket, token } : undefined
  } catch {
    return undefined
  }
}
