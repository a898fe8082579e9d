import { base64 } from '@scure/base'
import { FakeServer, type FakeServerOptions } from '../../fake-server/routes/fake-server.ts'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'

/** What a request gave: the HTTP status, the parsed body (undefined if empty) and the headers. */
export interface Answer {
  readonly status: number
  readonly code: number | undefined
  readonly message: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: replies of many shapes, read by tests only
  readonly results: any
  // biome-ignore lint/suspicious/noExplicitAny: replies of many shapes, read by tests only
  readonly body: any
  readonly headers: Readonly<Record<string, string>>
}

/** A fake server with a clock that stands still, and a short way to ask it. */
export interface ServerBench {
  readonly server: FakeServer
  readonly clock: FakeClock
  /** Asks; the route is below `/api/v2` unless it begins with `/v1` or `/api`. */
  query(method: string, route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** Makes a server to test. */
export const makeServerBench = (options: Partial<FakeServerOptions> = {}): ServerBench => {
  const clock = makeFakeClock()
  const server = new FakeServer({ crypto: makeNobleCrypto(clock), clock, ...options })
  return { server, clock, query: requesterOf(server) }
}

/** A short way to ask any server. */
export const requesterOf =
  (server: FakeServer): ServerBench['query'] =>
  async (method, route, body, headers = {}) => {
    const path = /^\/(?:v1|api)\b/.test(route) ? route : `/api/v2${route}`
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const reply = await server.handle({ method, path, headers, body: text })
    const parsed = reply.body === '' ? undefined : JSON.parse(reply.body)
    return {
      status: reply.status,
      code: parsed?.status_code,
      message: parsed?.message,
      results: parsed?.results,
      body: parsed,
      headers: reply.headers
    }
  }

/** 32 bytes in base64, another for each number. */
export const id = (count: number): string => {
  const bytes = new Uint8Array(32)
  bytes[0] = count & 0xff
  bytes[1] = count >> 8
  bytes[31] = 7
  return base64.encode(bytes)
}

/** A well-formed box, another for each number. */
export const boxOf = (count: number): { encryptionType: number; iv_hex: string; data_base64: string } => ({
  encryptionType: 0,
  iv_hex: count.toString(16).padStart(32, '0'),
  data_base64: base64.encode(Uint8Array.of(count & 0xff, count >> 8, 1))
})

const SNRP = { salt_hex: '00ff', n: 16, r: 1, p: 1 }

/** The password fields of a request. */
export const passwordGroup = (count: number): Record<string, unknown> => ({
  passwordAuth: id(count),
  passwordAuthBox: boxOf(count),
  passwordAuthSnrp: SNRP,
  passwordBox: boxOf(count + 1),
  passwordKeySnrp: SNRP
})

/** The PIN fields of a request. */
export const pinGroup = (count: number): Record<string, unknown> => ({
  pin2Id: id(count),
  pin2Auth: id(count + 1),
  pin2Box: boxOf(count),
  pin2KeyBox: boxOf(count + 1),
  pin2TextBox: boxOf(count + 2)
})

/** The recovery fields of a request. */
export const recoveryGroup = (count: number): Record<string, unknown> => ({
  recovery2Id: id(count),
  recovery2Auth: [id(count + 1), id(count + 2)],
  recovery2Box: boxOf(count),
  recovery2KeyBox: boxOf(count + 1),
  question2Box: boxOf(count + 2)
})

/** The data of a create call for a root: login id 1, secret 2, user id 3, password 10, PIN 20. */
export const rootData = (): Record<string, unknown> => ({
  appId: '',
  loginId: id(1),
  loginAuth: id(2),
  loginAuthBox: boxOf(2),
  userId: id(3),
  userTextBox: boxOf(3),
  keyBoxes: [],
  newSyncKeys: [],
  ...passwordGroup(10),
  ...pinGroup(20)
})

/** The credentials of {@link rootData}. */
export const ROOT: { loginId: string; loginAuth: string } = { loginId: id(1), loginAuth: id(2) }

/** Everything a server remembers, to see that nothing changed. */
export const stateOf = (server: FakeServer): string => JSON.stringify([...server.db.entries()])
