import { createHmac } from 'node:crypto'
import test from 'ava'
import { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { openBox, sealBox } from '../../../kernel/crypto/box.ts'
import { equalBytes } from '../../../kernel/crypto/encoding.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { SecretCache } from '../../../kernel/login/secret-cache.ts'
import { keepOrMakeKey, recordVerifiedKeys } from '../../../kernel/login/verified-keys.ts'
import type { LoginPayload } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { createAlice, lastBody, openAlice, recordOf } from '../../helpers/alice.ts'
import { CHEAP, makeLoginWorld, openDevice } from '../../helpers/login-device.ts'
import { ALICE, withCredentials } from '../../helpers/login-methods.ts'

const io = makeNodeIo()
const loginKey = io.random(32)

test('a key that was made with the login key is kept, and any other is replaced', t => {
  const make = (known?: Uint8Array, use: 'pin2Key' | 'recovery2Key' = 'pin2Key', key = loginKey) =>
    keepOrMakeKey(io, { use, loginKey: key, known: known && new Secret(known.slice()) })
  const made = make()
  t.is(made.length, 32)
  // Keys of earlier versions are read, too: the form stays.
  const proof = createHmac('sha256', loginKey)
    .update('holdfast pin2Key ')
    .update(made.subarray(0, 16))
    .digest()
  t.deepEqual([...made.subarray(16)], [...proof.subarray(0, 16)])
  t.notDeepEqual(make(), made)
  t.deepEqual(make(made), made)

  t.notDeepEqual(make(made, 'recovery2Key'), made, 'a key of another use')
  t.notDeepEqual(make(made, 'pin2Key', io.random(32)), made, 'a key of another login')
  const random = io.random(32)
  t.notDeepEqual(make(random), random)
  for (let at = 0; at < 32; at += 1) {
    const changed = made.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    t.notDeepEqual(make(changed), changed, `byte ${at}`)
  }
})

test('a key of another client is kept once a box shows that it opens the login key, not because a server sent it', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const foreign = io.random(32)
  const key = owner.login.tree.loginKey.use(bytes => bytes.slice())
  const record = recordOf(world)
  world.server.db.saveLogin({
    ...record,
    pin2KeyBox: sealBox(io, key, foreign),
    pin2Box: sealBox(io, foreign, key)
  })
  const pin2KeyAfterChange = async (): Promise<string | undefined> => {
    const device = await openAlice(world)
    t.is(device.login.stash.pin2Key, io.crypto.toBase64(foreign))
    await device.credentials.changePIN({ pin: '9999' })
    return device.login.stash.pin2Key
  }
  t.is(await pin2KeyAfterChange(), io.crypto.toBase64(foreign))
  world.garble = (_, reply) =>
    reply.results?.pin2Box === undefined ? reply : { ...reply, results: { ...reply.results, pin2Box: true } }
  t.not(await pin2KeyAfterChange(), io.crypto.toBase64(foreign))
})

test('a server that sends the auth of an old password as PIN and recovery key never receives the login key', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world, { config: { passwordSnrp: CHEAP } })
  const old = lastBody(world, 'POST /api/v2/login/create').data
  await owner.credentials.changePassword('another password')
  world.garble = (route, reply) => {
    const isLogin = route === 'POST /api/v2/login' && reply.results?.loginId !== undefined
    const lie = { pin2KeyBox: old.passwordAuthBox, recovery2KeyBox: undefined }
    return isLogin ? { ...reply, results: { ...reply.results, ...lie } } : reply
  }
  const device = await openDevice(world)
  const typed = { username: ALICE.username, password: 'another password' }
  const login = await loginWithPassword(device.services, device.stashes, typed)
  const other = withCredentials(device, login)
  const known = io.crypto.fromBase64(old.passwordAuth)
  t.is(other.login.stash.pin2Key, old.passwordAuth, 'the lie was not told')

  await other.credentials.changePIN({ pin: '9999', enableLogin: true })
  const { pin2Box } = lastBody(world, 'POST /api/v2/login/pin2').data
  t.throws(() => openBox(io, known, pin2Box), { instanceOf: WalletError, code: 'INVALID_CHECKSUM' })
})

test('the PIN and recovery keys that other clients made for an account and for a login below it are kept', t => {
  for (const use of ['pin2Key', 'recovery2Key'] as const) {
    const secrets = new SecretCache(io)
    const childKey = io.random(32)
    const made = [io.random(32), io.random(32)] as const
    const boxesOf = (key: Uint8Array, owner: Uint8Array) => ({
      [`${use}Box`]: sealBox(io, owner, key),
      [use === 'pin2Key' ? 'pin2Box' : 'recovery2Box']: sealBox(io, key, owner)
    })
    const child = { ...boxesOf(made[1], childKey), parentBox: sealBox(io, loginKey, childKey) }
    const payload = { ...boxesOf(made[0], loginKey), children: [child] } as unknown as LoginPayload
    recordVerifiedKeys(io, secrets, { payload, loginKey: new Secret(loginKey.slice()) })
    for (const [key, owner] of [
      [made[0], loginKey],
      [made[1], childKey]
    ] as const) {
      const known = secrets.fromText('key', io.crypto.toBase64(key), io.crypto.fromBase64)
      t.deepEqual(keepOrMakeKey(io, { use, loginKey: owner, known }), key)
    }
  }
})

test('what a reply leaves out, hides or seals otherwise proves nothing, and hides no proof beside it', t => {
  const childKey = io.random(32)
  const [pinKey, recoveryKey, deepKey] = [io.random(32), io.random(32), io.random(32)]
  const verified = {
    recovery2KeyBox: sealBox(io, loginKey, recoveryKey),
    recovery2Box: sealBox(io, recoveryKey, loginKey)
  }
  const child = {
    recovery2KeyBox: sealBox(io, childKey, deepKey),
    recovery2Box: sealBox(io, deepKey, childKey),
    parentBox: sealBox(io, loginKey, childKey)
  }
  const { parentBox: _, ...orphan } = child
  const pin2KeyBox = sealBox(io, loginKey, pinKey)
  for (const pin2Box of [undefined, true, sealBox(io, pinKey, io.random(32))]) {
    const secrets = new SecretCache(io)
    const payload = { ...verified, pin2KeyBox, pin2Box, children: [orphan, child] } as unknown as LoginPayload
    recordVerifiedKeys(io, secrets, { payload, loginKey: new Secret(loginKey.slice()) })
    const isKept = (use: 'pin2Key' | 'recovery2Key', key: Uint8Array, owner: Uint8Array): boolean => {
      const known = secrets.fromText('key', io.crypto.toBase64(key), io.crypto.fromBase64)
      return equalBytes(keepOrMakeKey(io, { use, loginKey: owner, known }), key)
    }
    t.false(isKept('pin2Key', pinKey, loginKey))
    t.true(isKept('recovery2Key', recoveryKey, loginKey))
    t.true(isKept('recovery2Key', deepKey, childKey))
  }
})
