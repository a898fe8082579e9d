import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { startInProcess } from '../helpers/running-command.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input })
const done = async (...args: readonly string[]): Promise<Ran> => {
  const ran = await run(...args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran
}
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> =>
  (await done(...args, '--json')).json.data
const file = (name: string): string => join(home, name)

let paid = ''

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await done('wallets', 'create', 'bitcoin', '--name', 'Savings', '--fiat', 'iso:EUR')
  await done('wallets', 'create', 'bitcoin', '--name', 'Daily')
  for (const amount of ['0.1 BTC', '0.2 BTC'])
    await done('fake', 'chain', 'fund', 'Savings', amount, '--confirm')
  await done('fake', 'chain', 'fund', 'Daily', '0.3 BTC', '--confirm')
  const notes = ['--name', 'Joe', '--category', 'expense:Toys', '--notes', '=A bicycle']
  const send = ['send', 'Savings', '--to', PAYEE, '--amount', '0.01', ...notes, '--yes']
  paid = (await dataOf(...send)).txid
})

const amountsOf = async (...args: readonly string[]): Promise<string[]> =>
  (await dataOf(...args)).transactions.map((tx: { amount: { display: string } }) => tx.amount.display)

test.serial('tx list takes one wallet or all, and lists by direction, state, date and number', async t => {
  const [fee] = (await dataOf('tx', 'list', 'Savings', '--out')).transactions
  const out = fee.amount.display
  t.deepEqual((await amountsOf('tx', 'list')).sort(), [out, '0.1', '0.2', '0.3'].sort())
  t.deepEqual(await amountsOf('tx', 'list', 'Daily'), ['0.3'])
  t.deepEqual((await amountsOf('tx', 'list', 'Savings', '--in')).sort(), ['0.1', '0.2'])
  t.deepEqual(await amountsOf('tx', 'list', '--state', 'unconfirmed'), [out])
  t.deepEqual(await amountsOf('tx', 'list', '--until', '2020-01-01'), [])
  t.is((await amountsOf('tx', 'list', '--since', '2020-01-01')).length, 4)
  const first = await dataOf('tx', 'list', 'Savings', '--limit', '1')
  t.true(first.more)
  const rest = await dataOf('tx', 'list', 'Savings', '--before', first.transactions[0].txid)
  t.is(rest.transactions.length, 2)
  t.false(rest.more)
  for (const wrong of [
    ['--in', '--out'],
    ['--before', 'aa'],
    ['--limit', '0'],
    ['--since', 'May']
  ]) {
    failed(t, await run('tx', 'list', ...wrong, '--json'), 'USAGE', 2)
  }
  failed(t, await run('tx', 'list', 'Savings', '--all', '--json'), 'USAGE', 2)
  failed(t, await run('tx', 'list', 'Savings', '--token', 'USDX', '--json'), 'NOT_FOUND', 6)
})

test.serial(
  'tx search finds by names, notes, amounts, addresses and txids, in one wallet or all',
  async t => {
    const [out] = await amountsOf('tx', 'list', 'Savings', '--out')
    for (const text of ['joe', 'bicycle', 'toys', PAYEE, paid.slice(4, 30)])
      t.deepEqual(await amountsOf('tx', 'search', text), [out], text)
    t.true((await amountsOf('tx', 'search', '0.3')).includes('0.3'))
    t.deepEqual(await amountsOf('tx', 'search', 'joe', 'Daily'), [])
    t.deepEqual(await amountsOf('tx', 'list', 'Savings', '--search', 'JOE'), [out])
    t.regex((await done('tx', 'search', 'nobody')).stdout, /^$/)
  }
)

test.serial('tx label writes a fiat value and a business, and clears them', async t => {
  const label = (...args: readonly string[]) => dataOf('tx', 'label', 'Savings', paid, ...args)
  const written = await label('--fiat', '12.50', '--biz-id', '7')
  t.like(written.metadata, { name: 'Joe', bizId: 7, fiat: { 'iso:EUR': '12.5' } })
  t.deepEqual((await label('--fiat', '13 USD', '--dry-run')).metadata, written.metadata)
  const cleared = await label('--clear', 'biz-id', '--fiat', '13 USD')
  t.deepEqual(cleared.metadata.fiat, { 'iso:EUR': '12.5', 'iso:USD': '13' })
  t.is(cleared.metadata.bizId, null)
  for (const wrong of [
    ['--fiat', '1,5'],
    ['--fiat', '1e3'],
    ['--biz-id', 'x'],
    ['--fiat', '1', '--clear', 'fiat'],
    []
  ])
    failed(t, await run('tx', 'label', 'Savings', paid, ...wrong, '--json'), 'USAGE', 2)
})

test.serial('tx show lists all facts, and the signed bytes with --raw only', async t => {
  const { tx } = await dataOf('tx', 'show', 'Savings', paid)
  t.like(tx, { txid: paid, direction: 'out', state: 'unconfirmed', swap: null })
  t.deepEqual(tx.memos, [])
  t.false('signedTx' in tx)
  t.regex((await dataOf('tx', 'show', 'Savings', paid, '--raw')).tx.signedTx, /^[0-9a-f]{200,}$/)
})

test.serial('tx stream emits batches, newest first, and ends', async t => {
  const ran = await done('tx', 'stream', 'Savings', '--first-batch', '1', '--batch', '5', '--json')
  const lines = ran.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.deepEqual(
    lines.map(({ event, data }) => [event, data?.transactions.length]),
    [
      ['tx.batch', 1],
      ['tx.batch', 2],
      ['end', undefined]
    ]
  )
  const dates = lines.flatMap(
    ({ data }) => data?.transactions.map(({ date }: { date: string }) => date) ?? []
  )
  t.deepEqual(dates, dates.toSorted().toReversed())
  const plain = await done('tx', 'stream', 'Savings')
  t.is(plain.stdout.trimEnd().split('\n').length, 3)
  t.regex(
    plain.stdout,
    /^\d{4}-\d\d-\d\d \d\d:\d\d {2}-0\.01\d* BTC {2}unconfirmed {2}Joe {2}=A bicycle {2}[0-9a-f]{64}$/m
  )
})

test.serial(
  'tx export prints a history, or writes a private file that it replaces only on request',
  async t => {
    const csv = await done(
      'tx',
      'export',
      'Savings',
      '--columns',
      'direction,amount,name,notes,fiat,fiat_value'
    )
    const lines = csv.stdout.split('\r\n')
    t.is(lines.length, 5)
    const [out = '', ...others] = lines.slice(1).sort().toReversed()
    t.regex(out, /^out,-0\.01\d+,Joe,'=A bicycle,EUR,12\.5$/)
    t.deepEqual(others, ['in,0.2,,,,', 'in,0.1,,,,', ''])
    const dollars = await done(
      'tx',
      'export',
      'Savings',
      '--columns',
      'fiat_value',
      '--fiat',
      'iso:USD',
      '--out'
    )
    t.is(dollars.stdout, 'fiat_value\r\n13\r\n')
    const path = file('history.json')
    const facts = succeeded(
      t,
      await run('tx', 'export', '--format', 'json', '-o', path, '--json'),
      'tx.export/1'
    )
    t.deepEqual(facts.data, { file: path, format: 'json', wallets: 2, rows: 4 })
    t.is(JSON.parse(readFileSync(path, 'utf8')).transactions.length, 4)
    t.is(statSync(path).mode & 0o777, 0o600)
    failed(t, await run('tx', 'export', '--format', 'ndjson', '-o', path, '--json'), 'USAGE', 2)
    await done('tx', 'export', 'Daily', '--format', 'ndjson', '-o', path, '--force')
    t.like(JSON.parse(readFileSync(path, 'utf8')), { walletName: 'Daily', amount: { display: '0.3' } })
    for (const wrong of [
      ['--columns', 'date,nothing'],
      ['--tz', 'Mars/Olympus'],
      ['--fiat', 'EUR'],
      ['--format', 'json', '--bom'],
      []
    ]) {
      failed(t, await run('tx', 'export', ...wrong, '--json'), 'USAGE', 2)
    }
  }
)

test.serial('labels are exported, and imported on another device without replacing its notes', async t => {
  const { address } = await dataOf('address', 'Savings')
  const path = file('labels.jsonl')
  await done('tx', 'export', '--format', 'bip329', '-o', path)
  t.like(JSON.parse(readFileSync(path, 'utf8')), {
    type: 'tx',
    ref: paid,
    label: 'Joe',
    holdfast: { notes: '=A bicycle' }
  })
  await done('tx', 'label', 'Savings', paid, '--clear', 'name', '--clear', 'notes', '--category', 'other')
  const line = (type: string, ref: string, label: string): string =>
    `${JSON.stringify({ type, ref, label })}\n`
  writeFileSync(path, line('tx', paid, 'Joe') + line('addr', address, 'From Ann') + line('tx', '00', 'No'), {
    flag: 'a'
  })
  const onPhone = (...args: readonly string[]): Promise<Ran> => run(...args, '--device', 'phone')
  await runInProcess(['login', 'alice', '--device', 'phone', '--with', 'password', '--secrets-stdin'], {
    home,
    input
  })
  const imported = async (...args: readonly string[]) => {
    const ran = await onPhone('tx', 'import-labels', path, '--json', ...args)
    const { data } = ran.json
    return [ran.code, ...data.results.map(({ status }: { status: string }) => status)]
  }
  t.deepEqual(await imported('--dry-run'), [9, 'conflict', 'applied', 'unknown', 'applied'])
  t.deepEqual(await imported(), [9, 'conflict', 'applied', 'unknown', 'applied'])
  t.deepEqual(await imported('--overwrite'), [0, 'applied', 'same', 'unknown', 'same'])
  t.deepEqual(await imported(), [0, 'same', 'same', 'unknown', 'same'])

  await done('sync')
  const { tx } = await dataOf('tx', 'show', 'Savings', paid)
  t.like(tx.metadata, { name: 'Joe', category: 'expense:Toys', notes: '=A bicycle' })
  const again = await done('tx', 'export', 'Savings', '--format', 'bip329')
  t.true(again.stdout.includes(`"ref":"${address}","label":"From Ann"`))
  for (const wrong of [file('none'), home])
    failed(t, await run('tx', 'import-labels', wrong, '--json'), 'NOT_FOUND', 6)
})

test.serial('tx watch reports a payment as it arrives, and ends with Ctrl-C', async t => {
  const { address } = await dataOf('address', 'Daily')
  const world = startInProcess(['fake', 'start', '--json'], { home })
  await world.waitFor(/authServer/)
  const watch = startInProcess(['tx', 'watch', 'Daily', '--json', '--secrets-stdin'], { home, input })
  await watch.waitFor(/"tx.watching"/)
  await runInProcess(['fake', 'chain', 'fund', address, '0.4 BTC'], { home })
  await watch.waitFor(/"tx.new"/)
  const ran = await watch.stop()
  await world.stop()
  t.is(ran.code, 0, ran.stderr)
  const lines = ran.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const came = lines.find(({ event }) => event === 'tx.new')
  t.like(came.data, { direction: 'in', amount: { display: '0.4' }, state: 'unconfirmed' })
  t.deepEqual(lines.at(-1), { event: 'end', reason: 'stopped' })
})
