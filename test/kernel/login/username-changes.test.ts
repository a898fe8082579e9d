import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import {
  type LoginChange,
  passwordChange,
  recoveryChange,
  staleIdChanges
} from '../../../kernel/login/changes.ts'
import { createLogin } from '../../../kernel/login/methods/create.ts'
import { loginWithKey } from '../../../kernel/login/methods/key.ts'
import { listTrees } from '../../../kernel/login/tree.ts'
import type { LoginTree } from '../../../kernel/types/login.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'
import { CHEAP, settle } from '../../helpers/login-device.ts'
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

const { password } = ALICE
const LIGHT = { username: undefined, password: undefined }

test('a new username goes to the server with the password and every id that follows from it [7.12]', async t => {
  const { world, alice } = await makeAlice()
  const recovery = { questions: ['Where?'], answers: new Secret(['here']) }
  await alice.login.change(({ held }) => [recoveryChange(alice.services.io, held, recovery)])
  takeRoutes(world)
  await alice.credentials.changeUsername({ username: ' New  Name', password })
  const changes = world.requests.filter(({ route }) => route.endsWith('/login/username'))
  const [root, child] = changes.map(({ body }) => Object.keys(body.data).sort())
  t.deepEqual(
    root,
    // biome-ignore format: the list of protocol §2.4
    ['passwordAuth', 'passwordAuthBox', 'passwordAuthSnrp', 'passwordBox', 'passwordKeySnrp', 'pin2Id', 'recovery2Id', 'userId', 'userTextBox']
  )
  t.deepEqual(child, ['pin2Id'])
  t.deepEqual(takeRoutes(world), ['POST /sync', 'POST /login/username', 'POST /login/username'])
  t.is(alice.login.username, 'new name')
  t.deepEqual(await strayIds(world, alice), [])

  await openByPassword(world, new Map(), { username: 'new name' })
  await t.throwsAsync(openByPassword(world), { code: 'ACCOUNT_NOT_FOUND' })
  const again = await openByPin(world, alice.files)
  await again.login.refresh()
  t.deepEqual(await strayIds(world, again), [])
  world.server.isOnline = false
  await openByPassword(world, alice.files, { username: 'new name' })
})

test('an account with a password changes its username with that password only [5.9]', async t => {
  const { world, alice } = await makeAlice()
  const { credentials } = alice
  const change = (given: object) => credentials.changeUsername({ username: 'bob', ...given })
  takeRoutes(world)
  await t.throwsAsync(change({}), { code: 'USERNAME_WITHOUT_PASSWORD' })
  await t.throwsAsync(change({ password: 'a slip' }), { code: 'PASSWORD' })
  await t.throwsAsync(change({ password: '\ud800' }), { code: 'PASSWORD_TOO_WEAK' })
  await t.throwsAsync(change({ username: ' ', password }), { code: 'USERNAME_INVALID' })
  await t.throwsAsync(change({ username: 'bøb', password }), { code: 'BAD_USERNAME' })
  await settle()
  t.false(takeRoutes(world).includes('POST /login/username'))
  await change({ password })
  t.is(alice.login.username, 'bob')
})

test('only the root login has a username: a device of an app alone cannot change it [5.7]', async t => {
  const { world, alice } = await makeAlice()
  const device = await openAppDevice(world, alice.files)
  const login = await loginWithKey(device.services, device.stashes, {
    username: ALICE.username,
    loginKey: alice.login.rootLoginKeyBase58()
  })
  const child = withCredentials(device, login)
  t.true(login.isEdgeLogin)
  await t.throwsAsync(child.credentials.changeUsername({ username: 'bob' }), {
    code: 'CHILD_USERNAME',
    message: 'Only top-level logins can have usernames'
  })
  await t.throwsAsync(child.credentials.changePassword('battery staple'), { code: 'USERNAME_REQUIRED' })
  await t.throwsAsync(child.credentials.deleteRemoteAccount(), { code: 'APP_ID_NOT_FOUND' })
  const named = recordsOf(world).filter(({ userId }) => userId !== undefined)
  t.deepEqual(
    named.map(({ appId }) => appId),
    ['']
  )
})

test("another's username is refused, and the account stays as it was", async t => {
  const { world, alice } = await makeAlice()
  const bob = await openAppDevice(world)
  await createLogin(bob.services, bob.stashes, { username: 'bob', password, snrp: CHEAP })
  await t.throwsAsync(alice.credentials.changeUsername({ username: 'bob', password }), {
    code: 'ACCOUNT_EXISTS',
    message: 'Account already exists on server'
  })
  t.is(alice.login.username, ALICE.username)
  const again = await openByPin(world, alice.files)
  await openByPassword(world)
  t.is(again.login.username, ALICE.username)
})

test('an account without a username gains one, with a password or without', async t => {
  for (const given of [{}, { password }]) {
    const { world, alice } = await makeAlice(LIGHT)
    await alice.credentials.changeUsername({ username: 'late', ...given })
    t.deepEqual(await strayIds(world, alice), [])
    const again = await openByPin(world, alice.files)
    t.is(again.login.username, 'late')
    if ('password' in given) await openByPassword(world, new Map(), { username: 'late' })
    else await alice.credentials.changePassword(password)
    await openByPassword(world, new Map(), { username: 'late' })
  }
})

test('a password that another client gave to the login of an app does not stand in the way', async t => {
  const { world, alice } = await makeAlice()
  const [, child] = listTrees(alice.login.getSnapshot().held)
  const loginKey = child?.loginKey.use(key => key.slice()) ?? new Uint8Array()
  const useless = { username: ALICE.username, password: new Secret(password), snrp: CHEAP }
  const kit = await passwordChange(alice.services.io, { loginId: child?.loginId ?? '', loginKey }, useless)
  await alice.login.change(() => [kit])
  takeRoutes(world)
  await alice.credentials.changeUsername({ username: 'bob', password })
  t.deepEqual(takeRoutes(world), [
    'POST /sync',
    'POST /login/username',
    'DELETE /login/password',
    'POST /login/username'
  ])
  t.deepEqual(await strayIds(world, alice), [])
})

test('other devices get a new username with their next refresh', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  other.logLines.length = 0
  await alice.credentials.changeUsername({ username: 'bob', password })
  await other.login.refresh()
  t.is(other.login.username, 'bob')
  t.deepEqual(await strayIds(world, other), [])
  t.deepEqual(other.logLines, [])
  await openByPin(world, other.files)
  t.is(stashIn(other.files).username, 'bob')
})

test('a device that logs in with a new username knows it by that, also without the box of it', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  await alice.credentials.changeUsername({ username: 'bob', password })
  world.garble = (_, reply) => ({ ...reply, results: { ...reply.results, userTextBox: undefined } })
  const { files } = await openByPassword(world, other.files, { username: 'bob' })
  t.is(stashIn(files).username, 'bob')
  world.server.isOnline = false
  await openByPassword(world, files, { username: 'bob' })
})

test('a new username shows wherever the old one did', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const { context } = kernel
  const account = await context.createAccount({ pin: ALICE.pin })
  t.true(account.isLight)
  const shown: unknown[][] = []
  account.subscribe(() => {
    const { username, loginMethods } = account.getSnapshot()
    shown.push([username, ...(loginMethods ?? [])])
  })
  await account.credentials.changeUsername({ username: 'Late', password })
  t.deepEqual(shown, [
    ['late', 'pin'],
    ['late', 'password', 'pin']
  ])
  t.false(account.isLight)
  t.is(account.username, 'late')
  t.is(context.localUsers[0]?.username, 'late')
  await account.logout()
  const again = await context.loginWithPIN({ username: 'late' }, ALICE.pin)
  t.is(again.username, 'late')
  await kernel.close()
})

test('a PIN logs in under the new name on a device that stopped before it received the reply', async t => {
  const { world, alice } = await makeAlice()
  world.loseReplyOf = 'POST /api/v2/login/username'
  await t.throwsAsync(alice.credentials.changeUsername({ username: 'bob', password }), { code: 'NETWORK' })
  const files = new Map(alice.files)
  world.loseReplyOf = undefined
  t.is(stashIn(files).username, 'alice')
  const { login } = await openByPin(world, files)
  await login.refresh()
  t.is(login.username, 'bob')
})

test('only a root login with a username has ids below it to bring up to date', t => {
  const child = { loginId: 'below', username: 'old', pin2Key: new Secret(new Uint8Array(32)), children: [] }
  const bare = { loginId: 'bare', username: 'old', children: [] }
  const changesOf = (root: { isRoot: boolean; username?: string }): readonly LoginChange[] =>
    staleIdChanges(makeNodeIo(), {
      ...root,
      loginId: 'root',
      children: [bare, child]
    } as unknown as LoginTree)
  t.like(changesOf({ isRoot: true, username: 'new' }), { length: 1, 0: { loginId: 'below' } })
  t.deepEqual(changesOf({ isRoot: true, username: 'old' }), [])
  t.deepEqual(changesOf({ isRoot: true }), [])
  t.deepEqual(changesOf({ isRoot: false, username: 'new' }), [])
})

test('setting a recovery fails if the name changes at each try, and the account stays open', async t => {
  const { world, alice } = await makeAlice()
  const other = await openByPassword(world)
  const recovery = { questions: ['Where?'], answers: new Secret(['here']) }
  let names = 0
  const change = alice.login.change(async ({ held }) => {
    names += 1
    await other.credentials.changeUsername({ username: `name${names}`, password })
    return [recoveryChange(alice.services.io, held, recovery)]
  })
  await t.throwsAsync(change, { code: 'CONFLICT', message: /again and again/ })
  t.is(names, 5)
  await alice.login.refresh()
  t.is(alice.login.username, 'name5')
})
