import type { BulkStore } from '../repo/store/bulk.ts'
import type { WalletId } from '../types/ids.ts'

/**
 * The wallets that had nothing to count when their payments were last counted, and that nobody has used on this device since:
 * budgets pass them over, so that a payment opens few wallets of many. Time alone adds nothing to count.
 *
 * The mark of a wallet is durably gone before the wallet is used or pays.
 */
export class QuietWallets {
  readonly #store: BulkStore
  readonly #report: (error: unknown) => void
  /** The wallets that this process uses; they get no mark. */
  readonly #used = new Set<WalletId>()

  /** @param store - of the account, on this device only */
  constructor(store: BulkStore, report: (error: unknown) => void) {
    this.#store = store
    this.#report = report
  }

  /** Returns true if a wallet has nothing to count. */
  has(walletId: WalletId): boolean {
    return !this.#used.has(walletId) && this.#isMarked(walletId)
  }

  /** Marks wallets whose count was empty, unless they are used by now. A mark that cannot be written is only missed. */
  async mark(walletIds: readonly WalletId[]): Promise<void> {
    const quiet = walletIds.filter(walletId => !this.#used.has(walletId))
    if (quiet.length === 0) return
    await this.#store.write(new Map(quiet.map(walletId => [walletId, '1']))).catch(this.#report)
  }

  /**
   * Takes the mark from a wallet before it is used; undefined if it has none, as most. A failure is reported: until the process ends
   * the wallet is counted all the same.
   */
  wake(walletId: WalletId): Promise<void> | undefined {
    this.#used.add(walletId)
    return this.#isMarked(walletId) ? this.unmark(walletId).catch(this.#report) : undefined
  }

  /** Makes sure that a wallet that pays has no mark. @throws STORAGE_FULL, STORAGE_FAILED */
  async unmark(walletId: WalletId): Promise<void> {
    this.#used.add(walletId)
    if (this.#isMarked(walletId)) await this.#store.write(new Map([[walletId, null]]))
  }

  /** A mark that is on its way to the disk counts: it is written before what comes next. */
  #isMarked(walletId: WalletId): boolean {
    return this.#store.get(walletId) !== undefined
  }
}
