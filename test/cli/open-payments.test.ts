import { join } from 'node:path'
import test from 'ava'
import { makeActionHandler } from '../../app/actions/actions.ts'
import { openPaymentJson } from '../../cli/spend/open-payments.ts'
import type { Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { openRuledDevice, payment } from '../helpers/ruled-device.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const PAY = ['send', 'Savings', '--to', PAYEE, '--amount', '0.01', '--fee', 'low', '--yes'] as const
const openTxids = async (): Promise<string[]> =>
  (await dataOf('tx', 'open', 'Savings')).openPayments.map(({ txid }: { txid: string }) => txid)

let first = ''

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  for (const amount of ['0.1 BTC', '0.2 BTC'])
    await dataOf('fake', 'chain', 'fund', 'Savings', amount, '--confirm')
})

test('an open payment lists the network fees that it pays in tokens', async t => {
  const { wallet, chain, kernel } = await openRuledDevice(t)
  await wallet.spend(await wallet.makeSpend(payment(5)))
  chain.toll = '60'
  await wallet.spend(await wallet.makeSpend(payment(6)))
  const runAction = makeActionHandler({ context: kernel.context, io: makeNodeIo() })
  t.teardown(() => runAction.close())
  const { payments } = await runAction('spend.open', { walletId: wallet.id })
  const fees = payments.map(open => openPaymentJson(wallet, open).tokenFees)
  t.deepEqual(fees, [[], [{ tokenId: 'silver', currencyCode: '?', nativeAmount: '60', display: '60' }]])
})

test.serial(
  'open payments are shown before another one, and a similar second payment needs confirmation even with --yes',
  async t => {
    first = (await dataOf(...PAY, '--name', 'Joe')).txid
    t.deepEqual(await openTxids(), [first])
    const second = await run(...PAY, '--json')
    failed(t, second, 'CONFIRMATION_REQUIRED', 5)
    t.deepEqual(second.json.error.details.openTxids, [first])
    t.regex(second.json.error.next[1].command, /^holdfast tx replace .* [0-9a-f]{64}$/)
    const { summary } = await dataOf(...PAY, '--dry-run')
    t.deepEqual(summary.similarPayments, [first])
    t.like(summary.openPayments[0], { txid: first, state: 'seen', amount: { display: '0.01' } })
    const other = await run('send', 'Savings', '--to', PAYEE, '--amount', '0.02', '--yes')
    t.is(other.code, 0, other.stderr)
    t.regex(other.stderr, new RegExp(`open +0\\.01 BTC to ${PAYEE}: seen by the network`))
  }
)

test.serial('tx show, tx list and wallets show report the state of a payment on the network', async t => {
  const { tx } = await dataOf('tx', 'show', 'Savings', first)
  t.deepEqual([tx.sentState, tx.replacedBy, tx.confirmations], ['seen', null, 'unconfirmed'])
  const listed = await dataOf('tx', 'list', 'Savings')
  t.is(listed.openPayments.length, 2)
  t.is((await dataOf('wallets', 'show', 'Savings')).openPayments.length, 2)
  t.regex((await run('tx', 'show', 'Savings', first)).stdout, /network\s+seen by the network/)
})

test.serial('tx replace can pay all there is, with the coins of the payment that it replaces', async t => {
  const [, later = ''] = await openTxids()
  const max = ['tx', 'replace', 'Savings', later, '--to', PAYEE, '--amount', 'max', '--dry-run']
  const { summary } = await dataOf(...max)
  t.is(summary.replaces, later)
  // At least the smaller of the two coins that came in, less a fee.
  const amount = Number(summary.amount.native)
  t.true(amount > 9_980_000, summary.amount.display)
  const [, ...rest] = max
  t.is(
    (await run('tx', ...rest.slice(0, -2), `${amount + 1} native`, '--dry-run', '--json')).json.error.code,
    'INSUFFICIENT_FUNDS'
  )
})

test.serial(
  'tx replace replaces an open payment and keeps its notes, and only one of the two is mined',
  async t => {
    const [, later = ''] = await openTxids()
    const replaced = await dataOf('tx', 'replace', 'Savings', later, '--yes')
    t.is(replaced.tx.spendTargets[0].amount.display, '0.02')
    const shown = (await dataOf('tx', 'show', 'Savings', later)).tx
    t.deepEqual([shown.sentState, shown.replacedBy], ['replaced', replaced.txid])
    t.is((await dataOf('tx', 'resend', 'Savings', first, '--yes')).txid, first)
    await runInProcess(['fake', 'chain', 'mine'], { home })
    t.deepEqual(await openTxids(), [])
    t.is((await dataOf('tx', 'show', 'Savings', replaced.txid)).tx.confirmations, 'confirmed')
    t.is((await dataOf('tx', 'show', 'Savings', later)).tx.sentState, 'replaced')
    failed(t, await run('tx', 'replace', 'Savings', first, '--yes', '--json'), 'TX_NOT_FOUND', 6)
  }
)

test.serial('a second payment of the same amount to the same payee is made with --again', async t => {
  const one = (await dataOf(...PAY)).txid
  const two = (await dataOf(...PAY, '--again')).txid
  t.not(one, two)
  t.deepEqual((await openTxids()).sort(), [one, two].sort())
})

test.serial('tx replace and send that are stopped before they sign send nothing', async t => {
  const before = await openTxids()
  const txid = before.at(-1) ?? ''
  const stops = [
    ['tx', 'replace', 'Savings', txid, '--again', '--yes', '--json'],
    ['send', 'Savings', '--to', PAYEE, '--amount', '0.03', '--yes', '--json']
  ]
  for (const args of stops) {
    const stop = new AbortController()
    const policy: Plugin = {
      kind: 'policy',
      id: 'stopping',
      apply: ({ hooks }) =>
        hooks.beforeSign.tapPromise('stopping', async ({ use }) => {
          if (use === 'spend') stop.abort()
        })
    }
    const ran = await runInProcess([...args, '--secrets-stdin'], {
      ...{ home, input, signal: stop.signal, plugins: [policy] }
    })
    failed(t, ran, 'SIGN_STOPPED', 36)
    t.deepEqual(await openTxids(), before)
  }
})

test.serial(
  'a payment from a file that pays the same as an open one is sent only after a confirmation',
  async t => {
    const file = join(home, 'signed.json')
    const signing = ['--amount', '0.004', '--yes', '--sign-only', '-o', file]
    const { txid } = await dataOf('send', 'Savings', '--to', PAYEE, ...signing)
    const paid = (await dataOf('send', 'Savings', '--to', PAYEE, '--amount', '0.004', '--yes', '--again'))
      .txid
    const resend = ['tx', 'resend', 'Savings', txid, '--yes'] as const
    const refused = await run(...resend, '--json')
    failed(t, refused, 'CONFIRMATION_REQUIRED', 5)
    t.deepEqual(refused.json.error.details.openTxids, [paid])
    t.is((await dataOf('tx', 'resend', 'Savings', paid, '--yes')).txid, paid)
    t.is((await dataOf(...resend, '--again')).txid, txid)
  }
)
