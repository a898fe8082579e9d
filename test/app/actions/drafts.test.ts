import test from 'ava'
import { DraftStore } from '../../../app/actions/drafts.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

const TEN_MINUTES = 10 * 60_000

const makeDrafts = () => {
  const dropped: string[] = []
  const clock = makeFakeClock()
  let asleepFor = 0
  const io = { ...makeNodeIo(), clock: { ...clock, now: () => clock.now() + asleepFor } }
  const drafts = new DraftStore<string>({ io, drop: draft => dropped.push(draft) })
  const sleep = (milliseconds: number): void => {
    asleepFor += milliseconds
  }
  return { drafts, dropped, clock, sleep }
}

test('a draft is handed out once, and dropped after ten minutes', async t => {
  const { drafts, dropped, clock } = makeDrafts()
  const [one, two] = [drafts.put('one'), drafts.put('two')]
  await clock.advance(TEN_MINUTES - 1)
  t.is(drafts.take(one), 'one')
  t.throws(() => drafts.take(one), { code: 'GONE' })
  await clock.advance(1)
  t.deepEqual(dropped, ['two'])
  t.throws(() => drafts.take(two), { code: 'GONE' })
  t.is(clock.timerCount, 0)
})

test('a draft that expired while the machine slept is dropped on request, though no timer ran', t => {
  const { drafts, dropped, clock, sleep } = makeDrafts()
  const draftId = drafts.put('old')
  sleep(TEN_MINUTES)
  t.throws(() => drafts.take(draftId), { code: 'GONE' })
  t.deepEqual(dropped, ['old'])
  t.is(clock.timerCount, 0)
  drafts.discard(draftId)
  t.deepEqual(dropped, ['old'])
})

test('a closed draft store keeps nothing', t => {
  const { drafts, dropped, clock } = makeDrafts()
  drafts.put('one')
  drafts.close()
  const late = drafts.put('late')
  t.deepEqual(dropped, ['one', 'late'])
  t.throws(() => drafts.take(late), { code: 'GONE' })
  t.is(clock.timerCount, 0)
})
