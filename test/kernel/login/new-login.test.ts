import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { otpChange, recoveryChange, walletInfosChange } from '../../../kernel/login/changes.ts'
import type { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { makeNewLogin } from '../../../kernel/login/new-login.ts'
import { pinChanges } from '../../../kernel/login/pin-changes.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle,
  type Untyped
} from '../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse' }
const PIN = '4711'
const APP = 'test.app'

const deviceOf = (
  world: LoginWorld,
  appId: string,
  files: Map<string, string> = new Map()
): Promise<LoginDevice> => openDevice(world, files, { config: { appId } })

const create = ({ services, stashes }: LoginDevice, options: object = {}): Promise<Login> =>
  createLogin(services, stashes, { ...ALICE, pin: PIN, snrp: CHEAP, ...options })

const withPassword = ({ services, stashes }: LoginDevice): Promise<Login> =>
  loginWithPassword(services, stashes, ALICE)

const fileOf = ({ files }: LoginDevice, login: Login): Untyped =>
  JSON.parse(files.get(`logins/${login.rootLoginId}.json`) ?? '')

const appsOf = ({ appId, children = [] }: Untyped): Untyped => [appId, ...children.map(appsOf)]

/** Makes a login below another login, as a client that holds the upper one does. */
const addBelow = async (
  device: LoginDevice,
  login: Login,
  appIds: readonly [string, string]
): Promise<void> => {
  const [above, appId] = appIds
  const { io } = device.services
  await login.change(async ({ held, stash }) => {
    const parent = held.children.find(child => child.appId === above) ?? held
    const parentKey = parent.loginKey.use(key => key.slice())
    const walletInfos = [makeWalletInfo(io, accountRepoTypeOf(appId)), makeWalletInfo(io, 'wallet:bitcoin')]
    const child = await makeNewLogin(io, { appId, username: stash.username, parentKey, walletInfos })
    const route = { serverMethod: 'POST', serverPath: '/v2/login/create' } as const
    return [
      { loginId: parent.loginId, ...route, serverBody: child.serverBody, stash: { children: [child.stash] } }
    ]
  })
}

test('an open login has all its fields, and so has each child login [3.12]', async t => {
  const world = makeLoginWorld()
  const device = await deviceOf(world, '')
  const login = await create(device)
  await login.ensureAccountRepo()
  await login.ensureAccountRepo(APP)
  const { io } = device.services
  await login.change(({ held }) => [
    recoveryChange(io, held, { questions: ['Who?'], answers: new Secret(['I']) }),
    otpChange(io, held)
  ])
  const record = world.server.db.login(login.stash.loginId)
  if (record === undefined) throw new Error('The server has no login')
  world.server.db.saveLogin({ ...record, otpResetDate: '2030-01-01T00:00:00.000Z' })
  await login.refresh()

  const { held } = login.getSnapshot()
  t.deepEqual([held.appId, held.isRoot, held.username], ['', true, 'alice'])
  t.deepEqual([held.created, held.lastLogin], [record.created, login.stash.lastLogin])
  t.deepEqual([held.loginId, held.userId], [record.loginId, record.userId])
  t.is(textOf(held.loginAuth), record.loginAuth)
  t.is(textOf(held.passwordAuth), record.passwordAuth)
  for (const key of [held.loginKey, held.pin2Key, held.recovery2Key])
    t.is(
      key?.use(bytes => bytes.length),
      32
    )
  t.is(
    held.pin?.use(pin => pin),
    PIN
  )
  t.is(
    held.otpKey?.use(key => key),
    login.stash.otpKey
  )
  t.deepEqual([held.otpTimeout, held.otpResetDate], [604_800, '2030-01-01T00:00:00.000Z'])
  t.deepEqual(held.pendingVouchers, [])
  t.deepEqual(
    held.walletInfos.map(({ type }) => type),
    ['account-repo:co.airbitz.wallet']
  )
  const [child] = held.children
  t.deepEqual(
    [held.children.length, child?.appId, child?.isRoot, child?.username],
    [1, APP, false, undefined]
  )
  t.truthy(child?.loginAuth)
  t.is(child?.passwordAuth, undefined)
  t.deepEqual(
    child?.walletInfos.map(({ type }) => type),
    [`account-repo:${APP}`]
  )
})

test('app logins are nested, and each device has those from its own down [6.2]', async t => {
  const world = makeLoginWorld()
  const phone = await deviceOf(world, '')
  const login = await create(phone)
  await login.ensureAccountRepo()
  await login.ensureAccountRepo('a')
  await addBelow(phone, login, ['a', 'a.b'])
  await login.refresh()
  t.deepEqual(appsOf(fileOf(phone, login)), ['', ['a', ['a.b']]])
  t.is(login.walletInfos.length, 4)
  const wallet = login.walletInfos.find(({ type }) => type === 'wallet:bitcoin')
  t.deepEqual(wallet?.appIds, ['a.b'])

  const laptop = await deviceOf(world, 'a.b')
  const other = await withPassword(laptop)
  t.is(other.tree.appId, 'a.b')
  t.is(other.walletInfos.length, 2)
  t.is((await other.ensureAccountRepo()).type, 'account-repo:a.b')
  const options = { username: 'alice', loginKey: other.rootLoginKeyBase58() }
  const byKey = await loginWithKey(laptop.services, laptop.stashes, options)
  t.true(byKey.isEdgeLogin)
  await byKey.addWalletInfos([makeWalletInfo(laptop.services.io, 'wallet:litecoin')])
  await byKey.refresh()
  await login.refresh()
  t.is(login.walletInfos.length, 5)
  t.deepEqual(appsOf(fileOf(phone, login)), ['', ['a', ['a.b']]])
})

test('a new child login of another app does not replace an existing login of that app', async t => {
  const world = makeLoginWorld()
  const phone = await deviceOf(world, 'b')
  const login = await create(phone)
  await login.ensureAccountRepo('a')
  const { id } = await login.ensureAccountRepo('b')
  await addBelow(phone, login, ['a', 'b'])
  await login.refresh()
  t.deepEqual(appsOf(fileOf(phone, login)), ['', ['a', ['b']], ['b']])
  t.is((await login.ensureAccountRepo('b')).id, id)
  t.is(login.tree.loginId, fileOf(phone, login).children[1].loginId)
})

test('a server that loses a login below a login, or its parent box, changes nothing [5.32] [5.31] [8.67]', async t => {
  const world = makeLoginWorld()
  const phone = await deviceOf(world, '')
  const login = await create(phone)
  await login.ensureAccountRepo()
  await login.ensureAccountRepo('a')
  await addBelow(phone, login, ['a', 'a.b'])
  await login.refresh()
  const before = JSON.stringify([...phone.files])
  const attacks: [(child: Untyped) => unknown, string | undefined][] = [
    [child => ({ ...child, children: [] }), 'LOST_CHILDREN'],
    [({ children: _, ...child }) => child, 'LOST_CHILDREN'],
    [({ children: [{ parentBox: _, ...below }], ...child }) => ({ ...child, children: [below] }), undefined],
    [({ children: [below], ...child }) => ({ ...below, children: [child] }), 'LOST_CHILDREN']
  ]
  for (const [attack, code] of attacks) {
    world.garble = (_, { results, ...reply }) =>
      results === false
        ? { ...reply, results }
        : { ...reply, results: { ...results, children: results.children.map(attack) } }
    if (code === undefined) await t.notThrowsAsync(withPin(world, phone))
    else await t.throwsAsync(withPin(world, phone), { code }, code)
    t.is(JSON.stringify([...phone.files]), before)
  }
  world.garble = undefined
  const again = await deviceOf(world, 'a.b', phone.files)
  t.is((await withPassword(again)).walletInfos.length, 2)
})

/** A login by PIN, which always asks the server, on the files of another device. */
const withPin = async (world: LoginWorld, { files }: LoginDevice): Promise<Login> => {
  const { services, stashes } = await deviceOf(world, '', files)
  return loginWithPin(services, stashes, { username: 'alice', pin: PIN })
}

test('where the root has no PIN, that of the app logs in', async t => {
  const world = makeLoginWorld()
  const device = await deviceOf(world, APP)
  const root = await create(device, { pin: undefined })
  await root.ensureAccountRepo()
  const { services, stashes } = device
  const user = { username: 'alice', pin: PIN }
  await t.throwsAsync(loginWithPin(services, stashes, user), { code: 'PIN_NOT_ENABLED' })
  const loginKey = root.rootLoginKeyBase58()
  root.close()
  const app = await loginWithKey(services, stashes, { username: 'alice', loginKey })
  await app.change(state => pinChanges(services.io, state, { pin: new Secret(PIN) }))
  app.close()
  t.true(stashes.localUsers()[0]?.isPinLoginEnabled)
  const byPin = await loginWithPin(services, stashes, user)
  t.true(byPin.isEdgeLogin)
  t.is(byPin.tree.appId, APP)
  t.is(world.server.db.login(byPin.stash.loginId)?.pin2Id, undefined)
})

test('a new app gets no PIN login where PIN login is switched off', async t => {
  const world = makeLoginWorld()
  const device = await deviceOf(world, '')
  const login = await create(device)
  await login.ensureAccountRepo()
  await login.change(state => pinChanges(device.services.io, state, { enableLogin: false }))
  t.truthy(login.tree.pin)
  await login.ensureAccountRepo(APP)
  const child = login.getSnapshot().held.children[0]
  t.is(child?.pin2Key, undefined)
  t.is(world.server.db.login(child?.loginId ?? '')?.pin2Id, undefined)
  const app = await deviceOf(world, APP, device.files)
  const user = { username: 'alice', pin: PIN }
  await t.throwsAsync(loginWithPin(app.services, app.stashes, user), { code: 'PIN_NOT_ENABLED' })
})

test('two devices that need the same new app make one login of it', async t => {
  const world = makeLoginWorld()
  const phone = await deviceOf(world, '')
  const login = await create(phone)
  await login.ensureAccountRepo()
  const laptop = await deviceOf(world, '')
  const other = await withPassword(laptop)
  const repos = await Promise.allSettled([login.ensureAccountRepo(APP), other.ensureAccountRepo(APP)])
  await settle()
  const ids = repos.flatMap(repo => (repo.status === 'fulfilled' ? [repo.value.id] : []))
  t.is(ids.length, 2)
  t.is(new Set(ids).size, 1)
  t.is([...world.server.db.entries()].filter(entry => entry.kind === 'login').length, 2)
})

const textOf = (bytes: Secret<Uint8Array> | undefined): string | undefined =>
  bytes?.use(key => Buffer.from(key).toString('base64'))

test('a PIN login of an account that the server does not know ends after one request', async t => {
  const world = makeLoginWorld()
  const device = await deviceOf(world, '')
  const login = await create(device)
  login.close()
  let tries = 0
  world.garble = (route, reply) => {
    if (route !== 'POST /api/v2/login') return reply
    tries += 1
    if (tries > 5) throw new Error('There is no end to it')
    return { status_code: 3, message: 'No account', results: {} }
  }
  await t.throwsAsync(withPin(world, device), { code: 'ACCOUNT_NOT_FOUND' })
  t.is(tries, 1)
})

test('a wallet whose sync key is no text of bytes is not attached to a login', async t => {
  const { services } = await deviceOf(makeLoginWorld(), '')
  const { io } = services
  for (const syncKey of ['no base64!', 7 as unknown as string]) {
    const info = { id: 'wallet', type: 'wallet:bitcoin', keys: { syncKey } }
    t.throws(() => walletInfosChange(io, { loginId: '', loginKey: io.random(32) }, [info]), {
      code: 'KEY_INTEGRITY'
    })
  }
})
