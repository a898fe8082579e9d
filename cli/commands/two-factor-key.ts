import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { qrLines } from '../output/qr.ts'
import { secretJson, secretText } from '../output/revealed.ts'
import { makeChange, nameOf } from '../session/make-change.ts'

/** Shows the six digits of now. They are worth nothing within minutes, so no `--reveal` is asked for. */
export const code: CommandRun = async session => {
  const digits = (await session.account()).twoFactor.getCode()
  if (digits === undefined) throw withoutKey()
  return { data: { code: digits }, view: { kind: 'text', lines: [digits] } }
}

/** Gives this device the key of another one, if the server takes it. */
export const repair: CommandRun = async session => {
  const account = await session.account('password')
  const otpKey =
    (await session.secrets.given('otp-key')) ??
    (await session.secrets.ask('otp-key', { message: 'Two-factor key of another device:' }))
  return makeChange(session, {
    doing: 'Trying the key',
    done: `This device has the two-factor key of ${nameOf(account)}`,
    data: { repaired: true },
    call: () => account.twoFactor.repairOtp(otpKey)
  })
}

/** Shows the key that makes the codes, with `--reveal`; with `--qr` as authenticators scan it. */
export const key: CommandRun = async session => {
  const account = await session.account()
  const otpKey = account.twoFactor.getOtpKey()
  if (otpKey === undefined) throw withoutKey()
  const uri = otpauthUri(nameOf(account), otpKey)
  const isDrawn = session.isOn('qr')
  if (isDrawn && !session.isOn('reveal')) {
    throw new CliError('USAGE', 'A drawn key can be read by everybody: say --reveal, too')
  }
  return {
    data: { otpKey: secretJson(session, otpKey), uri: secretJson(session, uri) },
    view: isDrawn
      ? { kind: 'text', lines: [...(await qrLines(uri, session.globals.ascii, 2)), '', otpKey] }
      : { kind: 'record', fields: [['two-factor key', secretText(session, otpKey)]] }
  }
}

/** The link that authenticators read (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
const otpauthUri = (name: string, otpKey: string): string => {
  const secret = otpKey.replace(/=+$/, '')
  return `otpauth://totp/${encodeURIComponent(`Holdfast:${name}`)}?secret=${secret}&issuer=Holdfast`
}

const withoutKey = (): CliError =>
  new CliError('NOT_FOUND', 'This device has no two-factor key', {
    next: [
      { command: 'holdfast 2fa enable', why: 'switch two-factor on' },
      { command: 'holdfast 2fa repair', why: 'give this device the key of another one' }
    ]
  })
