/// <reference lib="dom" />
import { sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { base64 } from '@scure/base'
import type { Clock, EngineLog } from '../../kernel/plugin-api.ts'
import type { CellTrace } from '../cell-call.ts'
import { CellHosts } from '../cell-hosts.ts'
import { type CellSet, type Digest, makeCells } from '../make-cells.ts'
import type { CellFault } from '../platform.ts'
import { type CellFrame, HostFrame } from './host-frame.ts'

/** Options of {@link openPageCells}. */
export interface PageCellsOptions {
  /**
   * The address of `holdfast/browser/cell-frame.html`, which the application serves without its own policy, or the text of
   * that file for a page that has no policy.
   */
  readonly frame: CellFrame
  readonly log: EngineLog
  /** Called when a cell dies, runs again, or stays stopped. */
  onFault(fault: CellFault): void
  /** Called with each call into a cell that has ended; costs nothing if left out. */
  readonly onCall?: (trace: CellTrace) => void
  /** Milliseconds that a cell may run without a pause, 5000 if it is left out; a currency gets six times that. */
  readonly busyMs?: number
}

/**
 * Opens a place for contained plugins in a web page: those of others run without network, storage or document, each in a
 * worker of a sandboxed frame without an origin, and a currency, which gets keys, in a frame of its own.
 *
 * A page cannot bound the memory of a worker.
 *
 * @example
 * ```ts
 * const cells = openPageCells({ frame: '/cell-frame.html', log, onFault: fault => showFault(fault) })
 * const asks = { kind: 'rates', hosts: ['rates.example.org'], keys: false } as const
 * const rates = await cells.plugin({ id: 'my-rates', code, sha512, asks })
 * const kernel = await createKernel({ ...options, plugins: [...plugins, rates] })
 * ```
 */
export const openPageCells = ({ frame, log, onFault, onCall, busyMs = 5000 }: PageCellsOptions): CellSet => {
  const onRefused = (): void =>
    log.error(
      'The frame of the cells does not start: the policy of the page must allow it by frame-src, and its file must come without that policy'
    )
  const platform = new CellHosts({
    ...{ clock: pageClock, busyMs },
    open: handlers => new HostFrame(frame, handlers, onRefused)
  })
  return makeCells({ platform, digest, log, onFault, onCall })
}

const digest: Digest = text => {
  const bytes = sha512(utf8ToBytes(text))
  return { hex: bytesToHex(bytes), base64: base64.encode(bytes) }
}

/** The time of this page, also where the kernel runs on the clock of a fake world. */
const pageClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, task) => {
    const timer = setTimeout(task, milliseconds)
    return () => clearTimeout(timer)
  },
  turn: () => new Promise(resolve => setTimeout(resolve))
}
