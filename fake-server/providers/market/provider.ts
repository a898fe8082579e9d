import type { Json } from '../../../kernel/base/json.ts'
import { emptyReply, type FakeReply, type FakeRequest } from '../../base/replies.ts'

/** A request to a provider, with its address taken apart. `path` is still whole, with the query. */
export interface ProviderRequest extends FakeRequest {
  /** Lower case, without a port. */
  readonly host: string
  /** The path without the query: `/v2/exchange-rates`. */
  readonly pathname: string
  readonly query: URLSearchParams
}

/** One rate or swap provider, as its documentation says it answers. */
export interface FakeProvider {
  /** That of the plugin that talks to it. */
  readonly id: string
  /** Names of the hosts that it answers under. */
  readonly hosts: readonly string[]
  /** A throw or rejection is a lost connection. */
  answer(request: ProviderRequest): FakeReply | Promise<FakeReply>
  /** For a provider with a memory, such as of orders: what a saved world keeps of it. */
  readonly memory?: ProviderMemory
}

/** The state of a provider that a saved world keeps. */
export interface ProviderMemory {
  /** Everything there is to remember; undefined for nothing. */
  save(): Json | undefined
  /** Takes back what `save` gave, before the first request. @throws BAD_REPLY for anything else */
  load(saved: Json): void
  /** Calls the listener after each change; the reply that reports the change waits until it is durable. */
  onChange(listener: () => void): void
}

/**
 * Gives an answer its mark (`etag`), or 304 without a body to who sends the mark of that very answer along.
 *
 * The mark is a hash of the body, FNV-1a; nothing depends on its strength.
 */
export const conditional = (request: FakeRequest, reply: FakeReply): FakeReply => {
  const etag = `"${hashOf(reply.body)}"`
  if (request.headers['if-none-match'] === etag) return emptyReply(304, { etag })
  return { ...reply, headers: { ...reply.headers, etag } }
}

const hashOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
