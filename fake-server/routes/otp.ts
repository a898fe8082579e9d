import { isoOf } from '../../kernel/base/time.ts'
import { objectOf, optional } from '../../kernel/schema/shape.ts'
import { loginAt, NO_OTP } from '../accounts/auth.ts'
import { isTimeout, otpKey, type Shape } from '../accounts/shapes.ts'
import { envelope, type FakeReply } from '../base/replies.ts'
import { done, type KnownCall, type LoginCall, payloadOf, type Route, withLogin } from './route.ts'

/** Two-factor: switched on, off, or reset after a delay (protocol §2.10, specification §4). */
export const otpRoutes = (): readonly Route[] => {
  const enable = withLogin(enableOtp)
  return [
    {
      path: '/api/v2/login/otp',
      methods: { DELETE: withLogin(disableOtp, requestReset), POST: enable, PUT: enable }
    }
  ]
}

/** Seven days, in seconds (specification §9). */
const DEFAULT_TIMEOUT = 604_800

const enableOtp = (call: KnownCall): FakeReply => {
  const { otpKey, otpTimeout = DEFAULT_TIMEOUT } = payloadOf(otpShape, call)
  call.db.saveLogin({ ...call.record, otpKey, otpTimeout, otpResetDate: undefined })
  return done()
}

const disableOtp = ({ db, record }: KnownCall): FakeReply => {
  db.saveLogin({ ...record, ...NO_OTP })
  return done()
}

const requestReset = ({ request, db, clock }: LoginCall): FakeReply => {
  const { userId, otpResetAuth } = request
  if (userId === undefined || otpResetAuth === undefined) return envelope('invalidRequest')
  const found = db.findLogin('userId', userId)
  if (found === undefined) return envelope('noAccount')
  const record = loginAt(found, clock.now())
  if (record.otpResetAuth === undefined || otpResetAuth !== record.otpResetAuth) {
    return envelope('invalidPassword', { results: { wait_seconds: 0 } })
  }
  if (record.otpKey === undefined || record.otpTimeout === undefined) {
    return envelope('invalidRequest', { message: 'OTP not setup for this account.' })
  }
  const otpResetDate = record.otpResetDate ?? isoOf(clock.now() + record.otpTimeout * 1000)
  // A second request must not push the date away.
  if (record.otpResetDate === undefined) db.saveLogin({ ...record, otpResetDate })
  return envelope('success', { results: { otpResetDate } })
}

/** `data` of POST /v2/login/otp. */
const otpShape: Shape<{ otpKey: string; otpTimeout: number | undefined }> = objectOf<{
  otpKey: string
  otpTimeout: number | undefined
}>({ otpKey: otpKey(), otpTimeout: optional('seconds', isTimeout) })
