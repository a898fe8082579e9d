import { createRequire } from 'node:module'
import { join } from 'node:path'
import { COIN } from '../size/bench-coin.ts'
import { makePeerCoin } from '../size/peer-coin.ts'
import { amountOf, follow, PROVIDERS, type Script } from './providers.ts'

/** An account of the published core with the same providers. */
export interface PeerSwaps {
  /** Its quotes, once it gives them. */
  query(): Promise<readonly { readonly pluginId: string }[]>
}

/** Opens the published core as its users do, in its own fake world, with two wallets of the made-up currency. */
export const openPeerSwaps = async (peerFolder: string, script: Script): Promise<PeerSwaps> => {
  const load = createRequire(join(peerFolder, 'package.json'))
  const core = load('edge-core-js') as PeerCore
  const plugins: Record<string, unknown> = {
    [COIN.pluginId]: makePeerCoin({ walletId: '', count: 0 }).plugin
  }
  for (let i = 0; i < PROVIDERS; i++) plugins[`swap${i}`] = makeProvider(script, i)
  core.addEdgeCorePlugins(plugins)
  core.lockEdgeCorePlugins()
  const world = await core.makeFakeEdgeWorld([], { onLog() {} })
  const context = await world.makeEdgeContext({
    apiKey: 'bench',
    appId: '',
    plugins: Object.fromEntries(Object.keys(plugins).map(id => [id, true]))
  })
  const account = await context.createAccount({
    username: 'bench user',
    password: 'correct horse',
    pin: '1111'
  })
  const makeWallet = (): Promise<unknown> =>
    account.createCurrencyWallet(COIN.walletType, { name: 'w', fiatCurrencyCode: 'iso:USD' })
  const [fromWallet, toWallet] = [await makeWallet(), await makeWallet()]
  return {
    query: () =>
      account.fetchSwapQuotes({
        fromWallet,
        toWallet,
        fromTokenId: null,
        toTokenId: null,
        nativeAmount: '1000',
        quoteFor: 'from'
      })
  }
}

const makeProvider = (script: Script, i: number): unknown => {
  const pluginId = `swap${i}`
  const swapInfo = { pluginId, displayName: `Swap ${i}`, supportEmail: 'bench@example.com' }
  return {
    swapInfo,
    checkSettings: () => ({ needsActivation: false }),
    fetchSwapQuote: (request: unknown) =>
      follow(
        script,
        i,
        () => ({
          ...{ request, swapInfo, pluginId },
          fromNativeAmount: '1000',
          toNativeAmount: amountOf(i),
          networkFee: { currencyCode: COIN.currencyCode, nativeAmount: '1' },
          isEstimate: i % 2 === 0,
          expirationDate: new Date(Date.now() + 60_000),
          approve: async () => {},
          close: async () => {}
        }),
        () =>
          Object.assign(new Error('Amount is too low'), {
            name: 'SwapBelowLimitError',
            pluginId,
            nativeMin: String(1000 + i)
          })
      )
  }
}

interface PeerCore {
  addEdgeCorePlugins(plugins: object): void
  lockEdgeCorePlugins(): void
  makeFakeEdgeWorld(users: readonly [], options: object): Promise<PeerWorld>
}

interface PeerWorld {
  makeEdgeContext(options: object): Promise<{ createAccount(options: object): Promise<PeerAccount> }>
}

interface PeerAccount {
  createCurrencyWallet(type: string, options: object): Promise<unknown>
  fetchSwapQuotes(request: object): Promise<readonly { readonly pluginId: string }[]>
}
