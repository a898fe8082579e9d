import {
  compact,
  type FetchOptions,
  type FetchReply,
  type Io,
  isWalletError,
  makeAbort,
  patienceOf,
  withDeadline
} from '../../../../kernel/plugin-api.ts'
import { ElectrumFault } from '../electrum/connection.ts'

/** One request of a {@link RequestQueue}. */
export interface QueuedRequest {
  /** Follows the address of the server. */
  readonly path: string
  /** Makes the request a POST. */
  readonly body?: string
  readonly contentType?: string
  readonly maxReplyBytes?: number
  readonly deadlineMs?: number
}

/** Options of a {@link RequestQueue}. */
export interface RequestQueueOptions {
  /** The address of the server, without a final slash. */
  readonly base: string
  readonly circuit?: string | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the login that the application has for the server. */
  readonly withLogin?: boolean
  /** Statuses of a server that wants to be asked later. */
  readonly busyStatuses: readonly number[]
  /** The wait after the first of them; it doubles with each that follows. */
  readonly waitMs: number
}

/**
 * The requests to one HTTP server: four at a time, later where the server asks for it, and slowly from then on.
 *
 * Errors hold neither the address nor the body of a request, nor what the platform says of it.
 */
export class RequestQueue {
  readonly #io: Io
  readonly #options: RequestQueueOptions
  readonly #abort = makeAbort()
  readonly #waiting: (() => void)[] = []
  #free = PARALLEL
  /** When the next one may be sent, by the monotonic clock. */
  #notBefore = Number.NEGATIVE_INFINITY
  #refusedUntil = Number.NEGATIVE_INFINITY
  /** One after another, without an answer in between. */
  #refusals = 0
  #pauseMs = 0

  constructor(io: Io, options: RequestQueueOptions) {
    this.#io = io
    this.#options = options
  }

  /** Sends a request in its turn. @throws ElectrumFault for a reply that is too long, Error where none comes */
  async send(request: QueuedRequest): Promise<FetchReply> {
    await this.#take()
    try {
      for (let tries = 1; ; tries++) {
        await this.#untilAllowed()
        const reply = await this.#fetch(request)
        if (!this.#options.busyStatuses.includes(reply.status)) {
          this.#refusals = 0
          return reply
        }
        this.#onBusy(reply)
        if (tries === MAX_TRIES) throw new Error(`The server refuses: status ${reply.status}`)
      }
    } finally {
      this.#free += 1
      this.#waiting.shift()?.()
    }
  }

  /** Aborts what is sent, and rejects what waits. */
  close(): void {
    this.#abort.abort()
    for (const go of this.#waiting.splice(0)) go()
  }

  async #take(): Promise<void> {
    while (this.#free === 0 && !this.#abort.signal.aborted)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#free -= 1
  }

  async #untilAllowed(): Promise<void> {
    const { clock } = this.#io
    for (;;) {
      if (this.#abort.signal.aborted) throw new Error('The connection is closed')
      const now = clock.monotonic()
      const left = this.#notBefore - now
      if (left <= 0) {
        this.#notBefore = now + this.#pauseMs
        return
      }
      await new Promise<void>(resolve => clock.after(left, resolve))
    }
  }

  #onBusy({ headers }: FetchReply): void {
    const now = this.#io.clock.monotonic()
    const wanted = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')
    // Those that were sent together are refused together, once.
    if (now >= this.#refusedUntil) this.#refusals += 1
    const usual = this.#options.waitMs * 2 ** Math.min(this.#refusals - 1, 10)
    const end = now + Math.min(wanted === null ? usual : Number(wanted[0]) * 1000, MAX_WAIT_MS)
    this.#pauseMs = SLOW_MS
    this.#refusedUntil = Math.max(this.#refusedUntil, end)
    this.#notBefore = Math.max(this.#notBefore, end)
  }

  async #fetch({ path, body, contentType, maxReplyBytes, deadlineMs }: QueuedRequest): Promise<FetchReply> {
    const { base, circuit, headers, withLogin } = this.#options
    const { signal } = this.#abort
    const abort = makeAbort()
    signal.addEventListener('abort', abort.abort)
    const options: FetchOptions = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...compact({ 'content-type': contentType }) },
      maxReplyBytes: maxReplyBytes ?? MAX_REPLY,
      signal: abort.signal,
      ...compact({ body, circuit, withLogin })
    }
    const deadline = {
      clock: this.#io.clock,
      milliseconds: (deadlineMs ?? DEADLINE_MS) * patienceOf(this.#io),
      what: 'The answer of the server'
    }
    try {
      return await withDeadline(deadline, () => this.#io.fetch(`${base}${path}`, options))
    } catch (error) {
      abort.abort()
      if (signal.aborted) throw new Error('The connection is closed')
      if (isWalletError(error, 'REPLY_TOO_LARGE'))
        throw new ElectrumFault('The server sent a reply that is too long')
      if (isWalletError(error, 'DEADLINE')) throw new Error('The server does not answer')
      if (isWalletError(error, 'NETWORK')) throw error
      throw new Error(`The server is not there${codeOf(error)}`)
    } finally {
      signal.removeEventListener('abort', abort.abort)
    }
  }
}

/** The code of the system alone: the text may hold the address with what is asked. */
const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ''
}

/** Public servers refuse those who ask for more at a time. */
const PARALLEL = 4
const MAX_TRIES = 6
const MAX_WAIT_MS = 60_000
/** Between two requests to a server that has been busy. */
const SLOW_MS = 100
const MAX_REPLY = 16_000_000
const DEADLINE_MS = 30_000
