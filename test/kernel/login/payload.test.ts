import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { sealBox, sealText } from '../../../kernel/crypto/box.ts'
import { userIdOf } from '../../../kernel/login/derive.ts'
import {
  applyLoginPayload,
  isKeyOf,
  type PayloadOptions,
  verifiedNameOf
} from '../../../kernel/login/payload.ts'
import type { Box } from '../../../kernel/types/keys.ts'
import type { LoginPayload, LoginStash } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()
const idOf = (byte: number): string => io.crypto.toBase64(new Uint8Array(32).fill(byte))
const [rootKey, childKey, loginAuth] = [io.random(32), io.random(32), io.random(32)]
const created = '2026-01-01T00:00:00.000Z'

const ROOT: LoginStash = {
  appId: '',
  created,
  loginId: idOf(1),
  userId: idOf(2),
  username: 'alice',
  loginAuthBox: sealBox(io, rootKey, loginAuth),
  pendingVouchers: []
}

const CHILD: LoginStash = {
  appId: 'app',
  created,
  loginId: idOf(3),
  parentBox: sealBox(io, rootKey, childKey),
  loginAuthBox: sealBox(io, childKey, io.random(32)),
  pendingVouchers: []
}

/** What a server answers about a login of a stash, with some fields changed. */
const replyOf = (stash: LoginStash, changes: object = {}): LoginPayload => {
  const { username: _name, children: _children, otpKey: _otpKey, ...fields } = stash
  return { ...fields, created, ...changes }
}

const apply = (stash: LoginStash, changes: object, more: Partial<PayloadOptions> = {}): LoginStash =>
  applyLoginPayload(io, stash, { loginKey: rootKey, payload: replyOf(stash, changes), ...more })

test('a reply with the user id of another name changes the id of this one only with proof of the name', t => {
  const other = { userId: idOf(9) }
  t.is(apply(ROOT, other).userId, ROOT.userId)
  t.is(apply(ROOT, other, { username: 'alice' }).userId, ROOT.userId)
  t.is(apply(ROOT, other, { username: 'bob' }).userId, other.userId)
  t.is(apply(ROOT, other, { isPasswordVerified: true }).userId, other.userId)
  t.is(apply(ROOT, { userId: undefined }, { username: 'bob' }).userId, ROOT.userId)
  const { userId: _userId, ...nameless } = ROOT
  t.is(apply(nameless, other).userId, other.userId)
})

test('the loginAuthBox and the parentBox of a login never change, whatever a reply holds', t => {
  const resealed = { loginAuthBox: sealBox(io, rootKey, loginAuth) }
  t.deepEqual(apply(ROOT, resealed).loginAuthBox, ROOT.loginAuthBox)
  t.deepEqual(apply(ROOT, { loginAuthBox: undefined }).loginAuthBox, ROOT.loginAuthBox)
  const { loginAuthBox: _box, ...bare } = ROOT
  t.deepEqual(apply(bare, resealed).loginAuthBox, resealed.loginAuthBox)

  // A device that was let in by another one has the key of the app's login alone.
  const stash: LoginStash = { appId: '', loginId: ROOT.loginId, pendingVouchers: [], children: [CHILD] }
  const payload = replyOf(CHILD, { parentBox: sealBox(io, io.random(32), io.random(32)) })
  const { children = [] } = applyLoginPayload(io, stash, { loginKey: childKey, payload })
  t.deepEqual(children[0]?.parentBox, CHILD.parentBox)
  const both = apply(
    { ...ROOT, children: [CHILD] },
    {
      children: [replyOf(CHILD, { parentBox: sealBox(io, rootKey, childKey) })]
    }
  )
  t.deepEqual(both.children?.[0]?.parentBox, CHILD.parentBox)
})

test('a loginAuthBox in a reply must open to 32 bytes, also where this device keeps its own', t => {
  const { loginAuthBox: _box, ...bare } = ROOT
  for (const known of [ROOT, { ...bare, passwordAuthBox: sealBox(io, rootKey, io.random(32)) }]) {
    const receive = (loginAuthBox: Box) => () => apply(known, { loginAuthBox })
    t.throws(receive(sealBox(io, io.random(32), loginAuth)), { code: 'INVALID_CHECKSUM' })
    t.throws(receive(sealBox(io, rootKey, io.random(31))), { code: 'KEY_INTEGRITY' })
  }
})

test('a login below without a parentBox in a reply stays as this device knows it, and is reported', t => {
  const odd: unknown[] = []
  const known = { ...ROOT, children: [CHILD] }
  const sent = { children: [replyOf(CHILD, { parentBox: undefined })] }
  const { children } = apply(known, sent, { onInvalid: error => void odd.push(error) })
  t.deepEqual(children, [CHILD])
  t.like(odd, [{ code: 'KEY_INTEGRITY', details: { rule: 'No parentBox on child login.' } }])
  t.is(odd.length, 1)
})

test('a root login has no parent: a reply that gives it one is refused', t => {
  const parentBox = sealText(io, rootKey, 'parent')
  t.throws(() => apply(ROOT, { parentBox }), { code: 'KEY_INTEGRITY' })
})

test('a reply about a login that this device does not have, or of another app, is refused', t => {
  t.throws(() => apply(ROOT, { loginId: idOf(8) }), { code: 'BAD_REPLY' })
  t.throws(() => apply(ROOT, { appId: 'app' }), { code: 'BAD_REPLY' })
})

test('a missing app login in a reply is an error, unless nothing of it is known', t => {
  const { parentBox: _box, ...closed } = CHILD
  const names: LoginStash = { appId: 'app', loginId: CHILD.loginId, pendingVouchers: [] }
  const keyBoxes = [sealText(io, childKey, '{}')]
  for (const child of [CHILD, closed, { ...names, keyBoxes }, { ...names, children: [CHILD] }]) {
    t.throws(() => apply({ ...ROOT, children: [child] }, {}), { code: 'LOST_CHILDREN' })
  }
  const stranger = { ...CHILD, parentBox: sealBox(io, childKey, childKey) }
  for (const child of [names, { ...names, keyBoxes: [] }, stranger]) {
    t.is(apply({ ...ROOT, children: [child] }, {}).children?.length, 0)
  }
})

test('an unreadable app login stays as this device knows it, and is reported', t => {
  const odd: unknown[] = []
  const known = { ...ROOT, children: [{ ...CHILD, keyBoxes: [sealText(io, childKey, '{}')] }] }
  const sent = { children: [{ ...replyOf(CHILD), isOdd: true }] }
  const { children } = apply(known, sent, { onInvalid: error => void odd.push(error) })
  t.deepEqual(children, known.children)
  t.is(odd.length, 1)
})

test('of two logins of one app the first one is used, and the second is reported', t => {
  const otherKey = io.random(32)
  const second = {
    ...CHILD,
    loginId: idOf(4),
    created: '2026-01-02T00:00:00.000Z',
    parentBox: sealBox(io, rootKey, otherKey),
    loginAuthBox: sealBox(io, otherKey, io.random(32))
  }
  for (const known of [[], [CHILD]]) {
    const odd: unknown[] = []
    const sent = { children: [{ ...replyOf(second), created: second.created }, replyOf(CHILD)] }
    const { children = [] } = apply({ ...ROOT, children: known }, sent, {
      onInvalid: error => void odd.push(error)
    })
    t.deepEqual(
      children.map(({ loginId }) => loginId),
      [CHILD.loginId]
    )
    t.is(odd.length, 1)
  }
})

test('a login below that claims the app of the one above is refused and reported', t => {
  for (const known of [undefined, [CHILD]]) {
    const odd: unknown[] = []
    const sent = {
      children: [
        ...(known ?? []).map(child => replyOf(child)),
        { ...replyOf(CHILD), appId: '', loginId: idOf(5) }
      ]
    }
    const { children = [] } = apply({ ...ROOT, ...(known && { children: known }) }, sent, {
      onInvalid: error => void odd.push(error)
    })
    t.deepEqual(
      children.map(({ loginId }) => loginId),
      (known ?? []).map(({ loginId }) => loginId)
    )
    t.is(odd.length, 1)
    t.regex(String(odd[0]), /one app/)
  }
})

test('known logins below keep their order, and new ones follow by their dates', t => {
  const childOf = (byte: number, date: string): LoginStash => {
    const key = io.random(32)
    return {
      ...{ appId: `app ${byte}`, created: `2026-0${date}-01T00:00:00.000Z`, loginId: idOf(byte) },
      parentBox: sealBox(io, rootKey, key),
      loginAuthBox: sealBox(io, key, io.random(32)),
      pendingVouchers: []
    }
  }
  const [late, early, later, between] = [
    childOf(11, '9'),
    childOf(12, '1'),
    childOf(13, '8'),
    childOf(14, '5')
  ] as [LoginStash, LoginStash, LoginStash, LoginStash]
  const sent = [later, early, between, late].map(child => ({ ...replyOf(child), created: child.created }))
  const { children = [] } = apply({ ...ROOT, children: [late, early] }, { children: sent })
  t.deepEqual(
    children.map(({ loginId }) => loginId),
    [late, early, between, later].map(({ loginId }) => loginId)
  )
})

test('of a login that a reply names twice the first is used, and the second is reported', t => {
  const odd: unknown[] = []
  const sent = { children: [replyOf(CHILD), replyOf(CHILD)] }
  const { children } = apply({ ...ROOT, children: [CHILD] }, sent, {
    onInvalid: error => void odd.push(error)
  })
  t.is(children?.length, 1)
  t.regex(String(odd[0]), /one id/)
  t.is(odd.length, 1)
})

test('another text of the login in the place of its name, such as the PIN, is refused', async t => {
  const nameIn = (text: string, known: string | undefined, userId?: string) => {
    const changes = { userTextBox: sealText(io, rootKey, text), ...(userId === undefined ? {} : { userId }) }
    const loginKey = new Secret(rootKey.slice())
    return verifiedNameOf(io, { payload: replyOf(ROOT, changes), loginKey }, known)
  }
  t.is(await nameIn('4711', undefined), undefined)
  t.is(await nameIn('4711', 'alice'), undefined)
  t.is(await nameIn('alice', 'alice'), 'alice')
  const bobsId = io.crypto.toBase64(await userIdOf(io, 'bob'))
  t.is(await nameIn('bob', 'alice', bobsId), 'bob')
  t.is(await nameIn('bob', 'alice'), undefined, 'it is not the name of the user id')
  // The id of an old login is its user id, too.
  const old = { loginId: bobsId, userId: undefined, userTextBox: sealText(io, rootKey, 'bob') }
  const reply = { payload: replyOf(ROOT, old), loginKey: new Secret(rootKey.slice()) }
  t.is(await verifiedNameOf(io, reply, 'alice'), 'bob')
  const loginKey = new Secret(childKey.slice())
  const changes = { userTextBox: sealText(io, childKey, 'bob'), userId: bobsId }
  t.is(
    await verifiedNameOf(io, { payload: replyOf(CHILD, changes), loginKey }, 'alice'),
    undefined,
    'of an app'
  )
  t.is(await verifiedNameOf(io, { payload: replyOf(ROOT), loginKey }, 'alice'), undefined, 'there is none')
})

test('another spelling of a known box replaces it only if the known one has a wrong type and the other opens', t => {
  const good = sealText(io, rootKey, 'key')
  const bad = sealText(io, childKey, 'key')
  const odd = (box: Box): Box => ({ ...box, encryptionType: 1 })
  const fresh = sealText(io, rootKey, 'another')
  const cases: readonly (readonly [known: readonly Box[], sent: readonly Box[], kept: readonly Box[]])[] = [
    [[good], [], [good]],
    [[bad], [], []],
    [[], [bad], [bad]],
    [[good], [fresh], [fresh, good]],
    [[bad], [fresh], [fresh]],
    [[bad], [bad], [bad]],
    [[bad, good], [bad], [bad, good]],
    [[odd(good)], [good], [good]],
    [[good], [odd(good)], [good]],
    [[odd(bad)], [bad], [odd(bad)]],
    [[good], [{ ...good, iv_hex: good.iv_hex.toUpperCase() }], [good]]
  ]
  for (const [at, [known, sent, kept]] of cases.entries())
    t.deepEqual(apply({ ...ROOT, keyBoxes: known }, { keyBoxes: sent }).keyBoxes, kept, `case ${at}`)
})

test('a key of 16 or 24 bytes opens a login below the root, and no root', t => {
  for (const [length, isTaken] of [
    [16, true],
    [24, true],
    [32, true]
  ] as const) {
    const key = io.random(length)
    const root = { ...ROOT, loginAuthBox: sealBox(io, key, loginAuth) }
    const take = (stash: LoginStash): LoginStash =>
      applyLoginPayload(io, stash, { loginKey: key, payload: replyOf(stash) })
    if (length === 32) t.is(take(root).loginId, ROOT.loginId)
    else t.throws(() => take(root), { code: 'KEY_INTEGRITY', message: /32 bytes/ })
    const { parentBox: _, ...child } = { ...CHILD, loginAuthBox: sealBox(io, key, loginAuth) }
    t.is(take(child).loginId === CHILD.loginId, isTaken)
  }
  const { loginAuthBox: _, ...bare } = ROOT
  for (const [stash, length] of [
    [bare, 16],
    [bare, 31],
    [{ ...bare, appId: 'app' }, 20]
  ] as const)
    t.throws(
      () => applyLoginPayload(io, stash, { loginKey: io.random(length), payload: replyOf(stash) }),
      { code: 'KEY_INTEGRITY' },
      `${stash.appId} ${length}`
    )
})

test('a key is that of a login if it opens what proves the login, or else its first key, and where there is neither nobody knows', t => {
  const { loginAuthBox: _, ...bare } = ROOT
  const [own, other] = [sealText(io, rootKey, '{}'), sealText(io, childKey, '{}')]
  const cases: readonly (readonly [Partial<LoginStash>, boolean | undefined])[] = [
    [{}, undefined],
    [{ keyBoxes: [] }, undefined],
    [{ keyBoxes: [own] }, true],
    [{ keyBoxes: [own, other] }, true],
    [{ keyBoxes: [other, own] }, false],
    [{ passwordAuthBox: own, keyBoxes: [other] }, true],
    [{ passwordAuthBox: other, keyBoxes: [own] }, false],
    [{ loginAuthBox: own, passwordAuthBox: other, keyBoxes: [other] }, true],
    [{ loginAuthBox: other, passwordAuthBox: own }, false]
  ]
  for (const [at, [boxes, expected]] of cases.entries())
    t.is(isKeyOf(io, { ...bare, ...boxes }, rootKey), expected, `case ${at}`)
  const stash = { ...bare, keyBoxes: [other] }
  const apply = () => applyLoginPayload(io, stash, { loginKey: rootKey, payload: replyOf(stash) })
  t.throws(apply, { code: 'KEY_INTEGRITY', message: /another login/ })
})

test('a password box that is hidden, or proves nothing to the server, is none of this device', t => {
  const box = sealBox(io, io.random(32), rootKey)
  const proof = sealBox(io, rootKey, io.random(32))
  const passwordKeySnrp = { salt_hex: '00'.repeat(32), n: 16, r: 1, p: 1 }
  const fields = { passwordAuthBox: proof, passwordKeySnrp }
  t.deepEqual(apply(ROOT, { ...fields, passwordBox: box }).passwordBox, box)
  t.false('passwordBox' in apply(ROOT, { ...fields, passwordBox: true }))
  t.false('passwordBox' in apply(ROOT, { passwordBox: true, passwordKeySnrp }))
  t.false('passwordBox' in apply(ROOT, { passwordBox: box, passwordKeySnrp }))
  const known = { ...ROOT, ...fields, passwordBox: box }
  t.deepEqual(apply(known, { ...fields, passwordBox: true }).passwordBox, box, 'what is known stays')
  t.deepEqual(apply(known, { passwordBox: true, passwordKeySnrp }).passwordBox, box)
  t.false('passwordBox' in apply(known, { passwordAuthBox: undefined, passwordBox: undefined }))
})

test('a two-factor key stays while the server may not have it yet, and where it says that it keeps it', t => {
  const stash = { ...ROOT, otpKey: 'MFRGGZDFMZTWQ2LK' }
  t.is(apply(stash, {}).otpKey, stash.otpKey, 'a request may be on its way')
  t.is(
    apply({ ...stash, otpTimeout: 60 }, { otpTimeout: undefined }).otpKey,
    undefined,
    'it was switched off'
  )
  t.is(apply({ ...stash, otpTimeout: 60 }, { otpKey: true }).otpKey, stash.otpKey)
  t.is(apply(stash, { otpKey: 'AAAAAAAAAAAAAAAA', otpTimeout: 60 }).otpKey, 'AAAAAAAAAAAAAAAA')
  t.is(apply(stash, { otpTimeout: 60 }).otpKey, undefined)
})

test('the parentBox of a known login below gives way to one that opens, and so does that of a login of which only the names are known', t => {
  const { loginAuthBox: _box, ...names } = CHILD
  const resealed = sealBox(io, rootKey, childKey)
  for (const known of [{ ...CHILD, parentBox: sealBox(io, io.random(32), childKey) }, names]) {
    const payload = { children: [replyOf(CHILD, { parentBox: resealed })] }
    t.deepEqual(apply({ ...ROOT, children: [known] }, payload).children?.[0]?.parentBox, resealed)
  }
})

test('a device with the login of an app alone takes its parentBox from the server, and needs one', t => {
  const { parentBox, ...bare } = CHILD
  const stash: LoginStash = { appId: '', loginId: ROOT.loginId, pendingVouchers: [], children: [bare] }
  const receive = (payload: LoginPayload): LoginStash =>
    applyLoginPayload(io, stash, { loginKey: childKey, payload })
  t.deepEqual(receive(replyOf(CHILD)).children?.[0]?.parentBox, parentBox)
  t.throws(() => receive(replyOf(bare)), { code: 'KEY_INTEGRITY', message: /parentBox/ })
})

test('a PIN that a reply brings must open, and be text', t => {
  const pin2TextBox = sealText(io, rootKey, '4711')
  t.deepEqual(apply(ROOT, { pin2TextBox }).pin2TextBox, pin2TextBox)
  t.throws(() => apply(ROOT, { pin2TextBox: sealText(io, childKey, '4711') }), {
    code: 'INVALID_CHECKSUM'
  })
  t.throws(() => apply(ROOT, { pin2TextBox: sealBox(io, rootKey, Uint8Array.of(0xff, 0xfe, 0xff)) }), {
    code: 'KEY_INTEGRITY'
  })
})

test('a password box that nothing proves to the server stays as this device knows it', t => {
  const known = { ...ROOT, passwordBox: sealBox(io, io.random(32), rootKey) }
  const other = sealBox(io, io.random(32), rootKey)
  t.deepEqual(apply(known, { passwordBox: other }).passwordBox, known.passwordBox)
})

test('only a root has a name of its own, and only where its box is there', async t => {
  const name = (payload: object) =>
    verifiedNameOf(io, { payload: replyOf(ROOT, payload), loginKey: new Secret(rootKey.slice()) }, 'alice')
  const userTextBox = sealText(io, rootKey, 'alice')
  t.is(await name({ userTextBox }), 'alice')
  t.is(await name({ userTextBox, appId: 'app' }), undefined)
  t.is(await name({}), undefined)
})
