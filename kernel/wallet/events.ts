import type { Scheduler } from '../base/scheduler.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Clock } from '../io/io.ts'
import type { WalletId } from '../types/ids.ts'
import type { TxidChanges } from './history/changes.ts'

const DELAY_MS = 20

/**
 * Gathers events of many wallets and delivers the newest of each key, in slices of at most 8 ms.
 *
 * An event waits at least 20 ms, so that a burst becomes one, and is never held back beyond the work before it.
 *
 * @see architecture decision 28; `docs/adr/0012`
 */
export class EventQueue {
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #queued = new Map<string, () => void>()
  #cancelTimer: (() => void) | undefined
  #isFlushing = false
  #isClosed = false

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
  }

  /** Delivers later; an earlier event under the same key is replaced in its place. */
  push(key: string, deliver: () => void): void {
    if (this.#isClosed) return
    this.#queued.set(key, deliver)
    if (this.#cancelTimer === undefined && !this.#isFlushing) this.#wait()
  }

  /** Drops what is waiting, for good. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#queued.clear()
  }

  #wait(): void {
    this.#cancelTimer = this.#clock.after(DELAY_MS, () => {
      this.#cancelTimer = undefined
      void this.#flush()
    })
  }

  /** Delivers the queue; events that a delivery causes wait for the next time. */
  async #flush(): Promise<void> {
    this.#isFlushing = true
    const yieldNow = makeYielder(this.#clock)
    for (const key of [...this.#queued.keys()]) {
      this.#deliver(key)
      await yieldNow()
    }
    this.#isFlushing = false
    if (this.#queued.size > 0) this.#wait()
  }

  #deliver(key: string): void {
    const deliver = this.#queued.get(key)
    this.#queued.delete(key)
    try {
      deliver?.()
    } catch (error) {
      this.#onError(error)
    }
  }
}

const PERIOD_MS = 5000

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

  constructor(scheduler: Scheduler, walletId: WalletId, deliver: (changes: TxidChanges) => void) {
    this.#scheduler = scheduler
    this.#key = `transactions ${walletId}`
    this.#deliver = deliver
  }

  /** Adds txids; one that is both new and changed is emitted as new. */
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
