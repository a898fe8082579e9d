import test from 'ava'
import { parseBase32 } from '../../../kernel/crypto/encoding.ts'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import { totp } from '../../../kernel/crypto/totp.ts'
import { id, makeServerBench, ROOT, rootData, type ServerBench, stateOf } from '../../helpers/fake-login.ts'

const KEY = 'UDLS6IABHPBTNYFO'
const PASSWORD = { userId: id(3), passwordAuth: id(10) }

const codeAt = ({ clock }: ServerBench, seconds = 0): string =>
  totp({ crypto: makeNobleCrypto(clock) }, parseBase32(KEY), clock.now() / 1000 + seconds)

const protectedBench = async (): Promise<ServerBench> => {
  const bench = makeServerBench()
  await bench.query('POST', '/login/create', { data: rootData() })
  await bench.query('POST', '/login/otp', { ...ROOT, data: { otpKey: KEY } })
  return bench
}

test('with two-factor on, a code within two steps of 30 seconds is needed [5.51] [6.6] [9.5]', async t => {
  const bench = await protectedBench()
  for (const seconds of [-60, -30, 0, 30, 60]) {
    t.is((await bench.query('POST', '/login', { ...PASSWORD, otp: codeAt(bench, seconds) })).code, 0)
  }
  for (const seconds of [-90, 90]) {
    t.is((await bench.query('POST', '/login', { ...PASSWORD, otp: codeAt(bench, seconds) })).code, 8)
  }
  for (const otp of ['', '12345', 'abcdef', KEY]) {
    t.is((await bench.query('POST', '/login', { ...PASSWORD, otp })).code, 8)
  }
  const { results } = await bench.query('POST', '/login', { ...PASSWORD, otp: codeAt(bench) })
  t.deepEqual([results.otpKey, results.otpTimeout], [KEY, 604_800])
})

test('a failed code leaves a pending voucher and says how to go on [3.6] [8.21] [8.31]', async t => {
  const bench = await protectedBench()
  const { status, code, message, results } = await bench.query('POST', '/login', PASSWORD)
  t.deepEqual([status, code, message], [401, 8, 'Invalid OTP'])
  t.deepEqual(results, {
    login_id: id(1),
    otp_reset_auth: 'Super secret reset token',
    reason: 'otp',
    voucher_activates: '2026-01-08T00:00:00.000Z',
    voucher_auth: 'qrs=',
    voucher_id: 'voucher-0'
  })
  const described = { ...PASSWORD, deviceDescription: 'A tablet' }
  t.is((await bench.query('POST', '/login', described)).results.voucher_id, 'voucher-1')
  const [seen] = (await bench.query('POST', '/messages', { loginIds: [id(1), id(99)] })).results
  const voucher = {
    activates: '2026-01-08T00:00:00.000Z',
    created: '2026-01-01T00:00:00.000Z',
    ip: 'localhost',
    ipDescription: 'here'
  }
  const first = { ...voucher, voucherId: 'voucher-0', deviceDescription: 'A phone' }
  const second = { ...voucher, voucherId: 'voucher-1', deviceDescription: 'A tablet' }
  t.is(seen.loginId, id(1))
  t.deepEqual(seen.pendingVouchers, [first, second])
  const kept = [first, second].map(shown => ({ ...shown, status: 'pending', voucherAuth: 'qrs=' }))
  t.deepEqual(bench.server.db.login(id(1))?.vouchers, kept)
})

test('a wrong password never makes a voucher, and a flood of wrong codes stops growing', async t => {
  const bench = await protectedBench()
  const before = stateOf(bench.server)
  await bench.query('POST', '/login', { ...PASSWORD, passwordAuth: id(9) })
  t.is(stateOf(bench.server), before)
  for (let count = 0; count < 130; count += 1) await bench.query('POST', '/login', PASSWORD)
  const [seen] = (await bench.query('POST', '/messages', { loginIds: [id(1)] })).results
  t.is(seen.pendingVouchers.length, 100)
})

test('a device that logs in again with its voucher keeps that one, until it is rejected', async t => {
  const bench = await protectedBench()
  await bench.query('POST', '/login', PASSWORD)
  const pendingQuery = { ...PASSWORD, voucherId: 'voucher-0', voucherAuth: 'qrs=' }
  t.is((await bench.query('POST', '/login', pendingQuery)).results.voucher_id, 'voucher-0')
  t.is(
    (await bench.query('POST', '/login', { ...pendingQuery, voucherAuth: 'qrw=' })).results.voucher_id,
    'voucher-1'
  )
  const reject = { ...ROOT, otp: codeAt(bench), data: { rejectedVouchers: ['voucher-0'] } }
  t.is((await bench.query('POST', '/login/vouchers', reject)).code, 0)
  t.is((await bench.query('POST', '/login', pendingQuery)).results.voucher_id, 'voucher-2')
})

test('an approved voucher lets its device log in, and a rejected one never does [4.1] [4.2] [7.14]', async t => {
  const bench = await protectedBench()
  await bench.query('POST', '/login', PASSWORD)
  await bench.query('POST', '/login', PASSWORD)
  await bench.query('POST', '/login', PASSWORD)
  const voucher = { voucherId: 'voucher-0', voucherAuth: 'qrs=' }
  t.is((await bench.query('POST', '/login', { ...PASSWORD, ...voucher })).code, 8)
  const judge = (data: unknown) =>
    bench.query('POST', '/login/vouchers', { ...ROOT, otp: codeAt(bench), data })
  const { code, results } = await judge({
    approvedVouchers: ['voucher-0', 'voucher-77'],
    rejectedVouchers: ['voucher-1']
  })
  t.is(code, 0)
  t.deepEqual(
    results.pendingVouchers.map((item: { voucherId: string }) => item.voucherId),
    ['voucher-2']
  )
  t.is((await bench.query('POST', '/login', { ...PASSWORD, ...voucher })).code, 0)
  t.is((await bench.query('POST', '/login', { ...PASSWORD, ...voucher, voucherId: 'voucher-1' })).code, 8)
  t.is((await bench.query('POST', '/login', { ...PASSWORD, ...voucher, voucherAuth: 'qrw=' })).code, 8)
})

test('a reset is dated once, reported in messages and errors, and cleared by enabling again [4.3] [4.4] [7.18] [7.19]', async t => {
  const bench = await protectedBench()
  const { query, clock } = bench
  await query('POST', '/login', PASSWORD)
  const otpResetAuth = 'Super secret reset token'
  t.is((await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth: 'wrong' })).code, 4)
  t.is((await query('DELETE', '/login/otp', { userId: id(99), otpResetAuth })).code, 3)
  const first = await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth })
  t.deepEqual(first.results, { otpResetDate: '2026-01-08T00:00:00.000Z' })
  await clock.advance(60_000)
  const second = await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth })
  t.deepEqual(second.results, first.results)
  t.is((await query('POST', '/login', PASSWORD)).results.otp_timeout_date, '2026-01-08T00:00:00.000Z')
  t.true((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].otpResetPending)
  await query('PUT', '/login/otp', { ...ROOT, otp: codeAt(bench), data: { otpKey: KEY, otpTimeout: 5 } })
  t.false((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].otpResetPending)
})

test('disabling clears key, timeout, date and token; a reset without two-factor is refused [4.5] [7.16] [7.17]', async t => {
  const bench = await protectedBench()
  const { query, server } = bench
  await query('POST', '/login', PASSWORD)
  t.is((await query('DELETE', '/login/otp', ROOT)).code, 8)
  t.is((await query('DELETE', '/login/otp', { ...ROOT, otp: codeAt(bench) })).code, 0)
  const record = server.db.login(id(1))
  t.deepEqual(
    [record?.otpKey, record?.otpTimeout, record?.otpResetDate, record?.otpResetAuth],
    [undefined, undefined, undefined, undefined]
  )
  t.is((await query('POST', '/login', PASSWORD)).code, 0)
  server.db.saveLogin({ ...(record as NonNullable<typeof record>), otpResetAuth: 'token' })
  const refused = await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth: 'token' })
  t.deepEqual([refused.code, refused.message], [1, 'OTP not setup for this account.'])
  for (const data of [
    {},
    { otpKey: 'not base32!' },
    { otpKey: KEY, otpTimeout: 'soon' },
    { otpKey: KEY, otpTimeout: -1 }
  ]) {
    t.is((await query('POST', '/login/otp', { ...ROOT, data })).code, 1)
  }
})

test('an unanswered voucher counts as approved after seven days, a rejected one never', async t => {
  const bench = await protectedBench()
  const { query, clock, server } = bench
  await query('POST', '/login', PASSWORD)
  await query('POST', '/login', PASSWORD)
  const rejected = { rejectedVouchers: ['voucher-1'] }
  await query('POST', '/login/vouchers', { ...ROOT, otp: codeAt(bench), data: rejected })
  const logIn = (voucherId: string) =>
    query('POST', '/login', { ...PASSWORD, voucherId, voucherAuth: 'qrs=' })
  await clock.advance(604_799_999)
  t.is((await logIn('voucher-0')).code, 8)
  t.is((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].pendingVouchers.length, 1)
  await clock.advance(1)
  t.deepEqual((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].pendingVouchers, [])
  t.is((await logIn('voucher-0')).code, 0)
  t.is((await logIn('voucher-1')).code, 8)
  const kept = server.db.login(id(1))?.vouchers.map(({ status }) => status)
  t.deepEqual(kept, ['approved', 'rejected', 'pending'])
})

test('a reset whose date has come switches two-factor off at the next login, and clears key, timeout, date and token', async t => {
  const bench = await protectedBench()
  const { query, clock, server } = bench
  const { otp_reset_auth: otpResetAuth } = (await query('POST', '/login', PASSWORD)).results
  await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth })
  await clock.advance(604_799_999)
  t.is((await query('POST', '/login', PASSWORD)).code, 8)
  t.true((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].otpResetPending)
  await clock.advance(1)
  t.false((await query('POST', '/messages', { loginIds: [id(1)] })).results[0].otpResetPending)
  t.is((await query('DELETE', '/login/otp', { userId: id(3), otpResetAuth })).code, 4)
  // A wrong password is no login.
  t.is((await query('POST', '/login', { ...PASSWORD, passwordAuth: id(9) })).code, 4)
  t.is(server.db.login(id(1))?.otpKey, KEY)
  const { code, results } = await query('POST', '/login', PASSWORD)
  t.deepEqual(
    [code, results.otpKey, results.otpTimeout, results.otpResetDate],
    [0, undefined, undefined, undefined]
  )
  const { otpKey, otpTimeout, otpResetDate, otpResetAuth: token } = server.db.login(id(1)) ?? {}
  t.deepEqual([otpKey, otpTimeout, otpResetDate, token], [undefined, undefined, undefined, undefined])
})
