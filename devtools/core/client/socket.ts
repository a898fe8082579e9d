import { tryJsonText } from '../../../kernel/index.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../protocol/protocol.ts'
import { SOCKET_PROTOCOL, tokenProtocolOf } from '../protocol/server-paths.ts'

/** The part of a WebSocket that is used here; browsers and the package `ws` both have it. */
export interface PanelSocket {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

/** The address of a kernel in another process. */
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
 * Each loss calls `onClose`, also that of a socket that never opened. Attempts follow after 0.25 s, then twice as long
 * each time, up to {@link MAX_PAUSE_MS}. What the panel has missed it asks for itself, by sequence number, when it is
 * greeted again. It is for good where another kernel answers: the token was of the first one alone, so whoever that is took
 * its place, and would receive the next password.
 *
 * Nothing is kept for later: what is sent without a socket is dropped, since what a person approved is to happen now or
 * not at all.
 */
export const connectSocket = (options: SocketOptions): PanelChannel<ClientMessage, HostMessage> => {
  const link = new ReconnectingSocket(options)
  link.open()
  return link
}

/** One message may hold the tables of a kernel with hundreds of wallets, and what it logged. */
const MESSAGE_LIMITS = { maxValues: 8_000_000 }
const FIRST_PAUSE_MS = 250

class ReconnectingSocket implements PanelChannel<ClientMessage, HostMessage> {
  readonly #options: SocketOptions
  readonly #onMessage: ((message: HostMessage) => void)[] = []
  readonly #onClose: (() => void)[] = []
  /** The present one, once it is open. */
  #socket: PanelSocket | undefined
  /** Ends the attempt, the socket or the pause that goes on. */
  #stop = (): void => {}
  #pause = FIRST_PAUSE_MS
  #kernelId: string | undefined
  #isOver = false

  constructor(options: SocketOptions) {
    this.#options = options
  }

  send(message: ClientMessage): void {
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
    socket.addEventListener('open', () => {
      if (!this.#isOver) this.#socket = socket
    })
    socket.addEventListener('message', ({ data }) => {
      const message = tryJsonText(String(data), MESSAGE_LIMITS)
      if (message !== undefined) this.#handle(message as HostMessage)
    })
    // `close` follows and handles the failure; browsers give no reason.
    socket.addEventListener('error', () => {})
    socket.addEventListener('close', () => this.#reconnect())
  }

  #handle(message: HostMessage): void {
    if (this.#isOver) return
    // Not when it opens or greets: a server that is full, or cannot send its tables, lets us in and sends us away.
    if (message.type !== 'hello') this.#pause = FIRST_PAUSE_MS
    else if (message.kernelId === (this.#kernelId ?? message.kernelId)) this.#kernelId = message.kernelId
    else {
      this.#giveUp()
      return
    }
    for (const listener of this.#onMessage) listener(message)
  }

  #giveUp(): void {
    this.close()
    for (const listener of this.#onClose) listener()
  }

  #reconnect(): void {
    if (this.#isOver) return
    this.#socket = undefined
    const { later = afterTime } = this.#options
    this.#stop = later(this.#pause, () => this.open())
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE_MS)
    for (const listener of this.#onClose) listener()
  }
}

const afterTime = (milliseconds: number, then: () => void): (() => void) => {
  const timer = setTimeout(then, milliseconds)
  return () => clearTimeout(timer)
}
