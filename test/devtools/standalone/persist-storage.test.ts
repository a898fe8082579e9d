import test from 'ava'
import { persistStorage } from '../../../devtools/standalone/open-standalone.ts'
import { Observable } from '../../../kernel/index.ts'

test('a browser is asked to keep the data once, when there is a user, and not before', t => {
  const users = new Observable<readonly string[]>([])
  let requested = 0
  const persist = async (): Promise<boolean> => {
    requested += 1
    return true
  }
  persistStorage(users, { persist })
  t.is(requested, 0)
  users.set(['ada'])
  users.set(['ada', 'bob'])
  t.is(requested, 1)
  persistStorage(users, { persist })
  t.is(requested, 2)
})

test('a browser that refuses, or has no such call, stops nothing', async t => {
  const users = new Observable<readonly string[]>(['ada'])
  t.notThrows(() => persistStorage(users, undefined))
  t.notThrows(() => persistStorage(users, {}))
  persistStorage(users, { persist: () => Promise.reject(new Error('no')) })
  await new Promise(resolve => setImmediate(resolve))
})
