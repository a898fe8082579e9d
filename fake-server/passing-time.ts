import { isoOf } from '../kernel/base/time.ts'
import type { LoginRecord, Voucher } from './login-record.ts'

/** How long a new voucher waits for an answer before it counts as approved: seven days, in milliseconds. */
export const VOUCHER_DELAY = 604_800_000

/**
 * A login as time has made it: a reset whose date has come switched two-factor off, and vouchers that nobody
 * answered in time are approved (specification §4, protocol §8, 27; pure).
 *
 * Whoever reads a record looks at it through this; the same record comes back if nothing fell due.
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
export const voucherDates = (now: number): Pick<Voucher, 'activates' | 'created'> => ({
  activates: isoOf(now + VOUCHER_DELAY),
  created: isoOf(now)
})

/** What a login without two-factor lacks. */
export const NO_OTP: Partial<LoginRecord> = {
  otpKey: undefined,
  otpTimeout: undefined,
  otpResetDate: undefined,
  otpResetAuth: undefined
}

const isDue = ({ status, activates }: Voucher, now: number): boolean =>
  status === 'pending' && Date.parse(activates) <= now
