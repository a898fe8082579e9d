import type { Json } from '../../kernel/base/json.ts'
import type { FetchOptions, FetchReply } from '../../kernel/io/io.ts'

/** A request as a handler sees it. `path` carries no host; header names are lower case; `body` is raw text. */
export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer: lower-case header names, and the whole body as text. */
export interface FakeReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The numbered replies of the login server, with their HTTP status and text (specification §8).
 *
 * Written down a second time on purpose: the kernel has its own table, so a mistake in one is caught by the other.
 */
export const STATUS = {
  success: { code: 0, http: 200, message: 'Success' },
  created: { code: 0, http: 201, message: 'Account created' },
  failed: { code: 1, http: 503, message: 'Error' },
  accountExists: { code: 2, http: 401, message: 'Account already exists' },
  noAccount: { code: 3, http: 401, message: 'No account' },
  invalidPassword: { code: 4, http: 401, message: 'Invalid Password' },
  invalidAnswers: { code: 5, http: 401, message: 'Invalid Answers' },
  invalidApiKey: { code: 6, http: 401, message: 'Invalid API Key' },
  invalidOtp: { code: 8, http: 401, message: 'Invalid OTP' },
  conflict: { code: 10, http: 409, message: 'Conflicting change' },
  appIdTaken: { code: 10, http: 401, message: 'A login with the same appId already exists' },
  obsolete: { code: 1000, http: 410, message: 'Obsolete API' },
  invalidRequest: { code: 1, http: 401, message: 'Invalid request' },
  notFound: { code: 1, http: 404, message: 'Not found' },
  noLobby: { code: 3, http: 404, message: 'Not found' }
} as const

/** A name of the table {@link STATUS}. */
export type StatusName = keyof typeof STATUS

/** The envelope of the login server (protocol §2.2). `message` replaces the text of the table. */
export const envelope = (
  name: StatusName,
  { results, message }: { results?: unknown; message?: string } = {}
): FakeReply => {
  const status = STATUS[name]
  const body = { status_code: status.code, message: message ?? status.message, results }
  return jsonReply(status.http, body)
}

/** A JSON answer without the envelope, as sync and info servers give it. */
export const jsonReply = (status: number, body: unknown): FakeReply => ({
  status,
  headers: JSON_HEADERS,
  body: JSON.stringify(body as Json)
})

/** An answer without a body. */
export const emptyReply = (status: number, headers: Readonly<Record<string, string>> = {}): FakeReply => ({
  status,
  headers,
  body: ''
})

/** The answer where nothing is (protocol §2.10). */
export const unknownEndpoint = (path: string): FakeReply =>
  envelope('notFound', { message: `Unknown API endpoint ${path.slice(0, 300)}` })

/** The refusal of a request that has the wrong shape; `reason` never repeats a value. */
export const invalidRequest = (reason?: string): FakeReply =>
  envelope('invalidRequest', reason === undefined ? {} : { message: `Invalid request: ${reason}` })

const JSON_HEADERS = { 'content-type': 'application/json' } as const

/**
 * Stands between a request and the server, to delay, fail or garble it.
 *
 * `next` asks the server; not calling it means the server never saw the request. A rejection means no answer.
 */
export type Middleware = (request: FakeRequest, next: () => Promise<FakeReply>) => Promise<FakeReply>

/** The body of a request for a handler, which reads text: bytes are taken for UTF-8. */
export const sentBody = ({ body = '', bodyBytes }: Pick<FetchOptions, 'body' | 'bodyBytes'>): string =>
  bodyBytes === undefined ? body : new TextDecoder().decode(bodyBytes)

/** An answer as `Io.fetch` gives it, as text or as the bytes of that text. */
export const fetchedReply = (
  { status, headers, body }: FakeReply,
  { replyAs = 'text' }: Pick<FetchOptions, 'replyAs'>
): FetchReply =>
  replyAs === 'bytes'
    ? { status, headers, text: '', bytes: new TextEncoder().encode(body) }
    : { status, headers, text: body }
