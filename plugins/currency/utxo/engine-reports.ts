import type {
  BalanceDetails,
  ConnectionLoss,
  EngineCallbacks,
  EngineTransaction
} from '../../../kernel/plugin-api.ts'

/** Reports each fact of a wallet once, and nothing any more once it is ended. */
export class EngineReports {
  readonly #callbacks: EngineCallbacks
  #isEnded = false
  #height = 0
  #time: number | undefined
  #balance: string | undefined
  #details: string | undefined
  #address: string | undefined
  #ratio = -1
  #status = ''
  #checkpoint: string | undefined

  /** @param checkpoint - the one that was reported to an earlier engine */
  constructor(callbacks: EngineCallbacks, checkpoint: string | undefined) {
    this.#callbacks = callbacks
    this.#checkpoint = checkpoint
  }

  end(): void {
    this.#isEnded = true
  }

  /** '' for a wallet of which all works. */
  status(text: string): void {
    if (this.#isEnded || text === this.#status) return
    this.#status = text
    this.#callbacks.onStatus(text)
  }

  /** Undefined: there is a server again. */
  connection(lost: ConnectionLoss | undefined): void {
    if (!this.#isEnded) this.#callbacks.onConnectionChanged(lost)
  }

  /** `time`: of the newest block, in Unix seconds, once a server has shown it. */
  height(height: number, time: number | undefined): void {
    if (this.#isEnded || (height === this.#height && time === this.#time)) return
    this.#height = height
    this.#time = time
    this.#callbacks.onBlockHeightChanged(height, time)
  }

  /** Grows only; a wallet that was complete stays so until it is read anew. */
  ratio(ratio: number): void {
    if (this.#isEnded || ratio <= this.#ratio) return
    this.#ratio = ratio
    this.#callbacks.onAddressesChecked(ratio)
  }

  /** The wallet is read anew. */
  beginAgain(): void {
    this.#ratio = -1
    this.ratio(0)
  }

  balance(balance: string, detailsOf: () => BalanceDetails): void {
    if (this.#isEnded) return
    if (balance !== this.#balance) {
      this.#balance = balance
      this.#callbacks.onTokenBalanceChanged(null, balance)
    }
    const details = detailsOf()
    const text = JSON.stringify(details)
    // The kernel may have ended the engine when it received the balance.
    if (this.#isEnded || text === this.#details) return
    this.#details = text
    this.#callbacks.onBalanceDetailsChanged(null, details)
  }

  /** The first call only remembers; the kernel asks for the address itself. */
  address(scripthash: string | undefined): void {
    if (this.#isEnded) return
    const before = this.#address
    this.#address = scripthash
    if (before !== undefined && before !== scripthash) this.#callbacks.onAddressChanged()
  }

  transactions(transactions: readonly EngineTransaction[]): void {
    if (!this.#isEnded && transactions.length > 0) this.#callbacks.onTransactionsChanged(transactions)
  }

  /** Everything up to here has been reported. */
  checkpoint(checkpoint: string): void {
    if (this.#isEnded || checkpoint === this.#checkpoint) return
    this.#checkpoint = checkpoint
    this.#callbacks.onSeenTxCheckpoint(checkpoint)
  }
}
