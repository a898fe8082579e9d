import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import {
  createKernel,
  type Io,
  type LogLine,
  type ObserverPlugin,
  type Plugin,
  type PluginSnapshot,
  WalletError
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice } from '../../helpers/device.ts'
import { type Apply, coin, MISTAKES, swap, tap } from '../../helpers/plugin-mistakes.ts'

const io = (): Io => makeNodeIo()

/** Makes a kernel with one plugin beside its storage, and gives what is known of that plugin then. */
const add = async (given: unknown) => {
  const snapshots: PluginSnapshot[] = []
  const lines: LogLine[] = []
  const errors: [string, unknown][] = []
  const witness: ObserverPlugin = {
    ...{ kind: 'observer', id: 'witness' },
    apply({ hooks }) {
      hooks.pluginChanged.tap('witness', snapshot => void snapshots.push(snapshot))
      hooks.logged.tap('witness', line => void lines.push(line))
    }
  }
  const kernel = await createKernel({
    ...{ io: io(), apiKey: '', plugins: [witness, given as Plugin, memoryStorage()] },
    onError: (source, error) => void errors.push([source, error])
  })
  await kernel.close()
  return { failed: snapshots.filter(({ state }) => state === 'failed'), lines, errors }
}

for (const [what, given, id, sentence] of MISTAKES) {
  test(`${what}: the author is told what stands there and what should`, async t => {
    const { failed, lines, errors } = await add(given)
    t.deepEqual(
      failed.map(({ pluginId }) => pluginId),
      [id]
    )
    const { message = '' } = failed[0] ?? {}
    if (sentence.endsWith('…')) t.true(message.startsWith(sentence.slice(0, -1)), message)
    else t.is(message, sentence)
    t.true(lines.some(line => line.source === failed[0]?.pluginId && line.level === 'error'))
    const [[source, error] = []] = errors
    t.is(source, failed[0]?.pluginId)
    t.true(error instanceof WalletError && ['PLUGIN_INVALID', 'PLUGIN_FAILED'].includes(error.code))
    if (failed[0]?.errorCode === 'PLUGIN_INVALID') t.like(error, { details: failed[0].mistake })
  })
}

test('no mistake of a plugin stops an account from opening', async t => {
  t.true(MISTAKES.length >= 53)
  const world = makeFakeWorld({ io: io() })
  const plugins = MISTAKES.filter(([, given]) => (given as { kind?: string } | null)?.kind !== 'storage').map(
    ([, given]) => given as Plugin
  )
  const kernel = await openDevice(world, { plugins })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse' })
  t.true(account.isLoggedIn)
  await kernel.close()
})

test('of two currencies with one wallet type the second fails, and says which plugin has it', async t => {
  const kernel = await openDevice(makeFakeWorld({ io: io() }), {
    plugins: [coin({ walletType: 'wallet:bitcoin' }) as Plugin]
  })
  const { message } = kernel.context.plugins.find(({ pluginId }) => pluginId === 'tollar') ?? {}
  t.is(
    message,
    'info.walletType is "wallet:bitcoin", which the plugin bitcoin has, and must be one of its own'
  )
  await kernel.close()
})

test('an account does not open without a plugin that the application requires, and says what is wrong with it', async t => {
  const world = makeFakeWorld({ io: io() })
  const kernel = await openDevice(world, {
    plugins: [swap({ isDex: 'true' }) as Plugin],
    required: ['shop']
  })
  const { message = '', hint = '' } = (await t.throwsAsync(
    kernel.context.createAccount({ username: 'alice', password: 'correct horse' }),
    { code: 'PLUGINS_MISSING' }
  )) as WalletError & { readonly hint?: string }
  t.is(message, 'The following plugins are missing or failed to load: shop')
  t.is(hint, 'shop: isDex is the text "true", and must be true or false')
  await kernel.close()
})

test('what an asynchronous apply throws later is a fault of the plugin, and no unhandled rejection', async t => {
  const late = swap({
    async apply(host: Parameters<Apply>[0]) {
      tap('fetchQuotes')(host)
      await null
      throw new Error('The catalogue is gone')
    }
  })
  const { failed, lines } = await add(late)
  t.deepEqual(failed, [])
  t.true(lines.some(({ text }) => text.includes('The catalogue is gone')))
})
