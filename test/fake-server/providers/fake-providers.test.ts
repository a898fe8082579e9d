import test from 'ava'
import {
  answerInstead,
  cutReplies,
  dripReplies,
  htmlPage,
  refusalReply,
  spoilFigures,
  swellReplies
} from '../../../fake-server/base/faults.ts'
import { makeFakeWorld, openPersistentWorld } from '../../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../../fake-server/http/serve-fake-world.ts'
import { fetchThroughWorld } from '../../../fake-server/world/io.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { Io } from '../../../kernel/io/io.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

const io = makeNodeIo()
const RATES = 'https://api.coinbase.com/v2/exchange-rates?currency=BTC'

const dollarsOf = async (fetch: Io['fetch']): Promise<unknown> =>
  JSON.parse((await fetch(RATES)).text).data.rates.USD

test('a device in a fake world reaches a provider under its own address, and nothing unknown', async t => {
  const world = makeFakeWorld({ io })
  const { fetch } = world.ioFor(io)
  t.is(await dollarsOf(fetch), '65000')
  world.providers.market.setPrice('BTC', '70000.5')
  t.is(await dollarsOf(fetch), '70000.5')
  await t.throwsAsync(fetch('https://api.example.com/v2'), { message: 'Fake network error' })
  t.is((await fetch('http://localhost/v1/edgeServers')).status, 200)
})

test('a request with the ETag of a reply gets 304 until a price changes', async t => {
  const { providers, ...world } = makeFakeWorld({ io })
  const { fetch } = world.ioFor(io)
  const first = await fetch(RATES)
  const headers = { 'If-None-Match': first.headers.etag ?? '' }
  const second = await fetch(RATES, { headers })
  t.is(second.status, 304)
  t.is(second.text, '')
  providers.market.setPrice('BTC', '70000')
  t.is((await fetch(RATES, { headers })).status, 200)
})

test('offline, no provider answers', async t => {
  const world = makeFakeWorld({ io })
  world.setOnline(false)
  await t.throwsAsync(world.ioFor(io).fetch(RATES), { message: 'Fake network error' })
  world.setOnline(true)
  const device = world.ioFor(io, { isOnline: () => false })
  await t.throwsAsync(device.fetch(RATES), { message: 'Fake network error' })
})

test('the log of requests has the host and no key', async t => {
  const world = makeFakeWorld({ io })
  const { fetch } = world.ioFor(io)
  await fetch('https://api.coinbase.com/v2/none?apiKey=abc&x_cg_demo_api_key=def&currency=EUR&Secret=ghi', {
    headers: { authorization: 'jkl' }
  })
  const lines = world.providers.traffic.lines.map(({ method, path, status }) => ({ method, path, status }))
  const path = '/api.coinbase.com/v2/none?apiKey=…&x_cg_demo_api_key=…&currency=EUR&Secret=…'
  t.deepEqual(lines, [{ method: 'GET', path, status: 404 }])
})

test('a provider with faults refuses, shows a page, breaks off or spoils its figures, and recovers', async t => {
  const world = makeFakeWorld({ io })
  const { providers, clock } = world
  const { fetch } = world.ioFor(io)
  const port = { clock, random: () => 0 }
  const sound = await fetch(RATES)

  let recover = providers.use(answerInstead(port, refusalReply(429, { retryAfter: '7' })), 'coinbase')
  const refused = await fetch(RATES)
  t.is(refused.status, 429)
  t.is(refused.headers['retry-after'], '7')
  recover()

  recover = providers.use(answerInstead(port, htmlPage()), 'coinbase')
  t.regex((await fetch(RATES)).text, /^<!DOCTYPE html>/)
  recover()

  recover = providers.use(cutReplies, 'coinbase')
  t.throws(() => JSON.parse('{}') && JSON.parse(sound.text.slice(0, sound.text.length / 2)))
  t.is((await fetch(RATES)).text, sound.text.slice(0, Math.floor(sound.text.length / 2)))
  recover()

  recover = providers.use(spoilFigures('NaN'), 'coinbase')
  t.is(await dollarsOf(fetch), 'NaN')
  recover()

  recover = providers.use(swellReplies(300_000), 'coinbase')
  const error = await t.throwsAsync(fetch(RATES, { maxReplyBytes: 299_999 }))
  t.true(isWalletError(error, 'REPLY_TOO_LARGE'))
  t.is((await fetch(RATES, { maxReplyBytes: 300_000 })).status, 200)
  recover()

  t.is((await fetch(RATES)).text, sound.text)
  t.throws(() => providers.use(cutReplies, 'nobody'), { instanceOf: TypeError })
})

test('figures are spoiled with and without quotes, in lists too, and other text is left', async t => {
  const body = '{"a":"1.5","b":2.5e3,"c":["7", 8 ,9],"t":"USD 5","1INCH":{"x":-3}}'
  const spoil = spoilFigures('NaN')
  const reply = await spoil({ method: 'GET', path: '/', headers: {}, body: '' }, async () => ({
    status: 200,
    headers: {},
    body
  }))
  t.is(reply.body, '{"a":"NaN","b":NaN,"c":["NaN", NaN ,NaN],"t":"USD 5","1INCH":{"x":NaN}}')
})

test('a slow drip takes longer for a longer reply, and ends when the client aborts', async t => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { ...io, clock } })
  const { fetch } = world.ioFor(io)
  world.providers.use(dripReplies({ clock }, { charactersPerSecond: 100 }))
  let isThere = false
  const requested = fetch(RATES).then(() => {
    isThere = true
  })
  await clock.advance(5000)
  t.false(isThere)
  const controller = new AbortController()
  const given = fetch(RATES, { signal: controller.signal })
  controller.abort()
  await t.throwsAsync(given, { message: 'The request was aborted' })
  await clock.advance(100_000)
  await requested
  t.true(isThere)
})

test('a served world has each provider below its host, for a process that fetches through it', async t => {
  const world = makeFakeWorld({ io })
  const served = await serveFakeWorld(world)
  const origin = served.infoServers[0] ?? ''
  const fetch = fetchThroughWorld(io.fetch, origin)
  t.is(await dollarsOf(fetch), '65000')
  const { headers } = await fetch(RATES)
  t.is((await fetch(RATES, { headers: { 'if-none-match': headers.etag ?? '' } })).status, 304)
  t.is((await fetch('https://api.example.com/v2')).status, 404)
  t.is((await fetch(`${origin}/v1/edgeServers`)).status, 200)
  await served.close()
})

test('prices that were set outlive a world on a disk and a world as JSON', async t => {
  const disk = memoryDisk()
  const first = await openPersistentWorld({ io, disk })
  first.providers.market.setPrice('BTC', '12345.6')
  first.providers.market.setPrice('iso:EUR', '1.5')
  await first.close()
  const second = await openPersistentWorld({ io, disk })
  t.is(second.providers.market.priceOf('BTC'), '12345.6')
  t.is(second.providers.market.priceOf('iso:EUR'), '1.5')
  const third = makeFakeWorld({ io, saved: second.toJson() })
  t.is(await dollarsOf(third.ioFor(io).fetch), '12345.6')
  await second.close()
})

test('a saved world whose market is damaged is refused', t => {
  const world = makeFakeWorld({ io })
  world.providers.market.setPrice('BTC', '12345.6')
  const text = JSON.stringify(world.toJson())
  for (const [from, to] of [
    ['12345.6', '-1'],
    ['"market"', '"bazaar"'],
    ['"market"', '7']
  ] as const) {
    const saved = JSON.parse(text.replace(from, to))
    t.true(
      isWalletError(
        t.throws(() => makeFakeWorld({ io, saved })),
        'CORRUPT_FILE'
      ),
      to
    )
  }
})
