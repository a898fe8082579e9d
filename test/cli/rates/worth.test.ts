import test from 'ava'
import type { Plugin } from '../../../kernel/index.ts'
import { makeHome, type Ran } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { toySource } from '../../helpers/rate-home.ts'
import { startInProcess } from '../../helpers/running-command.ts'
import { tokenChain } from '../../helpers/token-chain.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const COIN = tokenChain.info.currencyCode
const all = toySource('toy', [
  [COIN, 'iso:XTS', 3],
  ['USDX', 'iso:XTS', 1.5],
  ['EURX', 'iso:XTS', 2]
])
const coinOnly = toySource('toy', [[COIN, 'iso:XAF', 0.001]])

const runWith =
  (...plugins: readonly Plugin[]) =>
  (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin', '--json'], { home, input, plugins: [tokenChain, ...plugins] })
const run = runWith(all)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await run('wallets', 'create', 'tokenchain', '--name', 'Toys')
})

// Before the others: rates that are known once lead on.
test.serial('balance --fiat leaves out holdings without a rate, with a warning', async t => {
  const { data, warnings } = succeeded(
    t,
    await runWith(coinOnly)('balance', '--fiat', 'iso:XAF'),
    'balance/1'
  )
  t.is(data.balances[0].fiat.value, '0.01')
  t.is(data.balances[1].fiat, null)
  t.like(data.fiatTotal, { value: '0.01', complete: false })
  t.deepEqual(warnings, ['no rate is known for USDX, which the sum leaves out'])
  const nothing = succeeded(t, await runWith()('balance', '--fiat', 'iso:XPD'), 'balance/1')
  t.is(nothing.data.fiatTotal, null)
  failed(t, await run('balance', '--fiat', 'euros'), 'USAGE', 2)
})

test.serial('balance --fiat shows the value of each asset and the sum, with the age of the rate', async t => {
  const { data } = succeeded(t, await run('balance', '--fiat', 'iso:xts', '--total'), 'balance/1')
  t.like(data.balances[0], { display: '10', code: COIN })
  t.like(data.balances[0].fiat, { code: 'iso:XTS', value: '30.00', source: 'toy', stale: false })
  t.like(data.balances[1].fiat, { value: '3.75' })
  t.is(typeof data.balances[1].fiat.rateAt, 'string')
  t.like(data.fiatTotal, { code: 'iso:XTS', value: '33.75', complete: true, stale: false })
  t.is(data.totals[0].fiat.value, '30.00')
  const table = await runInProcess(['balance', '--fiat', 'iso:XTS', '--secrets-stdin'], {
    home,
    input,
    plugins: [tokenChain, all]
  })
  const rows = table.stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
  t.deepEqual(rows[0]?.slice(0, 3), ['Toys', '10 TOY', '30.00 XTS'])
  t.regex(rows[0]?.[3] ?? '', /^\d+ s$/)
  t.deepEqual(rows.at(-1)?.slice(0, 3), ['in all', '', '33.75 XTS'])
})

test.serial('offline, the value of yesterday has its age', async t => {
  const { data } = succeeded(
    t,
    await runWith()('balance', '--fiat', 'iso:XTS', '--offline', '--zero'),
    'balance/1'
  )
  t.is(data.balances[0].fiat.source, 'toy')
})

test.serial('amount shows the value, and fails without a rate', async t => {
  const { data } = succeeded(t, await run('amount', 'Toys', '2', '--to', 'iso:XTS'), 'amount/1')
  t.like(data.fiat, { code: 'iso:XTS', value: '6.00' })
  t.is(data.code, COIN)
  failed(t, await run('amount', 'Toys', '2', '--to', 'iso:XPT'), 'NO_RATE', 47)
})

test.serial('balance --watch --fiat requests rates, and shows values when they arrive', async t => {
  const late = toySource('late', async tapContext => {
    await new Promise(resolve => setTimeout(resolve, 300))
    tapContext.offer({ fromCurrency: COIN, toCurrency: 'iso:XAU' }, 2)
  })
  const args = ['balance', '--watch', '--fiat', 'iso:XAU', '--secrets-stdin', '--json']
  const watch = startInProcess(args, { home, input, plugins: [tokenChain, late] })
  await watch.waitFor(/"value":"20\.00"/)
  const { code } = await watch.stop()
  t.is(code, 0)
  t.deepEqual(late.requested[0]?.[0], { fromCurrency: COIN, toCurrency: 'iso:XAU' })
})
