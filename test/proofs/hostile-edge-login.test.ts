import test from 'ava'
import type { Json } from '../../kernel/base/json.ts'
import { Secret } from '../../kernel/base/secret.ts'
import { makeLobbyKeys } from '../../kernel/crypto/lobby-key.ts'
import { sealLobbyReply } from '../../kernel/login/lobby.ts'
import type { Login } from '../../kernel/login/login.ts'
import { createLogin } from '../../kernel/login/methods/create.ts'
import { acceptLogin, openEdgeReply } from '../../kernel/login/methods/edge-reply.ts'
import { loginWithPassword } from '../../kernel/login/methods/password.ts'
import { exportedStash, stashTextOf } from '../../kernel/login/stash.ts'
import {
  CHEAP,
  type LoginDevice,
  makeLoginWorld,
  openDevice,
  settle,
  type Untyped
} from '../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse' }
const APP = 'test.app'

/** Logs a device in with an answer, as if it had come through a lobby. */
const take = ({ services, stashes }: LoginDevice, answer: Json): Promise<Login> => {
  const { io } = services
  const { privateKey, publicKey } = makeLobbyKeys(io)
  const reply = sealLobbyReply(io, { publicKey: io.crypto.toBase64(publicKey) }, answer)
  const received = openEdgeReply(io, { privateKey: new Secret(privateKey), appId: APP }, reply)
  return acceptLogin(services, stashes, {
    received,
    vouchers: new Map(),
    checkWanted: () => {},
    verified: () => {}
  })
}

const takeSafely = async (device: LoginDevice, answer: Json): Promise<Login | undefined> => {
  try {
    return await take(device, answer)
  } catch {
    return undefined
  }
}

/** Every answer that differs from the given one in one place. */
function* spoiltOf(value: Untyped): Generator<Untyped> {
  if (typeof value !== 'object' || value === null) return
  for (const name of Object.keys(value)) {
    const put = (part: unknown): Untyped =>
      Array.isArray(value) ? Object.assign([...value], { [name]: part }) : { ...value, [name]: part }
    for (const junk of [undefined, 7, 'junk', `${'A'.repeat(43)}=`, {}]) yield put(junk)
    for (const part of spoiltOf(value[name])) yield put(part)
  }
}

test('whatever a reply says, a device keeps what it had, and keeps nothing that does not log in', async t => {
  const world = makeLoginWorld()
  const phone = await openDevice(world, new Map(), { config: { appId: APP } })
  const alice = await createLogin(phone.services, phone.stashes, { ...ALICE, pin: '4711', snrp: CHEAP })
  await alice.ensureAccountRepo()
  await alice.refresh()
  const { tree, stash } = alice
  const loginStash = JSON.parse(stashTextOf(exportedStash(stash, tree.loginId)))
  const loginKey = tree.loginKey.use(key => Buffer.from(key).toString('base64'))
  const genuine = { appId: APP, loginKey, loginStash }
  const repoId = (await alice.ensureAccountRepo()).id
  const path = `logins/${alice.rootLoginId}.json`
  const ownText = phone.files.get(path) ?? ''
  const own = { ...JSON.parse(ownText), lastLogin: undefined }

  const known = await openDevice(world, new Map(phone.files), { config: { appId: APP } })
  let [taken, refused] = [0, 0]
  for (const answer of spoiltOf(genuine)) {
    const device = await openDevice(world, new Map(), { config: { appId: APP } })
    const login = await takeSafely(device, answer)
    const what = JSON.stringify(answer)
    if (login === undefined) {
      refused += 1
      t.is(device.files.size, 0, what)
    } else {
      taken += 1
      t.is((await login.ensureAccountRepo()).id, repoId, what)
      t.is(login.stash.children?.length, 1, what)
      await login.refresh()
    }
    await takeSafely(known, answer)
    t.deepEqual({ ...JSON.parse(known.files.get(path) ?? ''), lastLogin: undefined }, own, what)
  }
  t.true(refused > 100)
  t.true(taken > 10)

  await take(known, genuine)
  world.server.isOnline = false
  t.truthy(await loginWithPassword(known.services, known.stashes, ALICE))
  await settle()
})
