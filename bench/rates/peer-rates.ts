import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pause } from '../wait.ts'
import type { MarketShape } from './shapes.ts'

/** The rates of the published core, in a market of their own. */
export interface PeerRates {
  convert(from: string, to: string): Promise<number>
  close(): Promise<void>
}

interface PeerCore {
  addEdgeCorePlugins(plugins: Record<string, unknown>): void
  lockEdgeCorePlugins(): void
  makeFakeEdgeWorld(users: readonly [], options: object): Promise<PeerWorld>
}

interface PeerWorld {
  makeEdgeContext(options: object): Promise<{ createAccount(options: object): Promise<PeerAccount> }>
  close(): Promise<void>
}

interface PeerAccount {
  readonly rateCache: { convertCurrency(from: string, to: string, amount: number): Promise<number> }
}

/** Starts the published core as its users do, for several markets, each of which it then opens apart from the others. */
export const loadPeerRates = (
  peerFolder: string,
  shapes: readonly MarketShape[]
): ((shape: MarketShape) => Promise<PeerRates>) => {
  const load = createRequire(join(peerFolder, 'package.json'))
  const core = load('edge-core-js') as PeerCore
  const plugins = shapes.flatMap((shape, at) =>
    shape.pairs.map((pairs, provider) => {
      const pluginId = `rates${at}x${provider}`
      const rateInfo = { pluginId, displayName: pluginId }
      return [pluginId, () => ({ rateInfo, fetchRates: async () => pairs })] as const
    })
  )
  core.addEdgeCorePlugins(Object.fromEntries(plugins))
  core.lockEdgeCorePlugins()
  return async shape => {
    const world = await core.makeFakeEdgeWorld([], { onLog() {} })
    const at = shapes.indexOf(shape)
    const own = shape.pairs.map((_pairs, provider) => [`rates${at}x${provider}`, true])
    const context = await world.makeEdgeContext({
      apiKey: 'bench',
      appId: '',
      plugins: Object.fromEntries(own)
    })
    const { rateCache } = await context.createAccount({ username: `bench ${at}`, password: 'correct horse' })
    const convert = (from: string, to: string): Promise<number> => rateCache.convertCurrency(from, to, 1)
    const [first] = shape.pairs[0] ?? []
    while ((await convert(first?.fromCurrency ?? '', first?.toCurrency ?? '')) === 0) await pause(5)
    return { convert, close: () => world.close() }
  }
}
