import test from 'ava'
import { makePoliteClient } from '../../../plugins/rates/kit/polite-client.ts'
import { makeFakeClock } from '../../helpers/fake-clock.ts'

const { signal } = new AbortController()

test('an answer that still holds ends the refusals before it, so that the next rest is a minute again', async t => {
  const clock = makeFakeClock()
  const statuses = [200, 429, 304, 429, 304]
  const client = makePoliteClient(
    {
      clock,
      async fetch() {
        return { status: statuses.shift() ?? 500, headers: { etag: '"1"' }, text: 'text' }
      }
    },
    { displayName: 'Toy', origins: ['https://toy.example.org'], gapMs: 0 }
  )
  const ask = async (): Promise<string | undefined> => {
    const answer = await client.ask({ path: '/' }, signal)
    answer?.accept(true)
    return answer?.text
  }
  t.is(await ask(), 'text')
  for (let i = 0; i < 2; i += 1) {
    await t.throwsAsync(ask(), { message: /status 429/ })
    await clock.advance(59_999)
    await t.throwsAsync(ask(), { message: /left alone until/ })
    await clock.advance(1)
    t.is(await ask(), 'text')
  }
})

test('after a lost connection the next address is asked, and after a question that was given up the same one', async t => {
  const asked: string[] = []
  const client = makePoliteClient(
    {
      clock: makeFakeClock(),
      async fetch(url) {
        asked.push(new URL(url).host)
        throw new Error('no network')
      }
    },
    { displayName: 'Toy', origins: ['https://one.example.org', 'https://two.example.org'], gapMs: 0 }
  )
  for (const given of [AbortSignal.abort(), AbortSignal.abort(), signal, signal, signal]) {
    await t.throwsAsync(client.ask({ path: '/' }, given), { code: 'SERVER' })
  }
  t.deepEqual(
    asked.map(host => host.split('.')[0]),
    ['one', 'one', 'one', 'two', 'one']
  )
})
