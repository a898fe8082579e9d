import { createHash } from 'node:crypto'
import {
  type Clock,
  type EngineLog,
  type JsonObject,
  type Plugin,
  type PluginId,
  WalletError
} from '../../kernel/plugin-api.ts'
import { Cell } from '../cell.ts'
import { containedPlugin, shapeOf } from '../contained-plugin.ts'
import type {
  CellFault,
  CellGrants,
  CellPlatform,
  CellThread,
  ThreadEnd,
  ThreadRequest
} from '../platform.ts'
import { decoded, type FromCell, findImport, readMessage } from '../protocol.ts'
import { type HostDeath, type HostLimits, HostProcess } from './host-process.ts'

/** The bounds of contained plugins. */
export interface CellLimits extends HostLimits {
  /** Milliseconds that a cell may run without a pause; a currency gets six times that. */
  readonly busyMs: number
}

/** What {@link openCells} is given. */
export interface CellsOptions {
  readonly log: EngineLog
  /** Called when a cell dies, runs again, or stays stopped. */
  onFault(fault: CellFault): void
  readonly limits?: Partial<CellLimits>
}

/** One plugin to contain. */
export interface ContainedPlugin {
  readonly id: PluginId
  /** One script without imports, which calls `definePlugin`, or leaves its exports in the global `__plugin`. */
  readonly code: string
  /** The SHA-512 of the code as it was when it was added: hex, base64, or as `sha512-…`. */
  readonly sha512: string
  /** As the user has seen it. */
  readonly asks: CellGrants
  /** What the application gives this plugin: the same as in `pluginOptions` of the kernel. */
  readonly options?: JsonObject
}

/** What a bundle says of itself before it is trusted with anything. */
export interface BundleHead {
  readonly id: string
  readonly kind: string
  /** The hosts that it wants to fetch from. */
  readonly hosts: readonly string[]
}

/** The cells of one kernel. */
export interface Cells {
  /**
   * Starts a cell, loads the plugin in it and applies it there.
   *
   * @returns a plugin for `createKernel`, whose every function calls the cell
   * @throws PLUGIN_INVALID for code that is not the one that was added or could import something, for a kind that cannot be
   *   contained, or a plugin of another id or kind; PLUGIN_FAILED if it does not load, or what it throws
   */
  plugin(contained: ContainedPlugin): Promise<Plugin>
  /**
   * Reads what a plugin says of itself, which its owner has not agreed to yet: it is evaluated in a cell, and not applied.
   *
   * @throws PLUGIN_INVALID as {@link plugin}, and for hosts that are none; PLUGIN_FAILED if its cell ends, or what it throws
   */
  inspect(code: string): Promise<BundleHead>
  /** The processes that hold cells, for figures. */
  readonly processes: readonly { readonly pid: number | undefined; readonly cells: number }[]
  /** Ends every cell. Calls in flight fail. */
  close(): void
}

/**
 * Opens a place for contained plugins: those of others run without file system, network, environment or process, each in a
 * realm and thread of its own, within one process for all of them and one of its own for a currency, which gets keys.
 *
 * @example
 * ```ts
 * const cells = openCells({ log, onFault: ({ pluginId, reason }) => log.warn(`${pluginId}: ${reason}`) })
 * const asks = { kind: 'rates', hosts: ['rates.example.org'], keys: false } as const
 * const plugin = await cells.plugin({ id: 'corner-rates', code, sha512, asks })
 * ```
 */
export const openCells = ({ log, onFault, limits }: CellsOptions): Cells => {
  const platform = new NodePlatform({ ...LIMITS, ...limits })
  const cells = new Set<Cell>()
  return {
    async plugin({ id, code, sha512, asks, options = {} }) {
      checkCode(id, code, sha512)
      const { hooks, parts } = shapeOf(id, asks)
      const cell = new Cell({
        ...{ pluginId: id, code, grants: asks, options, hooks, parts, platform, log, onFault }
      })
      cells.add(cell)
      const head = await cell.open()
      return containedPlugin({ cell, head, grants: asks, options, log })
    },
    inspect: code => inspect(platform, code),
    get processes() {
      return platform.processes
    },
    close() {
      for (const cell of cells) cell.close()
      platform.close()
    }
  }
}

const inspect = (platform: NodePlatform, code: string): ReturnType<Cells['inspect']> =>
  new Promise((resolve, reject) => {
    const pluginId = 'plugin'
    checkCode(pluginId, code)
    const fail = (reason: string): void =>
      reject(new WalletError('PLUGIN_FAILED', { pluginId, hook: 'load', reason }))
    const end = (settle: () => void): void => {
      cancel()
      thread.kill()
      settle()
    }
    const cancel = platform.clock.after(LOAD_MS, () => end(() => fail('it does not say what it is')))
    const open = { type: 'open', kind: null, options: {}, now: Date.now(), monotonic: performance.now() }
    const thread = platform.start({
      ...{ code, name: 'plugin.js', open: JSON.stringify(open), isAlone: true, busyFactor: 1 },
      onEnd: ({ reason }) => end(() => fail(`its cell ended: ${reason}`)),
      onText: text =>
        end(() => {
          try {
            const message = readMessage(pluginId, text)
            if (message.type === 'unusable') reject(message.error)
            else if (message.type !== 'ready') fail('it sends before it is applied')
            else resolve(headOf(pluginId, message))
          } catch (error) {
            reject(error)
          }
        })
    })
    thread.hold(true)
  })

const headOf = (pluginId: PluginId, { found, fields }: Extract<FromCell, { type: 'ready' }>): BundleHead => {
  const hosts = decoded(fields.field('hosts')) ?? []
  const isHost = (host: unknown): boolean => typeof host === 'string' && HOST.test(host)
  if (!Array.isArray(hosts) || hosts.length > MAX_HOSTS || !hosts.every(isHost))
    throw new WalletError('PLUGIN_INVALID', {
      ...{ pluginId, field: 'hosts', found: 'something else' },
      expected: `a list of up to ${MAX_HOSTS} names of servers, such as rates.example.org`
    })
  return { id: found.field('id').text(), kind: found.field('kind').text(), hosts }
}

const MAX_HOSTS = 50
/** A name with or without a port, or with a scheme. */
const HOST = /^(?:(?:https?|wss?|tcp|tls):\/\/)?[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/

const LIMITS: CellLimits = {
  memory: 256 * 2 ** 20,
  memoryPerCell: 32 * 2 ** 20,
  heapMb: 32,
  busyMs: 5000
}

/** @throws PLUGIN_INVALID */
const checkCode = (pluginId: PluginId, code: string, sha512?: string): void => {
  const refuse = (found: string, expected: string): never => {
    throw new WalletError('PLUGIN_INVALID', { pluginId, field: 'code', found, expected })
  }
  if (code.length > MAX_CODE) refuse(`${code.length} characters`, `at most ${MAX_CODE}`)
  const digest = createHash('sha512').update(code, 'utf8').digest()
  const wanted = sha512?.replace(/^sha512-/, '')
  const isWanted = digest.toString('hex') === wanted?.toLowerCase() || digest.toString('base64') === wanted
  if (wanted !== undefined && !isWanted) refuse('another file', 'the file that was added')
  const at = findImport(code)
  if (at !== undefined) {
    const line = code.slice(0, at).split('\n').length
    refuse(`import in line ${line}`, 'one script without imports')
  }
}

const MAX_CODE = 3_000_000

/** Processes with threads: one for all cells that may share one, and one for each that may not. */
class NodePlatform implements CellPlatform {
  readonly clock: Clock = nodeClock
  readonly #limits: CellLimits
  readonly #hosts = new Map<HostProcess, Map<number, ThreadRequest>>()
  readonly #deaths: number[] = []
  #shared: HostProcess | undefined

  constructor(limits: CellLimits) {
    this.#limits = limits
  }

  get processes(): Cells['processes'] {
    return [...this.#hosts].map(([host, cells]) => ({ pid: host.pid, cells: cells.size }))
  }

  start(request: ThreadRequest): CellThread {
    const host = this.#hostFor(request)
    const { code, name, open, busyFactor } = request
    const maxBusyMs = this.#limits.busyMs * busyFactor
    const limits = { loadMs: LOAD_MS, maxBusyMs, maxUnreadLength: 8_000_000, maxUnreadMessages: 2000 }
    const id = host.start({ code, name, open, limits })
    this.#hosts.get(host)?.set(id, request)
    return {
      send: text => host.send(id, text),
      hold: isHeld => host.hold(id, isHeld),
      kill: () => {
        if (!this.#hosts.get(host)?.delete(id)) return
        host.end(id)
        this.#closeEmpty(host)
      }
    }
  }

  close(): void {
    for (const host of this.#hosts.keys()) host.close()
    this.#hosts.clear()
  }

  #hostFor({ isAlone }: ThreadRequest): HostProcess {
    const { size = 0 } = (this.#shared && this.#hosts.get(this.#shared)) ?? {}
    if (!isAlone && this.#shared !== undefined && size < MAX_CELLS) return this.#shared
    const cells = new Map<number, ThreadRequest>()
    const host: HostProcess = new HostProcess(this.#limits, {
      onText: (id, text) => cells.get(id)?.onText(text),
      onCellEnd: (id, reason) => {
        const request = cells.get(id)
        if (!cells.delete(id)) return
        this.#closeEmpty(host)
        request?.onEnd({ reason, blame: 'this' })
      },
      onDeath: death => {
        this.#hosts.delete(host)
        if (this.#shared === host) this.#shared = undefined
        const isCommon = this.#isCommon(death)
        for (const [id, { onEnd }] of cells) onEnd(endOf(id, death, { isCommon, isOnly: cells.size === 1 }))
      }
    })
    this.#hosts.set(host, cells)
    if (!isAlone) this.#shared = host
    return host
  }

  /** True for the third death in ten minutes that no cell explains: then each gets a process of its own. */
  #isCommon({ running }: HostDeath): boolean {
    if (running.length > 0) return false
    const now = this.clock.monotonic()
    this.#deaths.push(now)
    return this.#deaths.filter(at => now - at < 600_000).length >= 3
  }

  #closeEmpty(host: HostProcess): void {
    if (this.#hosts.get(host)?.size !== 0) return
    this.#hosts.delete(host)
    if (this.#shared === host) this.#shared = undefined
    host.close()
  }
}

/** Whose fault the death of a process is, to one of its cells. */
const endOf = (
  id: number,
  { reason, running }: HostDeath,
  { isCommon, isOnly }: { readonly isCommon: boolean; readonly isOnly: boolean }
): ThreadEnd => {
  if (isOnly || (running.length === 1 && running[0] === id)) return { reason, blame: 'this' }
  return { reason, blame: isCommon || running.includes(id) ? 'unclear' : 'neighbour' }
}

const MAX_CELLS = 40
const LOAD_MS = 15_000

/** The time of this process: the life of cells is no matter of a world's clock. */
const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, task) => {
    const timer = setTimeout(task, milliseconds).unref()
    return () => clearTimeout(timer)
  },
  turn: () => new Promise(resolve => setImmediate(resolve))
}
