import { createHash } from 'node:crypto'
import type { Clock, EngineLog } from '../../kernel/plugin-api.ts'
import type { CellTrace } from '../cell-call.ts'
import { type CellSet, type Digest, LOAD_MS, makeCells } from '../make-cells.ts'
import type { CellFault, CellPlatform, CellThread, ThreadEnd, ThreadRequest } from '../platform.ts'
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
  /** Called with each call into a cell that has ended; costs nothing if left out. */
  readonly onCall?: (trace: CellTrace) => void
  readonly limits?: Partial<CellLimits>
}

/** The cells of one kernel. */
export interface Cells extends CellSet {
  /** The processes that hold cells, for figures. */
  readonly processes: readonly { readonly pid: number | undefined; readonly cells: number }[]
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
export const openCells = ({ log, onFault, onCall, limits }: CellsOptions): Cells => {
  const platform = new NodePlatform({ ...LIMITS, ...limits })
  return {
    ...makeCells({ platform, digest, log, onFault, onCall }),
    get processes() {
      return platform.processes
    }
  }
}

const digest: Digest = text => {
  const bytes = createHash('sha512').update(text, 'utf8').digest()
  return { hex: bytes.toString('hex'), base64: bytes.toString('base64') }
}

const LIMITS: CellLimits = {
  memory: 256 * 2 ** 20,
  memoryPerCell: 32 * 2 ** 20,
  heapMb: 32,
  busyMs: 5000
}

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
