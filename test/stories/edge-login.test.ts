import test from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  type EdgeLoginRequest,
  type Kernel,
  type Plugin,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { listedWallets } from '../helpers/listed-wallets.ts'
import { makeToy } from '../helpers/toy-currency.ts'

const ALICE = { username: 'alice', password: 'Correct horse 1', pin: '4711' }
const APP = 'test.app'

/** A world whose time a test moves. */
const makeWorld = (): { world: FakeWorld; clock: FakeClock } => {
  const clock = makeFakeClock()
  return { world: makeFakeWorld({ io: { ...makeNodeIo(), clock } }), clock }
}

/** Lets the asking device look until its request ends. */
const settled = async (clock: FakeClock, request: EdgeLoginRequest<Account>): Promise<Account> => {
  await waitFor(async () => {
    await clock.advance(1000)
    return ['done', 'error'].includes(request.getSnapshot().state)
  })
  return request.account
}

const letIn = async (clock: FakeClock, approver: Account, device: Kernel): Promise<Account> => {
  const request = await device.context.requestEdgeLogin()
  await (await approver.fetchLobby(request.lobbyId)).loginRequest?.approve()
  return settled(clock, request)
}

test('an approved app on another device makes a wallet, and both devices have it [1.3] [6.5] [6.7]', async t => {
  const { world, clock } = makeWorld()
  const toy = makeToy()
  const phone = await openDevice(world, { plugins: [toy.plugin] })
  const alice = await phone.context.createAccount(ALICE)
  const laptop = await openDevice(world, { appId: APP, plugins: [makeToy().plugin] })
  const seen: string[] = []

  const request = await laptop.context.requestEdgeLogin()
  request.subscribe(() => void seen.push(request.getSnapshot().state))
  const { loginRequest } = await alice.fetchLobby(request.lobbyId)
  t.is(loginRequest?.displayName, APP)
  t.false(loginRequest?.isWholeAccount)
  await loginRequest?.approve()
  const app = await settled(clock, request)

  t.deepEqual(seen, ['started', 'done'])
  t.deepEqual(request.getSnapshot(), { lobbyId: request.lobbyId, state: 'done', username: 'alice' })
  t.deepEqual([app.loginMethod, app.isEdgeLogin, app.isLight, app.username], ['edge', true, false, 'alice'])
  t.deepEqual([alice.loginMethod, alice.isEdgeLogin], ['create', false])
  t.is(app.rootLoginId, alice.rootLoginId)
  t.deepEqual(laptop.context.accounts, [app])

  const wallet = await app.createCurrencyWallet('wallet:toycoin', { name: 'Pocket' })
  await clock.advance(31_000)
  await waitFor(() => alice.listWallets().some(({ walletId }) => walletId === wallet.id))
  const owner = await openDevice(world, { appId: APP, plugins: [makeToy().plugin] })
  const whole = await owner.context.loginWithPassword(ALICE.username, ALICE.password)
  t.false(whole.isEdgeLogin)
  t.deepEqual(
    listedWallets(whole).map(({ walletId }) => walletId),
    [wallet.id]
  )
  for (const kernel of [phone, laptop, owner]) await kernel.close()
})

test('policies are called before the keys of an app go to another device; a refusal sends nothing, a later approval does', async t => {
  const { world, clock } = makeWorld()
  const requested: unknown[] = []
  let isRefused = true
  const policy: Plugin = {
    kind: 'policy',
    id: 'guard',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('guard', async ({ use, appId, targets }) => {
        requested.push({ use, appId, targets })
        if (isRefused) throw new WalletError('SIGN_REFUSED', { pluginId: 'guard', reason: 'no' })
      })
  }
  const phone = await openDevice(world, { plugins: [makeToy().plugin, policy] })
  const alice = await phone.context.createAccount(ALICE)
  const laptop = await openDevice(world, { appId: APP, plugins: [makeToy().plugin] })
  const request = await laptop.context.requestEdgeLogin()
  const { loginRequest } = await alice.fetchLobby(request.lobbyId)
  await t.throwsAsync(async () => loginRequest?.approve(), { code: 'SIGN_REFUSED' })
  await clock.advance(5000)
  t.is(request.getSnapshot().state, 'pending')
  isRefused = false
  await loginRequest?.approve()
  t.is((await settled(clock, request)).username, 'alice')
  const question = { use: 'approve login', appId: APP, targets: [] }
  t.deepEqual(requested, [question, question])
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('an account opens for an app by each login method, and reports the method [6.4]', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world)
  const alice = await phone.context.createAccount(ALICE)
  const recoveryKey = await alice.credentials.changeRecovery(['Who?'], ['I'])
  const device = await openDevice(world, { appId: APP })
  const { context } = device
  const reported: unknown[] = []
  const repos = new Set<string>()
  const visit = async (account: Account): Promise<string> => {
    reported.push([account.loginMethod, account.isEdgeLogin])
    repos.add(account.id)
    const loginKey = await account.getLoginKey()
    t.is(account.getSnapshot().appId, APP)
    await account.logout()
    return loginKey
  }
  await visit(await letIn(clock, alice, device))
  await visit(await context.loginWithPIN({ username: 'alice' }, ALICE.pin))
  await visit(await context.loginWithPassword(ALICE.username, ALICE.password))
  await visit(await context.loginWithRecovery2(recoveryKey, ALICE.username, ['I']))
  const loginKey = await visit(await context.loginWithPIN({ username: 'alice' }, ALICE.pin))
  t.is(await visit(await context.loginWithKey({ username: 'alice' }, loginKey)), loginKey)
  t.deepEqual(reported, [
    ['edge', true],
    ['pin', true],
    ['password', false],
    ['recovery', false],
    ['pin', false],
    ['key', true]
  ])
  t.is(repos.size, 1)
  for (const kernel of [phone, device]) await kernel.close()
})

test('an app may create the account, and approve other devices', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world, { appId: APP })
  const light = await phone.context.createAccount({ pin: '4711' })
  t.deepEqual([light.isLight, light.loginMethod, light.isEdgeLogin], [true, 'create', false])
  const laptop = await openDevice(world, { appId: APP })
  const other = await letIn(clock, light, laptop)
  t.deepEqual([other.isLight, other.loginMethod, other.isEdgeLogin], [true, 'edge', true])
  t.is(await other.getLoginKey(), await light.getLoginKey())
  t.is(other.id, light.id)
  const { loginId } = laptop.context.localUsers[0] ?? { loginId: '' }
  await other.logout()
  t.true((await laptop.context.loginWithPIN({ loginId }, '4711')).isLight)
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('hideKeys hides the ids and keys of an account, and still allows edge login approvals [6.7]', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world, { hideKeys: true })
  const alice = await phone.context.createAccount(ALICE)
  t.throws(() => alice.rootLoginId, { code: 'HIDDEN_KEYS' })
  await t.throwsAsync(alice.getLoginKey(), { code: 'HIDDEN_KEYS' })
  const laptop = await openDevice(world, { appId: APP, hideKeys: true })
  const app = await letIn(clock, alice, laptop)
  t.true(app.isEdgeLogin)
  t.throws(() => app.rootLoginId, { code: 'HIDDEN_KEYS' })
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('an edge login of an open account returns its own account object, and a cancel does not log out the first one', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world)
  const alice = await phone.context.createAccount(ALICE)
  const laptop = await openDevice(world)
  const known = await laptop.context.loginWithPassword(ALICE.username, ALICE.password)
  const second = await letIn(clock, alice, laptop)
  t.not(second, known)
  t.is(second.id, known.id)
  await second.logout()
  t.true(known.isLoggedIn)

  const request = await laptop.context.requestEdgeLogin()
  request.subscribe(() => {
    if (request.getSnapshot().state === 'started') request.cancel()
  })
  await (await alice.fetchLobby(request.lobbyId)).loginRequest?.approve()
  await clock.advance(1000)
  await waitFor(() => request.getSnapshot().state === 'closed')
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  await clock.advance(1000)
  t.true(known.isLoggedIn)
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('an account that opens after the cancel is logged out again', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world)
  const alice = await phone.context.createAccount(ALICE)
  const laptop = await openDevice(world, { appId: APP })
  const request = await laptop.context.requestEdgeLogin()
  request.subscribe(() => {
    if (request.getSnapshot().state === 'started') request.cancel()
  })
  await (await alice.fetchLobby(request.lobbyId)).loginRequest?.approve()
  await clock.advance(1000)
  await waitFor(() => request.getSnapshot().state === 'closed')
  await waitFor(() => laptop.context.accounts.length === 0)
  await clock.advance(5000)
  t.deepEqual(laptop.context.accounts, [])
  t.deepEqual(laptop.context.localUsers, [])
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('while the data of an account cannot be fetched the request stays open, and nothing is on the device', async t => {
  const { world, clock } = makeWorld()
  const phone = await openDevice(world)
  const alice = await phone.context.createAccount(ALICE)
  const laptop = await openDevice(world, { appId: APP })
  const free = world.server.use(async (request, next) => {
    if (request.path.includes('/store/')) throw new Error('No network')
    return next()
  })
  const request = await laptop.context.requestEdgeLogin()
  await (await alice.fetchLobby(request.lobbyId)).loginRequest?.approve()
  await waitFor(async () => {
    await clock.advance(1000)
    return request.getSnapshot().errorCode === 'SYNC_FAILED'
  })
  t.is(request.getSnapshot().state, 'pending')
  t.deepEqual(laptop.context.localUsers, [])
  t.deepEqual(laptop.context.accounts, [])
  free()
  t.true((await settled(clock, request)).isEdgeLogin)
  for (const kernel of [phone, laptop]) await kernel.close()
})

test('a closed kernel sends no further requests', async t => {
  const { world, clock } = makeWorld()
  const laptop = await openDevice(world, { appId: APP })
  const request = await laptop.context.requestEdgeLogin()
  await laptop.close()
  t.is(request.getSnapshot().state, 'closed')
  await t.throwsAsync(request.account, { code: 'EDGE_LOGIN_CLOSED' })
  await clock.advance(1000)
  const { length } = world.server.traffic.lines
  const { context } = laptop
  const calls = [
    context.requestEdgeLogin(),
    context.usernameAvailable('alice'),
    context.fetchRecovery2Questions('1'.repeat(32), 'alice'),
    context.listRecoveryQuestionChoices(),
    context.requestOtpReset('alice', 'token'),
    context.fetchLoginMessages(),
    context.forgetAccount({ username: 'alice' })
  ]
  for (const call of calls) await t.throwsAsync(call, { code: 'CONTEXT_CLOSED' })
  await clock.advance(700_000)
  t.is(world.server.traffic.lines.length, length)
})

test('a request that does not reach the server fails at once', async t => {
  const { world, clock } = makeWorld()
  const laptop = await openDevice(world, { appId: APP })
  world.setOnline(false)
  const { timerCount } = clock
  await t.throwsAsync(laptop.context.requestEdgeLogin(), { code: 'NETWORK' })
  t.is(clock.timerCount, timerCount)
  await laptop.close()
})
