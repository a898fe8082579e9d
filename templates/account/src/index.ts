// A currency of accounts: an address has a balance, and payments are numbered. Its network is a server with three routes, which
// test/ledger.js imitates; put that of your chain in their place.
import { ed25519 } from '@noble/curves/ed25519.js'
import {
  type CurrencyEngine,
  type CurrencyPlugin,
  type CurrencyTools,
  type EngineRequest,
  type EngineTransaction,
  fromDenomination,
  HttpClient,
  type Io,
  nativeAmount,
  negate,
  Reply,
  type SpendInfo,
  toDenomination,
  WalletError
} from 'holdfast/plugin'

/** The server. A plugin reaches the servers in its `hosts` and no other; they are shown before it is added. */
const SERVER = 'http://127.0.0.1:8177'
/** Native units in one. */
const MULTIPLIER = '1000'
/** Native units that every payment costs. */
const FEE = 1n

/** A currency plugin: it makes keys and addresses, follows the chain, and drafts, signs and sends payments. */
export const plugin: CurrencyPlugin = {
  kind: 'currency',
  id: 'my-plugin',
  hosts: [SERVER],
  info: {
    // The id and the wallet type stay the same for ever: wallets are kept under them.
    pluginId: 'my-plugin',
    displayName: 'My Plugin',
    walletType: 'wallet:my-plugin',
    currencyCode: 'MYP',
    denominations: [{ name: 'MYP', multiplier: MULTIPLIER }],
    // Payments carry no memo; the wallet refuses one before it comes here.
    maxMemos: 0
  },
  apply({ hooks, io }) {
    const chain = new Chain(io)
    hooks.makeTools.tapPromise('my-plugin', async () => makeTools(io))
    // One engine for each open wallet. All of them share the client and its back-off.
    hooks.makeEngine.tapPromise('my-plugin', async request => makeEngine(io, chain, request))
  }
}

/** A payment as the chain reads it. Amounts are decimal text in native units. */
interface Payment {
  readonly from: string
  readonly to: string
  readonly amount: string
  /** How many payments the sender has made before, so that none is made twice. */
  readonly nonce: number
}

/** What the chain knows of an address. */
interface AccountState {
  readonly height: number
  readonly balance: string
  readonly nonce: number
  readonly transactions: readonly EngineTransaction[]
}

/** The server of the chain. */
class Chain {
  readonly #client: HttpClient

  constructor(io: Io) {
    // Sends requests, gives up in time, and leaves a server alone that answers 429. Never use the global fetch.
    this.#client = new HttpClient(io, { name: 'My Plugin', origins: [SERVER], deadlineMs: 20_000 })
  }

  async read(address: string): Promise<AccountState> {
    const { isOk, status, text } = await this.#client.request({ path: `/accounts/${address}` })
    if (!isOk) throw new WalletError('SERVER', { message: `My Plugin answered ${status}` })
    // Reads JSON of others: a field that is missing or wrong throws BAD_REPLY with its name.
    const reply = Reply.exact(text, 'reply of My Plugin')
    return {
      height: Number(reply.field('height').integer()),
      balance: String(reply.field('balance').integer()),
      nonce: Number(reply.field('nonce').integer()),
      transactions: reply
        .field('payments')
        .list()
        .map(entry => transactionOf(entry, address))
    }
  }

  /** Sends signed bytes; the same ones twice are one payment. */
  async send({ txid, signedTx }: EngineTransaction): Promise<void> {
    const { isOk, text } = await this.#client.request({ path: '/payments', body: signedTx })
    if (isOk) return
    const reason = Reply.of(text, 'reply of My Plugin').field('reason').text()
    throw new WalletError('BROADCAST_REFUSED', { txid, reason })
  }
}

/** Tools work without a wallet and without a network. */
const makeTools = (io: Io): CurrencyTools => ({
  createPrivateKey: async () => ({ secret: io.crypto.toHex(io.random(32)) }),
  // What the engine gets and the device stores: nothing in it can spend.
  derivePublicKey: async ({ keys }) => {
    const publicKey = ed25519.getPublicKey(io.crypto.fromHex(String(keys.secret)))
    return { address: withChecksum(io, io.crypto.toHex(publicKey)) }
  },
  // my-plugin:ADDRESS?amount=1.5&label=Rent, or an address alone.
  async parseUri(uri) {
    const [address = '', query = ''] = uri.replace(/^my-plugin:/, '').split('?')
    const fields = new Map(
      query.split('&').map(pair => pair.split('=').map(decodeURIComponent) as [string, string])
    )
    const [amount, label] = [fields.get('amount'), fields.get('label')]
    return {
      publicAddress: checkAddress(io, address),
      ...(amount === undefined ? {} : { nativeAmount: fromDenomination(amount, MULTIPLIER) }),
      ...(label === undefined ? {} : { label })
    }
  },
  async encodeUri({ publicAddress, nativeAmount: amount, label }) {
    const query = [
      ...(amount === undefined ? [] : [`amount=${toDenomination(amount, MULTIPLIER)}`]),
      ...(label === undefined ? [] : [`label=${encodeURIComponent(label)}`])
    ]
    return `my-plugin:${[publicAddress, ...(query.length === 0 ? [] : [query.join('&')])].join('?')}`
  }
})

/** An engine follows the chain for one wallet. It never sees private keys, except while it signs. */
const makeEngine = (
  io: Io,
  chain: Chain,
  { walletInfo, callbacks, store }: EngineRequest
): CurrencyEngine => {
  const address = String(walletInfo.keys.address)
  let isAlive = true

  const report = ({ height, transactions, balance }: AccountState): void => {
    callbacks.onBlockHeightChanged(height)
    callbacks.onTransactionsChanged(transactions)
    callbacks.onTokenBalanceChanged(null, balance)
  }

  const look = async (): Promise<void> => {
    const state = await chain.read(address)
    // An encrypted map of this wallet on this device.
    await store.write(new Map([['state', JSON.stringify(state)]]))
    // After killEngine an engine reports nothing.
    if (!isAlive) return
    report(state)
    callbacks.onAddressesChecked(1)
  }

  return {
    // What was known last time, before the network answers, or without one.
    async startEngine() {
      const known = store.get('state')
      if (known !== undefined) report(JSON.parse(known) as AccountState)
    },
    async killEngine() {
      isAlive = false
    },
    async syncNetwork() {
      await look()
      return 5000 // Milliseconds until the wallet calls it again.
    },
    resyncBlockchain: look,
    getFreshAddress: async () => ({ publicAddress: address }),
    async addGapLimitAddresses() {},
    isAddressUsed: async () => (await chain.read(address)).transactions.length > 0,
    // A payment goes through these four, and the wallet keeps a journal in between.
    makeSpend: async spend => draftOf(io, address, await chain.read(address), spend),
    async signTx(tx, { secret }) {
      const payment = tx.otherParams as unknown as Payment
      const bytes = Uint8Array.from(textOf(payment), letter => letter.charCodeAt(0))
      const signature = io.crypto.toHex(ed25519.sign(bytes, io.crypto.fromHex(String(secret))))
      const txid = io.crypto.toHex(io.crypto.sha256(bytes))
      return { ...tx, txid, signedTx: JSON.stringify({ payment, signature }) }
    },
    async broadcastTx(tx) {
      await chain.send(tx)
      return tx
    },
    saveTx: look
  }
}

/** Drafts a payment, and signs nothing. Its amount, fee and payee are what the user approves. */
const draftOf = (
  io: Io,
  from: string,
  state: AccountState,
  { spendTargets }: SpendInfo
): EngineTransaction => {
  const [{ publicAddress = '', nativeAmount: amount = nativeAmount('0') } = {}, ...others] = spendTargets
  if (others.length > 0) throw new WalletError('NOT_SUPPORTED', { what: 'Paying several at once' })
  if (amount === '0') throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  const to = checkAddress(io, publicAddress)
  if (to === from) throw new WalletError('SPEND_TO_SELF', {})
  const total = BigInt(amount) + FEE
  if (total > BigInt(state.balance)) throw new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'MYP' })
  const payment: Payment = { from, to, amount, nonce: state.nonce }
  return {
    ...{ tokenId: null, txid: '', date: 0, blockHeight: 0, ourReceiveAddresses: [], signedTx: '' },
    nativeAmount: negate(nativeAmount(String(total))),
    networkFee: nativeAmount(String(FEE)),
    // Two payments with one number cannot both be made: the wallet keeps them apart by this.
    spentCoins: [`${from}:${state.nonce}`],
    // What signTx needs, as JSON without keys.
    otherParams: { ...payment }
  }
}

const transactionOf = (entry: Reply, own: string): EngineTransaction => {
  const [from, to] = [entry.field('from').optionalText(), entry.field('to').text()]
  const amount = entry.field('amount').integer()
  const isSend = from === own
  return {
    tokenId: null,
    txid: entry.field('txid').text(),
    date: Number(entry.field('date').integer()), // Unix seconds.
    blockHeight: Number(entry.field('height').integer()), // 0 while it waits.
    nativeAmount: nativeAmount(String(isSend ? -(amount + FEE) : amount)),
    networkFee: nativeAmount(isSend ? String(FEE) : '0'),
    ourReceiveAddresses: to === own ? [own] : [],
    signedTx: '',
    isSend
  }
}

/** The bytes that are signed. */
const textOf = ({ from, to, amount, nonce }: Payment): string => JSON.stringify([from, to, amount, nonce])

/** An address is a public key with 4 bytes of its hash, so that a typing error is no address. */
const withChecksum = ({ crypto }: Io, key: string): string =>
  `${key}${crypto.toHex(crypto.sha256(crypto.fromHex(key))).slice(0, 8)}`

const checkAddress = (io: Io, text: string): string => {
  if (/^[0-9a-f]{72}$/.test(text) && withChecksum(io, text.slice(0, 64)) === text) return text
  throw new WalletError('ADDRESS_INVALID', { rule: 'must be 72 hex digits with a checksum' })
}
