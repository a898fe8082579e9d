import type { Clock } from '../kernel/plugin-api.ts'
import { LOAD_MS } from './make-cells.ts'
import type { CellPlatform, CellThread, EndReason, ThreadEnd, ThreadRequest } from './platform.ts'

/** The limits of one cell. */
export interface ThreadLimits {
  /** Milliseconds that the bundle may run while it is loaded. */
  readonly loadMs: number
  /** Milliseconds that the thread may run without a pause. */
  readonly maxBusyMs: number
  /** Characters and messages that may be on their way out at once. */
  readonly maxUnreadLength: number
  readonly maxUnreadMessages: number
}

/** A cell as its host starts it. */
export interface HostedCell extends Pick<ThreadRequest, 'code' | 'name' | 'open'> {
  readonly limits: ThreadLimits
}

/** What holds the threads of cells and may die with all of them: a process, or a frame of a page. */
export interface CellHost {
  /** Starts a cell in it and gives its number. */
  start(cell: HostedCell): number
  send(cell: number, text: string): void
  end(cell: number): void
  /** Keeps this process alive while a cell works for it, or lets it end. */
  hold(cell: number, isHeld: boolean): void
  close(): void
}

/** The end of a host, and whose fault it was. */
export interface HostDeath {
  readonly reason: EndReason
  /** The cells that ran code of their plugin at that moment; if none did, those that had just done so. */
  readonly running: readonly number[]
  /** True for one that was killed from outside, whatever its cells did at that moment. */
  readonly isForeign: boolean
}

/** The reports of a host. */
export interface HostHandlers {
  /** A cell starts; until then it waits for others. */
  onBegin(cell: number): void
  onText(cell: number, text: string): void
  onCellEnd(cell: number, reason: EndReason): void
  onDeath(death: HostDeath): void
}

/** Options of {@link CellHosts}. */
export interface CellHostsOptions<Host extends CellHost> {
  readonly clock: Clock
  /** Milliseconds that a cell may run without a pause; a currency gets six times that. */
  readonly busyMs: number
  open(handlers: HostHandlers): Host
}

/** Hosts with threads: one for all cells that may share one, and one for each that may not. */
export class CellHosts<Host extends CellHost> implements CellPlatform {
  readonly clock: Clock
  readonly #options: CellHostsOptions<Host>
  readonly #hosts = new Map<Host, Map<number, ThreadRequest>>()
  readonly #deaths: number[] = []
  #shared: Host | undefined

  constructor(options: CellHostsOptions<Host>) {
    this.#options = options
    this.clock = options.clock
  }

  /** The cells of each host that runs. */
  get cells(): ReadonlyMap<Host, { readonly size: number }> {
    return this.#hosts
  }

  start(request: ThreadRequest): CellThread {
    const host = this.#hostFor(request)
    const { code, name, open, busyFactor } = request
    const maxBusyMs = this.#options.busyMs * busyFactor
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

  #hostFor({ isAlone }: ThreadRequest): Host {
    const { size = 0 } = (this.#shared && this.#hosts.get(this.#shared)) ?? {}
    if (!isAlone && this.#shared !== undefined && size < MAX_CELLS) return this.#shared
    const cells = new Map<number, ThreadRequest>()
    const host = this.#options.open({
      onBegin: id => cells.get(id)?.onBegin?.(),
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

  #closeEmpty(host: Host): void {
    if (this.#hosts.get(host)?.size !== 0) return
    this.#hosts.delete(host)
    if (this.#shared === host) this.#shared = undefined
    host.close()
  }
}

/** Whose fault the death of a process is, to one of its cells. */
const endOf = (
  id: number,
  { reason, running, isForeign }: HostDeath,
  { isCommon, isOnly }: { readonly isCommon: boolean; readonly isOnly: boolean }
): ThreadEnd => {
  if (isOnly || (!isForeign && running.length === 1 && running[0] === id)) return { reason, blame: 'this' }
  return { reason, blame: isCommon || running.includes(id) ? 'unclear' : 'neighbour' }
}

const MAX_CELLS = 40
