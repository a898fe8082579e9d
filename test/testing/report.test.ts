import { readFileSync } from 'node:fs'
import { parseXml } from '@rgrove/parse-xml'
import test from 'ava'
import { currencyLiveChecks } from '../../testing/currency-live-checks.ts'
import { currencyChecks } from '../../testing/currency-suite.ts'
import { observerChecks } from '../../testing/observer-suite.ts'
import { pluginChecks } from '../../testing/plugin-checks.ts'
import { policyChecks } from '../../testing/policy-suite.ts'
import { rateChecks } from '../../testing/rate-checks.ts'
import { rateSuite } from '../../testing/rate-suite.ts'
import { formatResults } from '../../testing/report.ts'
import { testSuite } from '../../testing/run-with.ts'
import { storageChecks } from '../../testing/storage-suite.ts'
import {
  type CheckInfo,
  type CheckResult,
  must,
  type PlannedCheck,
  runCheck,
  runSuite,
  type Suite,
  skip
} from '../../testing/suite.ts'
import { swapChecks } from '../../testing/swap-checks.ts'
import { swapSuite } from '../../testing/swap-suite.ts'
import { rateShop, shopCases } from './broken-rates.ts'
import { trader, traderCases } from './broken-swaps.ts'

const ODD = 'a <b> & "c" #d\n\u0000\ud800 ☃𝄞'

const checkOf = (id: string, run: () => void): PlannedCheck => ({
  id,
  title: `${id} of ${ODD}`,
  level: 'quick',
  reason: `reason ${ODD}`,
  clause: '5.38',
  hint: `hint ${ODD}`,
  run: async () => run()
})

const suite: Suite = {
  pluginId: 'odd',
  kind: 'rates',
  level: 'full',
  checks: [
    checkOf('x.passes', () => {}),
    checkOf('x.fails', () => must(false, () => `found ${ODD}`)),
    checkOf('x.skips', () => skip(`cause ${ODD}`)),
    checkOf('x.throws', () => {
      throw new TypeError('odd')
    })
  ]
}

const results = await runSuite(suite)

test('each result has the facts of its check, an outcome and what was found', t => {
  t.deepEqual(
    results.map(({ outcome, message }) => [outcome, message]),
    [
      ['passed', ''],
      ['failed', `found ${ODD}`],
      ['skipped', `cause ${ODD}`],
      ['failed', 'TypeError: odd']
    ]
  )
  t.deepEqual(Object.keys(results[0] ?? {}).sort(), [
    ...['clause', 'durationMs', 'hint', 'id', 'level', 'message', 'outcome', 'reason', 'title']
  ])
})

test('the report for people lists every check, and a failure with reason, clause and hint', t => {
  const text = formatResults(suite, results)
  t.regex(text, /^✔ x\.passes/)
  for (const part of ['found ', 'clause: 5.38', 'hint: hint ', 'reason: reason ']) t.true(text.includes(part))
  t.regex(text, /\nodd \(rates\): conformance 1\/3, 1 skipped, full\n$/)
})

test('the TAP report has a plan, one line for each check and a block for each failure', t => {
  const lines = formatResults(suite, results, 'tap').split('\n')
  t.deepEqual(lines.slice(0, 2), ['TAP version 14', '1..4'])
  const points = lines.filter(line => /^(?:not )?ok \d/.test(line))
  t.is(points.length, 4)
  t.true(points.every(line => !/[^\\]#(?! SKIP )/.test(line)))
  t.deepEqual(
    points.map(line => line.replace(/ - .*?(?=( # SKIP)|$).*/, '$1')),
    ['ok 1', 'not ok 2', 'ok 3 # SKIP', 'not ok 4']
  )
  t.is(lines.filter(line => line === '  ---').length, 2)
})

test('the JUnit report is XML whatever a message contains, and counts what failed', t => {
  const text = formatResults(suite, results, 'junit')
  const [suites] = parseXml(text).children
  const [unit] = (suites as { children: { attributes?: Record<string, string> }[] }).children.filter(
    child => child.attributes !== undefined
  )
  t.is(unit?.attributes?.tests, '4')
  t.is(unit?.attributes?.failures, '2')
  t.is(unit?.attributes?.skipped, '1')
})

test('the JSON report has the counts and the results', t => {
  const { results: listed, ...counts } = JSON.parse(formatResults(suite, results, 'json')) as {
    results: readonly CheckResult[]
  }
  t.deepEqual(counts as unknown, {
    pluginId: 'odd',
    kind: 'rates',
    level: 'full',
    passed: 1,
    failed: 2,
    skipped: 1
  })
  t.is(listed.length, 4)
})

test('a test of a runner fails with the message, is skipped with the reason, or passes', async t => {
  const seen: unknown[] = []
  const runs: Promise<void>[] = []
  testSuite((title, run) => {
    const context = {
      skip: (reason: string) => void seen.push(['skip', title.split(' ')[1], reason]),
      pass: () => void seen.push(['pass', title.split(' ')[1]])
    }
    runs.push(run(context).catch((error: Error) => void seen.push(['fail', error.message.split('\n')[0]])))
  }, suite)
  await Promise.all(runs)
  t.deepEqual(
    [...seen.map(String)].sort(),
    [
      ['pass', 'x.passes'],
      ['fail', `found ${ODD}`.split('\n')[0]],
      ['skip', 'x.skips', `cause ${ODD}`],
      ['pass', 'x.skips'],
      ['fail', 'TypeError: odd']
    ]
      .map(String)
      .sort()
  )
})

test('a suite runs the checks of its level, and those that are selected', async t => {
  const idsAt = (level: 'quick' | 'full' | 'live'): readonly string[] =>
    rateSuite(rateShop(), { ...shopCases, level }).checks.map(({ id }) => id)
  const [quick, full, live] = [idsAt('quick'), idsAt('full'), idsAt('live')]
  t.true(quick.length < full.length)
  t.deepEqual(
    live.filter(id => !full.includes(id)),
    ['rates.live']
  )
  t.false(quick.includes('rates.silence'))
  const only = await runSuite(rateSuite(rateShop(), shopCases), { only: ['rates.figures'] })
  t.deepEqual(
    only.map(({ id, outcome }) => [id, outcome]),
    [['rates.figures', 'passed']]
  )
})

test('a suite refuses cases that stand twice, pairs that are none, and no case at all', async t => {
  const [valid] = shopCases.valid
  if (valid === undefined) return t.fail()
  t.throws(() => rateSuite(rateShop(), { valid: [] }), { instanceOf: TypeError })
  t.throws(() => rateSuite(rateShop(), { valid: [valid, valid] }), { message: /Two cases are called/ })
  const odd = rateSuite(rateShop(), { valid: [{ ...valid, wanted: ['BTC'] }] })
  const check = odd.checks.find(({ id }) => id === 'rates.valid')
  if (check === undefined) return t.fail()
  t.regex((await runCheck(check)).message, /no pair/)
})

test('a request without a recorded reply fails its case, whatever the plugin makes of it', async t => {
  const lost = rateSuite(rateShop(), {
    ...shopCases,
    invalid: [{ name: 'nothing recorded', wanted: ['BTC iso:USD'], replies: {}, code: 'SERVER' }]
  })
  const [result] = await runSuite(lost, { only: ['nothing recorded'] })
  t.is(result?.outcome, 'failed')
  t.regex(result?.message ?? '', /GET https:\/\/shop\.example\.org\/price, for which the case has no reply/)
})

test('every check has a clause of the specification or a heading of the docs, a reason and a hint', t => {
  const { requirements } = JSON.parse(readFileSync('docs/requirements.json', 'utf8')) as {
    requirements: readonly { readonly id: string }[]
  }
  const clauses = new Set(requirements.map(({ id }) => id))
  for (const page of ['docs/write-a-plugin.md', 'docs/plugins/currency-reference.md', 'docs/policies.md'])
    for (const [, heading = ''] of readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm))
      clauses.add(`${page}#${heading.toLowerCase().replaceAll(' ', '-')}`)
  const tables = [
    pluginChecks,
    rateChecks,
    swapChecks,
    storageChecks,
    observerChecks,
    policyChecks,
    currencyChecks,
    currencyLiveChecks
  ]
  const checks: readonly CheckInfo[] = [
    ...tables.flat(),
    ...rateSuite(rateShop(), shopCases).checks,
    ...swapSuite(trader(), traderCases).checks
  ]
  t.true(checks.length > 100)
  for (const { id, clause, reason, hint } of checks) {
    t.true(clauses.has(clause), `${id}: ${clause}`)
    t.true(reason.endsWith('.') && hint.length > 10, id)
  }
})
