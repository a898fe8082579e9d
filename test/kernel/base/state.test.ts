import { inspect } from 'node:util'
import test from 'ava'
import { Observable } from '../../../kernel/base/observable.ts'
import { Secret } from '../../../kernel/base/secret.ts'

test('an observable freezes its snapshot, and notifies subscribers first and then the hook', t => {
  const received: string[] = []
  const state = new Observable({ count: 1 }, next => received.push(`hook ${next.count}`))
  const unsubscribe = state.subscribe(() => received.push(`listener ${state.getSnapshot().count}`))
  t.throws(() => Object.assign(state.getSnapshot(), { count: 9 }))
  state.update({ count: 2 })
  unsubscribe()
  state.set({ count: 3 })
  t.deepEqual(received, ['listener 2', 'hook 2', 'hook 3'])
})

test('each unsubscribe ends one subscription at once, also during a notification', t => {
  const received: string[] = []
  const state = new Observable(1)
  const listener = (): void => void received.push(`twice ${state.getSnapshot()}`)
  const ends = [state.subscribe(listener), state.subscribe(listener)]
  state.subscribe(() => endLast())
  const endLast = state.subscribe(() => received.push('ended'))
  ends[0]?.()
  ends[0]?.()
  state.set(2)
  ends[1]?.()
  state.set(3)
  t.deepEqual(received, ['twice 2'])
})

test('an equal snapshot notifies no listener, and the snapshot stays the same object between changes', t => {
  let reported = 0
  const state = new Observable({ count: 1 }, () => reported++)
  const snapshot = state.getSnapshot()
  state.set(snapshot)
  t.is(reported, 0)
  t.is(state.getSnapshot(), snapshot)
})

test('a listener that throws is reported and stops neither the others nor the change', t => {
  const errors: unknown[] = []
  let received = 0
  const state = new Observable(1, undefined, error => errors.push(error))
  state.subscribe(() => {
    throw new Error('screen')
  })
  state.subscribe(() => received++)
  state.set(2)
  t.is(state.getSnapshot(), 2)
  t.is(received, 1)
  t.is(errors.length, 1)
})

test('re-entrant changes are coalesced: all listeners get the latest snapshot once', t => {
  const received: string[] = []
  const errors: unknown[] = []
  const state = new Observable(
    { count: 1 },
    next => received.push(`hook ${next.count} while ${state.getSnapshot().count}`),
    error => errors.push(error)
  )
  const unsubscribe = state.subscribe(() => {
    if (state.getSnapshot().count === 2) state.set({ count: 3 })
  })
  state.subscribe(() => received.push(`listener ${state.getSnapshot().count}`))
  state.set({ count: 2 })
  t.deepEqual(received, ['listener 3', 'listener 3', 'hook 3 while 3'])
  unsubscribe()
  state.subscribe(() => state.set({ count: state.getSnapshot().count + 1 }))
  state.set({ count: 10 })
  t.is(errors.length, 1)
})

test('a secret gives nothing to printing, JSON, spreading, cloning or inspection', t => {
  const bytes = new Uint8Array([0xde, 0xad, 0xbe, 0xef])
  const secret = new Secret({ key: 'canary-value', bytes })
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    JSON.stringify({ ...secret }),
    inspect(structuredClone(secret), { showHidden: true }),
    Object.getOwnPropertyNames(secret).join()
  ].join('\n')
  t.false(shown.includes('canary-value'))
  t.false(/222|173|deadbeef/i.test(shown))
  t.is(
    secret.use(value => value.key),
    'canary-value'
  )
})

test('a destroyed secret is overwritten and can no longer be used', t => {
  const bytes = new Uint8Array([1, 2, 3])
  const secret = new Secret(bytes)
  secret.destroy()
  t.deepEqual([...bytes], [0, 0, 0])
  t.false(secret.isAlive)
  t.throws(() => secret.use(value => value), { instanceOf: TypeError })
})
