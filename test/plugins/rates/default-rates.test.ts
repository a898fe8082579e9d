import type { ExecutionContext } from 'ava'
import test from 'ava'
import { answerInstead, refusalReply, spoilFigures } from '../../../fake-server/base/faults.ts'
import { FAKE_ADDRESSES, type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { JsonObject } from '../../../kernel/base/json.ts'
import { createKernel, type Kernel } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { defaultPlugins } from '../../../plugins/default-plugins.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { pairsOf } from '../../helpers/rate-pairs.ts'

const open = async (
  t: ExecutionContext,
  pluginOptions: Record<string, JsonObject> = {}
): Promise<{ world: FakeWorld; kernel: Kernel }> => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
  const kernel = await createKernel({
    authServer,
    infoServers,
    syncServers,
    io: world.ioFor(io),
    apiKey: '',
    logLevel: 'silent',
    pluginOptions,
    plugins: [memoryStorage(), ...defaultPlugins.filter(({ kind }) => kind === 'rates')]
  })
  t.teardown(() => kernel.close())
  return { world, kernel }
}

const statesOf = ({ context }: Kernel): Readonly<Record<string, string>> =>
  Object.fromEntries(context.rates.getSnapshot().providers.map(({ pluginId, state }) => [pluginId, state]))

const PAIRS = pairsOf(
  'BTC iso:EUR',
  'LTC iso:CHF',
  'ETH iso:XOF',
  'CACAO iso:GBP',
  'UFO iso:USD',
  'PEPE iso:TRY',
  'iso:GGP iso:JPY'
)

test('every source that ships answers a kernel in a fake world, and routes through them agree with the market', async t => {
  const { world, kernel } = await open(t, { coincap: { apiKey: 'any' } })
  const { rates } = kernel.context
  const stop = rates.want(PAIRS)
  await rates.refresh()
  const retired = { coinmonitor: 'retired', wazirx: 'retired', nomics: 'retired' }
  const names = 'constantRate coinbase kraken ecb mempool coincap coingecko binance edgeRates'.split(' ')
  const answered = Object.fromEntries(names.map(name => [name, 'answered']))
  t.deepEqual(statesOf(kernel), { ...answered, ...retired })
  t.deepEqual([...new Set([...rates.pairs()].map(({ source }) => source))].sort(), [...names].sort())
  for (const { fromCurrency, toCurrency } of PAIRS) {
    const exact = Number(world.providers.market.rateOf(fromCurrency, toCurrency))
    const rate = rates.convertCurrency(fromCurrency, toCurrency)
    t.true(Math.abs(rate / exact - 1) < 0.01, `${fromCurrency} ${toCurrency} ${rate} ${exact}`)
  }
  stop()
})

test('settings and biases may still name retired sources, which are reported as such', async t => {
  const { kernel } = await open(t, {
    nomics: { apiKey: 'of 2022' },
    wazirx: {},
    coinmonitor: { market: 'ARS' }
  })
  const { rates } = kernel.context
  const stop = rates.want(PAIRS)
  await rates.refresh()
  const reported = rates.getSnapshot().providers.filter(({ state }) => state === 'retired')
  t.deepEqual(reported.map(({ pluginId }) => pluginId).sort(), ['coinmonitor', 'nomics', 'wazirx'])
  t.true(reported.every(({ message = '' }) => message !== ''))
  const biases = { nomics: -0.9, wazirx: 5, coinmonitor: 0 }
  t.true(rates.convertCurrency('BTC', 'iso:EUR', 1, { biases }) > 0)
  stop()
})

test('a source that waits between requests shows how many pairs it gave last', async t => {
  const { world, kernel } = await open(t)
  const { rates } = kernel.context
  const stop = rates.want(PAIRS)
  await rates.refresh()
  const countOf = (id: string): number | undefined =>
    rates.getSnapshot().providers.find(({ pluginId }) => pluginId === id)?.pairCount
  t.is(countOf('ecb'), 29)
  const requestedBefore = world.providers.traffic.lines.filter(({ path }) => path.includes('ecb')).length
  await rates.refresh()
  await rates.refresh()
  t.is(world.providers.traffic.lines.filter(({ path }) => path.includes('ecb')).length, requestedBefore)
  t.is(countOf('ecb'), 29)
  stop()
})

test('failing sources are reported, and the others give the rates', async t => {
  const { world, kernel } = await open(t)
  const { providers, clock } = world
  const port = { clock, random: () => 0 }
  providers.use(answerInstead(port, refusalReply(429)), 'coingecko')
  providers.use(answerInstead(port, refusalReply(451)), 'binance')
  providers.use(spoilFigures('-1'), 'kraken')
  const { rates } = kernel.context
  const stop = rates.want(PAIRS)
  await rates.refresh()
  const states = statesOf(kernel)
  t.is(states.coingecko, 'failed')
  t.is(states.binance, 'failed')
  t.is(states.coincap, 'idle')
  t.is(states.coinbase, 'answered')
  const reported = rates.getSnapshot().providers.flatMap(({ message = '' }) => message)
  t.regex(reported.join('\n'), /CoinGecko answered with status 429/)
  t.regex(reported.join('\n'), /It needs an API key: the option apiKey of the plugin coincap/)
  t.deepEqual(
    [...rates.pairs()].filter(({ source, rate }) => source === 'kraken' || !(rate > 0)),
    []
  )
  const exact = Number(providers.market.rateOf('BTC', 'iso:EUR'))
  t.true(Math.abs(rates.convertCurrency('BTC', 'iso:EUR') / exact - 1) < 0.01)
  stop()
})

test('a historic rate comes from the source that has historic rates', async t => {
  const { world, kernel } = await open(t)
  const date = new Date(world.clock.now() - 100 * 86_400_000)
  const [pair = { fromCurrency: '', toCurrency: '' }] = PAIRS
  const found = await kernel.context.rates.historicRate(pair, date)
  t.is(found?.source, 'edgeRates')
  const now = Number(world.providers.market.rateOf('BTC', 'iso:EUR'))
  t.true(Math.abs((found?.rate ?? 0) / (now * 0.9) - 1) < 1e-9)
})
