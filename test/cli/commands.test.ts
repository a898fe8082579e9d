import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Envelope, homeFor, makeHome, type Ran, runHoldfast } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PASSWORD = 'kept out of every output'
// So long that it stands in no random number, id or time by chance.
const PIN = '481516234248151623'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const secrets = JSON.stringify({ pin: PIN })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> => runInProcess(args, { home })
const runAs = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input: secrets })

const checkEnvelope = (t: ExecutionContext, ran: Ran, schema: string): Envelope => {
  t.false(ran.stdout.includes(PASSWORD) || ran.stdout.includes(PIN))
  return succeeded(t, ran, schema)
}

test.serial('first: an empty device, no login, and the commands that help', async t => {
  const list = checkEnvelope(t, await run('account', 'list', '--json'), 'account.list/1')
  t.deepEqual(list.data, { accounts: [] })
  const refused = failed(t, await run('wallets', 'list', '--json'), 'NOT_LOGGED_IN', 3)
  t.deepEqual(
    refused.error.next.map(({ command }: { command: string }) => command),
    ['holdfast login <user>', 'holdfast account create <user>']
  )
  failed(t, await run('logout', '--json'), 'NOT_LOGGED_IN', 3)
})

test.serial('account create makes an account and logs in; its folders are private', async t => {
  const created = checkEnvelope(
    t,
    await runInProcess(['account', 'create', 'Alice', '--secrets-stdin', '--json'], {
      home,
      input: JSON.stringify({ password: PASSWORD, pin: PIN })
    }),
    'account.create/1'
  )
  t.like(created.data, { username: 'alice', light: false, pinEnabled: true })
  t.is(created.meta.account, 'alice')
  const users = checkEnvelope(t, await run('account', 'ls', '--json'), 'account.list/1').data.accounts
  t.is(users.length, 1)
  t.like(users[0], { username: 'alice', pinEnabled: true, current: true })
  t.is(users[0].loginId, created.data.loginId)
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const { mode } = statSync(join(home, path))
    t.is(mode & 0o077, 0, path)
  }
})

test.serial('wallets create, and address gives its address as text, link and QR code', async t => {
  const args = ['wallets', 'create', 'bitcoin', '--name', 'Savings', '--fiat', 'iso:EUR', '--json']
  const { data } = checkEnvelope(t, await runAs(...args), 'wallets.create/1')
  t.like(data.wallet, { name: 'Savings', type: 'wallet:bitcoin', pluginId: 'bitcoin', fiatCode: 'iso:EUR' })
  t.like(data.wallet.balances[0], { native: '0', display: '0', code: 'BTC', decimals: 8, tokenId: null })
  t.regex(data.address, /^bcrt1q/)

  const prefix = data.wallet.id.slice(0, 6)
  const shown = checkEnvelope(t, await runAs('address', prefix, '--json'), 'address/1')
  t.like(shown.data, { walletId: data.wallet.id, address: data.address, uri: `bitcoin:${data.address}` })
  const drawn = await runAs('address', 'savings', '--qr', '--amount', '0.5 BTC', '--label', 'a b')
  t.is(drawn.code, 0)
  const lines = drawn.stdout.trimEnd().split('\n')
  t.is(lines.at(-1), `bitcoin:${data.address}?amount=0.5&label=a%20b`)
  t.regex(lines[0] ?? '', /^█{20,}$/)
})

test.serial('fake chain fund pays a wallet or an address; fake chain mine buries it', async t => {
  const args = ['fake', 'chain', 'fund', 'Savings', '0.5 BTC', '--confirm', '--json']
  const { data } = checkEnvelope(t, await runAs(...args), 'fake.chain.fund/1')
  t.like(data.amount, { native: '50000000', display: '0.5' })
  const mined = checkEnvelope(t, await run('fake', 'chain', 'mine', '2', '--json'), 'fake.chain.mine/1')
  t.is(mined.data.height, data.height + 2)
  checkEnvelope(t, await run('fake', 'chain', 'fund', PAYEE, '1000 native', '--json'), 'fake.chain.fund/1')
  const balance = checkEnvelope(t, await runAs('balance', '--json'), 'balance/1')
  t.like(balance.data.balances[0], { name: 'Savings', native: '50000000', display: '0.5', code: 'BTC' })
  t.deepEqual(Object.keys(balance.data), ['balances'])
})

const send = (...args: readonly string[]): Promise<Ran> =>
  runAs('send', 'Savings', '--to', PAYEE, ...args, '--json')

test.serial('send without --yes and without a terminal sends nothing and names the command', async t => {
  const refused = failed(t, await send('--amount', '0.01 BTC'), 'CONFIRMATION_REQUIRED', 5)
  const { summary } = refused.error.details
  t.is(summary.recipients[0].publicAddress, PAYEE)
  t.is(summary.amount.native, '1000000')
  const fee = BigInt(summary.networkFee.native)
  t.is(summary.total.native, String(1_000_000n + fee))
  t.is(summary.remaining.native, String(50_000_000n - 1_000_000n - fee))
  const { command } = refused.error.next[0]
  t.is(command, `holdfast send Savings --to ${PAYEE} --amount '0.01 BTC' --json --secrets-stdin --yes`)
})

test.serial(
  'send: bad amounts, addresses and fees are refused with their codes, and nothing is sent',
  async t => {
    failed(t, await send('--amount', '0.000000001 BTC', '--yes'), 'AMOUNT_INVALID', 2)
    failed(t, await send('--amount', '1 EUR', '--yes'), 'AMOUNT_INVALID', 2)
    failed(t, await send('--amount', '0.00000001 BTC', '--yes'), 'DUST_SPEND', 33)
    failed(t, await send('--yes'), 'NO_AMOUNT_SPECIFIED', 30)
    failed(t, await send('--amount', '2 BTC', '--yes'), 'INSUFFICIENT_FUNDS', 31)
    const limited = await send('--amount', '0.01 BTC', '--max-fee', '1 native', '--yes')
    t.like(failed(t, limited, 'MAX_FEE', 36).error.details, { maxFee: '1', currencyCode: 'BTC' })
    const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    const elsewhere = await runAs('send', 'Savings', '--to', mainnet, '--amount', '0.01', '--yes', '--json')
    failed(t, elsewhere, 'ADDRESS_INVALID', 2)
    failed(t, await runAs('send', 'Nowhere', '--to', PAYEE, '--json'), 'NOT_FOUND', 6)
    const dry = checkEnvelope(t, await send('--amount', 'max', '--dry-run'), 'send/1')
    t.true(dry.data.dryRun)
    t.is(dry.data.summary.remaining.native, '0')
    const { data } = checkEnvelope(t, await runAs('tx', 'list', '--json'), 'tx.list/1')
    t.is(data.transactions.length, 1)
  }
)

test.serial('send spends incoming amounts only with --unconfirmed', async t => {
  checkEnvelope(t, await runAs('fake', 'chain', 'fund', 'Savings', '0.3 BTC', '--json'), 'fake.chain.fund/1')
  const refused = failed(t, await send('--amount', '0.7', '--dry-run'), 'PENDING_FUNDS', 32)
  t.like(refused.error.details, { incoming: '30000000', reserved: '0', immature: '0' })
  t.regex(refused.error.hint, /^30000000 native units are incoming: .* --unconfirmed/)
  failed(t, await send('--amount', '0.7', '--no-unconfirmed', '--dry-run'), 'PENDING_FUNDS', 32)
  const max = async (...args: readonly string[]): Promise<bigint> => {
    const { data } = checkEnvelope(t, await send('--amount', 'max', '--dry-run', ...args), 'send/1')
    return BigInt(data.summary.total.native)
  }
  t.is(await max(), 50_000_000n)
  t.is(await max('--no-unconfirmed'), 50_000_000n)
  t.is(await max('--unconfirmed'), 80_000_000n)
  checkEnvelope(t, await send('--amount', '0.7', '--unconfirmed', '--dry-run'), 'send/1')
  for (const both of [
    ['--unconfirmed', '--no-unconfirmed'],
    ['--no-unconfirmed', '--unconfirmed']
  ]) {
    const { error } = failed(t, await send('--amount', '0.7', ...both), 'USAGE', 2)
    t.is(error.message, 'Use either --unconfirmed or --no-unconfirmed')
  }
  const { data } = checkEnvelope(t, await runAs('tx', 'list', '--in', '--limit', '2', '--json'), 'tx.list/1')
  // Both may have come in the same second.
  const states = data.transactions.map(({ state }: { state: string }) => state)
  t.deepEqual(states.sort(), ['confirmed', 'unconfirmed'])
})

test.serial('send --yes pays; tx list, show and label see it, and the label reaches the server', async t => {
  const sent = checkEnvelope(
    t,
    await send('--amount', '0.01 BTC', '--custom-fee', 'satPerByte=3', '--yes', '--name', 'Shop'),
    'send/1'
  )
  const { txid, tx } = sent.data
  t.regex(txid, /^[0-9a-f]{64}$/)
  t.deepEqual(tx.feeRateUsed, { satPerVByte: '3' })
  await run('fake', 'chain', 'mine')
  const label = ['tx', 'label', 'Savings', txid, '--notes', 'a\tnote', '--clear', 'name', '--json']
  const labelled = checkEnvelope(t, await runAs(...label), 'tx.label/1')
  t.like(labelled.data.before, { name: 'Shop', notes: null })
  t.like(labelled.data.metadata, { name: null, category: null, notes: 'a\tnote' })
  const shown = checkEnvelope(t, await runAs('tx', 'show', 'Savings', txid, '--json'), 'tx.show/1')
  t.like(shown.data.tx, { txid, direction: 'out', confirmations: 'confirmed' })
  t.is(shown.data.tx.spendTargets[0].publicAddress, PAYEE)
  t.is(shown.data.tx.amount.native, `-${1_000_000n + BigInt(tx.networkFee.native)}`)
  const list = await runAs('tx', 'list', 'Savings')
  const row = list.stdout.split('\n').find(line => line.includes(txid))
  t.is(row?.split('\t').length, 8, 'rows stay rows, whatever a note says')
  failed(t, await runAs('tx', 'show', 'Savings', '0'.repeat(64), '--json'), 'TX_NOT_FOUND', 6)
})

test.serial('wallets list and show, and sync, agree with each other', async t => {
  const { data } = checkEnvelope(t, await runAs('wallets', 'list', '--json'), 'wallets.list/1')
  t.is(data.wallets.length, 1)
  const shown = checkEnvelope(t, await runAs('wallets', 'show', 'Savings', '--json'), 'wallets.show/1')
  t.deepEqual(shown.data.balances, data.wallets[0].balances)
  t.like(shown.data.sync, { ratio: 1, state: 'synced' })
  t.deepEqual(shown.data.unfinishedSpends, [])
  const synced = checkEnvelope(t, await runAs('sync', '--json'), 'sync/1')
  t.is(synced.data.wallets[0].height, shown.data.sync.height)
})

test.serial('a wrong password, and a wrong PIN, end with 10', async t => {
  const login = (input: object): Promise<Ran> =>
    runInProcess(['login', 'alice', '--secrets-stdin', '--json'], { home, input: JSON.stringify(input) })
  failed(t, await login({ password: 'wrong' }), 'PASSWORD', 10)
  failed(t, await login({ pin: '0000' }), 'PASSWORD', 10)
})

test.serial(
  'offline, the password still works and what this device knew is shown; the PIN needs the server',
  async t => {
    const input = JSON.stringify({ password: PASSWORD })
    const args = ['balance', '--offline', '--json', '--secrets-stdin']
    const { data } = checkEnvelope(t, await runInProcess(args, { home, input }), 'balance/1')
    t.is(data.balances[0].name, 'Savings')
    const refused = await runAs('balance', '--offline', '--json')
    failed(t, refused, 'NETWORK', 20)
    t.regex(refused.json.error.hint, /Run the command again without --offline/)
  }
)

test.serial('a light account needs only a PIN, and forget asks before it removes', async t => {
  const light = checkEnvelope(
    t,
    await runInProcess(['account', 'create', '--light', '--pin-stdin', '--json'], { home, input: '2342\n' }),
    'account.create/1'
  )
  t.like(light.data, { username: null, light: true })
  const forget = (...args: readonly string[]): Promise<Ran> =>
    run('account', 'forget', light.data.loginId, '--json', ...args)
  failed(t, await forget('--yes'), 'USER_LOGGED_IN', 17)
  t.like(checkEnvelope(t, await run('logout', '--json'), 'logout/1').data, { pinEnabled: true })
  failed(t, await forget(), 'CONFIRMATION_REQUIRED', 5)
  checkEnvelope(t, await forget('--yes'), 'account.forget/1')
  failed(t, await forget('--yes'), 'USER_NOT_ON_DEVICE', 15)
  const login = checkEnvelope(t, await runAs('login', 'alice', '--json'), 'login/1')
  t.like(login.data, { username: 'alice', walletCount: 1 })
})

test('logout of a light account without a PIN names the login key, and logs out only after a confirmation', async t => {
  const alone = homeFor(t)
  const by = (secret: object, ...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin'], { home: alone, input: JSON.stringify(secret) })
  const out = (...flags: readonly string[]): Promise<Ran> =>
    runInProcess(['logout', ...flags], { home: alone })
  const { loginId } = (await by({ pin: '2468' }, 'account', 'create', '--light', '--json')).json.data
  const { loginKey } = (await by({ pin: '2468' }, 'account', 'key', '--reveal', '--json')).json.data
  t.is((await by({ pin: '2468' }, 'account', 'pin', 'remove', '--yes')).code, 0)

  const advice = /no PIN: only its login key opens it again \(holdfast account key --reveal\)/
  const unconfirmed = await out('--json')
  const { details } = failed(t, unconfirmed, 'CONFIRMATION_REQUIRED', 5).error
  t.deepEqual(details.summary, { loginId, pinEnabled: false, opensWith: 'login-key' })
  t.regex(unconfirmed.stderr, advice)
  t.is((await runInProcess(['whoami', '--json'], { home: alone })).json.data.loginId, loginId)

  const left = await out('--yes')
  t.is(left.code, 0, left.stderr)
  t.regex(left.stderr, advice)
  const again = /^Log in again with: holdfast (login \S+ --with key)$/m.exec(left.stdout)?.[1] ?? ''
  t.is((await by({ 'login-key': loginKey }, ...again.split(' '), '--json')).json.data.method, 'key')
})

test.serial('two processes on one profile wait for each other and lose nothing', async t => {
  const create = (name: string): Promise<Ran> =>
    runHoldfast(['wallets', 'create', 'bitcoin', '--name', name, '--json', '--secrets-stdin'], {
      home,
      input: secrets
    })
  const both = await Promise.all([create('One'), create('Two')])
  for (const ran of both) checkEnvelope(t, ran, 'wallets.create/1')
  const { data } = checkEnvelope(t, await runAs('wallets', 'list', '--json'), 'wallets.list/1')
  t.deepEqual(data.wallets.map(({ name }: { name: string }) => name).sort(), ['One', 'Savings', 'Two'])
})

test('the tour on a real node says what is missing before it begins', async t => {
  const env = { HOLDFAST_LITECOIND: '/nowhere' }
  const args = ['demo', '--network', 'regtest', '--json']
  const { error } = failed(t, await runHoldfast(args, { home, env }), 'NODE_MISSING', 6)
  t.true(error.hint.includes('apt-get install litecoind'))
  failed(t, await runHoldfast([...args, '--keep'], { home, env }), 'USAGE', 2)
})
