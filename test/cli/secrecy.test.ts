import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import test from 'ava'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { formsOf } from '../helpers/key-forms.ts'

const secrets = {
  password: 'canary Password 7Q',
  'new-password': 'other canary Word 8R',
  // So long that they stand in no random number, id or time by chance.
  pin: '808151623428081516',
  'new-pin': '902101623428090210',
  answers: ['canary blue', 'canary Rex']
}

test('no command prints a secret of a login without --reveal, at any verbosity', async t => {
  const home = homeFor(t)
  const said: string[] = []
  const run = async (words: string, given: object = { pin: secrets.pin }) => {
    const args = words.split(' ').map(word => word.replaceAll('_', ' '))
    const input = JSON.stringify(given)
    const ran = await runInProcess([...args, '--json', '-vv', '--debug', '--secrets-stdin'], { home, input })
    if (!args.includes('--reveal')) said.push(ran.stdout, ran.stderr)
    return ran
  }
  const { password, pin, answers } = secrets
  await run('account create alice', { password, pin })
  await run('account recovery setup --question Colour? --question Dog?', { pin, answers })
  await run('2fa enable')
  const { otpKey, recoveryKey } = (await run('account show --reveal')).json.data
  const { loginKey } = (await run('account key --reveal')).json.data
  t.truthy(otpKey && recoveryKey && loginKey)

  const known = { pin, password, answers, 'recovery-key': recoveryKey, 'otp-key': otpKey }
  for (const words of [
    'account show',
    'account key',
    'account pin show',
    'account recovery key',
    '2fa key'
  ]) {
    t.is((await run(words)).code, 0, words)
  }
  for (const words of ['2fa status', 'account recovery questions alice', 'account password verify']) {
    t.is((await run(words, known)).code, 0, words)
  }
  t.is((await run('login alice --device phone', { password })).code, 13)
  t.is(
    (await run('login alice --device phone --with recovery', { ...known, 'otp-key': 'AAAAAAAA' })).code,
    13
  )
  t.is((await run('login alice --device phone', { password: `${password}!` })).code, 10)
  t.not((await run('login alice', { 'login-key': `${loginKey}1` })).code, 0)
  t.is((await run('login alice', { pin, answers: 'canary blue' })).code, 0)
  t.is((await run('2fa repair', known)).code, 0)
  t.is((await run('voucher list')).code, 0)
  t.is((await run('account pin set', { pin, 'new-pin': secrets['new-pin'] })).code, 0)
  t.is((await run('account password set', { password, 'new-password': secrets['new-password'] })).code, 0)
  t.is((await run('account password check', { 'new-password': 'canary' })).code, 16)

  const text = said.join('\n')
  t.regex(text, /"redacted":true/)
  const needles = [
    ...[password, pin, ...answers, secrets['new-pin'], secrets['new-password']],
    ...[otpKey, recoveryKey, loginKey],
    ...[recoveryKey, loginKey].flatMap(key => formsOf(base58.decode(key)))
  ]
  for (const needle of needles) t.false(text.includes(needle), needle)
})

test('no command prints the keys of a wallet without --reveal, whether they are made, imported, copied or shown', async t => {
  const home = homeFor(t)
  const said: string[] = []
  const words = `${'zoo '.repeat(11)}wrong`
  const run = async (args: readonly string[], given: object = {}) => {
    const input = JSON.stringify({ password: secrets.password, ...given })
    const all = [...args, '--json', '-vv', '--debug', '--secrets-stdin']
    const ran = await runInProcess(all, { home, input })
    if (!args.includes('--reveal')) said.push(ran.stdout, ran.stderr)
    return ran
  }
  await run(['account', 'create', 'alice'])
  t.is((await run(['wallets', 'create', 'bitcoin', '--name', 'Made'])).code, 0)
  t.is((await run(['wallets', 'import', 'bitcoin', '--name', 'Brought'], { 'private-key': words })).code, 0)
  t.is((await run(['wallets', 'import', 'bitcoin'], { 'private-key': `${words} zoo` })).code, 2)
  const keys = (await run(['wallets', 'keys', 'Made', '--raw', '--reveal'])).json.data.keys
  const file = join(home, 'keys')
  writeFileSync(file, JSON.stringify(keys), { mode: 0o600 })
  t.is((await run(['wallets', 'create', 'bitcoin', '--keys-file', file])).code, 0)
  writeFileSync(file, JSON.stringify({ ...keys, dataKey: keys.syncKey }), { mode: 0o600 })
  t.not((await run(['wallets', 'create', 'bitcoin', '--keys-file', file])).code, 0)
  for (const name of ['Made', 'Brought']) {
    for (const flags of [[], ['--private'], ['--raw'], ['--raw', '--public']])
      t.is((await run(['wallets', 'keys', name, ...flags])).code, 0)
    for (const command of ['show', 'dump']) t.is((await run(['wallets', command, name])).code, 0)
  }
  const text = said.join('\n')
  t.regex(text, /"redacted":true/)
  for (const needle of [words, keys.bitcoinKey, keys.dataKey, keys.syncKey])
    t.false(text.includes(needle), needle)
})
