import {
  type FetchOptions,
  type FetchReply,
  type Io,
  isWalletError,
  makeAbort,
  type QuoteContext,
  withDeadline
} from '../../../kernel/plugin-api.ts'
import { type ExactJson, parseExactJson } from './exact-json.ts'
import { forbidden, type Provider, troubled } from './provider.ts'
import { Reply } from './reply.ts'

/** One request to a provider. Headers and query may hold keys; they come into no error and no log. */
export interface Question {
  /** Behind the address of the API, without a query. */
  readonly path: string
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Makes it a POST; what is undefined is left out. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly signal?: QuoteContext['signal']
}

/** What a provider said: a status below 500, and JSON. */
export interface Answer {
  readonly status: number
  readonly isOk: boolean
  readonly reply: Reply
}

/** Asks one address of a provider. */
export type Ask = (question: Question) => Promise<Answer>

/**
 * Makes what asks a provider, politely: after a 429 it asks nothing until the time is over that `Retry-After` names.
 *
 * It throws SWAP_PERMISSION for 401 and 451, SERVER for 429, 5xx and no answer, DEADLINE after 30 s, and BAD_REPLY for
 * what is no JSON. Every other answer is the caller's to understand.
 *
 * @param address - of the API, without a final slash
 */
export const makeAsk = (io: Pick<Io, 'clock' | 'fetch'>, provider: Provider, address: string): Ask => {
  // Not by the time of day, which people set back.
  let restUntil = Number.NEGATIVE_INFINITY
  const note = ({ status, headers }: FetchReply): void => {
    if (status !== 429) return
    const seconds = /^\d{1,6}$/.test(headers['retry-after'] ?? '')
      ? Number(headers['retry-after'])
      : REST_SECONDS
    restUntil = io.clock.monotonic() + Math.min(seconds, LONGEST_REST_SECONDS) * 1000
  }
  return async question => {
    if (io.clock.monotonic() < restUntil) throw troubled(provider, 'has had too many requests')
    const found = await fetchInTime(io, { provider, address, question })
    note(found)
    return understand(provider, found)
  }
}

const DEADLINE_MS = 30_000
const REST_SECONDS = 30
const LONGEST_REST_SECONDS = 3600
/** The list of all coins is the longest reply. */
const MAX_REPLY_BYTES = 8_000_000

interface Sending {
  readonly provider: Provider
  readonly address: string
  readonly question: Question
}

/** Fetches, and aborts the request when the caller does or when it has had its time. */
const fetchInTime = async (
  io: Pick<Io, 'clock' | 'fetch'>,
  { provider, address, question }: Sending
): Promise<FetchReply> => {
  const either = makeAbort()
  const { signal } = question
  signal?.addEventListener('abort', either.abort)
  if (signal?.aborted === true) either.abort()
  const what = `The answer of ${provider.displayName}`
  try {
    return await withDeadline({ clock: io.clock, milliseconds: DEADLINE_MS, what }, () =>
      io.fetch(urlOf(address, question), { ...optionsOf(question), signal: either.signal })
    )
  } catch (error) {
    either.abort()
    if (isWalletError(error)) throw error
    // What the platform says may name the address; that it failed is enough.
    throw troubled(provider, 'cannot be reached')
  } finally {
    signal?.removeEventListener('abort', either.abort)
  }
}

const urlOf = (address: string, { path, query = {} }: Question): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
  )
  return `${address}/${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
}

const optionsOf = ({ headers = {}, body }: Question): FetchOptions => ({
  method: body === undefined ? 'GET' : 'POST',
  headers: {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers
  },
  maxReplyBytes: MAX_REPLY_BYTES,
  ...(body === undefined ? {} : { body: JSON.stringify(body) })
})

const understand = (provider: Provider, { status, text }: FetchReply): Answer => {
  if (status === 401) throw forbidden(provider, 'needsActivation')
  if (status === 451) throw forbidden(provider, 'geoRestriction')
  if (status === 429) throw troubled(provider, 'has had too many requests')
  if (status >= 500) throw troubled(provider, `answered with status ${status}`)
  const isOk = status >= 200 && status < 300
  const source = `reply of ${provider.displayName}`
  if (isOk) return { status, isOk, reply: new Reply(parseExactJson(text, source), source) }
  return { status, isOk, reply: new Reply(jsonOrNothing(text, source), source) }
}

/** A refusal may come as a page of HTML; its status says enough. */
const jsonOrNothing = (text: string, source: string): ExactJson | undefined => {
  try {
    return parseExactJson(text, source)
  } catch {
    return undefined
  }
}
