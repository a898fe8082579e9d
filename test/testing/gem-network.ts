import {
  type CurrencyEngine,
  type CurrencyPlugin,
  type CurrencyTools,
  type EngineRequest,
  type EngineTransaction,
  type Io,
  type KernelSigning,
  type KeylessEngine,
  nativeAmount,
  type SpendInfo,
  WalletError
} from '../../kernel/plugin-api.ts'
import type { CurrencyNetwork } from '../../testing/currency-lab.ts'

interface GemPayment {
  readonly from: string
  readonly to: string
  readonly tokenId: string | null
  readonly amount: string
  readonly nonce: number
}

interface GemEntry extends GemPayment {
  readonly txid: string
  readonly height: number
  readonly date: number
}

const FEE = 1n

/** A ledger of a coin and a token; it confirms at once. */
class GemLedger {
  readonly entries: GemEntry[] = []
  readonly stakes: { readonly address: string; readonly amount: string }[] = []

  send(payment: GemPayment, txid: string): void {
    if (this.entries.some(entry => entry.txid === txid)) return
    this.entries.push({ ...payment, txid, height: this.entries.length + 1, date: Date.now() / 1000 })
  }

  mint(to: string, amount: string, tokenId: string | null): string {
    const txid = `mint${this.entries.length}`
    this.send({ from: '', to, tokenId, amount, nonce: this.entries.length }, txid)
    return txid
  }

  balanceOf(address: string, tokenId: string | null): bigint {
    let balance = 0n
    for (const entry of this.entries) {
      if (entry.to === address && entry.tokenId === tokenId) balance += BigInt(entry.amount)
      if (entry.from !== address) continue
      if (entry.tokenId === tokenId) balance -= BigInt(entry.amount)
      if (tokenId === null) balance -= FEE
    }
    for (const stake of this.stakes)
      if (tokenId === null && stake.address === address) balance -= BigInt(stake.amount)
    return balance
  }
}

/** A currency with everything that not every currency has, on a ledger in memory. */
export const gemNetwork = (
  alter: (plugin: CurrencyPlugin) => CurrencyPlugin = plugin => plugin,
  signing?: KernelSigning
): CurrencyNetwork => {
  const ledger = new GemLedger()
  return {
    plugin: alter(gemCurrency(ledger, signing)),
    fund: async (address, amount) => ledger.mint(address, amount, null),
    foreignAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    someAmount: '5000',
    token: {
      tokenId: 'gem',
      someAmount: '900',
      fund: async (address, amount) => ledger.mint(address, amount, 'gem')
    },
    stake: async (address, amount) => void ledger.stakes.push({ address, amount })
  }
}

/** @param signing - then the plugin gets no keys */
const gemCurrency = (ledger: GemLedger, signing: KernelSigning | undefined): CurrencyPlugin => ({
  kind: 'currency',
  id: 'gems',
  info: {
    ...{ pluginId: 'gems', displayName: 'Gem Chain', walletType: 'wallet:gems', currencyCode: 'GMC' },
    denominations: [{ name: 'GMC', multiplier: '100' }],
    ...(signing === undefined ? {} : { signing }),
    otherMethods: {
      height: {
        description: 'The height of the chain',
        arguments: { type: 'object' },
        result: { type: 'integer' }
      }
    }
  },
  apply({ hooks, io }) {
    hooks.makeTools.tapPromise('gems', async () => makeTools(io, signing !== undefined))
    hooks.makeEngine.tapPromise('gems', async request => {
      const engine = makeEngine(ledger, io, request)
      return signing === undefined ? engine : withoutKeys(engine)
    })
    hooks.builtinTokens.tapPromise('gems', async () => ({
      gem: { currencyCode: 'GEM', displayName: 'Gem', denominations: [{ name: 'GEM', multiplier: '10' }] }
    }))
  }
})

/** The same engine without keys: the kernel signs the hash of a payment. */
const withoutKeys = ({ signTx, ...rest }: CurrencyEngine): KeylessEngine => ({
  ...rest,
  getBytesToSign: async tx => [(await signTx(tx, {})).txid],
  async addSignatures(tx, [first]) {
    const signed = await signTx(tx, {})
    if (first?.signature.length !== 128) throw new Error('There is no signature')
    return signed
  }
})

const makeTools = (io: Io, isKeyless: boolean): CurrencyTools => ({
  createPrivateKey: async () => ({ gemKey: io.crypto.toHex(io.random(32)) }),
  async derivePublicKey({ keys }) {
    const hash = io.crypto.sha256(io.crypto.fromHex(String(isKeyless ? keys.publicKey : keys.gemKey)))
    return { address: `gem1${io.crypto.toHex(hash).slice(0, 40)}` }
  },
  async parseUri(uri) {
    const [address = '', query = ''] = uri.replace(/^gem:/, '').split('?')
    const fields = new Map(query.split('&').map(field => field.split('=') as [string, string]))
    const [amount, label] = [fields.get('amount'), fields.get('label')]
    return {
      publicAddress: checkAddress(address),
      ...(amount === undefined ? {} : { nativeAmount: nativeAmount(amount) }),
      ...(label === undefined ? {} : { label: decodeURIComponent(label) })
    }
  },
  encodeUri: async ({ publicAddress, nativeAmount: amount = '', label = '' }) =>
    `gem:${publicAddress}?amount=${amount}&label=${encodeURIComponent(label)}`.replace(/\w+=(?=&|$)&?/g, ''),
  getTokenId: async ({ currencyCode }) => currencyCode.toLowerCase()
})

const makeEngine = (
  ledger: GemLedger,
  io: Io,
  { walletInfo, callbacks, store, enabledTokenIds }: EngineRequest
): CurrencyEngine => {
  const address = String(walletInfo.keys.address)
  let tokenIds = enabledTokenIds
  let isQuiet = false
  const look = async (): Promise<void> => {
    const entries = ledger.entries.filter(({ from, to }) => from === address || to === address)
    const transactions = entries.map(entry => transactionOf(entry, address))
    await store.write(new Map([['history', JSON.stringify(transactions)]]))
    if (isQuiet) return
    callbacks.onBlockHeightChanged(ledger.entries.length)
    callbacks.onTransactionsChanged(transactions)
    for (const tokenId of [null, ...tokenIds])
      callbacks.onTokenBalanceChanged(tokenId, String(ledger.balanceOf(address, tokenId)))
    callbacks.onAddressesChecked(1)
  }
  return {
    async startEngine() {
      callbacks.onTransactionsChanged(JSON.parse(store.get('history') ?? '[]') as EngineTransaction[])
    },
    async killEngine() {
      isQuiet = true
    },
    async changePaused(isPaused) {
      isQuiet = isPaused
    },
    async syncNetwork() {
      await look()
      return 1000
    },
    resyncBlockchain: look,
    getFreshAddress: async () => ({ publicAddress: address }),
    async addGapLimitAddresses() {},
    isAddressUsed: async () => ledger.entries.some(({ from, to }) => from === address || to === address),
    makeSpend: async spend => draftOf(ledger, address, spend),
    async signTx(tx) {
      const text = JSON.stringify(tx.otherParams)
      const bytes = Uint8Array.from(text, letter => letter.charCodeAt(0))
      return { ...tx, txid: io.crypto.toHex(io.crypto.sha256(bytes)), signedTx: text }
    },
    async broadcastTx(tx) {
      ledger.send(JSON.parse(tx.signedTx) as GemPayment, tx.txid)
      return tx
    },
    saveTx: look,
    async changeEnabledTokenIds(changed) {
      tokenIds = changed
    },
    getStakingStatus: async () => ({
      stakedAmounts: ledger.stakes
        .filter(stake => stake.address === address)
        .map(({ amount }) => ({ nativeAmount: nativeAmount(amount) }))
    }),
    getActivationAssets: async () => [{ pluginId: 'gems', tokenId: null }],
    activateWallet: async () => ({
      fromNativeAmount: nativeAmount('40'),
      networkFee: { tokenId: null, nativeAmount: nativeAmount(String(FEE)) },
      spends: [
        { tokenId: null, spendTargets: [{ publicAddress: address, nativeAmount: nativeAmount('40') }] }
      ]
    }),
    otherMethods: { height: async () => ledger.entries.length }
  }
}

const draftOf = (
  ledger: GemLedger,
  from: string,
  { tokenId, spendTargets }: SpendInfo
): EngineTransaction => {
  const [{ publicAddress = '', nativeAmount: amount = nativeAmount('0') } = {}] = spendTargets
  if (amount === '0') throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  const to = checkAddress(publicAddress)
  if (to === from) throw new WalletError('SPEND_TO_SELF', {})
  const cost = tokenId === null ? BigInt(amount) + FEE : BigInt(amount)
  const isPayable = cost <= ledger.balanceOf(from, tokenId) && FEE <= ledger.balanceOf(from, null)
  if (!isPayable) throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'GMC' })
  const nonce = ledger.entries.filter(entry => entry.from === from).length
  return {
    ...{ tokenId, txid: '', date: 0, blockHeight: 0, signedTx: '', ourReceiveAddresses: [] },
    nativeAmount: nativeAmount(String(-cost)),
    ...feesOf(tokenId, FEE),
    otherParams: { from, to, tokenId, amount, nonce }
  }
}

const feesOf = (
  tokenId: string | null,
  fee: bigint
): Pick<EngineTransaction, 'networkFee' | 'parentNetworkFee'> => {
  const amount = nativeAmount(String(fee))
  return tokenId === null
    ? { networkFee: amount }
    : { networkFee: nativeAmount('0'), parentNetworkFee: amount }
}

const transactionOf = (entry: GemEntry, own: string): EngineTransaction => {
  const { from, to, tokenId, amount, txid, height, date } = entry
  const isSend = from === own
  const paid = tokenId === null && isSend ? BigInt(amount) + FEE : BigInt(amount)
  return {
    ...{ tokenId, txid, date, blockHeight: height, signedTx: '', isSend },
    nativeAmount: nativeAmount(String(isSend ? -paid : paid)),
    ...feesOf(tokenId, isSend ? FEE : 0n),
    ourReceiveAddresses: to === own ? [own] : []
  }
}

const checkAddress = (text: string): string => {
  if (/^gem1[0-9a-f]{40}$/.test(text)) return text
  throw new WalletError('ADDRESS_INVALID', { rule: 'must be gem1 and 40 hex digits' })
}
