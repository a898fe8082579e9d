import { type Channel, compact, type EngineRequest, type Io, type WalletKeys } from '../kernel/plugin-api.ts'
import { captureTools } from '../kernel/plugins/plugin-set.ts'
import { captureEngine } from '../kernel/wallet/engine/make-engine.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { type CurrencyNetwork, memoryFiles, memoryStore, recordReports } from './currency-lab.ts'
import type { GlobalUses } from './global-uses.ts'
import type { PluginSubject } from './plugin-checks.ts'
import { callTaps, openPluginLab, type PluginLab } from './plugin-lab.ts'

/** A currency for the checks that every kind has: a use makes an engine of one wallet, which looks at the network once. */
export const currencySubject = (network: CurrencyNetwork): PluginSubject => {
  const { plugin, options = {}, io = {} } = network
  const nodeIo = makeNodeIo()
  let keys: WalletKeys | undefined
  const useWallet = async (lab: PluginLab): Promise<unknown> => {
    const { walletType: type } = plugin.info
    const [madeTools] = await callTaps(lab, lab.hooks.makeTools.for(plugin.id), [])
    const tools = await captureTools(madeTools, plugin.info, nodeIo)
    const privateKeys = keys ?? (await lab.call(() => tools.createPrivateKey(type)))
    keys = privateKeys
    const identity = { id: 'tested', type }
    const publicKeys = await lab.call(() => tools.derivePublicKey({ ...identity, keys: privateKeys }))
    const log = (text: string): void => void lab.log(text)
    const request: EngineRequest = {
      walletInfo: { ...identity, keys: publicKeys },
      callbacks: recordReports().callbacks,
      store: memoryStore(),
      ...memoryFiles(),
      log: { debug: log, info: log, warn: log, error: log },
      ...{ enabledTokenIds: [], customTokens: {}, userSettings: {} }
    }
    const made = await callTaps(lab, lab.hooks.makeEngine.for(plugin.id), [request])
    const engine = await captureEngine(made[0], plugin.info, nodeIo)
    try {
      await lab.call(() => engine.startEngine())
      await lab.call(() => engine.syncNetwork({}))
      const { publicAddress } = await lab.call(() => engine.getFreshAddress({ tokenId: null }))
      const link = await lab.call(() => tools.encodeUri({ publicAddress }))
      return { publicKeys, publicAddress, link }
    } finally {
      await lab.call(() => engine.killEngine())
    }
  }
  return {
    options,
    open: (more = {}) => openPluginLab(plugin, { options, io: outsideIo(io, more.uses), ...more }),
    async use(lab) {
      const { answer, error, isLate } = await lab.wait(useWallet(lab), USE_MS)
      if (isLate) throw new Error('A wallet that is made, started and synced does not come to an end')
      if (error !== undefined) throw error
      return answer
    }
  }
}

const USE_MS = 120_000

/** What stands for the network is no code of the plugin: it may use any global. */
const outsideIo = (io: Partial<Io>, uses: GlobalUses | undefined): Partial<Io> => {
  if (uses === undefined) return io
  const { fetch, connect, webSocket } = io
  const outside = ({ send, close, ...rest }: Channel): Channel => ({
    ...rest,
    send: text => uses.without(() => send(text)),
    close: () => uses.without(() => close())
  })
  return {
    ...io,
    ...compact({
      fetch: fetch && ((...args: Parameters<typeof fetch>) => uses.without(() => fetch(...args))),
      connect:
        connect &&
        (async (...args: Parameters<typeof connect>) => outside(await uses.without(() => connect(...args)))),
      webSocket:
        webSocket &&
        (async (...args: Parameters<typeof webSocket>) =>
          outside(await uses.without(() => webSocket(...args))))
    })
  }
}
