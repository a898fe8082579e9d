import {
  type AbortSignalLike,
  compact,
  HttpClient,
  type Io,
  WalletError
} from '../../../kernel/plugin-api.ts'

/** One request to a source. */
export interface SourceRequest {
  /** Follows the origin, with its query: `/v2/exchange-rates?currency=USD`. Holds no key. */
  readonly path: string
  /** May hold a key; they come into no error and no log. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON; makes it a POST. */
  readonly body?: string
}

/** The addresses of a source, and the time between requests. */
export interface SourceClientOptions {
  /** For errors. */
  readonly displayName: string
  readonly origins: readonly string[]
  /** The time for which a reply is new enough. */
  readonly gapMs: number
}

/** The reply of a source. */
export interface SourceReply {
  readonly text: string
  /** Call it once the text has been read. A reply with figures that cannot be read is not asked for by its etag again. */
  accept(isSound: boolean): void
}

/** Fetches from one source of rates: no request while the last reply is new enough, and etags where the source has them. */
export class SourceClient {
  readonly #http: HttpClient
  readonly #clock: Io['clock']
  readonly #options: SourceClientOptions
  readonly #kept = new Map<string, KeptReply>()
  #last: { readonly key: string; readonly at: number } | undefined

  constructor(io: Pick<Io, 'clock' | 'fetch' | 'isProxied'>, options: SourceClientOptions) {
    this.#clock = io.clock
    this.#options = options
    this.#http = new HttpClient(io, {
      name: options.displayName,
      origins: options.origins,
      deadlineMs: 10_000,
      maxReplyBytes: MAX_REPLY_BYTES,
      rateLimit: {
        // Binance also says 418.
        statuses: [418, 429],
        barredStatuses: [403, 451],
        firstMs: 60_000,
        maxMs: 3_600_000,
        doubles: true,
        retryAfter: 'secondsOrDate'
      }
    })
  }

  /**
   * Sends a request; undefined if the last reply to it is new enough.
   *
   * A sound reply with an `etag` is asked for by it, and taken from memory if it still holds (304). After a refusal
   * nothing is sent until the back-off is over.
   *
   * @throws SERVER for no answer, a refusal, a back-off and any other status than 200; DEADLINE after 10 s, and then the
   * request is aborted; REPLY_TOO_LARGE
   */
  async fetch(request: SourceRequest, signal: AbortSignalLike): Promise<SourceReply | undefined> {
    this.#http.checkBackOff()
    const { path, headers, body } = request
    const key = `${path}\n${body ?? ''}`
    const { gapMs, displayName } = this.#options
    if (this.#last?.key === key && this.#clock.monotonic() < this.#last.at + gapMs) return undefined
    const url = `${this.#http.origin}${path}`
    const kept = body === undefined ? this.#kept.get(url) : undefined
    const reply = await this.#http.request({
      path,
      headers: { ...compact({ 'if-none-match': kept?.etag }), ...headers },
      signal,
      ...compact({ body })
    })
    const isSame = reply.status === 304 && kept !== undefined
    if (reply.status !== 200 && !isSame) {
      throw new WalletError('SERVER', { message: `${displayName} answered with status ${reply.status}` })
    }
    if (!isSame) this.#kept.delete(url)
    return {
      text: isSame ? kept.text : reply.text,
      accept: isSound => {
        this.#last = { key, at: this.#clock.monotonic() }
        if (isSound && body === undefined && !isSame) this.#keep(url, reply.headers.etag, reply.text)
      }
    }
  }

  // Only etags, which a page of another origin can see, and no dates: browsers show those of every server, but ask it
  // for leave before they send one back, and may be refused.
  #keep(url: string, etag: string | undefined, text: string): void {
    if (etag === undefined || etag.length > 200) return
    this.#kept.set(url, { etag, text })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) return
      this.#kept.delete(oldest)
    }
  }
}

interface KeptReply {
  readonly etag: string
  readonly text: string
}

/** The longest reply, a list of all coins, has some 150 kB. */
const MAX_REPLY_BYTES = 2_000_000
/** Each set of wanted codes has an address of its own; few are asked for in turn. */
const MAX_KEPT = 4
