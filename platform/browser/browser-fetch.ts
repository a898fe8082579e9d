import { compact } from '../../kernel/base/compact.ts'
import { WalletError } from '../../kernel/base/errors.ts'
import type { FetchOptions, Io } from '../../kernel/io/io.ts'

/**
 * Makes `Io.fetch` over the browser's `fetch`, without cookies, without redirects and without its cache: what a wallet asks is
 * not left on the disk of whoever uses the browser next, and no answer is older than its question.
 *
 * Rejects with REPLY_TOO_LARGE as soon as a body passes `maxReplyBytes`, with an `AbortError` when the signal
 * fires, and with a `TypeError` if there is no answer or the page may not see it.
 */
export const makeBrowserFetch =
  (maxReplyBytes: number): Io['fetch'] =>
  async (url, options = {}) => {
    const aborter = new AbortController()
    const abort = (): void => aborter.abort()
    const { signal } = options
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    try {
      const reply = await globalThis.fetch(url, { ...requestOf(options), signal: aborter.signal })
      const { host, pathname } = new URL(url)
      const text = await textOf(reply, {
        source: `${host}${pathname}`,
        limit: options.maxReplyBytes ?? maxReplyBytes
      })
      return { status: reply.status, headers: Object.fromEntries(reply.headers), text }
    } catch (error) {
      // What is left of the body is not waited for.
      abort()
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

const requestOf = ({ method = 'GET', headers = {}, body }: FetchOptions): RequestInit => ({
  method,
  headers: { ...headers },
  cache: 'no-store',
  credentials: 'omit',
  redirect: 'error',
  ...compact({ body })
})

/** UTF-8 as the fetch standard reads it: no byte order mark, bad bytes replaced. */
const textOf = async (
  reply: Response,
  { source, limit }: { source: string; limit: number }
): Promise<string> => {
  const tooLarge = (): WalletError => new WalletError('REPLY_TOO_LARGE', { source, limit })
  if (Number(reply.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  const reader = reply.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length
    if (size > limit) throw tooLarge()
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
