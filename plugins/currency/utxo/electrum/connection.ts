import {
  type AbortSignalLike,
  type Channel,
  type Clock,
  type Io,
  type Json,
  type JsonObject,
  patienceOf,
  type SigningOptions,
  type Txid,
  tryJsonText
} from '../../../../kernel/plugin-api.ts'
import type { BlockCursor, ScriptSource } from '../wallet/scripts.ts'
import {
  AbandonedRequests,
  type Batch,
  type BatchItem,
  isPayment,
  isTooMuch,
  MAX_BATCH,
  ServerHabits
} from './batches.ts'
import { type ElectrumServer, openChannel } from './open-channel.ts'

/** One request: a method of the Electrum protocol with its parameters. */
export interface ElectrumCall {
  readonly method: string
  readonly params: readonly Json[]
}

/** An unspent output of a script that a server names; what it is worth, its transaction says. `height`: 0 or less while unconfirmed. */
export interface UnspentItem {
  readonly txid: Txid
  readonly vout: number
  readonly height: number
}

/** An open connection to a server of any kind, which answers the requests of the Electrum protocol. */
export interface ChainConnection {
  readonly url: string
  readonly isOpen: boolean
  /**
   * Sends requests in one go; each promise settles by itself.
   *
   * @throws NotSent for a payment that has not left, and may go to another server; ElectrumRefusal, ElectrumFault
   */
  callMany(calls: readonly ElectrumCall[]): Promise<Json>[]
  /** The block below which the payments that it has shown stand; absent where a start costs no more without it. */
  readonly cursor?: BlockCursor | undefined
  /** The most scripts that are asked about in the first step of a scan, for a server that answers for few at a time. */
  readonly scriptsAtOnce?: number
  /** Reads everything again, also what wallets knew. */
  forgetHistory?(): void
  /**
   * Looks through all coins for those of some scripts, in their order, where the server has no index of scripts: minutes on a main
   * network. Absent where it has one.
   */
  searchCoins?(
    scripts: readonly Uint8Array[],
    options: SigningOptions
  ): Promise<readonly (readonly UnspentItem[])[]>
  /** Closes and rejects what is in flight. */
  close(error: Error): void
}

/** A server that the user has named. */
export interface ChainServer {
  readonly url: string
  /**
   * Connects.
   *
   * @param circuit - through a proxy, connections of other circuits share nothing with this one
   */
  open(io: Io, handlers: ConnectionHandlers, circuit: string | undefined): Promise<ChainConnection>
}

/** The calls of a connection to its owner; none after `onClose`. */
export interface ConnectionHandlers {
  readonly scripts?: ScriptSource | undefined
  /** Aborts if the connection is needed no more before it is open; the attempt then rejects at once and leaves no socket. */
  readonly signal?: AbortSignalLike
  /**
   * Returns true if a server that is busy for minutes is to be waited for; it is given up if left out. Called without a reason once it
   * answers again.
   */
  readonly onBusy?: (reason: string | undefined) => boolean
  onNotification(method: string, params: readonly Json[]): void
  onClose(error: Error): void
}

/**
 * One open connection to an Electrum server: JSON-RPC with many requests in flight, in batches where the server takes them. What is
 * asked for in one turn of the event loop leaves together. A server of which that is not known gets a batch of one ping with the first
 * requests; if it then closes, the connection ends with a {@link ServerLesson}.
 *
 * Bounded: a message of more than 16 MB, text that is no JSON, a reply to nothing, or silence while requests wait
 * closes it and rejects everything in flight.
 */
class ElectrumConnection implements ChainConnection {
  readonly url: string
  readonly #clock: Clock
  readonly #handlers: ConnectionHandlers
  readonly #isFramed: boolean
  /** How many times as long as directly an answer may take. */
  readonly #patience: number
  readonly #habits: ServerHabits
  readonly #queue: Request[] = []
  /** They leave at once, whatever else waits: one that left late would leave after its sender has given it up. */
  readonly #payments: Request[] = []
  readonly #sent = new Map<number, SentRequest>()
  readonly #abandoned: AbandonedRequests
  /** Of the batch of one ping; undefined unless one waits. */
  #probe: { readonly id: number; readonly cancel: () => void } | undefined
  #willFlush = false
  #channel: Channel | undefined
  #parts: string[] = []
  #partsLength = 0
  #nextId = 0
  #lastReceived = 0
  #cancelWatch: (() => void) | undefined
  #isClosed = false

  private constructor({ server, habits }: Target, io: Io, handlers: ConnectionHandlers) {
    this.url = server.url
    this.#habits = habits
    this.#abandoned = new AbandonedRequests(habits)
    this.#clock = io.clock
    this.#patience = patienceOf(io)
    this.#handlers = handlers
    this.#isFramed = 'tcp' in server
  }

  /**
   * Connects. Rejects if this platform has no such transport, the connection is needed no more, or the server is not there within
   * 10 s; three times that through a proxy, whose circuit the connection shares with others of the same name only.
   */
  static async open(io: Io, target: Target, handlers: ConnectionHandlers): Promise<ElectrumConnection> {
    const { server, circuit } = target
    const self = new ElectrumConnection(target, io, handlers)
    const received = {
      onText: (text: string): void => self.#receive(text),
      onClose: (error?: Error): void =>
        self.close(self.#learn() ?? error ?? new Error('The server closed the connection'))
    }
    const channel = await openChannel(io, server, { ...received, circuit, needed: handlers.signal })
    if (self.#isClosed) throw new Error('The server closed the connection')
    self.#channel = channel
    return self
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  callMany(calls: readonly ElectrumCall[]): Promise<Json>[] {
    const promises = calls.map(
      call =>
        new Promise<Json>((resolve, reject) => {
          const waiting = isPayment({ call }) ? this.#payments : this.#queue
          waiting.push({ call, most: MAX_BATCH, resolve, reject })
        })
    )
    if (this.#isClosed) this.#rejectAll(new Error('The connection is closed'))
    else this.#flushSoon()
    return promises
  }

  close(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelWatch?.()
    this.#endProbe()
    this.#parts = []
    this.#channel?.close()
    this.#rejectAll(error)
    this.#handlers.onClose(error)
  }

  #rejectAll(error: Error): void {
    const waiting = [...this.#sent.values(), ...this.#queue.splice(0)]
    const payments = this.#payments.splice(0)
    this.#abandoned.end()
    for (const { batch } of this.#sent.values()) this.#habits.release(batch)
    this.#sent.clear()
    for (const { reject } of waiting) reject(error)
    for (const { reject } of payments) reject(new NotSent(error))
  }

  #flushSoon(): void {
    if (this.#willFlush) return
    this.#willFlush = true
    void this.#clock.turn().then(() => {
      this.#willFlush = false
      if (!this.#isClosed) this.#flush()
    })
  }

  #flush(): void {
    const room = Math.max(0, MAX_IN_FLIGHT - this.#sent.size)
    const requests = [...this.#payments.splice(0), ...this.#queue.splice(0, room)]
    if (requests.length === 0) return
    if (this.#sent.size === 0) this.#lastReceived = this.#clock.monotonic()
    const messages = this.#habits.pack(requests).map(items => {
      const size = items.length
      const batch = { size, open: size > 1 ? size : 0, isAnswered: false }
      const texts = items.map(request => this.#note({ ...request, batch }))
      return texts.length === 1 ? (texts[0] as string) : `[${texts.join(',')}]`
    })
    // Behind the message that agrees on a version.
    if (this.#habits.takesBatches === undefined && this.#probe === undefined)
      messages.splice(1, 0, this.#makeProbe())
    try {
      if (this.#isFramed) this.#channel?.send(`${messages.join('\n')}\n`)
      else for (const message of messages) this.#channel?.send(message)
    } catch (error) {
      this.close(error instanceof Error ? error : new Error('The connection broke'))
    }
    if (this.#cancelWatch === undefined) this.#watch(SILENCE_MS * this.#patience)
  }

  /** Gives a request its number, and the text that is sent. */
  #note(request: Omit<SentRequest, 'sentAt'>): string {
    const id = this.#nextId++
    this.#sent.set(id, { ...request, sentAt: this.#clock.monotonic() })
    const { method, params } = request.call
    return JSON.stringify({ jsonrpc: '2.0', id, method, params })
  }

  #makeProbe(): string {
    const id = this.#nextId
    const onAnswer = (): void => {
      this.#endProbe()
      this.#habits.takesBatches = true
    }
    const cancel = this.#clock.after(PROBE_MS * this.#patience, () => this.#onNoBatches())
    this.#probe = { id, cancel }
    const call = { method: 'server.ping', params: [] }
    // A refusal of the ping is an answer to the batch.
    const batch = { size: 1, open: 0, isAnswered: false }
    return `[${this.#note({ call, most: 1, batch, resolve: onAnswer, reject: error => error instanceof ElectrumRefusal && onAnswer() })}]`
  }

  #endProbe(): void {
    this.#probe?.cancel()
    this.#probe = undefined
  }

  #onNoBatches(): void {
    if (this.#probe === undefined) return
    this.#habits.takesBatches ??= false
    this.#giveUp(this.#probe.id)
    this.#endProbe()
  }

  /** What a server has shown that closes the connection now. */
  #learn(): ServerLesson | undefined {
    if (this.#probe === undefined) return undefined
    this.#onNoBatches()
    return new ServerLesson()
  }

  /**
   * Asks again, in smaller batches, for what a server has refused as a whole: all open ones, as the refusal names none. Those that
   * follow belong to these first. False if none was open.
   */
  #retryBatches(): boolean {
    if (!this.#abandoned.isWaiting) {
      const batched = [...this.#sent].filter(([, request]) => isBatched(request))
      this.#onNoBatches()
      const most = batched.length === 0 ? 1 : this.#habits.halve()
      for (const [id, request] of batched) {
        this.#giveUp(id)
        this.#queue.push({ ...request, most })
      }
    }
    if (this.#queue.length > 0) this.#flushSoon()
    return this.#abandoned.onRefusal()
  }

  #giveUp(id: number): void {
    const request = this.#sent.get(id)
    if (request !== undefined && this.#sent.delete(id)) this.#abandoned.add(id, request.batch)
  }

  #watch(delayMs: number): void {
    this.#cancelWatch = this.#clock.after(delayMs, () => {
      this.#cancelWatch = undefined
      if (this.#sent.size === 0) return
      const silentFor = this.#clock.monotonic() - this.#lastReceived
      const [oldest] = this.#sent.values()
      const waited = this.#clock.monotonic() - (oldest?.sentAt ?? 0)
      // A batch is answered when its last item is.
      const silenceMs = [...this.#sent.values()].some(isBatched) ? SILENCE_MS * 2 : SILENCE_MS
      const silenceLeft = silenceMs * this.#patience - silentFor
      const waitLeft = MAX_WAIT_MS * this.#patience - waited
      if (silenceLeft <= 0 || waitLeft <= 0) {
        this.close(new ElectrumFault('The server does not answer'))
      } else this.#watch(Math.max(1, Math.min(silenceLeft, waitLeft)))
    })
  }

  #receive(text: string): void {
    if (this.#isClosed) return
    if (!this.#isFramed) {
      if (text.length > MAX_MESSAGE)
        this.close(new ElectrumFault('The server sent a message that is too long'))
      else this.#onMessageText(text)
      return
    }
    let from = 0
    while (!this.#isClosed) {
      const end = text.indexOf('\n', from)
      const part = end === -1 ? text.slice(from) : text.slice(from, end)
      this.#partsLength += part.length
      if (this.#partsLength > MAX_MESSAGE) {
        this.close(new ElectrumFault('The server sent a message that is too long'))
        return
      }
      if (part !== '') this.#parts.push(part)
      if (end === -1) return
      const message = this.#parts.join('')
      this.#parts = []
      this.#partsLength = 0
      from = end + 1
      this.#onMessageText(message)
    }
  }

  #onMessageText(text: string): void {
    if (text.trim() === '') return
    const messages = readMessages(text)
    if (messages === undefined) {
      this.close(new ElectrumFault('The server sent something that is no JSON-RPC message'))
      return
    }
    this.#lastReceived = this.#clock.monotonic()
    for (const message of messages) if (!this.#isClosed) this.#onMessage(message)
    if (this.#queue.length > 0 && !this.#isClosed) this.#flushSoon()
  }

  #onMessage({ id, method, params, error, result }: JsonObject): void {
    if (typeof method === 'string' && (id === undefined || id === null)) {
      if (Array.isArray(params)) this.#handlers.onNotification(method, params)
      return
    }
    const request = typeof id === 'number' ? this.#sent.get(id) : undefined
    if (typeof id !== 'number' || request === undefined) {
      if (typeof id === 'number' && this.#abandoned.onAnswer(id)) return
      if ((id === null || id === undefined) && error !== undefined) {
        const refusal = refusalOf(error)
        if (isExhausted(refusal)) this.close(refusal)
        if (this.#isClosed || this.#retryBatches()) return
      }
      this.close(new ElectrumFault('The server answered a question that was not asked'))
      return
    }
    this.#sent.delete(id)
    if (isBatched(request)) this.#habits.release(request.batch, 1)
    if (error === undefined || error === null) return void request.resolve(result ?? null)
    const refusal = refusalOf(error)
    if (isBatched(request) && isTooMuch(refusal))
      this.#queue.push({ ...request, most: request.batch.size >> 1 })
    else request.reject(refusal)
  }
}

/** A request that has not been sent. */
interface Request extends BatchItem {
  readonly resolve: (value: Json) => void
  readonly reject: (error: Error) => void
}

interface SentRequest extends Request {
  readonly sentAt: number
  readonly batch: Batch
}

/** Where a connection goes, and what is known of the server. */
interface Target {
  readonly server: ElectrumServer
  readonly habits: ServerHabits
  readonly circuit?: string | undefined
}

const isBatched = ({ batch }: SentRequest): boolean => batch.size > 1

const MAX_MESSAGE = 16_000_000
const MAX_IN_FLIGHT = 5000
const SILENCE_MS = 15_000
const MAX_WAIT_MS = 120_000
const PROBE_MS = 5_000

const readMessages = (text: string): readonly JsonObject[] | undefined => {
  const value = tryJsonText(text)
  const messages = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  return messages.every(isObject) ? messages : undefined
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const refusalOf = (error: Json): ElectrumRefusal => {
  if (typeof error === 'string') return new ElectrumRefusal(undefined, error.slice(0, 500))
  const { code, message } = typeof error === 'object' && error !== null ? (error as JsonObject) : {}
  return new ElectrumRefusal(
    typeof code === 'number' ? code : undefined,
    typeof message === 'string' ? message.slice(0, 500) : 'The server refused without a reason'
  )
}

/** A payment that has not left: the connection was gone before its bytes were sent. */
export class NotSent extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'NotSent'
  }
}

/** A server's own refusal of one request; the connection goes on. */
export class ElectrumRefusal extends Error {
  readonly code: number | undefined

  constructor(code: number | undefined, message: string) {
    super(message)
    this.name = 'ElectrumRefusal'
    this.code = code
  }
}

/** True if a server says that this device has used all that it gives one: ElectrumX then ends the connection. */
export const isExhausted = (error: unknown): error is ElectrumRefusal =>
  error instanceof ElectrumRefusal &&
  (error.code === -101 || /excessive (resource|flood)/i.test(error.message))

/** The code of a refusal: the server has no such method. */
export const NO_METHOD = -32601

/** A server that ends a connection because of a batch: it is asked once more at once, in single requests. */
export class ServerLesson extends Error {
  constructor() {
    super('The server takes no batches')
    this.name = 'ServerLesson'
  }
}

/** A server that broke the protocol or lied; the connection is given up and another server asked. */
export class ElectrumFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ElectrumFault'
  }
}

/** Reads `tcp://host:port`, `tls://host:port`, `ws://…` or `wss://…`; undefined for anything else. */
export const readElectrumUrl = (url: string): ChainServer | undefined => {
  if (/^wss?:\/\/[^\s]+$/.test(url)) return serverOf({ url, webSocket: url })
  const match = /^(tcp|tls|ssl):\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(url)
  if (match === null) return undefined
  const [, scheme = '', host = '', port = ''] = match
  if (Number(port) < 1 || Number(port) > 65535) return undefined
  const isTls = scheme.toLowerCase() !== 'tcp'
  return serverOf({ url, tcp: { host: host.replace(/^\[|\]$/g, ''), port: Number(port), isTls } })
}

const serverOf = (server: ElectrumServer): ChainServer => {
  const habits = new ServerHabits()
  return {
    url: server.url,
    open: (io, handlers, circuit) => ElectrumConnection.open(io, { server, habits, circuit }, handlers)
  }
}

/** The host of a server: two ports of one host are one server's word. */
export const hostOf = ({ url }: Pick<ChainServer, 'url'>): string =>
  /^[a-z+]+:\/\/(?:[^@/]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? url

/** The words of a failure, for a person. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'The connection failed'
