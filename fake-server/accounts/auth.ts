import { base64 } from '@scure/base'
import { isoOf, secondsOf } from '../../kernel/base/time.ts'
import { equalBytes, parseBase32 } from '../../kernel/crypto/encoding.ts'
import { isTotp } from '../../kernel/crypto/totp.ts'
import type { Clock, CryptoPort } from '../../kernel/io/io.ts'
import { envelope, type FakeReply } from '../base/replies.ts'
import type { FakeDb } from './fake-db.ts'
import type { LoginRecord, Voucher } from './login-record.ts'
import type { LoginRequest } from './shapes.ts'

/** The server's database and clock, which a request is checked with. */
interface AuthContext {
  readonly db: FakeDb
  readonly crypto: CryptoPort
  readonly clock: Clock
}

/** The login of a request, or the refusal. */
export type Access = { readonly record: LoginRecord } | { readonly refusal: FakeReply }

/**
 * Finds out who a request is: the first complete pair of id and secret counts, then the second factor
 * (protocol §2.10, specification §6). What fell due by now is done first, as the end of a two-factor reset.
 *
 * Undefined if the request carries no complete pair.
 */
export const authenticate = (request: LoginRequest, context: AuthContext): Access | undefined => {
  const claim = claimOf(request, context.db)
  if (claim === undefined) return undefined
  if (claim.record === undefined) return { refusal: envelope('noAccount') }
  if (!claim.isVerified(claim.record)) {
    return { refusal: envelope('invalidPassword', { results: { wait_seconds: 0 } }) }
  }
  const record = loginAt(claim.record, context.clock.now())
  if (record !== claim.record) context.db.saveLogin(record)
  if (passesSecondFactor(record, request, context)) return { record }
  return { refusal: refuseSecondFactor(record, request, context) }
}

interface Claim {
  readonly record: LoginRecord | undefined
  readonly isVerified: (record: LoginRecord) => boolean
}

const claimOf = (request: LoginRequest, db: FakeDb): Claim | undefined => {
  const { loginId, loginAuth, userId, passwordAuth, pin2Id, pin2Auth, recovery2Id, recovery2Auth } = request
  if (loginId !== undefined && loginAuth !== undefined) {
    return { record: db.login(loginId), isVerified: record => isSame(record.loginAuth, loginAuth) }
  }
  if (userId !== undefined && passwordAuth !== undefined) {
    return {
      record: db.findLogin('userId', userId),
      isVerified: record => isSame(record.passwordAuth, passwordAuth)
    }
  }
  if (pin2Id !== undefined && pin2Auth !== undefined) {
    return { record: db.findLogin('pin2Id', pin2Id), isVerified: record => isSame(record.pin2Auth, pin2Auth) }
  }
  if (recovery2Id !== undefined && recovery2Auth !== undefined) {
    return {
      record: db.findLogin('recovery2Id', recovery2Id),
      isVerified: record => hasAnswers(record, recovery2Auth)
    }
  }
  return undefined
}

const isSame = (known: string | undefined, given: string): boolean =>
  known !== undefined && equalBytes(base64.decode(known), base64.decode(given))

// An account without answers is proven by nothing, so an empty list must not pass.
const hasAnswers = ({ recovery2Auth: known }: LoginRecord, given: readonly string[]): boolean =>
  known !== undefined &&
  known.length > 0 &&
  known.length === given.length &&
  known.every((answer, index) => isSame(answer, given[index] ?? ''))

const passesSecondFactor = (
  { otpKey, vouchers }: LoginRecord,
  { otp, voucherId, voucherAuth }: LoginRequest,
  { crypto, clock }: AuthContext
): boolean => {
  if (otpKey === undefined) return true
  const time = secondsOf(clock.now())
  if (otp !== undefined && isTotp({ crypto }, parseBase32(otpKey), { code: otp, time })) return true
  return findVoucher(vouchers, { voucherId, voucherAuth })?.status === 'approved'
}

const findVoucher = (
  vouchers: readonly Voucher[],
  { voucherId, voucherAuth }: Pick<LoginRequest, 'voucherId' | 'voucherAuth'>
): Voucher | undefined =>
  vouchers.find(
    item => item.voucherId === voucherId && voucherAuth !== undefined && isSame(item.voucherAuth, voucherAuth)
  )

// The constants are those of the deployed test server (protocol §2.10), so that recorded traffic compares equal.
const RESET_TOKEN = 'Super secret reset token'
const VOUCHER = { voucherAuth: 'qrs=', status: 'pending', ip: 'localhost', ipDescription: 'here' } as const
const UNKNOWN_DEVICE = 'A phone'
const MAX_VOUCHERS = 100

const refuseSecondFactor = (
  record: LoginRecord,
  request: LoginRequest,
  { db, clock }: AuthContext
): FakeReply => {
  const { deviceDescription = UNKNOWN_DEVICE } = request
  // A device that asks again and again waits for one approval, not for the newest of many.
  const sent = findVoucher(record.vouchers, request)
  const last = record.vouchers.length >= MAX_VOUCHERS ? record.vouchers.at(-1) : undefined
  const known = sent?.status === 'pending' ? sent : last
  const voucher: Voucher = known ?? {
    ...VOUCHER,
    ...voucherDates(clock.now()),
    voucherId: `voucher-${record.vouchers.length}`,
    deviceDescription
  }
  if (known === undefined || record.otpResetAuth !== RESET_TOKEN) {
    const vouchers = known === undefined ? [...record.vouchers, voucher] : record.vouchers
    db.saveLogin({ ...record, otpResetAuth: RESET_TOKEN, vouchers })
  }
  return envelope('invalidOtp', {
    results: {
      login_id: record.loginId,
      otp_reset_auth: RESET_TOKEN,
      otp_timeout_date: record.otpResetDate,
      reason: 'otp',
      voucher_activates: voucher.activates,
      voucher_auth: voucher.voucherAuth,
      voucher_id: voucher.voucherId
    }
  })
}

/** The time until an unanswered voucher counts as approved: seven days, in milliseconds. */
const VOUCHER_DELAY = 604_800_000

/**
 * Applies what has fallen due to a login: a reset whose date has come switches two-factor off, and vouchers without an
 * answer in time become approved (specification §4, protocol §8, 27; pure).
 *
 * Every reader of a record calls it; it returns the same record if nothing fell due.
 *
 * @param now - milliseconds
 */
export const loginAt = (record: LoginRecord, now: number): LoginRecord => {
  const { otpResetDate, vouchers } = record
  const isReset = otpResetDate !== undefined && Date.parse(otpResetDate) <= now
  const isApproved = vouchers.some(voucher => isDue(voucher, now))
  if (!isReset && !isApproved) return record
  return {
    ...record,
    ...(isReset ? NO_OTP : {}),
    vouchers: vouchers.map(voucher => (isDue(voucher, now) ? { ...voucher, status: 'approved' } : voucher))
  }
}

/** The dates of a voucher that is made now, in milliseconds. */
const voucherDates = (now: number): Pick<Voucher, 'activates' | 'created'> => ({
  activates: isoOf(now + VOUCHER_DELAY),
  created: isoOf(now)
})

/** Clears the two-factor fields of a login. */
export const NO_OTP: Partial<LoginRecord> = {
  otpKey: undefined,
  otpTimeout: undefined,
  otpResetDate: undefined,
  otpResetAuth: undefined
}

const isDue = ({ status, activates }: Voucher, now: number): boolean =>
  status === 'pending' && Date.parse(activates) <= now
