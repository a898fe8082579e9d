import { type Account, isWalletError, type LoginHelp, type WalletError } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { PreparedLogin } from './login-methods.ts'
import type { LoginParts } from './login-target.ts'

/**
 * Tries a login with the code, key and challenge that flags bring; where a code is wanted and somebody can be asked,
 * asks until it is right or left empty.
 *
 * @throws OTP with the ways forward, CHALLENGE, and the errors of a login
 */
export const pastSecondFactor = async (session: LoginParts, login: PreparedLogin): Promise<Account> => {
  const { secrets, talk } = session
  let help = await helpOf(session)
  for (;;) {
    try {
      return await waiting(session, () => login(help))
    } catch (error) {
      if (!isWalletError(error, 'OTP') || !secrets.canAsk) throw error
      tell(session, error)
      const otp = await secrets.ask('otp', { message: 'Six-digit code (empty: stop):', check: checkCode })
      if (otp === '') throw error
      help = { ...help, otp }
      talk.clear()
    }
  }
}

const helpOf = async (session: LoginParts): Promise<LoginHelp> => {
  const [otp, otpKey] = [await session.secrets.given('otp'), await session.secrets.given('otp-key')]
  const challengeId = session.text('challengeId')
  return {
    ...(otp === undefined ? {} : { otp }),
    ...(otpKey === undefined ? {} : { otpKey }),
    ...(challengeId === undefined ? {} : { challengeId })
  }
}

const tell = ({ talk }: LoginParts, error: WalletError<'OTP'>): void => {
  const { message, hint } = failureOf(error)
  talk.say(`${message}. ${hint ?? ''}`)
}

const checkCode = (text: string): string | undefined =>
  text === '' || /^\d{6}$/.test(text) ? undefined : 'Type six digits, or nothing'

const waiting = async (session: LoginParts, login: () => Promise<Account>): Promise<Account> => {
  session.talk.step('logging in…')
  try {
    return await session.within('Logging in', login)
  } finally {
    session.talk.clear()
  }
}
