import type { FetchOptions, FetchReply } from '../../kernel/io/io.ts'

/** What becomes of a request on its way to the server, or of the reply on its way back. */
export type RequestFate =
  | 'served'
  /** The server never sees it. */
  | 'lost'
  /** The server is there, and ill. */
  | 'refused'
  /** It arrives twice. */
  | 'twice'
  /** The server does not know the hash in it. */
  | 'forgotten'
  /** The server did what it was asked, and nobody hears of it. */
  | 'reply lost'
  /** Half of the reply arrives. */
  | 'reply cut'
  /** The reply to an earlier read of the same address comes once more. */
  | 'reply old'

/** Which edits went into each of some files. */
export type EditsByPath = ReadonlyMap<string, ReadonlySet<number>>

/** What a reply tells: the edits in each file that it names, and when the server wrote it. */
export interface News {
  /** The files that the sender sent: now it knows that they arrived. */
  readonly received: readonly string[]
  readonly edits: EditsByPath
  /** Counted in requests. */
  readonly at: number
}

/** A request with what its sender knows of the files that it sends. */
export interface WireRequest {
  readonly sender: Wire
  readonly url: string
  readonly options: FetchOptions
  readonly knowledge: EditsByPath
}

/** What the server says, and what that tells. */
export interface WireReply {
  readonly reply: FetchReply
  /** Undefined for a failure. */
  readonly news: News | undefined
}

/** The other end of all wires. */
export interface WireServer {
  serve(request: WireRequest): Promise<WireReply>
  knowledgeOf(device: string, options: FetchOptions): EditsByPath
  /** A device took in what it was told. */
  emit(device: string, news: News): void
  /** And it will know that even after a crash. */
  confirm(device: string, news: News): void
  /** Counts something that happened. */
  note(what: string): void
}

interface Waiting {
  readonly request: WireRequest
  readonly resolve: (reply: FetchReply) => void
  readonly reject: (error: Error) => void
  answer?: WireReply
}

/** One device's way to the server: each of its requests waits until it is moved on. */
export class Wire {
  readonly device: string
  /** A client that sends whole files without looking first loses the edits of others, and nobody can help it. */
  readonly isDeployed: boolean
  /** When the server wrote what the device took in last; counted in requests. */
  reportedAt = 0
  /** Whether a request has failed since then. */
  hasFailed = false
  readonly #server: WireServer
  #waiting: Waiting | undefined
  #reported: News | undefined
  /** Taken in, but perhaps not durable yet: the next request may leave before that. */
  #unsure: News | undefined
  readonly #earlier = new Map<string, FetchReply>()

  constructor(server: WireServer, { device, isDeployed }: { device: string; isDeployed: boolean }) {
    this.#server = server
    this.device = device
    this.isDeployed = isDeployed
  }

  /** The device's own `fetch`. */
  readonly fetch = (url: string, options: FetchOptions = {}): Promise<FetchReply> =>
    new Promise((resolve, reject) => {
      this.#takeIn()
      const knowledge = this.#server.knowledgeOf(this.device, options)
      this.#waiting = { request: { sender: this, url, options, knowledge }, resolve, reject }
    })

  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** Brings the waiting request to the server, or its reply back. */
  async move(fate: RequestFate): Promise<void> {
    const waiting = this.#waiting
    if (waiting === undefined) return
    if (waiting.answer === undefined) await this.#query(waiting, fate)
    else this.#answer(waiting, waiting.answer, fate)
  }

  /** The device is gone, and with it who waits for the reply. */
  hangUp(): void {
    this.#waiting = undefined
    this.refuse()
  }

  /** A sync has ended well. */
  succeed(): void {
    this.#takeIn()
    this.#takeIn()
  }

  /** A sync has failed: what was told last was not taken in. */
  refuse(): void {
    this.#reported = undefined
    this.#unsure = undefined
  }

  #takeIn(): void {
    if (this.#unsure !== undefined) this.#server.confirm(this.device, this.#unsure)
    this.#unsure = this.#reported
    if (this.#reported === undefined) return
    this.reportedAt = this.#reported.at
    this.hasFailed = false
    this.#server.emit(this.device, this.#reported)
    this.#reported = undefined
  }

  async #query(waiting: Waiting, fate: RequestFate): Promise<void> {
    const { request } = waiting
    if (fate === 'lost') this.#fail(waiting, fate)
    else if (fate === 'refused') waiting.answer = failureOf(503)
    else if (fate === 'forgotten' && !request.url.endsWith('/')) waiting.answer = failureOf(404)
    else waiting.answer = await this.#server.serve(request)
    if (fate === 'twice') waiting.answer = await this.#server.serve(request)
    if (fate !== 'served' && fate !== 'lost') this.#server.note(fate)
  }

  #answer(waiting: Waiting, { reply, news }: WireReply, fate: RequestFate): void {
    if (fate === 'lost' || fate === 'reply lost') {
      this.#fail(waiting, 'reply lost')
      return
    }
    this.#waiting = undefined
    const { url, options } = waiting.request
    const address = new URL(url).pathname
    const earlier = options.method === 'POST' ? undefined : this.#earlier.get(address)
    const isCut = fate === 'reply cut' && reply.text.length > 1
    // Who is told that the hash is unknown asks once more at once, also where the words are cut: the status says it.
    if (reply.status !== 404 && (isCut || reply.status !== 200)) this.hasFailed = true
    if (isCut || (fate === 'reply old' && earlier !== undefined)) {
      this.#server.note(fate)
      const half = { ...reply, text: reply.text.slice(0, reply.text.length / 2) }
      waiting.resolve(isCut ? half : (earlier ?? reply))
      return
    }
    this.#reported = news
    if (options.method !== 'POST' && news !== undefined) this.#earlier.set(address, reply)
    waiting.resolve(reply)
  }

  #fail({ reject }: Waiting, fate: RequestFate): void {
    this.#server.note(fate)
    this.#waiting = undefined
    this.hasFailed = true
    reject(new Error(`${fate}`))
  }
}

/** A failure as a server tells it. */
export const failureOf = (status: number): WireReply => ({
  reply: { status, headers: {}, text: '{"msg":"Hash not found"}' },
  news: undefined
})
