import test from 'ava'
import type { Account } from '../../../kernel/index.ts'
import {
  contentsOf,
  fillAccount,
  HERMIT,
  type HermitDevice,
  makeNotedWorld,
  type NotedWorld,
  openHermitDevice
} from '../../helpers/device-account.ts'

/** A device with the account, open. */
const makeHermit = async ({ world }: NotedWorld): Promise<HermitDevice & { readonly account: Account }> => {
  const device = await openHermitDevice(world)
  return { ...device, account: await device.context.createAccount(HERMIT) }
}

test('an account of this device is created, filled and opened again without a question to a login or sync server', async t => {
  const place = makeNotedWorld()
  const { kernel, account, files } = await makeHermit(place)
  t.true(account.location.isDeviceOnly)
  t.true(account.getSnapshot().isDeviceOnly)
  await fillAccount(place.world, account)
  await account.sync()
  const contents = await contentsOf(account)
  const repos = account.listRepos()
  t.is(repos.length, 3)
  t.true(repos.every(({ isDeviceOnly, errorCode }) => isDeviceOnly === true && errorCode === undefined))
  await kernel.close()

  const again = await openHermitDevice(place.world, { files })
  t.deepEqual(
    again.context.localUsers.map(({ username, isDeviceOnly }) => [username, isDeviceOnly]),
    [['hermit', true]]
  )
  const opened = await again.context.loginWithPassword(HERMIT.username, HERMIT.password)
  t.deepEqual(await contentsOf(opened), contents)
  const loginKey = await opened.getLoginKey()
  await opened.logout()
  await again.context.loginWithKey({ username: HERMIT.username }, loginKey)
  await again.context.fetchLoginMessages()
  await again.kernel.close()
  t.deepEqual(place.requests, [])
})

test('a wrong password of an account of this device costs its whole derivation, and asks no server', async t => {
  const place = makeNotedWorld()
  const cost = { n: 32, r: 2, p: 3 }
  const { kernel, context, derivations } = await openHermitDevice(place.world, { passwordSnrp: { cost } })
  const account = await context.createAccount(HERMIT)
  await account.logout()
  derivations.length = 0
  await t.throwsAsync(context.loginWithPassword(HERMIT.username, 'Correct horse 2'), { code: 'PASSWORD' })
  t.deepEqual(
    derivations.map(({ n, r, p }) => ({ n, r, p })),
    [cost]
  )
  t.deepEqual(place.requests, [])
  await kernel.close()
})

test('password, username and a PIN that is only checked change without a server', async t => {
  const place = makeNotedWorld()
  const { kernel, context, account } = await makeHermit(place)
  const { credentials } = account
  await credentials.changePassword('Another horse 2')
  await credentials.changePIN({ pin: '4711', enableLogin: false })
  t.true(await credentials.checkPIN('4711'))
  t.false(await credentials.checkPIN('4712'))
  await credentials.changeUsername({ username: 'recluse', password: 'Another horse 2' })
  await account.logout()
  await t.throwsAsync(context.loginWithPassword('recluse', HERMIT.password), { code: 'PASSWORD' })
  const opened = await context.loginWithPassword('recluse', 'Another horse 2')
  t.is(opened.username, 'recluse')
  t.true(opened.location.isDeviceOnly)
  t.deepEqual(place.requests, [])
  await kernel.close()
})

test('what only a login server can do is refused with the reason, and changes nothing', async t => {
  const place = makeNotedWorld()
  const { kernel, context, account, files } = await makeHermit(place)
  const before = JSON.stringify([...files])
  const { credentials, twoFactor } = account
  const key = `1${'2'.repeat(43)}`
  const refused: readonly [what: string, call: () => Promise<unknown>][] = [
    ['login by PIN', () => context.createAccount({ ...HERMIT, username: 'other', pin: '4711' })],
    ['login by PIN', () => credentials.changePIN({ pin: '4711' })],
    ['login by PIN', () => context.loginWithPIN({ username: HERMIT.username }, '4711')],
    ['recovery by answers', () => credentials.changeRecovery(['Pet?'], ['Rex'])],
    ['recovery by answers', () => context.loginWithRecovery2(key, HERMIT.username, ['Rex'])],
    ['recovery by answers', () => context.fetchRecovery2Questions(key, HERMIT.username)],
    ['two-factor', () => context.requestOtpReset(HERMIT.username, 'token')],
    ['two-factor', () => twoFactor.enableOtp()],
    ['two-factor', () => twoFactor.repairOtp('ABCDEFGHIJKLMNOP')],
    ['approving devices', () => twoFactor.approveVoucher('one')],
    ['approval by a second device', () => account.policies.fetchApproval(key)],
    ['login on another device', () => account.fetchLobby(key)],
    ['deletion from a server', () => credentials.deleteRemoteAccount()],
    ['an account without a password', () => credentials.deletePassword()]
  ]
  for (const [what, call] of refused) {
    const error = await t.throwsAsync(call(), { code: 'DEVICE_ONLY' }, what)
    t.is(error?.message, `This account is on this device only, and ${what} needs a login server`)
  }
  t.true(account.isLoggedIn)
  await account.logout()
  await t.throwsAsync(context.forgetAccount({ username: HERMIT.username }), { code: 'DEVICE_ONLY' })
  t.is(JSON.stringify([...files]), before)
  await context.forgetAccount({ username: HERMIT.username }, { losesAccount: true })
  t.deepEqual(context.localUsers, [])
  t.deepEqual(place.requests, [])
  await kernel.close()
})

test('no two accounts of a device share a username if one of them has no server', async t => {
  const { world } = makeNotedWorld()
  const { kernel, context } = await openHermitDevice(world)
  const alice = { username: 'alice', password: 'Correct horse 1' }
  const taken = { code: 'ACCOUNT_ON_DEVICE', message: 'Another account of this device has this username' }
  await context.createAccount(alice)
  const hermit = await context.createAccount(HERMIT)
  await t.throwsAsync(context.createAccount({ ...alice, isDeviceOnly: true }), taken)
  await t.throwsAsync(context.createAccount(HERMIT), taken)
  await t.throwsAsync(context.createAccount({ ...alice, username: HERMIT.username }), taken)
  await t.throwsAsync(
    hermit.credentials.changeUsername({ username: 'alice', password: HERMIT.password }),
    taken
  )
  t.is(hermit.username, HERMIT.username)
  await kernel.close()
})

test('an account of this device stays changeable although another one has its username', async t => {
  const { world } = makeNotedWorld()
  const first = await openHermitDevice(world)
  await (await first.context.createAccount({ ...HERMIT, username: 'older' })).logout()
  await (await first.context.createAccount(HERMIT)).logout()
  await first.kernel.close()
  const files = new Map(
    [...first.files].map(([path, text]) => [path, text.replaceAll('"older"', '"hermit"')])
  )
  const { kernel, context } = await openHermitDevice(world, { files })
  t.deepEqual(
    context.localUsers.map(({ username }) => username),
    ['hermit', 'hermit']
  )
  const account = await context.loginWithPassword(HERMIT.username, HERMIT.password)
  await account.credentials.changePIN({ pin: '4711', enableLogin: false })
  t.true(await account.credentials.checkPIN('4711'))
  await kernel.close()
})

test('a kernel without a login server needs no API key, makes accounts of this device, and says what is missing', async t => {
  const { world, requests } = makeNotedWorld()
  const alone = { authServer: null, apiKey: undefined as never, syncServers: [], infoServers: [] }
  const { kernel, context } = await openHermitDevice(world, alone)
  const account = await context.createAccount({ username: 'hermit', password: 'Correct horse 1' })
  t.true(account.location.isDeviceOnly)
  await fillAccount(world, account)
  for (const call of [
    () => context.usernameAvailable('alice'),
    () => context.loginWithPassword('alice', 'Correct horse 1'),
    () => context.requestEdgeLogin().then(request => request.account),
    () => account.location.moveToServer()
  ]) {
    const error = await t.throwsAsync(call(), { code: 'NETWORK' })
    t.is(error?.message, 'Could not reach a login server: none is named')
  }
  t.true(account.location.isDeviceOnly)
  t.deepEqual(requests, [])
  await kernel.close()
  await t.throwsAsync(openHermitDevice(world, { apiKey: undefined as never }), { code: 'API_KEY_MISSING' })
})
