import type { ExecutionContext } from 'ava'
import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { lobbyBoxKeyOf, makeLobbyKeys } from '../../../kernel/crypto/lobby-key.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { sealLobbyReply } from '../../../kernel/login/lobby.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { requestEdgeLogin } from '../../../kernel/login/methods/edge.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { fetchRecoveryQuestions, loginWithRecovery } from '../../../kernel/login/methods/recovery.ts'
import { createAlice } from '../../helpers/alice.ts'
import { CHEAP, makeLoginWorld, openDevice, settle } from '../../helpers/login-device.ts'
import { ALICE } from '../../helpers/login-methods.ts'

const PIN = '4711'
const QUESTIONS = ['Which river?', 'Which otter?']
const ANSWERS = ['the Weser', 'Ottilie']

/** Every secret that is read from now on. The tests run one after another, as all secrets of the process are seen. */
const watchSecrets = (t: ExecutionContext): Set<Secret<unknown>> => {
  const read = new Set<Secret<unknown>>()
  const { use } = Secret.prototype
  Secret.prototype.use = function watched<R>(this: Secret<unknown>, reader: (value: unknown) => R): R {
    read.add(this)
    return use.call(this, reader as (value: unknown) => unknown) as R
  }
  t.teardown(() => {
    Secret.prototype.use = use
  })
  return read
}

const alive = (secrets: Iterable<Secret<unknown>>): number => [...secrets].filter(one => one.isAlive).length

/** Alice with a PIN, wallets and recovery. */
const makeAlice = async () => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  const recoveryKey = await owner.credentials.changeRecovery(QUESTIONS, ANSWERS)
  await owner.credentials.changePIN({ pin: PIN })
  await owner.login.addWalletInfos([makeWalletInfo(owner.services.io, 'wallet:toy', { toyKey: 'x' })])
  return { world, owner, recoveryKey }
}

test.serial('of a login by any method every secret that was read is gone after the logout', async t => {
  const { world, owner, recoveryKey } = await makeAlice()
  const loginKey = owner.login.rootLoginKeyBase58()
  const name = { username: ALICE.username }
  const methods: Record<string, (device: Awaited<ReturnType<typeof openDevice>>) => Promise<Login>> = {
    password: ({ services, stashes }) =>
      loginWithPassword(services, stashes, { ...name, password: ALICE.password }),
    PIN: ({ services, stashes }) => loginWithPin(services, stashes, { ...name, pin: PIN }),
    key: ({ services, stashes }) => loginWithKey(services, stashes, { ...name, loginKey }),
    recovery: ({ services, stashes }) =>
      loginWithRecovery(services, stashes, { ...name, answers: ANSWERS, recoveryKey })
  }
  for (const [method, enter] of Object.entries(methods)) {
    const device = await openDevice(world, new Map(owner.files))
    const read = watchSecrets(t)
    const login = await enter(device)
    await settle()
    await login.refresh()
    await login.addWalletInfos([makeWalletInfo(device.services.io, 'wallet:toy', { toyKey: 'y' })])
    t.true(alive(read) > 0, method)
    login.close()
    await settle()
    t.is(alive(read), 0, method)
  }
})

test.serial('of a login that fails, or a look at its questions, no secret that was read stays', async t => {
  const { world, owner, recoveryKey } = await makeAlice()
  const name = { username: ALICE.username }
  const { services, stashes } = await openDevice(world, new Map(owner.files))
  const read = watchSecrets(t)
  await t.throwsAsync(loginWithPassword(services, stashes, { ...name, password: 'wrong' }))
  await t.throwsAsync(loginWithPin(services, stashes, { ...name, pin: '0000' }))
  await t.throwsAsync(loginWithRecovery(services, stashes, { ...name, answers: ['a', 'b'], recoveryKey }))
  t.deepEqual(await fetchRecoveryQuestions(services, { ...name, recoveryKey }), QUESTIONS)
  world.garble = (route, reply) => (route === 'POST /api/v2/login' ? { ...reply, results: {} } : reply)
  await t.throwsAsync(loginWithRecovery(services, stashes, { ...name, answers: ANSWERS, recoveryKey }))
  await settle()
  t.true(read.size >= 5)
  t.is(alive(read), 0)
})

test.serial('of a login request the private key goes when it ends, also if it never began', async t => {
  const world = makeLoginWorld()
  const { services, stashes } = await openDevice(world)
  const drawn: Uint8Array[] = []
  const watching = {
    ...services,
    io: {
      ...services.io,
      random: (count: number) => {
        const bytes = services.io.random(count)
        drawn.push(bytes)
        return bytes
      }
    }
  }
  const isWiped = (bytes: Uint8Array | undefined): boolean => bytes?.every(byte => byte === 0) === true
  const plan = { open: async (login: Login) => login }
  const request = await requestEdgeLogin(watching, stashes, plan)
  t.false(isWiped(drawn[0]))
  request.cancel()
  t.true(isWiped(drawn[0]))
  await settle()
  t.is(world.clock.timerCount, 0)
  drawn.length = 0
  world.server.isOnline = false
  await t.throwsAsync(requestEdgeLogin(watching, stashes, plan), { code: 'NETWORK' })
  t.true(isWiped(drawn[0]))
})

test.serial('of a reply to a lobby neither the private key nor that of its box stays', async t => {
  const { services } = await openDevice(makeLoginWorld())
  const { io } = services
  const { privateKey, publicKey } = makeLobbyKeys(io)
  const drawn: Uint8Array[] = []
  const made: Uint8Array[] = []
  const random = (count: number): Uint8Array => {
    const bytes = io.random(count)
    drawn.push(bytes)
    return bytes
  }
  const crypto = {
    ...io.crypto,
    hmacSha256: (key: Uint8Array, message: Uint8Array) => {
      const bytes = io.crypto.hmacSha256(key, message)
      made.push(bytes)
      return bytes
    }
  }
  const request = { publicKey: io.crypto.toBase64(publicKey), timeout: 600 }
  const reply = sealLobbyReply({ crypto, random }, request, { text: 'for you' })
  t.truthy(lobbyBoxKeyOf(io, privateKey, io.crypto.fromBase64(reply.publicKey)))
  const [ownKey] = drawn
  const [boxKey] = made
  for (const bytes of [ownKey, boxKey]) t.true(bytes?.every(byte => byte === 0))
})

test.serial('of an account that is made, nothing that was typed stays', async t => {
  const { services, stashes } = await openDevice(makeLoginWorld())
  const read = watchSecrets(t)
  const login = await createLogin(services, stashes, { ...ALICE, pin: PIN, snrp: CHEAP })
  login.close()
  await settle()
  t.is(alive(read), 0)
})

test.serial('of wallets that are attached again, or refused, no secret stays after the logout', async t => {
  const { owner } = await makeAlice()
  const info = makeWalletInfo(owner.services.io, 'wallet:toy', { toyKey: 'y' })
  await owner.login.addWalletInfos([info])
  const read = watchSecrets(t)
  await owner.login.addWalletInfos([info])
  const other = { ...info, keys: { ...info.keys, toyKey: 'z' } }
  await t.throwsAsync(owner.login.addWalletInfos([other]), { code: 'KEY_INTEGRITY' })
  t.true(alive(read) > 0)
  owner.login.close()
  await settle()
  t.is(alive(read), 0)
})
