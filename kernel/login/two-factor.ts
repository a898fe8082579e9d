import { WalletError } from '../base/errors.ts'
import { dateOf } from '../base/time.ts'
import { parseResetDate } from '../schema/login.ts'
import { normalizeUsername, userIdOf } from './derive.ts'
import { normalizeOtpKey } from './kits/otp-kit.ts'
import type { Login } from './login.ts'
import { encodeLoginRequest } from './server/login-request.ts'
import { loginFetch, type ServerPort } from './server/login-server.ts'

/** Who asks for a reset, and the token that a refused code came with. */
export interface ResetRequest {
  /** As typed. */
  readonly username: string
  /** `resetToken` of an OTP error. A secret. */
  readonly resetToken: string
}

/**
 * Asks the server to switch two-factor off after its timeout, unless the owner cancels that (specification §4, §7).
 *
 * @returns when it will be off; a second request does not put that off
 * @throws BAD_USERNAME, ACCOUNT_NOT_FOUND, NETWORK; PASSWORD for a wrong token; SERVER if two-factor is not on
 */
export const requestOtpReset = async (
  port: ServerPort,
  { username, resetToken }: ResetRequest
): Promise<Date> => {
  const userId = await userIdOf(port.io, normalizeUsername(username))
  const body = encodeLoginRequest(port.io, { userId, otpResetAuth: resetToken })
  return dateOf(parseResetDate(await loginFetch(port, 'DELETE', '/v2/login/otp', body)))
}

/**
 * Gives a login that was opened offline a new code key, such as after another device switched two-factor on.
 *
 * The server must take the key together with the password's proof, which only a login with a password has
 * (specification §5 "Repairing 2FA needs a password login"); else all stays as it is.
 *
 * @param otpKey - base32 as typed
 * @throws OTP_REPAIR_WITHOUT_PASSWORD; OTP if it is the wrong key; NETWORK, LOGGED_OUT
 */
export const repairOtp = async (port: ServerPort, login: Login, otpKey: string): Promise<void> => {
  const { userId, passwordAuth } = login.openState.held
  if (userId === undefined || passwordAuth === undefined) {
    throw new WalletError('OTP_REPAIR_WITHOUT_PASSWORD', {})
  }
  const key = normalizeOtpKey(otpKey)
  if (key === undefined) throw new WalletError('OTP', { reason: 'otp' })
  await login.refresh({
    otpKey: key,
    credentials: {
      userId: port.io.crypto.fromBase64(userId),
      passwordAuth: passwordAuth.use(bytes => bytes.slice())
    }
  })
}
