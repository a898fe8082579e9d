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
      const limits = { source: `${host}${pathname}`, limit: options.maxReplyBytes ?? maxReplyBytes }
      const head = { status: reply.status, headers: Object.fromEntries(reply.headers) }
      return options.replyAs === 'bytes'
        ? { ...head, text: '', bytes: await bytesOf(reply, limits) }
        : { ...head, text: await textOf(reply, limits) }
    } catch (error) {
      // What is left of the body is not waited for.
      abort()
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

const requestOf = ({ method = 'GET', headers = {}, bodyBytes, ...options }: FetchOptions): RequestInit => ({
  method,
  headers: { ...headers },
  cache: 'no-store',
  credentials: 'omit',
  redirect: 'error',
  // A copy: the caller may go on writing into its own bytes.
  ...compact({ body: bodyBytes === undefined ? options.body : new Uint8Array(bodyBytes) })
})

interface ReplyLimits {
  readonly source: string
  readonly limit: number
}

/** UTF-8 as the fetch standard reads it: no byte order mark, bad bytes replaced. */
const textOf = async (reply: Response, limits: ReplyLimits): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  await readParts(reply, limits, part => {
    text += decoder.decode(part, { stream: true })
  })
  return text + decoder.decode()
}

const bytesOf = async (reply: Response, limits: ReplyLimits): Promise<Uint8Array> => {
  const parts: Uint8Array[] = []
  const bytes = new Uint8Array(await readParts(reply, limits, part => void parts.push(part)))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Reads a body; resolves to its length. @throws REPLY_TOO_LARGE */
const readParts = async (
  reply: Response,
  { source, limit }: ReplyLimits,
  onPart: (part: Uint8Array) => void
): Promise<number> => {
  const tooLarge = (): WalletError => new WalletError('REPLY_TOO_LARGE', { source, limit })
  if (Number(reply.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  const reader = reply.body?.getReader()
  let size = 0
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    size += part.value.length
    if (size > limit) throw tooLarge()
    onPart(part.value)
  }
  return size
}
