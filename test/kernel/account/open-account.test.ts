import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { accountRepoTypeOf, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { listedWallets } from '../../helpers/listed-wallets.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

const io = makeNodeIo()

const failStores = (
  user: ReturnType<typeof makeKnownUser>,
  isBroken: (path: string) => boolean
): (() => void) =>
  user.world.server.use(async ({ path }, next) => {
    if (path.includes('/store/') && isBroken(path)) throw new Error('No store')
    return next()
  })

test('an account waits for its files, and is ready when they are read', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: '00' })
  const user = makeKnownUser(t, { infos: [info] })
  user.put(user.repo, { [user.statesPath(info.id)]: { id: info.id, archived: true } })
  const order: string[] = []
  user.world.server.use(async ({ path }, next) => {
    if (path.includes('/store/')) order.push('sync')
    return next()
  })
  const { account } = await user.logIn({ plugins: [makeToy().plugin] })
  order.push('ready')
  t.deepEqual(order.slice(0, 2), ['sync', 'ready'])
  t.deepEqual(account.getSnapshot().archivedWalletIds, [info.id])
})

test('an account waits until the plugins are locked and all are there, then syncs, reads its files, and is ready [4.25]', async t => {
  const world = makeFakeWorld({ io })
  const alice = { username: 'alice', password: 'Correct horse 1' }
  const first = await openDevice(world, { plugins: [makeToy().plugin] })
  const made = await first.context.createAccount(alice)
  const { id } = await made.createCurrencyWallet('wallet:toycoin')
  await made.changeWalletStates({ [id]: { archived: true } })
  await made.sync()
  await first.close()

  const order: string[] = []
  world.server.use(async ({ path }, next) => {
    if (path.includes('/store/')) order.push('sync')
    return next()
  })
  const open = async () => {
    const kernel = await openDevice(world, { laterPlugins: ['toycoin'], required: ['toycoin'] })
    t.teardown(() => kernel.close())
    const opening = kernel.context.loginWithPassword(alice.username, alice.password)
    return { kernel, opening: opening.finally(() => order.push('settled')) }
  }
  // Where nothing is announced, the same login is done meanwhile, though it began later.
  const logInElsewhere = async () => {
    const elsewhere = await openDevice(world)
    await elsewhere.context.loginWithPassword(alice.username, alice.password)
    await elsewhere.close()
    t.true(order.splice(0).every(step => step === 'sync'))
  }
  const { kernel, opening } = await open()
  await logInElsewhere()
  kernel.addPlugin(makeToy().plugin)
  await logInElsewhere()
  t.deepEqual(order, [])
  kernel.lockPlugins()
  const account = await opening
  t.deepEqual(order.slice(0, 2), ['sync', 'settled'])
  t.deepEqual(account.getSnapshot().archivedWalletIds, [id])

  order.length = 0
  const without = await open()
  without.kernel.lockPlugins()
  await t.throwsAsync(without.opening, { code: 'PLUGINS_MISSING' })
  t.deepEqual(order, ['settled'])
})

test('loading an account fails if its files cannot be fetched; nothing stays open, and a later login works [4.26]', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: '00' })
  const user = makeKnownUser(t, { infos: [info] })
  const repair = failStores(user, () => true)
  const disk = new Map<string, string>()
  await t.throwsAsync(user.logIn({ disk }), { code: 'SYNC_FAILED' })
  repair()
  const { account } = await user.logIn({ disk, plugins: [makeToy().plugin] })
  t.deepEqual(account.getSnapshot().walletIds, [info.id])
})

test('a device that has the files once opens the account without the sync servers', async t => {
  const user = makeKnownUser(t)
  const disk = new Map<string, string>()
  await (await user.logIn({ disk })).account.logout()
  const repair = failStores(user, () => true)
  const { account } = await user.logIn({ disk })
  t.true(account.isLoggedIn)
  repair()
})

test('an older repo of an account that cannot be opened or synced is reported, and its wallets come when it is there', async t => {
  const types = ['account:repo:co.airbitz.wallet', '', accountRepoTypeOf('')]
  const [late, lost, damaged] = types.map(type => makeWalletInfo(io, type)) as [never, never, never]
  const infos = [late, lost, { ...(damaged as object), keys: { dataKey: 'AAAA', syncKey: 'AAAA' } }]
  const user = makeKnownUser(t, { infos })
  const hex = (bytes: number): string => io.crypto.toHex(io.random(bytes))
  user.put(late, { 'Wallets/1.json': { MK: hex(32), SyncKey: hex(20), BitcoinSeed: hex(32) } })
  const { keys } = late as { keys: { syncKey: string } }
  const path = io.crypto.toHex(io.crypto.fromBase64(keys.syncKey))
  const repair = failStores(user, tried => tried.includes(path))
  const { account, errors } = await user.logIn()
  t.deepEqual(listedWallets(account), [])
  t.true(errors.some(error => isWalletError(error, 'SYNC_FAILED')))
  t.true(errors.some(error => isWalletError(error, 'KEY_INTEGRITY')))
  repair()
  await account.sync()
  await waitFor(() => listedWallets(account).length === 1)
  t.is(account.getSnapshot().activeWalletIds.length, 1)
})

test('an account repo that another device adds is opened at once, and its wallets come', async t => {
  const user = makeKnownUser(t)
  const { account, errors } = await user.logIn()
  const { account: other } = await user.logIn()
  const random = (bytes: number): string => io.crypto.toBase64(io.random(bytes))
  const hex = (bytes: number): string => io.crypto.toHex(io.random(bytes))
  const keys = { dataKey: random(32), syncKey: random(20) }
  const type = accountRepoTypeOf('')
  const id = await other.createWallet(type, keys)
  user.put({ id, type, keys }, { 'Wallets/1.json': { MK: hex(32), SyncKey: hex(20), BitcoinSeed: hex(32) } })
  t.deepEqual(listedWallets(account), [])
  await account.sync()
  await waitFor(() => listedWallets(account).length === 1)
  t.is(account.listRepos().filter(repo => repo.type === type).length, 2)
  t.deepEqual(errors, [])
  // And what comes into it later is seen as well.
  user.put({ id, type, keys }, { 'Wallets/2.json': { MK: hex(32), SyncKey: hex(20), BitcoinSeed: hex(32) } })
  await account.sync()
  await waitFor(() => listedWallets(account).length === 2)
})
