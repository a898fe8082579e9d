import test from 'ava'
import { Scheduler } from '../../../kernel/base/scheduler.ts'
import { TransactionThrottle } from '../../../kernel/wallet/events.ts'
import type { TxidChanges } from '../../../kernel/wallet/history/changes.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

test('the first event passes at once, later ones are batched after 5 seconds, and a new transaction is not reported as changed', async t => {
  const clock = makeFakeClock()
  const reported: TxidChanges[] = []
  const throttle = new TransactionThrottle(new Scheduler(clock), 'w', changes => void reported.push(changes))
  throttle.add({ created: ['a'], changed: ['a', 'b'] })
  t.deepEqual(reported, [{ created: ['a'], changed: ['b'] }])
  throttle.add({ created: ['c'], changed: [] })
  throttle.add({ created: [], changed: ['c', 'a', 'a'] })
  await clock.advance(4999)
  t.is(reported.length, 1)
  await clock.advance(1)
  t.deepEqual(reported.slice(1), [{ created: ['c'], changed: ['a'] }])
  await clock.advance(5000)
  throttle.add({ created: [], changed: [] })
  t.is(reported.length, 2)
  throttle.add({ created: [], changed: ['a'] })
  t.is(reported.length, 3)
})
