import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { type Kernel, nativeAmount, type ObserverPlugin, type Plugin } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { ALONE_MISTAKES, CALL_MISTAKES } from '../../helpers/call-mistakes.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeShop } from '../../helpers/swap-shop.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

/** All that is said of each plugin, by its id. */
type Said = Map<string, Set<string>>

/** Makes every mistake in one kernel: rates, quotes and wallets of each currency are asked for, and it is closed. */
const makeAll = async (): Promise<{ readonly said: Said; readonly isOpen: boolean }> => {
  const said: Said = new Map()
  const note = (id: string, text: string | undefined): void => {
    if (text !== undefined) said.set(id, (said.get(id) ?? new Set()).add(text))
  }
  const witness: ObserverPlugin = {
    ...{ kind: 'observer', id: 'witness' },
    apply({ hooks }) {
      hooks.pluginFault.tap('witness', ({ pluginId, hook, message }) => note(pluginId, `${hook}: ${message}`))
      hooks.engineChanged.tap('witness', ({ pluginId, failure }) => note(pluginId, failure))
      hooks.quoteChanged.tap('witness', ({ pluginId, message }) => note(pluginId, message))
      hooks.logged.tap('witness', ({ source, level, text }) => {
        if (level === 'warn' || level === 'error') note(source.replace(/^(?:currency|engine) /, ''), text)
      })
    }
  }
  const plugins = CALL_MISTAKES.map(({ make }, index) => make(`m${index}`))
  const shops = ['shop', 'store'].map(id => makeShop({ id, displayName: id }))
  const good = [makeToy({ id: 'good' }).plugin, makeToy({ id: 'other' }).plugin, ...shops]
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
    plugins: [witness, ...good, ...plugins]
  })
  const account = await kernel.context.createAccount({})
  const { rates } = kernel.context
  const stop = rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }])
  await rates.refresh()
  stop()
  const tries = plugins.map(async (plugin, index) => {
    if (plugin.kind !== 'currency') return
    try {
      const wallet = await account.createCurrencyWallet(plugin.info.walletType)
      await wallet.getReceiveAddress()
    } catch (error) {
      note(`m${index}`, (error as Error).message)
    }
  })
  await Promise.all(tries)
  const fromWallet = await account.createCurrencyWallet('wallet:good')
  const toWallet = await account.createCurrencyWallet('wallet:other')
  await waitFor(() => fromWallet.balanceOf(null) === nativeAmount('1000'))
  const round = account.openQuoteRound({
    fromWallet,
    toWallet,
    nativeAmount: nativeAmount('100'),
    quoteFor: 'from'
  })
  await round.settled.catch(() => {})
  const isOpen = account.isLoggedIn
  await kernel.close()
  return { said, isOpen }
}

test('each mistake in a call is told with the id of its plugin, and an account works beside all of them', async t => {
  const { said, isOpen } = await makeAll()
  t.true(isOpen)
  for (const [index, { what, sentence }] of CALL_MISTAKES.entries()) {
    const texts = [...(said.get(`m${index}`) ?? [])]
    t.true(
      texts.includes(sentence.replace('{id}', `m${index}`)),
      `${what}: ${texts.join(' | ') || 'nothing is said'}`
    )
  }
})

/** Makes one mistake in a kernel of its own, which pays twice; returns all that is said. */
const makeAlone = async (plugin: Plugin): Promise<readonly string[]> => {
  const said: string[] = []
  const witness: ObserverPlugin = {
    ...{ kind: 'observer', id: 'witness' },
    apply: ({ hooks }) =>
      hooks.logged.tap('witness', ({ source, text }) => {
        if (source === 'mine') said.push(text)
      })
  }
  const isStore = plugin.kind === 'storage'
  let kernel: Kernel | undefined
  try {
    kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), {
      plugins: [witness, makeToy({ id: 'good' }).plugin, ...(isStore ? [] : [plugin])],
      ...(isStore ? { storage: plugin } : {}),
      onError: (_source, error) => void said.push((error as Error).message)
    })
    const account = await kernel.context.createAccount({})
    const wallet = await account.createCurrencyWallet('wallet:good')
    await waitFor(() => wallet.balanceOf(null) === nativeAmount('1000'))
    for (const amount of ['5', '6']) {
      const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount(amount) }]
      await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
    }
  } catch (error) {
    said.push((error as Error).message)
  }
  await kernel?.close().catch((error: Error) => void said.push(error.message))
  return said
}

for (const { what, make, sentence } of ALONE_MISTAKES)
  test(`${what} is told to the author or the caller`, async t => {
    const said = await makeAlone(make('mine'))
    t.true(said.includes(sentence.replace('{id}', 'mine')), said.join(' | ') || 'nothing is said')
    t.true(said.filter(line => line.includes('is ignored')).length <= 1, 'it is said once')
  })
