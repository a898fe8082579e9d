import { utf8 } from '@scure/base'
import { WalletError } from '../../kernel/base/errors.ts'
import type { FetchOptions, FetchReply, Io } from '../../kernel/io/io.ts'
import { untilAborted } from '../fake-fetch.ts'
import type { FakeProviders } from './fake-providers.ts'

/**
 * A fetch that reaches fake providers inside this process under their own addresses, and everything else
 * through `elsewhere`.
 *
 * Rejects with `Fake network error` while they are offline, with REPLY_TOO_LARGE as {@link Io.fetch} does, and when
 * the signal aborts.
 */
export const providerFetch = (providers: FakeProviders, elsewhere: Io['fetch']): Io['fetch'] => {
  return (url, options = {}) => {
    const address = addressOf(url)
    if (address === undefined || !providers.serves(address.host)) return elsewhere(url, options)
    return untilAborted(ask(providers, address, options), options.signal)
  }
}

/**
 * A fetch for another process: every address that is not on localhost is asked of a served world, whose origin this
 * is, so that nothing real is ever reached.
 *
 * @param origin - such as `http://localhost:4455`
 */
export const fetchThroughWorld =
  (fetch: Io['fetch'], origin: string): Io['fetch'] =>
  (url, options) => {
    const address = addressOf(url)
    return fetch(address === undefined ? url : `${origin}/${address.host}${address.path}`, options)
  }

interface ProviderAddress {
  readonly host: string
  readonly path: string
}

const ADDRESS = /^https?:\/\/([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d{1,5})?(\/[^#]*)?(?:#.*)?$/
const IP_V4 = /^\d+\.\d+\.\d+\.\d+$/

/** Undefined for localhost and numbers, which are no provider's. */
const addressOf = (url: string): ProviderAddress | undefined => {
  const [, host, path = '/'] = ADDRESS.exec(url) ?? []
  return host === undefined || IP_V4.test(host) ? undefined : { host: host.toLowerCase(), path }
}

/** As every platform's io, in bytes. */
const MAX_REPLY = 16 * 1024 * 1024

const ask = async (
  providers: FakeProviders,
  { host, path }: ProviderAddress,
  { method = 'GET', headers = {}, body = '', maxReplyBytes = MAX_REPLY }: FetchOptions
): Promise<FetchReply> => {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const request = { method: method.toUpperCase(), path, headers: Object.fromEntries(named), body }
  const reply = await providers.handle(host, request)
  if (utf8.decode(reply.body).length > maxReplyBytes) {
    const source = `${host}${path.replace(/\?.*/s, '')}`
    throw new WalletError('REPLY_TOO_LARGE', { source, limit: maxReplyBytes })
  }
  return { status: reply.status, headers: reply.headers, text: reply.body }
}
