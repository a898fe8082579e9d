import test, { type ExecutionContext } from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
test.after.always(remove)

const password = 'Correct Horse 1'
const pin = '4815'

const run = (words: string, secrets: object = { pin }): Promise<Ran> =>
  runInProcess([...words.split(' '), '--json', '--secrets-stdin'], { home, input: JSON.stringify(secrets) })
const done = async (t: ExecutionContext, words: string, secrets?: object): Promise<Envelope['data']> => {
  const ran = await run(words, secrets)
  return succeeded(t, ran, ran.json.meta.schema).data
}
/** Another device tries to log in, and is told of its voucher. */
const lockedOut = async (t: ExecutionContext, device: string, secrets: object = { password }) => {
  const { error } = failed(t, await run(`login alice --device ${device}`, secrets), 'OTP', 13)
  return error
}

test.serial('before two-factor is on, cancel, show and request commands are refused', async t => {
  await done(t, 'account create alice', { password, pin })
  t.like(await done(t, '2fa status'), { enabled: false, otpResetDate: null, pendingVouchers: 0 })
  const { error } = failed(t, await run('2fa reset cancel'), 'OTP_RESET_WITHOUT_OTP', 16)
  t.is(error.message, 'Cannot cancel 2FA reset: 2FA is not enabled.')
  failed(t, await run('2fa code'), 'NOT_FOUND', 6)
  failed(t, await run('2fa reset request alice', { password }), 'NOT_NEEDED', 16)
  t.deepEqual((await done(t, 'voucher list')).vouchers, [])
})

test.serial(
  'with two-factor on, a new device gets the reason, the date, and the three ways forward',
  async t => {
    t.deepEqual(await done(t, '2fa enable --reset-after 3d'), { enabled: true, resetAfterSeconds: 259_200 })
    const { hint, next, details } = await lockedOut(t, 'phone')
    t.regex(hint, /The account has two-factor on: .* approved automatically at \d{4}-\d\d-\d\dT/)
    t.deepEqual(
      next.map(({ command }: { command: string }) => command),
      [
        'holdfast login <user> --otp-stdin',
        `holdfast voucher approve ${details.voucherId}`,
        'holdfast 2fa reset request <user>'
      ]
    )
    t.deepEqual(details.resetToken, { redacted: true })
    t.deepEqual(details.voucherAuth, { redacted: true })
  }
)

test.serial('a code logs a device in once; the key does so every time', async t => {
  const { code } = await done(t, '2fa code')
  t.regex(code, /^\d{6}$/)
  t.is((await done(t, 'login alice --device phone', { password, otp: code })).method, 'password')
  const hidden = await done(t, '2fa key')
  t.deepEqual(hidden.otpKey, { redacted: true, hint: '--reveal' })
  const { otpKey, uri } = await done(t, '2fa key --reveal')
  t.is(uri, `otpauth://totp/Holdfast%3Aalice?secret=${otpKey.replace(/=+$/, '')}&issuer=Holdfast`)
  failed(t, await run('2fa key --qr'), 'USAGE', 2)
  const drawn = await runInProcess(['2fa', 'key', '--qr', '--reveal', '--pin-stdin'], { home, input: pin })
  t.regex(drawn.stdout, /█{20,}/)
  await done(t, 'login alice --device tablet', { password, 'otp-key': otpKey })
  await done(t, 'account show --device tablet', { pin })
})

test.serial('an approved device gets in without a code; a rejected one stays out', async t => {
  const { details } = await lockedOut(t, 'laptop')
  const refusal = await lockedOut(t, 'stranger')
  const { vouchers } = await done(t, 'voucher list')
  const waiting = vouchers.find(({ voucherId }: { voucherId: string }) => voucherId === details.voucherId)
  t.is(waiting.deviceDescription, 'Holdfast, laptop')
  t.truthy(waiting.ip)
  t.true(Date.parse(waiting.activates) > Date.parse(waiting.created))

  const news = succeeded(t, await runInProcess(['messages', '--json'], { home }), 'messages/1')
  t.is(news.data.messages[0].pendingVouchers.length, vouchers.length)

  failed(t, await run('voucher approve'), 'USAGE', 2)
  failed(t, await run('voucher approve nobody --yes'), 'NOT_FOUND', 6)
  failed(t, await run(`voucher approve ${details.voucherId}`), 'CONFIRMATION_REQUIRED', 5)
  await done(t, `voucher approve ${details.voucherId} --yes`)
  await done(t, `voucher reject ${refusal.details.voucherId} --yes`)
  await done(t, 'login alice --device laptop', { password })
  await lockedOut(t, 'stranger')
  await done(t, 'voucher reject --all --yes')
  t.deepEqual((await done(t, 'voucher list')).vouchers, [])
})

test.serial(
  'a reset can be requested with the password alone, is seen everywhere, and can be cancelled',
  async t => {
    const requested = await done(t, '2fa reset request alice --device stranger', { password })
    const days = (Date.parse(requested.otpResetDate) - Date.now()) / 86_400_000
    t.true(days > 2.9 && days < 3.1)
    const news = succeeded(t, await runInProcess(['messages', '--json'], { home }), 'messages/1')
    t.true(news.data.messages[0].otpResetPending)
    t.is((await done(t, '2fa status')).otpResetDate, requested.otpResetDate)
    t.true((await done(t, '2fa reset cancel')).cancelled)
    t.is((await done(t, '2fa status')).otpResetDate, null)
  }
)

test.serial(
  'a device whose key is wrong is repaired with the key of another one, by its password alone',
  async t => {
    const { otpKey } = await done(t, '2fa key --reveal')
    failed(t, await run('2fa repair --device phone', { password, 'otp-key': 'AAAAAAAAAAAAAAAA' }), 'OTP', 13)
    t.true((await done(t, '2fa repair --device phone', { password, 'otp-key': otpKey })).repaired)
  }
)

test.serial('messages --watch reports what is pending, and Ctrl-C is its regular end', async t => {
  await lockedOut(t, 'another')
  const stop = new AbortController()
  const onOutput = (): void => stop.abort(new CliError('INTERRUPTED', 'Stopped'))
  const { signal } = stop
  const ran = await runInProcess(['messages', '--watch', '--json'], { home, signal, onOutput })
  t.is(ran.code, 0, ran.stderr)
  const [first, last] = ran.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.like(first, { event: 'messages', seq: 1 })
  t.is(first.data.messages[0].username, 'alice')
  t.deepEqual(last, { event: 'end', reason: 'stopped' })
})

test.serial('2fa disable requires the typed name; then every device can log in', async t => {
  failed(t, await run('2fa disable --yes'), 'CONFIRMATION_REQUIRED', 5)
  t.deepEqual(await done(t, '2fa disable --yes --confirm alice'), { enabled: false })
  await done(t, 'login alice --device stranger', { password })
})
