import test from 'ava'
import { openBox } from '../../../kernel/crypto/box.ts'
import { WalletError } from '../../../kernel/errors/wallet-error.ts'
import { loginWithPassword } from '../../../kernel/login/password.ts'
import { keepOrMakeKey } from '../../../kernel/login/proven-key.ts'
import { Secret } from '../../../kernel/state/secret.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { createAlice, lastBody } from '../../helpers/alice.ts'
import { makeLoginWorld, openDevice } from '../../helpers/login-device.ts'
import { ALICE, withCredentials } from '../../helpers/ways-in.ts'

const io = makeNodeIo()
const loginKey = io.random(32)

test('a key that was made with the login key is kept, and any other is replaced', t => {
  const make = (known?: Uint8Array, use: 'pin2Key' | 'recovery2Key' = 'pin2Key', key = loginKey) =>
    keepOrMakeKey(io, { use, loginKey: key, known: known && new Secret(known.slice()) })
  const made = make()
  t.is(made.length, 32)
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

test('a server that passes off the proof of an old password as PIN and recovery key is not sent the login key', async t => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
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
