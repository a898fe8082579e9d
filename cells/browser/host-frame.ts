/// <reference lib="dom" />
import type { CellHost, HostedCell, HostHandlers } from '../cell-hosts.ts'
import type { EndReason } from '../platform.ts'

/** The file of the frame that holds cells: its address, or its text for a page without a policy of its own. */
export type CellFrame = string | { readonly html: string }

/** The first message to a worker. */
export interface ThreadStart {
  /** Its line to the page. */
  readonly line: MessagePort
  /** The address of the plugin's code. */
  readonly script: string
  /** The first message for the realm. */
  readonly open: string
  readonly maxUnreadLength: number
  readonly maxUnreadMessages: number
}

/** A message to the frame. */
export type ToFrame =
  | { readonly type: 'ping' }
  | { readonly type: 'end'; readonly id: number }
  | (Omit<ThreadStart, 'script'> & { readonly type: 'start'; readonly id: number; readonly code: string })

/** A message of the frame. */
export type FromFrame = { readonly type: 'pong' | 'ready' } | { readonly type: 'failed'; readonly id: number }

interface FramedCell {
  readonly line: MessagePort
  readonly maxBusyMs: number
  /** Milliseconds that it has run without a pause, as far as is known; undefined until its plugin is loaded. */
  busyMs: number | undefined
  /** When it was last asked to answer, and did. */
  pingedAt: number | undefined
  answeredAt: number
  /** Milliseconds that its tasks took in all. */
  totalMs: number
  isIdle: boolean
}

/**
 * A sandboxed frame of the page that holds cells, each a worker: their origin is none, and the policy of the frame lets
 * nothing out. Messages go straight between page and worker. A worker that does not pause is ended by the frame.
 */
export class HostFrame implements CellHost {
  readonly #handlers: HostHandlers
  readonly #element: HTMLIFrameElement
  readonly #port: MessagePort
  readonly #cells = new Map<number, FramedCell>()
  #nextCell = 1
  #isReady = false
  #isDead = false
  #silentMs = 0
  #tickedAt: number = performance.now()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param onRefused - called when the page does not show the frame */
  constructor(frame: CellFrame, handlers: HostHandlers, onRefused: () => void) {
    this.#handlers = handlers
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#port.addEventListener('message', ({ data }: MessageEvent<FromFrame>) => this.#take(data))
    // Browsers that know it report at once that the process of the frame has died.
    this.#port.addEventListener('close', () => this.#died('died'))
    this.#port.start()
    const element = document.createElement('iframe')
    element.sandbox.add('allow-scripts')
    element.hidden = true
    element.referrerPolicy = 'no-referrer'
    if (typeof frame === 'string') element.src = frame
    else element.srcdoc = frame.html
    // Its origin is none, so that there is no other to name.
    element.addEventListener('load', () => element.contentWindow?.postMessage(null, '*', [port2]), {
      once: true
    })
    this.#element = element
    document.documentElement.append(element)
    this.#watch(onRefused)
  }

  start({ code, name, open, limits }: HostedCell): number {
    const id = this.#nextCell++
    const { port1: line, port2 } = new MessageChannel()
    const { maxBusyMs, maxUnreadLength, maxUnreadMessages } = limits
    this.#cells.set(id, {
      ...{ line, maxBusyMs, busyMs: undefined, pingedAt: undefined },
      ...{ answeredAt: 0, totalMs: 0, isIdle: true }
    })
    line.addEventListener('message', ({ data }: MessageEvent<unknown>) => this.#receive(id, data))
    line.start()
    const start: ToFrame = {
      ...{ type: 'start', id, open, maxUnreadLength, maxUnreadMessages },
      // Errors name the plugin in place of an address.
      ...{ code: `${code}\n//# sourceURL=${name}`, line: port2 }
    }
    this.#port.postMessage(start, [port2])
    // A page starts all its workers at once.
    queueMicrotask(() => this.#handlers.onBegin(id))
    return id
  }

  send(cell: number, text: string): void {
    this.#cells.get(cell)?.line.postMessage(text)
  }

  end(cell: number): void {
    this.#cells.get(cell)?.line.close()
    if (this.#cells.delete(cell)) this.#post({ type: 'end', id: cell })
  }

  hold(): void {}

  close(): void {
    this.#isDead = true
    clearTimeout(this.#timer)
    for (const { line } of this.#cells.values()) line.close()
    this.#cells.clear()
    this.#port.close()
    this.#element.remove()
  }

  #post(message: ToFrame): void {
    if (!this.#isDead) this.#port.postMessage(message)
  }

  #take(message: FromFrame): void {
    if (this.#isDead) return
    this.#silentMs = 0
    if (message.type === 'ready') this.#isReady = true
    else if (message.type === 'failed') this.#endCell(message.id, 'error')
  }

  #receive(id: number, data: unknown): void {
    const cell = this.#cells.get(id)
    if (this.#isDead || cell === undefined) return
    if (typeof data === 'string') {
      cell.line.postMessage(data.length)
      this.#handlers.onText(id, data)
    } else if (typeof data === 'number') this.#answered(cell, data)
    else this.#endCell(id, 'flood')
  }

  #answered(cell: FramedCell, totalMs: number): void {
    const now = performance.now()
    cell.isIdle = totalMs - cell.totalMs < 0.98 * (now - cell.answeredAt)
    if (cell.isIdle || cell.busyMs === undefined) cell.busyMs = 0
    cell.totalMs = totalMs
    cell.answeredAt = now
    cell.pingedAt = undefined
  }

  #endCell(id: number, reason: EndReason): void {
    if (!this.#cells.has(id)) return
    this.end(id)
    this.#handlers.onCellEnd(id, reason)
  }

  /** Time counts only as far as this page ran, too: one that was asleep blames nobody. */
  #watch(onRefused: () => void): void {
    this.#timer = setTimeout(() => {
      const now = performance.now()
      const passedMs = Math.min(now - this.#tickedAt, 2 * PING_MS)
      this.#tickedAt = now
      this.#silentMs += passedMs
      if (this.#silentMs > READY_MS) {
        if (!this.#isReady) onRefused()
        this.#died(this.#isReady ? 'died' : 'refused')
        return
      }
      this.#post({ type: 'ping' })
      for (const [id, cell] of this.#cells) this.#watchCell(id, cell, passedMs)
      if (!this.#isDead) this.#watch(onRefused)
    }, PING_MS)
  }

  #watchCell(id: number, cell: FramedCell, passedMs: number): void {
    if (cell.busyMs === undefined) return
    if (cell.pingedAt !== undefined || !cell.isIdle) cell.busyMs += passedMs
    if (cell.busyMs >= cell.maxBusyMs) this.#endCell(id, 'busy')
    else if (cell.pingedAt === undefined) {
      cell.pingedAt = performance.now()
      cell.line.postMessage(null)
    }
  }

  #died(reason: EndReason): void {
    if (this.#isDead) return
    const running = [...this.#cells].filter(([, { pingedAt, isIdle }]) => pingedAt !== undefined || !isIdle)
    this.close()
    this.#handlers.onDeath({ reason, running: running.map(([id]) => id), isForeign: false })
  }
}

const PING_MS = 250
const READY_MS = 10_000
