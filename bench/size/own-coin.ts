import type {
  CurrencyEngine,
  CurrencyPlugin,
  EngineRequest,
  EngineTransaction,
  NativeAmount
} from '../../kernel/plugin-api.ts'
import { COIN, type CoinTransaction, coinTransactions } from './bench-coin.ts'

/** The made-up currency for our kernel, and the handle on its chain. */
export interface OwnCoin {
  readonly plugin: CurrencyPlugin
  /** How many engines have been started. */
  readonly startedCount: number
  /** Makes transactions, from one number up to another; the function reports them in one call, with a checkpoint. */
  prepare(walletId: string, from: number, to: number): () => void
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
  const prepare = (walletId: string, from: number, to: number): (() => void) => {
    const transactions = coinTransactions(from, to).map(engineTransaction)
    return () => {
      const { onTransactionsChanged, onSeenTxCheckpoint } = callbacksOf(walletId)
      onTransactionsChanged(transactions)
      onSeenTxCheckpoint?.(String(to))
    }
  }
  const callbacksOf = (walletId: string): EngineRequest['callbacks'] => {
    const request = requests.get(walletId)
    if (request === undefined) throw new Error(`No engine of ${walletId}`)
    return request.callbacks
  }
  const start = ({ walletInfo, seenTxCheckpoint = '0' }: EngineRequest): void => {
    startedCount++
    if (content?.walletId !== walletInfo.id) return
    const known = Number(seenTxCheckpoint)
    if (known < content.count) prepare(walletInfo.id, known, content.count)()
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
    prepare,
    get startedCount() {
      return startedCount
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
    throw new Error('This engine of the bench does not spend')
  },
  signTx: async transaction => transaction,
  broadcastTx: async transaction => transaction,
  async saveTx() {}
})

const engineTransaction = (transaction: CoinTransaction): EngineTransaction => ({
  ...transaction,
  nativeAmount: transaction.nativeAmount as NativeAmount,
  networkFee: transaction.networkFee as NativeAmount
})
