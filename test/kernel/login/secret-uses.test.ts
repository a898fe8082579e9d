import test from 'ava'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { checkBoxUses, checkSecretLength, withoutInvalidChildren } from '../../../kernel/login/secret-uses.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()
const { toBase64 } = io.crypto
const idOf = (byte: number): string => toBase64(new Uint8Array(32).fill(byte))
const secret = (): Uint8Array => io.random(32)
const boxed = (key: Uint8Array, bytes: Uint8Array): Box => sealBox(io, key, bytes)
const [rootKey, rootAuth, rootPassword, rootPin] = [secret(), secret(), secret(), secret()]

/** A login and what it holds; `children` by their own stashes. */
const loginOf = (
  id: number,
  { key, auth, ...rest }: { key: Uint8Array; auth: Uint8Array } & Partial<LoginStash>
): LoginStash => ({
  appId: `app ${id}`,
  loginId: idOf(id),
  pendingVouchers: [],
  parentBox: boxed(rootKey, key),
  loginAuthBox: boxed(key, auth),
  ...rest
})

const rootWith = (fields: Partial<LoginStash> = {}): LoginStash => {
  const { parentBox: _box, ...root } = loginOf(1, { key: rootKey, auth: rootAuth, appId: '' })
  return { ...root, passwordAuthBox: boxed(rootKey, rootPassword), pin2Key: toBase64(rootPin), ...fields }
}

/** What is taken of a merged tree, and what was said about the rest. */
const check = (
  rebuilt: LoginStash,
  known: LoginStash | undefined = rootWith()
): { taken: LoginStash; ids: (string | undefined)[]; odd: unknown[] } => {
  const odd: unknown[] = []
  const onInvalid = (error: unknown): void => void odd.push(error)
  const tree = known ?? rootWith()
  const taken = withoutInvalidChildren({ io, tree, onInvalid }, { loginKey: rootKey, known, rebuilt })
  return { taken, ids: (taken.children ?? []).map(({ loginId }) => loginId), odd }
}

const refusal = { code: 'KEY_INTEGRITY' }

test('a secret of a login that has two uses is refused, also where the other use is an earlier one', t => {
  const sound = rootWith()
  t.is(check(sound).taken, sound)
  for (const fields of [
    { loginAuthBox: boxed(rootKey, rootKey) },
    { passwordAuthBox: boxed(rootKey, rootKey) },
    { passwordAuthBox: boxed(rootKey, rootAuth) },
    { pin2Key: toBase64(rootKey) },
    { pin2Key: toBase64(rootAuth) },
    { recovery2Key: toBase64(rootPin) },
    { recovery2Key: toBase64(rootPassword) }
  ]) {
    t.throws(() => check(rootWith(fields)), refusal, Object.keys(fields).join())
  }
  const earlier = secret()
  const known = rootWith({ passwordAuthBox: boxed(rootKey, earlier) })
  t.throws(() => check(rootWith({ pin2Key: toBase64(earlier) }), known), refusal)
  t.notThrows(() => check(rootWith({ recovery2Key: toBase64(earlier) }), rootWith()))
  const error = t.throws(() => check(rootWith({ pin2Key: toBase64(rootAuth) })))
  t.false(Object.keys(error ?? {}).includes('owner'), 'printing it shows no id of a login')
})

test('a secret of a login that has another use below it is refused; the password may be that of both', t => {
  const [key, auth] = [secret(), secret()]
  const withChild = (fields: Partial<LoginStash>): LoginStash =>
    rootWith({ children: [loginOf(2, { key, auth, ...fields })] })
  for (const fields of [
    { loginAuthBox: boxed(key, rootAuth) },
    { passwordAuthBox: boxed(key, rootAuth) },
    { pin2Key: toBase64(rootKey) },
    { recovery2Key: toBase64(rootPassword) }
  ]) {
    t.throws(() => check(withChild(fields)), refusal, Object.keys(fields).join())
  }
  const { ids, odd } = check(withChild({ passwordAuthBox: boxed(key, rootPassword) }))
  t.deepEqual([ids, odd], [[idOf(2)], []])
})

test('a child in which a secret has two uses stays as it is known, or is left out, and its siblings stay', t => {
  const [key, auth] = [secret(), secret()]
  const good = loginOf(2, { key, auth })
  const sibling = loginOf(3, { key: secret(), auth: secret() })
  const bad = { ...good, pin2Key: toBase64(auth) }
  const known = rootWith({ children: [good, sibling] })
  const kept = check(rootWith({ children: [bad, sibling] }), known)
  t.deepEqual(kept.taken.children, [good, sibling])
  t.is(kept.odd.length, 1)
  const left = check(rootWith({ children: [bad, sibling] }))
  t.deepEqual([left.ids, left.odd.length], [[idOf(3)], 1])

  // The secrets of a known login come first, wherever the server puts the other use.
  const thief = loginOf(4, { key: secret(), auth: secret(), pin2Key: toBase64(auth) })
  const robbed = check(rootWith({ children: [thief, good] }), rootWith({ children: [good] }))
  t.deepEqual([robbed.ids, robbed.odd.length], [[idOf(2)], 1])
})

test('a login of which only the names are kept has no secret and no place that others must respect', t => {
  const [key, auth] = [secret(), secret()]
  const names: LoginStash = {
    appId: 'app 5',
    loginId: idOf(5),
    pendingVouchers: [],
    parentBox: boxed(rootKey, key)
  }
  const real = loginOf(2, { key, auth })
  const known = rootWith({ children: [names] })
  const { ids, odd } = check(rootWith({ children: [real] }), known)
  t.deepEqual([ids, odd], [[idOf(2)], []])

  const inner = { key: secret(), auth: secret() }
  const moved = loginOf(5, { ...inner, parentBox: boxed(key, inner.key) })
  const below = check(rootWith({ children: [{ ...real, children: [moved] }] }), known)
  t.deepEqual(below.taken.children?.[0]?.children, [moved])
  t.deepEqual(below.odd, [])
})

test('an id that comes twice, or under another parent than before, is not taken there', t => {
  const child = loginOf(2, { key: secret(), auth: secret() })
  const twin = loginOf(2, { key: secret(), auth: secret() })
  const root = loginOf(1, { key: secret(), auth: secret() })
  for (const known of [rootWith(), rootWith({ children: [child] })]) {
    const { taken, odd } = check(rootWith({ children: [child, twin, root] }), known)
    t.deepEqual(taken.children, [child])
    t.is(odd.length, 2)
  }
  const [keyA, keyB, keyC] = [secret(), secret(), secret()]
  const [a, b] = [loginOf(3, { key: keyA, auth: secret() }), loginOf(4, { key: keyB, auth: secret() })]
  const below = loginOf(5, { key: keyC, auth: secret(), parentBox: boxed(keyA, keyC) })
  const known = rootWith({ children: [{ ...a, children: [below] }, b] })
  const moved = { ...below, parentBox: boxed(keyB, keyC) }
  const { taken, odd } = check(rootWith({ children: [a, { ...b, children: [moved] }] }), known)
  t.deepEqual(taken.children, [a, { ...b, children: [] }])
  t.is(odd.length, 1)
  // A login without a box that opens has its place too.
  const { parentBox: _box, ...closed } = child
  t.deepEqual(check(rootWith({ children: [closed, closed] })).taken.children, [closed])
})

test('a secret of a root has 32 bytes, of a login of an app about as many', t => {
  t.throws(() => check(rootWith({ loginAuthBox: boxed(rootKey, io.random(31)) })), refusal)
  const key = secret()
  const { ids } = check(
    rootWith({
      children: [loginOf(2, { key, auth: io.random(31) }), loginOf(3, { key: secret(), auth: io.random(23) })]
    })
  )
  t.deepEqual(ids, [idOf(2)])
  for (const length of [24, 31, 32, 33, 40]) t.notThrows(() => checkSecretLength(io.random(length), false))
  for (const length of [0, 23, 41]) t.throws(() => checkSecretLength(io.random(length), false), refusal)
  for (const length of [24, 31, 33]) t.throws(() => checkSecretLength(io.random(length), true), refusal)
  t.notThrows(() => checkSecretLength(io.random(32), true))
})

test('a reply that has one box in two places, or elsewhere than this device has it, is refused', t => {
  const root = rootWith()
  const { loginAuthBox, passwordAuthBox } = root
  const payloadOf = (fields: object): Parameters<typeof checkBoxUses>[1] => {
    return { appId: '', loginId: root.loginId, created: '', pendingVouchers: [], ...fields }
  }
  t.notThrows(() => checkBoxUses(root, payloadOf({ loginAuthBox, passwordAuthBox, keyBoxes: [] })))
  const respelt = loginAuthBox && { ...loginAuthBox, iv_hex: loginAuthBox.iv_hex.toUpperCase() }
  for (const fields of [
    { loginAuthBox: passwordAuthBox },
    { pin2TextBox: loginAuthBox },
    { pin2TextBox: respelt },
    { keyBoxes: [loginAuthBox] },
    { keyBoxes: [boxed(rootKey, secret()), passwordAuthBox] }
  ]) {
    t.throws(() => checkBoxUses(root, payloadOf(fields)), refusal, Object.keys(fields).join())
  }
  const fresh = boxed(rootKey, secret())
  t.notThrows(() => checkBoxUses(root, payloadOf({ pin2TextBox: fresh })))
  t.throws(() => checkBoxUses(root, payloadOf({ pin2TextBox: fresh, syncKeyBox: fresh })), refusal)
})
