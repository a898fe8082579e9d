import type { Scheduler } from '../../base/scheduler.ts'

const PERIOD_MS = 5000

/** Which txids an event names. */
export interface TxidChanges {
  readonly created: readonly string[]
  readonly changed: readonly string[]
}

/**
 * Lets one event of new and changed transactions through per 5 seconds and gathers the rest.
 *
 * The first passes at once; what comes within the period is delivered together when it ends (specification §9).
 */
export class TransactionThrottle {
  readonly #scheduler: Scheduler
  readonly #key: string
  readonly #deliver: (changes: TxidChanges) => void
  #created = new Set<string>()
  #changed = new Set<string>()
  #isWaiting = false

  constructor(scheduler: Scheduler, walletId: string, deliver: (changes: TxidChanges) => void) {
    this.#scheduler = scheduler
    this.#key = `transactions ${walletId}`
    this.#deliver = deliver
  }

  /** Takes txids in; a txid that is both new and changed is told as new. */
  add({ created, changed }: TxidChanges): void {
    for (const txid of created) this.#created.add(txid)
    for (const txid of changed) if (!this.#created.has(txid)) this.#changed.add(txid)
    if (!this.#isWaiting) this.#flush()
  }

  #flush(): void {
    this.#isWaiting = false
    if (this.#created.size + this.#changed.size === 0) return
    const changes = { created: [...this.#created], changed: [...this.#changed] }
    this.#created = new Set()
    this.#changed = new Set()
    this.#isWaiting = true
    this.#scheduler.schedule(this.#key, PERIOD_MS, () => this.#flush())
    this.#deliver(changes)
  }
}
