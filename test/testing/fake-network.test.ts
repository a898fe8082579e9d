import test from 'ava'
import { isWalletError } from '../../kernel/plugin-api.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { makeFakeNetwork, randomFaults } from '../../testing/fake-network.ts'

const URL = 'https://shop.example.org/price'

test('a recorded reply is found by method and address, with its query or for every query', async t => {
  const replies = {
    [URL]: 'any',
    [`${URL}?coin=BTC`]: 'one',
    [`POST ${URL}`]: { status: 201, headers: { etag: 'x' }, body: 'posted' }
  }
  const { fetch, requests, unrecorded } = makeFakeNetwork(replies, makeFakeClock())
  t.is((await fetch(URL)).text, 'any')
  t.is((await fetch(`${URL}?coin=LTC`)).text, 'any')
  t.is((await fetch(`${URL}?coin=BTC`)).text, 'one')
  t.deepEqual(await fetch(URL, { method: 'post', body: '{}' }), {
    status: 201,
    headers: { etag: 'x' },
    text: 'posted'
  })
  await t.throwsAsync(fetch('https://other.example.org/'))
  await t.throwsAsync(fetch('no address'))
  t.deepEqual(unrecorded, ['GET https://other.example.org/'])
  t.deepEqual(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /price', 'GET /price?coin=LTC', 'GET /price?coin=BTC', 'POST /price', 'GET /']
  )
})

test('a request fails offline, when it is aborted, and for a reply above its bound', async t => {
  const clock = makeFakeClock()
  const network = makeFakeNetwork({ [URL]: 'ä'.repeat(10) }, clock)
  const error = await t.throwsAsync(network.fetch(URL, { maxReplyBytes: 19 }))
  t.true(isWalletError(error, 'REPLY_TOO_LARGE'))
  t.is((await network.fetch(URL, { maxReplyBytes: 20 })).status, 200)
  network.isOnline = false
  await t.throwsAsync(network.fetch(URL), { message: /Fake network error/ })
  network.isOnline = true
  network.use(() => new Promise(() => {}))
  const { signal, abort } = (controller => ({ signal: controller.signal, abort: () => controller.abort() }))(
    new AbortController()
  )
  const waiting = network.fetch(URL, { signal })
  abort()
  await t.throwsAsync(waiting, { message: /aborted/ })
})

const outcomesOf = async (seed: number, rate?: number): Promise<readonly string[]> => {
  const clock = makeFakeClock()
  const network = makeFakeNetwork({ [URL]: '{"usd":64000}' }, clock)
  network.use(randomFaults({ clock, seed, ...(rate !== undefined && { rate }) }))
  const outcomes: string[] = []
  for (let count = 0; count < 60; count += 1) {
    const ended = network.fetch(URL).then(
      ({ status, text }) => `${status} ${text}`,
      (error: Error) => error.message
    )
    await clock.advance(5000)
    outcomes.push(await ended)
  }
  return outcomes
}

test('random faults are the same for the same seed, and come as often as they should', async t => {
  const seed = Date.now() % 1_000_000
  t.log(`seed ${seed}`)
  const outcomes = await outcomesOf(seed)
  t.deepEqual(await outcomesOf(seed), outcomes)
  t.notDeepEqual(await outcomesOf(seed + 1), outcomes)
  t.deepEqual(new Set(await outcomesOf(seed, 0)), new Set(['200 {"usd":64000}']))
  t.true(new Set(await outcomesOf(seed, 1)).size > 3)
})
