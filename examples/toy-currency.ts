import type {
  CurrencyEngine,
  CurrencyPlugin,
  CurrencyTools,
  EngineRequest,
  EngineTransaction,
  Io,
  ParsedUri,
  SpendInfo,
  UriRequest
} from 'holdfast/plugin'
import { compact, nativeAmount, negate, WalletError } from 'holdfast/plugin'
import { addressOf, type Entry, FEE, type Payment, signPayment, type ToyLedger } from './toy-ledger.ts'

/** A currency plugin for the toy ledger. */
export const toyCurrency = (ledger: ToyLedger): CurrencyPlugin => ({
  kind: 'currency',
  id: 'tollar',
  info: {
    pluginId: 'tollar',
    displayName: 'Tollar',
    walletType: 'wallet:tollar',
    currencyCode: 'TOL',
    denominations: [{ name: 'TOL', multiplier: '1000' }]
  },
  apply({ hooks, io }) {
    hooks.makeTools.tapPromise('tollar', async () => makeTools(io))
    hooks.makeEngine.tapPromise('tollar', async request => makeEngine(ledger, request))
  }
})

const makeTools = (io: Io): CurrencyTools => ({
  createPrivateKey: async () => ({ tollarKey: io.crypto.toHex(io.random(32)) }),
  derivePublicKey: async ({ keys }) => ({ address: addressOf(String(keys.tollarKey)) }),
  parseUri: async uri => readLink(uri),
  encodeUri: async request => linkOf(request)
})

const makeEngine = (ledger: ToyLedger, { walletInfo, callbacks, store }: EngineRequest): CurrencyEngine => {
  const address = String(walletInfo.keys.address)
  let isAlive = true

  const look = async (): Promise<void> => {
    const transactions = ledger.historyOf(address).map(entry => transactionOf(entry, address))
    await store.write(new Map([['history', JSON.stringify(transactions)]]))
    if (!isAlive) return
    callbacks.onBlockHeightChanged(ledger.height)
    callbacks.onTransactionsChanged(transactions)
    callbacks.onTokenBalanceChanged(null, String(ledger.balanceOf(address)))
    callbacks.onAddressesChecked(1)
  }

  return {
    // What was known last time, before the network answers, or without one.
    async startEngine() {
      callbacks.onTransactionsChanged(JSON.parse(store.get('history') ?? '[]') as EngineTransaction[])
    },
    async killEngine() {
      isAlive = false
    },
    async syncNetwork() {
      await look()
      return 1000 // Milliseconds until the next look.
    },
    resyncBlockchain: look,
    getFreshAddress: async () => ({ publicAddress: address }),
    async addGapLimitAddresses() {},
    isAddressUsed: async () => ledger.historyOf(address).length > 0,
    makeSpend: async spend => draftOf(ledger, address, spend),
    async signTx(tx, { tollarKey }) {
      const payment = tx.otherParams as unknown as Payment
      return { ...tx, ...signPayment(payment, String(tollarKey)) }
    },
    async broadcastTx(tx) {
      const reason = ledger.send(tx.signedTx)
      if (reason !== undefined) throw new WalletError('BROADCAST_REFUSED', { txid: tx.txid, reason })
      return tx
    },
    saveTx: look
  }
}

const draftOf = (ledger: ToyLedger, from: string, { spendTargets }: SpendInfo): EngineTransaction => {
  const [{ publicAddress = '', nativeAmount: amount = nativeAmount('0') } = {}, ...others] = spendTargets
  if (others.length > 0) throw new WalletError('NOT_SUPPORTED', { what: 'Paying several at once' })
  if (amount === '0') throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  const to = checkAddress(publicAddress)
  if (to === from) throw new WalletError('SPEND_TO_SELF', {})
  const total = BigInt(amount) + FEE
  if (total > ledger.balanceOf(from)) throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'TOL' })
  const payment: Payment = { from, to, amount, nonce: ledger.nonceOf(from) }
  return {
    tokenId: null,
    txid: '',
    date: 0,
    blockHeight: 0,
    nativeAmount: negate(nativeAmount(String(total))),
    networkFee: nativeAmount(String(FEE)),
    ourReceiveAddresses: [],
    signedTx: '',
    otherParams: { ...payment }
  }
}

const transactionOf = ({ from, to, amount, txid, height, date }: Entry, own: string): EngineTransaction => {
  const isSend = from === own
  const paid = isSend ? -(BigInt(amount) + FEE) : BigInt(amount)
  return {
    tokenId: null,
    txid,
    date,
    blockHeight: height,
    nativeAmount: nativeAmount(String(paid)),
    networkFee: nativeAmount(isSend ? String(FEE) : '0'),
    ourReceiveAddresses: to === own ? [own] : [],
    signedTx: '',
    isSend
  }
}

// As BIP-21 has it: tollar:ADDRESS?amount=1500&label=Rent
const linkOf = ({ publicAddress, nativeAmount: amount, label }: UriRequest): string => {
  const fields = Object.entries({ amount, label }).filter(([, value]) => value !== undefined)
  const query = fields.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')
  return `tollar:${publicAddress}${query === '' ? '' : `?${query}`}`
}

const readLink = (uri: string): ParsedUri => {
  const [address = '', query = ''] = uri.replace(/^tollar:/, '').split('?')
  const fields = new Map(query.split('&').map(field => field.split('=') as [string, string]))
  const [amount, label] = [fields.get('amount'), fields.get('label')]
  return {
    publicAddress: checkAddress(address),
    ...compact({
      nativeAmount: amount === undefined ? undefined : nativeAmount(amount),
      label: label === undefined ? undefined : decodeURIComponent(label)
    })
  }
}

const checkAddress = (text: string): string => {
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new WalletError('ADDRESS_INVALID', { rule: 'must be 64 hex digits' })
  return text
}
