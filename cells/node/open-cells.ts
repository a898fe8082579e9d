import { createHash } from 'node:crypto'
import type { Clock, EngineLog } from '../../kernel/plugin-api.ts'
import type { CellTrace } from '../cell-call.ts'
import { CellHosts } from '../cell-hosts.ts'
import { type CellSet, type Digest, makeCells } from '../make-cells.ts'
import type { CellFault } from '../platform.ts'
import { type HostLimits, HostProcess } from './host-process.ts'

/** The bounds of contained plugins. */
export interface CellLimits extends HostLimits {
  /** Milliseconds that a cell may run without a pause; a currency gets six times that. */
  readonly busyMs: number
}

/** Options of {@link openCells}. */
export interface CellsOptions {
  readonly log: EngineLog
  /** Called when a cell dies, runs again, or stays stopped. */
  onFault(fault: CellFault): void
  /**
   * Called with each call into a cell that has ended; costs nothing if left out. It is read at each call: a getter may give
   * none while nothing watches.
   */
  readonly onCall?: ((trace: CellTrace) => void) | undefined
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
export const openCells = (options: CellsOptions): Cells => {
  const { log, onFault, limits } = options
  const bounds = { ...LIMITS, ...limits }
  const platform = new CellHosts({
    ...{ clock: nodeClock, busyMs: bounds.busyMs },
    open: handlers => new HostProcess(bounds, handlers)
  })
  return {
    ...makeCells({
      ...{ platform, digest, log, onFault },
      get onCall() {
        return options.onCall
      }
    }),
    get processes() {
      return [...platform.cells].map(([host, { size }]) => ({ pid: host.pid, cells: size }))
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

/** The time of this process, also where the kernel runs on the clock of a fake world. */
const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, task) => {
    const timer = setTimeout(task, milliseconds).unref()
    return () => clearTimeout(timer)
  },
  turn: () => new Promise(resolve => setImmediate(resolve))
}
