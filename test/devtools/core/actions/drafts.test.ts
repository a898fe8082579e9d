import test from 'ava'
import { DraftStore } from '../../../../devtools/core/actions/drafts.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { makeFakeClock } from '../../../helpers/fake-clock.ts'

const TEN_MINUTES = 10 * 60_000

const makeShelf = () => {
  const dropped: string[] = []
  const clock = makeFakeClock()
  let asleepFor = 0
  const io = { ...makeNodeIo(), clock: { ...clock, now: () => clock.now() + asleepFor } }
  const shelf = new DraftStore<string>({ io, drop: draft => dropped.push(draft) })
  const sleep = (milliseconds: number): void => {
    asleepFor += milliseconds
  }
  return { shelf, dropped, clock, sleep }
}

test('a draft is handed out once, and dropped when nobody takes it for ten minutes', async t => {
  const { shelf, dropped, clock } = makeShelf()
  const [one, two] = [shelf.put('one'), shelf.put('two')]
  await clock.advance(TEN_MINUTES - 1)
  t.is(shelf.take(one), 'one')
  t.throws(() => shelf.take(one), { code: 'GONE' })
  await clock.advance(1)
  t.deepEqual(dropped, ['two'])
  t.throws(() => shelf.take(two), { code: 'GONE' })
  t.is(clock.timerCount, 0)
})

test('a draft that a machine slept over is dropped when it is asked for, though no timer ran', t => {
  const { shelf, dropped, clock, sleep } = makeShelf()
  const draftId = shelf.put('old')
  sleep(TEN_MINUTES)
  t.throws(() => shelf.take(draftId), { code: 'GONE' })
  t.deepEqual(dropped, ['old'])
  t.is(clock.timerCount, 0)
  shelf.discard(draftId)
  t.deepEqual(dropped, ['old'])
})

test('a closed draft store keeps nothing', t => {
  const { shelf, dropped, clock } = makeShelf()
  shelf.put('one')
  shelf.close()
  const late = shelf.put('late')
  t.deepEqual(dropped, ['one', 'late'])
  t.throws(() => shelf.take(late), { code: 'GONE' })
  t.is(clock.timerCount, 0)
})
