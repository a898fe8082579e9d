import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { passwordChange } from '../../../kernel/login/changes.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithPassword } from '../../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../../kernel/login/methods/pin.ts'
import { findStashByApp } from '../../../kernel/login/stash.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  type Untyped
} from '../../helpers/login-device.ts'

const ALICE = { username: 'alice', password: 'correct horse', pin: '1234' }

const makeAlice = async (): Promise<{ world: LoginWorld; device: LoginDevice }> => {
  const world = makeLoginWorld()
  const device = await openDevice(world, new Map(), { config: { appId: 'app' } })
  const login = await createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP })
  await login.ensureAccountRepo()
  login.close()
  return { world, device }
}

test('a login without any credential is refused, from a server or from a file [8.59]', async t => {
  const { world, device } = await makeAlice()
  const refusal = { code: 'NO_AUTH_METHODS', message: 'No server authentication methods on login' }
  world.garble = (_: string, reply: Untyped) => ({
    ...reply,
    results: { ...reply.results, loginAuthBox: undefined, passwordAuthBox: undefined }
  })
  const fresh = await openDevice(world)
  await t.throwsAsync(loginWithPassword(fresh.services, fresh.stashes, ALICE), refusal)
  t.is(fresh.files.size, 0)
  const [stash] = device.stashes.list()
  if (stash === undefined) throw new Error('There is no login')
  const { loginAuthBox, passwordAuthBox, ...bare } = stash
  await device.stashes.save(bare)
  await t.throwsAsync(loginWithPassword(device.services, device.stashes, ALICE), refusal)
})

test('a login that is no root, or has no whole id, is not kept [8.60]', async t => {
  const { device } = await makeAlice()
  const { stashes } = device
  const [stash] = stashes.list()
  const child = stash && findStashByApp(stash, 'app')
  if (child === undefined) throw new Error('There is no child login')
  const before = JSON.stringify([...device.files])
  for (const part of [child, { ...stash, appId: '', loginId: 'AAAA', pendingVouchers: [] }]) {
    await t.throwsAsync(stashes.save(part), { code: 'INCOMPLETE_LOGIN', message: 'Incomplete login' })
  }
  t.is(JSON.stringify([...device.files]), before)
})

test('a change of a login that this device has forgotten is refused [8.61]', async t => {
  const { world, device } = await makeAlice()
  const { services, stashes } = device
  const login = await loginWithPassword(services, stashes, ALICE)
  const { loginId } = login.stash
  const { rootLoginId } = login
  login.close()
  await stashes.remove(rootLoginId)
  world.requests.length = 0
  const refusal = { code: 'STASH_NOT_FOUND', message: 'Cannot find stash' }
  await t.throwsAsync(
    stashes.update(loginId, stash => stash && { ...stash, lastLogin: '2026-01-01' }),
    refusal
  )
  t.deepEqual(stashes.list(), [])
  t.deepEqual(
    [...device.files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
})

test('a username of only spaces is invalid, and no request is sent [8.44]', async t => {
  const world = makeLoginWorld()
  const { services, stashes, files } = await openDevice(world)
  const created = createLogin(services, stashes, { ...ALICE, username: ' \t ', snrp: CHEAP })
  await t.throwsAsync(created, {
    ...{ code: 'USERNAME_INVALID', name: 'UsernameError', message: 'Invalid username' }
  })
  t.is(world.requests.length + files.size, 0)
})

test('an OTP error names no other account of the device and holds no megabytes', async t => {
  const { world, device } = await makeAlice()
  const before = JSON.stringify([...device.files])
  const [{ loginId } = { loginId: '' }] = device.stashes.list()
  const refuse = (results: object) => () => ({ status_code: 8, message: 'Invalid OTP', results })
  const { services, stashes } = device
  const bob = { username: 'bob', password: 'battery staple' }
  world.garble = refuse({ login_id: loginId, voucher_id: 'v', voucher_auth: 'AAAA' })
  await t.throwsAsync(loginWithPassword(services, stashes, bob), { code: 'OTP' })
  t.is(JSON.stringify([...device.files]), before)
  for (const results of [
    { voucher_id: 'v'.repeat(1001), voucher_auth: 'AAAA' },
    { voucher_id: 'v', voucher_auth: 'A'.repeat(2_000_000) },
    { voucher_id: 7, voucher_auth: {} },
    { login_id: 'short' },
    JSON.parse('{"voucher_id":"v","voucher_auth":"AAAA","reason":[]}')
  ]) {
    world.garble = refuse(results)
    await t.throwsAsync(loginWithPin(services, stashes, ALICE), { code: 'OTP' })
    t.is(JSON.stringify([...device.files]), before)
  }
})

test('an OTP error that names the wrong account leaves no user behind when the login succeeds', async t => {
  const { world } = await makeAlice()
  const { services, stashes, files } = await openDevice(world)
  const loginId = `${'A'.repeat(43)}=`
  world.garble = () => ({ status_code: 8, message: 'Invalid OTP', results: { login_id: loginId } })
  await t.throwsAsync(loginWithPassword(services, stashes, ALICE), { code: 'OTP' })
  t.is(stashes.list()[0]?.loginId, loginId)
  world.garble = undefined
  const opened = await loginWithPassword(services, stashes, ALICE)
  t.deepEqual(
    stashes.list().map(stash => stash.loginId),
    [opened.stash.loginId]
  )
  t.is([...files.keys()].filter(path => path.startsWith('logins/')).length, 1)
})

/** Changes the results of full logins; the sync token is no way around them. */
const answerWith =
  (change: (results: Untyped) => object) =>
  (route: string, reply: Untyped): unknown => {
    if (route.endsWith('/v2/sync')) return { ...reply, results: false }
    return route.endsWith('/v2/login') ? { ...reply, results: change(reply.results) } : reply
  }

test('a wallet or a name in the place of the PIN is refused, and never shown as one', async t => {
  const { world, device } = await makeAlice()
  const login = await loginWithPassword(device.services, device.stashes, ALICE)
  const before = JSON.stringify(login.stash.pin2TextBox)
  await login.refresh()
  const ofChild = JSON.stringify(login.stash.children?.[0]?.pin2TextBox)
  for (const boxOf of [OF_CHILD, (r: Untyped) => r.userTextBox]) {
    world.garble = answerWith(results => {
      const [child] = results.children
      const isOfChild = boxOf(results) === child.keyBoxes[0]
      const fields = { pin2TextBox: boxOf(results) }
      return isOfChild ? { ...results, children: [{ ...child, ...fields }] } : { ...results, ...fields }
    })
    if (boxOf === OF_CHILD) await t.notThrowsAsync(login.refresh())
    else await t.throwsAsync(login.refresh(), { code: 'KEY_INTEGRITY' })
    t.is(JSON.stringify(login.stash.children?.[0]?.pin2TextBox), ofChild)
  }
  t.is(JSON.stringify(login.stash.pin2TextBox), before)
})

const OF_CHILD = (results: Untyped): Untyped => results.children[0].keyBoxes[0]

test('the loginAuth never changes: the box of an earlier password in its place is refused', async t => {
  const { world, device } = await makeAlice()
  const { services, stashes } = device
  const login = await loginWithPassword(services, stashes, ALICE)
  const { loginAuthBox, passwordAuthBox } = login.stash
  for (const password of ['second', 'third']) {
    const secret = new Secret(password)
    await login.change(async ({ held }) => {
      const loginKey = held.loginKey.use(key => key.slice())
      const named = { username: 'alice', password: secret, snrp: CHEAP }
      return [await passwordChange(services.io, { loginId: held.loginId, loginKey }, named)]
    })
  }
  world.garble = answerWith(results => ({ ...results, loginAuthBox: passwordAuthBox }))
  await login.refresh()
  t.deepEqual(login.stash.loginAuthBox, loginAuthBox)
  t.notDeepEqual(login.stash.passwordAuthBox, passwordAuthBox)
})
