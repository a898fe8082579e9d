import { withDeadline } from '../base/deadline.ts'
import { WalletError } from '../base/errors.ts'
import { allSettledOrThrow } from '../base/mutex.ts'
import type { Services } from '../plugins/services.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import type { RatePair } from '../types/rates.ts'
import type { OpenedWallet } from '../wallet/open-wallet.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'
import type { NewWalletSettings } from './new-wallet-files.ts'

/** The result for one of many wallets; an error concerns that wallet alone. */
export type WalletResult =
  | { readonly ok: true; readonly walletId: string; readonly wallet: CurrencyWallet }
  | { readonly ok: false; readonly walletId?: string; readonly error: unknown }

/** The parts of the account that opening wallets needs. */
export interface OpenWalletsParts {
  readonly services: Services
  /** @throws WALLET_ID_UNKNOWN */
  find(walletId: string): SecretWalletInfo
  open(info: SecretWalletInfo, options: OpenWalletOptions): Promise<OpenedWallet>
}

/** The options of opening a wallet. */
export interface OpenWalletOptions {
  /** Of a wallet whose keys were made here and now: there is nothing to fetch first. */
  readonly settings?: NewWalletSettings
  /** It begins paused, so that no engine is made for it. */
  readonly isPaused?: boolean
}

interface Holding {
  readonly opening: Promise<OpenedWallet>
  /** Undefined until it is open. */
  opened: OpenedWallet | undefined
}

/** The open wallets of an account. A wallet opens when it is first asked for, and stays open until the account closes. */
export class OpenWallets {
  readonly #parts: OpenWalletsParts
  readonly #held = new Map<string, Holding>()
  #isClosed = false

  constructor(parts: OpenWalletsParts) {
    this.#parts = parts
  }

  /** Those that are open by now. */
  get open(): readonly CurrencyWallet[] {
    return [...this.#held.values()].flatMap(({ opened }) => opened?.wallet ?? [])
  }

  /** The pairs that tell what the balances of all open wallets are worth; many wallets may name the same. */
  *ratePairs(): Generator<RatePair> {
    for (const { opened } of this.#held.values()) if (opened !== undefined) yield* opened.ratePairs()
  }

  /** Those of a currency that are open by now. */
  openOf(pluginId: string): readonly CurrencyWallet[] {
    return this.open.filter(({ currencyInfo }) => currencyInfo.pluginId === pluginId)
  }

  /**
   * Opens a wallet, or gives the one that is open, as it is.
   *
   * @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, KEY_INTEGRITY, STORAGE_FAILED, SYNC_FAILED, LOGGED_OUT
   */
  async get(walletId: string, options?: OpenWalletOptions): Promise<CurrencyWallet> {
    const { wallet } = await this.getOpened(walletId, options)
    return wallet
  }

  /** A wallet that is open by now. @throws WALLET_NOT_LOADED, WALLET_ID_UNKNOWN, LOGGED_OUT */
  loaded(walletId: string): CurrencyWallet {
    this.#check()
    const { opened } = this.#held.get(walletId) ?? {}
    if (opened !== undefined) return opened.wallet
    this.#parts.find(walletId)
    throw new WalletError('WALLET_NOT_LOADED', {})
  }

  /** As {@link get}, with what the account itself needs of the wallet. */
  async getOpened(walletId: string, options: OpenWalletOptions = {}): Promise<OpenedWallet> {
    this.#check()
    const { opening } = this.#held.get(walletId) ?? this.#begin(walletId, options)
    const opened = await opening
    this.#check()
    return opened
  }

  /**
   * Opens many wallets, a few at a time and with pauses for everybody else; one result each, in order. One that fails
   * or hangs holds up no other.
   */
  async forEach<Item extends { readonly walletId: string }>(
    items: readonly Item[],
    open: (item: Item) => Promise<CurrencyWallet>
  ): Promise<WalletResult[]> {
    const { clock } = this.#parts.services.io
    const results: Promise<WalletResult>[] = []
    const waiting = [...items.entries()].reverse()
    const workOff = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [at, item] = next
        const task = { clock, milliseconds: RESULT_MS, what: 'Opening a wallet' }
        const result = resultOf(
          item.walletId,
          withDeadline(task, () => open(item))
        )
        results[at] = result
        await withDeadline({ ...task, milliseconds: PLACE_MS }, () => result).catch(() => {})
        await clock.turn()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, workOff))
    return Promise.all(results)
  }

  /** Resolves when every open wallet runs or stands as the pause wants it. @throws ENGINE_FAILED after all were tried */
  async pauseSettled(): Promise<void> {
    await allSettledOrThrow([...this.#held.values()].map(({ opened }) => opened?.pauseSettled()))
  }

  /** Closes every wallet; one that is still opening closes as soon as it can. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { services } = this.#parts
    const { clock } = services.io
    const closing = [...this.#held.values()].map(({ opening, opened }) => {
      const closed = opening.then(
        wallet => wallet.close(),
        () => {}
      )
      if (opened !== undefined) return closed
      return withDeadline({ clock, milliseconds: CLOSE_MS, what: 'The opening of a wallet' }, () => closed)
    })
    for (const result of await Promise.allSettled(closing)) {
      if (result.status === 'rejected') services.report('closing a wallet', result.reason)
    }
  }

  #begin(walletId: string, options: OpenWalletOptions): Holding {
    const holding: Holding = { opening: this.#open(walletId, options), opened: undefined }
    this.#held.set(walletId, holding)
    holding.opening.then(
      opened => {
        holding.opened = opened
      },
      () => {
        this.#held.delete(walletId)
      }
    )
    return holding
  }

  async #open(walletId: string, options: OpenWalletOptions): Promise<OpenedWallet> {
    return this.#parts.open(this.#parts.find(walletId), options)
  }

  #check(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }
}

const resultOf = async (walletId: string, work: Promise<CurrencyWallet>): Promise<WalletResult> => {
  try {
    return { ok: true, walletId, wallet: await work }
  } catch (error) {
    return { ok: false, walletId, error }
  }
}

/** The number of wallets that open at the same time. */
const AT_ONCE = 4
/** The time for which a wallet that does not open keeps its place among them. */
const PLACE_MS = 2000
/** The time after which a wallet that has not opened counts as failed; it may open later. */
const RESULT_MS = 60_000
/** The time for which a logout waits for a wallet that is still opening. */
const CLOSE_MS = 10_000
