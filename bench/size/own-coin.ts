import {
  type CurrencyEngine,
  type CurrencyPlugin,
  type EngineRequest,
  type EngineTransaction,
  nativeAmount
} from '../../kernel/plugin-api.ts'
import { COIN, type CoinTransaction, coinTransactions } from './bench-coin.ts'

/** The made-up currency for our kernel, and the handle on its chain. */
export interface OwnCoin {
  readonly plugin: CurrencyPlugin
  /** How many engines have been started. */
  readonly startedCount: number
  /** How many transactions engines have reported, over all. */
  readonly reportedCount: number
  /** Reports transactions of a wallet in one call, from one number up to another, with a checkpoint. */
  report(walletId: string, from: number, to: number): void
}

/** How many transactions the chain has of one wallet when its engine starts; the others have none. */
export interface ChainContent {
  readonly walletId: string
  readonly count: number
}

/** Makes the currency. An engine reports nothing of what its checkpoint says that the kernel knows. */
export const makeOwnCoin = (content?: ChainContent): OwnCoin => {
  const requests = new Map<string, EngineRequest>()
  let startedCount = 0
  let reportedCount = 0
  const report = (walletId: string, from: number, to: number): void => {
    const request = requests.get(walletId)
    if (request === undefined) throw new Error(`No engine of ${walletId}`)
    const { onTransactionsChanged, onSeenTxCheckpoint } = request.callbacks
    reportedCount += Math.max(0, to - from)
    onTransactionsChanged(coinTransactions(from, to).map(engineTransaction))
    onSeenTxCheckpoint?.(String(to))
  }
  const start = ({ walletInfo, seenTxCheckpoint = '0' }: EngineRequest): void => {
    startedCount++
    if (content?.walletId !== walletInfo.id) return
    const known = Number(seenTxCheckpoint)
    if (known < content.count) report(walletInfo.id, known, content.count)
  }
  const plugin: CurrencyPlugin = {
    kind: 'currency',
    id: COIN.pluginId,
    info: currencyInfo,
    apply({ hooks }) {
      hooks.makeTools.tapPromise(COIN.pluginId, async () => tools)
      hooks.makeEngine.tapPromise(COIN.pluginId, async request => {
        requests.set(request.walletInfo.id, request)
        return makeEngine(request, () => start(request))
      })
    }
  }
  return {
    plugin,
    report,
    get startedCount() {
      return startedCount
    },
    get reportedCount() {
      return reportedCount
    }
  }
}

const { pluginId, displayName, walletType, currencyCode, denominations } = COIN
const currencyInfo = { pluginId, displayName, walletType, currencyCode, denominations }

const tools = {
  createPrivateKey: async () => ({ benchKey: 'bench' }),
  derivePublicKey: async () => ({ benchAddress: 'bench1qpub' }),
  parseUri: async (uri: string) => ({ publicAddress: uri }),
  encodeUri: async ({ publicAddress }: { publicAddress: string }) => publicAddress
}

const LATER_MS = 86_400_000

const makeEngine = ({ callbacks }: EngineRequest, start: () => void): CurrencyEngine => ({
  async startEngine() {
    callbacks.onAddressesChecked(1)
    callbacks.onTokenBalanceChanged(null, COIN.balance)
    callbacks.onBlockHeightChanged(COIN.blockHeight)
    start()
  },
  async killEngine() {},
  syncNetwork: async () => LATER_MS,
  async resyncBlockchain() {},
  getFreshAddress: async () => ({ publicAddress: 'bench1qaddress' }),
  async addGapLimitAddresses() {},
  isAddressUsed: async () => false,
  makeSpend: async () => {
    throw new Error('Nobody spends here')
  },
  signTx: async transaction => transaction,
  broadcastTx: async transaction => transaction,
  async saveTx() {}
})

const engineTransaction = (transaction: CoinTransaction): EngineTransaction => ({
  ...transaction,
  nativeAmount: nativeAmount(transaction.nativeAmount),
  networkFee: nativeAmount(transaction.networkFee)
})
