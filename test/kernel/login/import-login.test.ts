import test from 'ava'
import type { Json } from '../../../kernel/base/json.ts'
import { Scheduler } from '../../../kernel/base/scheduler.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { usernameChanges } from '../../../kernel/login/changes.ts'
import { fetchLobby, getLobby, postLobbyReply, sealLobbyReply } from '../../../kernel/login/lobby.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { type EdgeLoginRequest, requestEdgeLogin } from '../../../kernel/login/methods/edge.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { exportedStash, importChildLogin } from '../../../kernel/login/stash.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import { boxOf, id } from '../../helpers/fake-login.ts'
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
const MALLORY = { username: 'mallory', password: 'battery staple' }
const APP = 'test.app'

const node = (appId: string, count: number, fields: Partial<LoginStash> = {}): LoginStash => ({
  appId,
  loginId: id(count),
  pendingVouchers: [],
  ...fields
})

test('a new device keeps the requested login of a sent tree, and the path down to it', t => {
  const wanted = node('b', 3, {
    loginAuthBox: boxOf(1),
    children: [node('c', 4, { loginAuthBox: boxOf(2) })]
  })
  const sent = node('', 1, {
    username: 'alice',
    loginAuthBox: boxOf(3),
    otpKey: 'AAAA',
    children: [node('a', 2, { keyBoxes: [boxOf(4)], children: [wanted] }), node('x', 5)]
  })
  t.deepEqual(importChildLogin(undefined, sent, id(3)), {
    ...node('', 1, { username: 'alice' }),
    children: [
      node('a', 2, {
        children: [{ ...wanted, children: [{ ...wanted.children?.[0], children: [] }] } as LoginStash]
      })
    ]
  })
})

test('an edge login keeps what the device already knows of the account', t => {
  const known = node('', 1, {
    username: 'alice',
    loginAuthBox: boxOf(1),
    voucherId: 'v',
    children: [
      node('a', 2, { loginAuthBox: boxOf(2), keyBoxes: [boxOf(5)] }),
      node('b', 3, { voucherId: 'w', voucherAuth: 'qrs=' })
    ]
  })
  const sent = (child: LoginStash): LoginStash =>
    node('', 1, { username: 'malice', otpKey: 'AAAA', children: [child] })
  const [a, b] = known.children ?? []
  t.deepEqual(importChildLogin(known, sent(node('a', 2, { keyBoxes: [] })), id(2)), known)
  t.deepEqual(
    importChildLogin(known, sent(node('a', 2)), id(9)),
    known,
    'a login that was not sent adds nothing'
  )
  const held = node('b', 3, { loginAuthBox: boxOf(3), voucherId: 'theirs' })
  const imported = { ...held, voucherId: 'w', voucherAuth: 'qrs=', children: [] }
  t.deepEqual(importChildLogin(known, sent(held), id(3)), { ...known, children: [a, imported] } as LoginStash)
  const added = node('c', 4, { loginAuthBox: boxOf(4) })
  const { children } = importChildLogin(known, sent(added), id(4))
  t.deepEqual(children, [a, b, { ...added, children: [] }] as LoginStash[])
  const nested = sent(node('x', 9, { children: [added] }))
  t.throws(() => importChildLogin(known, nested, id(4)), { code: 'KEY_INTEGRITY' })
})

test('an edge login keeps the child logins that open on this device, and their vouchers', t => {
  const whole = node('c', 4, { loginAuthBox: boxOf(4), keyBoxes: [boxOf(5)] })
  const named = node('d', 5, { voucherId: 'v', voucherAuth: 'qrs=' })
  const other = node('e', 6)
  const known = node('', 1, { children: [node('b', 3, { children: [whole, named, other] })] })
  const sentBelow = [node('d', 5, { loginAuthBox: boxOf(6), voucherId: 'theirs' }), node('c', 4)]
  const held = node('b', 3, { loginAuthBox: boxOf(3), children: sentBelow })
  const { children } = importChildLogin(known, node('', 1, { children: [held] }), id(3))
  t.deepEqual(children?.[0]?.children, [
    { ...sentBelow[0], voucherId: 'v', voucherAuth: 'qrs=', children: [] },
    whole,
    other
  ] as LoginStash[])
})

test('a device that cannot open an account gets its new name with the next edge login', t => {
  const held = node('a', 2, { loginAuthBox: boxOf(1) })
  const known = node('', 1, { username: 'alice', voucherId: 'v', children: [held] })
  const sent = node('', 1, { username: 'alicia', children: [held] })
  t.deepEqual(importChildLogin(known, sent, id(2)), { ...known, username: 'alicia' })
})

test('a login that was not sent shows its app, its id and its name', t => {
  const below = node('c', 3, { loginAuthBox: boxOf(1), syncToken: 's' })
  const stash = node('', 1, {
    username: 'alice',
    otpKey: 'AAAA',
    loginAuthBox: boxOf(2),
    voucherId: 'v',
    children: [node('a', 2, { pin2Key: 'AAAA', children: [below] })]
  })
  t.deepEqual(exportedStash(stash, id(3)), {
    ...node('', 1, { username: 'alice' }),
    children: [node('a', 2, { children: [node('c', 3, { loginAuthBox: boxOf(1) })] })]
  })
  const { voucherId: _, ...whole } = stash
  t.deepEqual(exportedStash(stash, id(1)).children?.[0]?.pin2Key, 'AAAA')
  t.is(exportedStash(stash, id(1)).otpKey, whole.otpKey)
  t.is(exportedStash(stash, id(1)).voucherId, undefined)
})

const makeAlice = async (): Promise<{ world: LoginWorld; phone: LoginDevice; alice: Login }> => {
  const world = makeLoginWorld()
  const phone = await openDevice(world)
  const alice = await createLogin(phone.services, phone.stashes, { ...ALICE, snrp: CHEAP })
  await alice.ensureAccountRepo()
  await alice.ensureAccountRepo('old.app')
  await alice.refresh()
  return { world, phone, alice }
}

const query = async (
  world: LoginWorld,
  files: Map<string, string>,
  appId: string = APP
): Promise<{ device: LoginDevice; request: EdgeLoginRequest<Login> }> => {
  const device = await openDevice(world, files, { config: { appId } })
  const plan = { open: async (login: Login) => login }
  return { device, request: await requestEdgeLogin(device.services, device.stashes, plan) }
}

const approve = async ({ services }: LoginDevice, login: Login, lobbyId: string): Promise<void> => {
  const scheduler = new Scheduler(services.io.clock)
  await (await fetchLobby(services, { login, scheduler, rules: NO_RULES }, lobbyId)).loginRequest?.approve()
}

const reply = async ({ services }: LoginDevice, lobbyId: string, answer: Json): Promise<void> => {
  const { request } = await getLobby(services, lobbyId)
  await postLobbyReply(services, lobbyId, sealLobbyReply(services.io, request, answer))
}

const poll = async (world: LoginWorld): Promise<void> => {
  await world.clock.advance(1000)
  await settle()
}

const fileOf = ({ files }: LoginDevice, login: Login): Untyped =>
  JSON.parse(files.get(`logins/${login.rootLoginId}.json`) ?? '')

test('a device that has the whole account keeps it after an edge login of one of its apps', async t => {
  const { world, phone, alice } = await makeAlice()
  const laptop = await openDevice(world)
  await loginWithPassword(laptop.services, laptop.stashes, ALICE)
  const before = fileOf(laptop, alice)
  const { device, request } = await query(world, laptop.files)
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  const login = await request.account
  t.true(login.isEdgeLogin)
  const after = fileOf(device, alice)
  t.deepEqual({ ...after, lastLogin: 0, children: after.children.slice(0, 1) }, { ...before, lastLogin: 0 })
  t.is(after.children[1].appId, APP)

  world.server.isOnline = false
  const offline = await openDevice(world, device.files)
  const root = await loginWithPassword(offline.services, offline.stashes, ALICE)
  t.is(root.getSnapshot().held.children.length, 2)
  t.is((await root.ensureAccountRepo(APP)).id, (await login.ensureAccountRepo()).id)
})

test('a second approval changes nothing but the date', async t => {
  const { world, phone, alice } = await makeAlice()
  const first = await query(world, new Map())
  await approve(phone, alice, first.request.lobbyId)
  await poll(world)
  const loginKey = (await first.request.account).rootLoginKeyBase58()
  const before = fileOf(first.device, alice)
  const second = await query(world, first.device.files)
  await approve(phone, alice, second.request.lobbyId)
  await poll(world)
  t.is((await second.request.account).rootLoginKeyBase58(), loginKey)
  t.deepEqual({ ...fileOf(second.device, alice), lastLogin: 0 }, { ...before, lastLogin: 0 })
})

/** What a stranger with an account on the same server can hand over as Alice's. */
const makeMallory = async (
  world: LoginWorld,
  alice: Login,
  appId: string
): Promise<{ device: LoginDevice; answer: Untyped }> => {
  const device = await openDevice(world, new Map(), { config: { appId } })
  const mallory = await createLogin(device.services, device.stashes, { ...MALLORY, snrp: CHEAP })
  await mallory.ensureAccountRepo()
  await mallory.refresh()
  const { children } = fileOf(device, mallory)
  const loginKey = mallory.tree.loginKey.use(key => Buffer.from(key).toString('base64'))
  const loginStash = { ...node('', 1, { username: 'alice' }), loginId: alice.stash.loginId, children }
  return { device, answer: { appId, loginKey, loginStash } }
}

test('a stranger cannot replace a login of this device with another one', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world, new Map(phone.files), 'old.app')
  const before = JSON.stringify([...device.files])
  const mallory = await makeMallory(world, alice, 'old.app')
  await reply(mallory.device, request.lobbyId, mallory.answer)
  await poll(world)
  t.is(request.getSnapshot().state, 'pending')
  t.is(request.getSnapshot().errorCode, 'KEY_INTEGRITY')
  t.is(JSON.stringify([...device.files]), before)
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  t.is((await request.account).tree.appId, 'old.app')
})

test("a stranger's login of a new app does not lock the owner of the account out", async t => {
  const { world, phone, alice } = await makeAlice()
  const mallory = await makeMallory(world, alice, APP)
  for (const files of [new Map<string, string>(), new Map(phone.files)]) {
    const { device, request } = await query(world, files)
    await reply(mallory.device, request.lobbyId, mallory.answer)
    await poll(world)
    await request.account
    t.is(fileOf(device, alice).children.at(-1).appId, APP)
    const again = await openDevice(world, device.files)
    const root = await loginWithPassword(again.services, again.stashes, ALICE)
    await settle()
    t.deepEqual(
      fileOf(again, alice).children.map(({ appId }: Untyped) => appId),
      ['old.app']
    )
    t.is(root.walletInfos.length, 2)
  }
})

test("a stranger's login of a new app does not shut out the login key of the account", async t => {
  const { world, phone, alice } = await makeAlice()
  const mallory = await makeMallory(world, alice, APP)
  const { device, request } = await query(world, new Map(phone.files))
  await reply(mallory.device, request.lobbyId, mallory.answer)
  await poll(world)
  await request.account
  world.server.isOnline = false
  const again = await openDevice(world, device.files)
  const user = { username: 'alice', loginKey: alice.rootLoginKeyBase58() }
  t.is((await loginWithKey(again.services, again.stashes, user)).walletInfos.length, 2)
})

test("a stranger's account is not shown by the name of another", async t => {
  const { world, phone, alice } = await makeAlice()
  const device = await openDevice(world)
  const mallory = await createLogin(device.services, device.stashes, { ...MALLORY, snrp: CHEAP })
  await mallory.refresh()
  const loginKey = mallory.tree.loginKey.use(bytes => Buffer.from(bytes).toString('base64'))
  const pendingQuery = await query(world, new Map(), '')
  const { lobbyId } = pendingQuery.request
  const loginStash = { ...fileOf(device, mallory), username: 'alice' }
  await reply(device, lobbyId, { appId: '', loginKey, loginStash })
  await poll(world)
  t.is(pendingQuery.request.getSnapshot().errorCode, 'KEY_INTEGRITY')
  t.deepEqual(pendingQuery.device.stashes.list(), [])
  await approve(phone, alice, lobbyId)
  await poll(world)
  t.is((await pendingQuery.request.account).rootLoginId, alice.rootLoginId)
})

test('an invalid parent box is replaced when the owner logs in', async t => {
  const { world, phone, alice } = await makeAlice()
  const { id } = await alice.ensureAccountRepo(APP)
  const { answer } = await makeMallory(world, alice, APP)
  const loginStash = fileOf(phone, alice)
  const [, child] = alice.getSnapshot().held.children
  const loginKey = child?.loginKey.use(key => Buffer.from(key).toString('base64'))
  loginStash.children[1].parentBox = answer.loginStash.children[0].parentBox
  const { device, request } = await query(world, new Map())
  await reply(phone, request.lobbyId, {
    appId: APP,
    loginKey: loginKey ?? '',
    loginStash: exportedStash(loginStash, child?.loginId ?? '')
  } as unknown as Json)
  await poll(world)
  t.is((await (await request.account).ensureAccountRepo()).id, id)
  const again = await openDevice(world, device.files, { config: { appId: APP } })
  const root = await loginWithPassword(again.services, again.stashes, ALICE)
  t.is((await root.ensureAccountRepo()).id, id)
})

test("a login without a known parent is not put below a stranger's account", async t => {
  const { world, alice } = await makeAlice()
  const mallory = await makeMallory(world, alice, APP)
  const { parentBox: _, ...child } = mallory.answer.loginStash.children[0]
  const loginStash = { ...mallory.answer.loginStash, children: [child] }
  const { device, request } = await query(world, new Map())
  world.garble = (route, { results, ...rest }) =>
    route.endsWith('/v2/login')
      ? { ...rest, results: { ...results, parentBox: undefined } }
      : { ...rest, results }
  await reply(device, request.lobbyId, { ...mallory.answer, loginStash })
  await poll(world)
  world.garble = undefined
  t.is(request.getSnapshot().state, 'pending')
  t.is(request.getSnapshot().errorCode, 'KEY_INTEGRITY')
  t.deepEqual(device.stashes.list(), [])
  const root = await loginWithPassword(device.services, device.stashes, ALICE)
  t.is(root.rootLoginId, alice.rootLoginId)
})

test('an app login stays on the device when another account gets the name', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world, new Map())
  await approve(phone, alice, request.lobbyId)
  await poll(world)
  const app = await request.account
  const loginKey = app.rootLoginKeyBase58()
  app.close()
  const password = new Secret(ALICE.password)
  await alice.change(({ held }) =>
    usernameChanges(phone.services.io, held, { username: 'bob', password, snrp: CHEAP })
  )
  const other = await openDevice(world, new Map(), { config: { appId: APP } })
  await createLogin(other.services, other.stashes, { ...ALICE, password: 'another one', snrp: CHEAP })
  const { services, stashes } = device
  const heir = await loginWithPassword(services, stashes, { ...ALICE, password: 'another one' })
  t.not(heir.rootLoginId, app.rootLoginId)
  const again = await openDevice(world, device.files, { config: { appId: APP } })
  const user = { loginId: app.rootLoginId, loginKey }
  t.is((await loginWithKey(again.services, again.stashes, user)).tree.appId, APP)
})

test('the voucher of a refused edge login serves the next one, and is kept only then', async t => {
  const { world, phone, alice } = await makeAlice()
  const { device, request } = await query(world, new Map(), '')
  const record = world.server.db.login(alice.stash.loginId)
  if (record === undefined) throw new Error('The server has no login')
  world.server.db.saveLogin({ ...record, otpKey: 'MFRGGZDFMZTWQ2LK', otpTimeout: 604_800 })
  const { otpKey: _, ...loginStash } = fileOf(phone, alice)
  const loginKey = alice.getSnapshot().held.loginKey.use(key => Buffer.from(key).toString('base64'))
  const answer = { appId: '', loginKey, loginStash }
  await reply(phone, request.lobbyId, answer)
  await poll(world)
  t.is(request.getSnapshot().errorCode, 'OTP')
  t.is(request.getSnapshot().state, 'pending')
  t.is(device.files.size, 0)

  const known = world.server.db.login(alice.stash.loginId)
  if (known === undefined) throw new Error('The server has no login')
  const vouchers = known.vouchers.map(voucher => ({ ...voucher, status: 'approved' as const }))
  world.server.db.saveLogin({ ...known, vouchers })
  await reply(phone, request.lobbyId, { ...answer, loginStash: { ...loginStash, voucherId: 'theirs' } })
  await poll(world)
  const login = await request.account
  t.deepEqual(
    vouchers.map(({ voucherId }) => voucherId),
    [fileOf(device, alice).voucherId]
  )
  t.truthy(fileOf(device, alice).voucherAuth)
  const { services, stashes } = device
  const byKey = await loginWithKey(services, stashes, {
    username: 'alice',
    loginKey: login.rootLoginKeyBase58()
  })
  t.false(byKey.isEdgeLogin)
})
