import test from 'ava'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import type {
  CurrencyEngine,
  CurrencyPlugin,
  Disk,
  StoragePlugin,
  SwapPlugin,
  Token
} from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { memoryDisk } from '../../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { tokenOf } from '../../../helpers/settings-device.ts'
import { makeToy } from '../../../helpers/toy-currency.ts'

const storageOn = (disk: Disk): StoragePlugin => ({
  kind: 'storage',
  id: 'shared',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('shared', async () => disk)
})

/** A toy that brings a token, after `answer`. */
const withTokens = (answer: Promise<void> = Promise.resolve()): CurrencyPlugin => {
  const { plugin } = makeToy()
  return {
    ...plugin,
    apply(host) {
      plugin.apply(host)
      host.hooks.builtinTokens.tapPromise(plugin.id, async () => {
        await answer
        return { aa: tokenOf('AAA', '0xAA') }
      })
    }
  }
}

const SHOP: SwapPlugin = {
  kind: 'swap',
  id: 'shop',
  displayName: 'Shop',
  apply: ({ hooks }) => hooks.fetchQuotes.tapPromise('shop', async () => {})
}
const USER = { username: 'alice', password: 'Correct horse 1' }

test('tokens, settings and data of an account are there after a restart and on another device', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const disk = memoryDisk()
  const open = (own: Disk) => openDevice(world, { plugins: [withTokens(), SHOP], storage: storageOn(own) })
  const kernel = await open(disk)
  const account = await kernel.context.createAccount(USER)
  const config = account.currencyConfig('toycoin')
  await account.createCurrencyWallet('wallet:toycoin')
  t.is(await config.addCustomToken(tokenOf('BBB', '0xBB')), 'bb')
  await config.changeAlwaysEnabledTokenIds(['aa', 'bb'])
  await config.changeUserSettings({ server: 'one' })
  await account.swapConfig('shop').changeEnabled(false)
  await account.dataStore.setItem('notes', 'first', 'hello')
  const shown = { ...config.getSnapshot() }
  await account.sync()
  await kernel.close()
  t.throws(() => account.currencyConfig('toycoin'), { code: 'LOGGED_OUT' })
  await t.throwsAsync(config.addCustomToken(tokenOf('CCC', '0xCC')), { code: 'LOGGED_OUT' })
  await t.throwsAsync(account.dataStore.listStoreIds(), { code: 'LOGGED_OUT' })
  for (const own of [disk, memoryDisk()]) {
    const again = await open(own)
    const same = await again.context.loginWithPassword(USER.username, USER.password)
    await same.currencyConfig('toycoin').builtinTokensReady()
    t.deepEqual({ ...same.currencyConfig('toycoin').getSnapshot() }, shown)
    t.false(same.swapConfig('shop').getSnapshot().isEnabled)
    t.is(await same.dataStore.getItem('notes', 'first'), 'hello')
    await again.close()
  }
})

test('a login does not wait for a plugin to name its tokens, and they arrive later', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  let answer = (): void => {}
  const answered = new Promise<void>(resolve => (answer = resolve))
  const kernel = await openDevice(world, { plugins: [withTokens(answered)] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount(USER)
  const config = account.currencyConfig('toycoin')
  t.false(config.getSnapshot().areBuiltinTokensKnown)
  await account.createCurrencyWallet('wallet:toycoin')
  answer()
  await config.builtinTokensReady()
  t.deepEqual(Object.keys(config.getSnapshot().allTokens), ['aa'])
})

test('an engine is made with the settings and tokens of its currency, and is notified of changes', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const calls: [string, unknown][] = []
  const engine = (): Partial<CurrencyEngine> => ({
    changeUserSettings: async settings => void calls.push(['settings', settings]),
    changeCustomTokens: async tokens => void calls.push(['tokens', Object.keys(tokens)]),
    changeEnabledTokenIds: async tokenIds => void calls.push(['enabled', tokenIds])
  })
  const tools = { getTokenId: async ({ currencyCode }: Token) => currencyCode.toLowerCase() }
  const toy = makeToy({ engine, tools })
  const kernel = await openDevice(world, { plugins: [toy.plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount(USER)
  const config = account.currencyConfig('toycoin')
  await config.changeUserSettings({ server: 'one' })
  await config.addCustomToken(tokenOf('AAA'))
  await config.changeAlwaysEnabledTokenIds(['aaa'])
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['aaa'])
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const [request] = toy.requests
  t.deepEqual({ ...request?.customTokens }, { aaa: tokenOf('AAA') })
  t.deepEqual(request?.userSettings, { server: 'one' })
  t.deepEqual(request?.enabledTokenIds, ['aaa'])
  calls.length = 0
  await config.changeUserSettings({ server: 'two' })
  await config.addCustomToken(tokenOf('BBB'))
  await config.changeAlwaysEnabledTokenIds(['aaa', 'bbb'])
  await waitFor(() => calls.length === 3)
  t.deepEqual(calls, [
    ['settings', { server: 'two' }],
    ['tokens', ['aaa', 'bbb']],
    ['enabled', ['aaa', 'bbb']]
  ])
  t.deepEqual(wallet.getSnapshot().enabledTokenIds, ['aaa', 'bbb'])
})
