import { makeElectrumConnect } from '../fake-server/chain/electrum-connect.ts'
import type { FakeChain } from '../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../fake-server/chain/open-fake-chain.ts'
import type {
  CurrencyEngine,
  CurrencyHost,
  CurrencyTools,
  EngineRequest,
  EngineStore,
  Io,
  WalletKeys
} from '../kernel/plugin-api.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { bitcoin } from '../plugins/currency/utxo/plugin.ts'

/** A wallet of the real Bitcoin engine over the fake chain, in one process. */
export interface BenchWallet {
  readonly engine: CurrencyEngine
  readonly keys: WalletKeys
  readonly store: Map<string, string>
  balance(): string | undefined
}

/** A fake chain with the Bitcoin plugin on it. */
export interface BenchChain {
  readonly chain: FakeChain
  open(keys?: WalletKeys, store?: Map<string, string>): Promise<BenchWallet>
  close(): Promise<void>
}

/** Makes a chain and a plugin that reaches it without sockets. */
export const makeBenchChain = async (): Promise<BenchChain> => {
  const base = makeNodeIo()
  const chain = openFakeChain({ clock: base.clock, random: count => base.random(count) })
  const electrum = makeElectrumConnect(chain)
  const io: Io = { ...base, connect: electrum.connect, webSocket: electrum.webSocket }
  const plugin = applyBitcoin(io)
  const tools = await plugin.tools()
  const engines: CurrencyEngine[] = []
  return {
    chain,
    async open(known, store = new Map()) {
      const keys = known ?? (await tools.createPrivateKey('wallet:bitcoin'))
      const walletInfo = { id: 'bench', type: 'wallet:bitcoin', keys }
      const publicKeys = await tools.derivePublicKey(walletInfo)
      let balance: string | undefined
      const engine = await plugin.open({
        walletInfo: { ...walletInfo, keys: publicKeys },
        callbacks: {
          onAddressChanged() {},
          onAddressesChecked() {},
          onTokenBalanceChanged(_tokenId, amount) {
            balance = amount
          },
          onBlockHeightChanged() {},
          onTransactionsChanged() {}
        },
        store: storeOver(store),
        log: silent,
        enabledTokenIds: [],
        customTokens: {},
        userSettings: {}
      })
      engines.push(engine)
      return { engine, keys, store, balance: () => balance }
    },
    async close() {
      for (const engine of engines) await engine.killEngine()
      electrum.close()
    }
  }
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const applyBitcoin = (
  io: Io
): { tools(): Promise<CurrencyTools>; open(request: EngineRequest): Promise<CurrencyEngine> } => {
  const made: {
    tools?: () => Promise<CurrencyTools>
    engine?: (request: EngineRequest) => Promise<CurrencyEngine>
  } = {}
  const host: CurrencyHost = {
    io,
    log: silent,
    options: { network: 'regtest', servers: ['tcp://127.0.0.1:50001'] },
    disk: {
      getText: async () => undefined,
      setText: async () => {},
      delete: async () => {},
      list: async () => []
    },
    hooks: {
      ready: { tapPromise: () => {} },
      closing: { tapPromise: () => {} },
      makeTools: {
        tapPromise(_name, fn) {
          made.tools = fn
        }
      },
      makeEngine: {
        tapPromise(_name, fn) {
          made.engine = fn
        }
      },
      builtinTokens: { tapPromise: () => {} }
    }
  }
  bitcoin.apply(host)
  const { tools, engine } = made
  if (tools === undefined || engine === undefined) throw new Error('The plugin made nothing')
  return { tools, open: engine }
}

const storeOver = (map: Map<string, string>): EngineStore => ({
  get: key => map.get(key),
  entries: prefix => [...map].filter(([key]) => key.startsWith(prefix)),
  async write(changes) {
    for (const [key, text] of changes) {
      if (text === null) map.delete(key)
      else map.set(key, text)
    }
  }
})
