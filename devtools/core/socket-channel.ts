import type { Channel, ClientMessage, HostMessage } from './protocol.ts'
import { SOCKET_PROTOCOL, tokenProtocolOf } from './socket-protocol.ts'

/** What is needed of a WebSocket: that of a browser has it, and that of the package `ws`. */
export interface PanelSocket {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

/** Where a kernel in another process listens. */
export interface SocketOptions {
  /** `ws://127.0.0.1:4455/socket` */
  readonly url: string
  /** As the address of the page brought it, base64url. */
  readonly token: string
  makeWebSocket(url: string, protocols: string[]): PanelSocket
  /** Calls back after that many milliseconds, unless the returned function is called first; `setTimeout` if left out. */
  readonly later?: (milliseconds: number, then: () => void) => () => void
}

/** The longest pause between two attempts, in milliseconds. */
export const MAX_PAUSE_MS = 10_000

/**
 * Joins a panel to a kernel in another process, and does so again whenever the socket is lost.
 *
 * Each loss is told to `onClose`. Attempts follow after 0.25 s, then twice as long each time, up to
 * {@link MAX_PAUSE_MS}. A new socket asks for what is newer than the last sequence number that was seen without a gap;
 * of another kernel than before it asks for everything, and its batches count from its snapshot on.
 *
 * A call is never kept for later, since what a person approved is to happen now or not at all: without a socket it is
 * refused with DISCONNECTED, and so are those that were under way when it was lost.
 */
export const connectSocket = (options: SocketOptions): Channel<ClientMessage, HostMessage> => {
  const link = new SocketLink(options)
  link.open()
  return link
}

const FIRST_PAUSE_MS = 250

type Subscribe = Extract<ClientMessage, { type: 'subscribe' }>

class SocketLink implements Channel<ClientMessage, HostMessage> {
  readonly #options: SocketOptions
  readonly #onMessage: ((message: HostMessage) => void)[] = []
  readonly #onClose: (() => void)[] = []
  readonly #underWay = new Set<number>()
  /** The present one, once it is open. */
  #socket: PanelSocket | undefined
  /** Ends the attempt or the pause that goes on. */
  #stop = (): void => {}
  #pause = FIRST_PAUSE_MS
  #isOver = false
  #subscribe: Subscribe | undefined
  #kernelId: string | undefined
  #seq: number | undefined
  /** Batches are of no use before the snapshot of a kernel that is not the one before. */
  #needsSnapshot = false

  constructor(options: SocketOptions) {
    this.#options = options
  }

  send(message: ClientMessage): void {
    if (message.type === 'subscribe') this.#subscribe = message
    else if (this.#socket === undefined) queueMicrotask(() => this.#refuse(message.id, NOT_DONE))
    else this.#underWay.add(message.id)
    this.#socket?.send(JSON.stringify(message))
  }

  onMessage(listener: (message: HostMessage) => void): void {
    this.#onMessage.push(listener)
  }

  onClose(listener: () => void): void {
    this.#onClose.push(listener)
  }

  close(): void {
    this.#isOver = true
    this.#socket = undefined
    this.#stop()
  }

  /** Begins an attempt. */
  open(): void {
    const { url, token, makeWebSocket } = this.#options
    const socket = makeWebSocket(url, [SOCKET_PROTOCOL, tokenProtocolOf(token)])
    this.#stop = () => socket.close()
    socket.addEventListener('open', () => this.#opened(socket))
    socket.addEventListener('message', ({ data }) => {
      if (!this.#isOver) this.#heard(JSON.parse(String(data)))
    })
    // What went wrong is told by `close`, which follows; browsers give no reason.
    socket.addEventListener('error', () => {})
    socket.addEventListener('close', () => this.#lost())
  }

  #opened(socket: PanelSocket): void {
    if (this.#isOver) return
    this.#socket = socket
    if (this.#subscribe === undefined) return
    const { sinceSeq: _old, ...everything } = this.#subscribe
    this.send(this.#seq === undefined ? everything : { ...everything, sinceSeq: this.#seq })
  }

  #heard(message: HostMessage): void {
    if (message.type === 'hello') this.#greeted(message.kernelId)
    if (message.type === 'result' || message.type === 'refused') this.#underWay.delete(message.id)
    if (message.type === 'batch') {
      if (this.#needsSnapshot) return
      if (message.fromSeq === this.#seq) this.#seq = message.seq
    }
    if (message.type === 'snapshot') {
      this.#needsSnapshot = false
      this.#seq = message.seq
    }
    this.#tell(message)
  }

  #greeted(kernelId: string): void {
    this.#pause = FIRST_PAUSE_MS
    const isOther = this.#kernelId !== undefined && this.#kernelId !== kernelId
    this.#kernelId = kernelId
    if (!isOther || this.#subscribe === undefined) return
    this.#seq = undefined
    this.#needsSnapshot = true
    this.send({ type: 'subscribe', version: this.#subscribe.version })
  }

  #lost(): void {
    if (this.#isOver) return
    this.#socket = undefined
    for (const id of this.#underWay) this.#refuse(id, NOT_KNOWN)
    this.#underWay.clear()
    for (const listener of this.#onClose) listener()
    const { later = afterTime } = this.#options
    this.#stop = later(this.#pause, () => this.open())
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE_MS)
  }

  #refuse(id: number, message: string): void {
    this.#tell({ type: 'refused', id, error: { code: 'DISCONNECTED', message } })
  }

  #tell(message: HostMessage): void {
    for (const listener of this.#onMessage) listener(message)
  }
}

const NOT_DONE = 'The wallet is not connected, so nothing was done'
const NOT_KNOWN = 'The connection was lost; whether it was done shows when it is back'

const afterTime = (milliseconds: number, then: () => void): (() => void) => {
  const timer = setTimeout(then, milliseconds)
  return () => clearTimeout(timer)
}
