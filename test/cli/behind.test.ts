import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const secrets = { password: 'correct horse battery', pin: '2468' }
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess(args[0] === 'fake' && args[2] !== 'fund' ? args : [...args, '--secrets-stdin'], {
    home,
    input: JSON.stringify(secrets)
  })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

const BEHIND = /^Savings is behind since \d{4}-\d\d-\d\d \d\d:\d\d: Could not reach .*\w+:\/\/[^ ]+: .+$/

test.before(async () => {
  await dataOf('account', 'create', 'alice')
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.5')
  await dataOf('fake', 'chain', 'mine', '1')
  t0 = (await dataOf('balance')).balances[0]
})

let t0: Envelope['data']

test.serial('an up-to-date balance shows that, and its block', t => {
  t.like(t0, { native: '50000000', sync: { state: 'synced', behind: null } })
  t.true(t0.sync.height > 0)
})

test.serial(
  'without a network, balance does not wait: it shows the last figure with its age, the server and the reason',
  async t => {
    await dataOf('fake', 'net', 'offline')
    const started = performance.now()
    const { data, warnings } = succeeded(t, await run('balance', '--json', '--timeout', '60s'), 'balance/1')
    // It gives up long before the time that it may take.
    t.true(performance.now() - started < 40_000)
    const [{ native, sync }] = data.balances
    t.is(native, '50000000')
    t.is(sync.state, 'behind')
    t.like(sync.behind, { error: 'NETWORK' })
    t.regex(sync.behind.reason, /^Could not reach /)
    t.notRegex(JSON.stringify({ data, warnings }), /auth server/)
    t.is(warnings.length, 1)
    const [why = '', what] = warnings[0]?.split('; ') ?? []
    t.regex(why, BEHIND)
    t.is(what, 'these are the last values that this device knew')
    const { stdout } = await run('balance')
    t.regex(stdout, /0\.5 BTC.*behind/)
  }
)

for (const [command, schema] of [
  [['tx', 'list', 'Savings'], 'tx.list/1'],
  [['wallets', 'show', 'Savings'], 'wallets.show/1'],
  [['wallets', 'list'], 'wallets.list/1']
] as const) {
  test.serial(`${command.slice(0, 2).join(' ')} also says why a wallet is behind`, async t => {
    const { warnings } = succeeded(t, await run(...command, '--json'), schema)
    t.regex(warnings[0]?.split('; ')[0] ?? '', BEHIND)
  })
}

test.serial('a payment is refused at once with the same line, and sync status shows it', async t => {
  const to = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const { error } = failed(
    t,
    await run('send', 'Savings', '--to', to, '--amount', '0.1', '--yes', '--json'),
    'WALLET_BEHIND',
    20
  )
  t.regex(error.message, BEHIND)
  t.true(error.retryable)
  const [status] = (await dataOf('sync', 'status')).wallets
  t.regex(status.sentence, /^Waits for the network: what is shown may be old\. Could not reach /)
})

test.serial('a timed-out wait reports what the wallet is waiting for', async t => {
  const { error } = failed(
    t,
    await run('wallets', 'wait', 'Savings', '--timeout', '2s', '--json'),
    'DEADLINE',
    8
  )
  t.regex(error.hint, /^Savings is behind since .*: Could not reach .*\.$/)
})

test.serial('balance --offline warns that no server was asked', async t => {
  const { warnings } = succeeded(t, await run('balance', '--offline', '--json'), 'balance/1')
  t.deepEqual(warnings, ['offline: these are the last values that this device knew'])
})

test.serial('with the network back, a balance is up to date again', async t => {
  await dataOf('fake', 'net', 'online')
  const { data, warnings } = succeeded(t, await run('balance', '--json'), 'balance/1')
  t.like(data.balances[0], { sync: { state: 'synced', behind: null } })
  t.deepEqual(warnings, [])
})
