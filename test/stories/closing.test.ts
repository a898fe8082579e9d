import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Disk,
  type Io,
  type ObserverPlugin,
  type StoragePlugin,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'

const io = makeNodeIo()
const alice = { username: 'alice', password: 'Correct horse 1' }

const storageOn = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'shared',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('shared', async () => disk)
})

const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

test('simultaneous logins of one account are separate objects over the same files, until the last one ends', async t => {
  const kernel = await openDevice(makeFakeWorld({ io }))
  const first = await kernel.context.createAccount(alice)
  const others = await Promise.all([
    kernel.context.loginWithPassword(alice.username, alice.password),
    kernel.context.loginWithPassword(alice.username, alice.password)
  ])
  t.is(new Set([first, ...others]).size, 3)
  t.deepEqual(new Set(kernel.context.accounts), new Set([first, ...others]))
  await first.dataStore.setItem('store', 'item', 'from the first')
  for (const account of others) t.is(await account.dataStore.getItem('store', 'item'), 'from the first')
  await first.logout()
  t.deepEqual(
    [first, ...others].map(account => account.isLoggedIn),
    [false, true, true]
  )
  for (const account of others) await account.logout()
  t.deepEqual(kernel.context.accounts, [])
  const again = await kernel.context.loginWithPassword(alice.username, alice.password)
  t.is(await again.dataStore.getItem('store', 'item'), 'from the first')
  await kernel.close()
})

test('a login right after a logout waits until the old account has released its files', async t => {
  const toy = makeToy({ engine: () => ({ killEngine: () => sleep(1500) }) })
  const kernel = await openDevice(makeFakeWorld({ io }), { plugins: [toy.plugin] })
  const first = await kernel.context.createAccount(alice)
  const wallet = await first.createCurrencyWallet('wallet:toycoin', { name: 'Old' })
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  let isGone = false
  const gone = first.logout().then(() => {
    isGone = true
  })
  const next = await kernel.context.loginWithPassword(alice.username, alice.password)
  t.true(isGone)
  t.not(next, first)
  t.is((await next.openWallet(wallet.id)).name, 'Old')
  await gone
  await kernel.close()
})

test('a login that comes to its end after the context was closed is undone', async t => {
  const world = makeFakeWorld({ io })
  const closings: string[] = []
  const disk = memoryDisk()
  const storage = storageOn({ ...disk, close: async () => void closings.push('disk') })
  // With scrypt on a thread, so that the login is still under way.
  const kernel = await openDevice(world, { storage, io: world.ioFor(io) })
  const creating = kernel.context.createAccount(alice)
  const refused = t.throwsAsync(creating, { code: 'CONTEXT_CLOSED' }).then(() => closings.push('login'))
  await io.clock.turn()
  await Promise.all([kernel.close(), kernel.close()])
  await refused
  t.deepEqual(closings, ['login', 'disk'])
  t.deepEqual(kernel.context.accounts, [])
})

test('closing waits for a running logout, and the disk closes last', async t => {
  const order: string[] = []
  const toy = makeToy({
    engine: () => ({
      async killEngine() {
        await sleep(50)
        order.push('engine')
      }
    })
  })
  const storage = storageOn({ ...memoryDisk(), close: async () => void order.push('disk') })
  const kernel = await openDevice(makeFakeWorld({ io }), { plugins: [toy.plugin], storage })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const logout = account.logout()
  await kernel.close()
  await logout
  t.deepEqual(order, ['engine', 'disk'])
})

test('a kernel that cannot start releases its disk', async t => {
  const closed: string[] = []
  const disk: Disk = { ...memoryDisk(), close: async () => void closed.push('disk') }
  await t.throwsAsync(
    openDevice(makeFakeWorld({ io }), {
      storage: storageOn(disk),
      pluginOptions: { bitcoin: { servers: 1n as never } }
    }),
    { code: 'OPTION_INVALID' }
  )
  t.deepEqual(closed, ['disk'])
})

test('a wallet that could not be opened leaves nothing behind that syncs, and opens the next time', async t => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { ...io, clock } })
  const worldIo = world.ioFor({ ...io, clock })
  const repos = new Set<string | undefined>()
  const counted: Io = {
    ...worldIo,
    fetch(url, options) {
      if (url.includes('/store/')) repos.add(/store\/([0-9a-f]+)/.exec(url)?.[1])
      return worldIo.fetch(url, options)
    }
  }
  let isFailing = false
  const disk = memoryDisk()
  const failing: Disk = {
    ...disk,
    async list(folder) {
      if (isFailing && folder.startsWith('repos/'))
        throw new WalletError('STORAGE_FAILED', { path: folder, reason: 'no' })
      return disk.list(folder)
    }
  }
  const toy = makeToy()
  const options = { plugins: [toy.plugin], storage: storageOn(failing), io: counted }
  const first = await openDevice(world, options)
  const account = await first.context.createAccount(alice)
  const { id } = await account.createCurrencyWallet('wallet:toycoin', { name: 'Toys' })
  await account.sync()
  await first.close()

  const kernel = await openDevice(world, { ...options, plugins: [makeToy().plugin] })
  const again = await kernel.context.loginWithPassword(alice.username, alice.password)
  repos.clear()
  await clock.advance(60_000)
  const [ofAccount] = repos
  t.deepEqual([...repos], [ofAccount])
  isFailing = true
  await t.throwsAsync(again.openWallet(id), { code: 'STORAGE_FAILED' })
  isFailing = false
  repos.clear()
  await clock.advance(60_000)
  t.deepEqual([...repos], [ofAccount])
  t.is((await again.openWallet(id)).name, 'Toys')
  await kernel.close()
})

test('an application or observer whose listeners fail, at once or later, breaks nothing and is reported', async t => {
  const faults: string[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.transactionsChanged.tap('watch', (async () => {
        throw new Error('late')
      }) as never)
      hooks.pluginFault.tap('watch', ({ pluginId, hook }) => void faults.push(`${pluginId} ${hook}`))
    }
  }
  const toy = makeToy()
  const kernel = await openDevice(makeFakeWorld({ io }), {
    plugins: [toy.plugin, watch],
    onError() {
      throw new Error('screen')
    }
  })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => toy.requests.length === 1)
  const callbacks = toy.requests[0]?.callbacks
  callbacks?.onTransactionsChanged([{ txid: 5 } as never])
  callbacks?.onTransactionsChanged([toyTransaction('good')])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  await waitFor(() => faults.includes('watch transactionsChanged'))
  t.pass()
  await kernel.close()
})

test('after a logout every call of the wallet fails with that reason', async t => {
  const toy = makeToy()
  const kernel = await openDevice(makeFakeWorld({ io }), { plugins: [toy.plugin] })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => toy.requests.length === 1)
  toy.requests[0]?.callbacks.onTransactionsChanged([toyTransaction('a')])
  await waitFor(async () => (await wallet.getTransactions()).length === 1)
  const [draft] = await wallet.getTransactions()
  if (draft === undefined) throw new Error('There is no transaction')
  const request = { tokenId: null, spendTargets: [] }
  await account.logout()
  const calls = [
    () => wallet.makeSpend(request),
    () => wallet.getMaxSpendable(request),
    () => wallet.spend(draft),
    () => wallet.signTx(draft),
    () => wallet.readSignedTx({}),
    () => wallet.broadcastTx(draft),
    () => wallet.discardTx('a'),
    () => wallet.saveTx(draft),
    () => wallet.sweepPrivateKeys({ ...request, privateKeys: [] }),
    () => wallet.rename('x'),
    () => wallet.setFiatCurrencyCode('iso:EUR'),
    () => wallet.getTransactions(),
    () => wallet.getTransaction('a'),
    () => wallet.saveTxMetadata('a', { notes: 'x' }),
    () => wallet.savedAddresses(),
    () => wallet.saveReceiveAddress('a'),
    () => wallet.getReceiveAddress(),
    () => wallet.sync(),
    () => account.openWallet(wallet.id),
    () => account.sync(),
    () => account.changePaused(true)
  ]
  for (const call of calls) await t.throwsAsync(call, { code: 'LOGGED_OUT' }, String(call))
  await kernel.close()
})
