import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import { openJson } from '../../../../kernel/crypto/box.ts'
import { base58Of, parseBase58 } from '../../../../kernel/crypto/encoding.ts'
import { recoveryChange } from '../../../../kernel/login/changes.ts'
import type { Login } from '../../../../kernel/login/login.ts'
import { createLogin } from '../../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../../kernel/login/methods/key.ts'
import { loginWithPin } from '../../../../kernel/login/methods/pin.ts'
import {
  fetchRecoveryQuestions,
  listRecoveryQuestionChoices,
  loginWithRecovery
} from '../../../../kernel/login/methods/recovery.ts'
import type { LocalUser } from '../../../../kernel/types/login.ts'
import { type AliceDevice, createAlice, lastBody, openAlice, withLogin } from '../../../helpers/alice.ts'
import {
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle
} from '../../../helpers/login-device.ts'
import { ALICE } from '../../../helpers/login-methods.ts'

const QUESTIONS = ['Which river?', 'Which otter?']
const ANSWERS = ['the Weser', ' Ottilie ']
const RECOVERY = 'POST /api/v2/login/recovery2'

const recover = (
  { services, stashes }: LoginDevice,
  recoveryKey: string,
  options: object = {}
): Promise<Login> =>
  loginWithRecovery(services, stashes, {
    username: ALICE.username,
    answers: ANSWERS,
    recoveryKey,
    ...options
  })

/** Alice with her questions, and the recovery key that she wrote down. */
const makeRecoverable = async (): Promise<{ world: LoginWorld; alice: AliceDevice; key: string }> => {
  const world = makeLoginWorld()
  const alice = await createAlice(world)
  const key = await alice.credentials.changeRecovery(QUESTIONS, ANSWERS)
  return { world, alice, key }
}

test('recovery is set up with the request of the protocol, and a second set-up keeps the key [7.11]', async t => {
  const { world, alice, key } = await makeRecoverable()
  const { io } = alice.services
  const { data, ...auth } = lastBody(world, RECOVERY)
  t.deepEqual(Object.keys(auth).sort(), ['loginAuth', 'loginId'])
  t.deepEqual(Object.keys(data).sort(), [
    'question2Box',
    'recovery2Auth',
    'recovery2Box',
    'recovery2Id',
    'recovery2KeyBox'
  ])
  t.is(data.recovery2Auth.length, 2)
  t.deepEqual(openJson(io, parseBase58(key), data.question2Box), QUESTIONS)
  t.is(parseBase58(key).length, 32)
  t.is(alice.credentials.getRecoveryKey(), key)
  t.is(alice.login.stash.recovery2Key, io.crypto.toBase64(parseBase58(key)))

  t.is(await alice.credentials.changeRecovery(['Which bird?'], ['a heron']), key)
  t.is(lastBody(world, RECOVERY).data.recovery2Id, data.recovery2Id)
  await t.throwsAsync(recover(await openDevice(world), key), { code: 'PASSWORD' })
  t.is((await recover(await openDevice(world), key, { answers: ['a heron'] })).username, 'alice')
})

test('recovery answers open the whole account on a device that never saw it', async t => {
  const { world, key } = await makeRecoverable()
  const device = await openDevice(world)
  world.requests.length = 0
  const login = await recover(device, key, { challengeId: 'solved' })
  t.deepEqual(
    world.requests.map(({ route }) => route),
    ['POST /api/v2/login']
  )
  t.deepEqual(Object.keys(world.requests[0]?.body).sort(), ['challengeId', 'recovery2Auth', 'recovery2Id'])
  t.is(login.username, 'alice')
  t.is(
    login.tree.pin?.use(pin => pin),
    ALICE.pin
  )
  t.deepEqual(device.stages, ['recovery asking', 'recovery opening', 'recovery ready'])
  const [user] = (await openDevice(world, device.files)).stashes.localUsers()
  t.is(user?.recovery2Key, key)
  t.is(user?.username, 'alice')
})

test('recovery needs the server also where the device knows the account', async t => {
  const { world, alice, key } = await makeRecoverable()
  world.server.isOnline = false
  await t.throwsAsync(recover(alice, key), { code: 'NETWORK', message: /auth server: \/v2\/login$/ })
})

test('wrong, missing and swapped answers are a wrong password, by either code of the server', async t => {
  const { world, key } = await makeRecoverable()
  const device = await openDevice(world)
  for (const answers of [
    ['the weser', ANSWERS[1]],
    [ANSWERS[0]],
    [],
    [...ANSWERS].reverse(),
    ['the Weser', 'Ottilie']
  ]) {
    await t.throwsAsync(recover(device, key, { answers }), { code: 'PASSWORD', name: 'PasswordError' })
  }
  world.garble = () => ({ status_code: 5, message: 'Invalid Answers', results: { wait_seconds: 7 } })
  const error = await t.throwsAsync(recover(device, key), { code: 'PASSWORD' })
  t.deepEqual((error as unknown as { details: object }).details, { waitSeconds: 7 })
  t.is(device.files.size, 0)
})

test('the questions are fetched with only the recovery id; a login without recovery is an error [7.5] [8.76]', async t => {
  const { world, key } = await makeRecoverable()
  const { services } = await openDevice(world)
  world.requests.length = 0
  const user = { recoveryKey: key, username: ' ALICE ' }
  t.deepEqual(await fetchRecoveryQuestions(services, user), QUESTIONS)
  t.deepEqual(
    world.requests.map(({ route, body }) => [route, Object.keys(body)]),
    [['POST /api/v2/login', ['recovery2Id']]]
  )
  world.garble = (_, reply) => ({ ...reply, results: {} })
  await t.throwsAsync(fetchRecoveryQuestions(services, user), {
    code: 'RECOVERY_QUESTIONS_MISSING',
    message: 'Login has no recovery questions'
  })
  world.garble = undefined
  for (const wrong of [
    { ...user, username: 'bob' },
    { ...user, recoveryKey: base58Of(new Uint8Array(32)) }
  ]) {
    await t.throwsAsync(fetchRecoveryQuestions(services, wrong), { code: 'ACCOUNT_NOT_FOUND' })
  }
})

test('the server suggests questions of five categories, each with the length of a good answer [3.32] [7.20]', async t => {
  const world = makeLoginWorld()
  const { services } = await openDevice(world)
  const choices = await listRecoveryQuestionChoices(services)
  t.deepEqual(world.requests, [{ route: 'POST /api/v1/questions', body: {} }])
  t.deepEqual([...new Set(choices.map(({ category }) => category))].sort(), [
    'address',
    'must',
    'numeric',
    'recovery2',
    'string'
  ])
  for (const { minLength, question } of choices) t.true(minLength > 0 && question.endsWith('?'))

  const choice = { category: 'must', min_length: 4, question: 'Who?' }
  for (const wrong of [{ category: 7 }, { min_length: '4' }, { question: null }]) {
    world.garble = (_, reply) => ({ ...reply, results: [{ ...choice, ...wrong }] })
    await t.throwsAsync(listRecoveryQuestionChoices(services), { code: 'BAD_REPLY' })
  }
  world.garble = (_, reply) => ({ ...reply, results: [{ ...choice, category: 'riddle' }, choice] })
  t.deepEqual(await listRecoveryQuestionChoices(services), [
    { category: 'must', minLength: 4, question: 'Who?' }
  ])
})

test('recovery requires a username: to log in, to fetch questions, and for the set-up [5.14] [8.58]', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const expected = { code: 'RECOVERY_USERNAME_REQUIRED', message: 'Recovery login requires a username' }
  const recoveryKey = base58Of(new Uint8Array(32))
  for (const username of ['', ' \t ']) {
    await t.throwsAsync(recover(device, recoveryKey, { username }), expected)
    await t.throwsAsync(fetchRecoveryQuestions(device.services, { recoveryKey, username }), expected)
  }
  t.deepEqual(world.requests, [])
  const light = withLogin(device, await createLogin(device.services, device.stashes, {}))
  await t.throwsAsync(light.credentials.changeRecovery(QUESTIONS, ANSWERS), expected)
  const { held } = light.login.getSnapshot()
  const recovery = { questions: QUESTIONS, answers: new Secret(ANSWERS) }
  const ofApp = { ...held, isRoot: false, username: 'alice' }
  t.throws(() => recoveryChange(device.services.io, ofApp, recovery), expected)
})

test('for recovery and PIN, the error names a box that the server withholds or lacks [5.15]', async t => {
  const { world, alice, key } = await makeRecoverable()
  const before = JSON.stringify([...alice.files])
  for (const kept of [true, undefined]) {
    world.garble = (_, reply) => ({
      ...reply,
      results: { ...reply.results, recovery2Box: kept, pin2Box: kept }
    })
    await t.throwsAsync(recover(alice, key), {
      code: 'LOGIN_DATA_MISSING',
      message: 'Missing data for recovery v2 login'
    })
    await t.throwsAsync(loginWithPin(alice.services, alice.stashes, ALICE), {
      code: 'LOGIN_DATA_MISSING',
      message: 'Missing data for PIN v2 login'
    })
  }
  t.is(JSON.stringify([...alice.files]), before)
})

test('questions and answers must be arrays of strings, one to each, before anything is sent [5.16]', async t => {
  const { world, alice, key } = await makeRecoverable()
  world.requests.length = 0
  const refused: [unknown, unknown][] = [
    ['Which river?', ANSWERS],
    [QUESTIONS, 'the Weser'],
    [QUESTIONS, undefined],
    [[1, 2], ANSWERS],
    [QUESTIONS, ['the Weser', null]],
    [QUESTIONS, ['the Weser', '\ud800']],
    [QUESTIONS, ['the Weser']],
    [[], []]
  ]
  for (const [questions, answers] of refused) {
    const error = { code: 'OPTION_INVALID', message: /must be (an array of strings|one to each question)$/ }
    await t.throwsAsync(alice.credentials.changeRecovery(questions as string[], answers as string[]), error)
  }
  for (const answers of ['the Weser', [1], undefined, [{}]]) {
    await t.throwsAsync(recover(alice, key, { answers }), {
      code: 'OPTION_INVALID',
      message: 'The answers must be an array of strings'
    })
  }
  t.deepEqual(world.requests, [])
})

test('a text that is no recovery key is refused without repeating it', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  for (const recoveryKey of ['', 'no key!', base58Of(new Uint8Array(31)), '1'.repeat(600)]) {
    const error = await t.throwsAsync(recover(device, recoveryKey), { code: 'OPTION_INVALID' })
    t.is(error?.message, 'The recoveryKey must be base58 of 32 bytes')
  }
  t.deepEqual(world.requests, [])
})

test('without recovery there is no recovery key, before it is set up and after it is deleted [8.75]', async t => {
  const world = makeLoginWorld()
  const alice = await createAlice(world)
  const missing = { code: 'RECOVERY_KEY_MISSING', message: 'Missing recoveryKey' }
  t.throws(() => alice.credentials.getRecoveryKey(), missing)
  const key = await alice.credentials.changeRecovery(QUESTIONS, ANSWERS)
  const other = await openAlice(world)
  t.is(other.credentials.getRecoveryKey(), key)

  await alice.credentials.deleteRecovery()
  const deletion = lastBody(world, 'DELETE /api/v2/login/recovery2')
  t.deepEqual(Object.keys(deletion).sort(), ['loginAuth', 'loginId', 'syncToken'])
  t.throws(() => alice.credentials.getRecoveryKey(), missing)
  t.is(alice.stashes.localUsers()[0]?.recovery2Key, undefined)
  await other.login.refresh()
  t.throws(() => other.credentials.getRecoveryKey(), missing)
  await t.throwsAsync(recover(await openDevice(world), key), { code: 'ACCOUNT_NOT_FOUND' })
  t.not(await alice.credentials.changeRecovery(QUESTIONS, ANSWERS), key)
})

test('a local user has a name, an id, its last login, login methods, recovery key and voucher [3.13]', async t => {
  const { world, alice, key } = await makeRecoverable()
  await alice.twoFactor.enableOtp()
  const device = await openDevice(world)
  await t.throwsAsync(recover(device, key), { code: 'OTP' })
  const [stranger] = device.stashes.localUsers()
  const voucherId = stranger?.voucherId
  t.truthy(voucherId)
  t.like(stranger, { username: 'alice', isPinLoginEnabled: false, isKeyLoginEnabled: false })

  await recover(device, key, { otpKey: alice.twoFactor.getOtpKey() })
  const user = {
    loginId: alice.login.rootLoginId,
    username: 'alice',
    lastLogin: new Date(world.clock.now()),
    isPinLoginEnabled: true,
    isKeyLoginEnabled: true,
    voucherId
  }
  t.deepEqual(device.stashes.localUsers(), [user as LocalUser])
  t.is(device.stashes.localUsers()[0]?.recovery2Key, key)
})

test('with hidden keys recovery is neither changed nor shown, but it logs in', async t => {
  const { world, alice, key } = await makeRecoverable()
  const device = await openDevice(world, alice.files, { config: { hideKeys: true } })
  t.is(device.stashes.localUsers()[0]?.recovery2Key, undefined)
  const { credentials } = withLogin(device, await recover(device, key))
  const hidden = { code: 'HIDDEN_KEYS' }
  t.throws(() => credentials.getRecoveryKey(), hidden)
  await t.throwsAsync(credentials.changeRecovery(QUESTIONS, ANSWERS), hidden)
  await t.throwsAsync(credentials.deleteRecovery(), hidden)
})

test('a set-up whose reply is lost is found by the next refresh', async t => {
  const world = makeLoginWorld()
  const alice = await createAlice(world)
  world.loseReplyOf = RECOVERY
  await t.throwsAsync(alice.credentials.changeRecovery(QUESTIONS, ANSWERS), { code: 'NETWORK' })
  await settle()
  const key = alice.credentials.getRecoveryKey()
  t.is((await recover(await openDevice(world), key)).username, 'alice')
})

test('neither answers nor recovery key reach the disk as typed, the log, a hook or the server', async t => {
  const { world, alice, key } = await makeRecoverable()
  const device = await openDevice(world)
  await recover(device, key)
  const said = [alice, device].map(({ logLines, stages, reports, files }) =>
    JSON.stringify([logLines, stages, reports, ...files])
  )
  const sent = JSON.stringify(world.requests)
  for (const secret of [...ANSWERS, key, ...QUESTIONS]) {
    t.false(sent.includes(secret))
    for (const text of said) t.false(text.includes(secret))
  }
})

test('the login of an app alone has no recovery', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world, new Map(), { config: { appId: 'app' } })
  const root = await createAlice(world, { device })
  await root.login.ensureAccountRepo()
  root.login.close()
  const app = await loginWithKey(device.services, device.stashes, {
    username: ALICE.username,
    loginKey: (await openAlice(world, { device })).login.rootLoginKeyBase58()
  })
  t.true(app.isEdgeLogin)
  await t.throwsAsync(withLogin(device, app).credentials.changeRecovery(QUESTIONS, ANSWERS), {
    code: 'RECOVERY_USERNAME_REQUIRED'
  })
})
