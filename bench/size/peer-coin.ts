import { COIN, type CoinTransaction, coinTransactions } from './bench-coin.ts'

/** The made-up currency for the peer, by the plugin interface that it publishes (protocol §7.2). */
export interface PeerCoin {
  readonly plugin: unknown
  /** How many engines have been started. */
  readonly startedCount: number
  /** Makes transactions, from one number up to another; the function reports them in one call. */
  prepare(walletId: string, from: number, to: number): () => void
}

/** Makes the currency. Its engines report nothing at their start: the peer asks them for all they have. */
export const makePeerCoin = (content: { readonly walletId: string; readonly count: number }): PeerCoin => {
  const callbacks = new Map<string, Callbacks>()
  let startedCount = 0
  const known = transactionsOf(content.walletId, 0, content.count)
  const plugin = {
    currencyInfo,
    getBuiltinTokens: async () => ({}),
    makeCurrencyTools: async () => tools,
    makeCurrencyEngine: async ({ id }: { id: string }, options: { callbacks: Callbacks }) => {
      callbacks.set(id, options.callbacks)
      const start = (): void => void startedCount++
      return makeEngine({ callbacks: options.callbacks, start, list: id === content.walletId ? known : [] })
    }
  }
  return {
    plugin,
    get startedCount() {
      return startedCount
    },
    prepare(walletId, from, to) {
      const transactions = transactionsOf(walletId, from, to)
      return () => callbacks.get(walletId)?.onTransactionsChanged(transactions)
    }
  }
}

interface Callbacks {
  onAddressesChecked(ratio: number): void
  onTokenBalanceChanged?(tokenId: string | null, balance: string): void
  onBlockHeightChanged(height: number): void
  onTransactionsChanged(transactions: readonly unknown[]): void
}

interface PeerTransaction extends CoinTransaction {
  readonly walletId: string
}

const { pluginId, displayName, walletType, currencyCode, denominations } = COIN
const currencyInfo = {
  pluginId,
  displayName,
  walletType,
  currencyCode,
  denominations,
  addressExplorer: '',
  transactionExplorer: '',
  defaultSettings: {},
  metaTokens: [],
  memoType: 'text'
}

const tools = {
  createPrivateKey: async () => ({ benchKey: 'bench' }),
  derivePublicKey: async () => ({ benchAddress: 'bench1qpub' }),
  getDisplayPrivateKey: async () => 'bench-xpriv',
  getDisplayPublicKey: async () => 'bench-xpub',
  parseUri: async (uri: string) => ({ publicAddress: uri }),
  encodeUri: async ({ publicAddress }: { publicAddress: string }) => publicAddress
}

const transactionsOf = (walletId: string, from: number, to: number): PeerTransaction[] =>
  coinTransactions(from, to).map(transaction => ({
    ...transaction,
    walletId,
    currencyCode,
    confirmations: 'confirmed',
    isSend: false,
    memos: [],
    otherParams: {}
  }))

interface EngineParts {
  readonly callbacks: Callbacks
  start(): void
  readonly list: readonly unknown[]
}

const makeEngine = ({ callbacks, start, list }: EngineParts): unknown => ({
  async startEngine() {
    callbacks.onAddressesChecked(1)
    callbacks.onTokenBalanceChanged?.(null, COIN.balance)
    callbacks.onBlockHeightChanged(COIN.blockHeight)
    start()
  },
  killEngine: async () => {},
  resyncBlockchain: async () => {},
  changeUserSettings: async () => {},
  changeCustomTokens: async () => {},
  changeEnabledTokenIds: async () => {},
  dumpData: async () => ({ walletId: '', walletType, data: {} }),
  getBlockHeight: () => COIN.blockHeight,
  getBalance: () => COIN.balance,
  getNumTransactions: () => list.length,
  getTransactions: async () => [...list],
  getStakingStatus: async () => ({ stakedAmounts: [] }),
  getFreshAddress: async () => ({ publicAddress: 'bench1qaddress' }),
  addGapLimitAddresses: async () => {},
  isAddressUsed: async () => false,
  makeSpend: async () => {
    throw new Error('This engine of the bench does not spend')
  },
  signTx: async (transaction: unknown) => transaction,
  broadcastTx: async (transaction: unknown) => transaction,
  saveTx: async () => {}
})
