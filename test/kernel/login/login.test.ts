import test from 'ava'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { openJson } from '../../../kernel/crypto/box.ts'
import { hotp } from '../../../kernel/crypto/totp.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { otpChange } from '../../../kernel/login/changes.ts'
import { Login, type LoginState } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { runAttempt } from '../../../kernel/login/online.ts'
import { pinChanges } from '../../../kernel/login/pin-changes.ts'
import { SecretCache } from '../../../kernel/login/secret-cache.ts'
import { usernameAvailable } from '../../../kernel/login/server.ts'
import { listTrees } from '../../../kernel/login/tree.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle
} from '../../helpers/login-device.ts'

const ALICE = { username: 'Alice  Doe', password: 'correct horse' }
const PIN = '4711'

const create = ({ services, stashes }: LoginDevice, options: object = {}): Promise<Login> =>
  createLogin(services, stashes, { ...ALICE, pin: PIN, snrp: CHEAP, ...options })

const withPassword = ({ services, stashes }: LoginDevice, options: object = {}): Promise<Login> =>
  loginWithPassword(services, stashes, { ...ALICE, ...options })

/** A world with Alice's account, made on a device that is gone. */
const makeAlice = async (
  options: object = {}
): Promise<{ world: LoginWorld; files: Map<string, string> }> => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const login = await create(device, options)
  await login.ensureAccountRepo()
  login.close()
  return { world, files: device.files }
}

const routesOf = (world: LoginWorld): string[] => world.requests.map(({ route }) => route)

test('a new account with password and PIN is made with the two requests of the protocol [7.13] [7.6] [6.2] [9.6]', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const login = await create(device)
  const repo = await login.ensureAccountRepo()

  t.deepEqual(routesOf(world), ['POST /api/v2/login/create', 'POST /api/v2/login/keys'])
  const [created, keys] = world.requests.map(({ body }) => body)
  t.deepEqual(Object.keys(created), ['data'])
  t.deepEqual(
    Object.keys(created.data).sort(),
    // biome-ignore format: the list of protocol §2.4
    ['appId', 'loginAuth', 'loginAuthBox', 'loginId', 'passwordAuth', 'passwordAuthBox', 'passwordAuthSnrp', 'passwordBox', 'passwordKeySnrp', 'pin2Auth', 'pin2Box', 'pin2Id', 'pin2KeyBox', 'pin2TextBox', 'userId', 'userTextBox']
  )
  t.deepEqual(Object.keys(keys).sort(), ['data', 'loginAuth', 'loginId'])
  t.is(repo.type, 'account-repo:co.airbitz.wallet')
  repo.keys.use(({ syncKey, dataKey }) => {
    t.is(Buffer.from(String(dataKey), 'base64').length, 32)
    t.deepEqual(keys.data.newSyncKeys, [Buffer.from(String(syncKey), 'base64').toString('hex')])
  })

  t.is(login.username, 'alice doe')
  t.is(
    login.tree.pin?.use(pin => pin),
    PIN
  )
  const stash = JSON.parse(device.files.get(`logins/${login.rootLoginId}.json`) ?? '')
  t.is(stash.loginId, created.data.loginId)
  t.is(stash.keyBoxes.length, 1)
  t.is('pin2Box' in stash || 'userTextBox' in stash || 'syncToken' in stash, false)
  t.false([...device.files.values()].join().includes(ALICE.password))
  t.deepEqual(device.stages, ['create deriving', 'create asking', 'create opening', 'create ready'])
})

test('a password login on a known device opens the account before any request, then refreshes it [4.29]', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  world.requests.length = 0
  const open = withPassword(device)
  const login = await open
  const before = [...world.requests]
  t.deepEqual(before, [])
  t.is(login.walletInfos.length, 1)
  await settle()
  t.deepEqual(routesOf(world), ['POST /api/v2/login'])
  t.deepEqual(Object.keys(world.requests[0]?.body).sort(), ['loginAuth', 'loginId'])
  t.truthy(login.stash.created)
  t.is(world.requests[0]?.body.passwordAuth, undefined)
})

test('a login that changes nothing writes nothing', async t => {
  const { world, files } = await makeAlice()
  const first = await openDevice(world, files)
  await withPassword(first)
  await settle()
  const second = await openDevice(world, files)
  t.is(second.disk.writeCount, 0)
  await world.clock.advance(60_000)
  const login = await withPassword(second)
  await settle()
  await login.refresh()
  t.is(second.disk.writeCount, 0)
  t.is(second.stashes.localUsers()[0]?.lastLogin?.getTime(), world.clock.now())

  await world.clock.advance(86_400_000)
  const later = await openDevice(world, files)
  await withPassword(later)
  t.true(later.disk.writeCount > 0)
})

test('a second device logs in online and then has the whole account [4.29] [7.2]', async t => {
  const { world } = await makeAlice()
  const device = await openDevice(world, new Map(), { config: { deviceDescription: 'A laptop' } })
  world.requests.length = 0
  const login = await withPassword(device, { challengeId: 'solved' })
  t.deepEqual(routesOf(world), ['POST /api/v2/login'])
  const body = world.requests[0]?.body
  t.deepEqual(Object.keys(body).sort(), ['challengeId', 'deviceDescription', 'passwordAuth', 'userId'])
  t.is(body.challengeId, 'solved')
  t.is(body.deviceDescription, 'A laptop')
  t.is(login.walletInfos[0]?.type, 'account-repo:co.airbitz.wallet')
  t.is(login.username, 'alice doe')
  t.true(device.files.has(`logins/${login.rootLoginId}.json`))
  t.deepEqual(device.stages, ['password deriving', 'password asking', 'password opening', 'password ready'])

  world.server.isOnline = false
  const again = await openDevice(world, device.files)
  t.is((await withPassword(again)).walletInfos.length, 1)
  t.deepEqual(again.stages, ['password deriving', 'password opening', 'password ready'])
  await settle()
  t.deepEqual(again.reports, [])
  t.true(again.logLines.some(line => line.includes('NETWORK')))
})

test('wallets that one device adds appear on the other, and both keep them [7.6]', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  const other = await withPassword(await openDevice(world))
  const info = makeWalletInfo(device.services.io, 'wallet:bitcoin', { bitcoinKey: 'seed' })
  let changes = 0
  login.subscribe(() => {
    changes += 1
  })
  const [added] = await login.addWalletInfos([info])
  t.is(
    added?.keys.use(keys => keys.bitcoinKey),
    'seed'
  )
  t.true(changes > 0)
  await other.refresh()
  t.is(other.walletInfos.find(({ id }) => id === info.id)?.type, 'wallet:bitcoin')
  t.deepEqual(other.walletInfos.at(-1)?.appIds, [''])

  const clash = { ...info, keys: { ...info.keys, bitcoinKey: 'other' } }
  world.requests.length = 0
  await t.throwsAsync(login.addWalletInfos([clash]), { code: 'KEY_INTEGRITY' })
  t.deepEqual(world.requests, [])
})

test('after its own change a device fetches the whole login, though it has a token', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  await settle()
  const routesOfRefresh = async (): Promise<string[]> => {
    world.requests.length = 0
    await login.refresh()
    return routesOf(world)
  }
  t.deepEqual(await routesOfRefresh(), ['POST /api/v2/sync'])
  await login.change(({ held }) => [otpChange(device.services.io, held)])
  t.deepEqual(await routesOfRefresh(), ['POST /api/v2/login'])
  t.deepEqual(await routesOfRefresh(), ['POST /api/v2/sync'])
})

test('after an offline login a change fetches the login first', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  world.server.isOnline = false
  const login = await withPassword(device)
  await settle()
  world.server.isOnline = true
  world.requests.length = 0
  const pin = new Secret('2580')
  await login.change(state => pinChanges(device.services.io, state, { pin }))
  t.true(routesOf(world).includes('POST /api/v2/login/pin2'))
  t.not(routesOf(world)[0], 'POST /api/v2/login/pin2')
})

test('after a login by key without the network, a change asks the server first, which another device has changed', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const { services, stashes } = device
  const first = await withPassword(device)
  await first.refresh()
  const loginKey = first.rootLoginKeyBase58()
  first.close()
  const other = await withPassword(await openDevice(world))
  const pin = new Secret('2580')
  await other.change(state => pinChanges(services.io, state, { pin }))
  world.server.isOnline = false
  // With its new date kept, the account would count as changed on this device.
  await world.clock.advance(2 * 86_400_000)
  device.disk.strike({ at: 1, kind: 'full' })
  const login = await loginWithKey(services, stashes, { username: 'alice doe', loginKey })
  t.true(device.disk.hasFired)
  await t.throwsAsync(login.refresh(), { code: 'NETWORK' })
  world.server.isOnline = true
  let seen: string | undefined
  await login.change(({ held }) => {
    seen = held.pin?.use(text => text)
    return []
  })
  t.is(seen, '2580')
})

test('a change is built on what another login of the account on this device has just changed', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const [one, two] = [await withPassword(device), await withPassword(device)]
  for (const login of [two, one]) await login.refresh()
  const pin = new Secret('2580')
  await two.change(state => pinChanges(device.services.io, state, { pin }))
  let seen: string | undefined
  await one.change(({ held }) => {
    seen = held.pin?.use(text => text)
    return []
  })
  t.is(seen, '2580')
})

test('a change of an account of this device is built on what another login of it has just changed', async t => {
  const device = await openDevice(makeLoginWorld())
  const one = await create(device, { pin: undefined, isDeviceOnly: true })
  const two = await withPassword(device)
  const seen: (string | undefined)[] = []
  const note = ({ held }: LoginState): [] => {
    seen.push(held.pin?.use(text => text))
    return []
  }
  await one.change(note)
  const pin = new Secret('2580')
  await two.change(state => pinChanges(device.services.io, state, { pin, enableLogin: false }))
  await one.change(note)
  t.deepEqual(seen, [undefined, '2580'])
})

test('after a change whose reply was lost, the next change fetches the login first', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  await settle()
  const { services } = device
  world.loseReplyOf = 'POST /api/v2/login/otp'
  const lost = login.change(({ held }) => [otpChange(services.io, held)])
  await t.throwsAsync(
    lost.finally(() => {
      world.server.isOnline = false
    }),
    { code: 'NETWORK' }
  )
  await settle()
  world.server.isOnline = true
  world.loseReplyOf = undefined
  world.requests.length = 0
  let isEnabled = false
  await login.change(({ held }) => {
    isEnabled = held.otpKey !== undefined
    return []
  })
  t.deepEqual(routesOf(world), ['POST /api/v2/login'])
  t.true(isEnabled, 'the server had made the change')
  world.requests.length = 0
  await login.change(() => [])
  t.deepEqual(routesOf(world), [])
})

test('a held key survives a refresh, until the login is closed', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  const { keys } = await login.ensureAccountRepo()
  await login.addWalletInfos([makeWalletInfo(device.services.io, 'wallet:bitcoin')])
  t.is(login.walletInfos[0]?.keys, keys)
  const { loginKey } = login.tree
  await login.refresh()
  login.close()
  t.false(keys.isAlive)
  t.false(loginKey.isAlive)
  const before = world.requests.length
  await t.throwsAsync(login.refresh(), { code: 'LOGGED_OUT' })
  await t.throwsAsync(login.addWalletInfos([]), { code: 'LOGGED_OUT' })
  await t.throwsAsync(login.ensureAccountRepo(), { code: 'LOGGED_OUT' })
  t.throws(() => login.rootLoginKeyBase58(), { code: 'LOGGED_OUT' })
  login.close()
  t.is(world.requests.length, before)
})

test('a PIN login that a server answers with another id for the known key is refused', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const [user] = device.stashes.localUsers()
  const before = JSON.stringify([...files])
  const loginId = Buffer.alloc(32, 9).toString('base64')
  world.garble = (_, reply) => ({ ...reply, results: { ...reply.results, loginId } })
  const { services, stashes } = device
  await t.throwsAsync(loginWithPin(services, stashes, { loginId: user?.loginId ?? '', pin: PIN }), {
    code: 'KEY_INTEGRITY'
  })
  t.is(JSON.stringify([...files]), before)
})

test('wallet keys of two logins are destroyed at logout, those of an earlier tree too', async t => {
  const { world, files } = await makeAlice()
  const info = makeWalletInfo((await openDevice(world)).services.io, 'wallet:toy', { toyKey: 'x' })
  const app = await withPassword(await openDevice(world, new Map(), { config: { appId: 'test.app' } }))
  await app.ensureAccountRepo()
  await app.addWalletInfos([{ ...info, keys: { ...info.keys, more: 'y' } }])
  const login = await withPassword(await openDevice(world, files))
  await login.refresh()
  await login.addWalletInfos([info])
  const keysNow = () => login.walletInfos.find(({ id }) => id === info.id)?.keys
  const early = keysNow()
  await login.addWalletInfos([makeWalletInfo((await openDevice(world)).services.io, 'wallet:toy', {})])
  t.true(early?.isAlive)
  const late = keysNow()
  login.close()
  t.false(early?.isAlive)
  t.false(late?.isAlive)
})

test('a logout destroys every key of the account, also those of other apps than its own', async t => {
  const { world } = await makeAlice()
  const app = await withPassword(await openDevice(world, new Map(), { config: { appId: 'test.app' } }))
  await app.ensureAccountRepo()
  const keys = listTrees(app.getSnapshot().held).flatMap(({ walletInfos }) =>
    walletInfos.map(info => info.keys)
  )
  t.true(keys.length > app.walletInfos.length)
  t.true(keys.every(({ isAlive }) => isAlive))
  app.close()
  t.false(keys.some(({ isAlive }) => isAlive))
})

test('a login that this device does not have cannot be held', async t => {
  const { services, stashes } = await openDevice(makeLoginWorld())
  const rootId = Buffer.alloc(32, 9).toString('base64')
  const secrets = new SecretCache(services.io)
  const loginKey = new Secret(new Uint8Array(32))
  const held = { rootId, loginId: rootId, loginKey, secrets, isCurrent: false }
  t.throws(() => new Login(services, stashes, held), { code: 'STASH_NOT_FOUND' })
  await stashes.save({ appId: '', loginId: rootId, pendingVouchers: [] })
  const below = { ...held, loginId: Buffer.alloc(32, 8).toString('base64') }
  t.throws(() => new Login(services, stashes, below), { code: 'STASH_NOT_FOUND' })
})

test('a known account opens, repo and all, while the server never answers', async t => {
  const { world, files } = await makeAlice()
  world.server.use(() => new Promise(() => {}))
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  await settle()
  t.is((await login.ensureAccountRepo()).type, 'account-repo:co.airbitz.wallet')
  await world.clock.advance(30_000)
  t.true(device.logLines.some(line => line.includes('NETWORK')))
})

test('a refresh that is running at logout ends with LOGGED_OUT', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  await settle()
  const before = device.files.get(`logins/${login.rootLoginId}.json`)
  const refresh = login.refresh()
  login.close()
  await t.throwsAsync(refresh, { code: 'LOGGED_OUT' })
  t.is(device.files.get(`logins/${login.rootLoginId}.json`), before)
  t.deepEqual(device.reports, [])
})

test('a login that is closed before its refresh in the background ends leaves nothing in the log', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  login.close()
  await settle()
  t.deepEqual([...device.logLines, ...device.reports], [])
})

for (const first of ['logged out', 'still logged in']) {
  test(`a late refresh reply does not undo the changes of a second login on the device, with the first one ${first}`, async t => {
    const { world, files } = await makeAlice()
    const device = await openDevice(world, files)
    const held: (() => void)[] = []
    world.server.use(async ({ path }, next) => {
      const reply = await next()
      if (path === '/api/v2/login' && held.length === 0)
        await new Promise<void>(resolve => held.push(resolve))
      return reply
    })
    const slow = await withPassword(device)
    await settle()
    t.is(held.length, 1)
    if (first === 'logged out') slow.close()

    const second = await withPassword(device)
    const { io } = device.services
    await second.change(state => pinChanges(io, state, { enableLogin: false }))
    const isPinOn = (): boolean | undefined => device.stashes.localUsers()[0]?.isPinLoginEnabled
    t.false(isPinOn())
    await settle()
    held[0]?.()
    await settle()
    t.false(isPinOn())
    const file = device.files.get(`logins/${second.rootLoginId}.json`) ?? ''
    t.false('pin2Key' in JSON.parse(file))
    t.deepEqual(device.reports, [])
    if (first === 'still logged in') {
      t.is(slow.tree.pin2Key, undefined)
      t.is(
        slow.tree.pin?.use(pin => pin),
        PIN
      )
    }
  })
}

test('a PIN logs in online on a device that knows the account [4.27] [7.4]', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const { services, stashes } = device
  world.requests.length = 0
  const login = await loginWithPin(services, stashes, { username: 'alice doe', pin: PIN })
  t.deepEqual(Object.keys(world.requests[0]?.body).sort(), ['pin2Auth', 'pin2Id'])
  t.is(login.walletInfos.length, 1)
  t.true(stashes.localUsers()[0]?.isPinLoginEnabled)
  await t.throwsAsync(loginWithPin(services, stashes, { loginId: login.rootLoginId, pin: '0000' }), {
    code: 'PASSWORD'
  })
  t.deepEqual(device.stages.slice(-2), ['pin asking', 'pin failed PASSWORD'])
})

test('PIN and key logins need the user on the device, and a PIN that is enabled [5.11] [5.12]', async t => {
  const { world, files } = await makeAlice({ pin: undefined })
  const empty = await openDevice(world)
  await t.throwsAsync(loginWithPin(empty.services, empty.stashes, { username: 'alice doe', pin: PIN }), {
    code: 'USER_NOT_ON_DEVICE',
    message: 'User does not exist on this device'
  })
  await t.throwsAsync(loginWithKey(empty.services, empty.stashes, { loginId: '1', loginKey: '1' }), {
    code: 'USER_NOT_ON_DEVICE'
  })
  const { services, stashes } = await openDevice(world, files)
  await t.throwsAsync(loginWithPin(services, stashes, { username: 'alice doe', pin: PIN }), {
    code: 'PIN_NOT_ENABLED',
    message: 'PIN login is not enabled for this account on this device'
  })
})

test('a login key opens the account without a request, and then refreshes it; another key does not [6.4]', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const { services, stashes } = device
  const first = await withPassword(device)
  const loginKey = first.rootLoginKeyBase58()
  first.close()
  await settle()
  world.server.isOnline = false
  const login = await loginWithKey(services, stashes, { username: 'ALICE doe', loginKey })
  t.is(login.walletInfos.length, 1)
  for (const wrong of ['', '1', 'not base58 0OIl', '11111111111111111111111111111112']) {
    await t.throwsAsync(loginWithKey(services, stashes, { username: 'alice doe', loginKey: wrong }), {
      code: 'INVALID_CHECKSUM'
    })
  }
  await settle()
  world.server.isOnline = true
  const before = world.requests.length
  await loginWithKey(services, stashes, { username: 'alice doe', loginKey })
  await settle()
  t.true(world.requests.length > before)
})

test('a light account has no name, and its PIN works on its device [3.13]', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const { services, stashes } = device
  const login = await createLogin(services, stashes, { pin: PIN })
  const loginId = login.rootLoginId
  await login.ensureAccountRepo()
  login.close()
  t.deepEqual(stashes.localUsers(), [
    { loginId, isPinLoginEnabled: true, isKeyLoginEnabled: true, lastLogin: new Date(world.clock.now()) }
  ])
  t.is((await loginWithPin(services, stashes, { loginId, pin: PIN })).walletInfos.length, 1)
  t.is(world.requests[0]?.body.data.userId, undefined)
})

test('a returning device finds the repo that another one made, and makes no second one', async t => {
  const world = makeLoginWorld()
  const away = await openDevice(world)
  ;(await create(away)).close()
  const other = await withPassword(await openDevice(world))
  const repo = await other.ensureAccountRepo()
  const back = await withPassword(await openDevice(world, away.files))
  t.is((await back.ensureAccountRepo()).id, repo.id)
  t.is(back.walletInfos.length, 1)
})

test('an app gets its own child login of the root, with its own repo and PIN [6.2]', async t => {
  const { world, files } = await makeAlice()
  const config = { appId: 'test.app' }
  const device = await openDevice(world, files, { config })
  world.requests.length = 0
  const login = await withPassword(device)
  t.throws(() => login.tree, { code: 'APP_ID_NOT_FOUND' })
  const repo = await login.ensureAccountRepo()
  t.is(repo.type, 'account-repo:test.app')
  t.deepEqual(repo.appIds, ['test.app'])
  t.is(login.tree.appId, 'test.app')
  const { data } = world.requests.find(({ route }) => route.endsWith('/create'))?.body ?? {}
  t.truthy(data.parentBox)
  t.truthy(data.pin2Id)
  t.is(data.userId, undefined)
  t.is(data.passwordAuth, undefined)
  t.is(login.stash.children?.[0]?.keyBoxes?.length, 1)

  const second = await openDevice(world, new Map(), { config })
  const other = await withPassword(second)
  t.is((await other.ensureAccountRepo()).id, repo.id)
  const { services, stashes } = second
  const child = await loginWithKey(services, stashes, {
    loginId: other.rootLoginId,
    loginKey: other.rootLoginKeyBase58()
  })
  t.is(child.tree.appId, 'test.app')
  t.is((await child.ensureAccountRepo()).id, repo.id)
  await child.refresh()
  await child.addWalletInfos([makeWalletInfo(services.io, 'wallet:bitcoin')])
  await other.refresh()
  t.is(other.walletInfos.length, 2)
})

test('a child login fetches its own changes, and not those of the root', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files, { config: { appId: 'test.app' } })
  const { services, stashes } = device
  const app = await withPassword(device)
  await app.ensureAccountRepo()
  const child = await loginWithKey(services, stashes, {
    loginId: app.rootLoginId,
    loginKey: app.rootLoginKeyBase58()
  })
  await child.refresh()
  world.requests.length = 0
  await child.refresh()
  const requested = world.requests.map(({ route, body }) => [route, body.loginId])
  t.deepEqual(requested, [['POST /api/v2/sync', child.tree.loginId]])
})

test('a login without a login secret gets one, and later logins use it [4.30] [7.7]', async t => {
  const { world, files } = await makeAlice()
  const [record] = [...world.server.db.entries()].flatMap(entry =>
    entry.kind === 'login' ? [entry.record] : []
  )
  if (record === undefined) throw new Error('The server has no login')
  const { loginAuth: _, loginAuthBox: __, ...rest } = record
  world.server.db.saveLogin({ ...rest, loginAuth: undefined, loginAuthBox: undefined })
  world.requests.length = 0
  const login = await withPassword(await openDevice(world))
  t.deepEqual(routesOf(world), ['POST /api/v2/login', 'POST /api/v2/login/secret'])
  t.truthy(world.requests[1]?.body.passwordAuth)
  t.truthy(login.tree.loginAuth)
  world.garble = (_, reply) => reply
  await login.refresh()
  t.truthy(world.requests.at(-1)?.body.loginAuth)
  t.true(files.size > 0)
})

test('a login secret that the server keeps otherwise than it was given is not kept here, and the login stands', async t => {
  for (const box of ['passwordAuthBox', 'none'] as const) {
    const { world } = await makeAlice()
    for (const entry of [...world.server.db.entries()])
      if (entry.kind === 'login')
        world.server.db.saveLogin({ ...entry.record, loginAuth: undefined, loginAuthBox: undefined })
    let proof: unknown
    world.garble = (route, reply) => {
      if (route === 'POST /api/v2/login') proof = reply.results.passwordAuthBox
      if (route !== 'POST /api/v2/login/secret') return reply
      const { loginAuthBox: _, ...results } = reply.results ?? {}
      // What opens with the login key, and would be shown to the server as the proof of the next request.
      return {
        ...reply,
        results: box === 'none' ? results : { ...results, loginAuthBox: proof }
      }
    }
    const device = await openDevice(world)
    const login = await withPassword(device)
    t.truthy(proof)
    t.is(login.tree.loginAuth, undefined, box)
    t.false('loginAuthBox' in login.stash)
    t.true(device.logLines.some(line => line.includes('Could not create the login secret')))
  }
})

test('a password login fails where the server hides the box of the password, or leaves out how its key is derived', async t => {
  const { world } = await makeAlice()
  for (const changes of [{ passwordBox: true }, { passwordKeySnrp: undefined }, { passwordBox: undefined }]) {
    world.garble = (route, reply) =>
      route === 'POST /api/v2/login' ? { ...reply, results: { ...reply.results, ...changes } } : reply
    const device = await openDevice(world)
    await t.throwsAsync(withPassword(device), { code: 'LOGIN_DATA_MISSING' }, JSON.stringify(changes))
    t.deepEqual(device.stashes.list(), [])
  }
  world.garble = undefined
  await t.notThrowsAsync(withPassword(await openDevice(world)))
})

test('two-factor: without a code the voucher is saved before the error; with a code or key it opens [8.13] [6.6] [8.45] [6.10]', async t => {
  const { world } = await makeAlice()
  const [record] = [...world.server.db.entries()].flatMap(entry =>
    entry.kind === 'login' ? [entry.record] : []
  )
  if (record === undefined) throw new Error('The server has no login')
  const otpKey = 'AAAAAAAAAAAAAAAA'
  world.server.db.saveLogin({ ...record, otpKey, otpTimeout: 604800 })

  const device = await openDevice(world)
  const error = await t.throwsAsync(withPassword(device), {
    code: 'OTP',
    name: 'OtpError',
    message: 'Invalid OTP token'
  })
  const { loginId, voucherId, reason } = (error as unknown as WalletError<'OTP'>).details
  t.is(loginId, record.loginId)
  t.is(reason, 'otp')
  t.deepEqual(
    device.stashes.localUsers().map(user => [user.username, user.voucherId]),
    [['alice doe', voucherId]]
  )
  const saved = await openDevice(world, device.files)
  t.is(saved.stashes.localUsers()[0]?.voucherId, voucherId)

  world.requests.length = 0
  await t.throwsAsync(withPassword(saved), { code: 'OTP' })
  t.is(world.requests[0]?.body.voucherId, voucherId)
  t.is(world.requests[0]?.body.voucherAuth, 'qrs=')
  await t.throwsAsync(withPassword(saved, { otp: '000000' }), { code: 'OTP' })
  await t.throwsAsync(withPassword(saved, { otpKey: 'not base32!' }), { code: 'OTP' })

  const { io } = saved.services
  const otp = hotp(io, new Uint8Array(10), Math.floor(world.clock.now() / 30_000))
  const login = await withPassword(saved, { otp })
  t.is(login.stash.otpKey, otpKey)
  t.deepEqual([login.stash.voucherId, login.stash.voucherAuth], [voucherId, 'qrs='])
  world.garble = (_, reply) => reply
  await login.refresh()
  t.is(world.requests.at(-1)?.body.otp, otp)
  world.garble = undefined
  t.is((await withPassword(await openDevice(world), { otpKey })).walletInfos.length, 1)
})

test('wrong passwords, unknown users and taken names get their errors [8.43] [5.2] [7.3] [8.4]', async t => {
  const { world, files } = await makeAlice()
  const known = await openDevice(world, files)
  const fresh = await openDevice(world)
  const stash = [...files.values()].join()
  for (const device of [known, fresh]) {
    await t.throwsAsync(withPassword(device, { password: 'wrong' }), {
      code: 'PASSWORD',
      name: 'PasswordError',
      message: 'Invalid password'
    })
    await t.throwsAsync(withPassword(device, { password: '\ud800' }), { code: 'PASSWORD' })
    await t.throwsAsync(withPassword(device, { username: 'bob' }), {
      code: 'ACCOUNT_NOT_FOUND',
      message: 'Account does not exist on server'
    })
    await t.throwsAsync(withPassword(device, { username: 'bøb' }), { code: 'BAD_USERNAME' })
    await t.throwsAsync(withPassword(device, { username: ' ' }), { code: 'USERNAME_REQUIRED' })
  }
  t.is([...files.values()].join(), stash)
  t.is(fresh.files.size, 0)
  await t.throwsAsync(create(fresh), { code: 'ACCOUNT_EXISTS', message: 'Account already exists on server' })
  t.is(fresh.files.size, 0)
  t.false(await usernameAvailable(fresh.services, 'alice doe'))
  t.true(await usernameAvailable(fresh.services, 'bob'))
})

test('a bad new account is refused before anything is sent', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const cases: [object, string][] = [
    [{ username: undefined }, 'USERNAME_REQUIRED'],
    [{ username: '  ' }, 'USERNAME_INVALID'],
    [{ username: 'ünicorn' }, 'BAD_USERNAME'],
    [{ password: 'half \udc00' }, 'PASSWORD_TOO_WEAK'],
    [{ pin: '123' }, 'PIN_INVALID'],
    [{ pin: 'four' }, 'PIN_INVALID']
  ]
  for (const [options, code] of cases) await t.throwsAsync(create(device, options), { code }, code)
  const half = await t.throwsAsync(create(device, { password: 'half \udc00' }))
  t.deepEqual((half as WalletError<'PASSWORD_TOO_WEAK'>).details.problems, ['holds half a character'])
  t.deepEqual(world.requests, [])
  t.is(device.files.size, 0)
})

test('a lost reply makes no second repo and no second wallet', async t => {
  const world = makeLoginWorld()
  const device = await openDevice(world)
  const login = await create(device)
  world.loseReplyOf = 'POST /api/v2/login/keys'
  const repo = await login.ensureAccountRepo()
  const info = makeWalletInfo(device.services.io, 'wallet:bitcoin')
  const [added] = await login.addWalletInfos([info])
  t.is(added?.id, info.id)
  t.is(login.walletInfos.length, 2)

  const app = await openDevice(world, new Map(), { config: { appId: 'test.app' } })
  world.loseReplyOf = 'POST /api/v2/login/create'
  const child = await withPassword(app)
  const childRepo = await child.ensureAccountRepo()
  world.loseReplyOf = undefined
  await login.refresh()
  t.is((await login.ensureAccountRepo()).id, repo.id)
  t.is(login.walletInfos.filter(({ type }) => type.startsWith('account-repo')).length, 2)
  t.is((await child.ensureAccountRepo()).id, childRepo.id)
})

test('each key box of a stash opens with the login key and nothing else', async t => {
  const { world, files } = await makeAlice()
  const device = await openDevice(world, files)
  const login = await withPassword(device)
  const [box] = login.stash.keyBoxes ?? []
  if (box === undefined) throw new Error('The stash has no key box')
  const { io } = device.services
  const info = login.tree.loginKey.use(key => openJson(io, key, box))
  t.is((info as { id: string }).id as string | undefined, login.walletInfos[0]?.id)
  t.throws(() => openJson(io, new Uint8Array(32), box), { code: 'INVALID_CHECKSUM' })
})

test('a login that fails with an error of another kind has no code, whatever that error says', async t => {
  const { services, stages } = await openDevice(makeLoginWorld())
  const odd = Object.assign(new Error('odd'), { code: 'EIO' })
  await t.throwsAsync(
    runAttempt(services, 'key', () => Promise.reject(odd)),
    { message: 'odd' }
  )
  t.deepEqual(stages, ['key failed'])
})
