import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice } from '../../helpers/device.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { settle } from '../../helpers/login-device.ts'
import { recordsOf } from '../../helpers/login-ids.ts'
import { makeAlice, openByPassword, openByPin, takeRoutes } from '../../helpers/login-methods.ts'

const ALICE = { username: 'alice', password: 'correct horse', pin: '4711' }

test('a deleted account is gone from the server and the device, and its name is free [7.15]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const { context } = kernel
  const account = await context.createAccount(ALICE)
  await account.createCurrencyWallet('wallet:bitcoin')
  await account.credentials.deleteRemoteAccount()
  t.false(account.isLoggedIn)
  t.deepEqual(context.accounts, [])
  t.deepEqual(context.localUsers, [])
  t.true(await context.usernameAvailable('alice'))
  await t.throwsAsync(context.loginWithPassword('alice', ALICE.password), { code: 'ACCOUNT_NOT_FOUND' })
  await t.throwsAsync(account.credentials.deleteRemoteAccount(), { code: 'LOGGED_OUT' })
  await context.createAccount(ALICE)
  await kernel.close()
})

test('the request to delete an account carries only its credentials, and deletes all child logins too', async t => {
  const { world, alice } = await makeAlice()
  t.is(recordsOf(world).length, 2)
  takeRoutes(world)
  await alice.credentials.deleteRemoteAccount()
  t.deepEqual(Object.keys(world.requests[0]?.body).sort(), ['loginAuth', 'loginId', 'syncToken'])
  t.deepEqual(takeRoutes(world), ['POST /login/delete'])
  t.deepEqual(recordsOf(world), [])
  t.deepEqual(
    [...alice.files.keys()].filter(path => path.startsWith('logins/')),
    []
  )
})

test('an account that the server did not delete stays on the device', async t => {
  const { world, alice } = await makeAlice()
  world.server.isOnline = false
  await t.throwsAsync(alice.credentials.deleteRemoteAccount(), { code: 'NETWORK' })
  await settle()
  world.server.isOnline = true
  t.is(alice.stashes.list().length, 1)
  await alice.login.refresh()
  await openByPassword(world, alice.files)
})

test('a deletion whose reply was lost is repeated, in the same process or in the next', async t => {
  for (const isRestarted of [false, true]) {
    const { world, alice } = await makeAlice()
    world.loseReplyOf = 'POST /api/v2/login/delete'
    await t.throwsAsync(alice.credentials.deleteRemoteAccount(), { code: 'NETWORK' })
    world.loseReplyOf = undefined
    await settle()
    t.is(alice.stashes.list().length, 1, 'what the server says unasked deletes nothing')
    if (isRestarted) alice.login.close()
    const device = isRestarted ? await openByPassword(world, alice.files) : alice
    await device.credentials.deleteRemoteAccount()
    t.deepEqual(device.stashes.list(), [])
  }
})

test('a crash while the files of a deleted account go leaves an account that can be deleted again', async t => {
  const { world: _, alice: probe } = await makeAlice()
  const before = probe.disk.writeCount
  await probe.credentials.deleteRemoteAccount()
  const writes = probe.disk.writeCount - before
  t.true(writes > 0)
  for (let at = 1; at <= writes; at += 1) {
    for (const kind of FAULT_KINDS) {
      const { world, alice } = await makeAlice()
      alice.login.close()
      const healthy = await openByPin(world, alice.files)
      healthy.login.close()
      const disk = makeFaultDisk(alice.files, { at, kind })
      const device = await openByPin(world, alice.files, { disk })
      const label = `${kind} at ${at}`
      await t.throwsAsync(device.credentials.deleteRemoteAccount(), undefined, label)
      t.true(disk.hasFired, label)
      t.deepEqual(recordsOf(world), [], label)

      if (![...alice.files.keys()].some(path => path.startsWith('logins/'))) continue
      const again = await openByPassword(world, alice.files)
      await again.credentials.deleteRemoteAccount()
      t.deepEqual(again.stashes.list(), [], label)
    }
  }
})

test('an old account that was renamed does not count as deleted', async t => {
  const { world, alice } = await makeAlice()
  alice.login.close()
  const cut = world.server.use(async ({ path }, next) => {
    if (path === '/api/v2/login/secret') throw new Error('Cut off')
    return next()
  })
  for (const record of recordsOf(world).filter(({ appId }) => appId === ''))
    world.server.db.saveLogin({ ...record, loginAuth: undefined, loginAuthBox: undefined })
  const [one, other] = [await openByPassword(world), await openByPassword(world)]
  const { password } = ALICE
  await other.credentials.changeUsername({ username: 'bob', password })
  await t.throwsAsync(one.credentials.deleteRemoteAccount(), { code: 'ACCOUNT_NOT_FOUND' })
  t.is(one.stashes.list().length, 1)
  cut()
  await openByPassword(world, new Map(), { username: 'bob', password })
})
