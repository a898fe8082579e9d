import { createHmac } from 'node:crypto'
import test from 'ava'
import { pin2IdOf } from '../../../../kernel/login/derive.ts'
import { isPin, loginWithPin } from '../../../../kernel/login/methods/pin.ts'
import { credentialsOf } from '../../../../kernel/login/tree.ts'
import type { LoginTree } from '../../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { ALICE, makeAlice, openAppDevice, openByPin, takeRoutes } from '../../../helpers/login-methods.ts'

const HALF = '12\ud800'

test('a PIN with half a character is a wrong PIN, and the server is not asked', async t => {
  const { world, alice } = await makeAlice()
  const { services, stashes } = await openAppDevice(world, alice.files)
  takeRoutes(world)
  await t.throwsAsync(loginWithPin(services, stashes, { username: ALICE.username, pin: HALF }), {
    code: 'PASSWORD'
  })
  const { held, stash } = alice.login.getSnapshot()
  const { pin: _pin, ...without } = held
  for (const tree of [held, without])
    t.false(await isPin(alice.services, { ...alice.login.getSnapshot(), held: tree, stash }, HALF))
  t.deepEqual(takeRoutes(world), [])
})

test('a PIN is checked against its text, or else by the server, and every failure there is a no', async t => {
  const { world, alice } = await makeAlice()
  const state = alice.login.getSnapshot()
  const { pin: _pin, ...held } = state.held
  const { pin2Key: _key, ...keyless } = held
  const { username: _name, ...nameless } = state.stash
  takeRoutes(world)
  t.true(await isPin(alice.services, state, ALICE.pin))
  t.false(await isPin(alice.services, state, '4712'))
  t.false(await isPin(alice.services, { ...state, held: keyless }, ALICE.pin))
  t.false(await isPin(alice.services, { ...state, held, stash: nameless }, ALICE.pin))
  t.deepEqual(takeRoutes(world), [])
  t.true(await isPin(alice.services, { ...state, held }, ALICE.pin))
  t.false(await isPin(alice.services, { ...state, held }, '4712'))
  t.is(takeRoutes(world).length, 2)
  world.server.isOnline = false
  t.false(await isPin(alice.services, { ...state, held }, ALICE.pin))
  world.server.isOnline = true
  t.is((await openByPin(world, alice.files)).login.username, ALICE.username)
})

test('a login authenticates with its loginAuth, or with user id and password, and without either not at all', async t => {
  const { alice } = await makeAlice()
  const io = makeNodeIo()
  const { loginAuth, ...rest } = alice.login.getSnapshot().held
  const { userId = '', passwordAuth, loginId } = rest
  const { userId: _id, ...nameless } = rest
  const { passwordAuth: _auth, ...bare } = rest
  const requested = (tree: object): object => credentialsOf(io, tree as LoginTree)
  t.deepEqual(requested({ ...rest, loginAuth }), {
    loginId: io.crypto.fromBase64(loginId),
    loginAuth: loginAuth?.use(bytes => bytes.slice())
  })
  t.deepEqual(requested(rest), {
    userId: io.crypto.fromBase64(userId),
    passwordAuth: passwordAuth?.use(bytes => bytes.slice())
  })
  t.throws(() => requested(bare), { code: 'NO_AUTH_METHODS' })
  t.throws(() => requested(nameless), { code: 'NO_AUTH_METHODS' })
})

test('the id of a PIN login follows from its key and the username, and from a zero byte where there is none', t => {
  const key = new Uint8Array(32).fill(5)
  const hashOf = (data: Uint8Array | string): string => createHmac('sha256', key).update(data).digest('hex')
  t.is(Buffer.from(pin2IdOf(makeNodeIo(), key, undefined)).toString('hex'), hashOf(Uint8Array.of(0)))
  t.is(Buffer.from(pin2IdOf(makeNodeIo(), key, 'alice')).toString('hex'), hashOf('alice'))
})
