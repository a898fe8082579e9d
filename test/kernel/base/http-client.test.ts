import test from 'ava'
import { HttpClient, type RateLimit } from '../../../kernel/base/http-client.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

const { signal } = new AbortController()

const SHOP_LIMIT: RateLimit = { statuses: [429], firstMs: 30_000, maxMs: 3_600_000, retryAfter: 'seconds' }

test('the back-off lasts as long as the server says, whatever happens to the system clock', async t => {
  const clock = makeFakeClock()
  let shift = 0
  let requested = 0
  const io = {
    clock: { ...clock, now: () => clock.now() + shift },
    fetch: async () => {
      requested += 1
      return { status: requested === 1 ? 429 : 200, headers: { 'retry-after': '60' }, text: '{}' }
    }
  }
  const client = new HttpClient(io, {
    name: 'Shop',
    origins: ['https://shop.example'],
    rateLimit: SHOP_LIMIT
  })
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  for (shift of [86_400_000, -86_400_000])
    await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' }, String(shift))
  t.is(requested, 1)
  await clock.advance(60_000)
  t.true((await client.request({ path: '/list' })).isOk)
})

test('a back-off lasts an hour at most', async t => {
  const clock = makeFakeClock()
  let status = 429
  const io = { clock, fetch: async () => ({ status, headers: { 'retry-after': '999999' }, text: '{}' }) }
  const client = new HttpClient(io, {
    name: 'Shop',
    origins: ['https://shop.example'],
    rateLimit: SHOP_LIMIT
  })
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  status = 200
  await clock.advance(3_599_999)
  await t.throwsAsync(client.request({ path: '/list' }), { code: 'SERVER' })
  await clock.advance(1)
  t.true((await client.request({ path: '/list' })).isOk)
})

test('after a lost connection the next request goes to the next address, and after an aborted one to the same', async t => {
  const requested: string[] = []
  const client = new HttpClient(
    {
      clock: makeFakeClock(),
      async fetch(url) {
        requested.push(new URL(url).host)
        throw new Error('no network')
      }
    },
    { name: 'Toy', origins: ['https://one.example.org', 'https://two.example.org'] }
  )
  for (const given of [AbortSignal.abort(), AbortSignal.abort(), signal, signal, signal]) {
    await t.throwsAsync(client.request({ path: '/', signal: given }), { code: 'SERVER' })
  }
  t.deepEqual(
    requested.map(host => host.split('.')[0]),
    ['one', 'one', 'one', 'two', 'one']
  )
})

test('each refusal that follows another doubles the back-off, and a success starts over', async t => {
  const clock = makeFakeClock()
  const statuses = [429, 429, 200, 429]
  const client = new HttpClient(
    { clock, fetch: async () => ({ status: statuses.shift() ?? 500, headers: {}, text: '' }) },
    { name: 'Shop', origins: ['https://shop.example'], rateLimit: { ...SHOP_LIMIT, doubles: true } }
  )
  for (const milliseconds of [30_000, 60_000, 0, 30_000]) {
    const request = client.request({ path: '/' })
    if (milliseconds === 0) {
      t.true((await request).isOk)
      continue
    }
    await t.throwsAsync(request, { message: 'Server error: Shop answered with status 429' })
    await clock.advance(milliseconds - 1)
    await t.throwsAsync(client.request({ path: '/' }), { message: /left alone until/ })
    await clock.advance(1)
  }
})

test('a server names its back-off by seconds or by a date, where dates count', async t => {
  const backOffOf = async (retryAfter: RateLimit['retryAfter'], header: string): Promise<number> => {
    const clock = makeFakeClock()
    const io = { clock, fetch: async () => ({ status: 429, headers: { 'retry-after': header }, text: '' }) }
    const rateLimit = { ...SHOP_LIMIT, retryAfter }
    const client = new HttpClient(io, { name: 'Shop', origins: ['https://shop.example'], rateLimit })
    await t.throwsAsync(client.request({ path: '/' }))
    let waited = 0
    const isOver = (): boolean => {
      try {
        client.checkBackOff()
        return true
      } catch {
        return false
      }
    }
    for (; !isOver(); waited += 1000) await clock.advance(1000)
    return waited
  }
  const inTwoMinutes = new Date(makeFakeClock().now() + 120_000).toUTCString()
  t.is(await backOffOf('secondsOrDate', '90'), 90_000)
  t.is(await backOffOf('seconds', '90'), 90_000)
  t.is(await backOffOf('secondsOrDate', inTwoMinutes), 120_000)
  t.is(await backOffOf('seconds', inTwoMinutes), 30_000)
  t.is(await backOffOf('secondsOrDate', 'Thu, 01 Jan 1970 00:00:00 GMT'), 0)
  t.is(await backOffOf('seconds', 'soon'), 30_000)
})

test('an error names neither address nor key', async t => {
  const client = new HttpClient(
    {
      clock: makeFakeClock(),
      fetch: async url => {
        throw new Error(`cannot fetch ${url}`)
      }
    },
    { name: 'Shop', origins: ['https://shop.example'] }
  )
  const error = await t.throwsAsync(client.request({ path: '/list', query: { key: 'a secret' } }))
  t.is(error?.message, 'Server error: Shop cannot be reached')
  t.is(error?.cause, undefined)
})

test('a query joins the one that a path has already', async t => {
  const addresses: string[] = []
  const io = {
    clock: makeFakeClock(),
    fetch: async (address: string) => {
      addresses.push(address)
      return { status: 200, headers: {}, text: '{}' }
    }
  }
  const client = new HttpClient(io, { name: 'Shop', origins: ['https://shop.example'] })
  await client.request({ path: '/list?page=2', query: { coin: 'BTC', day: undefined } })
  await client.request({ path: '/list', query: { coin: 'B C' } })
  t.deepEqual(addresses, [
    'https://shop.example/list?page=2&coin=BTC',
    'https://shop.example/list?coin=B%20C'
  ])
})
