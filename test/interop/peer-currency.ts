import type { ChainTransaction } from './chain-transaction.ts'
import {
  ADDED_TOKENS,
  LAB_COINS,
  LAB_HEIGHT,
  LAB_SWAPS,
  type LabCoin,
  labKeys,
  labPayment,
  labPublicKeys,
  labSeed,
  labTokenId
} from './lab-coins.ts'

/** Plugins for the published core (protocol §7.2), and the handle on their engines. */
export interface PeerCurrencies {
  /** By plugin id. */
  readonly plugins: Readonly<Record<string, unknown>>
  /** Lets the engine of a wallet say that the chain has these transactions. */
  show(walletId: string, transactions: readonly ChainTransaction[]): void
  findTokens(walletId: string, tokenIds: readonly string[]): void
  /** The addresses that the engine must not give out again. */
  lockedAddresses(walletId: string): readonly string[]
  /** The code of an asset of a wallet. */
  codeOf(walletId: string, tokenId: string | null): string
}

/** What is known of one wallet, whatever engine it has. */
interface PeerWallet {
  readonly shown: Map<string, object>
  locked: Set<string>
  /** Of its currency: the height of the chain and the code of the coin. */
  coin: { height: number; currencyCode: string }
  callbacks: Callbacks | undefined
}

interface Callbacks {
  onAddressesChecked(ratio: number): void
  onTransactionsChanged(transactions: readonly unknown[]): void
  onNewTokens(tokenIds: readonly string[]): void
}

/** Makes a currency without a chain that has the wallet type of Bitcoin, and the lab. */
export const makePeerCurrencies = (): PeerCurrencies => {
  const wallets = new Map<string, PeerWallet>()
  const walletOf = (walletId: string): PeerWallet => {
    const coin = { height: 0, currencyCode: '' }
    const fresh: PeerWallet = { shown: new Map(), locked: new Set(), coin, callbacks: undefined }
    const wallet = wallets.get(walletId) ?? fresh
    wallets.set(walletId, wallet)
    return wallet
  }
  const pluginOf = ({ info, tools, tokens, height }: Coin) => ({
    currencyInfo: info,
    getBuiltinTokens: async () => tokens,
    makeCurrencyTools: async () => ({ ...URI_TOOLS, ...tools }),
    makeCurrencyEngine: async ({ id }: { id: string }, options: { callbacks: Callbacks }) => {
      const wallet = walletOf(id)
      const { currencyCode } = info
      Object.assign(wallet, {
        callbacks: options.callbacks,
        locked: new Set(),
        coin: { height, currencyCode }
      })
      return makeEngine(id, wallet)
    }
  })
  const coins = [CHAINLESS, ...LAB_COINS.map(labCoin)]
  return {
    plugins: {
      ...Object.fromEntries(coins.map(coin => [coin.info.pluginId, pluginOf(coin)])),
      ...Object.fromEntries(LAB_SWAPS.map(pluginId => [pluginId, swapOf(pluginId)]))
    },
    show(walletId, transactions) {
      const wallet = walletOf(walletId)
      const list = transactions.map(transaction => wholeOf(walletId, wallet, transaction))
      for (const whole of list) wallet.shown.set(`${whole.txid} ${whole.tokenId}`, whole)
      wallet.callbacks?.onTransactionsChanged(list)
    },
    findTokens: (walletId, tokenIds) => walletOf(walletId).callbacks?.onNewTokens(tokenIds),
    lockedAddresses: walletId => [...walletOf(walletId).locked].sort(),
    codeOf: (walletId, tokenId) => assetOf(walletOf(walletId), tokenId).currencyCode
  }
}

interface Coin {
  readonly info: { readonly pluginId: string; readonly currencyCode: string }
  readonly tools: object
  readonly tokens: object
  readonly height: number
}

const REQUIRED_INFO = { addressExplorer: '', transactionExplorer: '', defaultSettings: {}, metaTokens: [] }

const URI_TOOLS = {
  parseUri: async (uri: string) => ({ publicAddress: uri }),
  encodeUri: async ({ publicAddress }: { publicAddress: string }) => publicAddress
}

/** New keys are those that the caller passes as key options, so that a test knows them. */
const CHAINLESS: Coin = {
  info: {
    ...REQUIRED_INFO,
    ...{ pluginId: 'chainless', displayName: 'Bitcoin without a chain', walletType: 'wallet:bitcoin' },
    ...{ currencyCode: 'BTC', denominations: [{ name: 'BTC', multiplier: '100000000' }] }
  },
  tools: {
    createPrivateKey: async (_: string, keys: unknown) => keys,
    derivePublicKey: async () => ({ publicKey: 'none' })
  },
  tokens: {},
  height: 1000
}

interface KeyHolder {
  readonly keys: Record<string, string>
}

const labCoin = (coin: LabCoin): Coin => ({
  info: { ...REQUIRED_INFO, ...coin.info },
  tools: {
    createPrivateKey: async (_: string, options?: { seed?: string }) => labKeys(coin, options?.seed),
    importPrivateKey: async (text: string) => labKeys(coin, text),
    derivePublicKey: async ({ keys }: KeyHolder) => labPublicKeys(coin, keys),
    getDisplayPrivateKey: async ({ keys }: KeyHolder) => labSeed(coin, keys),
    getDisplayPublicKey: async ({ keys }: KeyHolder) => keys.publicKey,
    getSplittableTypes: () => coin.splitsInto,
    getTokenId: async (token: { networkLocation?: { contractAddress?: string } }) =>
      labTokenId(token as Parameters<typeof labTokenId>[0])
  },
  tokens: coin.tokens,
  height: LAB_HEIGHT
})

const swapOf = (pluginId: string) => ({
  swapInfo: { pluginId, displayName: pluginId, supportEmail: '' },
  fetchSwapQuote: async () => {
    throw new Error('There is nothing to swap with')
  }
})

interface Draft {
  readonly txid: string
  readonly tokenId: string | null
  readonly otherParams: { readonly txid: string }
}

interface Spend {
  readonly tokenId: string | null
  readonly spendTargets: readonly { publicAddress: string; nativeAmount: string }[]
}

const makeEngine = (walletId: string, wallet: PeerWallet): unknown => ({
  startEngine: async () => wallet.callbacks?.onAddressesChecked(1),
  killEngine: async () => {},
  resyncBlockchain: async () => {},
  changeUserSettings: async () => {},
  changeCustomTokens: async () => {},
  changeEnabledTokenIds: async () => {},
  dumpData: async () => ({ walletId, walletType: '', data: {} }),
  getBlockHeight: () => wallet.coin.height,
  getBalance: () => '1000000',
  getNumTransactions: () => wallet.shown.size,
  getTransactions: async () => [...wallet.shown.values()],
  getStakingStatus: async () => ({ stakedAmounts: [] }),
  getFreshAddress: async () => ({ publicAddress: 'lab address' }),
  addGapLimitAddresses: async (addresses: readonly string[]) => {
    for (const address of addresses) wallet.locked.add(address)
  },
  isAddressUsed: async () => false,
  makeSpend: async ({ tokenId, spendTargets: [target] }: Spend) => {
    const { txid, ...paid } = labPayment(target?.publicAddress ?? '', target?.nativeAmount ?? '')
    const whole = wholeOf(walletId, wallet, { ...paid, txid: '', date: 0, blockHeight: 0 })
    return { ...whole, ...paid, ...assetOf(wallet, tokenId), otherParams: { txid } }
  },
  signTx: async (draft: Draft) => ({
    ...draft,
    txid: draft.otherParams.txid,
    date: Math.floor(Date.now() / 1000),
    signedTx: 'signed'
  }),
  broadcastTx: async (transaction: unknown) => transaction,
  saveTx: async (sent: Draft) => void wallet.shown.set(`${sent.txid} ${sent.tokenId}`, sent)
})

const wholeOf = (walletId: string, wallet: PeerWallet, transaction: ChainTransaction) => ({
  blockHeight: wallet.coin.height - 10,
  ...transaction,
  ...assetOf(wallet, transaction.tokenId ?? null),
  walletId,
  isSend: transaction.nativeAmount.startsWith('-'),
  memos: [],
  otherParams: {},
  ourReceiveAddresses: [],
  signedTx: ''
})

const assetOf = ({ coin }: PeerWallet, tokenId: string | null) => ({
  tokenId,
  currencyCode: tokenId === null ? coin.currencyCode : (CODES[tokenId] ?? '')
})

const CODES: Readonly<Record<string, string>> = Object.fromEntries(
  [...LAB_COINS.map(({ tokens }) => tokens), ADDED_TOKENS].flatMap(tokens =>
    Object.entries(tokens).map(([tokenId, { currencyCode }]) => [tokenId, currencyCode])
  )
)
