import { compact } from '../base/compact.ts'
import { isWalletError } from '../base/errors.ts'
import type { AccountRules, PaymentReservation } from '../keys/key-gate.ts'
import type { BulkStore } from '../repo/store/bulk.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { KeptCoins } from '../types/engine.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import type { CountedPayment, DamagedEntry, LostPayment } from '../types/policy.ts'
import { countPayments } from '../wallet/spend/counted-payments.ts'
import type { SpendIntent } from '../wallet/spend/journal.ts'
import type { OpenedWallet } from '../wallet/wallet.ts'
import { damageText, JournalDamage } from './journal-damage.ts'
import type { QuietWallets } from './quiet-wallets.ts'
import type { AccountSettings } from './settings.ts'
import type { WalletList } from './wallet-list.ts'

/** The parts of an account that the count of its payments needs. */
export interface AccountPaymentsOptions {
  readonly book: Pick<WalletList, 'list'>
  readonly settings: Pick<AccountSettings, 'currencyConfig'>
  readonly quiet: QuietWallets
  /** Of the account, on this device only. */
  readonly store: BulkStore
  /** The time of the account. */
  now(): number
}

/** What an account has paid or may still pay, of all its wallets, for its rules. */
export class AccountPayments {
  readonly #options: AccountPaymentsOptions
  readonly #damage: JournalDamage
  #open: ((walletId: WalletId) => Promise<OpenedWallet>) | undefined

  constructor(options: AccountPaymentsOptions) {
    const { store, now } = options
    this.#options = options
    this.#damage = new JournalDamage(store, now)
  }

  /** Tells how wallets are opened to be counted; called once, before the first payment. */
  countWith(open: (walletId: WalletId) => Promise<OpenedWallet>): void {
    this.#open = open
  }

  /**
   * Counts the payments of every wallet of a known currency, deleted ones included. One that only watches pays nothing: its
   * history has what another wallet paid, perhaps one of this account, whose payments would count twice.
   *
   * @param trial - a payment that is judged without being reserved
   * @returns undefined while a wallet lacks rows that it had, as after a resync
   * @throws what keeps a wallet from being read
   */
  async count(trial: PaymentReservation | undefined): Promise<readonly CountedPayment[] | undefined> {
    const { settings, quiet, now } = this.#options
    const at = now()
    const counted: CountedPayment[] = []
    const empty: WalletId[] = []
    for (const { walletId, info } of this.#wallets(trial?.walletId)) {
      const { runtime, wallet } = await this.#opened(walletId)
      const { journal, history, tokens } = runtime
      if (await history.isPartial()) return undefined
      const { enabledTokenIds, detectedTokenIds } = wallet.getSnapshot()
      // A token that was disabled has been paid with all the same.
      const all = Object.keys(settings.currencyConfig(info.pluginId).getSnapshot().allTokens)
      const tokenIds = [
        ...new Set([...tokens.enabledTokenIds, ...enabledTokenIds, ...detectedTokenIds, ...all])
      ]
      const own = trial?.walletId === walletId ? trialOf(trial, at) : undefined
      const options = { since: at - COUNTED_MS, trial: own }
      const payments = await countPayments({ walletId, info, journal, history, tokenIds }, options)
      counted.push(...payments)
      if (payments.length === 0) empty.push(walletId)
    }
    await quiet.mark(empty)
    return counted
  }

  /** As {@link AccountRules.keptCoins}: of every wallet, deleted ones and those that only watch included. */
  async keptCoins(pluginId: PluginId, outpoints: readonly string[]): Promise<KeptCoins> {
    const { book, quiet } = this.#options
    const frozen = new Set<string>()
    const reserved = new Set<string>()
    for (const { walletId, isWallet, currencyInfo } of outpoints.length === 0 ? [] : book.list()) {
      if (!isWallet || currencyInfo?.pluginId !== pluginId) continue
      // What it finds in its repo from now on counts.
      await quiet.wake(walletId)
      const kept = await (await this.#opened(walletId)).runtime.keptCoins(outpoints)
      for (const coin of kept.frozen) frozen.add(coin)
      for (const coin of kept.reserved) reserved.add(coin)
    }
    return { frozen: [...frozen], reserved: [...reserved] }
  }

  /** Lists the entries of journals that cannot be read. @throws STORAGE_FULL, STORAGE_FAILED */
  async damaged(): Promise<readonly DamagedEntry[]> {
    return this.#damage.find(await this.#journals())
  }

  /** Sets entries of journals aside that cannot be read. @throws OPTION_INVALID for others; STORAGE_FULL, STORAGE_FAILED */
  async setAside(entries: readonly DamagedEntry[]): Promise<void> {
    await this.#damage.setAside(entries, await this.#journals())
  }

  /** The payments that were set aside. @throws CORRUPT_FILE */
  lost(): readonly LostPayment[] {
    return this.#damage.lost()
  }

  /** Says which entry of a journal has made {@link count} throw, as a clause; undefined if none has. */
  async damageText(error: unknown): Promise<string | undefined> {
    if (!isWalletError(error, 'CORRUPT_FILE')) return undefined
    const damage = await this.damaged().catch(() => [])
    const [first] = damage
    if (first === undefined) return undefined
    return damageText(damage, (await this.#opened(first.walletId)).wallet.name ?? undefined)
  }

  /** Those that may have something to count. */
  #wallets(paying?: WalletId): readonly { readonly walletId: WalletId; readonly info: CurrencyInfo }[] {
    const { book, quiet } = this.#options
    return book
      .list()
      .flatMap(({ walletId, isWallet, isWatchOnly, currencyInfo: info }) =>
        !isWallet || isWatchOnly || info === undefined || (walletId !== paying && quiet.has(walletId))
          ? []
          : { walletId, info }
      )
  }

  async #opened(walletId: WalletId): Promise<OpenedWallet> {
    if (this.#open === undefined) throw new TypeError('Payments are counted before wallets can be opened')
    return this.#open(walletId)
  }

  async #journals() {
    const journals = []
    for (const { walletId, info } of this.#wallets()) {
      const { journal } = (await this.#opened(walletId)).runtime
      journals.push({ walletId, pluginId: info.pluginId, journal })
    }
    return journals
  }
}

/** A day more than the longest window. */
const COUNTED_MS = 8 * 24 * 60 * 60_000

const trialOf = ({ correlationId, tx, requestedBy }: PaymentReservation, now: number): SpendIntent => ({
  ...{ correlationId, stage: 'intended', at: now, countedAt: now, tx },
  ...compact({ requestedBy })
})
