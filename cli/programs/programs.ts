import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { makePrivateFolder } from '../profile/paths.ts'
import { isRecord } from '../profile/state-files.ts'
import type { ProgramClient } from './clients.ts'
import { Proposals } from './proposals.ts'

/** The programs that are connected to an agent, and what they propose. */
export class Programs {
  readonly proposals: Proposals
  readonly #connections = new Map<string, Set<AbortController>>()

  /** @param stateFolder - the state folder of the profile */
  constructor(stateFolder: string) {
    this.proposals = new Proposals(stateFolder)
  }

  /** The number of all connections. */
  get connectionCount(): number {
    return [...this.#connections.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** The number of connections of a client. */
  connectionsOf({ id }: Pick<ProgramClient, 'id'>): number {
    return this.#connections.get(id)?.size ?? 0
  }

  /** Notes a connection. @returns the signal that ends it, and a function to call when it has ended */
  connect({ id }: ProgramClient): { readonly signal: AbortSignal; leave(): void } {
    const controller = new AbortController()
    const connections = this.#connections.get(id) ?? new Set()
    this.#connections.set(id, connections.add(controller))
    return {
      signal: controller.signal,
      leave: () => {
        connections.delete(controller)
        if (connections.size === 0) this.#connections.delete(id)
      }
    }
  }

  /** Ends the connections and proposals of a client that was revoked. @returns the number of proposals that waited */
  dismiss({ id }: ProgramClient): number {
    const error = new CliError('CLIENT_REFUSED', 'The client was revoked')
    for (const controller of this.#connections.get(id) ?? []) controller.abort(error)
    return this.proposals.refuseAll(id, 'CLIENT_REFUSED')
  }
}

/** One line of the record of what programs did. It has no text from outside. */
export interface ProgramEvent {
  /** ISO time. */
  readonly time: string
  /** The name of the client. */
  readonly client: string
  /** `connect`, `tools/call`, or what became of a proposal. */
  readonly event: 'call' | 'connect' | 'proposal'
  readonly tool?: string
  readonly proposal?: string
  /** `ok`, the code of a failure, or the state of a proposal. */
  readonly decision: string
}

const FILE = 'programs.log'
/** Twice this is kept, in bytes. */
const MAX_BYTES = 1_000_000

/** The record of what programs did on a device: a private file of lines, and the file before it. */
export class ProgramLog {
  readonly #folder: string

  /** @param stateFolder - the state folder of the device */
  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'clients')
  }

  /** Adds a line. A full disk keeps no program from reading, and no person from refusing it. */
  add(event: Omit<ProgramEvent, 'time'>): void {
    const path = join(this.#folder, FILE)
    try {
      makePrivateFolder(this.#folder)
      const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
      if (size > MAX_BYTES) renameSync(path, `${path}.old`)
      const line = { time: new Date().toISOString(), ...event }
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch {}
  }

  /** The last lines, oldest first. @param client - only those of a client of this name */
  read(count: number, client?: string): readonly ProgramEvent[] {
    const lines = [`${FILE}.old`, FILE].flatMap(name => linesOf(join(this.#folder, name)))
    const events = lines.flatMap(line => {
      const event = readEvent(line)
      return event === undefined || (client !== undefined && event.client !== client) ? [] : [event]
    })
    return events.slice(-count)
  }
}

const linesOf = (path: string): readonly string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** A line that a crash has cut off is left out. */
const readEvent = (line: string): ProgramEvent | undefined => {
  try {
    const value = parseJsonText(line)
    if (!isRecord(value)) return undefined
    const isSound = ['time', 'client', 'event', 'decision'].every(name => typeof value[name] === 'string')
    return isSound ? (value as unknown as ProgramEvent) : undefined
  } catch {
    return undefined
  }
}
