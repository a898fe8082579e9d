import type { Schema } from 'yup'
import { isWalletError, scrub, WalletError } from '../../base/errors.ts'
import { parseJsonText } from '../../base/json.ts'
import {
  asChallengeResults,
  asEnvelope,
  asOtpResults,
  asPasswordResults,
  type OtpResults
} from '../../schema/login.ts'
import { parse } from '../../schema/shape.ts'

/**
 * Gives the results of a reply of the login server, or throws what its code says (protocol §2.2; pure).
 *
 * @param text - the body; the HTTP status only helps the message
 * @throws INVALID_JSON, BAD_REPLY, ACCOUNT_EXISTS, ACCOUNT_NOT_FOUND, PASSWORD, API_KEY_INVALID, OTP,
 * OBSOLETE_API, CHALLENGE, CONFLICT, SERVER
 */
export const resultsOf = (text: string, status: number): unknown => {
  const { status_code: code, message, results } = parse(asEnvelope, jsonOf(text, status), 'login reply')
  if (code === 0) return results
  throw failureOf(code, message, results)
}

const jsonOf = (text: string, status: number): unknown => {
  try {
    return parseJsonText(text)
  } catch {
    throw new WalletError('INVALID_JSON', { status })
  }
}

const failureOf = (code: number, message: string, results: unknown): WalletError => {
  switch (code) {
    case 2:
      return new WalletError('ACCOUNT_EXISTS', {})
    case 3:
      return new WalletError('ACCOUNT_NOT_FOUND', {})
    case 4:
    case 5: {
      const waitSeconds = tryParse(asPasswordResults, results)?.wait_seconds
      return new WalletError('PASSWORD', waitSeconds === undefined ? {} : { waitSeconds })
    }
    case 6:
      return new WalletError('API_KEY_INVALID', {})
    case 8:
      return otpFailureOf(tryParse(asOtpResults, results))
    case 1000:
      return new WalletError('OBSOLETE_API', {})
    default: {
      const challenge = tryParse(asChallengeResults, results)
      if (challenge !== undefined) return new WalletError('CHALLENGE', challenge)
      return new WalletError(code === 10 ? 'CONFLICT' : 'SERVER', { message: scrub(message) })
    }
  }
}

const otpFailureOf = (results: OtpResults | undefined): WalletError<'OTP'> =>
  new WalletError('OTP', {
    reason: results?.reason === 'ip' ? 'ip' : 'otp',
    ...(results?.login_id === undefined ? {} : { loginId: results.login_id }),
    ...(results?.otp_reset_auth === undefined ? {} : { resetToken: results.otp_reset_auth }),
    ...(results?.otp_timeout_date === undefined ? {} : { resetDate: results.otp_timeout_date }),
    ...(results?.voucher_activates === undefined ? {} : { voucherActivates: results.voucher_activates }),
    ...(results?.voucher_auth === undefined ? {} : { voucherAuth: results.voucher_auth }),
    ...(results?.voucher_id === undefined ? {} : { voucherId: results.voucher_id })
  })

/** Details that cannot be read must not hide the failure that they belong to. */
const tryParse = <T>(schema: Schema<T>, results: unknown): T | undefined => {
  try {
    return parse(schema, results, 'login reply')
  } catch (error) {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
    return undefined
  }
}
