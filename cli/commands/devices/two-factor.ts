import { type Context, isWalletError } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseSpan } from '../../grammar/options.ts'
import { localTime, qrLines, secretJson, secretText, spanText } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { readCurrentAccount } from '../../profile/state-files.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirmTyped } from '../../session/confirm.ts'
import { chooseMethod, type LoginTarget, prepareLogin, targetOf, usernameOf } from '../../session/log-in.ts'
import { makeChange, nameOf, refreshedAccount } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Shows if two-factor is on, and the resets and vouchers that are pending. */
export const twoFactorStatus: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const { isEnabled, otpTimeout, otpResetDate, pendingVouchers } = account.twoFactor.status
  return {
    data: {
      enabled: isEnabled,
      resetAfterSeconds: otpTimeout ?? null,
      otpResetDate: otpResetDate?.toISOString() ?? null,
      pendingVouchers: pendingVouchers.length
    },
    view: {
      kind: 'record',
      fields: [
        ['two-factor', isEnabled ? { text: 'on', tone: 'good' } : { text: 'off', tone: 'warn' }],
        ['a reset is pending', otpTimeout === undefined ? '' : spanText(otpTimeout)],
        ['reset', otpResetDate === undefined ? 'nobody asked' : resetCell(otpResetDate)],
        ['waiting devices', String(pendingVouchers.length)]
      ]
    },
    warnings
  }
}

const resetCell = (date: Date) =>
  ({
    text: `requested: two-factor is switched off at ${localTime(date)}, unless you cancel: holdfast 2fa reset cancel`,
    tone: 'bad'
  }) as const

/** Enables two-factor: new devices need a code or an approval. */
export const twoFactorEnable: CommandRun = async session => {
  const after = session.text('resetAfter')
  const seconds = after === undefined ? undefined : parseSpan(after)
  const account = await session.account()
  const result = await makeChange(session, {
    doing: 'Switching two-factor on',
    done: `Two-factor is on for ${nameOf(account)}`,
    data: { enabled: true },
    advice: [
      'This device has the key. Give it to an authenticator, and keep it: holdfast 2fa key --reveal --qr'
    ],
    call: () => account.twoFactor.enableOtp(seconds)
  })
  const { otpTimeout } = account.twoFactor.status
  return { ...result, data: { ...result.data, resetAfterSeconds: otpTimeout ?? seconds ?? null } }
}

/** Disables two-factor, for every device. */
export const twoFactorDisable: CommandRun = async (session): Promise<CommandResult> => {
  const account = await session.account()
  const name = nameOf(account)
  if (!session.globals.dryRun) {
    await confirmTyped(session, {
      question: `Switch two-factor of ${name} off? Its key and codes then become useless.`,
      name,
      summary: { account: account.id, username: account.username ?? null }
    })
  }
  return makeChange(session, {
    doing: 'Switching two-factor off',
    done: `Two-factor is off for ${name}`,
    data: { enabled: false },
    call: () => account.twoFactor.disableOtp()
  })
}

/** Shows the current six-digit code. It expires within minutes, so `--reveal` is not needed. */
export const twoFactorCode: CommandRun = async session => {
  const digits = (await session.account()).twoFactor.getCode()
  if (digits === undefined) throw withoutKey()
  return { data: { code: digits }, view: { kind: 'text', lines: [digits] } }
}

/** Stores the two-factor key of another device here, if the server accepts it. */
export const twoFactorRepair: CommandRun = async session => {
  const account = await session.account('password')
  const otpKey =
    (await session.secrets.given('otp-key')) ??
    (await session.secrets.prompt('otp-key', { message: 'Two-factor key of another device:' }))
  return makeChange(session, {
    doing: 'Trying the key',
    done: `This device has the two-factor key of ${nameOf(account)}`,
    data: { repaired: true },
    call: () => account.twoFactor.repairOtp(otpKey)
  })
}

/** Shows the two-factor key, with `--reveal`; with `--qr` as a code for authenticators. */
export const twoFactorKey: CommandRun = async session => {
  const account = await session.account()
  const otpKey = account.twoFactor.getOtpKey()
  if (otpKey === undefined) throw withoutKey()
  const uri = otpauthUri(nameOf(account), otpKey)
  const isDrawn = session.isOn('qr')
  if (isDrawn && !session.isOn('reveal')) {
    throw new CliError('USAGE', 'Anyone can read a key in a QR code: add --reveal, too')
  }
  return {
    data: { otpKey: secretJson(session, otpKey), uri: secretJson(session, uri) },
    view: isDrawn
      ? { kind: 'text', lines: [...(await qrLines(uri, session.globals.ascii, 2)), '', otpKey] }
      : { kind: 'record', fields: [['two-factor key', secretText(session, otpKey)]] }
  }
}

/** The URI that authenticators read (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
const otpauthUri = (name: string, otpKey: string): string => {
  const secret = otpKey.replace(/=+$/, '')
  return `otpauth://totp/${encodeURIComponent(`Holdfast:${name}`)}?secret=${secret}&issuer=Holdfast`
}

const withoutKey = (): CliError =>
  new CliError('NOT_FOUND', 'This device has no two-factor key', {
    next: [
      { command: 'holdfast 2fa enable', why: 'switch two-factor on' },
      { command: 'holdfast 2fa repair', why: 'give this device the key of another device' }
    ]
  })

/**
 * Requests a two-factor reset, for an owner who lost the key.
 *
 * The reset token comes with the error of a login that fails only because of the missing code; without a token, such a
 * login is tried.
 */
export const otpResetRequest: CommandRun = async (session, user) => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username
  if (name === undefined) throw new CliError('USAGE', 'Name the account: holdfast 2fa reset request <user>')
  const target = targetOf(context, { username: name }, name)
  const username = usernameOf(target)
  const token = (await session.secrets.given('otp-reset')) ?? (await tokenOf(session, context, target))
  if (session.globals.dryRun) {
    return {
      data: { username, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was requested; without --dry-run: a reset for ${username}`] }
    }
  }
  const date = await session.withProgress('Requesting the reset', () =>
    context.requestOtpReset(username, token)
  )
  return {
    data: { username, otpResetDate: date.toISOString() },
    view: { kind: 'text', lines: [`Two-factor of ${username} is switched off at ${localTime(date)}`] },
    advice: ['Until then any logged-in device can cancel it: holdfast 2fa reset cancel']
  }
}

/** Cancels a requested two-factor reset. */
export const otpResetCancel: CommandRun = async session => {
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
    const account = await session.withProgress('Trying to log in', () => login({}))
    session.adoptAccount(account)
  } catch (error) {
    if (!isWalletError(error, 'OTP') || error.details.resetToken === undefined) throw error
    return error.details.resetToken
  }
  throw new CliError('NOT_NEEDED', `${target.name} logs in on this device without a code`, {
    hint: 'A logged-in device can switch two-factor off at once.',
    next: [{ command: 'holdfast 2fa disable', why: 'switch two-factor off' }]
  })
}
