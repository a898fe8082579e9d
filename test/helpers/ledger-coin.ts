import {
  type ActivationOffer,
  type CurrencyEngine,
  type CurrencyPlugin,
  type EngineRequest,
  type EngineTransaction,
  type NetworkFee,
  nativeAmount,
  WalletError,
  ZERO
} from '../../kernel/plugin-api.ts'

/** What a server of the ledger does with bytes. `keep`: says no, and may mine them later. */
export type Reception = 'accept' | 'keep' | 'lose' | 'refuse' | 'silent'

/** A transaction that a server of the ledger has seen. Amounts are native, fees included. */
export interface LedgerTx {
  readonly txid: string
  readonly walletId: string
  readonly amount: number
  /** The coin that it spends: of two transactions with one coin only one is ever mined. */
  readonly coin: string
  readonly bytes: EngineTransaction
  /** `kept`: only a liar has it. */
  state: 'confirmed' | 'dropped' | 'kept' | 'pool'
  /** Milliseconds since 1970, by the true time. */
  minedAt: number
}

/** A chain that is a table: it mines what tests want, when they want it, and knows what was really paid. */
export class LedgerChain {
  readonly txs: Map<string, LedgerTx> = new Map()
  /** The true time. */
  readonly now: () => number
  height = 100
  blockTime: number
  reception: Reception = 'accept'
  /** What each payment of coins costs in silver besides, if anything; and what a signature makes of that. */
  toll: string | undefined
  signedToll: string | undefined
  /** What an activation costs, if a test needs one. */
  activation: ActivationOffer | undefined
  /** Called while a server is asked for the coins of a sweep. */
  whileSwept: () => Promise<void> = async () => {}

  constructor(now: () => number) {
    this.now = now
    this.blockTime = now()
  }

  /** @throws BROADCAST_REFUSED, NETWORK as the reception says */
  receive(walletId: string, tx: EngineTransaction): void {
    const { reception } = this
    const [coin = ''] = tx.spentCoins ?? []
    const known = this.txs.get(tx.txid)
    if (reception !== 'lose' && reception !== 'refuse' && known?.state !== 'confirmed') {
      const isSpent = [...this.txs.values()].some(
        other => other.coin === coin && other.state === 'confirmed' && other.txid !== tx.txid
      )
      const state = isSpent ? 'dropped' : reception === 'keep' ? 'kept' : 'pool'
      const amount = Number(tx.nativeAmount.slice(1))
      if (known?.state !== 'pool')
        this.txs.set(tx.txid, { txid: tx.txid, walletId, amount, coin, bytes: tx, state, minedAt: 0 })
    }
    if (reception === 'accept') return
    if (reception === 'keep' || reception === 'refuse')
      throw new WalletError('BROADCAST_REFUSED', { txid: tx.txid, reason: 'min relay fee not met' })
    throw new WalletError('NETWORK', { path: 'ledger', reason: 'no answer' })
  }

  /** Mines a block, with a transaction if it can still be mined. */
  mine(txid?: string): void {
    this.height += 1
    this.blockTime = Math.floor(this.now() / 1000) * 1000
    const tx = txid === undefined ? undefined : this.txs.get(txid)
    if (tx === undefined || tx.state === 'dropped' || tx.state === 'confirmed') return
    tx.state = 'confirmed'
    tx.minedAt = this.blockTime
    for (const other of this.txs.values())
      if (other.coin === tx.coin && other.txid !== txid) other.state = 'dropped'
  }
}

/** A currency on a ledger. Each wallet has coins, and gold as a token, without end; a payment costs a fee of 1. */
export const makeLedgerCoin = (chain: LedgerChain, id = 'ledger'): CurrencyPlugin => ({
  kind: 'currency',
  id,
  info: {
    pluginId: id,
    displayName: 'Ledger Coin',
    walletType: `wallet:${id}`,
    currencyCode: 'LDG',
    denominations: [{ name: 'LDG', multiplier: '100' }]
  },
  apply({ hooks, io }) {
    const text = (count: number): string => io.crypto.toHex(io.random(count))
    hooks.makeTools.tapPromise(id, async () => ({
      createPrivateKey: async () => ({ ledgerKey: text(16) }),
      derivePublicKey: async ({ id: walletId }) => ({ walletId }),
      parseUri: async uri => {
        if (uri === 'nowhere') throw new WalletError('ADDRESS_INVALID', { rule: 'is nowhere' })
        return { publicAddress: uri.toLowerCase() }
      },
      encodeUri: async ({ publicAddress }) => publicAddress
    }))
    hooks.builtinTokens.tapPromise(id, async () => ({ gold: GOLD, silver: SILVER }))
    hooks.makeEngine.tapPromise(id, async request => makeEngine(chain, request, text))
  }
})

const FEE = nativeAmount('1')

const feesOf = (toll: string): NetworkFee[] => [
  { tokenId: null, nativeAmount: FEE },
  { tokenId: 'silver', nativeAmount: nativeAmount(toll) }
]

const GOLD = {
  ...{ currencyCode: 'GLD', displayName: 'Gold', denominations: [{ name: 'GLD', multiplier: '100' }] },
  networkLocation: { contractAddress: 'gold' }
}

const SILVER = {
  ...{ currencyCode: 'SLV', displayName: 'Silver', denominations: [{ name: 'SLV', multiplier: '100' }] },
  networkLocation: { contractAddress: 'silver' }
}

const makeEngine = (
  chain: LedgerChain,
  { walletInfo, callbacks }: EngineRequest,
  text: (count: number) => string
): CurrencyEngine => {
  const walletId = walletInfo.id
  const own = (): LedgerTx[] => [...chain.txs.values()].filter(tx => tx.walletId === walletId)
  const report = ({ bytes, state, minedAt }: LedgerTx): EngineTransaction => ({
    ...bytes,
    date: state === 'confirmed' ? minedAt / 1000 : chain.now() / 1000,
    blockHeight: state === 'confirmed' ? chain.height : state === 'dropped' ? -1 : 0,
    ...(state === 'confirmed' || state === 'dropped' ? { confirmations: state } : {})
  })
  return {
    async startEngine() {},
    async killEngine() {},
    async syncNetwork() {
      callbacks.onTokenBalanceChanged(null, '1000000')
      callbacks.onTokenBalanceChanged('gold', '1000000')
      callbacks.onTransactionsChanged(
        own()
          .filter(({ state }) => state !== 'kept')
          .map(report)
      )
      callbacks.onBlockHeightChanged(chain.height, chain.blockTime / 1000)
      callbacks.onAddressesChecked(1)
      return 60_000
    },
    async resyncBlockchain() {},
    getFreshAddress: async () => ({ publicAddress: walletId.toLowerCase() }),
    async addGapLimitAddresses() {},
    isAddressUsed: async () => false,
    async makeSpend({ tokenId, spendTargets, replaces }) {
      const paid = spendTargets.reduce((sum, target) => sum + Number(target.nativeAmount ?? 0), 0)
      const coin = replaces === undefined ? text(8) : chain.txs.get(replaces)?.coin
      return {
        ...{ tokenId, txid: '', date: 0, blockHeight: 0, signedTx: '', ourReceiveAddresses: [] },
        nativeAmount: nativeAmount(`-${tokenId === null ? paid + 1 : paid}`),
        ...(tokenId === null ? { networkFee: FEE } : { networkFee: ZERO, parentNetworkFee: FEE }),
        ...(chain.toll === undefined ? {} : { networkFees: feesOf(chain.toll) }),
        spentCoins: [coin ?? text(8)],
        isSend: true
      }
    },
    signTx: async tx => {
      const txid = text(16)
      const fees = chain.signedToll === undefined ? {} : { networkFees: feesOf(chain.signedToll) }
      return { ...tx, ...fees, txid, signedTx: `bytes of ${txid}` }
    },
    async broadcastTx(tx) {
      chain.receive(walletId, tx)
      return tx
    },
    async saveTx() {},
    async reservePayments() {},
    async activateWallet() {
      if (chain.activation === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'activation' })
      return chain.activation
    },
    async sweepPrivateKeys() {
      await chain.whileSwept()
      return {
        ...{ tokenId: null, txid: '', date: 0, blockHeight: 0, signedTx: '', networkFee: FEE },
        ...{ nativeAmount: nativeAmount('9'), spentCoins: [text(8)], isSend: false },
        ourReceiveAddresses: [walletId.toLowerCase()]
      }
    },
    signSweep: async draft => ({ ...draft, txid: text(16), signedTx: 'swept' }),
    async signMessage() {
      return 'signature'
    },
    async findPayment({ txid, spentCoins = [] }) {
      const tx = chain.txs.get(txid)
      const rival = [...chain.txs.values()].find(
        other => other.state === 'confirmed' && other.txid !== txid && spentCoins.includes(other.coin)
      )
      if (rival !== undefined) return { state: 'replaced', replacedBy: rival.txid, isFinal: true }
      return { state: tx === undefined || tx.state === 'kept' ? 'notInMempool' : 'seen' }
    }
  }
}
