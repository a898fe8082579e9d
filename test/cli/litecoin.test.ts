import test, { type ExecutionContext } from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { startInProcess } from '../helpers/running-command.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const input = '4815'
// One script hash, with version 196 and with version 58.
const OLD_ADDRESS = '2Mt4ztnz9eRc2nEuhbgPcCkqjK4mRhx2NHT'
const USUAL_ADDRESS = 'QMRm1orPfXf7vRfkDnRdHTHATTDFZ1iXXY'
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> => runInProcess(args, { home })
const runAs = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--pin-stdin', '--json'], { home, input })
const mined = async (t: ExecutionContext, ...args: readonly string[]): Promise<Envelope['data']> =>
  succeeded(t, await run('fake', 'chain', 'mine', ...args, '--json'), 'fake.chain.mine/1').data

test.serial('a Litecoin wallet is made, paid by its name and by its address, and pays', async t => {
  succeeded(t, await runAs('account', 'create', '--light'), 'account.create/1')
  const made = succeeded(t, await runAs('wallets', 'create', 'litecoin', '--name', 'L'), 'wallets.create/1')
  t.like(made.data.wallet, { type: 'wallet:litecoin', pluginId: 'litecoin' })
  t.regex(made.data.address, /^rltc1q/)
  const byName = await runAs('fake', 'chain', 'fund', 'L', '0.5 LTC', '--confirm')
  const funded = succeeded(t, byName, 'fake.chain.fund/1').data
  t.like(funded, { currency: 'litecoin' })
  t.like(funded.amount, { native: '50000000', display: '0.5', code: 'LTC' })
  const byAddress = await run('fake', 'chain', 'fund', made.data.address, '0.25', '--json')
  t.like(succeeded(t, byAddress, 'fake.chain.fund/1').data, { currency: 'litecoin', height: null })
  const balance = succeeded(t, await runAs('balance'), 'balance/1').data.balances[0]
  t.like(balance, { native: '75000000', display: '0.75', code: 'LTC' })
  const other = 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3'
  const sent = succeeded(t, await runAs('send', 'L', '--to', other, '--amount', '0.1 LTC', '--yes'), 'send/1')
  t.regex(JSON.stringify(sent.data), /[0-9a-f]{64}/)
  const mweb = `ltcmweb1${'q'.repeat(110)}`
  const refused = await runAs('send', 'L', '--to', mweb, '--amount', '0.1 LTC', '--yes')
  t.is(refused.json.error.code, 'ADDRESS_INVALID')
  t.regex(refused.json.error.message, /MWEB/)
})

test.serial('blocks are mined on the chain that is named: Bitcoin if none is, and all at once', async t => {
  const { height: bitcoin } = await mined(t)
  const { height: litecoin } = await mined(t, '2', '--currency', 'litecoin')
  t.true(litecoin > bitcoin, 'the payments above have mined there')
  const all = await mined(t, '3', '--currency', 'all')
  t.deepEqual(all, {
    mined: 3,
    height: bitcoin + 3,
    heights: { bitcoin: bitcoin + 3, litecoin: litecoin + 3 }
  })
  const shown = await run('fake', 'chain', 'mine', '--currency', 'all')
  t.deepEqual(
    shown.stdout
      .trim()
      .split(/\n/)
      .map(line => line.trim().split('\t')),
    [
      ['mined', '1'],
      ['bitcoin height', `${bitcoin + 4}`],
      ['litecoin height', `${litecoin + 4}`]
    ]
  )
  const unknown = await run('fake', 'chain', 'mine', '--currency', 'dogecoin', '--json')
  t.regex(failed(t, unknown, 'USAGE', 2).error.hint, /bitcoin, litecoin/)
})

test.serial(
  'an old address that is valid on both chains is paid on the chain of the wallet, or on the named one',
  async t => {
    const options = ['--key-option', 'format=bip44', '--name', 'Old']
    const made = succeeded(t, await runAs('wallets', 'create', 'litecoin', ...options), 'wallets.create/1')
    const { address } = made.data
    t.regex(address, /^[mn]/)
    const chainOf = async (...args: readonly string[]): Promise<string> =>
      succeeded(t, await runAs('fake', 'chain', 'fund', ...args), 'fake.chain.fund/1').data.currency
    t.is(await chainOf('Old', '0.2 LTC'), 'litecoin')
    t.is(await chainOf(address, '0.2 BTC'), 'bitcoin')
    t.is(await chainOf(address, '0.3 LTC', '--currency', 'Litecoin'), 'litecoin')
    const wrong = await runAs('fake', 'chain', 'fund', 'Old', '0.2 BTC')
    t.regex(failed(t, wrong, 'AMOUNT_INVALID', 2).error.message, /no unit of Litecoin/)
    const foreign = ['bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', '1', '--currency', 'litecoin', '--json']
    t.is((await run('fake', 'chain', 'fund', ...foreign)).json.error.code, 'ADDRESS_INVALID')
  }
)

test.serial('a world that runs elsewhere serves both chains', async t => {
  const server = startInProcess(['fake', 'start', '--json'], { home })
  await server.waitFor(/\n/)
  const funded = await runAs('fake', 'chain', 'fund', 'L', '0.125 LTC', '--confirm')
  t.like(succeeded(t, funded, 'fake.chain.fund/1').data, { currency: 'litecoin' })
  const listed = succeeded(t, await runAs('tx', 'list', 'L'), 'tx.list/1').data.transactions
  t.true(JSON.stringify(listed).includes('"12500000"'))
  const { chainServers, electrumServers } = (await server.stop()).json.data
  t.deepEqual(electrumServers, chainServers.bitcoin)
  t.is(new Set([...chainServers.bitcoin, ...chainServers.litecoin]).size, 4)
})

test.serial('a memo is in the review, goes onto the chain, and stands in the history', async t => {
  const to = ['--to', 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3', '--amount', '0.01 LTC']
  const dry = await runInProcess(['send', 'L', ...to, '--memo', 'order 7', '--dry-run', '--pin-stdin'], {
    home,
    input
  })
  t.regex(dry.stdout, /memo\torder 7 \(everyone can read it\)/)
  const refused = succeeded(t, await runAs('send', 'L', ...to, '--memo', 'order 7', '--dry-run'), 'send/1')
  const reported = [{ type: 'text', value: 'order 7', memoName: 'OP_RETURN' }]
  t.deepEqual(refused.data.summary.memos, reported)
  const sent = await runAs('send', 'L', ...to, '--memo', 'order 7', '--yes')
  const { txid } = succeeded(t, sent, 'send/1').data
  t.deepEqual(succeeded(t, await runAs('tx', 'show', 'L', txid), 'tx.show/1').data.tx.memos, reported)
  const hex = await runAs('send', 'L', ...to, '--memo', 'hex:0xC0FFEE', '--dry-run')
  const { memos } = succeeded(t, hex, 'send/1').data.summary
  t.deepEqual(memos, [{ type: 'hex', value: 'C0FFEE', memoName: 'OP_RETURN' }])
  for (const memo of ['number:7', `text:${'a'.repeat(81)}`, 'hex:zz']) {
    const error = failed(t, await runAs('send', 'L', ...to, '--memo', memo, '--yes'), 'MEMO_INVALID', 2)
    t.regex(error.error.message, /memo/i)
  }
})

test.serial(
  'an old address that Bitcoin spells the same is shown as it will be paid, with a warning',
  async t => {
    const to = ['--to', OLD_ADDRESS, '--amount', '0.01 LTC', '--dry-run']
    const { summary } = succeeded(t, await runAs('send', 'L', ...to), 'send/1').data
    t.is(summary.recipients[0].publicAddress, USUAL_ADDRESS)
    t.is(summary.warnings.length, 1)
    t.regex(summary.warnings[0], new RegExp(`^${OLD_ADDRESS} has an old form .* Litecoin$`))
    const shown = await runInProcess(['send', 'L', ...to, '--pin-stdin'], { home, input })
    t.regex(shown.stdout, /careful\t.*has an old form/)
    const usual = ['--to', USUAL_ADDRESS, '--amount', '0.01 LTC', '--dry-run']
    t.deepEqual(succeeded(t, await runAs('send', 'L', ...usual), 'send/1').data.summary.warnings, [])
  }
)
