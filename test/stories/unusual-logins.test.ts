import test from 'ava'
import { envelope, type StatusName } from '../../fake-server/base/replies.ts'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { openDevice } from '../helpers/device.ts'

// What applications of the deployed core do, and a wallet of our own would not.

const datesOf = ({ context }: Kernel): (string | undefined)[] =>
  context.localUsers.map(({ lastLogin }) => lastLogin?.toISOString())

test('an account has a username and a PIN before it has a password, and a password later', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const named = await kernel.context.createAccount({ username: 'Pinny', pin: '4711' })
  t.is(named.username, 'pinny')
  t.false(await kernel.context.usernameAvailable('pinny'))
  await named.logout()
  const account = await kernel.context.loginWithPIN({ username: 'pinny' }, '4711')
  await account.credentials.changePassword('correct horse')
  const other = await openDevice(world)
  t.is((await other.context.loginWithPassword('pinny', 'correct horse')).rootLoginId, account.rootLoginId)
  const bare = await kernel.context.createAccount({ username: 'only a name' })
  const loginKey = await bare.getLoginKey()
  await bare.logout()
  t.true((await kernel.context.loginWithKey({ username: 'only a name' }, loginKey)).isLoggedIn)
  await t.throwsAsync(kernel.context.createAccount({ password: 'correct horse' }), {
    code: 'USERNAME_REQUIRED'
  })
  for (const device of [kernel, other]) await device.close()
})

test('a login counts at the given date, by whichever login method, also after a restart', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const files = new Map<string, string>()
  const kernel = await openDevice(world, { storage: memoryStorage(files) })
  const { context } = kernel
  const year = (count: number) => ({ now: new Date(Date.UTC(2000 + count, 0, 2, 3, 4, 5)) })
  const isoOf = (count: number): string => year(count).now.toISOString()
  const user = { username: 'alice' }
  const account = await context.createAccount({ ...user, password: 'correct horse', pin: '4711', ...year(1) })
  const loginKey = await account.getLoginKey()
  const recoveryKey = await account.credentials.changeRecovery(['Pet?'], ['Rex'])
  t.deepEqual(datesOf(kernel), [isoOf(1)])
  await account.logout()
  const ways = [
    (help: object) => context.loginWithPassword('alice', 'correct horse', help),
    (help: object) => context.loginWithPIN(user, '4711', help),
    (help: object) => context.loginWithKey(user, loginKey, help),
    (help: object) => context.loginWithRecovery2(recoveryKey, 'alice', ['Rex'], help)
  ]
  for (const [at, way] of ways.entries()) {
    // An earlier year than the last one, too.
    for (const count of [at + 10, at + 2]) {
      const opened = await way(year(count))
      t.deepEqual(datesOf(kernel), [isoOf(count)], `${at}`)
      await opened.logout()
    }
    const bad = await t.throwsAsync(way({ now: 'today' }))
    t.like(bad, { code: 'OPTION_INVALID', details: { option: 'now' } })
  }
  await kernel.close()
  const again = await openDevice(world, { storage: memoryStorage(files) })
  t.deepEqual(datesOf(again), [isoOf(5)])
  const fresh = await openDevice(world)
  await fresh.context.loginWithPassword('alice', 'correct horse', year(20))
  t.deepEqual(datesOf(fresh), [isoOf(20)])
  for (const device of [again, fresh]) await device.close()
})

test('an account lists its login methods, and an empty list if only the login key opens it', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const reported: (readonly string[] | undefined)[] = []
  const kernel = await openDevice(world, {
    plugins: [
      {
        kind: 'observer',
        id: 'witness',
        apply: ({ hooks }) =>
          hooks.accountChanged.tap('witness', ({ loginMethods }) => void reported.push(loginMethods))
      }
    ]
  })
  const { context } = kernel
  const light = await context.createAccount({})
  const methods = () => light.getSnapshot().loginMethods
  t.deepEqual(methods(), [])
  await light.credentials.changePIN({ pin: '4711' })
  t.deepEqual(methods(), ['pin'])
  await light.credentials.changeUsername({ username: 'alice', password: 'correct horse' })
  t.deepEqual(methods(), ['password', 'pin'])
  await light.credentials.changeRecovery(['Pet?'], ['Rex'])
  t.deepEqual(methods(), ['password', 'pin', 'recovery'])
  await light.credentials.deletePIN()
  await light.credentials.deletePassword()
  t.deepEqual(methods(), ['recovery'])
  t.deepEqual(reported.at(-1), ['recovery'])
  const [user] = context.localUsers
  const pinned = await context.createAccount({ pin: '2580' })
  const { id } = pinned
  await pinned.logout()
  t.not(id, user?.loginId)
  t.is((await context.loginWithPIN({ loginId: id }, '2580')).id, id)
  await kernel.close()
})

test('a second login of an account is its own object: one logout ends one, and the last closes the shared parts', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const reported: boolean[] = []
  const kernel = await openDevice(world, {
    plugins: [
      {
        kind: 'observer',
        id: 'witness',
        apply: ({ hooks }) =>
          hooks.accountChanged.tap('witness', ({ isLoggedIn }) => void reported.push(isLoggedIn))
      }
    ]
  })
  const { context } = kernel
  const first = await context.createAccount({ username: 'alice', password: 'correct horse', pin: '4711' })
  const second = await context.loginWithPassword('alice', 'correct horse')
  t.not(first, second)
  t.is(first.id, second.id)
  t.deepEqual([first.loginMethod, second.loginMethod], ['create', 'password'])
  t.deepEqual(context.accounts, [first, second])
  const wallet = await first.createCurrencyWallet('wallet:bitcoin', { name: 'Shared' })
  t.deepEqual(second.getSnapshot().walletIds, [wallet.id])
  t.is(await second.openWallet(wallet.id), wallet)
  await first.credentials.changePIN({ pin: '2580' })
  t.true(await second.credentials.checkPIN('2580'))

  await first.logout()
  t.deepEqual([first.isLoggedIn, second.isLoggedIn], [false, true])
  t.false(reported.includes(false), 'an account that somebody is logged in to was told as logged out')
  t.deepEqual(context.accounts, [second])
  for (const call of [
    () => first.openWallet(wallet.id),
    async () => first.getLoginKey(),
    () => first.credentials.checkPIN('2580'),
    async () => first.credentials.getPIN(),
    () => first.credentials.changePassword('battery staple'),
    async () => first.twoFactor.getOtpKey(),
    () => first.dataStore.setItem('a', 'b', 'c'),
    async () => first.walletKeys.getRawPrivateKey(wallet.id)
  ])
    await t.throwsAsync(call, { code: 'LOGGED_OUT' })
  await wallet.rename('Still open')
  await second.dataStore.setItem('a', 'b', 'c')
  await second.sync()
  const [user] = context.localUsers
  await t.throwsAsync(context.forgetAccount({ loginId: user?.loginId ?? '' }), { code: 'USER_LOGGED_IN' })

  const third = await context.loginWithPIN({ username: 'alice' }, '2580')
  t.is(await third.dataStore.getItem('a', 'b'), 'c')
  await Promise.all([second.logout(), third.logout()])
  t.deepEqual([context.accounts.length, reported.at(-1)], [0, false])
  await t.throwsAsync(wallet.rename('No more'), { code: 'LOGGED_OUT' })
  const again = await context.loginWithPassword('alice', 'correct horse')
  t.is((await again.openWallet(wallet.id)).name, 'Still open')
  await again.logout()
  await context.forgetAccount({ username: 'alice' })
  await kernel.close()
})

test('logins and logouts of one account at once leave exactly those that were not logged out', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const { context } = kernel
  await (await context.createAccount({ username: 'alice', password: 'correct horse' })).logout()
  const open = () => context.loginWithPassword('alice', 'correct horse')
  for (let round = 0; round < 5; round += 1) {
    const [one, two] = await Promise.all([open(), open()])
    t.not(one, two)
    const [three] = await Promise.all([open(), one.logout(), two.logout()])
    t.true(three.isLoggedIn)
    t.deepEqual(context.accounts, [three])
    await three.sync()
    await three.logout()
  }
  const left = await Promise.all([open(), open(), open()])
  await kernel.close()
  t.true(left.every(({ isLoggedIn }) => !isLoggedIn))
})

/** Puts a reply of the table in the place of the server's refusals; gives what went over the wire. */
const refuseWith = (world: FakeWorld, name: StatusName): string[] => {
  const replies: string[] = []
  world.server.use(async ({ path }, next) => {
    const own = await next()
    if (!path.startsWith('/api/v2/login') || own.status < 400) return own
    const reply = envelope(name)
    replies.push(`${JSON.parse(reply.body).status_code}/${reply.status}`)
    return reply
  })
  return replies
}

test('recovery answers that a server refuses by a code of their own are wrong secrets, and right ones log in [8.19]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse' })
  const recoveryKey = await account.credentials.changeRecovery(['Colour?', 'Pet?'], ['red', 'Rex'])
  const replies = refuseWith(world, 'invalidAnswers')
  const { context } = await openDevice(world)
  await t.throwsAsync(context.loginWithRecovery2(recoveryKey, 'alice', ['red', 'Max']), {
    code: 'PASSWORD',
    name: 'PasswordError',
    message: 'Invalid password'
  })
  t.deepEqual(replies, ['5/401'])
  t.deepEqual(context.localUsers, [])
  t.true((await context.loginWithRecovery2(recoveryKey, 'alice', ['red', 'Rex'])).isLoggedIn)
})

test('a server that refuses this version fails new logins with that reason, and a known device opens its account [8.23]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse' })
  await account.logout()
  const stop = world.server.use(async ({ path }, next) =>
    path.startsWith('/api/v2/') ? envelope('obsolete') : next()
  )
  const { context } = await openDevice(world)
  await t.throwsAsync(context.loginWithPassword('alice', 'correct horse'), {
    code: 'OBSOLETE_API',
    name: 'ObsoleteApiError',
    message: 'The application is too old. Please upgrade.'
  })
  t.deepEqual(context.localUsers, [])
  const { lines } = world.server.traffic
  t.is(lines.at(-1)?.status, 410)
  t.true((await kernel.context.loginWithPassword('alice', 'correct horse')).isLoggedIn)
  stop()
  t.true((await context.loginWithPassword('alice', 'correct horse')).isLoggedIn)
})
