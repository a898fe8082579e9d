import { COIN_NETWORKS, type FakeCoinId } from '../fake-server/chain/coin-networks.ts'
import { openFakeChain } from '../fake-server/chain/open-chain.ts'
import { dustLimitOf, pubkeyHashScript } from '../fake-server/chain/script.ts'
import { makeElectrumConnect } from '../fake-server/electrum/connect.ts'
import {
  type CurrencyEngine,
  type CurrencyPlugin,
  type CurrencyTools,
  compact,
  type EngineRequest,
  type EngineStore,
  type EngineTransaction,
  type Io,
  type JsonObject,
  nativeAmount,
  type SpendInfo,
  type TokenMap,
  type WalletKeys
} from '../kernel/plugin-api.ts'
import { captureTools } from '../kernel/plugins/plugin-set.ts'
import { filesOn } from '../kernel/wallet/engine/engine-files.ts'
import { captureEngine } from '../kernel/wallet/engine/make-engine.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { memoryDisk } from '../plugins/storage/memory.ts'
import { callTaps, openPluginLab } from './plugin-lab.ts'
import { must, skip } from './suite.ts'

/**
 * A network of a currency that a suite controls; each check opens one of its own.
 *
 * @example
 * ```ts
 * import type { CurrencyPlugin } from 'holdfast/plugin'
 * import type { CurrencyNetwork } from 'holdfast/testing'
 *
 * declare const makeLedger: () => { pay(to: string, amount: string): Promise<string> }
 * declare const tollar: (ledger: ReturnType<typeof makeLedger>) => CurrencyPlugin
 * const openNetwork = (): CurrencyNetwork => {
 *   const ledger = makeLedger()
 *   return {
 *     plugin: tollar(ledger),
 *     fund: (address, amount) => ledger.pay(address, amount),
 *     foreignAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
 *     someAmount: '5000'
 *   }
 * }
 * ```
 */
export interface CurrencyNetwork {
  readonly plugin: CurrencyPlugin
  /** As an application gives them in `pluginOptions`, such as the servers of the network. */
  readonly options?: JsonObject
  /** How the network is reached; everything else is that of Node, without a network. */
  readonly io?: Partial<Io>
  /** Pays an address from outside. @returns the txid */
  fund(address: string, nativeAmount: string): Promise<string>
  /** Adds blocks; left out by a network that confirms at once. */
  mine?(count: number): Promise<void>
  /** Replaces the last blocks; what was in them waits again. */
  reorg?(depth: number): Promise<void>
  /** Makes the network forget a waiting transaction. */
  drop?(txid: string): Promise<void>
  /** An address of this currency on another network, or of another currency. */
  readonly foreignAddress: string
  /** An amount that pays many fees. */
  readonly someAmount: string
  /** An amount that the network calls dust; left out if it has none. */
  readonly dustAmount?: string
  /** A token of the currency; without it the checks of tokens are skipped. */
  readonly token?: TokenNetwork
  /** Stakes some money of an address; without it only the form of the staking status is checked. */
  stake?(address: string, nativeAmount: string): Promise<void>
  close?(): Promise<void>
}

/**
 * A token on the network of a currency.
 *
 * @example
 * ```ts
 * import type { TokenNetwork } from 'holdfast/testing'
 *
 * declare const ledger: { payGems(to: string, amount: string): Promise<string> }
 * const token: TokenNetwork = {
 *   tokenId: 'gem',
 *   someAmount: '900',
 *   fund: (address, amount) => ledger.payGems(address, amount)
 * }
 * ```
 */
export interface TokenNetwork {
  /** One of the tokens that the plugin brings. */
  readonly tokenId: string
  /** An amount of it that can be paid with. */
  readonly someAmount: string
  /** Pays it to an address from outside. @returns the txid */
  fund(address: string, nativeAmount: string): Promise<string>
}

/** What an engine has reported, newest last. */
export interface EngineReports {
  /** Those of the chain's own coin. */
  readonly txs: ReadonlyMap<string, EngineTransaction>
  readonly balances: readonly string[]
  /** Those of tokens, by token id and txid with a blank between, and by token id. */
  readonly tokenTxs: ReadonlyMap<string, EngineTransaction>
  readonly tokenBalances: ReadonlyMap<string, string>
  readonly heights: readonly number[]
  readonly ratios: readonly number[]
  /** What it said last of its work. */
  readonly status: string
  /** How many reports came. */
  readonly count: number
}

/** The files of a wallet for its engines. */
export type WalletFiles = Pick<EngineRequest, 'localFiles' | 'syncedFiles'>

/** One wallet of the currency under test. */
export interface TestedWallet {
  readonly engine: CurrencyEngine
  readonly privateKeys: WalletKeys
  readonly publicKeys: JsonObject
  readonly reports: EngineReports
  readonly store: EngineStore
  readonly files: WalletFiles
  /** What the engine has logged. */
  readonly lines: readonly string[]
  /** A fresh address of it. */
  address(): Promise<string>
  balance(): bigint
  /** Ends the repeated syncs of the suite. */
  stopSyncing(): void
}

/** How a wallet is opened. */
export interface WalletOptions {
  /** Those of another wallet. */
  readonly keys?: WalletKeys
  /** That of an earlier engine. */
  readonly store?: EngineStore
  /** Those of an earlier engine. */
  readonly files?: WalletFiles
  /** False: the engine is made, and neither started nor synced. */
  readonly isStarted?: boolean
  readonly enabledTokenIds?: readonly string[]
}

/** A network with a plugin applied to it. */
export interface CurrencyBench {
  readonly network: CurrencyNetwork
  readonly tools: CurrencyTools
  /** The tokens that the plugin brings. */
  builtinTokens(): Promise<TokenMap>
  openWallet(options?: WalletOptions): Promise<TestedWallet>
  close(): Promise<void>
}

/** Applies the plugin of a network. */
export const openBench = async (network: CurrencyNetwork): Promise<CurrencyBench> => {
  const { plugin, options = {}, io = {} } = network
  const { clock } = makeNodeIo()
  const fetch = (): Promise<never> => Promise.reject(new Error('Fake network error'))
  const lab = openPluginLab(plugin, { options, io: { clock, fetch, ...io } })
  const { walletType } = plugin.info
  const nodeIo = makeNodeIo()
  const [madeTools] = await callTaps(lab, lab.hooks.makeTools.for(plugin.id), [])
  const tools = await captureTools(madeTools, plugin.info, nodeIo)
  const engines: { readonly engine: CurrencyEngine; stop(): void }[] = []
  return {
    network,
    tools,
    async builtinTokens() {
      const [tokens = {}] = await callTaps(lab, lab.hooks.builtinTokens.for(plugin.id), [])
      return tokens as TokenMap
    },
    async openWallet({ isStarted = true, keys, ...options } = {}) {
      const { store = memoryStore(), files = memoryFiles(), enabledTokenIds = [] } = options
      const privateKeys = keys ?? (await tools.createPrivateKey(walletType))
      const publicKeys = await tools.derivePublicKey({ id: 'tested', type: walletType, keys: privateKeys })
      const { reports, callbacks } = recordReports()
      const lines: string[] = []
      const line = (text: string): void => void lines.push(text)
      const request: EngineRequest = {
        walletInfo: { id: 'tested', type: walletType, keys: publicKeys },
        ...{
          ...files,
          callbacks,
          store,
          log: { debug: line, info: line, warn: line, error: line },
          enabledTokenIds,
          customTokens: {},
          userSettings: {}
        }
      }
      const made = await callTaps(lab, lab.hooks.makeEngine.for(plugin.id), [request])
      const engine = await captureEngine(made[0], plugin.info, nodeIo)
      const stop = isStarted ? await startSyncing(engine) : () => {}
      engines.push({ engine, stop })
      return {
        ...{ engine, privateKeys, publicKeys, reports, store, files, lines },
        address: async () => (await engine.getFreshAddress({ tokenId: null })).publicAddress,
        balance: () => BigInt(reports.balances.at(-1) ?? '0'),
        stopSyncing: stop
      }
    },
    async close() {
      for (const { stop } of engines) stop()
      for (const { engine } of engines) await engine.killEngine()
      await network.close?.()
    }
  }
}

/** Starts an engine and syncs it again and again, as the kernel does, but sooner. @returns the function that stops it */
const startSyncing = async (engine: CurrencyEngine): Promise<() => void> => {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const stop = (): void => {
    isStopped = true
    clearTimeout(timer)
  }
  const again = async (): Promise<void> => {
    const milliseconds = await engine.syncNetwork({}).catch(() => SYNC_MS)
    if (!isStopped) timer = setTimeout(() => void again(), Math.min(milliseconds, SYNC_MS))
  }
  await engine.startEngine()
  await again()
  return stop
}

const SYNC_MS = 100

/** The files of a wallet, in memory. */
export const memoryFiles = (): WalletFiles => {
  const { crypto } = makeNodeIo()
  return { localFiles: filesOn(memoryDisk(), crypto), syncedFiles: filesOn(memoryDisk(), crypto) }
}

/** A store of an engine, in memory. */
export const memoryStore = (): EngineStore => {
  const texts = new Map<string, string>()
  return {
    get: key => texts.get(key),
    entries: prefix => [...texts].filter(([key]) => key.startsWith(prefix)),
    async write(changes) {
      for (const [key, text] of changes) {
        if (text === null) texts.delete(key)
        else texts.set(key, text)
      }
    }
  }
}

/** Records the reports of an engine. */
export const recordReports = (): {
  readonly reports: EngineReports
  readonly callbacks: EngineRequest['callbacks']
} => {
  const txs = new Map<string, EngineTransaction>()
  const tokenTxs = new Map<string, EngineTransaction>()
  const tokenBalances = new Map<string, string>()
  const [balances, heights, ratios]: [string[], number[], number[]] = [[], [], []]
  let status = ''
  let count = 0
  const counted =
    <Args extends readonly unknown[]>(run: (...args: Args) => void) =>
    (...args: Args): void => {
      count += 1
      run(...args)
    }
  const ignore = counted(() => {})
  return {
    reports: {
      ...{ txs, balances, heights, ratios, tokenTxs, tokenBalances },
      get status() {
        return status
      },
      get count() {
        return count
      }
    },
    callbacks: {
      onAddressChanged: ignore,
      onAddressesChecked: counted((ratio: number) => void ratios.push(ratio)),
      onTokenBalanceChanged: counted((tokenId: string | null, amount: string) => {
        if (tokenId === null) balances.push(amount)
        else tokenBalances.set(tokenId, amount)
      }),
      onBalanceDetailsChanged: ignore,
      onBlockHeightChanged: counted((height: number) => void heights.push(height)),
      onTransactionsChanged: counted((reported: readonly EngineTransaction[]) => {
        for (const tx of reported) {
          if (tx.tokenId === null) txs.set(tx.txid, tx)
          else tokenTxs.set(`${tx.tokenId} ${tx.txid}`, tx)
        }
      }),
      onStatus: counted((text: string) => {
        status = text
      }),
      onConnectionChanged: ignore,
      onNewTokens: ignore,
      onStakingStatusChanged: ignore,
      onUnactivatedTokenIdsChanged: ignore,
      onSeenTxCheckpoint: ignore
    }
  }
}

/** Waits until an engine has reported something; fails with the sentence after 15 seconds. */
export const until = async (holds: () => boolean, sentence: string): Promise<void> => {
  const end = performance.now() + WAIT_MS
  while (!holds()) {
    must(performance.now() < end, () => sentence)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

const WAIT_MS = 15_000

/** What a call throws; undefined if it throws nothing. */
export const errorOf = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return undefined
}

/** Waits until a transaction is in a block; fails with the sentence. */
export const untilConfirmed = (wallet: TestedWallet, txid: string, sentence: string): Promise<void> =>
  until(() => (wallet.reports.txs.get(txid)?.blockHeight ?? 0) > 0, sentence)

/** Adds blocks, on a network that has some. */
export const mine = async ({ network }: CurrencyBench, count: number): Promise<void> => network.mine?.(count)

/** A control of the network that not every network has; skips the check without it. */
export const controlOf = <Name extends 'reorg' | 'drop'>(
  { network }: CurrencyBench,
  name: Name
): NonNullable<CurrencyNetwork[Name]> => {
  const control = network[name]
  if (control === undefined) return skip(`The network of the suite has no ${name}`)
  return control.bind(network) as NonNullable<CurrencyNetwork[Name]>
}

/** A wallet with some confirmed money. */
export const fundedWallet = async (
  bench: CurrencyBench,
  keys?: WalletKeys,
  enabledTokenIds: readonly string[] = []
): Promise<TestedWallet> => {
  const wallet = await bench.openWallet({ ...compact({ keys }), enabledTokenIds })
  const txid = await bench.network.fund(await wallet.address(), bench.network.someAmount)
  await mine(bench, 1)
  await until(
    () => (wallet.reports.txs.get(txid)?.blockHeight ?? 0) > 0 && wallet.balance() > 0n,
    'A payment to the wallet that is in a block is not reported as such'
  )
  return wallet
}

/** A spend to a wallet of somebody else. */
export const spendOf = async (bench: CurrencyBench, amount: string): Promise<SpendInfo> => {
  const stranger = await bench.openWallet({ isStarted: false })
  return spendTo(await stranger.address(), amount)
}

/** A spend to an address. */
export const spendTo = (publicAddress: string, amount: string): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }]
})

/**
 * The fake chain of a currency of Bitcoin's family with an Electrum server, as the network of a currency plugin; nothing real is reached.
 *
 * Bitcoin, Litecoin and Bitcoin Cash are regtest. The others have the addresses, the headers and the rules of their main network, and
 * blocks without work: a plugin that insists on work, or on a later block that it knows, leaves their servers.
 *
 * @param plugin - reads `network` and `servers` of its options as the shipped plugins do; `options` replaces them
 * @param id - whose chain it is
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { fakeBlockchain, testCurrencyPlugin } from 'holdfast/testing'
 * import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
 *
 * testCurrencyPlugin(test, () => fakeBlockchain(bitcoin, 'bitcoin'), { pluginId: 'bitcoin' })
 * ```
 */
export const fakeBlockchain = (
  plugin: CurrencyPlugin,
  id: FakeCoinId,
  options?: JsonObject
): CurrencyNetwork => {
  const { clock, random } = makeNodeIo()
  const network = COIN_NETWORKS[id]
  const chain = openFakeChain({ clock, random: count => random(count), network })
  const electrum = makeElectrumConnect(chain, {})
  const dustLimit = dustLimitOf(pubkeyHashScript(new Uint8Array(20)), network)
  return {
    plugin,
    options: options ?? { network: network.name, servers: ['tcp://127.0.0.1:50001'] },
    // A thousand times what nodes want for a thousand bytes.
    someAmount: String(1000n * network.relayPerKvB),
    io: {
      connect: (address, handlers) => electrum.connect(address, handlers),
      webSocket: (url, handlers) => electrum.webSocket(url, handlers)
    },
    fund: async (address, amount) => chain.fund(address, amount),
    mine: async count => void chain.mine(count),
    reorg: async depth => chain.reorg(depth),
    drop: async txid => void chain.drop(txid),
    foreignAddress: FOREIGN_ADDRESSES[id] ?? '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    ...compact({ dustAmount: dustLimit === 0n ? undefined : String(dustLimit / 2n) }),
    close: async () => electrum.close()
  }
}

/** Of main networks, where the chain is regtest; Bitcoin's elsewhere. */
const FOREIGN_ADDRESSES: Readonly<Partial<Record<FakeCoinId, string>>> = {
  bitcoin: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  bitcoincash: 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
  litecoin: 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'
}
