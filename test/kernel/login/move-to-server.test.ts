import test from 'ava'
import { movedStash, movingStash } from '../../../kernel/login/move-to-server.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

test('a moving account remembers what each of its logins has of name, password and PIN, and what it remembered before', t => {
  const io = makeNodeIo()
  const box = (text: string): object => ({ encryptionType: 0, iv_hex: '00'.repeat(16), data_base64: text })
  const child = { appId: 'test.app', loginId: 'Y2hpbGQ=', pin2TextBox: box('cGlu') }
  const root = {
    ...{ appId: '', loginId: 'cm9vdA==', userId: 'dXNlcg==', passwordAuthBox: box('cGFzcw==') },
    ...{ pin2TextBox: box('cGlu'), children: [child] }
  }
  const valuesOf = (stash: object): readonly string[] =>
    movingStash(io, stash as unknown as LoginStash).sentValues ?? []
  const values = valuesOf(root)
  t.is(new Set(values).size, 6)
  const others = [
    { ...root, userId: 'b3RoZXI=' },
    { ...root, userId: undefined },
    { ...root, passwordAuthBox: box('b3RoZXI=') },
    { ...root, pin2TextBox: undefined },
    { ...root, children: [{ ...child, pin2TextBox: box('b3RoZXI=') }] }
  ]
  for (const [at, other] of others.entries())
    t.is(valuesOf(other).filter(value => !values.includes(value)).length, 1, String(at))

  const sameBox = Object.fromEntries(Object.entries(root.pin2TextBox).reverse())
  t.deepEqual(valuesOf({ ...root, pin2TextBox: sameBox }), values)
  t.deepEqual(valuesOf({ ...root, children: undefined }), values.slice(0, 3))
  t.deepEqual(valuesOf({ ...root, sentValues: ['before'] }), ['before', ...values])
  const moved = movedStash(movingStash(io, root as unknown as LoginStash))
  t.false('sentValues' in moved || 'deviceOnly' in moved)
})
