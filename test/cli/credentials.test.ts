import test, { type ExecutionContext } from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
test.after.always(remove)

// So long that it stands in no random number, id or time by chance.
const PIN = '481516234248151623'
const first = { password: 'Correct Horse 1', pin: PIN }
const second = 'Battery Staple 2'

const run = (words: string, secrets: object = {}): Promise<Ran> =>
  runInProcess([...words.split(' '), '--json', '--secrets-stdin'], { home, input: JSON.stringify(secrets) })
const plain = (...args: string[]): Promise<Ran> => runInProcess([...args, '--json'], { home })
const done = async (t: ExecutionContext, words: string, secrets: object = {}): Promise<Envelope['data']> => {
  const ran = await run(words, secrets)
  t.false(ran.stdout.includes(PIN), 'no secret is repeated')
  t.notRegex(ran.stdout, /Correct Horse|Battery Staple/, 'no secret is repeated')
  const { meta } = ran.json
  return succeeded(t, ran, meta.schema).data
}
const refused = async (
  t: ExecutionContext,
  words: string,
  { secrets = {}, code, exitCode }: { secrets?: object; code: string; exitCode: number }
): Promise<Envelope['error']> => failed(t, await run(words, secrets), code, exitCode).error

test.serial('account create refuses a weak password with its problems', async t => {
  const { message } = await refused(t, 'account create alice', {
    secrets: { password: 'hunter', pin: PIN },
    code: 'PASSWORD_TOO_WEAK',
    exitCode: 16
  })
  t.is(message, 'The password has fewer than 10 characters, has no digit, has no upper-case letter')
  const made = await run('account create Alice', first)
  t.like(succeeded(t, made, 'account.create/1').data, { username: 'alice', pinEnabled: true })
  t.regex(made.stderr, /Guessing this password would take more than a trillion years/)
})

test.serial('whoami shows the current account and its login method, without a secret', async t => {
  const { data } = succeeded(t, await plain('whoami'), 'whoami/1')
  t.like(data, { username: 'alice', method: 'create', light: false, edgeLogin: false, pinEnabled: true })
  await done(t, 'login alice', { pin: first.pin })
  t.is(succeeded(t, await plain('whoami'), 'whoami/1').data.method, 'pin')
})

test.serial('account password check judges by the rules alone', async t => {
  const check = (text: string): Promise<Ran> => run('account password check', { 'new-password': text })
  const { data } = succeeded(t, await check('Abcdefgh12'), 'account.password.check/1')
  t.like(data, { passed: true, tooShort: false })
  t.true(data.secondsToCrack > 1e9)
  t.true(succeeded(t, await check('sixteen letters!'), 'account.password.check/1').data.passed)
  failed(t, await check('Abcdefg12'), 'PASSWORD_TOO_WEAK', 16)
})

test.serial(
  'account available gives the name as it is written, and refuses letters outside ASCII',
  async t => {
    const look = (name: string): Promise<Ran> => plain('account', 'available', name)
    t.deepEqual(succeeded(t, await look('  ALICE '), 'account.available/1').data, {
      username: 'alice',
      available: false
    })
    t.true(succeeded(t, await look('New  Name'), 'account.available/1').data.available)
    const { error } = failed(t, await look('ünïcode'), 'BAD_USERNAME', 11)
    t.is(error.message, 'Bad characters in username')
  }
)

test.serial('account password set changes it: the old one is refused and the new one logs in', async t => {
  t.true((await done(t, 'account password set', { pin: first.pin, 'new-password': second })).changed)
  await refused(t, 'account password verify', {
    secrets: { pin: first.pin, password: first.password },
    code: 'PASSWORD',
    exitCode: 10
  })
  t.true((await done(t, 'account password verify', { password: second })).correct)
  t.is((await done(t, 'login alice', { password: second })).method, 'password')
  await refused(t, 'account password set', {
    secrets: { pin: first.pin, 'new-password': 'short' },
    code: 'PASSWORD_TOO_WEAK',
    exitCode: 16
  })
})

test.serial(
  'account pin disable keeps the PIN, which then logs in nowhere; enable brings it back',
  async t => {
    const pin = { pin: first.pin }
    t.false((await done(t, 'account pin disable', pin)).pinEnabled)
    const { message } = await refused(t, 'login alice', {
      secrets: pin,
      code: 'PIN_NOT_ENABLED',
      exitCode: 15
    })
    t.is(message, 'PIN login is not enabled for this account on this device')
    const shown = await done(t, 'account pin show', { password: second })
    t.deepEqual(shown, { pin: { redacted: true, hint: '--reveal' }, pinEnabled: false })
    const revealed = succeeded(
      t,
      await run('account pin show --reveal', { password: second }),
      'account.pin.show/1'
    )
    t.is(revealed.data.pin, first.pin)
    t.true((await done(t, 'account pin enable', { password: second })).pinEnabled)
    t.true((await done(t, 'account pin verify', pin)).correct)
  }
)

test.serial('account pin set and remove: a PIN must exist before it can be enabled', async t => {
  t.true((await done(t, 'account pin set', { pin: first.pin, 'new-pin': '1623' })).changed)
  await refused(t, 'account pin set', {
    secrets: { password: second, 'new-pin': '12' },
    code: 'PIN_INVALID',
    exitCode: 16
  })
  await refused(t, 'account pin remove', {
    secrets: { pin: '1623' },
    code: 'CONFIRMATION_REQUIRED',
    exitCode: 5
  })
  t.true((await done(t, 'account pin remove --yes', { pin: '1623' })).removed)
  const error = await refused(t, 'account pin enable', {
    secrets: { password: second },
    code: 'PIN_MISSING',
    exitCode: 16
  })
  t.is(error.message, 'Please change your PIN in the settings area above before enabling.')
  await refused(t, 'account pin show', {
    secrets: { password: second },
    code: 'PIN_NOT_LOCAL',
    exitCode: 15
  })
  await done(t, 'account pin set', { password: second, 'new-pin': first.pin })
})

test.serial(
  'the account key opens the account without any other credential, and is shown only with --reveal',
  async t => {
    const hidden = await done(t, 'account key', { pin: first.pin })
    t.deepEqual(hidden.loginKey, { redacted: true, hint: '--reveal' })
    const shown = succeeded(t, await run('account key --reveal', { pin: first.pin }), 'account.key/1')
    t.is((await done(t, 'login alice', { 'login-key': shown.data.loginKey })).method, 'key')
    const { message } = await refused(t, 'login stranger --with key', {
      secrets: { 'login-key': shown.data.loginKey },
      code: 'USER_NOT_ON_DEVICE',
      exitCode: 15
    })
    t.is(message, 'User does not exist on this device')
  }
)

test.serial(
  'recovery: answers and the recovery key open the account, and set a password that was lost',
  async t => {
    const { choices } = succeeded(
      t,
      await plain('account', 'recovery', 'choices'),
      'account.recovery.choices/1'
    ).data
    t.true(choices.length > 0)
    const answers = ['blue', 'Rex']
    const setup = (secrets: object): Promise<Ran> =>
      runInProcess(
        [
          ...['account', 'recovery', 'setup', '--question', 'Colour?', '--question', 'Dog?'],
          ...['--json', '--secrets-stdin']
        ],
        { home, input: JSON.stringify(secrets) }
      )
    failed(t, await setup({ pin: first.pin, answers: ['one'] }), 'USAGE', 2)
    failed(t, await setup({ pin: first.pin, answers: 'no list' }), 'SECRET_SOURCE', 2)
    const made = succeeded(t, await setup({ pin: first.pin, answers }), 'account.recovery.setup/1')
    t.deepEqual(made.data.recoveryKey, { redacted: true, hint: '--reveal' })
    const { data } = succeeded(
      t,
      await run('account recovery key --reveal', { pin: first.pin }),
      'account.recovery.key/1'
    )
    const key = { 'recovery-key': data.recoveryKey }
    const device = '--device phone'
    t.deepEqual((await done(t, `account recovery questions alice ${device}`, key)).questions, [
      'Colour?',
      'Dog?'
    ])
    await refused(t, `login alice ${device}`, {
      secrets: { ...key, answers: ['red', 'Rex'] },
      code: 'PASSWORD',
      exitCode: 10
    })
    t.is((await done(t, `login alice ${device}`, { ...key, answers })).method, 'recovery')
    const changed = { ...key, answers, 'new-password': first.password }
    t.true((await done(t, `account password set --with recovery ${device}`, changed)).changed)
    t.is((await done(t, 'login alice', { password: first.password })).method, 'password')
    t.true((await done(t, 'account recovery remove --yes', { pin: first.pin })).removed)
    await refused(t, 'account recovery key', {
      secrets: { pin: first.pin },
      code: 'RECOVERY_KEY_MISSING',
      exitCode: 15
    })
    const gone = await run(`login alice ${device}`, { ...key, answers })
    t.not(gone.code, 0)
  }
)

test.serial('account show lists what is set up, and hides the secrets', async t => {
  const shown = await done(t, 'account show', { pin: first.pin })
  t.like(shown, { username: 'alice', method: 'pin', twoFactor: false, recovery: false, otpKey: null })
  t.deepEqual(shown.rootLoginId, { redacted: true, hint: '--reveal' })
  const bare = succeeded(t, await run('account show --reveal', { pin: first.pin }), 'account.show/1')
  t.is(bare.data.rootLoginId, bare.data.loginId)
})

test.serial('account username set renames; the password logs in by the new name alone', async t => {
  await done(t, 'account create --light', { pin: '9999' })
  // Nothing but its login key would open it again.
  await refused(t, 'account pin disable', {
    secrets: { pin: '9999' },
    code: 'CONFIRMATION_REQUIRED',
    exitCode: 5
  })
  await refused(t, 'account password set', {
    secrets: { pin: '9999', 'new-password': second },
    code: 'USERNAME_REQUIRED',
    exitCode: 16
  })
  await refused(t, 'account username set alice', {
    secrets: { pin: '9999', 'new-password': second },
    code: 'ACCOUNT_EXISTS',
    exitCode: 12
  })
  const named = await done(t, 'account username set Bob', { pin: '9999', 'new-password': second })
  t.deepEqual(named, { before: null, username: 'bob' })
  t.is((await done(t, 'login bob --device phone', { password: second })).username, 'bob')
  await refused(t, 'account username set robert', {
    secrets: { pin: '9999', password: 'wrong one' },
    code: 'PASSWORD',
    exitCode: 10
  })
  await done(t, 'account username set robert', { password: second })
  t.is((await done(t, 'login robert', { password: second })).username, 'robert')
  t.is(succeeded(t, await plain('whoami'), 'whoami/1').data.username, 'robert')
})

test.serial('account password remove asks first, and afterwards the password is refused', async t => {
  const pin = { pin: '9999' }
  await refused(t, 'account password remove', { secrets: pin, code: 'CONFIRMATION_REQUIRED', exitCode: 5 })
  t.true((await done(t, 'account password remove --dry-run', pin)).dryRun)
  t.true((await done(t, 'account password verify', { ...pin, password: second })).correct)
  t.true((await done(t, 'account password remove --yes', pin)).removed)
  const login = await run('login robert', { password: second })
  t.not(login.code, 0)
  t.false((await done(t, 'account show', pin)).password)
  await done(t, 'account username set bobby', pin)
  await done(t, 'account username set robert', pin)
})

test.serial('account delete requires the typed name, and then nothing is left of the account', async t => {
  const pin = { pin: '9999' }
  const { next } = await refused(t, 'account delete --yes', {
    secrets: pin,
    code: 'CONFIRMATION_REQUIRED',
    exitCode: 5
  })
  t.regex(next[0].command, /--yes --json --secrets-stdin --confirm robert$/)
  await refused(t, 'account delete --yes --confirm alice', { secrets: pin, code: 'DECLINED', exitCode: 5 })
  t.like(await done(t, 'account delete --yes --confirm robert', pin), { username: 'robert', deleted: true })
  failed(t, await plain('whoami'), 'NOT_LOGGED_IN', 3)
  const { accounts } = succeeded(t, await plain('account', 'list'), 'account.list/1').data
  t.deepEqual(
    accounts.map(({ username }: { username: string }) => username),
    ['alice']
  )
  t.true(succeeded(t, await plain('account', 'available', 'robert'), 'account.available/1').data.available)
})
