import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const PIN = JSON.stringify({ pin: '2468' })
const BOTH = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (args: readonly string[], input = PIN): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin', '--json'], { home, input })
const dataOf = async (args: readonly string[], input = PIN): Promise<Envelope['data']> => {
  const ran = await run(args, input)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const pay = (amount: string, ...flags: readonly string[]): Promise<Ran> =>
  run(['send', 'Savings', '--to', PAYEE, '--amount', amount, '--fee', 'low', '--yes', ...flags])

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input: BOTH })
  await dataOf(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
  for (const amount of ['0.1 BTC', '0.2 BTC'])
    await dataOf(['fake', 'chain', 'fund', 'Savings', amount, '--confirm'])
})

test.serial(
  'the first limit needs no password, holds in another process, and its refusal names rule and time',
  async t => {
    t.deepEqual((await dataOf(['policy', 'list'])).rules, [])
    const added = await dataOf(['policy', 'add', 'daily', 'rolling', '--max', '0.02 BTC', '--per', '24h'])
    t.deepEqual(added.rule, {
      id: 'daily',
      kind: 'rolling',
      asset: 'bitcoin',
      max: '2000000',
      windowHours: 24
    })
    t.is((await pay('0.015')).code, 0)
    const refused = await pay('0.01')
    failed(t, refused, 'SIGN_REFUSED', 36)
    t.like(refused.json.error.details, { rule: 'daily', refusedBy: 'account' })
    t.regex(refused.json.error.details.allowedAt, /^\d{4}-.*Z$/)
  }
)

test.serial('a review says what the rules say before the yes', async t => {
  const dry = await pay('0.01', '--dry-run')
  t.like(dry.json.data.summary.rules, { isAllowed: false, refusedBy: 'daily' })
  t.regex(dry.json.data.summary.warnings.join(' '), /the rule "daily" refuses it: .*0\.02 BTC in 24 hours/)
  const { summary } = (await pay('0.001', '--dry-run')).json.data
  t.like(summary.rules, { isAllowed: true, rules: [{ ruleId: 'daily', outcome: 'allows' }] })
})

test.serial('explain shows what is left, and test asks without paying', async t => {
  const { rules } = await dataOf(['policy', 'explain'])
  t.like(rules[0], { ruleId: 'daily', limit: '0.02 BTC' })
  t.regex(rules[0].used, /^0\.015\d* BTC$/)
  t.is((await run(['policy', 'test', 'Savings', '0.001 BTC', PAYEE])).code, 0)
  const refused = await run(['policy', 'test', 'Savings', '1 BTC', PAYEE])
  t.is(refused.code, 36)
  t.like(refused.json.data, { isAllowed: false, refusedBy: 'daily' })
})

test.serial('loosening needs the password, and waits once a rule says so', async t => {
  failed(t, await run(['policy', 'remove', 'daily']), 'PROMPT_IMPOSSIBLE', 5)
  const slow = ['policy', 'add', 'slow', 'loosening-delay', '--wait', '2d']
  failed(t, await run(slow), 'PROMPT_IMPOSSIBLE', 5)
  await dataOf(slow, BOTH)
  const { effectiveAt } = await dataOf(['policy', 'remove', 'daily'], BOTH)
  t.true(Date.parse(effectiveAt) > 0)
  const { pending } = await dataOf(['policy', 'list'])
  t.like(pending, [{ ruleId: 'daily', rule: null }])
  await dataOf(['policy', 'cancel', pending[0].id])
  t.deepEqual((await dataOf(['policy', 'list'])).pending, [])
  failed(t, await pay('0.01'), 'SIGN_REFUSED', 36)
})

test.serial(
  'who knows the PIN alone gives an account with rules no other password, and no recovery',
  async t => {
    const secrets = (more: object): string => JSON.stringify({ pin: '2468', ...more })
    const other = 'Another horse 22'
    const recovery = ['account', 'recovery', 'setup', '--question', 'Pet?']
    for (const args of [['account', 'password', 'set'], recovery])
      failed(t, await run(args, secrets({ 'new-password': other, answers: ['Rex'] })), 'PROMPT_IMPOSSIBLE', 5)
    failed(t, await run(['account', 'password', 'remove', '--yes']), 'OPTION_INVALID', 2)
    failed(t, await run(['policy', 'remove', 'daily'], secrets({ password: other })), 'PASSWORD', 10)
  }
)

test.serial(
  'keys of an account with rules are not shown to its PIN, and where loosening waits not to its password',
  async t => {
    const show = ['wallets', 'keys', 'Savings', '--private', '--reveal']
    failed(t, await run(show), 'SIGN_REFUSED', 36)
    failed(t, await run(show, BOTH), 'SIGN_REFUSED', 36)
  }
)
