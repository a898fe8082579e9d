import { base32 } from '@scure/base'
import type { ExecutionContext } from 'ava'
import { totp } from '../../../kernel/crypto/totp.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import type { Device, OtpFailure } from '../device.ts'
import { type Flow, logInAgain, type Made, makeAccount, openKnown, type Pair } from '../flow.ts'

/** Two-factor: switched on and off, repaired, and reset. */
export const twoFactorFlows: readonly Flow[] = [
  {
    row: 'two-factor on',
    title: 'USER needs a code after MAKER switched two-factor on, and remembers the key',
    async run(t, pair) {
      const { made, otpKey } = await makeProtected(t, pair)
      const byCode = await pair.openUser()
      await refused(t, byCode, made)
      await refused(t, byCode, made, { otp: '000000' })
      await byCode.loginWithPassword(made.name, made.password, { otp: codeOf(otpKey) })
      t.is((await byCode.twoFactor()).otpKey, otpKey)

      const byKey = await pair.openUser()
      await byKey.loginWithPassword(made.name, made.password, { otpKey: otpKey.toLowerCase() })
      await byKey.logout()
      await byKey.loginWithPIN({ username: made.name }, made.pin)
      t.is(await byKey.getLoginKey(), await made.device.getLoginKey())
    }
  },
  {
    row: 'two-factor off',
    title: 'USER needs no code after MAKER switched two-factor off',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      const user = await pair.openUser()
      await refused(t, user, made)
      await made.device.disableOtp()
      await user.loginWithPassword(made.name, made.password)
      t.is((await user.twoFactor()).otpKey, undefined)
    }
  },
  {
    row: 'two-factor repaired',
    // The refresh after the login by key meets the two-factor that this device does not have yet.
    mayReport: /^login: OtpError/,
    title: 'USER, who knew the account before MAKER switched two-factor on, repairs it with the key',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      const loginKey = await user.getLoginKey()
      await user.logout()
      await made.device.enableOtp()
      const otpKey = (await made.device.twoFactor()).otpKey ?? ''
      await t.throwsAsync(user.loginWithPIN({ username: made.name }, made.pin), { name: 'OtpError' })
      await user.loginWithKey({ username: made.name }, loginKey)
      await user.repairOtp(otpKey)
      t.is((await user.twoFactor()).otpKey, otpKey)
      await user.logout()
      await user.loginWithPIN({ username: made.name }, made.pin)
      t.is((await user.account()).username, made.name)
    }
  },
  {
    row: 'two-factor reset cancelled',
    title: 'MAKER sees and cancels a reset of two-factor that USER asked for',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair)
      const user = await pair.openUser()
      const { resetToken = '' } = await refused(t, user, made)
      const date = await user.requestOtpReset(made.name, resetToken)
      t.true(date.getTime() > Date.now() + WEEK_LESS_AN_HOUR)
      t.like((await made.device.messages())[0], { username: made.name, otpResetPending: true })
      await logInAgain(made)
      t.deepEqual((await made.device.twoFactor()).otpResetDate, date)
      const { resetDate } = await refused(t, user, made)
      t.is(new Date(resetDate ?? 0).getTime(), date.getTime())

      await made.device.cancelOtpReset()
      t.like((await made.device.messages())[0], { otpResetPending: false })
      const known = await pair.openUser()
      const { otpKey = '' } = await made.device.twoFactor()
      await known.loginWithPassword(made.name, made.password, { otpKey })
      t.is((await known.twoFactor()).otpResetDate, undefined)
    }
  },
  {
    row: 'two-factor reset falls due',
    title: 'USER gets in without a code when the reset that USER asked MAKER for falls due',
    async run(t, pair) {
      const { made } = await makeProtected(t, pair, 1)
      const user = await pair.openUser()
      const { resetToken = '' } = await refused(t, user, made)
      const date = await user.requestOtpReset(made.name, resetToken)
      await new Promise(resolve => setTimeout(resolve, date.getTime() - Date.now() + 50))
      await user.loginWithPassword(made.name, made.password)
      t.is((await user.twoFactor()).otpKey, undefined)
    }
  }
]

const WEEK_LESS_AN_HOUR = (7 * 24 - 1) * 3_600_000

/** An account with two-factor. */
export const makeProtected = async (
  t: ExecutionContext,
  pair: Pair,
  timeoutSeconds?: number
): Promise<{ made: Made; otpKey: string }> => {
  const made = await makeAccount(pair)
  await made.device.enableOtp(timeoutSeconds)
  const { otpKey = '' } = await made.device.twoFactor()
  t.regex(otpKey, /^[A-Z2-7]{16}$/)
  return { made, otpKey }
}

/** What a device is told that has no right code. */
export const refused = async (
  t: ExecutionContext,
  device: Device,
  { name, password }: Made,
  help?: { otp: string }
): Promise<OtpFailure> => {
  const failure = await t.throwsAsync<OtpFailure>(device.loginWithPassword(name, password, help))
  t.is(failure.name, 'OtpError')
  return failure
}

const codeOf = (otpKey: string): string => totp(makeNodeIo(), base32.decode(otpKey), Date.now() / 1000)
