import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type LogLine,
  nativeAmount,
  type ObserverPlugin,
  type Plugin,
  type PluginSource
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { ledgerIo } from '../helpers/tollar-source.ts'

/** Plugins that were compiled with earlier versions, in the order of the kinds. Nothing here makes them again. */
const FOLDERS = readdirSync('test/fixtures')
  .filter(name => name.startsWith('plugins-'))
  .map(name => join('test/fixtures', name))
const KINDS = ['currency', 'rates', 'swap', 'policy', 'observer'] as const
const IDS = { currency: 'tollar', rates: 'prices', swap: 'shop', policy: 'limit', observer: 'watch' } as const
const OPTIONS = { apiKey: 'k' }

/** Uses each of the plugins once: a price, a swap, a payment, a refusal, an event. */
const useAll = async (
  t: ExecutionContext,
  plugins: readonly Plugin[],
  {
    storage = memoryStorage(),
    printed
  }: { readonly storage?: Plugin; readonly printed: () => readonly string[] }
): Promise<void> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const lines: LogLine[] = []
  const witness: ObserverPlugin = {
    ...{ kind: 'observer', id: 'witness' },
    apply: ({ hooks }) => hooks.logged.tap('witness', line => void lines.push(line))
  }
  const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
  const kernel = await openDevice(world, {
    ...{ authServer, infoServers, syncServers, io, storage },
    plugins: [witness, litecoin, ...plugins],
    pluginOptions: { ...fakePluginOptions(), prices: OPTIONS }
  })
  t.teardown(() => kernel.close())
  t.deepEqual(
    kernel.context.plugins
      .filter(({ state }) => state !== 'applied')
      .map(({ pluginId, message }) => [pluginId, message]),
    []
  )
  const { rates } = kernel.context
  const stop = rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }])
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD', 0.5), 32_000)
  stop()
  const account = await kernel.context.createAccount({})
  const toy = await account.createCurrencyWallet('wallet:tollar')
  await waitFor(() => toy.balanceOf(null) === nativeAmount('5000'))
  const payees = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
  await toy.spend(await toy.makeSpend({ tokenId: null, spendTargets: payees }))
  t.deepEqual(ledger.sent, ['{"to":"tolshop","amount":"1000"}'])
  const fromWallet = await account.createCurrencyWallet('wallet:bitcoin')
  const toWallet = await account.createCurrencyWallet('wallet:litecoin')
  world.chain.fund((await fromWallet.getReceiveAddress()).publicAddress, '9000000')
  world.chain.mine(1)
  await waitFor(() => fromWallet.balanceDetailsOf(null).spendable !== '0')
  const query = (amount: string) =>
    account.openQuoteRound({ fromWallet, toWallet, nativeAmount: nativeAmount(amount), quoteFor: 'from' })
  await t.throwsAsync(query('500').settled, { code: 'SWAP_BELOW_LIMIT' } as never)
  const round = query('1000000')
  await round.settled
  const paid = await round.quotes
    .find(({ pluginId }) => pluginId === 'shop')
    ?.approve({ confirm: async () => true })
  t.is(paid?.orderId, 'for rltc')
  const spendTargets = [
    { publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: nativeAmount('2000000') }
  ]
  const draft = await fromWallet.makeSpend({ tokenId: null, spendTargets })
  await t.throwsAsync(fromWallet.spend(draft), { message: /limit refused to sign: more than 1500000/ })
  await waitFor(() => printed().includes('spend saved'))
  t.deepEqual(
    lines.filter(({ level }) => level === 'error').map(({ source, text }) => `${source}: ${text}`),
    []
  )
}

const moduleOf = async (folder: string, kind: string): Promise<Plugin> => {
  const { default: given } = (await import(pathToFileURL(join(folder, `${kind}.js`)).href)) as {
    default: PluginSource
  }
  return typeof given === 'function' ? await given() : await given
}

for (const folder of FOLDERS) {
  test.serial(
    `plugins of all six kinds that were compiled as ${folder} work in the process of this kernel`,
    async t => {
      const plugins = await Promise.all(KINDS.map(kind => moduleOf(folder, kind)))
      // The observer prints; in a process that is the standard output.
      const printed: string[] = []
      const { log } = console
      console.log = (...words) => void printed.push(words.join(' '))
      t.teardown(() => {
        console.log = log
      })
      await useAll(t, plugins, { storage: await moduleOf(folder, 'storage'), printed: () => printed })
    }
  )

  test.serial(`plugins that were compiled as ${folder} work in cells of this kernel`, async t => {
    const stage = openCellStage()
    t.teardown(() => stage.cells.close())
    const hosts = ['ledger.example']
    const plugins = await Promise.all(
      KINDS.map(kind =>
        stage.load(readFileSync(join(folder, `${kind}.cell.js`), 'utf8'), {
          ...{ id: IDS[kind], kind, ...(kind === 'currency' ? { hosts, keys: true } : {}) },
          ...(kind === 'rates' ? { options: OPTIONS } : {})
        })
      )
    )
    await useAll(t, plugins, { printed: () => stage.seen })
    t.deepEqual(stage.faults, [])
  })
}
