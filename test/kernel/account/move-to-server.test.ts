import test from 'ava'
import type { Account } from '../../../kernel/index.ts'
import type { LoginStash } from '../../../kernel/types/login.ts'
import type { NotedWorld } from '../../helpers/device-account.ts'
import {
  contentsOf,
  fillAccount,
  HERMIT,
  type HermitDevice,
  makeNotedWorld,
  openHermitDevice
} from '../../helpers/device-account.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'

const { username, password } = HERMIT

interface Start {
  readonly place: NotedWorld
  readonly files: ReadonlyMap<string, string>
  readonly contents: unknown
}

/** The files of a device with the account, closed in order. */
const makeStart = async (): Promise<Start> => {
  const place = makeNotedWorld()
  const { kernel, context, files } = await openHermitDevice(place.world)
  const account = await context.createAccount(HERMIT)
  await fillAccount(place.world, account)
  const contents = await contentsOf(account)
  await kernel.close()
  return { place, files, contents }
}

/** Opens the account on the device of some files. */
const openAccount = async (
  place: NotedWorld,
  options: Parameters<typeof openHermitDevice>[1] = {}
): Promise<HermitDevice & { readonly account: Account }> => {
  const device = await openHermitDevice(place.world, options)
  return { ...device, account: await device.context.loginWithPassword(username, password) }
}

/** Logs in on a device that knows nothing, so that all of it must be on the servers. */
const contentsElsewhere = async (place: NotedWorld): Promise<unknown> => {
  const { kernel, account } = await openAccount(place)
  await account.sync()
  const contents = await contentsOf(account)
  await kernel.close()
  return contents
}

const HERMITS_PIN = '4711'

test('an account moves to a server with the same keys and password, and with everything that is in it', async t => {
  const { place, files, contents } = await makeStart()
  const { kernel, account } = await openAccount(place, { files: new Map(files) })
  const rootId = account.rootLoginId
  await account.credentials.changePIN({ pin: HERMITS_PIN, enableLogin: false })
  await account.location.moveToServer()
  t.false(account.location.isDeviceOnly)
  t.is(account.getSnapshot().isDeviceOnly, undefined)
  t.true(account.listRepos().every(repo => repo.isDeviceOnly === undefined && repo.pendingCount === 0))
  t.deepEqual(await contentsElsewhere(place), contents)

  const other = await openAccount(place)
  t.is(other.account.rootLoginId, rootId)
  t.true(await other.account.credentials.checkPIN(HERMITS_PIN))
  await other.account.dataStore.setItem('notes', 'back', 'from the other device')
  await other.account.sync()
  await account.sync()
  t.is(await account.dataStore.getItem('notes', 'back'), 'from the other device')
  await account.credentials.changePIN({ pin: HERMITS_PIN, enableLogin: true })
  place.requests.length = 0
  await account.location.moveToServer()
  t.false(
    place.requests.some(request => request.includes('/v2/login/')),
    place.requests.join()
  )
  await other.kernel.close()
  await kernel.close()
})

test('a moved account that another one has the name of keeps everything, and moves by another name', async t => {
  const { place, files, contents } = await makeStart()
  const rival = await openHermitDevice(place.world)
  await rival.context.createAccount({ username, password: 'Other horse 3' })
  await rival.kernel.close()
  const { kernel, context, account } = await openAccount(place, { files: new Map(files) })
  await t.throwsAsync(account.location.moveToServer(), { code: 'ACCOUNT_EXISTS' })
  t.true(account.location.isDeviceOnly)
  t.deepEqual(await contentsOf(account), contents)
  await account.credentials.changeUsername({ username: 'recluse', password })
  await account.location.moveToServer()
  await account.logout()
  const other = await openHermitDevice(place.world)
  const moved = await other.context.loginWithPassword('recluse', password)
  t.deepEqual(await contentsOf(moved), contents)
  t.is(context.localUsers[0]?.isDeviceOnly, undefined)
  await other.kernel.close()
  await kernel.close()
})

test('a move whose request or answer is lost at any point is completed by another one', async t => {
  const start = await makeStart()
  const saved = start.place.world.toJson()
  const routes = await routesOfMove(start)
  t.true(routes.length >= 6, routes.join())
  for (let at = 0; at < routes.length; at += 1) {
    for (const isAnswerLost of [false, true]) {
      const label = `${isAnswerLost ? 'answer' : 'request'} ${at}, ${routes[at]}`
      const place = makeNotedWorld(saved)
      const lost = loseRequest(place, { at, isAnswerLost })
      const { kernel, account } = await openAccount(place, { files: new Map(start.files) })
      const failure = await account.location.moveToServer().catch((error: unknown) => error)
      t.true(lost.hasFired, label)
      if (account.location.isDeviceOnly) t.is((failure as { code?: string }).code, codeOf(routes[at]), label)
      // What is changed between the two is not lost either.
      await account.dataStore.setItem('notes', 'between', label)
      await account.credentials.changePassword('Another horse 2')
      await account.location.moveToServer()
      t.false(account.location.isDeviceOnly, label)
      await kernel.close()
      const other = await openHermitDevice(place.world)
      const moved = await other.context.loginWithPassword(username, 'Another horse 2')
      t.deepEqual(await contentsOf(moved), start.contents, label)
      t.is(await moved.dataStore.getItem('notes', 'between'), label)
      await other.kernel.close()
    }
  }
})

const codeOf = (route = ''): string => (route.includes('/store/') ? 'SYNC_FAILED' : 'NETWORK')

/** The requests of a move that nothing disturbs. */
const routesOfMove = async ({ place, files }: Start): Promise<readonly string[]> => {
  const { kernel, account } = await openAccount(place, { files: new Map(files) })
  place.requests.length = 0
  await account.location.moveToServer()
  const routes = [...place.requests]
  await kernel.close()
  return routes
}

/** Loses one request of the login and sync servers, or its answer. */
const loseRequest = (
  { world }: NotedWorld,
  { at, isAnswerLost }: { readonly at: number; readonly isAnswerLost: boolean }
): { readonly hasFired: boolean } => {
  const state = { hasFired: false }
  let count = 0
  world.server.use(async ({ path }, next) => {
    if (path === '/v1/edgeServers') return next()
    count += 1
    if (count - 1 !== at) return next()
    state.hasFired = true
    if (isAnswerLost) await next()
    throw new Error('The network is gone')
  })
  return state
}

test('a server that cannot take an account now is sent its keys once, and what it said is thrown', async t => {
  const { place, files } = await makeStart()
  const routes: string[] = []
  place.world.server.use(async ({ path }, next) => {
    if (!path.startsWith('/api/')) return next()
    routes.push(path)
    return { status: 500, body: 'down', headers: {} }
  })
  const { kernel, account } = await openAccount(place, { files: new Map(files) })
  await t.throwsAsync(account.location.moveToServer(), { code: 'INVALID_JSON' })
  t.deepEqual(routes, ['/api/v2/login/create'])
  t.true(account.location.isDeviceOnly)
  await kernel.close()
})

test('an account whose files do not reach the servers stays one of this device, until they do', async t => {
  const start = await makeStart()
  const { place } = start
  const files = new Map(start.files)
  let isLost = true
  place.world.server.use(async ({ path }, next) => {
    if (isLost && path.includes('/store/')) throw new Error('The sync servers are gone')
    return next()
  })
  const { kernel, account } = await openAccount(place, { files })
  await t.throwsAsync(account.location.moveToServer(), { code: 'SYNC_FAILED' })
  t.true(account.location.isDeviceOnly)
  t.true(account.listRepos().every(({ isDeviceOnly }) => isDeviceOnly === true))
  await account.credentials.changeUsername({ username: 'recluse', password })
  await kernel.close()
  const again = await openHermitDevice(place.world, { files })
  t.true(again.context.localUsers[0]?.isDeviceOnly)
  const opened = await again.context.loginWithPassword('recluse', password)
  isLost = false
  await opened.location.moveToServer()
  await again.kernel.close()
  const other = await openHermitDevice(place.world)
  t.deepEqual(await contentsOf(await other.context.loginWithPassword('recluse', password)), start.contents)
  await other.kernel.close()
})

test('a move that the power is cut in at any write is completed by another one', async t => {
  const start = await makeStart()
  const saved = start.place.world.toJson()
  const move = async (place: NotedWorld, disk: ReturnType<typeof makeFaultDisk>): Promise<void> => {
    const { kernel, context } = await openHermitDevice(place.world, { disk })
    try {
      const account = await context.loginWithPassword(username, password)
      await account.location.moveToServer()
    } finally {
      await kernel.close().catch(() => {})
    }
  }
  const whole = makeFaultDisk(new Map(start.files))
  await move(makeNotedWorld(saved), whole)
  const { writeCount } = whole
  t.true(writeCount >= 6)
  for (let at = 1; at <= writeCount; at += 1) {
    for (const kind of FAULT_KINDS) {
      const label = `${kind} at ${at} of ${writeCount}`
      const place = makeNotedWorld(saved)
      const files = new Map(start.files)
      const disk = makeFaultDisk(files, { at, kind })
      await move(place, disk).catch(() => {})
      if (!disk.hasFired) continue
      await move(place, makeFaultDisk(files))
      t.deepEqual(await contentsElsewhere(place), start.contents, label)
    }
  }
})

test('an old backup that is moved to the server of its account takes the password and the wallets that are there', async t => {
  const place = makeNotedWorld()
  const { kernel, account } = await openAccount(place, { files: new Map((await makeStart()).files) })
  const backup = await account.location.makeBackup()
  const old = await account.createCurrencyWallet('wallet:bitcoin', { name: 'made after the backup' })
  await account.location.moveToServer()
  await account.credentials.changePassword('Another horse 2')
  await kernel.close()

  const device = await openHermitDevice(place.world)
  await device.context.restoreAccount(backup, { password })
  const restored = await device.context.loginWithPassword(username, password)
  t.true(restored.location.isDeviceOnly)
  await restored.location.moveToServer()
  t.true(restored.listWallets().some(({ walletId }) => walletId === old.id))
  await restored.logout()
  const opened = await device.context.loginWithPassword(username, 'Another horse 2')
  await t.throwsAsync(device.context.restoreAccount(backup, { password }), {
    code: 'ACCOUNT_ON_DEVICE',
    message: /has moved to a login server/
  })
  await opened.logout()
  await device.kernel.close()
})

test('a move without a sync server asks no server for anything', async t => {
  const { place, files, contents } = await makeStart()
  const { kernel, context, account } = await openAccount(place, {
    ...{ files: new Map(files), syncServers: [], infoServers: [] }
  })
  await t.throwsAsync(account.location.moveToServer(), {
    code: 'SYNC_FAILED',
    message: /there is no sync server/
  })
  t.deepEqual(place.requests, [])
  t.true(await context.usernameAvailable(username))
  t.deepEqual(await contentsOf(account), contents)
  await kernel.close()
})

test('a move takes the login of an app along, and a repeated one brings its PIN up to date', async t => {
  const place = makeNotedWorld()
  const { world } = place
  let isLost = true
  world.server.use(async ({ path }, next) => {
    if (isLost && path.includes('/store/')) throw new Error('The sync servers are gone')
    return next()
  })
  const childrenOf = ({ files }: HermitDevice): readonly Partial<LoginStash>[] =>
    [...files].flatMap(([path, text]) =>
      path.startsWith('logins/') ? (JSON.parse(text) as LoginStash).children : []
    ) as readonly Partial<LoginStash>[]
  const first = await openHermitDevice(world, { appId: APP })
  const account = await first.context.createAccount(HERMIT)
  await fillAccount(world, account)
  const contents = await contentsOf(account)
  await account.credentials.changePIN({ pin: HERMITS_PIN, enableLogin: false })
  await t.throwsAsync(account.location.moveToServer(), { code: 'SYNC_FAILED' })
  await account.credentials.changePIN({ pin: '1357', enableLogin: false })
  const [child] = childrenOf(first)
  t.is(child?.appId, APP)
  isLost = false
  await account.location.moveToServer()

  const { kernel, account: elsewhere, ...other } = await openAccount(place, { appId: APP })
  await elsewhere.sync()
  t.deepEqual(await contentsOf(elsewhere), contents)
  const found = childrenOf({ kernel, ...other })
  t.deepEqual(
    found.map(({ appId, loginId, pin2TextBox }) => ({ appId, loginId, pin2TextBox })),
    [{ appId: APP, loginId: child?.loginId, pin2TextBox: child?.pin2TextBox }]
  )
  await kernel.close()
  await first.kernel.close()
})

const APP = 'test.app'

/** A move that has made the login on the server and then failed, and another device that has logged in to it. */
const makeHalfMoved = async (): Promise<{
  readonly start: Start
  readonly first: HermitDevice & { readonly account: Account }
  readonly other: HermitDevice & { readonly account: Account }
}> => {
  const start = await makeStart()
  const { place, files } = start
  let isLost = true
  place.world.server.use(async ({ path }, next) => {
    if (isLost && path.includes('/store/')) throw new Error('The sync servers are gone')
    return next()
  })
  const first = await openAccount(place, { files: new Map(files) })
  await first.account.credentials.changePIN({ pin: HERMITS_PIN, enableLogin: false })
  await first.account.location.moveToServer().catch(() => {})
  isLost = false
  return { start, first, other: await openAccount(place) }
}

test('a repeated move leaves what another device has changed on the server since, whatever was changed here', async t => {
  const moveAgain = async ({ start, first, other }: Awaited<ReturnType<typeof makeHalfMoved>>) => {
    await first.account.location.moveToServer()
    t.false(first.account.location.isDeviceOnly)
    await other.kernel.close()
    await first.kernel.close()
    return start.place
  }
  for (const isChangedHere of [false, true]) {
    const moving = await makeHalfMoved()
    const { first, other } = moving
    await other.account.credentials.changePassword('Third horse 3')
    await other.account.credentials.changePIN({ pin: '2468', enableLogin: false })
    if (isChangedHere) await first.account.credentials.changePassword('Another horse 2')
    const { world } = await moveAgain(moving)
    const device = await openHermitDevice(world)
    const account = await device.context.loginWithPassword(username, 'Third horse 3')
    t.true(await account.credentials.checkPIN('2468'))
    await account.sync()
    t.deepEqual(await contentsOf(account), moving.start.contents)
    await device.kernel.close()
  }
  const moving = await makeHalfMoved()
  await moving.other.account.credentials.changeUsername({ username: 'recluse', password })
  await moving.first.account.credentials.changePIN({ pin: '1357', enableLogin: false })
  const { world } = await moveAgain(moving)
  t.is(moving.first.account.username, 'recluse')
  const device = await openHermitDevice(world)
  const account = await device.context.loginWithPassword('recluse', password)
  t.true(await account.credentials.checkPIN('1357'))
  await device.kernel.close()
})

test('a repeated move sends the keys of wallets that were made since, and no others again', async t => {
  const { start, first, other } = await makeHalfMoved()
  const { world } = start.place
  const sent: { keyBoxes: unknown[]; newSyncKeys: unknown[] }[] = []
  let isLoginLost = true
  world.server.use(async (request, next) => {
    if (isLoginLost && request.path.endsWith('/v2/login')) throw new Error('The network is gone')
    if (request.path.endsWith('/v2/login/keys')) sent.push(JSON.parse(request.body).data)
    return next()
  })
  await t.throwsAsync(first.account.location.moveToServer(), { code: 'NETWORK' })
  t.true(first.account.location.isDeviceOnly)
  isLoginLost = false
  const made = await first.account.createCurrencyWallet('wallet:bitcoin', { name: 'made in between' })
  await first.account.location.moveToServer()
  t.deepEqual(
    sent.map(({ keyBoxes, newSyncKeys }) => [keyBoxes.length, newSyncKeys.length]),
    [[1, 1]]
  )
  await other.account.sync()
  t.true(other.account.listWallets().some(({ walletId }) => walletId === made.id))
  await first.account.location.moveToServer()
  t.is(sent.length, 1)
  await other.kernel.close()
  await first.kernel.close()
})

test('a repeated move of an account that has not changed since sends nothing of it again, and a removed PIN is removed', async t => {
  for (const isPinRemoved of [false, true]) {
    const { start, first, other } = await makeHalfMoved()
    if (isPinRemoved) await first.account.credentials.deletePIN()
    const { requests } = start.place
    requests.length = 0
    await first.account.location.moveToServer()
    t.deepEqual(
      requests.filter(request => request.includes('/v2/login/')),
      ['POST /api/v2/login/create', ...(isPinRemoved ? ['DELETE /api/v2/login/pin2'] : [])]
    )
    await other.kernel.close()
    await first.kernel.close()
    const { kernel, account } = await openAccount(start.place)
    t.is(await account.credentials.checkPIN(HERMITS_PIN), !isPinRemoved)
    await kernel.close()
  }
})

test('an approval of another device does not end a move that is half done', async t => {
  const { start, first, other } = await makeHalfMoved()
  const { context, account } = first
  await account.logout()
  const request = await context.requestEdgeLogin()
  await (await other.account.fetchLobby(request.lobbyId)).loginRequest?.approve()
  const approved = await request.account
  t.true(approved.location.isDeviceOnly)
  t.true(context.localUsers[0]?.isDeviceOnly)
  await approved.location.moveToServer()
  t.is(context.localUsers[0]?.isDeviceOnly, undefined)
  await first.kernel.close()
  await other.account.sync()
  await other.kernel.close()
  t.deepEqual(await contentsElsewhere(start.place), start.contents)
})
