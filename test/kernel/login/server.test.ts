import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import type { FetchOptions } from '../../../kernel/io/io.ts'
import { causeOfFetch, isUnchanged, loginFetch, type ServerServices } from '../../../kernel/login/server.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

interface Requested {
  readonly url: string
  readonly options: FetchOptions
}

const portOf = (text: string, requested: Requested[] = [], apiKey = 'key'): ServerServices => ({
  io: makeRepoIo({
    fetch: async (url, options = {}) => {
      requested.push({ url, options })
      return { status: 418, headers: {}, text }
    }
  }),
  config: { apiKey, authServer: 'https://login.example.edge.app/api' } as ServerServices['config']
})

const reply = (status_code: number, results?: unknown): string =>
  JSON.stringify({ status_code, message: 'Why', results })

test('a request has exactly the headers of the protocol, and a body unless it is a GET [7.1]', async t => {
  const requested: Requested[] = []
  t.deepEqual(await loginFetch(portOf(reply(0, { a: 1 }), requested), 'POST', '/v2/x', { b: 2 }), { a: 1 })
  await loginFetch(portOf(reply(0), requested, ''), 'GET', '/v2/x', { b: 2 })
  await loginFetch(portOf(reply(0), requested), 'DELETE', '/v2/x', {})
  t.is(requested[0]?.url, 'https://login.example.edge.app/api/v2/x')
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  t.deepEqual(requested[0]?.options.headers, { ...headers, authorization: 'Token key' })
  t.is(requested[1]?.options.headers?.authorization, 'Token 4248c1bf41e53b840a5fdb2c872dd3ade525e66d')
  t.deepEqual(
    requested.map(({ options }) => options.body),
    ['{"b":2}', undefined, '{}']
  )
})

test('a login and what else only reads may go to the server twice, and what changes something may not', async t => {
  const requested: Requested[] = []
  for (const path of [
    '/v2/login',
    '/v2/sync',
    '/v2/messages',
    '/v2/login/create',
    '/v2/login/secret',
    '/v2/voucher'
  ])
    await loginFetch(portOf(reply(0), requested), 'POST', path, {})
  const repeatable = requested
    .filter(({ options }) => options.isRepeatable)
    .map(({ url }) => url.split('/api')[1])
  t.deepEqual(repeatable, ['/v2/login', '/v2/sync', '/v2/messages'])
})

test('each reply code is its error [8.1] [8.2] [8.3] [8.4] [8.5] [8.6] [8.7] [8.8] [8.9] [8.12]', async t => {
  const date = '2026-01-01T00:00:00.000Z'
  const login_id = `${'A'.repeat(43)}=`
  const otp = {
    login_id,
    otp_reset_auth: 'r',
    otp_timeout_date: date,
    reason: 'ip',
    voucher_activates: date,
    voucher_auth: 'qrs=',
    voucher_id: 'v'
  }
  const otpDetails = {
    reason: 'ip',
    loginId: login_id,
    resetDate: date,
    voucherActivates: date,
    voucherId: 'v'
  }
  const challenge = { challengeId: 'c', challengeUri: 'https://captcha' }
  const cases: [string, string, string, object][] = [
    [reply(2), 'ACCOUNT_EXISTS', 'Account already exists on server', {}],
    [reply(3), 'ACCOUNT_NOT_FOUND', 'Account does not exist on server', {}],
    [reply(4, { wait_seconds: 5 }), 'PASSWORD', 'Invalid password', { waitSeconds: 5 }],
    [reply(5), 'PASSWORD', 'Invalid password', {}],
    [reply(4, 'garbage'), 'PASSWORD', 'Invalid password', {}],
    [reply(6), 'API_KEY_INVALID', 'Invalid API key', {}],
    [reply(8, otp), 'OTP', 'Invalid OTP token', otpDetails],
    [reply(8, { voucher_auth: 5 }), 'OTP', 'Invalid OTP token', { reason: 'otp' }],
    [reply(1000), 'OBSOLETE_API', 'The application is too old. Please upgrade.', {}],
    [reply(1, challenge), 'CHALLENGE', 'Login requires a CAPTCHA', challenge],
    [reply(10, { challengeId: 5 }), 'CONFLICT', 'Server error: Why', { message: 'Why' }],
    [reply(77), 'SERVER', 'Server error: Why', { message: 'Why' }],
    ['<html>', 'INVALID_JSON', 'Invalid reply JSON, HTTP status 418', { status: 418 }]
  ]
  for (const [text, code, message, details] of cases) {
    const error = await t.throwsAsync(loginFetch(portOf(text), 'POST', '/v2/x'), { code, message }, text)
    t.deepEqual((error as unknown as { details: object }).details, details, text)
  }
  const leak = JSON.stringify({ status_code: 1, message: `no ${'A1b2'.repeat(12)}` })
  await t.throwsAsync(loginFetch(portOf(leak), 'POST', '/v2/x'), { message: 'Server error: no […]' })
  for (const text of ['null', '[]', '{}', '{"status_code":"0","message":""}', '{"status_code":0}']) {
    await t.throwsAsync(loginFetch(portOf(text), 'POST', '/v2/x'), { code: 'BAD_REPLY' }, text)
  }
})

test('a server that cannot be reached, or is silent for 30 seconds, is a network error [8.10] [8.11] [9.1]', async t => {
  const down = { ...portOf(''), io: makeRepoIo() }
  const expected = { code: 'NETWORK', message: 'Could not reach the auth server: /v2/x' }
  await t.throwsAsync(loginFetch(down, 'POST', '/v2/x'), expected)

  const clock = makeFakeClock()
  let isAborted = false
  let signal: FetchOptions['signal']
  const silent = makeRepoIo({
    clock,
    fetch: (_, options) => {
      signal = options?.signal
      options?.signal?.addEventListener('abort', () => {
        isAborted = true
      })
      return new Promise(() => {})
    }
  })
  let error: unknown
  const requested = loginFetch({ ...down, io: silent }, 'POST', '/v2/x').catch(failure => {
    error = failure
  })
  await clock.advance(29_999)
  t.is(error, undefined)
  t.is(signal?.aborted, false)
  await clock.advance(1)
  await requested
  t.is(signal?.aborted, true, 'who looks later sees it, too')
  t.like(error, expected)
  t.true(isAborted)

  error = undefined
  const proxied = loginFetch({ ...down, io: { ...silent, isProxied: true } }, 'POST', '/v2/x').catch(
    failure => {
      error = failure
    }
  )
  await clock.advance(89_999)
  t.is(error, undefined, 'through a proxy it may take three times as long')
  await clock.advance(1)
  await proxied
  t.like(error, expected)

  const rude = makeRepoIo({
    clock,
    fetch: () => {
      throw new Error('No fetch')
    }
  })
  await t.throwsAsync(loginFetch({ ...down, io: rude }, 'POST', '/v2/x'), expected)
  t.is(clock.timerCount, 0)
})

test('the cause of a failed request is an error of ours as it is, and of any other its codes alone', t => {
  const ours = new WalletError('NETWORK', { path: '/v2/login' })
  t.is(causeOfFetch(ours), ours)
  const theirs = Object.assign(new Error('to https://host/secret'), { code: 'ECONNREFUSED' })
  t.is(causeOfFetch(theirs).message, 'the request failed: ECONNREFUSED')
  t.is(causeOfFetch('secret').message, 'the request failed')
  const chain = ['EFIRST', 'ESECOND', 'ETHIRD', 'EFOURTH', 'EFIFTH', 'ESIXTH'].reduceRight<
    object | undefined
  >((cause, code) => Object.assign(new Error('x', { cause }), { code }), undefined)
  t.is(causeOfFetch(chain).message, 'the request failed: EFIRST, ESECOND, ETHIRD, EFOURTH, EFIFTH')
  const ring: { code: string; cause?: unknown } = { code: 'ERING' }
  ring.cause = ring
  t.is(causeOfFetch(ring).message, 'the request failed: ERING')
})

test('a login counts as unchanged only if the server says so in this word, and not where it says anything else', async t => {
  const stash = { appId: '', loginId: 'id', syncToken: 'token', pendingVouchers: [] }
  const requested: Requested[] = []
  for (const [text, expected] of [
    [reply(0, true), true],
    [reply(0, false), false],
    [reply(0, 'true'), false],
    [reply(0), false],
    [reply(3), false],
    [reply(77), false],
    ['<html>', false]
  ] as const)
    t.is(await isUnchanged(portOf(text, requested), stash), expected, text)
  t.is(requested[0]?.options.body, '{"loginId":"id","syncToken":"token"}')
  const { syncToken: _, ...fresh } = stash
  t.false(await isUnchanged(portOf(reply(0, true), requested), fresh))
  t.is(requested.length, 7)
  const down = { ...portOf(''), io: makeRepoIo() }
  await t.throwsAsync(isUnchanged(down, stash), { code: 'NETWORK' })
})

test('a large reply is checked in slices, between which other tasks run, and a small one in one go', async t => {
  let now = 0
  let pauses = 0
  const clock = {
    ...makeFakeClock(),
    // Each slice takes longer than the thread may be kept.
    monotonic: () => {
      now += 10
      return now
    },
    turn: async () => {
      pauses += 1
    }
  }
  const fetch = (text: string): Promise<unknown> => {
    pauses = 0
    const services = portOf(text)
    return loginFetch({ ...services, io: { ...services.io, clock } }, 'GET', '/v2/x')
  }
  const many = (count: number): string[] => Array.from({ length: count }, () => 'item')
  t.deepEqual(await fetch(reply(0, many(10))), many(10))
  t.is(pauses, 0)

  const large = reply(0, many(100_000))
  t.deepEqual(await fetch(large), many(100_000))
  const slices = Math.floor(large.length / 65_536)
  t.true(pauses >= slices, `${pauses} pauses`)

  const broken = large.replace(/\]\}$/, `,${'['.repeat(100)}`)
  for (const [text, least] of [
    [broken, slices],
    [large.slice(0, -1), slices],
    ['['.repeat(large.length), 0]
  ] as const) {
    await t.throwsAsync(fetch(text), { code: 'INVALID_JSON' })
    t.true(pauses >= least, `${pauses} pauses`)
  }
  t.is(pauses, 0, 'depth is refused before the rest is read')
})
