import test from 'ava'
import { pluginChecks } from '../../testing/plugin-checks.ts'
import { rateChecks } from '../../testing/rate-checks.ts'
import { rateSuite } from '../../testing/rate-suite.ts'
import { runSuite } from '../../testing/suite.ts'
import { brokenRates, rateShop, shopCases } from './broken-rates.ts'

test('a sound source of rates passes every check of the suite', async t => {
  const results = await runSuite(rateSuite(rateShop(), shopCases))
  t.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed').map(({ title, message }) => `${title}: ${message}`),
    []
  )
  t.true(results.length >= 25)
})

for (const { breaks, make, options = {} } of brokenRates) {
  test(`a source of rates with a mistake for ${breaks} fails that check`, async t => {
    const results = await runSuite(rateSuite(make(), { ...shopCases, ...options }))
    const failed = results.filter(({ outcome }) => outcome === 'failed')
    t.true(failed.some(({ id }) => id === breaks))
    for (const { message } of failed) t.true(message.length > 10)
    // A plugin that does not load fails whatever is tried.
    if (breaks !== 'plugin.loads') t.deepEqual([...new Set(failed.map(({ id }) => id))], [breaks])
  })
}

test('every check of rates has a broken source that it finds', t => {
  const ids = [...pluginChecks, ...rateChecks].filter(({ level }) => level !== 'live').map(({ id }) => id)
  t.deepEqual(
    [...brokenRates.map(({ breaks }) => breaks)].sort(),
    [...ids, 'rates.valid', 'rates.invalid'].sort()
  )
})
