import test from 'ava'
import { TwoFactor } from '../../../kernel/account/two-factor.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import { FIXED_SNRP } from '../../../kernel/crypto/key-derivation.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { isPin } from '../../../kernel/login/methods/pin.ts'
import type { LoginTree } from '../../../kernel/types/login.ts'
import { CHEAP, makeLoginWorld, openDevice, settle } from '../../helpers/login-device.ts'
import { recordsOf, strayIds } from '../../helpers/login-ids.ts'
import {
  ALICE,
  makeAlice,
  openAppDevice,
  openByPassword,
  openByPin,
  stashIn,
  takeRoutes,
  withCredentials
} from '../../helpers/login-methods.ts'

const NEW = { password: 'battery staple' }

test('a new password is sent with its box, proof and parameters, and is the only one that logs in [7.8]', async t => {
  const { world, alice } = await makeAlice()
  const before = stashIn(alice.files)
  takeRoutes(world)
  await alice.credentials.changePassword(NEW.password)
  const [request] = world.requests
  t.deepEqual(Object.keys(request?.body).sort(), ['data', 'loginAuth', 'loginId', 'syncToken'])
  t.deepEqual(Object.keys(request?.body.data).sort(), [
    'passwordAuth',
    'passwordAuthBox',
    'passwordAuthSnrp',
    'passwordBox',
    'passwordKeySnrp'
  ])
  t.deepEqual(request?.body.data.passwordAuthSnrp, FIXED_SNRP)
  t.deepEqual(takeRoutes(world), ['POST /login/password', 'POST /login'], 'then it asks for the name')
  t.not(stashIn(alice.files).passwordKeySnrp?.salt_hex, before.passwordKeySnrp?.salt_hex)

  t.true(await alice.credentials.checkPassword(NEW.password))
  t.false(await alice.credentials.checkPassword(ALICE.password))
  await t.throwsAsync(openByPassword(world), { code: 'PASSWORD' })
  await t.throwsAsync(openByPassword(world, alice.files), { code: 'PASSWORD' })
  await openByPassword(world, new Map(), NEW)
  world.server.isOnline = false
  await openByPassword(world, alice.files, NEW)
})

test('a password can be checked without the server', async t => {
  const { world, alice } = await makeAlice()
  world.server.isOnline = false
  t.true(await alice.credentials.checkPassword(ALICE.password))
  for (const wrong of ['', 'Correct horse', '\ud800', ` ${ALICE.password}`]) {
    t.false(await alice.credentials.checkPassword(wrong))
  }
  alice.login.close()
  await t.throwsAsync(alice.credentials.checkPassword(ALICE.password), { code: 'LOGGED_OUT' })
  await t.throwsAsync(alice.credentials.checkPIN(ALICE.pin), { code: 'LOGGED_OUT' })
  t.throws(() => alice.credentials.getPIN(), { code: 'LOGGED_OUT' })
})

test('an account without a username has no password and can be given none [5.8]', async t => {
  const { world, alice } = await makeAlice({ username: undefined, password: undefined })
  takeRoutes(world)
  await t.throwsAsync(alice.credentials.changePassword(NEW.password), {
    code: 'USERNAME_REQUIRED',
    message: 'Password login requires a username'
  })
  await settle()
  t.false(takeRoutes(world).includes('POST /login/password'))
  t.false(await alice.credentials.checkPassword(''))
})

test('a password that has no bytes is refused before anything is sent', async t => {
  const { world, alice } = await makeAlice()
  takeRoutes(world)
  await t.throwsAsync(alice.credentials.changePassword('half \ud800'), { code: 'PASSWORD_TOO_WEAK' })
  t.deepEqual(takeRoutes(world), [])
})

test('without its password an account keeps its other login methods', async t => {
  const { world, alice } = await makeAlice()
  takeRoutes(world)
  await alice.credentials.deletePassword()
  t.deepEqual(takeRoutes(world), ['DELETE /login/password'])
  const stash = stashIn(alice.files)
  for (const field of ['passwordBox', 'passwordAuthSnrp', 'passwordKeySnrp', 'passwordAuthBox'])
    t.false(field in stash, field)
  t.false(await alice.credentials.checkPassword(ALICE.password))
  await t.throwsAsync(openByPassword(world, alice.files), { code: 'PASSWORD' })
  await t.throwsAsync(openByPassword(world), { code: 'PASSWORD' })

  const again = await openByPin(world, alice.files)
  await again.credentials.changePassword(NEW.password)
  await openByPassword(world, new Map(), NEW)
})

test('a login without a login secret keeps its open account when the password is deleted', async t => {
  const { world } = await makeAlice()
  for (const record of recordsOf(world)) {
    if (record.appId === '')
      world.server.db.saveLogin({ ...record, loginAuth: undefined, loginAuthBox: undefined })
  }
  world.server.use(async ({ path }, next) => {
    if (path === '/api/v2/login/secret') throw new Error('Cut off')
    return next()
  })
  const device = await openByPassword(world)
  await device.credentials.deletePassword()
  t.true('passwordAuthBox' in stashIn(device.files))
  t.false('passwordBox' in stashIn(device.files))
})

test('the password is not deleted if the server has no other credential of the login', async t => {
  const { world, alice } = await makeAlice({ pin: undefined })
  alice.login.close()
  const [root] = recordsOf(world).filter(({ appId }) => appId === '')
  if (root === undefined) throw new Error('The server has no login')
  world.server.db.saveLogin({ ...root, loginAuth: undefined, loginAuthBox: undefined })
  world.server.use(async ({ path }, next) => {
    if (path === '/api/v2/login/secret') throw new Error('Cut off')
    return next()
  })
  const device = await openByPassword(world)
  takeRoutes(world)
  await t.throwsAsync(device.credentials.deletePassword(), { code: 'NO_AUTH_METHODS' })
  t.false(takeRoutes(world).includes('DELETE /login/password'))
  await openByPassword(world)
})

test('a password that another device changed or deleted opens a device until its next refresh', async t => {
  for (const change of ['changePassword', 'deletePassword'] as const) {
    const { world, alice } = await makeAlice()
    const other = await openByPassword(world)
    other.login.close()
    if (change === 'changePassword') await alice.credentials.changePassword(NEW.password)
    else await alice.credentials.deletePassword()

    world.server.isOnline = false
    await openByPassword(world, other.files)
    world.server.isOnline = true
    await openByPassword(world, other.files)
    world.server.isOnline = false
    await t.throwsAsync(openByPassword(world, other.files), { code: 'NETWORK' }, change)
    if (change === 'changePassword') await openByPassword(world, other.files, NEW)
  }
})

test('a new PIN keeps the key of PIN login, so that it works on every device, for root and app [7.9]', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  const before = stashIn(alice.files)
  takeRoutes(world)
  await alice.credentials.changePIN({ pin: '2580' })
  const fields = ['pin2Auth', 'pin2Box', 'pin2Id', 'pin2KeyBox', 'pin2TextBox']
  const changes = world.requests.filter(({ route }) => route.endsWith('/pin2'))
  for (const { body } of changes) t.deepEqual(Object.keys(body.data).sort(), fields)
  t.deepEqual(
    changes.map(({ body }) => body.loginId),
    [before.loginId, before.children?.[0]?.loginId]
  )
  t.deepEqual(takeRoutes(world), ['POST /login/pin2', 'POST /login/pin2', 'POST /login'])
  const after = stashIn(alice.files)
  t.is(after.pin2Key, before.pin2Key)
  t.is(after.children?.[0]?.pin2Key, before.children?.[0]?.pin2Key)
  t.is(alice.credentials.getPIN(), '2580')

  await t.throwsAsync(openByPin(world, other.files), { code: 'PASSWORD' })
  await openByPin(world, other.files, { pin: '2580' })
})

test('switching PIN login off deletes its key and keeps the text, and switching it on uses that text [4.27] [4.28]', async t => {
  const { world, alice } = await makeAlice()
  takeRoutes(world)
  await alice.credentials.changePIN({ enableLogin: false })
  for (const { body } of world.requests) t.deepEqual(Object.keys(body.data), ['pin2TextBox'])
  t.deepEqual(takeRoutes(world), ['POST /login/pin2', 'POST /login/pin2'])
  for (const entry of world.server.db.entries()) {
    if (entry.kind !== 'login') continue
    const { pin2Id, pin2Auth, pin2Box, pin2KeyBox, pin2TextBox } = entry.record
    t.deepEqual([pin2Id, pin2Auth, pin2Box, pin2KeyBox], [undefined, undefined, undefined, undefined])
    t.truthy(pin2TextBox)
  }
  t.true(alice.credentials.hasPin)
  t.false(alice.credentials.isPinLoginEnabled)
  t.true(await alice.credentials.checkPIN(ALICE.pin))
  t.false(await alice.credentials.checkPIN('0000'))
  await t.throwsAsync(openByPin(world, alice.files), { code: 'PIN_NOT_ENABLED' })

  await alice.login.refresh()
  t.is(alice.credentials.getPIN(), ALICE.pin)
  await alice.credentials.changePIN({ pin: '2580' })
  t.false(alice.credentials.isPinLoginEnabled)
  await alice.credentials.changePIN({ enableLogin: true })
  t.true(alice.credentials.isPinLoginEnabled)
  await openByPin(world, alice.files, { pin: '2580' })
})

test('the first PIN of an account is enabled; without a PIN, PIN login cannot be enabled [5.10] [8.77]', async t => {
  const { world, alice } = await makeAlice({ pin: undefined })
  const { credentials } = alice
  t.false(credentials.hasPin)
  t.throws(() => credentials.getPIN(), {
    code: 'PIN_NOT_LOCAL',
    message: 'No PIN set locally for this account'
  })
  t.false(await credentials.checkPIN(ALICE.pin))
  await t.throwsAsync(credentials.changePIN({ enableLogin: true }), {
    code: 'PIN_MISSING',
    message: 'Please change your PIN in the settings area above before enabling.'
  })
  for (const pin of ['', '123', '12a4', 'abcd']) {
    await t.throwsAsync(credentials.changePIN({ pin }), { code: 'PIN_INVALID' })
  }
  await settle()
  takeRoutes(world)
  await credentials.changePIN({})
  t.deepEqual(takeRoutes(world), ['DELETE /login/pin2', 'DELETE /login/pin2'])
  await credentials.changePIN({ pin: '2580' })
  t.true(credentials.isPinLoginEnabled)
  await openByPin(world, alice.files, { pin: '2580' })
})

test('deleting a PIN deletes its text, from root and app [7.10]', async t => {
  const { world, alice } = await makeAlice()
  takeRoutes(world)
  await alice.credentials.deletePIN()
  t.deepEqual(takeRoutes(world), ['DELETE /login/pin2', 'DELETE /login/pin2'])
  t.false(alice.credentials.hasPin)
  t.false(alice.credentials.isPinLoginEnabled)
  const { children, ...root } = stashIn(alice.files)
  for (const node of [root, ...(children ?? [])]) t.false('pin2Key' in node || 'pin2TextBox' in node)
  await t.throwsAsync(openByPin(world, alice.files), { code: 'PIN_NOT_ENABLED' })
  const other = await openByPassword(world)
  t.false(other.credentials.hasPin)
})

test('password, recovery and two-factor are deleted with nothing but the credentials of the login [7.16]', async t => {
  const { world, alice } = await makeAlice()
  const twoFactor = new TwoFactor(alice)
  await alice.credentials.changeRecovery(['Where?'], ['here'])
  await twoFactor.enableOtp()
  takeRoutes(world)
  await alice.credentials.deleteRecovery()
  await alice.credentials.deletePassword()
  await twoFactor.disableOtp()
  for (const { body } of world.requests) {
    t.deepEqual(
      Object.keys(body)
        .filter(name => name !== 'syncToken')
        .sort(),
      ['loginAuth', 'loginId', 'otp']
    )
  }
  t.deepEqual(takeRoutes(world), ['DELETE /login/recovery2', 'DELETE /login/password', 'DELETE /login/otp'])
  const [root] = recordsOf(world)
  t.deepEqual([root?.passwordAuth, root?.recovery2Auth, root?.otpKey], [undefined, undefined, undefined])
})

test('a PIN whose text is unknown is checked by the server, and any failure is a no', async t => {
  const { world, alice } = await makeAlice()
  world.garble = (_, { results, ...reply }) => ({ ...reply, results: { ...results, pin2TextBox: undefined } })
  const { credentials } = await openByPassword(world)
  world.garble = undefined
  t.throws(() => credentials.getPIN(), { code: 'PIN_NOT_LOCAL' })
  takeRoutes(world)
  t.true(await credentials.checkPIN(ALICE.pin))
  t.deepEqual(Object.keys(world.requests[0]?.body).sort(), ['pin2Auth', 'pin2Id'])
  t.false(await credentials.checkPIN('0000'))
  t.deepEqual(takeRoutes(world), ['POST /login', 'POST /login'])
  world.server.isOnline = false
  t.false(await credentials.checkPIN(ALICE.pin))
  t.true(await alice.credentials.checkPIN(ALICE.pin))
})

test('a PIN check by the server uses the voucher of the login that has the PIN', async t => {
  const world = makeLoginWorld()
  const { services } = await openAppDevice(world)
  const { io } = services
  const [rootId, loginId] = [1, 2].map(byte => io.crypto.toBase64(new Uint8Array(32).fill(byte))) as [
    string,
    string
  ]
  const child = { appId: 'app', loginId, voucherId: 'voucher', voucherAuth: 'qrs=', pendingVouchers: [] }
  const stash = { appId: '', loginId: rootId, username: 'alice', pendingVouchers: [], children: [child] }
  const held = { loginId, pin2Key: new Secret(new Uint8Array(32)) } as unknown as LoginTree
  t.false(await isPin(services, { held, stash, walletInfos: [] }, '4711'))
  t.like(world.requests.at(-1)?.body, { voucherId: 'voucher', voucherAuth: 'qrs=' })
})

test('the PIN of an account without a username is checked, changed and logs in', async t => {
  const world = makeLoginWorld()
  const device = await openAppDevice(world)
  const login = await createLogin(device.services, device.stashes, { pin: ALICE.pin })
  const { credentials } = withCredentials(device, login)
  t.true(await credentials.checkPIN(ALICE.pin))
  await credentials.changePIN({ pin: '2580' })
  await openByPin(world, device.files, { pin: '2580' })
  t.is(login.username, undefined)
})

test('simultaneous changes run one after another, each from the result of the one before', async t => {
  const { world, alice } = await makeAlice()
  const { credentials } = alice
  takeRoutes(world)
  await Promise.all([
    credentials.changePIN({ pin: '1111' }),
    credentials.changePassword(NEW.password),
    credentials.changeUsername({ username: 'bob', ...NEW }),
    credentials.changePIN({ enableLogin: false }),
    credentials.changePIN({ pin: '2580', enableLogin: true })
  ])
  t.deepEqual(takeRoutes(world), [
    ...['POST /login/pin2', 'POST /login/pin2', 'POST /login'],
    ...['POST /login/password', 'POST /login'],
    ...['POST /sync', 'POST /login/username', 'POST /login/username'],
    ...['POST /login/pin2', 'POST /login/pin2'],
    ...['POST /login/pin2', 'POST /login/pin2', 'POST /login']
  ])
  t.deepEqual(await strayIds(world, alice), [])
  await openByPin(world, alice.files, { pin: '2580' })
  await openByPassword(world, new Map(), { username: 'bob', ...NEW })
})

test('a device of an app alone changes the PIN of the login that it holds, and of no other', async t => {
  const { world, alice } = await makeAlice()
  const device = await openAppDevice(world, alice.files)
  const login = await loginWithKey(device.services, device.stashes, {
    username: ALICE.username,
    loginKey: alice.login.rootLoginKeyBase58()
  })
  await settle()
  takeRoutes(world)
  await withCredentials(device, login).credentials.changePIN({ pin: '2580' })
  t.deepEqual(
    world.requests.map(({ body }) => body.loginId),
    [login.tree.loginId]
  )
  t.deepEqual(takeRoutes(world), ['POST /login/pin2'])
  t.deepEqual(await strayIds(world, alice), [])
})

test('a password is made from the username that a second login on the device has learnt', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  await other.credentials.changeUsername({ username: 'bob', password: ALICE.password })
  const { services, stashes } = alice
  const second = await loginWithPassword(services, stashes, { username: 'bob', password: ALICE.password })
  second.close()
  t.is(alice.login.username, 'alice')
  await alice.credentials.changePassword('battery staple')
  t.is(alice.login.username, 'bob')
  await openByPassword(world, new Map(), { username: 'bob', password: 'battery staple' })
})

test('a device that slept during a rename on another device makes a password from the new username', async t => {
  for (const shiftMs of [3_600_000, -3_600_000]) {
    const { world, alice: other } = await makeAlice()
    let sleptMs = 0
    const clock = { ...world.clock, now: () => world.clock.now() + sleptMs }
    const config = { passwordSnrp: CHEAP }
    const device = await openDevice(world, new Map(), { config, io: { clock } })
    const login = await loginWithPassword(device.services, device.stashes, ALICE)
    await other.credentials.changeUsername({ username: 'bob', password: ALICE.password })
    sleptMs = shiftMs
    await withCredentials(device, login).credentials.changePassword(NEW.password)
    const again = await openByPassword(world, new Map(), { username: 'bob', ...NEW })
    t.is(again.login.rootLoginId, login.rootLoginId)
  }
})

test('a refresh shows what a second login on the device has learnt', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  await other.credentials.changeUsername({ username: 'bob', password: ALICE.password })
  const { services, stashes } = alice
  const second = await loginWithPassword(services, stashes, { username: 'bob', password: ALICE.password })
  // The first one ends the change, the second one learns the server's token.
  for (let i = 0; i < 2; i += 1) await second.refresh()
  second.close()
  await alice.login.refresh()
  t.is(alice.login.username, 'bob')
})

test('PIN login that is switched off while the connection breaks is on for no app that the account shows as off', async t => {
  for (const lost of [0, 1]) {
    for (const off of ['change', 'delete'] as const) {
      const { world, alice } = await makeAlice()
      const { credentials, login } = alice
      const switchOff = (): Promise<void> =>
        off === 'change' ? credentials.changePIN({ enableLogin: false }) : credentials.deletePIN()
      let seen = 0
      const free = world.server.use(async (request, next) => {
        if (!request.path.endsWith('/v2/login/pin2')) return next()
        seen += 1
        if (seen > lost) throw new Error('The connection breaks')
        return next()
      })
      await t.throwsAsync(switchOff(), { code: 'NETWORK' })
      free()
      await login.refresh()
      const { children = [], loginId } = login.stash
      const isOn = (id: string): boolean => world.server.db.login(id)?.pin2Auth !== undefined
      const what = `${off}, broken after ${lost}`
      // As a device of the whole account shows it.
      const isShown = login.stash.pin2Key !== undefined
      t.is(isShown, isOn(loginId), what)
      if (!isShown) for (const child of children) t.false(isOn(child.loginId), what)
      await switchOff()
      t.deepEqual([loginId, ...children.map(child => child.loginId)].map(isOn), [false, false], what)
    }
  }
})
