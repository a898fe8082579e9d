import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  createKernel,
  type Disk,
  type EngineSnapshot,
  type KernelOptions,
  type ObserverPlugin,
  type Plugin,
  type PluginSnapshot,
  type StoragePlugin,
  WalletError
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk, memoryStorage } from '../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { makeToy } from '../helpers/toy-currency.ts'

const io = makeNodeIo()

const storageOn = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'shared',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('shared', async () => disk)
})

const bare = (options: Partial<KernelOptions> = {}) =>
  createKernel({ io, apiKey: '', plugins: [memoryStorage()], ...options })

test('a context requires an API key [5.6]', async t => {
  for (const apiKey of [undefined, null]) {
    await t.throwsAsync(bare({ apiKey: apiKey as never }), {
      code: 'API_KEY_MISSING',
      message: 'No API key provided'
    })
  }
})

test('every configured server must pass the address rule, and the error names the host [2.2]', async t => {
  const refused: Partial<KernelOptions>[] = [
    { authServer: 'https://evil.example/api' },
    { authServer: 'http://login.edge.app/api' },
    { infoServers: ['https://edge.app.evil.example'] },
    { syncServers: ['https://sync-us1.edge.app', 'https://evil.example'] }
  ]
  for (const options of refused) {
    await t.throwsAsync(bare(options), {
      code: 'LOGIN_DOMAIN',
      message: /^Only \*\.edge\.app or localhost are valid login domain names, not /
    })
  }
  const kernel = await bare({ authServer: 'http://localhost:8008/api' })
  await kernel.close()
})

test('a kernel without storage, or with a failing one, starts with an error', async t => {
  await t.throwsAsync(bare({ plugins: [] }), { code: 'PLUGINS_MISSING' })
  const broken: StoragePlugin = {
    kind: 'storage',
    id: 'broken',
    apply: ({ hooks }) =>
      hooks.openDisk.tapPromise('broken', async () => {
        throw new Error('no disk')
      })
  }
  await t.throwsAsync(bare({ plugins: [broken] }), { code: 'PLUGIN_FAILED' })
})

test('the client id is 16 random bytes, made once; a damaged file is kept aside, reported and replaced [9.6]', async t => {
  const disk = memoryDisk()
  const first = await bare({ plugins: [storageOn(disk)] })
  const again = await bare({ plugins: [storageOn(disk)] })
  t.is(io.crypto.fromBase64(first.clientId).length, 16)
  t.is(again.clientId, first.clientId)
  await disk.setText('client.json', '{"clientId":"torn')
  const errors: string[] = []
  const damaged = await bare({ plugins: [storageOn(disk)], onError: source => errors.push(source) })
  t.not(damaged.clientId, first.clientId)
  t.deepEqual(errors, ['client id'])
  const [kept = ''] = await disk.list('quarantine')
  t.is(await disk.getText(kept), '{"clientId":"torn')
  t.is((await bare({ plugins: [storageOn(disk)] })).clientId, damaged.clientId)
})

const throwing = (id: string, sentence: string): Plugin => ({
  kind: 'policy',
  id,
  apply() {
    throw new Error(sentence)
  }
})

test('a login fails for a required plugin that failed, with the message that the plugin threw [8.55]', async t => {
  const world = makeFakeWorld({ io })
  const plugins = [throwing('broken', 'The limit is no number'), throwing('other', 'Not asked for')]
  const kernel = await openDevice(world, { plugins, required: ['broken', 'never'] })
  t.teardown(() => kernel.close())
  const error = await t.throwsAsync<WalletError<'PLUGINS_MISSING'>>(kernel.context.createAccount({}), {
    code: 'PLUGINS_MISSING',
    message: 'The following plugins are missing or failed to load: broken, never'
  })
  t.deepEqual(error?.details, {
    pluginIds: ['broken', 'never'],
    reasons: ['The limit is no number', 'it was announced and never added']
  })
  t.is(error?.hint, 'broken: The limit is no number; never: it was announced and never added')
})

test('a failed plugin that is not required blocks no login; its wallets show the message that it threw', async t => {
  const world = makeFakeWorld({ io })
  const broken = (): Plugin => ({
    ...makeToy().plugin,
    apply() {
      throw new WalletError('OPTION_INVALID', { option: 'server', rule: 'must have a port' })
    }
  })
  const user = { username: 'tess', password: 'Correct horse 1' }
  const good = await openDevice(world, { plugins: [makeToy().plugin] })
  const wallet = await (await good.context.createAccount(user)).createCurrencyWallet('wallet:toycoin')
  await good.context.accounts[0]?.sync()
  await good.close()
  const reported: PluginSnapshot[] = []
  const engines: EngineSnapshot[] = []
  const observer: Plugin = {
    kind: 'observer',
    id: 'observer',
    apply({ hooks }) {
      hooks.pluginChanged.tap('observer', plugin => void reported.push(plugin))
      hooks.engineChanged.tap('observer', engine => void engines.push(engine))
    }
  }
  const kernel = await openDevice(world, { plugins: [observer, broken()] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.loginWithPassword(user.username, user.password)
  const sentence = 'The server must have a port'
  t.like(
    reported.find(({ pluginId }) => pluginId === 'toycoin'),
    { state: 'failed', message: sentence, errorCode: 'OPTION_INVALID' }
  )
  t.like(
    account.listWallets().find(({ walletId }) => walletId === wallet.id),
    { currencyInfo: undefined, failure: { pluginId: 'toycoin', reason: sentence } }
  )
  const error = await t.throwsAsync(account.openWallet(wallet.id), { code: 'PLUGIN_FOR_TYPE' })
  t.is((error as WalletError).hint, `The plugin toycoin failed to load: ${sentence}`)
  t.like(
    engines.find(({ walletId }) => walletId === wallet.id),
    { pluginId: 'toycoin', state: 'failed', failure: sentence, errorCode: 'PLUGIN_FOR_TYPE' }
  )
  const other = await account.createCurrencyWallet('wallet:bitcoin')
  t.is(other.getSnapshot().pluginId, 'bitcoin')
})

test('a login waits until the plugins are locked and the announced ones are added', async t => {
  const world = makeFakeWorld({ io })
  const toy = makeToy()
  const kernel = await openDevice(world, { laterPlugins: ['toycoin'] })
  let isOpen = false
  const opening = kernel.context.createAccount({}).then(account => {
    isOpen = true
    return account
  })
  // Where nothing is announced, the same is done meanwhile, though it began later.
  const unannounced = await openDevice(world)
  await unannounced.context.createAccount({})
  await unannounced.close()
  t.false(isOpen)
  kernel.addPlugin(toy.plugin)
  kernel.lockPlugins()
  const account = await opening
  t.truthy(await account.createCurrencyWallet('wallet:toycoin'))
  t.throws(() => kernel.addPlugin(makeToy({ id: 'tooLate' }).plugin), { code: 'PLUGINS_LOCKED' })
  await kernel.close()
})

test('a plugin that would fill the disk is refused, and the application learns its id', async t => {
  const disk = memoryDisk()
  let jail: Disk | undefined
  const toy = makeToy()
  const plugin = {
    ...toy.plugin,
    apply(host: Parameters<typeof toy.plugin.apply>[0]) {
      jail = host.disk
      toy.plugin.apply(host)
    }
  }
  const reported: unknown[] = []
  const kernel = await bare({
    plugins: [storageOn(disk), plugin],
    onError: (source, error) => void reported.push([source, (error as WalletError).code])
  })
  await t.throwsAsync(async () => jail?.setText('cache', 'x'.repeat(64_000_001)), { code: 'QUOTA_EXCEEDED' })
  t.deepEqual(await disk.list('plugins'), [])
  t.deepEqual(reported, [['toycoin', 'QUOTA_EXCEEDED']])
  await kernel.close()
})

test("a plugin's disk is a jail: it sees and deletes its own files only", async t => {
  const disk = memoryDisk()
  await disk.setText('logins/somebody.json', 'stash')
  let jail: Disk | undefined
  const toy = makeToy()
  const plugin = {
    ...toy.plugin,
    apply(host: Parameters<typeof toy.plugin.apply>[0]) {
      jail = host.disk
    }
  }
  const kernel = await bare({ plugins: [storageOn(disk), plugin] })
  await jail?.setText('cache.json', 'mine')
  t.deepEqual(await jail?.list(''), ['cache.json'])
  t.is(await disk.getText('plugins/toycoin/cache.json'), 'mine')
  for (const path of ['../../logins/somebody.json', '/logins/somebody.json', 'a/../../x', '..', '']) {
    await t.throwsAsync(async () => jail?.getText(path), { code: 'PATH_REFUSED' }, path)
    await t.throwsAsync(async () => jail?.delete(path), { code: 'PATH_REFUSED' }, path)
  }
  await kernel.close()
})

test('login adds an account, logout removes it, and close removes all [4.34]', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world)
  const { context } = kernel
  const alice = await context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const bob = await context.createAccount({ username: 'bob', password: 'Correct horse 2' })
  t.deepEqual(context.accounts, [alice, bob])
  await t.throwsAsync(context.forgetAccount({ username: 'alice' }), {
    code: 'USER_LOGGED_IN',
    message: 'Cannot remove logged-in user'
  })
  await alice.logout()
  await alice.logout()
  t.deepEqual(context.accounts, [bob])
  await t.throwsAsync(alice.createCurrencyWallet('wallet:bitcoin'), { code: 'LOGGED_OUT' })
  await t.throwsAsync(alice.getLoginKey(), { code: 'LOGGED_OUT' })
  await context.forgetAccount({ username: 'ALICE' })
  t.deepEqual(
    context.localUsers.map(({ username }) => username),
    ['bob']
  )
  await kernel.close()
  t.deepEqual(context.accounts, [])
  await t.throwsAsync(context.loginWithPassword('bob', 'Correct horse 2'), { code: 'CONTEXT_CLOSED' })
})

test('with hideKeys on, keys are not shown', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world, { hideKeys: true })
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const message = 'Not available when `hideKeys` is enabled'
  await t.throwsAsync(account.walletKeys.getRawPrivateKey(wallet.id), { code: 'HIDDEN_KEYS', message })
  await t.throwsAsync(account.getLoginKey(), { code: 'HIDDEN_KEYS', message })
  await kernel.close()
})

test('a wallet type without a plugin, and a wallet id that is not there, have their errors', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({})
  await t.throwsAsync(account.createCurrencyWallet('wallet:gold'), {
    code: 'PLUGIN_FOR_TYPE',
    message: 'Cannot find a currency plugin for wallet type wallet:gold'
  })
  await t.throwsAsync(account.openWallet('AAAA'), {
    code: 'WALLET_ID_UNKNOWN',
    message: 'Wallet id does not exist in this account'
  })
  await kernel.close()
})

test('a username is free or taken in whatever case it is typed, and bad characters reject [5.1]', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world)
  await kernel.context.createAccount({ username: 'Made  Here', password: 'Correct horse 1' })
  t.false(await kernel.context.usernameAvailable(' MADE here'))
  t.true(await kernel.context.usernameAvailable('someone else'))
  await t.throwsAsync(kernel.context.usernameAvailable('näme'), { code: 'BAD_USERNAME' })
  await kernel.close()
})

test('without configured lists a kernel uses one auth server, two info servers and seven sync servers [9.26]', async t => {
  const world = makeFakeWorld({ io })
  const outside = world.ioFor(io)
  const requested = new Set<string>()
  const fetch: typeof io.fetch = async (url, options) => {
    const { origin, pathname } = new URL(url)
    requested.add(`${origin} ${pathname.split('/').slice(1, 3).join('/')}`)
    if (origin === 'https://login.edge.app') return outside.fetch(url, options)
    return { status: 503, headers: {}, text: '' }
  }
  const kernel = await bare({ io: { ...outside, fetch } })
  const synced = kernel.context.createAccount({}).then(account => account.sync())
  await t.throwsAsync(synced, { code: 'SYNC_FAILED' })
  await kernel.close()
  t.deepEqual([...requested].sort(), [
    'https://info-eu1.edge.app v1/edgeServers',
    'https://info-us1.edge.app v1/edgeServers',
    'https://login.edge.app api/v2',
    ...['eu', 'us1', 'us2', 'us3', 'us4', 'us5', 'us6'].map(name => `https://sync-${name}.edge.app api/v2`)
  ])
})

test('an open account fetches its login every 30 s, by token once it has one, and stops after logout [7.21]', async t => {
  const world = makeFakeWorld({ io })
  const clock = makeFakeClock()
  const kernel = await openDevice(world, { io: { ...world.ioFor(io), clock } })
  const account = await kernel.context.createAccount({})
  const requested = (): string[] =>
    world.server.traffic.lines.map(({ path }) => path).filter(path => /\/v2\/(?:login|sync)$/.test(path))
  const count = (): number => requested().length
  const before = count()
  await clock.advance(29_000)
  t.is(count(), before)
  await clock.advance(1000)
  await waitFor(() => count() === before + 1)
  await clock.advance(30_000)
  await waitFor(() => count() === before + 2)
  await account.logout()
  await clock.advance(90_000)
  t.deepEqual(requested().slice(before), ['/api/v2/login', '/api/v2/sync'])
  await kernel.close()
})

test('an empty username is neither free nor taken', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world)
  await t.throwsAsync(kernel.context.usernameAvailable(' '), { code: 'USERNAME_INVALID' })
  t.deepEqual(
    world.server.traffic.lines.filter(({ path }) => path.endsWith('/v2/login')),
    []
  )
  await kernel.close()
})

test('a wallet with a fiat currency that is none is refused before it is made', async t => {
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world)
  const account = await kernel.context.createAccount({})
  await t.throwsAsync(account.createCurrencyWallet('wallet:bitcoin', { fiatCurrencyCode: 'USD' }), {
    code: 'FIAT_CODE'
  })
  t.deepEqual(account.getSnapshot().walletIds, [])
  await kernel.close()
})

test('by default the log has warnings and errors, and the block height is shown [9.27]', async t => {
  const lines: string[] = []
  const toy = makeToy()
  const chatty = {
    ...toy.plugin,
    apply(host: Parameters<typeof toy.plugin.apply>[0]) {
      toy.plugin.apply(host)
      host.log.debug('debug')
      host.log.info('info')
      host.log.warn('warn')
      host.log.error('error')
    }
  }
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) =>
      hooks.logged.tap('watch', ({ source, text }) => void (source === 'toycoin' && lines.push(text)))
  }
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world, { plugins: [watch, chatty] })
  t.deepEqual(lines, ['warn', 'error'])
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().blockHeight === 100)
  await kernel.close()

  const shy = await openDevice(world, { plugins: [makeToy().plugin], skipBlockHeight: true })
  const other = await (await shy.context.createAccount({})).createCurrencyWallet('wallet:toycoin')
  await waitFor(() => other.engine.getSnapshot().syncRatio === 1)
  t.is(other.engine.getSnapshot().blockHeight, 0)
  await shy.close()
})
