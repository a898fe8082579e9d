import { BITCOIN_REGTEST, LITECOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { type ElectrumConnect, makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import type {
  BalanceDetails,
  CurrencyEngine,
  CurrencyPlugin,
  CurrencyTools,
  Disk,
  EngineRequest,
  EngineStore,
  EngineTransaction,
  Io,
  JsonObject,
  KeptCoins,
  SpendInfo,
  WalletInfo,
  WalletKeys
} from '../../../kernel/plugin-api.ts'
import { filesOn } from '../../../kernel/wallet/engine/engine-files.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'

const { crypto } = makeNodeIo()

/** A store in memory; `failing` makes writes fail as a full disk does. */
export interface TestStore extends EngineStore {
  readonly map: Map<string, string>
  failing: boolean
  writes: number
}

export const makeTestStore = (map: Map<string, string> = new Map()): TestStore => {
  const store: TestStore = {
    map,
    failing: false,
    writes: 0,
    get: key => map.get(key),
    entries: prefix => [...map].filter(([key]) => key.startsWith(prefix)),
    async write(changes) {
      await Promise.resolve()
      if (store.failing) throw new Error('ENOSPC')
      store.writes++
      for (const [key, text] of changes) {
        if (text === null) map.delete(key)
        else map.set(key, text)
      }
    }
  }
  return store
}

/** Everything an engine told. */
export interface Reported {
  readonly txs: Map<string, EngineTransaction>
  readonly reports: EngineTransaction[][]
  readonly balances: string[]
  readonly details: BalanceDetails[]
  readonly heights: number[]
  readonly ratios: number[]
  readonly statuses: string[]
  /** The server that was lost, or undefined once one is there again. */
  readonly connections: (string | undefined)[]
  readonly checkpoints: string[]
  addressChanges: number
  count: number
}

/** One wallet under test. */
export interface TestWallet {
  readonly engine: CurrencyEngine
  readonly tools: CurrencyTools
  readonly reported: Reported
  readonly store: TestStore
  readonly walletInfo: WalletInfo
  readonly privateKeys: WalletKeys
  balance(): string | undefined
  /** The whole way of a spend: make, sign, broadcast, save. */
  send(spend: Partial<SpendInfo> & Pick<SpendInfo, 'spendTargets'>): Promise<EngineTransaction>
  /** A signed sweep that is not sent. */
  sweep(spend: SpendInfo, keys: readonly string[], kept?: KeptCoins): Promise<EngineTransaction>
}

/** How a wallet under test is opened. */
export interface OpenOptions {
  readonly format?: string
  readonly keys?: WalletKeys
  /** Those of `keys`, which are derived if they are left out. */
  readonly publicKeys?: JsonObject
  readonly store?: TestStore
  readonly io?: Io
  readonly isStarted?: boolean
  /** What an earlier engine said that it had reported. */
  readonly checkpoint?: string | undefined
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A plugin applied to a host of its own; gives its tools and makes its engines. */
const applyPlugin = (
  plugin: CurrencyPlugin,
  io: Io,
  { disk = memoryDisk(), options }: { readonly disk: Disk | undefined; readonly options: JsonObject }
): { tools(): Promise<CurrencyTools>; open(request: EngineRequest): Promise<CurrencyEngine> } => {
  let makeTools: (() => Promise<CurrencyTools>) | undefined
  let makeEngine: ((request: EngineRequest) => Promise<CurrencyEngine>) | undefined
  plugin.apply({
    io,
    log: silent,
    options,
    disk,
    hooks: {
      ready: { tapPromise: () => {} },
      closing: { tapPromise: () => {} },
      makeTools: {
        tapPromise(_name, fn) {
          makeTools = fn as () => Promise<CurrencyTools>
        }
      },
      makeEngine: {
        tapPromise(_name, fn) {
          makeEngine = fn as (request: EngineRequest) => Promise<CurrencyEngine>
        }
      },
      builtinTokens: { tapPromise: () => {} }
    }
  })
  if (makeTools === undefined || makeEngine === undefined) throw new Error('The plugin made nothing')
  return { tools: makeTools, open: makeEngine }
}

const makeReported = (): Reported => ({
  txs: new Map(),
  reports: [],
  balances: [],
  details: [],
  heights: [],
  ratios: [],
  statuses: [],
  connections: [],
  checkpoints: [],
  addressChanges: 0,
  count: 0
})

const callbacksOf = (reported: Reported): EngineRequest['callbacks'] => ({
  onAddressChanged() {
    reported.count++
    reported.addressChanges++
  },
  onAddressesChecked(ratio) {
    reported.count++
    reported.ratios.push(ratio)
  },
  onTokenBalanceChanged(_tokenId, amount) {
    reported.count++
    reported.balances.push(amount)
  },
  onBalanceDetailsChanged(_tokenId, details) {
    reported.details.push(details)
  },
  onBlockHeightChanged(height) {
    reported.count++
    reported.heights.push(height)
  },
  onTransactionsChanged(txs) {
    reported.count++
    reported.reports.push([...txs])
    for (const tx of txs) reported.txs.set(tx.txid, tx)
  },
  onStatus(text) {
    reported.statuses.push(text)
  },
  onConnectionChanged(lost) {
    reported.connections.push(lost?.server)
  },
  onNewTokens() {},
  onStakingStatusChanged() {},
  onUnactivatedTokenIdsChanged() {},
  onSeenTxCheckpoint(checkpoint) {
    reported.checkpoints.push(checkpoint)
  }
})

/** A fake chain, and a plugin of its currency (Bitcoin's unless another is given) on regtest that reaches nothing else. */
export interface TestWorld {
  readonly chain: FakeChain
  readonly electrum: ElectrumConnect
  readonly io: Io
  readonly sent: string[]
  openWallet(options?: OpenOptions): Promise<TestWallet>
  close(): Promise<void>
}

export const makeTestWorld = (
  options: {
    plugin?: CurrencyPlugin
    chain?: FakeChain
    io?: Partial<Io>
    servers?: string[]
    sliceLength?: number
    /** Where the plugin keeps what its wallets share. */
    disk?: Disk
  } = {}
): TestWorld => {
  const { plugin = bitcoin } = options
  const { walletType } = plugin.info
  const base = makeNodeIo()
  const chain =
    options.chain ??
    openFakeChain({
      clock: base.clock,
      random: count => base.random(count),
      network: plugin.info.pluginId === 'litecoin' ? LITECOIN_REGTEST : BITCOIN_REGTEST
    })
  const electrum = makeElectrumConnect(
    chain,
    options.sliceLength === undefined ? {} : { sliceLength: options.sliceLength }
  )
  const sent: string[] = []
  const counted: Io = {
    crypto: base.crypto,
    clock: base.clock,
    random: count => base.random(count),
    fetch: () => Promise.reject(new Error('no network')),
    connect: async (address, handlers) => {
      const channel = await electrum.connect(address, handlers)
      return {
        send: text => {
          sent.push(text)
          channel.send(text)
        },
        close: () => channel.close()
      }
    },
    webSocket: (url, handlers) => electrum.webSocket(url, handlers),
    ...options.io
  }
  const applied = applyPlugin(plugin, counted, {
    disk: options.disk,
    options: { network: 'regtest', servers: options.servers ?? ['tcp://127.0.0.1:50001'] }
  })
  const engines: CurrencyEngine[] = []
  return {
    chain,
    electrum,
    io: counted,
    sent,
    async openWallet({
      format,
      keys,
      publicKeys: known,
      store = makeTestStore(),
      isStarted = true,
      checkpoint
    } = {}) {
      const tools = await applied.tools()
      const privateKeys =
        keys ?? (await tools.createPrivateKey(walletType, format === undefined ? {} : { format }))
      const walletInfo: WalletInfo = { id: 'test', type: walletType, keys: privateKeys }
      const reported = makeReported()
      const publicKeys: JsonObject = known ?? (await tools.derivePublicKey(walletInfo))
      const engine = await applied.open({
        walletInfo: { id: 'test', type: walletType, keys: publicKeys },
        callbacks: callbacksOf(reported),
        store,
        localFiles: filesOn(memoryDisk(), crypto),
        syncedFiles: filesOn(memoryDisk(), crypto),
        log: silent,
        enabledTokenIds: [],
        customTokens: {},
        userSettings: {},
        ...(checkpoint === undefined ? {} : { seenTxCheckpoint: checkpoint })
      })
      engines.push(engine)
      if (isStarted) {
        await engine.startEngine()
        await engine.syncNetwork({})
      }
      return {
        engine,
        tools,
        reported,
        store,
        walletInfo,
        privateKeys,
        balance: () => reported.balances.at(-1),
        async send(spend) {
          const draft = await engine.makeSpend({ tokenId: null, ...spend }, {})
          const signed = await engine.signTx(draft, privateKeys)
          const sentTx = await engine.broadcastTx(signed, {})
          await engine.saveTx(sentTx)
          return sentTx
        },
        async sweep(spend, keys, kept = { frozen: [], reserved: [] }) {
          const draft = await engine.sweepPrivateKeys?.(spend, keys, kept)
          const signed = draft && (await engine.signSweep?.(draft, keys))
          if (signed === undefined) throw new Error('The engine sweeps no keys')
          return signed
        }
      }
    },
    async close() {
      for (const engine of engines) await engine.killEngine()
      electrum.close()
    }
  }
}

/** Waits until a condition holds; fails after a minute, which is long even for a busy machine. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const end = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Timed out, waiting for: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
