import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { createKernel, type Plugin, type PluginSource } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { openDevice } from '../../helpers/device.ts'
import { makeShop } from '../../helpers/swap-shop.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

test('a currency whose info is read from elsewhere comes from a factory, and its wallets open', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const read = async () => ({ displayName: 'Toy of the network' })
  const source = async (): Promise<Plugin> => makeToy({ info: await read() }).plugin
  // The types of the helper know finished plugins only.
  const kernel = await openDevice(world, {
    plugins: [source, Promise.resolve(makeShop())] as unknown as Plugin[]
  })
  t.true(kernel.context.plugins.every(({ state }) => state === 'applied'))
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  t.is(wallet.currencyInfo.displayName, 'Toy of the network')
  t.deepEqual(
    kernel.plugins.map(({ id }) => id),
    ['memory', 'bitcoin', 'toycoin', 'shop']
  )
  await kernel.close()
})

test('the storage may come later, too, and observers are still applied before it', async t => {
  const seen: string[] = []
  const sources: readonly PluginSource[] = [
    async () => memoryStorage(),
    Promise.resolve<Plugin>({
      kind: 'observer',
      id: 'witness',
      apply: ({ hooks }) => hooks.pluginChanged.tap('witness', ({ pluginId }) => void seen.push(pluginId))
    })
  ]
  const kernel = await createKernel({ io: makeNodeIo(), apiKey: '', plugins: sources })
  t.deepEqual(seen, ['witness', 'memory'])
  await kernel.close()
})

test('a source that never ends is failed after 30 seconds, says so, and holds up nothing more', async t => {
  const clock = makeFakeClock()
  const sources: readonly PluginSource[] = [() => new Promise(() => {}), memoryStorage()]
  const opening = createKernel({ io: { ...makeNodeIo(), clock }, apiKey: '', plugins: sources })
  await clock.advance(30_000)
  const kernel = await opening
  const [failed] = kernel.context.plugins.filter(({ state }) => state === 'failed')
  t.like(failed, { pluginId: 'plugin-1', state: 'failed' })
  t.is(failed?.message, 'Plugin 1 took longer than 30 seconds')
  await kernel.close()
})

test('what is added later must be there: a promise or a factory is refused, and says how', async t => {
  const kernel = await createKernel({
    ...{ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage()] },
    laterPlugins: ['shop']
  })
  kernel.addPlugin(Promise.resolve(makeShop()) as unknown as Plugin)
  kernel.addPlugin((() => makeShop()) as unknown as Plugin)
  kernel.lockPlugins()
  const messages = kernel.context.plugins.flatMap(({ message }) => message ?? [])
  t.regex(
    messages.join('\n'),
    /is a promise, .* Wait for it with await\.\n.* is a function, .* Call it if it makes the plugin/
  )
  await kernel.close()
})
