import test from 'ava'
import { Poller } from '../../../kernel/base/poller.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

test('a poller runs after each gap, which may change, never twice at once, and goes on after a failure [4.31]', async t => {
  const clock = makeFakeClock()
  const errors: unknown[] = []
  let runs = 0
  let end: (() => void) | undefined
  const poller = new Poller({
    clock,
    gapMs: 1000,
    onError: error => void errors.push(error),
    task: () => {
      runs += 1
      if (runs === 1) throw new Error('first')
      return new Promise(resolve => {
        end = resolve
      })
    }
  })
  await clock.advance(5000)
  t.is(runs, 0)
  poller.start()
  poller.start()
  await clock.advance(999)
  t.is(runs, 0)
  await clock.advance(1)
  t.is(runs, 1)
  t.is(errors.length, 1)
  await clock.advance(5000)
  t.is(runs, 2)
  const joined = poller.runNow()
  t.is(runs, 2)
  end?.()
  await joined
  await clock.advance(1000)
  t.is(runs, 3)
  poller.gapMs = 200
  end?.()
  await clock.advance(199)
  t.is(runs, 3)
  await clock.advance(1)
  t.is(runs, 4)
  t.true(poller.isStarted)
  const stopped = poller.stop()
  end?.()
  await stopped
  await clock.advance(5000)
  t.is(runs, 4)
  t.false(poller.isStarted)
  t.is(clock.timerCount, 0)
})

test('a new gap counts from the beginning of the present wait', async t => {
  const clock = makeFakeClock()
  let runs = 0
  const task = async (): Promise<void> => {
    runs += 1
  }
  const poller = new Poller({ clock, task, gapMs: 1000, onError: () => {} })
  poller.start()
  await clock.advance(600)
  poller.gapMs = 700
  t.is(poller.gapMs, 700)
  await clock.advance(99)
  t.is(runs, 0)
  await clock.advance(1)
  t.is(runs, 1)
  poller.gapMs = 100
  await poller.runNow()
  t.is(runs, 2)
  await clock.advance(100)
  t.is(runs, 3)
  await poller.stop()
  await clock.advance(1000)
  t.is(runs, 3)
})
