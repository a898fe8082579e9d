import test from 'ava'
import { WalletError } from '../../../../kernel/base/errors.ts'
import type { Json } from '../../../../kernel/base/json.ts'
import { Scheduler } from '../../../../kernel/base/scheduler.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import { lobbyIdOf, makeLobbyKeys } from '../../../../kernel/crypto/lobby-key.ts'
import {
  deleteLobby,
  fetchLobby,
  getLobby,
  postLobbyReply,
  putLobby,
  sealLobbyReply
} from '../../../../kernel/login/lobby.ts'
import type { Login } from '../../../../kernel/login/login.ts'
import { createLogin } from '../../../../kernel/login/methods/create.ts'
import { type EdgeLoginRequest, requestEdgeLogin } from '../../../../kernel/login/methods/edge.ts'
import { acceptLogin } from '../../../../kernel/login/methods/edge-reply.ts'
import { loginWithKey } from '../../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../../kernel/login/methods/pin.ts'
import { parseStashFile } from '../../../../kernel/login/stash.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  NO_RULES,
  openDevice,
  settle,
  type Untyped
} from '../../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse' }
const PIN = '4711'
const APP = 'test.app'

const makeAccount = ({ services, stashes }: LoginDevice, options: object = {}): Promise<Login> =>
  createLogin(services, stashes, { ...ALICE, pin: PIN, snrp: CHEAP, ...options })

/** A world with Alice, logged in to her root login on a phone. */
const makeAlice = async (
  config: object = {}
): Promise<{ world: LoginWorld; phone: LoginDevice; alice: Login }> => {
  const world = makeLoginWorld()
  const phone = await openDevice(world, new Map(), { config })
  const alice = await makeAccount(phone)
  await alice.ensureAccountRepo()
  await alice.refresh()
  return { world, phone, alice }
}

interface PendingQuery {
  readonly device: LoginDevice
  readonly request: EdgeLoginRequest<Login>
  /** Each state that the hook told, with its error code. */
  readonly states: string[]
}

/** A device that asks to be let in. */
const query = async (
  world: LoginWorld,
  options: { appId?: string; files?: Map<string, string>; timeoutSeconds?: number } = {}
): Promise<PendingQuery> => {
  const { appId = APP, files = new Map(), ...rest } = options
  const device = await openDevice(world, files, { config: { appId } })
  const states: string[] = []
  device.services.hooks.lobbyChanged.tap('test', ({ state, username = '', errorCode = '' }) => {
    states.push([state, username, errorCode].filter(word => word !== '').join(' '))
  })
  const plan = { ...rest, open: async (login: Login) => login }
  return { device, request: await requestEdgeLogin(device.services, device.stashes, plan), states }
}

const read = (device: LoginDevice, login: Login, lobbyId: string) =>
  fetchLobby(
    device.services,
    { login, scheduler: new Scheduler(device.services.io.clock), rules: NO_RULES },
    lobbyId
  )

const approve = async (device: LoginDevice, login: Login, lobbyId: string): Promise<void> => {
  const { loginRequest } = await read(device, login, lobbyId)
  await loginRequest?.approve()
}

/** Lets the asking device look again. */
const poll = async (world: LoginWorld): Promise<void> => {
  await world.clock.advance(1000)
  await settle()
}

/** What anybody can do who has seen a lobby's id. */
const reply = async ({ services }: LoginDevice, lobbyId: string, answer: Json): Promise<void> => {
  const { request } = await getLobby(services, lobbyId)
  await postLobbyReply(services, lobbyId, sealLobbyReply(services.io, request, answer))
}

const routesOf = (world: LoginWorld, route: string): Untyped[] =>
  world.requests.filter(request => request.route.startsWith(route)).map(({ body }) => body)

const fileOf = (device: LoginDevice): Untyped => {
  const found = [...device.files].find(([path]) => path.startsWith('logins/'))
  return JSON.parse(found?.[1] ?? '{}')
}

const BOXES = ['loginAuthBox', 'passwordAuthBox', 'passwordBox', 'keyBoxes', 'pin2Key', 'parentBox']

test('another device approves a device, which gets a login for its app [1.3] [3.34] [3.35] [4.13] [6.7] [7.22] [7.23] [7.24]', async t => {
  const { world, phone, alice } = await makeAlice()
  await alice.ensureAccountRepo('other.app')
  world.requests.length = 0
  const { device, request, states } = await query(world)
  await settle()

  const [put] = routesOf(world, `PUT /api/v2/lobby/${request.lobbyId}`)
  t.deepEqual(Object.keys(put), ['data'])
  t.deepEqual(put.data, { loginRequest: { appId: APP }, publicKey: put.data.publicKey, timeout: 600 })
  t.is(Buffer.from(put.data.publicKey, 'base64').length, 33)
  t.deepEqual(request.getSnapshot(), { lobbyId: request.lobbyId, state: 'pending' })

  await approve(phone, alice, request.lobbyId)
  const [posted] = routesOf(world, `POST /api/v2/lobby/${request.lobbyId}`)
  t.deepEqual(Object.keys(posted.data).sort(), ['box', 'publicKey'])
  t.is(Buffer.from(posted.data.publicKey, 'base64').length, 33)
  t.notRegex(JSON.stringify(posted), /test\.app|alice/)
  const [created] = routesOf(world, 'POST /api/v2/login/create')
  t.is(created.data.appId, APP)
  t.truthy(created.data.parentBox)
  t.truthy(created.data.pin2Id)

  await poll(world)
  const login = await request.account
  t.deepEqual(states, ['pending', 'started alice', 'done alice'])
  t.is(login.tree.appId, APP)
  t.is(login.username, 'alice')
  t.is(login.rootLoginId, alice.rootLoginId)
  t.is((await login.ensureAccountRepo()).type, `account-repo:${APP}`)
  t.deepEqual(device.stages, ['edge asking', 'edge opening', 'edge ready'])
  t.deepEqual(device.reports, [])

  const gets = routesOf(world, 'GET /api/v2/lobby').length
  await world.clock.advance(10_000)
  t.is(routesOf(world, 'GET /api/v2/lobby').length, gets)
  await world.clock.advance(20_000)
  t.is(world.clock.timerCount, 0)
})

test('a request is pending, then started with the name, then done; or it ends as error or closed [4.12] [4.13]', async t => {
  const { world, phone, alice } = await makeAlice()
  const requested = await Promise.all([query(world), query(world), query(world, { timeoutSeconds: 30 })])
  const [approved, cancelled, forgotten] = requested
  await settle()
  for (const { request } of requested) t.is(request.getSnapshot().state, 'pending')
  await approve(phone, alice, approved.request.lobbyId)
  cancelled.request.cancel()
  await world.clock.advance(30_000)
  await settle()
  t.is((await approved.request.account).username, 'alice')
  t.deepEqual(approved.states, ['pending', 'started alice', 'done alice'])
  t.deepEqual(cancelled.states, ['pending', 'closed'])
  t.deepEqual(forgotten.states, ['pending', 'error EDGE_LOGIN_EXPIRED'])
})

test('an approved device gets only the name of the account and the login of its app [6.5]', async t => {
  const { world, phone, alice } = await makeAlice()
  await alice.ensureAccountRepo('other.app')
  const { device, request } = await query(world)
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  const login = await request.account
  t.true(login.isEdgeLogin)
  t.false(alice.isEdgeLogin)

  const root = fileOf(device)
  t.is(root.username, 'alice')
  t.is(root.appId, '')
  for (const field of BOXES) t.false(field in root, field)
  t.deepEqual(
    root.children.map(({ appId }: Untyped) => appId),
    [APP]
  )
  for (const field of ['loginAuthBox', 'keyBoxes', 'pin2Key', 'parentBox']) {
    t.true(field in root.children[0], field)
  }
  t.truthy(root.lastLogin ?? root.children[0].lastLogin)

  const known = world.requests.length
  await t.throwsAsync(
    login.moveToServer(async () => t.fail('files were sent')),
    { code: 'APP_ID_NOT_FOUND' }
  )
  t.is(world.requests.length, known)
})

test('the login of an app comes back by its key and by its PIN, and leads to the same repo as the root [6.5]', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world)
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  const login = await request.account
  const loginKey = login.rootLoginKeyBase58()
  login.close()

  const again = await openDevice(world, device.files, { config: { appId: APP } })
  t.is(again.stashes.localUsers()[0]?.isPinLoginEnabled, true)
  const byKey = await loginWithKey(again.services, again.stashes, { username: 'alice', loginKey })
  t.true(byKey.isEdgeLogin)
  await settle()
  const byPin = await loginWithPin(again.services, again.stashes, { username: 'alice', pin: PIN })
  t.true(byPin.isEdgeLogin)
  t.is((await byPin.ensureAccountRepo()).id, (await alice.ensureAccountRepo(APP)).id)

  const byPassword = await loginWithPassword(again.services, again.stashes, ALICE)
  t.false(byPassword.isEdgeLogin)
  t.is((await byPassword.ensureAccountRepo()).id, (await alice.ensureAccountRepo(APP)).id)
  t.is(fileOf(again).children.length, 1)
})

test('approving the app without a name sends the whole account', async t => {
  const { world, phone, alice } = await makeAlice()
  await alice.ensureAccountRepo('other.app')
  const { device, request } = await query(world, { appId: '' })
  const { loginRequest } = await read(phone, alice, request.lobbyId)
  t.true(loginRequest?.isWholeAccount)
  await loginRequest?.approve()
  await poll(world)
  const login = await request.account
  t.false(login.isEdgeLogin)
  t.is(fileOf(device).children.length, 1)
  t.truthy(fileOf(device).passwordBox)
  const offline = await openDevice(world, device.files)
  const known = await loginWithPassword(offline.services, offline.stashes, ALICE)
  t.is((await known.ensureAccountRepo()).id, (await alice.ensureAccountRepo()).id)
})

test('the lobby is polled at once and then 1000 ms after the end of each poll [7.28] [9.3] [9.4]', async t => {
  const world = makeLoginWorld()
  let isSlow = false
  world.server.use(async ({ method }, next) => {
    const answer = await next()
    if (isSlow && method === 'GET') await new Promise<void>(resolve => void world.clock.after(5000, resolve))
    return answer
  })
  await query(world)
  await settle()
  const count = (): number => routesOf(world, 'GET /api/v2/lobby').length
  t.is(count(), 1)
  await world.clock.advance(999)
  t.is(count(), 1)
  await world.clock.advance(1)
  t.is(count(), 2)
  isSlow = true
  await world.clock.advance(1000)
  t.is(count(), 3)
  await world.clock.advance(5999)
  t.is(count(), 3)
  await world.clock.advance(1)
  t.is(count(), 4)
})

test('a lobby without a given time lasts 600 seconds [9.4]', async t => {
  const { world, phone } = await makeAlice()
  const { io } = phone.services
  const { publicKey } = makeLobbyKeys(io)
  const lobbyId = lobbyIdOf(io, publicKey)
  await putLobby(phone.services, lobbyId, { publicKey: io.crypto.toBase64(publicKey) })
  await world.clock.advance(599_999)
  t.is((await getLobby(phone.services, lobbyId)).request.timeout, undefined)
  await world.clock.advance(1)
  await t.throwsAsync(getLobby(phone.services, lobbyId), { code: 'LOBBY_NOT_FOUND' })
})

test('a request ends after 600 seconds, or the time that it was given, and so does its lobby [9.4]', async t => {
  const world = makeLoginWorld()
  for (const [timeoutSeconds, seconds] of [
    [undefined, 600],
    [30, 30]
  ] as const) {
    const { device, request, states } = await query(
      world,
      timeoutSeconds === undefined ? {} : { timeoutSeconds }
    )
    t.is(routesOf(world, 'PUT').at(-1).data.timeout, seconds)
    await world.clock.advance(seconds * 1000 - 1)
    t.is(request.getSnapshot().state, 'pending')
    t.truthy(await getLobby(device.services, request.lobbyId))
    await world.clock.advance(1)
    t.is(states.at(-1), 'error EDGE_LOGIN_EXPIRED')
    await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_EXPIRED' })
    await t.throwsAsync(getLobby(device.services, request.lobbyId), { code: 'LOBBY_NOT_FOUND' })
    const count = world.requests.length
    await world.clock.advance(60_000)
    t.is(world.requests.length, count)
    t.is(world.clock.timerCount, 0)
    request.cancel()
    t.is(request.getSnapshot().state, 'error')
  }
})

test('a request refuses an invalid time', async t => {
  const world = makeLoginWorld()
  for (const timeoutSeconds of [0, 0.999, -1, Number.NaN, Number.POSITIVE_INFINITY, 86_401]) {
    await t.throwsAsync(query(world, { timeoutSeconds }), { code: 'OPTION_INVALID' }, `${timeoutSeconds}`)
  }
  t.deepEqual(world.requests, [])
  for (const timeoutSeconds of [1, 86_400]) {
    const { request } = await query(world, { timeoutSeconds })
    t.is(request.getSnapshot().state, 'pending')
    request.cancel()
  }
})

test('an unstable network does not end a request; the snapshot shows the error that delays it', async t => {
  const { world, phone, alice } = await makeAlice()
  const { request, states } = await query(world)
  await settle()
  world.server.isOnline = false
  await poll(world)
  await poll(world)
  t.is(request.getSnapshot().errorCode, 'NETWORK')
  world.server.isOnline = true
  await poll(world)
  t.is(request.getSnapshot().errorCode, undefined)

  await approve(phone, alice, request.lobbyId)
  let failures = 2
  world.garble = (route, answer) => {
    if (route !== 'POST /api/v2/login' || failures === 0) return answer
    failures -= 1
    return '<html>Bad gateway</html>'
  }
  await poll(world)
  t.is(request.getSnapshot().errorCode, 'INVALID_JSON')
  await poll(world)
  await poll(world)
  await request.account
  t.deepEqual(states, [
    'pending',
    'pending NETWORK',
    'pending',
    'pending INVALID_JSON',
    'started alice',
    'done alice'
  ])
})

test('invalid replies of strangers are skipped, and the valid one is used', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world)
  const { lobbyId } = request
  const { services } = phone
  const { request: requested } = await getLobby(services, lobbyId)
  const other = await query(world)
  const { request: foreign } = await getLobby(services, other.request.lobbyId)
  const genuine = { appId: APP, loginKey: `${'A'.repeat(43)}=`, loginStash: {} }
  const root = { appId: '', loginId: `${'A'.repeat(43)}=`, username: 'alice', pendingVouchers: [] }
  const child = { ...root, appId: APP, loginId: `${'B'.repeat(42)}A=` }
  const answers: Json[] = [
    'text',
    null,
    [],
    genuine,
    { ...genuine, loginKey: 'AAAA' },
    { ...genuine, loginStash: { ...root, username: 'alicé', children: [child] } },
    { ...genuine, loginStash: { ...root, appId: APP } },
    { ...genuine, loginStash: { ...root, children: [child] } },
    { ...genuine, loginStash: JSON.parse(`${'{"children":['.repeat(70)}{}${']}'.repeat(70)}`) },
    JSON.parse(`{"appId":"","loginKey":"","loginStash":{"__proto__":{"isRoot":true}}}`)
  ]
  for (const answer of answers) await reply(phone, lobbyId, answer)
  await postLobbyReply(services, lobbyId, sealLobbyReply(services.io, foreign, genuine))
  const { box } = sealLobbyReply(services.io, requested, genuine)
  const publicKey = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff)]).toString('base64')
  await postLobbyReply(services, lobbyId, { box, publicKey })
  await poll(world)
  t.is(request.getSnapshot().state, 'pending')
  t.truthy(request.getSnapshot().errorCode)
  t.is(device.files.size, 0)
  const warnings = device.logLines.length
  await poll(world)
  t.is(device.logLines.length, warnings)

  await approve(phone, alice, lobbyId)
  await poll(world)
  t.is((await request.account).tree.appId, APP)
})

test('a login that the server does not know, or that has another key, is not kept', async t => {
  const { world, phone, alice } = await makeAlice()
  await alice.ensureAccountRepo(APP)
  const { device, request } = await query(world)
  const stash = JSON.parse(phone.files.get(`logins/${alice.rootLoginId}.json`) ?? '')
  const { tree } = await openedApp(world, phone)
  const key = tree.loginKey.use(bytes => Buffer.from(bytes).toString('base64'))
  const swapped = JSON.parse(JSON.stringify(stash))
  swapped.children[0].loginId = `${'B'.repeat(42)}A=`
  await reply(phone, request.lobbyId, { appId: APP, loginKey: key, loginStash: swapped })
  await reply(phone, request.lobbyId, { appId: APP, loginKey: `${'A'.repeat(43)}=`, loginStash: stash })
  await poll(world)
  t.is(request.getSnapshot().state, 'pending')
  t.deepEqual(
    device.stages.filter(stage => stage.includes('failed')),
    ['edge failed ACCOUNT_NOT_FOUND', 'edge failed INVALID_CHECKSUM']
  )
  t.is(device.files.size, 0)
  await poll(world)
  t.is(device.stages.filter(stage => stage.includes('failed')).length, 2, 'each is tried once')
})

/** Alice's login of the app, on the device of her root login. */
const openedApp = async (world: LoginWorld, phone: LoginDevice): Promise<Login> => {
  const device = await openDevice(world, new Map(phone.files), { config: { appId: APP } })
  const login = await loginWithPassword(device.services, device.stashes, ALICE)
  await login.ensureAccountRepo()
  return login
}

test("a stranger's account without the app is skipped and named, and the request stays open [8.66]", async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request, states } = await query(world)
  const root = { appId: '', loginId: `${'A'.repeat(43)}=`, pendingVouchers: [] }
  await reply(phone, request.lobbyId, { appId: APP, loginKey: `${'A'.repeat(43)}=`, loginStash: root })
  await poll(world)
  const { lobbyId } = request
  const skipped = { lobbyId, state: 'pending', errorCode: 'APP_ID_NOT_FOUND', skippedReplies: 1 } as const
  t.deepEqual(request.getSnapshot(), skipped)
  const reported = device.logLines.filter(line => line.includes('Cannot find requested appId: "test.app"'))
  t.is(reported.length, 1)
  t.is(device.files.size, 0)
  await poll(world)
  t.deepEqual(request.getSnapshot(), skipped)

  await approve(phone, alice, lobbyId)
  await poll(world)
  t.is((await request.account).username, 'alice')
  t.deepEqual(states, ['pending', 'pending APP_ID_NOT_FOUND', 'started alice', 'done alice'])
})

test("a stranger's account with two-factor is skipped, and is no user of the device", async t => {
  const { world, phone, alice } = await makeAlice()
  const laptop = await openDevice(world)
  const mallory = await createLogin(laptop.services, laptop.stashes, {
    ...{ username: 'mallory', password: 'something else', snrp: CHEAP }
  })
  await mallory.ensureAccountRepo(APP)
  const record = world.server.db.login(mallory.stash.loginId)
  if (record === undefined) throw new Error('The server has no login')
  world.server.db.saveLogin({ ...record, otpKey: 'MFRGGZDFMZTWQ2LK', otpTimeout: 604_800 })
  const { device, request, states } = await query(world, { appId: '' })
  const key = mallory.getSnapshot().held.loginKey.use(bytes => Buffer.from(bytes).toString('base64'))
  const loginStash = JSON.parse(laptop.files.get(`logins/${mallory.rootLoginId}.json`) ?? '')
  for (let count = 0; count < 3; count += 1) {
    await reply(laptop, request.lobbyId, { appId: '', loginKey: key, loginStash })
  }
  await poll(world)
  t.is(request.getSnapshot().state, 'pending')
  t.is(request.getSnapshot().errorCode, 'OTP')
  t.is(request.getSnapshot().skippedReplies, 3)
  t.is(device.files.size, 0)
  t.deepEqual(device.stashes.list(), [])

  await approve(phone, alice, request.lobbyId)
  await poll(world)
  t.is((await request.account).username, 'alice')
  t.deepEqual(
    device.stashes.list().map(({ username }) => username),
    ['alice']
  )
  t.deepEqual(states.slice(-2), ['started alice', 'done alice'])
})

test('a request shows the username before it keeps anything of the account', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world)
  const kept: number[] = []
  request.subscribe(() => {
    if (request.getSnapshot().state === 'started') kept.push(device.files.size)
  })
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  await request.account
  t.deepEqual(kept, [0])
  t.true(device.files.size > 0)
})

test('an account that does not open leaves nothing, and the request stays open until its time is over', async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { appId: APP } })
  const keptAtOpening: number[] = []
  const request = await requestEdgeLogin<Login>(device.services, device.stashes, {
    timeoutSeconds: 30,
    async open(login) {
      keptAtOpening.push(device.files.size)
      login.close()
      throw new WalletError('KEY_INTEGRITY', { rule: 'its repo is none' })
    }
  })
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  t.true((keptAtOpening[0] ?? 0) > 0)
  t.is(request.getSnapshot().state, 'pending')
  t.is(request.getSnapshot().errorCode, 'KEY_INTEGRITY')
  t.is(device.files.size, 0)
  t.deepEqual(device.stashes.list(), [])
  await poll(world)
  t.is(keptAtOpening.length, 1)
  await world.clock.advance(30_000)
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_EXPIRED' })
  t.deepEqual(device.reports, [])
})

test('a lost lobby and a full disk end a request as error', async t => {
  const { world, phone, alice } = await makeAlice()
  const lost = await query(world)
  await settle()
  await deleteLobby(phone.services, lost.request.lobbyId)
  await poll(world)
  await t.throwsAsync(lost.request.account, { code: 'LOBBY_NOT_FOUND' })
  t.is(lost.states.at(-1), 'error LOBBY_NOT_FOUND')

  const full = await query(world)
  const set = full.device.files.set.bind(full.device.files)
  full.device.files.set = () => {
    throw new WalletError('STORAGE_FULL', { path: 'logins' })
  }
  await approve(phone, alice, full.request.lobbyId)
  await poll(world)
  await t.throwsAsync(full.request.account, { code: 'STORAGE_FULL' })
  t.deepEqual(full.states.slice(-2), ['started alice', 'error alice STORAGE_FULL'])
  full.device.files.set = set
  t.is(full.device.files.size, 0)
  t.deepEqual(full.device.stashes.list(), [])
})

test('of two valid replies the first one is used, and no request is sent about the other', async t => {
  const { world, phone, alice } = await makeAlice()
  await alice.ensureAccountRepo(APP)
  const { request } = await query(world)
  const loginStash = JSON.parse(phone.files.get(`logins/${alice.rootLoginId}.json`) ?? '')
  const opened = await openedApp(world, phone)
  const loginKey = opened.tree.loginKey.use(bytes => Buffer.from(bytes).toString('base64'))
  await opened.close()
  for (let n = 0; n < 2; n += 1) await reply(phone, request.lobbyId, { appId: APP, loginKey, loginStash })
  await settle()
  world.requests.length = 0
  await poll(world)
  await request.account
  await settle()
  const routes = world.requests.map(({ route }) => route)
  t.deepEqual(routes.slice(routes.indexOf(`GET /api/v2/lobby/${request.lobbyId}`)), [
    `GET /api/v2/lobby/${request.lobbyId}`,
    'POST /api/v2/login'
  ])
})

test('an account that fails with an unknown error is skipped as a bad reply, and leftovers are reported', async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { appId: APP } })
  const request = await requestEdgeLogin<Login>(device.services, device.stashes, {
    async open() {
      device.files.delete = () => {
        throw new WalletError('STORAGE_FULL', { path: 'logins' })
      }
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    }
  })
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  t.like(request.getSnapshot(), { state: 'pending', errorCode: 'BAD_REPLY' })
  t.is(device.reports.length, 1)
  request.cancel()
  await t.throwsAsync(request.account)
})

test('the keys of a rejected login are destroyed, whatever the reason', async t => {
  const { world, phone, alice } = await makeAlice()
  const stash = phone.files.get(`logins/${alice.rootLoginId}.json`) ?? ''
  const keyAfter = async (fails: 'at the server' | 'unwanted' | 'on a full disk' | 'never') => {
    const device = await openDevice(world)
    const { io } = device.services
    const sent = parseStashFile(io, stash)
    const key = alice.tree.loginKey.use(bytes => bytes.slice())
    const received = { sent, loginId: sent.loginId, loginKey: new Secret(key) }
    if (fails === 'at the server') key.fill(0)
    const set = device.files.set.bind(device.files)
    device.files.set = (path, text) => {
      if (fails === 'on a full disk') throw new WalletError('STORAGE_FULL', { path })
      return set(path, text)
    }
    const checkWanted = (): void => {
      if (fails === 'unwanted') throw new WalletError('EDGE_LOGIN_CLOSED', {})
    }
    const options = { received, vouchers: new Map(), checkWanted, verified() {} }
    const accepting = acceptLogin(device.services, device.stashes, options)
    if (fails === 'never') await accepting
    else await t.throwsAsync(accepting)
    return received.loginKey.isAlive
  }
  t.false(await keyAfter('at the server'))
  t.false(await keyAfter('unwanted'))
  t.false(await keyAfter('on a full disk'))
  t.true(await keyAfter('never'))
})

test('a cancelled request is closed, deletes its lobby, and ignores late replies', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request, states } = await query(world)
  await approve(phone, alice, request.lobbyId)
  let release = (): void => {}
  world.server.use(async ({ path, method }, next) => {
    const answer = await next()
    if (method === 'POST' && path.endsWith('/v2/login')) {
      await new Promise<void>(resolve => {
        release = resolve
      })
    }
    return answer
  })
  await poll(world)
  t.deepEqual(device.stages, ['edge asking'])
  request.cancel()
  request.cancel()
  release()
  await settle()
  t.deepEqual(states, ['pending', 'closed'])
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  t.is(device.files.size, 0)
  t.deepEqual(device.stashes.list(), [])
  t.is(routesOf(world, `DELETE /api/v2/lobby/${request.lobbyId}`).length, 1)
  await t.throwsAsync(read(phone, alice, request.lobbyId), { code: 'LOBBY_NOT_FOUND' })
  const looks = routesOf(world, 'GET').length
  await world.clock.advance(700_000)
  t.is(routesOf(world, 'GET').length, looks)
})

test('a cancelled request keeps nothing of an account that asks for a code', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world)
  await approve(phone, alice, request.lobbyId)
  const [app] = alice.getSnapshot().held.children
  const record = world.server.db.login(app?.loginId ?? '')
  if (record === undefined) throw new Error('The server has no login')
  world.server.db.saveLogin({ ...record, otpKey: 'MFRGGZDFMZTWQ2LK', otpTimeout: 604_800 })
  world.server.use(async ({ path, method }, next) => {
    const answer = await next()
    if (method === 'POST' && path.endsWith('/v2/login')) request.cancel()
    return answer
  })
  await poll(world)
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  t.deepEqual(device.stages, ['edge asking', 'edge failed OTP'])
  t.is(device.files.size, 0)
})

test('a request that is cancelled while its account opens is closed, and keeps nothing of the account', async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { appId: APP } })
  const request = await requestEdgeLogin<Login>(device.services, device.stashes, {
    async open(login, isWanted) {
      t.true(isWanted())
      request.cancel()
      t.false(isWanted())
      login.close()
      return login
    }
  })
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  t.is(request.getSnapshot().state, 'closed')
  await settle()
  t.deepEqual([...device.files.keys()], [])
  t.deepEqual(device.stashes.list(), [])
})

test('a request that is cancelled while the device saves something else keeps nothing of the account', async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { appId: APP } })
  const { stashes } = device
  const request = await requestEdgeLogin<Login>(device.services, stashes, { open: async login => login })
  const update = stashes.update.bind(stashes)
  let hasWaited = false
  stashes.update = async (loginId, change) => {
    // Its turn to be saved comes later.
    request.cancel()
    hasWaited = true
    return update(loginId, change)
  }
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  await settle()
  t.true(hasWaited)
  t.deepEqual([...device.files.keys()], [])
  t.deepEqual(stashes.list(), [])
})

test('an account that fails to open after the time is over ends the request', async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { appId: APP } })
  let fail: (error: Error) => void = () => {}
  const open = (): Promise<never> =>
    new Promise((_, reject) => {
      fail = reject
    })
  const request = await requestEdgeLogin(device.services, device.stashes, { timeoutSeconds: 30, open })
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  await world.clock.advance(30_000)
  t.is(request.getSnapshot().state, 'started')
  fail(new Error('The disk is gone'))
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_EXPIRED' })
  t.is(request.getSnapshot().state, 'error')
})

test('a request ends with its time, also while the server cannot be reached', async t => {
  const world = makeLoginWorld()
  const { request, states } = await query(world, { timeoutSeconds: 30 })
  await settle()
  world.server.isOnline = false
  await world.clock.advance(30_000)
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_EXPIRED' })
  t.is(states.at(-1), 'error EDGE_LOGIN_EXPIRED')
})

test('a lobby that is gone in the last second has expired, and one that is gone before is lost', async t => {
  for (const [goneAfter, code] of [
    [8000, 'EDGE_LOGIN_EXPIRED'],
    [7000, 'LOBBY_NOT_FOUND']
  ] as const) {
    const world = makeLoginWorld()
    const { device, request } = await query(world, { timeoutSeconds: 9.5 })
    await settle()
    await world.clock.advance(goneAfter)
    await deleteLobby(device.services, request.lobbyId)
    await world.clock.advance(1000)
    await t.throwsAsync(request.account, { code })
    t.is(request.getSnapshot().errorCode, code)
  }
})

test('a request that is cancelled while it looks for replies stays closed', async t => {
  const world = makeLoginWorld()
  let isHeld = false
  let release = (): void => {}
  world.server.use(async ({ method }, next) => {
    if (isHeld && method === 'GET')
      await new Promise<void>(resolve => {
        release = resolve
      })
    return next()
  })
  const { request, states } = await query(world)
  await settle()
  isHeld = true
  await poll(world)
  request.cancel()
  await settle()
  release()
  await settle()
  t.deepEqual(states, ['pending', 'closed'])
  t.is(request.getSnapshot().state, 'closed')
  t.is(world.clock.timerCount, 0)
})
