import { type Context, isWalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { localTime } from '../output/times.ts'
import { readCurrentAccount } from '../profile/current-account.ts'
import { chooseMethod } from '../session/choose-method.ts'
import { prepareLogin } from '../session/login-methods.ts'
import { type LoginTarget, targetOf, usernameOf } from '../session/login-target.ts'
import { makeChange, nameOf } from '../session/make-change.ts'
import type { Session } from '../session.ts'

/**
 * Asks to have two-factor switched off, for an owner who lost its key.
 *
 * The token for it is what a login gets that fails for want of a code alone; without one, such a login is tried.
 */
export const resetRequest: CommandRun = async (session, user) => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username
  if (name === undefined)
    throw new CliError('USAGE', 'Say whose two-factor: holdfast 2fa reset request <user>')
  const target = targetOf(context, { username: name }, name)
  const username = usernameOf(target)
  const token = (await session.secrets.given('otp-reset')) ?? (await tokenOf(session, context, target))
  if (session.globals.dryRun) {
    return {
      data: { username, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was asked for; a reset for ${username} can be`] }
    }
  }
  const date = await session.doing('Asking for the reset', () => context.requestOtpReset(username, token))
  return {
    data: { username, otpResetDate: date.toISOString() },
    view: { kind: 'text', lines: [`Two-factor of ${username} goes off at ${localTime(date)}`] },
    advice: ['Until then whoever is logged in can cancel it: holdfast 2fa reset cancel']
  }
}

/** Keeps two-factor on although somebody asked for a reset. */
export const resetCancel: CommandRun = async session => {
  const account = await session.account()
  return makeChange(session, {
    doing: 'Cancelling the reset',
    done: `Two-factor of ${nameOf(account)} stays on`,
    data: { cancelled: true },
    call: () => account.twoFactor.cancelOtpReset()
  })
}

const tokenOf = async (session: Session, context: Context, target: LoginTarget): Promise<string> => {
  const login = await prepareLogin(await chooseMethod(session, target), { session, context, target })
  try {
    const account = await session.doing('Trying to log in', () => login({}))
    session.adoptAccount(account)
  } catch (error) {
    if (!isWalletError(error, 'OTP') || error.details.resetToken === undefined) throw error
    return error.details.resetToken
  }
  throw new CliError('NOT_NEEDED', `${target.name} logs in here without a code`, {
    hint: 'Whoever can log in can switch two-factor off at once.',
    next: [{ command: 'holdfast 2fa disable', why: 'switch two-factor off' }]
  })
}
