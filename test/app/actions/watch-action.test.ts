import test from 'ava'
import { makeActionHandler } from '../../../app/actions/actions.ts'
import type { ActionServices } from '../../../app/actions/services.ts'
import { watchResults } from '../../../app/actions/watch-action.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { waitFor } from '../../helpers/device.ts'
import { DAILY, HOUR, mine, openRuledDevice, PASSWORD, pay } from '../../helpers/ruled-device.ts'

/** An action whose result a test sets, and what a watch of it received. */
const watched = () => {
  const clock = makeFakeClock()
  const seen: unknown[] = []
  const action = {
    result: 1,
    changesAt: undefined as number | undefined,
    runs: 0,
    change: () => {},
    isListening: false
  }
  const stop = watchResults(
    { io: { clock } } as unknown as ActionServices,
    {
      async run() {
        action.runs += 1
        if (action.result === 0) throw new Error('none')
        return { result: action.result }
      },
      watch(_, __, onChange) {
        action.change = onChange
        action.isListening = true
        return () => {
          action.isListening = false
        }
      },
      changesAt: () => action.changesAt
    },
    {},
    { onOutput: output => seen.push(output), onFailure: error => seen.push((error as Error).message) }
  )
  return { clock, seen, action, stop }
}

test('a watched action runs at once, once for changes that come together, and reports only other results', async t => {
  const { clock, seen, action } = watched()
  await clock.advance(0)
  t.deepEqual(seen, [{ result: 1 }])
  action.result = 2
  for (let i = 0; i < 5; i += 1) action.change()
  await clock.advance(20)
  t.deepEqual(seen, [{ result: 1 }, { result: 2 }])
  t.is(action.runs, 2)
  action.change()
  await clock.advance(20)
  t.is(action.runs, 3)
  t.is(seen.length, 2)
  await clock.advance(HOUR)
  t.is(action.runs, 3, 'nothing is read without a reason')
})

test('a failure of a watched action is reported, and its next result is, too', async t => {
  const { clock, seen, action } = watched()
  await clock.advance(0)
  action.result = 0
  action.change()
  await clock.advance(20)
  action.result = 1
  action.change()
  await clock.advance(20)
  t.deepEqual(seen, [{ result: 1 }, 'none', { result: 1 }])
})

test('a watched action runs again when time changes its result, and never after its end', async t => {
  const { clock, seen, action, stop } = watched()
  action.changesAt = clock.now() + HOUR
  await clock.advance(HOUR - 10)
  action.result = 2
  t.is(action.runs, 1)
  await clock.advance(20)
  t.deepEqual(seen, [{ result: 1 }, { result: 2 }])
  t.is(clock.timerCount, 0)
  action.change()
  stop()
  t.false(action.isListening)
  t.is(clock.timerCount, 0)
})

test('the rules of an account are reported when one is added here or elsewhere, and when a payment counts', async t => {
  const device = await openRuledDevice(t)
  const phone = await device.another()
  const handler = makeActionHandler(device.kernel)
  t.teardown(() => handler.close())
  const pages: { readonly rules: readonly { readonly untrusted: { readonly used?: string } }[] }[] = []
  const stop = handler.watch(
    'policy.list',
    { accountId: device.account.id },
    { onOutput: page => pages.push(page), onFailure: error => t.fail(String(error)) }
  )
  const used = () => pages.at(-1)?.rules.map(rule => rule.untrusted.used)
  await waitFor(() => pages.length > 0)
  t.deepEqual(used(), [])
  await device.account.policies.add(DAILY, { password: PASSWORD })
  await waitFor(() => used()?.length === 1)
  const before = used()?.[0]
  const { txid } = await pay(device.wallet, 9)
  await waitFor(() => used()?.[0] !== before)
  t.is(used()?.[0], (await device.account.policies.explain()).rules[0]?.used)
  await mine(device, txid)
  await phone.account.sync()
  await phone.account.policies.add(
    { id: 'small', kind: 'per-payment', asset: 'ledger', max: '5' },
    { password: PASSWORD }
  )
  await phone.account.sync()
  await device.account.sync()
  await waitFor(() => used()?.length === 2)
  const count = pages.length
  stop()
  await device.account.policies.remove('small', { password: PASSWORD })
  t.is(pages.length, count)
})
