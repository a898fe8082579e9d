import { HttpClient, type HttpRequest, type Io, Reply } from '../../../kernel/plugin-api.ts'
import { forbidden, type Provider } from './provider.ts'

/** A provider's reply: a status below 500, and JSON with every number as written. */
export interface ProviderReply {
  readonly status: number
  readonly isOk: boolean
  readonly reply: Reply
}

/** Sends requests to one API of a provider, and turns its refusals into errors of a swap. */
export class ProviderClient {
  readonly #provider: Provider
  readonly #http: HttpClient

  /** @param address - of the API, without a final slash */
  constructor(io: Pick<Io, 'clock' | 'fetch' | 'isProxied'>, provider: Provider, address: string) {
    this.#provider = provider
    this.#http = new HttpClient(io, {
      name: provider.displayName,
      origins: [address],
      headers: { accept: 'application/json' },
      deadlineMs: 30_000,
      maxReplyBytes: MAX_REPLY_BYTES,
      rateLimit: {
        statuses: [429],
        firstMs: 30_000,
        maxMs: 3_600_000,
        retryAfter: 'seconds',
        message: 'has had too many requests'
      }
    })
  }

  /**
   * Sends a request, and nothing while the provider has asked for a back-off.
   *
   * @throws SWAP_PERMISSION for 401 and 451; SERVER for 429, 5xx and no answer; DEADLINE after 30 s; BAD_REPLY for what
   * is no JSON. Every other status is the caller's to understand.
   */
  async request(request: HttpRequest): Promise<ProviderReply> {
    const { status, isOk, text } = await this.#http.request(request)
    if (status === 401) throw forbidden(this.#provider, 'needsActivation')
    if (status === 451) throw forbidden(this.#provider, 'geoRestriction')
    const source = `reply of ${this.#provider.displayName}`
    return { status, isOk, reply: isOk ? Reply.exact(text, source) : readRefusal(text, source) }
  }
}

/** The server of an API, without the path. */
export const originOf = (address: string): string => /^https:\/\/[^/]+/.exec(address)?.[0] ?? address

/** The list of all coins is the longest reply. */
const MAX_REPLY_BYTES = 8_000_000

/** A refusal may come as a page of HTML; its status says enough. */
const readRefusal = (text: string, source: string): Reply => {
  try {
    return Reply.exact(text, source)
  } catch {
    return new Reply(undefined, source)
  }
}
