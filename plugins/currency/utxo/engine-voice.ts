import type {
  BalanceDetails,
  ConnectionLoss,
  CryptoPort,
  EngineCallbacks,
  EngineRequest,
  EngineTransaction,
  NativeAmount
} from '../../../kernel/plugin-api.ts'
import { addressOf } from './address/address.ts'
import type { LedgerTx } from './ledger/ledger-tx.ts'
import type { NetworkRow } from './params/coin-row.ts'
import type { WalletState } from './scan/wallet-state.ts'

/** Tells the kernel what changed, each fact once, and nothing any more once silenced. */
export class EngineVoice {
  readonly #callbacks: EngineCallbacks
  readonly #network: NetworkRow
  readonly #crypto: CryptoPort
  #isSilent = false
  #balance: string | undefined
  #details: string | undefined
  #address: string | undefined
  #height = 0
  #ratio = -1
  #status = ''
  #checkpoint: string | undefined

  constructor(
    { callbacks, seenTxCheckpoint }: Pick<EngineRequest, 'callbacks' | 'seenTxCheckpoint'>,
    network: NetworkRow,
    crypto: CryptoPort
  ) {
    this.#callbacks = callbacks
    this.#checkpoint = seenTxCheckpoint
    this.#network = network
    this.#crypto = crypto
  }

  silence(): void {
    this.#isSilent = true
  }

  /** Empty: what was said before holds no longer. */
  tellStatus(text: string): void {
    if (this.#isSilent || (text === '' && this.#status === '')) return
    this.#status = text
    this.#callbacks.onStatus(text)
  }

  tellConnection(lost: ConnectionLoss | undefined): void {
    if (!this.#isSilent) this.#callbacks.onConnectionChanged(lost)
  }

  tellHeight(height: number): void {
    if (this.#isSilent || height === this.#height) return
    this.#height = height
    this.#callbacks.onBlockHeightChanged(height)
  }

  /** Grows only; a wallet that was complete stays so until `restart`. */
  tellRatio(ratio: number): void {
    if (this.#isSilent || ratio <= this.#ratio) return
    this.#ratio = ratio
    this.#callbacks.onAddressesChecked(ratio)
  }

  /** The wallet is being read anew. */
  restart(): void {
    this.#ratio = -1
    this.tellRatio(0)
  }

  tellBalance({ ledger }: WalletState): void {
    if (this.#isSilent) return
    const balance = String(ledger.balance())
    if (balance === this.#balance) return
    this.#balance = balance
    this.#callbacks.onTokenBalanceChanged(null, balance)
  }

  tellDetails(details: BalanceDetails): void {
    const text = JSON.stringify(details)
    if (this.#isSilent || text === this.#details) return
    this.#details = text
    this.#callbacks.onBalanceDetailsChanged(null, details)
  }

  /** The first call only remembers; the kernel asks for the address itself. */
  tellAddress({ table }: WalletState): void {
    if (this.#isSilent) return
    const record = table.firstUnused(table.mainBranch(0))
    const before = this.#address
    this.#address = record?.scripthash
    if (before !== undefined && before !== this.#address) this.#callbacks.onAddressChanged()
  }

  tellTransactions(state: WalletState, changed: readonly LedgerTx[]): void {
    if (this.#isSilent) return
    const reports = changed.flatMap(tx => this.#reportOf(state, tx) ?? [])
    if (reports.length > 0) this.#callbacks.onTransactionsChanged(reports)
  }

  /** Everything up to here has been told. */
  tellCheckpoint(checkpoint: string): void {
    if (this.#isSilent || checkpoint === this.#checkpoint) return
    this.#checkpoint = checkpoint
    this.#callbacks.onSeenTxCheckpoint(checkpoint)
  }

  #reportOf({ ledger, saved }: WalletState, tx: LedgerTx): EngineTransaction | undefined {
    const { net, fee, isSend } = ledger.effectOf(tx)
    if (tx.ours.length === 0 && !isSend) return undefined
    // What we sent can be sent again, so its bytes go along.
    const bytes = isSend ? saved.txBytes(tx.txid) : undefined
    return {
      tokenId: null,
      txid: tx.txid,
      date: tx.date,
      blockHeight: tx.height,
      nativeAmount: String(net) as NativeAmount,
      networkFee: String(fee) as NativeAmount,
      ourReceiveAddresses: tx.ours.map(({ record }) => addressOf(this.#network, record.program)),
      memos: tx.memos,
      signedTx: bytes === undefined ? '' : this.#crypto.toHex(bytes),
      isSend
    }
  }
}
