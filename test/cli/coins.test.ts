import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin', '--json'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
interface ShownCoin {
  readonly coin: string
  readonly amount: { readonly native: string }
  readonly state: string
  readonly frozen: boolean
  readonly label: string | null
}
const coinsOf = async (): Promise<readonly ShownCoin[]> => (await dataOf('coins', 'list', 'Savings')).coins
const coinOf = async (native: string): Promise<string> =>
  (await coinsOf()).find(({ amount }) => amount.native === native)?.coin ?? ''
const send = (...args: readonly string[]): Promise<Ran> =>
  run('send', 'Savings', '--to', PAYEE, '--yes', ...args)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  for (const amount of ['0.1 BTC', '0.2 BTC', '0.3 BTC'])
    await dataOf('fake', 'chain', 'fund', 'Savings', amount)
  await runInProcess(['fake', 'chain', 'mine'], { home })
})

test.serial('a frozen coin is shown in the balance and the list, and no payment takes it', async t => {
  const coin = await coinOf('30000000')
  await dataOf('coins', 'freeze', 'Savings', coin, '--label', 'Rainy days')
  t.like(
    (await coinsOf()).find(each => each.coin === coin),
    { state: 'frozen', frozen: true, label: 'Rainy days' }
  )
  const { balances } = await dataOf('balance', 'Savings')
  t.like(balances[0], {
    native: '60000000',
    spendable: { native: '30000000' },
    frozen: { native: '30000000' }
  })
  const shown = await runInProcess(['balance', '--secrets-stdin'], { home, input })
  t.regex(shown.stdout, /0\.3 BTC frozen/)
  const refused = await send('--amount', '0.4 BTC')
  failed(t, refused, 'PENDING_FUNDS', 32)
  t.regex(refused.json.error?.hint ?? '', /coins unfreeze/)
  failed(t, await send('--amount', '0.1 BTC', '--coin', coin), 'OPTION_INVALID', 2)
  failed(t, await run('coins', 'freeze', 'Savings', `${'00'.repeat(32)}:0`), 'NOT_FOUND', 6)
})

test.serial(
  'the labels of coins, and which of them are frozen, go into a file of BIP-329 and come back',
  async t => {
    const coin = await coinOf('30000000')
    const path = join(home, 'labels.jsonl')
    await dataOf('tx', 'export', '--format', 'bip329', '-o', path)
    const rows = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(({ type }) => type === 'output')
    t.is(rows.length, 1)
    t.like(rows[0], { type: 'output', ref: coin, label: 'Rainy days', spendable: false })
    await dataOf('coins', 'unfreeze', 'Savings', coin)
    await dataOf('coins', 'label', 'Savings', coin)
    t.like(
      (await coinsOf()).find(each => each.coin === coin),
      { state: 'spendable', label: null }
    )
    t.like(await dataOf('tx', 'import-labels', path, 'Savings'), { counts: { applied: 1 } })
    t.like(
      (await coinsOf()).find(each => each.coin === coin),
      { state: 'frozen', label: 'Rainy days' }
    )
    t.like(await dataOf('tx', 'import-labels', path, 'Savings'), { counts: { same: 1 } })
    const free = join(home, 'free.jsonl')
    const unknown = { type: 'output', ref: `${'00'.repeat(32)}:0`, label: 'Whose?' }
    await writeFile(free, `{"type":"output","ref":"${coin}","spendable":true}\n${JSON.stringify(unknown)}\n`)
    const kept = await run('tx', 'import-labels', free, 'Savings')
    t.like(kept.json.data, { counts: { conflict: 1, unknown: 1 } })
    t.like(await dataOf('tx', 'import-labels', free, 'Savings', '--overwrite'), { counts: { applied: 1 } })
    t.like(
      (await coinsOf()).find(each => each.coin === coin),
      { state: 'spendable', label: 'Rainy days' }
    )
  }
)

test.serial('a payment takes the coins that are named, all of them', async t => {
  const coins = [await coinOf('10000000'), await coinOf('20000000')]
  const named = coins.flatMap(coin => ['--coin', coin])
  const ran = await send('--amount', 'max', ...named)
  t.is(ran.code, 0, ran.stderr)
  const left = await coinsOf()
  t.deepEqual(
    left.map(({ amount }) => amount.native),
    ['30000000']
  )
})

test.serial('an incoming payment is hastened after a review that names it', async t => {
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.05 BTC')
  const incoming = (await coinsOf()).find(({ state }) => state === 'incoming')
  const txid = incoming?.coin.slice(0, 64) ?? ''
  const bump = ['tx', 'bump', 'Savings', txid, '--custom-fee', 'satPerByte=40']
  const { summary } = await dataOf(...bump, '--dry-run')
  t.like(summary, { bumps: txid, recipients: [], amount: { native: '0' } })
  failed(t, await run(...bump, '--yes', '--max-fee', '1 native'), 'MAX_FEE', 36)
  failed(t, await run('tx', 'bump', 'Savings', '00'.repeat(32), '--yes'), 'TX_NOT_FOUND', 6)
  const ran = await run(...bump, '--yes')
  t.is(ran.code, 0, ran.stderr)
  t.is(Number(summary.networkFee.native), Number(ran.json.data.tx.networkFee.native))
  t.like(await run('tx', 'show', 'Savings', ran.json.data.txid), { code: 0 })
})
