import type {
  CurrencyEngine,
  EngineRequest,
  EngineTransaction,
  Plugin,
  SwapPlugin
} from '../../kernel/plugin-api.ts'
import { nativeAmount } from '../../kernel/plugin-api.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'
import type { ChainTransaction } from './chain-transaction.ts'
import {
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

/** The lab as plugins of Holdfast, and the handle on their engines. */
export interface OwnLab {
  readonly plugins: readonly Plugin[]
  /** Lets the engine of a wallet say that the chain has these transactions. */
  show(walletId: string, transactions: readonly ChainTransaction[]): void
  findTokens(walletId: string, tokenIds: readonly string[]): void
  /** The addresses that the engine must not give out again. */
  lockedAddresses(walletId: string): readonly string[]
}

/** What is known of one wallet, whatever engine it has. */
interface LabWallet {
  readonly shown: Map<string, EngineTransaction>
  locked: Set<string>
  request: EngineRequest | undefined
}

/** Makes the lab of one device. */
export const makeOwnLab = (): OwnLab => {
  const wallets = new Map<string, LabWallet>()
  const walletOf = (walletId: string): LabWallet => {
    const wallet = wallets.get(walletId) ?? { shown: new Map(), locked: new Set(), request: undefined }
    wallets.set(walletId, wallet)
    return wallet
  }
  const swaps = LAB_SWAPS.map(
    (id): SwapPlugin => ({
      ...{ kind: 'swap', id, displayName: id },
      apply: ({ hooks }) => hooks.fetchQuotes.tapPromise(id, async () => {})
    })
  )
  return {
    plugins: [...LAB_COINS.map(coin => pluginOf(coin, walletOf)), ...swaps],
    show(walletId, transactions) {
      const { shown, request } = walletOf(walletId)
      const reports = transactions.map(reportOf)
      for (const report of reports) shown.set(keyOf(report), report)
      request?.callbacks.onTransactionsChanged(reports)
    },
    findTokens: (walletId, tokenIds) => walletOf(walletId).request?.callbacks.onNewTokens(tokenIds),
    lockedAddresses: walletId => [...walletOf(walletId).locked].sort()
  }
}

const pluginOf = (coin: LabCoin, walletOf: (walletId: string) => LabWallet): Plugin => {
  const { pluginId } = coin.info
  const { plugin } = makeToy({
    id: pluginId,
    info: coin.info,
    balance: '1000000',
    tokens: coin.tokens,
    tools: {
      createPrivateKey: async (_, options) => labKeys(coin, options?.seed),
      importPrivateKey: async text => labKeys(coin, text),
      derivePublicKey: async ({ keys }) => ({ ...labPublicKeys(coin, keys) }),
      getDisplayPrivateKey: async ({ keys }) => labSeed(coin, keys),
      getDisplayPublicKey: async ({ keys }) => String(keys.publicKey),
      getSplittableTypes: async () => coin.splitsInto,
      getTokenId: async token => labTokenId(token)
    },
    engine: (_good, request) => engineOf(walletOf(request.walletInfo.id), request)
  })
  return plugin
}

const engineOf = (wallet: LabWallet, request: EngineRequest): Partial<CurrencyEngine> => {
  const { callbacks } = request
  wallet.request = request
  wallet.locked = new Set()
  return {
    async startEngine() {
      callbacks.onBlockHeightChanged(LAB_HEIGHT)
      callbacks.onTransactionsChanged([...wallet.shown.values()])
    },
    getFreshAddress: async () => ({ publicAddress: 'lab address' }),
    async addGapLimitAddresses(addresses) {
      for (const address of addresses) wallet.locked.add(address)
    },
    async makeSpend({ tokenId, spendTargets }) {
      const [{ publicAddress = '', nativeAmount: amount = nativeAmount('0') } = {}] = spendTargets
      const { txid, ...paid } = labPayment(publicAddress, amount)
      const amounts = {
        nativeAmount: nativeAmount(paid.nativeAmount),
        networkFee: nativeAmount(paid.networkFee)
      }
      return toyTransaction('', { ...paid, ...amounts, tokenId, date: 0, otherParams: { txid } })
    },
    signTx: async tx => ({
      ...tx,
      txid: String(tx.otherParams?.txid),
      date: Math.floor(Date.now() / 1000),
      signedTx: 'signed'
    }),
    async saveTx(tx) {
      wallet.shown.set(keyOf(tx), tx)
    }
  }
}

const reportOf = ({ tokenId, blockHeight = 90, ...transaction }: ChainTransaction) =>
  toyTransaction(transaction.txid, {
    tokenId: tokenId ?? null,
    blockHeight,
    date: transaction.date,
    nativeAmount: nativeAmount(transaction.nativeAmount),
    networkFee: nativeAmount(transaction.networkFee)
  })

const keyOf = ({ txid, tokenId }: Pick<EngineTransaction, 'txid' | 'tokenId'>): string => `${txid} ${tokenId}`
