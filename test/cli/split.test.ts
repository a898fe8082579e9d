import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

/** How many protecting payments were signed. */
let payments = 0

const chain = (id: string) =>
  makeToy({
    id,
    engine: good => ({
      makeSpend: async () => toyTransaction('', { date: Date.now() / 1000 }),
      async signTx(tx, keys) {
        payments += 1
        return { ...(await good.signTx(tx, keys)), txid: `payment-${payments}` }
      },
      getMaxSpendable: async () => '777'
    })
  }).plugin

const plugins = [chain('bitcoincash'), chain('bitcoinsv')]

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--json', '--secrets-stdin'], { home, input, plugins })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoincash', '--name', 'Cash')
})

test('a split that needs payments makes none without --replay-protect', async t => {
  const [{ id }] = (await dataOf('wallets', 'list')).wallets
  const refused = await run('wallets', 'split', id, '--to', 'bitcoinsv', '--yes')
  failed(t, refused, 'USAGE', 2)
  t.regex(refused.json.error.next[0].command, /--replay-protect/)
  t.is(payments, 0)
  const split = await dataOf('wallets', 'split', id, '--to', 'bitcoinsv', '--replay-protect', '--yes')
  t.like(split, { type: 'wallet:bitcoinsv', replayProtection: true })
  t.is(payments, 2)
})

test('an unknown type is refused before any confirmation', async t => {
  for (const rest of [[], ['--dry-run'], ['--yes']]) {
    const args = ['wallets', 'split', 'Cash', '--to', 'unheard-of', ...rest, '--json']
    failed(t, await runInProcess(args, { home, plugins }), 'PLUGIN_FOR_TYPE', 4)
  }
})
