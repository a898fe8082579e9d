import { WalletError } from '../../base/errors.ts'
import { base32Of, parseBase32 } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'
import type { LoginTree } from '../../types/login.ts'
import type { LoginKit } from './login-kit.ts'

/** Seven days, in seconds: how long the owner has to notice that somebody asked for a reset (specification §9). */
const DEFAULT_OTP_TIMEOUT = 604_800

/**
 * The one spelling of a code key as typed, such as with `0` for `O`; undefined if it can make no codes
 * (protocol §1.1).
 */
export const normalizeOtpKey = (text: string): string | undefined => {
  try {
    const bytes = parseBase32(text)
    return bytes.length === 0 ? undefined : base32Of(bytes)
  } catch {
    return undefined
  }
}

/**
 * Switches two-factor on; a key that is known stays, so that no other device is shut out (protocol §1.5, §2.4).
 *
 * The key is kept before the server has it: if the answer were lost, this device could not log in without it. Until
 * the server has it, it changes nothing, and the next try sends the same one.
 *
 * @param otpTimeout - seconds between the request of a reset and its effect
 * @throws OPTION_INVALID unless that is a number of seconds above 0
 */
export const makeOtpKit = (
  io: Pick<Io, 'random'>,
  { loginId, otpKey: known }: LoginTree,
  otpTimeout: number = DEFAULT_OTP_TIMEOUT
): LoginKit => {
  if (typeof otpTimeout !== 'number' || !(otpTimeout > 0 && otpTimeout <= MAX_OTP_TIMEOUT)) {
    throw new WalletError('OPTION_INVALID', { option: 'timeout', rule: 'must be 1 second to 100 years' })
  }
  const otpKey = known?.use(text => text) ?? base32Of(io.random(10))
  return { ...otpKitOf(loginId, { otpKey, otpTimeout }), intent: { otpKey } }
}

/** Switches two-factor off, and forgets its key (protocol §2.4). */
export const makeOtpRemovalKit = ({ loginId }: LoginTree): LoginKit => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PATH,
  stash: { otpKey: undefined, otpTimeout: undefined, otpResetDate: undefined }
})

/**
 * Cancels a reset that somebody asked for: two-factor is switched on again as it is (protocol §2.4).
 *
 * @throws OTP_RESET_WITHOUT_OTP if it is off, or its key is not known here
 */
export const makeOtpResetCancelKit = ({ loginId, otpKey, otpTimeout }: LoginTree): LoginKit => {
  if (otpKey === undefined || otpTimeout === undefined) throw new WalletError('OTP_RESET_WITHOUT_OTP', {})
  return otpKitOf(loginId, { otpKey: otpKey.use(text => text), otpTimeout })
}

const PATH = '/v2/login/otp'

const MAX_OTP_TIMEOUT = 100 * 365 * 86_400

const otpKitOf = (loginId: string, otp: { otpKey: string; otpTimeout: number }): LoginKit => ({
  loginId,
  serverMethod: 'POST',
  serverPath: PATH,
  serverBody: otp,
  stash: { ...otp, otpResetDate: undefined }
})
