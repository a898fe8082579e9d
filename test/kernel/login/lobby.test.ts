import test from 'ava'
import { Scheduler } from '../../../kernel/base/scheduler.ts'
import { base58Of, parseBase58 } from '../../../kernel/crypto/encoding.ts'
import { lobbyIdOf, makeLobbyKeys } from '../../../kernel/crypto/lobby-key.ts'
import type { FetchReply } from '../../../kernel/io/io.ts'
import { fetchAppDisplay } from '../../../kernel/login/app-info.ts'
import { fetchLobby, getLobby, type Lobby, openLobbyReply, putLobby } from '../../../kernel/login/lobby.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { requestEdgeLogin } from '../../../kernel/login/methods/edge.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  NO_RULES,
  openDevice,
  settle,
  type Untyped
} from '../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse' }
const APP = 'test.app'

interface Alice {
  readonly world: LoginWorld
  readonly phone: LoginDevice
  readonly alice: Login
  readonly scheduler: Scheduler
  /** A lobby for an app, and the key that opens its replies. */
  open(appId?: string): Promise<{ lobbyId: string; privateKey: Uint8Array }>
  read(lobbyId: string): Promise<Lobby>
}

/** Alice on her phone, as the one who approves. */
const makeAlice = async (config: object = {}): Promise<Alice> => {
  const world = makeLoginWorld()
  const phone = await openDevice(world, new Map(), {
    config: { infoServers: ['http://localhost'], ...config }
  })
  const { services, stashes } = phone
  const { io } = services
  const alice = await createLogin(services, stashes, { ...ALICE, pin: '4711', snrp: CHEAP })
  await alice.ensureAccountRepo()
  await alice.refresh()
  const scheduler = new Scheduler(world.clock)
  return {
    ...{ world, phone, alice, scheduler },
    async open(appId) {
      const { privateKey, publicKey } = makeLobbyKeys(io)
      const lobbyId = lobbyIdOf(io, publicKey)
      const request = appId === undefined ? {} : { loginRequest: { appId } }
      await putLobby(services, lobbyId, { ...request, publicKey: io.crypto.toBase64(publicKey) })
      return { lobbyId, privateKey }
    },
    read: lobbyId => fetchLobby(services, { login: alice, scheduler, rules: NO_RULES }, lobbyId)
  }
}

const routesOf = (world: LoginWorld, route: string): Untyped[] =>
  world.requests.filter(request => request.route.startsWith(route)).map(({ body }) => body)

/** What the box of a lobby's only reply holds. */
const answerOf = async (
  { phone }: Alice,
  lobby: { lobbyId: string; privateKey: Uint8Array }
): Promise<Untyped> => {
  const { replies } = await getLobby(phone.services, lobby.lobbyId)
  return openLobbyReply(phone.services.io, lobby.privateKey, replies[0])
}

test('the info server gives the name and icon of an app; an unknown app is named by its id [3.37] [7.25]', async t => {
  const { world, phone, open, read } = await makeAlice()
  world.server.db.saveApp('full', {
    appName: 'Full App',
    imageUrl: 'https://a.test/i.png',
    darkImageUrl: 'https://a.test/d.png',
    lightImageUrl: 'https://a.test/l.png'
  })
  world.server.db.saveApp('one', { appName: 'One Image', imageUrl: 'https://a.test/i.png' })
  const faceOf = async (appId: string) => {
    const { loginRequest } = await read((await open(appId)).lobbyId)
    const { displayName, displayImageDarkUrl, displayImageLightUrl, isWholeAccount } = loginRequest ?? {}
    t.is(loginRequest?.appId, appId)
    t.is(isWholeAccount, appId === '')
    return [displayName, displayImageDarkUrl, displayImageLightUrl]
  }
  t.deepEqual(await faceOf('full'), ['Full App', 'https://a.test/d.png', 'https://a.test/l.png'])
  t.deepEqual(await faceOf('one'), ['One Image', 'https://a.test/i.png', 'https://a.test/i.png'])
  t.deepEqual(await faceOf('un/known'), ['un/known', undefined, undefined])
  t.deepEqual(await faceOf(''), ['', undefined, undefined])
  t.true(world.requests.some(({ route }) => route === 'GET /v1/appIdInfo/full'))
  t.true(world.requests.some(({ route }) => route === 'GET /v1/appIdInfo/un%2Fknown'))
  t.deepEqual(phone.reports, [])
})

test('a login that an app made below its own is shown to be readable by that app', async t => {
  const { world, phone, alice, scheduler, read, open } = await makeAlice()
  t.is((await read((await open('inner.app')).lobbyId)).loginRequest?.insideAppId, undefined)
  await alice.ensureAccountRepo(APP)
  const { services, stashes } = await openDevice(world, phone.files, { config: { appId: APP } })
  const loginKey = alice.openState.held.children[0]?.loginKey.use(base58Of) ?? ''
  const app = await loginWithKey(services, stashes, { username: ALICE.username, loginKey })
  await app.ensureAccountRepo('inner.app')
  await alice.refresh()
  t.is((await read((await open('inner.app')).lobbyId)).loginRequest?.insideAppId, APP)
  t.is((await read((await open(APP)).lobbyId)).loginRequest?.insideAppId, undefined)
  app.close()
  scheduler.close()
})

test('a failing info server is reported, and the app is named by its id [7.25]', async t => {
  const { world, phone, open, read } = await makeAlice()
  const { lobbyId } = await open(APP)
  const garbage: [string, string][] = [
    ['<html>', 'BAD_REPLY'],
    ['{"appName":1}', 'BAD_REPLY'],
    ['{"appName":"A","imageUrl":"javascript:alert(1)"}', 'BAD_REPLY'],
    ['{"__proto__":{"appName":"A"}}', 'BAD_REPLY']
  ]
  let body = ''
  let status = 200
  world.server.use(async ({ path }, next) => {
    if (!path.startsWith('/v1/appIdInfo')) return next()
    if (status === 0) throw new Error('No network')
    return { status, headers: {}, body }
  })
  for (const [text, code] of garbage) {
    body = text
    t.is((await read(lobbyId)).loginRequest?.displayName, APP, text)
    t.is((phone.reports.pop() as Untyped).code, code, text)
  }
  body = '{"appName":"Not an app"}'
  for (const other of [500, 301, 199, 0]) {
    status = other
    t.is((await read(lobbyId)).loginRequest?.displayName, APP)
    t.truthy(phone.reports.pop(), `${other}`)
  }
})

test('one info server, drawn at random, gets the request', async t => {
  const requested: string[] = []
  const { services } = await openDevice(makeLoginWorld())
  const fetch = async (url: string): Promise<FetchReply> => {
    requested.push(url)
    return { status: 404, headers: {}, text: '' }
  }
  for (const drawn of [0, 1, 5]) {
    const io = { ...services.io, fetch, random: () => Uint8Array.of(drawn) }
    const config = { ...services.config, infoServers: ['https://a', 'https://b', 'https://c'] }
    t.deepEqual(await fetchAppDisplay({ ...services, io, config }, 'app'), { displayName: 'app' })
  }
  t.deepEqual(
    requested.map(url => url.slice(0, 9)),
    ['https://a', 'https://b', 'https://c']
  )
  const io = { ...services.io, fetch }
  t.deepEqual(await fetchAppDisplay({ ...services, io }, 'app'), { displayName: 'app' })
  t.is(requested.length, 3, 'without a server nobody is asked')
})

test('a lobby that is named after another request is an integrity error [5.34] [8.65]', async t => {
  const { world, alice, open, read } = await makeAlice()
  const [{ lobbyId }, other] = [await open(APP), await open(APP)]
  const short = base58Of(parseBase58(lobbyId).slice(0, 5))
  const foreign = routesOf(world, `PUT /api/v2/lobby/${other.lobbyId}`)[0].data
  const own = routesOf(world, `PUT /api/v2/lobby/${lobbyId}`)[0].data
  for (const [id, request] of [
    [lobbyId, foreign],
    [short, own]
  ]) {
    world.garble = () => ({ status_code: 0, message: '', results: { request, replies: [] } })
    const expected = { code: 'LOBBY_INTEGRITY', message: 'Lobby ECDH integrity error' }
    await t.throwsAsync(read(id), expected)
  }
  world.garble = undefined
  t.truthy((await read(lobbyId)).loginRequest)
  t.deepEqual(alice.stash.children, [])
})

test('a missing lobby is not reported as a missing account, and an invalid lobby id is not sent', async t => {
  const { world, read } = await makeAlice()
  world.requests.length = 0
  await t.throwsAsync(read('abcdef'), { code: 'LOBBY_NOT_FOUND', message: 'Cannot find lobby abcdef' })
  t.is(world.requests.length, 1)
  for (const text of ['', '../login', 'https://example.com', 'a b', 'a'.repeat(10_000)]) {
    await t.throwsAsync(read(text), { code: 'LOBBY_NOT_FOUND' }, text)
  }
  t.is(world.requests.length, 1)
})

test('a lobby about something else has no login request', async t => {
  const { open, read } = await makeAlice()
  const { lobbyId } = await open()
  t.deepEqual(await read(lobbyId), { lobbyId })
})

test('an approval sends only the requested login with its children, and no data of this device', async t => {
  const world = await makeAlice({ hideKeys: true })
  const { alice, phone, open, read } = world
  await alice.ensureAccountRepo('other.app')
  const rootId = alice.stash.loginId
  await phone.stashes.update(rootId, stash => stash && { ...stash, voucherId: 'v', voucherAuth: 'qrs=' })
  const lobby = await open(APP)
  await (await read(lobby.lobbyId)).loginRequest?.approve()
  const { appId, loginKey, loginStash, ...rest } = await answerOf(world, lobby)
  t.deepEqual(rest, {})
  t.is(appId, APP)
  const [other, app] = loginStash.children
  const reduced = { appId: '', loginId: rootId, username: 'alice', pendingVouchers: [] }
  t.deepEqual(loginStash, { ...reduced, children: [other, app] })
  t.deepEqual(other, { appId: 'other.app', loginId: other.loginId, pendingVouchers: [], children: [] })
  for (const field of ['loginAuthBox', 'keyBoxes', 'pin2Key', 'pin2TextBox', 'parentBox'])
    t.truthy(app[field], field)
  t.is('syncToken' in app, false)
  t.is(Buffer.from(loginKey, 'base64').length, 32)

  const whole = await open('')
  await (await read(whole.lobbyId)).loginRequest?.approve()
  const account = await answerOf(world, whole)
  for (const field of ['loginAuthBox', 'passwordBox', 'keyBoxes', 'pin2Key'])
    t.truthy(account.loginStash[field], field)
  for (const field of ['voucherId', 'voucherAuth', 'syncToken']) t.false(field in account.loginStash, field)
  t.is(account.loginStash.children.length, 2)
})

test('after an approval the account is refreshed after 10 seconds, and 20 seconds later, until the logout [4.32]', async t => {
  const { world, alice, scheduler, open, read } = await makeAlice()
  let isSlow = false
  world.server.use(async ({ path }, next) => {
    if (isSlow && /^\/api\/v2\/(?:sync|login)$/.test(path))
      await new Promise<void>(done => void world.clock.after(4000, done))
    return next()
  })
  const { loginRequest } = await read((await open(APP)).lobbyId)
  await loginRequest?.approve()
  // The first look is at all of the login, which has just changed; the second only asks for news.
  const count = (): number =>
    world.requests.filter(({ route }) => /^POST \/api\/v2\/(?:sync|login)$/.test(route)).length
  const before = count()
  const pass = async (milliseconds: number): Promise<number> => {
    await world.clock.advance(milliseconds)
    await settle()
    return count() - before
  }
  // A slow request is counted when it arrives, 4 seconds after it was made.
  isSlow = true
  t.is(await pass(10_000), 0)
  t.is(await pass(3_999), 0)
  t.is(await pass(1), 1)
  t.is(await pass(20_000), 1)
  t.is(await pass(3_999), 1)
  t.is(await pass(1), 2)
  await world.clock.advance(100_000)
  t.is(count(), before + 2)
  t.is(world.clock.timerCount, 0)

  isSlow = false
  await (await read((await open('next.app')).lobbyId)).loginRequest?.approve()
  const last = count()
  scheduler.close()
  alice.close()
  await world.clock.advance(100_000)
  t.is(count(), last)
})

test('changes of the approved device within half a minute appear after the approval [4.32]', async t => {
  const { world, phone, alice, open, read } = await makeAlice()
  await (await read((await open(APP)).lobbyId)).loginRequest?.approve()
  const laptop = await openDevice(world)
  const other = await loginWithPassword(laptop.services, laptop.stashes, ALICE)
  await other.ensureAccountRepo('third.app')
  t.is(alice.stash.children?.length, 1)
  world.server.isOnline = false
  await world.clock.advance(10_000)
  t.is(alice.stash.children?.length, 1)
  t.deepEqual(phone.reports, [])
  world.server.isOnline = true
  await world.clock.advance(20_000)
  await settle()
  t.is(alice.stash.children?.length, 2)
})

test('an approval that failed can be repeated, one that succeeded is made once, and a closed one never', async t => {
  const { world, open, read } = await makeAlice()
  const { lobbyId } = await open(APP)
  const { loginRequest } = await read(lobbyId)
  world.server.isOnline = false
  await t.throwsAsync(async () => loginRequest?.approve(), { code: 'NETWORK' })
  world.server.isOnline = true
  await Promise.all([loginRequest?.approve(), loginRequest?.approve()])
  await loginRequest?.approve()
  t.is(routesOf(world, `POST /api/v2/lobby/${lobbyId}`).length, 1)
  t.is(routesOf(world, 'POST /api/v2/login/create').length, 2)

  const second = await open(APP)
  const turnedDown = (await read(second.lobbyId)).loginRequest
  turnedDown?.close()
  await t.throwsAsync(async () => turnedDown?.approve(), { code: 'EDGE_LOGIN_CLOSED' })
  t.is(routesOf(world, `POST /api/v2/lobby/${second.lobbyId}`).length, 0)
})

test('a request that is rejected during its approval gets nothing', async t => {
  const { world, open, read } = await makeAlice()
  const { lobbyId } = await open(APP)
  const { loginRequest } = await read(lobbyId)
  const approving = loginRequest?.approve()
  loginRequest?.close()
  await t.throwsAsync(async () => approving, { code: 'EDGE_LOGIN_CLOSED' })
  t.is(routesOf(world, `POST /api/v2/lobby/${lobbyId}`).length, 0)
})

test('a request that is rejected while a policy is asked makes no login for the app', async t => {
  const { world, phone, open, read } = await makeAlice()
  const { lobbyId } = await open(APP)
  const { loginRequest } = await read(lobbyId)
  phone.services.hooks.beforeSign.tapPromise('test', async () => loginRequest?.close())
  const before = world.requests.length
  await t.throwsAsync(async () => loginRequest?.approve(), { code: 'EDGE_LOGIN_CLOSED' })
  t.is(world.requests.length, before)
})

test('an approved app can approve its own app id and those below it, and none beside or above it [6.7]', async t => {
  const world = await makeAlice()
  const { alice, open } = world
  await alice.ensureAccountRepo('other.app')
  const device = await openDevice(world.world, new Map(), { config: { appId: APP } })
  const { services, stashes } = device
  const request = await requestEdgeLogin(services, stashes, { open: async (login: Login) => login })
  await (await world.read(request.lobbyId)).loginRequest?.approve()
  await world.world.clock.advance(1000)
  await settle()
  const app = await request.account
  const readAs = (lobbyId: string) =>
    fetchLobby(
      services,
      { login: app, scheduler: new Scheduler(world.world.clock), rules: NO_RULES },
      lobbyId
    )

  const own = await open(APP)
  await (await readAs(own.lobbyId)).loginRequest?.approve()
  t.is((await answerOf(world, own)).loginStash.children[0].loginId, app.tree.loginId)

  const below = await open('below.app')
  await (await readAs(below.lobbyId)).loginRequest?.approve()
  const { loginStash } = await answerOf(world, below)
  t.false('loginAuthBox' in loginStash.children[0])
  t.is(loginStash.children[0].children[0].appId, 'below.app')
  t.truthy(loginStash.children[0].children[0].parentBox)

  const whole = await open('')
  await t.throwsAsync(async () => (await readAs(whole.lobbyId)).loginRequest?.approve(), {
    code: 'APP_ID_NOT_FOUND'
  })

  await alice.refresh()
  const inOrder = (node: Untyped): string[] => [node.appId, ...(node.children ?? []).flatMap(inOrder)]
  t.deepEqual(inOrder(alice.stash), ['', 'other.app', APP, 'below.app'])
  const again = await open('below.app')
  await (await world.read(again.lobbyId)).loginRequest?.approve()
  t.is((await answerOf(world, again)).loginKey, (await answerOf(world, below)).loginKey)
})

test('a request that is rejected while the login for its app is made gets nothing', async t => {
  const { world, open, read } = await makeAlice()
  const { lobbyId } = await open(APP)
  const { loginRequest } = await read(lobbyId)
  let hasClosed = false
  world.server.use(async ({ method, path }, next) => {
    const answer = await next()
    if (method === 'POST' && path.endsWith('/v2/login/create')) {
      hasClosed = true
      loginRequest?.close()
    }
    return answer
  })
  await t.throwsAsync(async () => loginRequest?.approve(), { code: 'EDGE_LOGIN_CLOSED' })
  t.true(hasClosed)
  t.is(routesOf(world, `POST /api/v2/lobby/${lobbyId}`).length, 0)
})
