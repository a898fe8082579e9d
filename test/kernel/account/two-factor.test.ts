import type { ExecutionContext } from 'ava'
import test from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import type { Account, Context, LoginHelp } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'

const [NAME, PASSWORD, PIN] = ['alice', 'correct horse', '4711']
const QUESTIONS = ['Which river?']
const ANSWERS = ['the Weser']
const DAY_MS = 86_400_000

type LogIn = (help?: LoginHelp) => Promise<Account>

/** Every way in that a person can use on a device that knows the account. */
const methods = (
  context: Context,
  recoveryKey: string
): Readonly<Record<'password' | 'pin' | 'recovery', LogIn>> => ({
  password: help => context.loginWithPassword(NAME, PASSWORD, help),
  pin: help => context.loginWithPIN({ username: NAME }, PIN, help),
  recovery: help => context.loginWithRecovery2(recoveryKey, NAME, ANSWERS, help)
})

const openContext = async (t: ExecutionContext, world: FakeWorld): Promise<Context> => {
  const kernel = await openDevice(world)
  t.teardown(() => kernel.close())
  return kernel.context
}

/** What a login on a new device, without a code, is refused with. */
const refusalOf = async (context: Context): Promise<WalletError<'OTP'>['details']> => {
  try {
    await context.loginWithPassword(NAME, PASSWORD)
  } catch (error) {
    return (error as WalletError<'OTP'>).details
  }
  throw new Error('The login was not refused')
}

test('a local account opens by password, PIN or recovery answers, with or without one-time codes [1.2]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const home = await openContext(t, world)
  const account = await home.createAccount({ username: NAME, password: PASSWORD, pin: PIN })
  const recoveryKey = await account.credentials.changeRecovery(QUESTIONS, ANSWERS)
  t.is(home.localUsers[0]?.recovery2Key, recoveryKey)
  t.deepEqual(await home.fetchRecovery2Questions(recoveryKey, NAME), QUESTIONS)
  t.true((await home.listRecoveryQuestionChoices()).length > 0)

  const guest = await openContext(t, world)
  for (const logIn of Object.values(methods(guest, recoveryKey))) {
    const opened = await logIn()
    t.is(opened.username, NAME)
    await opened.logout()
  }

  await account.twoFactor.enableOtp()
  const otpKey = account.twoFactor.getOtpKey() ?? ''
  const stranger = await openContext(t, world)
  const ways = methods(stranger, recoveryKey)
  for (const logIn of [ways.password, ways.recovery]) await t.throwsAsync(logIn(), { code: 'OTP' })
  const first = await ways.recovery({ otpKey })
  t.is(first.loginMethod, 'recovery')
  await first.logout()
  for (const logIn of Object.values(ways)) await (await logIn()).logout()
  await account.logout()
})

test('screens are notified of waiting devices and resets, and can answer them', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const home = await openContext(t, world)
  const account = await home.createAccount({ username: NAME, password: PASSWORD })
  const { twoFactor } = account
  const seen: boolean[] = []
  const stop = twoFactor.subscribe(() => void seen.push(twoFactor.getSnapshot().isEnabled))
  t.is(twoFactor.getSnapshot(), twoFactor.getSnapshot())
  await twoFactor.enableOtp(7200)
  t.true(seen.at(-1))
  t.regex(twoFactor.getCode() ?? '', /^\d{6}$/)

  const guest = await openContext(t, world)
  t.deepEqual(await guest.fetchLoginMessages(), [])
  const { voucherId = '', resetToken = '' } = await refusalOf(guest)
  t.is(guest.localUsers[0]?.voucherId, voucherId)
  const date = await guest.requestOtpReset(NAME, resetToken)
  t.is(Math.round((date.getTime() - world.clock.now()) / 10_000), 720)

  const [message] = await home.fetchLoginMessages()
  t.true(message?.otpResetPending)
  t.deepEqual(
    message?.pendingVouchers.map(voucher => voucher.voucherId),
    [voucherId]
  )
  await account.sync()
  t.deepEqual(twoFactor.status.otpResetDate, date)
  t.is(twoFactor.status.pendingVouchers[0]?.voucherId, voucherId)

  await twoFactor.cancelOtpReset()
  await twoFactor.approveVoucher(voucherId)
  t.deepEqual(twoFactor.status, { isEnabled: true, otpTimeout: 7200, pendingVouchers: [] })
  t.is((await home.fetchLoginMessages())[0]?.otpResetPending, false)
  t.is((await guest.loginWithPassword(NAME, PASSWORD)).twoFactor.getOtpKey(), twoFactor.getOtpKey())
  stop()

  await account.logout()
  t.throws(() => twoFactor.getOtpKey(), { code: 'LOGGED_OUT' })
  t.throws(() => twoFactor.getCode(), { code: 'LOGGED_OUT' })
  await t.throwsAsync(twoFactor.disableOtp(), { code: 'LOGGED_OUT' })
  t.true(twoFactor.status.isEnabled)
})

test('an owner who lost the key can log in after seven days', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const account = await (await openContext(t, world)).createAccount({ username: NAME, password: PASSWORD })
  await account.twoFactor.enableOtp()
  await account.logout()
  const context = await openContext(t, world)
  const { resetToken = '' } = await refusalOf(context)
  const date = await context.requestOtpReset(NAME, resetToken)
  world.clock.skip(6 * DAY_MS)
  t.is((await refusalOf(context)).resetDate, date.toISOString())
  world.clock.skip(DAY_MS)
  const { twoFactor } = await context.loginWithPassword(NAME, PASSWORD)
  t.false(twoFactor.status.isEnabled)
  t.is(twoFactor.getOtpKey(), undefined)
  t.is(twoFactor.getCode(), undefined)
})

test('a device with an earlier name of an account opens it by that name, and gets the new one with an edge login', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const home = await openContext(t, world)
  const owner = await home.createAccount({ username: NAME, password: PASSWORD })
  const phone = await openContext(t, world)
  await (await phone.loginWithPassword(NAME, PASSWORD)).logout()
  await owner.credentials.changeUsername({ username: 'alicia', password: PASSWORD })
  await owner.twoFactor.enableOtp()
  await t.throwsAsync(phone.loginWithPassword('alicia', PASSWORD), { code: 'OTP' })
  const account = await phone.loginWithPassword(NAME, PASSWORD)
  await t.throwsAsync(account.sync(), { code: 'OTP' })
  const { voucherId = '' } = phone.localUsers[0] ?? {}
  await owner.sync()
  await owner.twoFactor.approveVoucher(voucherId)
  await account.sync()
  t.is(account.username, 'alicia')
  await account.logout()
  t.true((await phone.loginWithPassword('alicia', PASSWORD)).isLoggedIn)
})
