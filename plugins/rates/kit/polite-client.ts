import {
  type AbortSignalLike,
  type FetchReply,
  type Io,
  isWalletError,
  makeAbort,
  WalletError,
  withDeadline
} from '../../../kernel/plugin-api.ts'

/** One request to a source. */
export interface Question {
  /** Behind the origin, with its query: `/v2/exchange-rates?currency=USD`. Holds no key. */
  readonly path: string
  /** May hold a key; they come into no error and no log. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON; makes it a POST. */
  readonly body?: string
}

/** How a source wants to be asked. */
export interface Manners {
  /** For errors. */
  readonly displayName: string
  readonly origins: readonly string[]
  /** For how long an answer is new enough. */
  readonly gapMs: number
}

/** Asks one source. */
export interface PoliteClient {
  /**
   * The answer; undefined if the last one is new enough.
   *
   * A sound answer that has a mark (`etag`) is asked for with it, and taken from memory if it still holds (304). After
   * a refusal nothing is asked until the time is over that the source names, or that fits the refusal.
   *
   * @throws SERVER for no answer, a refusal, a rest and any other status than 200; DEADLINE after 10 s, and then the
   * request is aborted; REPLY_TOO_LARGE
   */
  ask(question: Question, signal: AbortSignalLike): Promise<Answer | undefined>
}

/** What a source said. */
export interface Answer {
  readonly text: string
  /** To be called when the text could be read; one with figures that cannot be is not asked for by its mark again. */
  accept(isSound: boolean): void
}

/** Makes what asks one source, with what it remembers of the answers. */
export const makePoliteClient = (io: Pick<Io, 'clock' | 'fetch'>, manners: Manners): PoliteClient => {
  const { displayName, origins, gapMs } = manners
  const { clock } = io
  const marked = new Map<string, Marked>()
  let originIndex = 0
  let restUntil = Number.NEGATIVE_INFINITY
  // By the calendar, for people; a sentence that is the same for the whole rest is told once.
  let restEnd = ''
  let refusals = 0
  let last: { readonly key: string; readonly at: number } | undefined

  const moveOn = (): void => {
    originIndex = (originIndex + 1) % origins.length
  }

  const rest = (reply: FetchReply): void => {
    if (reply.status === 451 && originIndex + 1 < origins.length) {
      originIndex += 1
      return
    }
    if (reply.status >= 500) moveOn()
    const restMs = restOf(reply, refusals, clock.now())
    if (restMs === undefined) return
    originIndex = 0
    refusals += 1
    restUntil = clock.monotonic() + restMs
    restEnd = new Date(clock.now() + restMs).toISOString()
  }

  const send = async (question: Question, url: string, signal: AbortSignalLike): Promise<FetchReply> => {
    const known = question.body === undefined ? marked.get(url) : undefined
    const reply = await fetchInTime(io, { url, question, known, signal, displayName }).catch(error => {
      if (!signal.aborted) moveOn()
      throw error
    })
    const isSame = reply.status === 304 && known !== undefined
    if (reply.status !== 200 && !isSame) {
      rest(reply)
      throw troubled(displayName, `answered with status ${reply.status}`)
    }
    refusals = 0
    if (isSame) return { ...reply, text: known.text }
    marked.delete(url)
    return reply
  }

  return {
    async ask(question, signal) {
      const now = clock.monotonic()
      if (now < restUntil) {
        throw troubled(displayName, `refused, and is left alone until ${restEnd}`)
      }
      const key = `${question.path}\n${question.body ?? ''}`
      if (last?.key === key && now < last.at + gapMs) return undefined
      const url = `${origins[originIndex]}${question.path}`
      const reply = await send(question, url, signal)
      return {
        text: reply.text,
        accept(isSound) {
          last = { key, at: clock.monotonic() }
          if (isSound && question.body === undefined && reply.status === 200) remember(marked, url, reply)
        }
      }
    }
  }
}

interface Marked {
  readonly etag: string
  readonly text: string
}

const DEADLINE_MS = 10_000
/** The longest reply, a list of all coins, has some 150 kB. */
const MAX_REPLY_BYTES = 2_000_000
/** Each set of wanted codes has an address of its own; few are asked for in turn. */
const MAX_MARKED = 4

/** How long to leave a source alone if it does not say itself: it doubles with each refusal that follows. */
const REST_MS = 60_000
const LONGEST_REST_MS = 3_600_000
/** Too many requests, also in the words of Binance. */
const TOO_MANY: ReadonlySet<number> = new Set([418, 429])
/** Refusals that do not end by themselves: for a country or an address. */
const BARRED: ReadonlySet<number> = new Set([403, 451])

const restOf = ({ status, headers }: FetchReply, refusals: number, now: number): number | undefined => {
  if (BARRED.has(status)) return LONGEST_REST_MS
  if (!TOO_MANY.has(status)) return undefined
  const named = retryAfter(headers['retry-after'], now) ?? REST_MS * 2 ** Math.min(refusals, 10)
  return Math.min(Math.max(named, 0), LONGEST_REST_MS)
}

/** Seconds or a date, in milliseconds from now on. */
const retryAfter = (text: string | undefined, now: number): number | undefined => {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : date - now
}

// Only marks that a page of another origin can see, and no dates: browsers show those of every server, but ask it
// for leave before they send one back, and may be refused.
const remember = (marked: Map<string, Marked>, url: string, { headers, text }: FetchReply): void => {
  const { etag } = headers
  if (etag === undefined || etag.length > 200) return
  marked.set(url, { etag, text })
  for (const oldest of marked.keys()) {
    if (marked.size <= MAX_MARKED) return
    marked.delete(oldest)
  }
}

interface Sending {
  readonly url: string
  readonly question: Question
  readonly known: Marked | undefined
  readonly signal: AbortSignalLike
  readonly displayName: string
}

const fetchInTime = async (
  io: Pick<Io, 'clock' | 'fetch'>,
  { url, question: { headers, body }, known, signal, displayName }: Sending
): Promise<FetchReply> => {
  const either = makeAbort()
  signal.addEventListener('abort', either.abort)
  if (signal.aborted) either.abort()
  const what = `The answer of ${displayName}`
  try {
    return await withDeadline({ clock: io.clock, milliseconds: DEADLINE_MS, what }, () =>
      io.fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(known === undefined ? {} : { 'if-none-match': known.etag }),
          ...headers
        },
        maxReplyBytes: MAX_REPLY_BYTES,
        signal: either.signal,
        ...(body === undefined ? {} : { body })
      })
    )
  } catch (error) {
    either.abort()
    if (isWalletError(error)) throw error
    // What the platform says may name the address; that it failed is enough.
    throw troubled(displayName, 'cannot be reached')
  } finally {
    signal.removeEventListener('abort', either.abort)
  }
}

const troubled = (displayName: string, what: string): WalletError =>
  new WalletError('SERVER', { message: `${displayName} ${what}` })
