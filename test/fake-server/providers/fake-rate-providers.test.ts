import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { FetchOptions } from '../../../kernel/io/io.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()

const query = async (url: string, options?: FetchOptions): Promise<{ status: number; body: unknown }> => {
  const { status, text } = await makeFakeWorld({ io }).ioFor(io).fetch(url, options)
  return { status, body: text.startsWith('<') ? text : text === '' ? '' : JSON.parse(text) }
}

test('the fake Coinbase has any base, also a coin, and refuses one that it does not know', async t => {
  const { body } = await query('https://api.coinbase.com/v2/exchange-rates?currency=eth')
  t.is((body as { data: { rates: Record<string, string> } }).data.rates.USD, '3400')
  t.is((await query('https://api.coinbase.com/v2/exchange-rates?currency=ZZZ')).status, 400)
  t.is((await query('https://api.coinbase.com/v2/other')).status, 404)
})

test('the fake CoinGecko leaves out what it does not know, and wants both parameters', async t => {
  const address = 'https://api.coingecko.com/api/v3/simple/price'
  const { body } = await query(`${address}?ids=bitcoin,nothing&vs_currencies=usd,zzz`)
  t.deepEqual(body, { bitcoin: { usd: 65_000 } })
  t.is((await query(`${address}?ids=bitcoin`)).status, 422)
  t.is((await query(`${address}?vs_currencies=usd`)).status, 422)
})

test('the fake Kraken names old pairs in its old way, and one unknown pair refuses them all with status 200', async t => {
  const address = 'https://api.kraken.com/0/public/Ticker?pair='
  const { body } = await query(`${address}XBTUSD,XDGEUR,XBTCHF,EURUSD,USDTUSD`)
  const { error, result } = body as { error: unknown; result: Record<string, { c: string[] }> }
  t.deepEqual(error, [])
  t.deepEqual(Object.keys(result), ['XXBTZUSD', 'XDGEUR', 'XBTCHF', 'ZEURZUSD', 'USDTZUSD'])
  t.is(result.XXBTZUSD?.c[0], '65000')
  t.deepEqual(await query(`${address}XBTUSD,ZZZUSD`), {
    status: 200,
    body: { error: ['EQuery:Unknown asset pair'] }
  })
})

test('the fake Binance answers for all symbols or for those that are named, and refuses all for one unknown', async t => {
  const address = 'https://data-api.binance.vision/api/v3/ticker/price'
  const named = await query(`${address}?symbols=${encodeURIComponent('["BTCUSDT","USDTTRY"]')}`)
  t.deepEqual(named.body, [
    { symbol: 'BTCUSDT', price: '64980.50584' },
    { symbol: 'USDTTRY', price: '32.90460526' }
  ])
  t.true(((await query(address)).body as unknown[]).length > 40)
  const refused = { status: 400, body: { code: -1121, msg: 'Invalid symbol.' } }
  t.deepEqual(await query(`${address}?symbols=${encodeURIComponent('["BTCUSDT","ZZZUSDT"]')}`), refused)
  t.deepEqual(await query(`${address}?symbols=BTCUSDT`), refused)
})

test('the fake CoinCap refuses requests without a key', async t => {
  const address = 'https://rest.coincap.io/v3/assets?ids=bitcoin,nothing'
  t.is((await query(address)).status, 401)
  const { body } = await query(address, { headers: { Authorization: 'Bearer x' } })
  const [first, ...others] = (body as { data: { id: string; priceUsd: string }[] }).data
  t.deepEqual([first?.id, first?.priceUsd, others], ['bitcoin', '65000', []])
})

test('the fake European Central Bank publishes the day of the world', async t => {
  const world = makeFakeWorld({ io })
  const address = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'
  const { text } = await world.ioFor(io).fetch(address)
  t.true(text.includes(`<Cube time='${new Date(world.clock.now()).toISOString().slice(0, 10)}'>`))
  t.true(text.includes("<Cube currency='USD' rate='1.084'/>"))
  t.is((await query('https://www.ecb.europa.eu/')).status, 404)
})

test('the fake Edge Rates fills in known rates, has lower rates in the past, and refuses invalid requests', async t => {
  const address = 'https://rates3.edge.app/v3/rates'
  const now = Date.now()
  const isoDate = new Date(now - 10 * 86_400_000 - 1000).toISOString()
  const post = (body: string): FetchOptions => ({ method: 'POST', body })
  const asset = { pluginId: 'bitcoin' }
  const requested = {
    targetFiat: 'USD',
    crypto: [{ asset }, { isoDate, asset }, { asset: { pluginId: 'odd' } }],
    fiat: [{ fiatCode: 'EUR' }, { fiatCode: 'ZZZ' }]
  }
  const { body } = await query(address, post(JSON.stringify(requested)))
  t.deepEqual(body, {
    targetFiat: 'USD',
    crypto: [{ asset, rate: 65_000 }, { isoDate, asset, rate: 64_350 }, { asset: { pluginId: 'odd' } }],
    fiat: [{ fiatCode: 'EUR', rate: 1.084 }, { fiatCode: 'ZZZ' }]
  })
  for (const odd of ['', '{', '[]', '{"targetFiat":"USD","crypto":[7],"fiat":[]}']) {
    t.is((await query(address, post(odd))).status, 400, odd)
  }
  t.is((await query(address)).status, 405)
})
