import test from 'ava'
import { pluginChecks } from '../../testing/plugin-checks.ts'
import { runSuite } from '../../testing/suite.ts'
import { swapChecks } from '../../testing/swap-checks.ts'
import { swapSuite } from '../../testing/swap-suite.ts'
import { brokenSwaps, trader, traderCases } from './broken-swaps.ts'

test('a sound swap provider passes every check of the suite', async t => {
  const results = await runSuite(swapSuite(trader(), traderCases))
  t.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed').map(({ title, message }) => `${title}: ${message}`),
    []
  )
  t.true(results.length >= 25)
})

for (const { breaks, make } of brokenSwaps) {
  test(`a swap provider with a mistake for ${breaks} fails that check`, async t => {
    const results = await runSuite(swapSuite(make(), traderCases))
    const failed = [...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))]
    t.true(failed.includes(breaks), failed.join())
    // A plugin that does not load fails whatever is tried.
    if (breaks !== 'plugin.loads') t.deepEqual(failed, [breaks])
  })
}

test('every check of swaps has a broken provider that it finds', t => {
  const ids = [...pluginChecks, ...swapChecks].filter(({ level }) => level !== 'live').map(({ id }) => id)
  t.deepEqual(
    [...brokenSwaps.map(({ breaks }) => breaks)].sort(),
    [...ids, 'swap.valid', 'swap.invalid'].sort()
  )
})

test('a suite of swaps refuses no case, and two cases of one name', t => {
  const [valid] = traderCases.valid
  if (valid === undefined) return t.fail()
  t.throws(() => swapSuite(trader(), { valid: [] }), { instanceOf: TypeError })
  t.throws(() => swapSuite(trader(), { valid: [valid, valid] }), { message: /Two cases are called/ })
})
