import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const THIEF = 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'
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
const laptop = async (...args: readonly string[]): Promise<Ran> => done(...args, '--device', 'laptop')
const forget = (txid: string): Promise<Ran> =>
  done('tx', 'forget', 'Savings', txid, '--yes', '--confirm', txid.slice(0, 8))
const file = (name: string): string => join(home, name)
const fieldsOf = (name: string): Record<string, unknown> => JSON.parse(readFileSync(file(name), 'utf8'))

/** A payment of 0.01 BTC from Savings, signed into a new file. */
const signed = (name: string, ...more: readonly string[]): Promise<Envelope['data']> =>
  dataOf(
    'send',
    'Savings',
    '--to',
    PAYEE,
    '--amount',
    '0.01',
    '--yes',
    '--again',
    '--sign-only',
    '-o',
    file(name),
    ...more
  )

const isInvalid = async (t: ExecutionContext, ran: Promise<Ran>, field: string): Promise<void> => {
  const { error } = (await ran).json
  t.deepEqual([error.code, error.exitCode, error.details.field], ['SIGNED_TX_INVALID', 2, field])
}

const unfinished = async (): Promise<unknown> => (await dataOf('wallets', 'show', 'Savings')).unfinishedSpends
const balance = async (): Promise<string> => (await dataOf('wallets', 'show', 'Savings')).balances[0].display

let first = ''

const refusedFee = (...more: readonly string[]): Promise<Ran> =>
  run(
    'send',
    'Savings',
    '--to',
    PAYEE,
    '--amount',
    '0.01',
    '--custom-fee',
    'satPerByte=1000',
    '--json',
    ...more
  )

test.serial(
  '--yes alone signs no fee that is far above the usual one, into a file neither; --max-fee does',
  async t => {
    const before = await balance()
    for (const more of [[], ['--sign-only', '-o', file('dear.json')]]) {
      const { error } = (await refusedFee('--yes', ...more)).json
      t.deepEqual([error.code, error.exitCode], ['FEE_UNUSUAL', 36])
      t.regex(error.hint, /--max-fee/)
    }
    t.false(existsSync(file('dear.json')))
    const requested = (await refusedFee()).json
    t.is(requested.error.code, 'CONFIRMATION_REQUIRED')
    t.regex(JSON.stringify(requested.error.details), /more than ten times the usual/)
    const dry = (await refusedFee('--dry-run')).json
    t.regex(String(dry.data.summary.warnings[0]), /more than ten times the usual/)
    t.is((await refusedFee('--yes', '--max-fee', '0.0001')).json.error.code, 'MAX_FEE')
    t.is(await balance(), before)
    const dear = await refusedFee('--yes', '--max-fee', '0.01', '--sign-only', '-o', file('dear.json'))
    t.is(dear.code, 0, dear.stdout)
    await forget(dear.json.data.txid)
  }
)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  for (const name of ['Savings', 'Daily']) await done('wallets', 'create', 'bitcoin', '--name', name)
  await done('wallets', 'create', 'litecoin', '--name', 'Light')
  for (const amount of ['0.1 BTC', '0.2 BTC', '0.3 BTC'])
    await done('fake', 'chain', 'fund', 'Savings', amount, '--confirm')
})

test.serial(
  'send --sign-only writes a private file without keys, sends nothing and names the next commands',
  async t => {
    const before = await balance()
    const [name, notes] = ['Joe', 'A bicycle']
    const args = ['--to', PAYEE, '--amount', '0.01', '--name', name, '--notes', notes, '--memo', 'rent']
    const place = file('first.json')
    const ran = await done('send', 'Savings', ...args, '--yes', '--sign-only', '-o', place)
    t.regex(ran.stderr, /holdfast tx broadcast Savings .*first\.json/)
    t.is(statSync(place).mode & 0o777, 0o600)
    t.deepEqual(
      readdirSync(home).filter(entry => entry.endsWith('.part')),
      []
    )
    const fields = fieldsOf('first.json')
    first = fields.txid as string
    t.deepEqual(
      [fields.format, fields.version, fields.pluginId, fields.tokenId],
      ['holdfast-signed-payment', 1, 'bitcoin', null]
    )
    t.deepEqual(fields.metadata, { name, notes, exchangeAmount: {} })
    t.regex(fields.signedTx as string, /^[0-9a-f]{200,}$/)
    t.notRegex(JSON.stringify(fields), /[xt]prv|privateKey|seed|mnemonic/i)
    t.is(await balance(), before)
    t.deepEqual(await unfinished(), [{ stage: 'signed', txid: first }])
    t.is((await run('tx', 'show', 'Savings', first, '--json')).json.error.code, 'TX_NOT_FOUND')
  }
)

test.serial('an existing file is kept, a file needs --sign-only, and a dry run writes none', async t => {
  const before = readFileSync(file('first.json'), 'utf8')
  const args = ['send', 'Savings', '--to', PAYEE, '--amount', '0.01', '--again', '--json']
  failed(t, await run(...args, '--yes', '--sign-only', '-o', file('first.json')), 'USAGE', 2)
  t.is(readFileSync(file('first.json'), 'utf8'), before)
  t.deepEqual(await unfinished(), [{ stage: 'signed', txid: first }])
  failed(t, await run(...args, '--yes', '--sign-only'), 'USAGE', 2)
  failed(t, await run(...args, '--yes', '-o', file('none.json')), 'USAGE', 2)
  failed(t, await run(...args, '--sign-only', '-o', file('none.json')), 'CONFIRMATION_REQUIRED', 5)
  await done(...args, '--dry-run', '--sign-only', '-o', file('none.json'))
  t.false(existsSync(file('none.json')))
})

test.serial(
  'tx broadcast shows the review of the payment, sends it after a yes and keeps its notes',
  async t => {
    const requested = await run('tx', 'broadcast', 'Savings', file('first.json'), '--json')
    failed(t, requested, 'CONFIRMATION_REQUIRED', 5)
    const { summary } = requested.json.error.details
    t.is(summary.amount.display, '0.01')
    t.deepEqual(
      summary.recipients.map((to: { publicAddress: string }) => to.publicAddress),
      [PAYEE]
    )
    const dry = await dataOf('tx', 'broadcast', 'Savings', file('first.json'), '--dry-run')
    t.deepEqual(dry, { dryRun: true, summary })
    failed(
      t,
      await run('tx', 'broadcast', 'Savings', file('first.json'), '--offline', '--yes', '--json'),
      'USAGE',
      2
    )
    t.is((await run('tx', 'show', 'Savings', first, '--json')).json.error.code, 'TX_NOT_FOUND')

    const ran = await done('tx', 'broadcast', 'Savings', file('first.json'), '--yes')
    t.regex(ran.stderr, /amount +0\.01 BTC/)
    const { tx } = await dataOf('tx', 'show', 'Savings', first)
    t.deepEqual(
      [tx.direction, tx.state, tx.metadata.name, tx.metadata.notes],
      ['out', 'unconfirmed', 'Joe', 'A bicycle']
    )
    t.deepEqual(
      tx.spendTargets.map((target: { publicAddress: string }) => target.publicAddress),
      [PAYEE]
    )
    t.is(tx.memos[0].value, 'rent')
    t.deepEqual(await unfinished(), [])
    await runInProcess(['fake', 'chain', 'mine'], { home })
    t.is((await dataOf('tx', 'show', 'Savings', first)).tx.confirmations, 'confirmed')
  }
)

test.serial('a transaction in the history is not sent again', async t => {
  const ran = await run('tx', 'broadcast', 'Savings', file('first.json'), '--yes', '--json')
  failed(t, ran, 'NOT_NEEDED', 16)
  t.regex(ran.json.error.next[0].command, /tx show Savings/)
})

test.serial('a file of another wallet or currency, of a later version, or of nothing is refused', async t => {
  await signed('second.json')
  await isInvalid(t, run('tx', 'broadcast', 'Daily', file('second.json'), '--yes', '--json'), 'walletId')
  const usage = async (name: string, wallet = 'Savings'): Promise<void> => {
    failed(t, await run('tx', 'broadcast', wallet, file(name), '--yes', '--json'), 'USAGE', 2)
    failed(t, await run('tx', 'save', wallet, file(name), '--json'), 'USAGE', 2)
  }
  await usage('second.json', 'Light')
  for (const text of ['', '[]', '{}', 'null', JSON.stringify({ ...fieldsOf('second.json'), version: 2 })]) {
    writeFileSync(file('bad.json'), text)
    await usage('bad.json')
  }
  failed(t, await run('tx', 'broadcast', 'Savings', file('missing.json'), '--yes', '--json'), 'NOT_FOUND', 6)
})

test.serial('a file that was changed by hand is refused with the field, and nothing is sent', async t => {
  const fields = fieldsOf('second.json')
  const [target] = fields.spendTargets as Record<string, unknown>[]
  const changes: readonly [string, Record<string, unknown>][] = [
    ['txid', { txid: first }],
    ['signedTx', { signedTx: (fields.signedTx as string).slice(2) }],
    ['networkFee', { networkFee: '1' }],
    ['spentCoins', { spentCoins: [`${first}:0`] }],
    ['spendTargets', { spendTargets: [{ ...target, publicAddress: THIEF }] }]
  ]
  for (const [field, change] of changes) {
    writeFileSync(file('changed.json'), JSON.stringify({ ...fields, ...change }))
    for (const command of ['broadcast', 'save'])
      await isInvalid(t, run('tx', command, 'Savings', file('changed.json'), '--yes', '--json'), field)
  }
  t.is((await run('tx', 'show', 'Savings', fields.txid as string, '--json')).json.error.code, 'TX_NOT_FOUND')
})

test.serial(
  'tx forget frees the coins of a signed payment after its txid was typed, and of an open one alone',
  async t => {
    const { txid } = fieldsOf('second.json')
    t.deepEqual(await unfinished(), [{ stage: 'signed', txid }])
    await done('tx', 'forget', 'Savings', txid as string, '--dry-run')
    const unrequested = await run('tx', 'forget', 'Savings', txid as string, '--yes', '--json')
    failed(t, unrequested, 'CONFIRMATION_REQUIRED', 5)
    t.is(unrequested.json.error.details.summary.state, 'signed')
    failed(
      t,
      await run('tx', 'forget', 'Savings', txid as string, '--yes', '--confirm', 'yes', '--json'),
      'DECLINED',
      5
    )
    t.deepEqual(await unfinished(), [{ stage: 'signed', txid }])
    await forget(txid as string)
    t.deepEqual(await unfinished(), [])
    failed(t, await run('tx', 'discard', 'Savings', first, '--yes', '--json'), 'TX_NOT_FOUND', 6)
  }
)

test.serial('a payment whose coin another device has spent meanwhile is not sent in its place', async t => {
  const args = ['--amount', 'max', '--fee', 'low', '--yes']
  await done('send', 'Savings', '--to', PAYEE, ...args, '--sign-only', '-o', file('all.json'))
  const more = await run('send', 'Savings', '--to', PAYEE, '--amount', '0.01', '--yes', '--json')
  failed(t, more, 'PENDING_FUNDS', 32)
  await laptop('login', 'alice')
  await laptop('send', 'Savings', '--to', PAYEE, '--amount', '0.01', '--yes')
  await isInvalid(t, run('tx', 'broadcast', 'Savings', file('all.json'), '--yes', '--json'), 'signedTx')
  await forget(fieldsOf('all.json').txid as string)
  await runInProcess(['fake', 'chain', 'mine'], { home })
})

test.serial('a payment is signed offline, and sent later on', async t => {
  const { txid } = await signed('offline.json', '--offline', '--name', 'Ann')
  t.is((await dataOf('tx', 'broadcast', 'Savings', file('offline.json'), '--yes')).txid, txid)
  t.is((await dataOf('tx', 'show', 'Savings', txid)).tx.metadata.name, 'Ann')
})

test.serial('another device sends a file that this one has signed; tx save then records it here', async t => {
  const { txid } = await signed('other.json', '--name', 'Eve')
  const { walletId } = fieldsOf('other.json')
  await laptop('tx', 'broadcast', walletId as string, file('other.json'), '--yes')
  const saved = await dataOf('tx', 'save', 'Savings', file('other.json'))
  t.deepEqual([saved.txid, saved.tx.metadata.name], [txid, 'Eve'])
  t.deepEqual(await unfinished(), [])
  t.is((await dataOf('tx', 'show', 'Savings', txid)).tx.metadata.name, 'Eve')
})

test.serial('tx save adds an unknown payment to the history, and a dry run does not', async t => {
  const { txid } = await signed('elsewhere.json')
  await done('tx', 'save', 'Savings', file('elsewhere.json'), '--dry-run')
  t.is((await run('tx', 'show', 'Savings', txid, '--json')).json.error.code, 'TX_NOT_FOUND')
  await done('tx', 'save', 'Savings', file('elsewhere.json'), '--offline')
  t.is((await dataOf('tx', 'show', 'Savings', txid, '--offline')).tx.state, 'unconfirmed')
})
