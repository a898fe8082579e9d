import test from 'ava'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { walletInfosChange } from '../../../kernel/login/changes.ts'
import { Login } from '../../../kernel/login/login.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { SecretCache } from '../../../kernel/login/secret-cache.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { createAlice, openAlice } from '../../helpers/alice.ts'
import { CHEAP, makeLoginWorld, openDevice, settle } from '../../helpers/login-device.ts'
import { ALICE } from '../../helpers/login-methods.ts'

const makeAlice = async () => {
  const world = makeLoginWorld()
  const owner = await createAlice(world)
  await owner.login.ensureAccountRepo()
  await owner.credentials.changePIN({ pin: ALICE.pin })
  await owner.login.refresh()
  return { world, owner }
}

test('a login that is closed gives nothing, and one that is forgotten is closed and off the disk', async t => {
  const { owner } = await makeAlice()
  const { login, files } = owner
  const other = await loginWithPassword(owner.services, owner.stashes, ALICE)
  other.close()
  t.throws(() => other.openState, { code: 'LOGGED_OUT' })
  await settle()
  t.truthy(login.openState)
  await login.forget()
  t.throws(() => login.openState, { code: 'LOGGED_OUT' })
  t.deepEqual(
    [...files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
})

test('a refresh that brings nothing new notifies nobody', async t => {
  const { owner } = await makeAlice()
  let notices = 0
  owner.login.subscribe(() => {
    notices += 1
  })
  await owner.login.refresh()
  await owner.login.refresh()
  t.is(notices, 0)
})

test('a change of a login that is not there, or whose key is not held, is refused and not sent', async t => {
  const { world, owner } = await makeAlice()
  const { services, stashes, login } = owner
  await login.ensureAccountRepo('test.app')
  const [app] = login.getSnapshot().held.children
  if (app === undefined) throw new Error('There is no login of the app')
  const { stash } = login
  const inner = new Login(services, stashes, {
    ...{ rootId: stash.loginId, loginId: app.loginId, isCurrent: true },
    loginKey: app.loginKey,
    secrets: new SecretCache(services.io)
  })
  const before = world.requests.length
  const changeOf = (loginId: string) => ({
    ...{ loginId, serverMethod: 'POST' as const, serverPath: '/v2/login/keys', stash: {} }
  })
  const unknown = services.io.crypto.toBase64(new Uint8Array(32))
  for (const [held, loginId] of [
    [login, unknown],
    [inner, stash.loginId]
  ] as const)
    await t.throwsAsync(
      held.change(() => [changeOf(loginId)]),
      { code: 'STASH_NOT_FOUND' }
    )
  t.false(world.requests.slice(before).some(({ route }) => route.endsWith('/v2/login/keys')))
})

test('a wallet without a sync key asks for no repo', t => {
  const io = makeNodeIo()
  const login = { loginId: io.crypto.toBase64(new Uint8Array(32)), loginKey: io.random(32) }
  const syncKey = io.crypto.toBase64(Uint8Array.of(1, 255))
  const infos = [{ keys: {} }, { keys: { syncKey } }].map(({ keys }, n) => ({
    id: `${n}`,
    type: 'wallet:toy',
    keys
  }))
  t.deepEqual(walletInfosChange(io, login, infos as never).serverBody?.newSyncKeys, ['01ff'])
})

test('without two-factor a device keeps no file for its keys', async t => {
  const { world, owner } = await makeAlice()
  const other = await openAlice(world)
  await other.credentials.changePIN({ pin: '9999' })
  await other.login.refresh()
  for (const { files, reports } of [owner, other]) {
    t.deepEqual(
      [...files.keys()].filter(path => path.startsWith('otpKeys/')),
      []
    )
    t.deepEqual(reports, [])
  }
})

test('a password that has just logged in opens the kept two-factor keys, and a file that is damaged is reported', async t => {
  const { world, owner } = await makeAlice()
  await owner.twoFactor.enableOtp()
  const otpKey = owner.login.stash.otpKey ?? ''
  const device = await openAlice(world, { otpKey })
  const path = [...device.files.keys()].find(name => name.startsWith('otpKeys/')) ?? ''
  const { logins } = JSON.parse(device.files.get(path) ?? '{}') as { logins: Record<string, object> }
  t.true(Object.values(logins).every(sealed => 'passwordBox' in sealed && 'passwordKeySnrp' in sealed))
  const files = new Map(owner.files)
  for (const name of files.keys()) if (name.startsWith('otpKeys/')) files.set(name, '{"logins":{"a":5}}')
  const damaged = await openDevice(world, files)
  await damaged.stashes.update(owner.login.stash.loginId, stash => {
    const { otpKey: _, ...rest } = stash ?? owner.login.stash
    return rest
  })
  const { services, stashes, reports } = damaged
  await t.throwsAsync(loginWithPin(services, stashes, { username: ALICE.username, pin: ALICE.pin }), {
    code: 'OTP'
  })
  t.true(reports.length > 0)
})

test('a login stands although the disk does not take its date, and a PIN login shows its stages', async t => {
  const { world, owner } = await makeAlice()
  const loginKey = owner.login.rootLoginKeyBase58()
  const device = await openDevice(world, new Map(owner.files))
  const { services, stashes, disk, reports, stages } = device
  await world.clock.advance(3 * 86_400_000)
  disk.strike({ at: 1, kind: 'full' })
  const login = await loginWithKey(services, stashes, { username: ALICE.username, loginKey })
  t.is(login.username, ALICE.username)
  t.deepEqual(
    reports.map(error => (error as { code?: string }).code),
    ['STORAGE_FULL']
  )
  stages.length = 0
  await loginWithPin(services, stashes, { username: ALICE.username, pin: ALICE.pin })
  t.deepEqual(stages, ['pin asking', 'pin opening', 'pin ready'])
})

test('a box of the password that a server sends with a PIN login or a refresh is not believed', async t => {
  const { world, owner } = await makeAlice()
  const known = owner.login.stash.passwordBox
  const { io } = owner.services
  const lie = sealBox(io, io.random(32), io.random(32))
  world.garble = (route, reply) =>
    route === 'POST /api/v2/login' && reply.results?.passwordBox !== undefined
      ? { ...reply, results: { ...reply.results, passwordBox: lie } }
      : reply
  const device = await openDevice(world, new Map(owner.files))
  const { services, stashes } = device
  const login = await loginWithPin(services, stashes, { username: ALICE.username, pin: ALICE.pin })
  t.deepEqual(login.stash.passwordBox, known)
  await login.refresh()
  t.deepEqual(login.stash.passwordBox, known)
})

test('an account that has another name now stays on the device when a new one takes its name', async t => {
  const { world, owner } = await makeAlice()
  const device = await openDevice(world, new Map(owner.files))
  await owner.credentials.changeUsername({ username: 'bob', password: ALICE.password })
  const fresh = { username: ALICE.username, password: 'another horse' }
  const other = await openDevice(world)
  await createLogin(other.services, other.stashes, { ...fresh, snrp: CHEAP })
  await loginWithPassword(device.services, device.stashes, fresh)
  t.is(device.stashes.list().length, 2)
})

test('a refresh that brings news leaves the date of the last login alone, and a login sets it', async t => {
  const { world, owner } = await makeAlice()
  const { lastLogin } = owner.login.stash
  t.truthy(lastLogin)
  await world.clock.advance(3 * 86_400_000)
  const other = await openAlice(world)
  t.not(other.login.stash.lastLogin, lastLogin)
  await other.login.addWalletInfos([makeWalletInfo(other.services.io, 'wallet:toy', {})])
  const before = owner.login.walletInfos.length
  await owner.login.refresh()
  t.is(owner.login.walletInfos.length, before + 1)
  t.is(owner.login.stash.lastLogin, lastLogin)
})

test('a change that is not of two-factor leaves the kept keys as they are', async t => {
  const { owner } = await makeAlice()
  await owner.twoFactor.enableOtp()
  const kept = (): unknown => [...owner.files].filter(([path]) => path.startsWith('otpKeys/'))
  const before = kept()
  await owner.credentials.changePIN({ pin: '9999' })
  t.deepEqual(kept(), before)
})

test('a refresh that proves itself with the password believes no other box of the password', async t => {
  const { world, owner } = await makeAlice()
  for (const entry of [...world.server.db.entries()])
    if (entry.kind === 'login')
      world.server.db.saveLogin({ ...entry.record, loginAuth: undefined, loginAuthBox: undefined })
  const { io } = owner.services
  const lie = sealBox(io, io.random(32), io.random(32))
  let isLying = false
  world.garble = (route, reply) => {
    if (route === 'POST /api/v2/login/secret') return 'no reply'
    const { results } = reply
    return isLying && results?.passwordBox !== undefined
      ? { ...reply, results: { ...results, passwordBox: lie } }
      : reply
  }
  const { login } = await openAlice(world)
  t.is(login.tree.loginAuth, undefined)
  const known = login.stash.passwordBox
  t.truthy(known)
  isLying = true
  await login.refresh()
  t.deepEqual(login.stash.passwordBox, known)
})
