import type { ChainTransaction } from './device.ts'

/** A currency plugin for the published core (protocol §7.2) and the handle on its engines. */
export interface PeerCurrency {
  readonly plugin: unknown
  /** Lets the engine of a wallet say that the chain has these transactions. */
  show(walletId: string, transactions: readonly ChainTransaction[]): void
}

/**
 * Makes a currency without a chain that has the wallet type of Bitcoin.
 *
 * New keys are those that the caller passes as key options, so that a test knows them.
 */
export const makePeerCurrency = (): PeerCurrency => {
  const shown = new Map<string, Map<string, unknown>>()
  const callbacks = new Map<string, Callbacks>()
  const listOf = (walletId: string): Map<string, unknown> => {
    const list = shown.get(walletId) ?? new Map<string, unknown>()
    shown.set(walletId, list)
    return list
  }
  const plugin = {
    currencyInfo,
    getBuiltinTokens: async () => ({}),
    makeCurrencyTools: async () => tools,
    makeCurrencyEngine: async ({ id }: { id: string }, options: { callbacks: Callbacks }) => {
      callbacks.set(id, options.callbacks)
      return makeEngine(options.callbacks, () => [...listOf(id).values()])
    }
  }
  return {
    plugin,
    show(walletId, transactions) {
      const list = transactions.map(transaction => wholeOf(walletId, transaction))
      for (const transaction of list) listOf(walletId).set(transaction.txid, transaction)
      callbacks.get(walletId)?.onTransactionsChanged(list)
    }
  }
}

interface Callbacks {
  onAddressesChecked(ratio: number): void
  onTransactionsChanged(transactions: readonly unknown[]): void
}

const currencyInfo = {
  pluginId: 'chainless',
  displayName: 'Bitcoin without a chain',
  walletType: 'wallet:bitcoin',
  currencyCode: 'BTC',
  denominations: [{ name: 'BTC', multiplier: '100000000' }],
  addressExplorer: '',
  transactionExplorer: '',
  defaultSettings: {},
  metaTokens: []
}

const tools = {
  createPrivateKey: async (_: string, keys: unknown) => keys,
  derivePublicKey: async () => ({ publicKey: 'none' }),
  parseUri: async (uri: string) => ({ publicAddress: uri }),
  encodeUri: async ({ publicAddress }: { publicAddress: string }) => publicAddress
}

const HEIGHT = 1000

const makeEngine = (callbacks: Callbacks, list: () => unknown[]): unknown => ({
  startEngine: async () => callbacks.onAddressesChecked(1),
  killEngine: async () => {},
  resyncBlockchain: async () => {},
  changeUserSettings: async () => {},
  changeCustomTokens: async () => {},
  changeEnabledTokenIds: async () => {},
  dumpData: async () => ({ walletId: '', walletType: currencyInfo.walletType, data: {} }),
  getBlockHeight: () => HEIGHT,
  getBalance: () => '0',
  getNumTransactions: () => list().length,
  getTransactions: async () => list(),
  getStakingStatus: async () => ({ stakedAmounts: [] }),
  getFreshAddress: async () => ({ publicAddress: 'none' }),
  addGapLimitAddresses: async () => {},
  isAddressUsed: async () => false,
  makeSpend: async () => {
    throw new Error('There is no chain to spend on')
  },
  signTx: async (transaction: unknown) => transaction,
  broadcastTx: async (transaction: unknown) => transaction,
  saveTx: async () => {}
})

const wholeOf = (walletId: string, transaction: ChainTransaction) => ({
  ...transaction,
  walletId,
  tokenId: null,
  currencyCode: currencyInfo.currencyCode,
  blockHeight: HEIGHT - 100,
  isSend: transaction.nativeAmount.startsWith('-'),
  memos: [],
  otherParams: {},
  ourReceiveAddresses: [],
  signedTx: ''
})
