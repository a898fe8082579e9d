import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

test('the live check passes with a real server that has prices, and fails without one', async t => {
  let body = '{"usd":64000}'
  const server = createServer((_request, response) => void response.end(body))
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const live = async (origins: readonly string[]): Promise<string> => {
    const replies = { [`${origins[0]}/price`]: body }
    const valid = [{ wanted: ['BTC iso:USD'], replies, offers: { 'BTC iso:USD': 64_000 } }]
    const suite = rateSuite(rateShop({ client: { origins } }), { valid, level: 'live' })
    const [result] = await runSuite(suite, { only: ['rates.live'] })
    return `${result?.outcome} ${result?.message}`
  }
  t.is(await live([origin]), 'passed ')
  body = '{}'
  t.regex(await live([origin]), /^failed It throws BAD_REPLY/)
  // The port of nothing.
  t.regex(await live(['http://127.0.0.1:1']), /^failed It throws SERVER/)
})
