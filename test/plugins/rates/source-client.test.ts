import test from 'ava'
import { SourceClient } from '../../../plugins/rates/kit/source-client.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

const { signal } = new AbortController()

test('a 304 reply resets the count of refusals, so that the next back-off is a minute again', async t => {
  const clock = makeFakeClock()
  const statuses = [200, 429, 304, 429, 304]
  const client = new SourceClient(
    {
      clock,
      async fetch() {
        return { status: statuses.shift() ?? 500, headers: { etag: '"1"' }, text: 'text' }
      }
    },
    { displayName: 'Toy', origins: ['https://toy.example.org'], gapMs: 0 }
  )
  const query = async (): Promise<string | undefined> => {
    const answer = await client.fetch({ path: '/' }, signal)
    answer?.accept(true)
    return answer?.text
  }
  t.is(await query(), 'text')
  for (let i = 0; i < 2; i += 1) {
    await t.throwsAsync(query(), { message: /status 429/ })
    await clock.advance(59_999)
    await t.throwsAsync(query(), { message: /left alone until/ })
    await clock.advance(1)
    t.is(await query(), 'text')
  }
})
