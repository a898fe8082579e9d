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
  /** By the monotonic clock: until then an answer has to be there, busy waits included. Two minutes in its turn if left out. */
  readonly until?: number
  /** By the monotonic clock: from then on nothing is sent, not even to a server that is waited for. Its caller has given up. */
  readonly sentBefore?: number
  /** It goes before all that waits for its turn: something small that more depends on, or a person waits for. */
  readonly isUrgent?: boolean
}

/** The requests that wait for an answer at one time. Public servers refuse those who ask for more. */
export const PARALLEL = 4

/** The longest that a payment waits to be sent: less than its caller waits for an answer, so that one that was given up never leaves later. */
export const PAYMENT_WAIT_MS = 12_000

/**
 * Called with the state of a server that is busy for longer than a request may take; true: it is waited for. Called with undefined when
 * it answers again.
 */
export type OnBusy = (reason: string | undefined) => boolean

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
  readonly onBusy?: OnBusy
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
  /** End the pauses of those that wait for a busy server. */
  readonly #wakes = new Set<() => void>()
  #free = PARALLEL
  /** When the next one may be sent, by the monotonic clock. */
  #notBefore = Number.NEGATIVE_INFINITY
  #refusedUntil = Number.NEGATIVE_INFINITY
  /** One after another, without an answer in between. */
  #refusals = 0
  /** The owner knows that the server is busy. */
  #isSaidBusy = false
  #pauseMs = 0

  constructor(io: Io, options: RequestQueueOptions) {
    this.#io = io
    this.#options = options
  }

  /** True while a request waits for its turn. */
  get isFull(): boolean {
    return this.#waiting.length > 0
  }

  /** Sends a request in its turn. @throws ElectrumFault for a reply that is too long, Error where none comes */
  async send(request: QueuedRequest): Promise<FetchReply> {
    await this.#take(request.isUrgent === true)
    const { clock } = this.#io
    const patience = patienceOf(this.#io)
    const mostMs = Math.max(LIMIT_MS, request.deadlineMs ?? 0) * patience
    const { sentBefore = Number.POSITIVE_INFINITY } = request
    const limit = { until: request.until ?? clock.monotonic() + mostMs, sentBefore }
    try {
      for (;;) {
        await this.#untilAllowed(limit)
        const wanted = (request.deadlineMs ?? DEADLINE_MS) * patience
        const reply = await this.#fetch(request, Math.min(wanted, limit.until - clock.monotonic()))
        if (!this.#options.busyStatuses.includes(reply.status)) {
          this.#refusals = 0
          if (this.#isSaidBusy) this.#options.onBusy?.(undefined)
          this.#isSaidBusy = false
          return reply
        }
        this.#onBusy(reply)
      }
    } finally {
      this.#free += 1
      this.#waiting.shift()?.()
    }
  }

  /** Aborts what is sent, and rejects what waits. */
  close(): void {
    this.#abort.abort()
    for (const go of [...this.#waiting.splice(0), ...this.#wakes]) go()
  }

  async #take(isUrgent: boolean): Promise<void> {
    while (this.#free === 0 && !this.#abort.signal.aborted)
      await new Promise<void>(resolve => {
        if (isUrgent) this.#waiting.unshift(resolve)
        else this.#waiting.push(resolve)
      })
    this.#free -= 1
  }

  async #untilAllowed(limit: { until: number; readonly sentBefore: number }): Promise<void> {
    const { clock } = this.#io
    for (;;) {
      if (this.#abort.signal.aborted) throw new Error('The connection is closed')
      const now = clock.monotonic()
      const left = this.#notBefore - now
      if (now + Math.max(left, 0) >= limit.sentBefore) throw new Error('The server is busy')
      if (left <= 0 && now < limit.until) {
        this.#notBefore = now + this.#pauseMs
        return
      }
      if (now + left >= limit.until) {
        const reason = `The server is busy, and asked again in ${Math.ceil(left / 1000)} s`
        if (left <= 0) throw new Error('The server does not answer')
        if (this.#options.onBusy?.(reason) !== true) throw new Error('The server is busy')
        this.#isSaidBusy = true
        limit.until = now + Math.max(left, 0) + LIMIT_MS * patienceOf(this.#io)
      }
      await this.#pause(left)
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        cancel()
        this.#wakes.delete(wake)
        resolve()
      }
      const cancel = this.#io.clock.after(Math.max(0, milliseconds), wake)
      this.#wakes.add(wake)
    })
  }

  #onBusy({ headers }: FetchReply): void {
    const now = this.#io.clock.monotonic()
    const wanted = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')
    // Those that were sent together are refused together, once.
    if (now >= this.#refusedUntil) this.#refusals += 1
    const times = 2 ** Math.min(this.#refusals - 1, 10)
    const waitMs = wanted === null ? this.#options.waitMs * times : Math.max(Number(wanted[0]), times) * 1000
    const end = now + Math.min(waitMs, MAX_WAIT_MS)
    this.#pauseMs = SLOW_MS
    this.#refusedUntil = Math.max(this.#refusedUntil, end)
    this.#notBefore = Math.max(this.#notBefore, end)
  }

  async #fetch(
    { path, body, contentType, maxReplyBytes }: QueuedRequest,
    milliseconds: number
  ): Promise<FetchReply> {
    const { base, circuit, headers, withLogin } = this.#options
    const { signal } = this.#abort
    const abort = makeAbort()
    const options: FetchOptions = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...compact({ 'content-type': contentType }) },
      maxReplyBytes: maxReplyBytes ?? MAX_REPLY,
      signal: abort.signal,
      ...compact({ body, circuit, withLogin })
    }
    const deadline = {
      ...{ clock: this.#io.clock, milliseconds },
      what: 'The answer of the server'
    }
    let onClose = (): void => undefined
    const closed = new Promise<never>((_resolve, reject) => {
      onClose = () => reject(new Error('The connection is closed'))
    })
    signal.addEventListener('abort', onClose)
    try {
      return await withDeadline(deadline, () =>
        Promise.race([this.#io.fetch(`${base}${path}`, options), closed])
      )
    } catch (error) {
      abort.abort()
      if (signal.aborted) throw new Error('The connection is closed')
      if (isWalletError(error, 'REPLY_TOO_LARGE'))
        throw new ElectrumFault('The server sent a reply that is too long')
      if (isWalletError(error, 'DEADLINE')) throw new Error('The server does not answer')
      if (isWalletError(error, 'NETWORK')) throw error
      throw new Error(`The server is not there${codeOf(error)}`)
    } finally {
      signal.removeEventListener('abort', onClose)
    }
  }
}

/** The code of the system alone: the text may hold the address with what is asked. */
const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ''
}

const MAX_WAIT_MS = 60_000
/** Between two requests to a server that has been busy. */
const SLOW_MS = 100
const MAX_REPLY = 16_000_000
const DEADLINE_MS = 30_000
/** Of one request, with all its tries. */
const LIMIT_MS = 120_000
