import { compact } from '../base/compact.ts'
import { withDeadline } from '../base/deadline.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, tryParseJson } from '../base/json.ts'
import { allSettledOrThrow } from '../base/mutex.ts'
import type { PauseSwitch } from '../base/pause-switch.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { AccountRules } from '../keys/key-gate.ts'
import { fetchAppDisplay } from '../login/app-info.ts'
import type { Services } from '../plugins/services.ts'
import type { EngineStore } from '../types/engine.ts'
import type { PluginId, TokenId, WalletId } from '../types/ids.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import type { RatePair } from '../types/rates.ts'
import type { EventQueue } from '../wallet/events.ts'
import type { WalletOptions } from '../wallet/options.ts'
import { DEFAULT_FIAT, FIAT_PATH, NAME_PATH } from '../wallet/settings.ts'
import { TOKENS_PATH, tokenIdList } from '../wallet/tokens.ts'
import { type CurrencyWallet, type OpenedWallet, openWallet } from '../wallet/wallet.ts'
import type { QuietWallets } from './quiet-wallets.ts'
import type { OpenRepo, OpenRepos } from './repos.ts'
import type { AccountSettings } from './settings.ts'
import type { WalletList } from './wallet-list.ts'

/** The result for one of many wallets; an error concerns that wallet alone. */
export type WalletResult =
  | { readonly ok: true; readonly walletId: WalletId; readonly wallet: CurrencyWallet }
  | { readonly ok: false; readonly walletId?: WalletId; readonly error: unknown }

/** The wallets that may be opened, and the way to open one. */
export interface OpenWalletsOptions {
  readonly services: Services
  readonly book: Pick<WalletList, 'get'>
  readonly opener: Pick<WalletOpener, 'open'>
  readonly quiet: Pick<QuietWallets, 'wake'>
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
  readonly #options: OpenWalletsOptions
  readonly #held = new Map<WalletId, Holding>()
  /** Those that were opened only to count their payments, and have no engine yet. */
  readonly #counted = new Set<WalletId>()
  #isClosed = false

  constructor(options: OpenWalletsOptions) {
    this.#options = options
  }

  /** Those that are open by now. */
  get open(): readonly CurrencyWallet[] {
    return [...this.#held.values()].flatMap(({ opened }) => opened?.wallet ?? [])
  }

  /** The pairs that tell what the balances of all open wallets are worth; many wallets may name the same. */
  *ratePairs(): Generator<RatePair> {
    for (const { opened } of this.#held.values()) if (opened !== undefined) yield* opened.runtime.ratePairs()
  }

  /** Those of a currency that are open by now. */
  openOf(pluginId: PluginId): readonly CurrencyWallet[] {
    return this.open.filter(({ currencyInfo }) => currencyInfo.pluginId === pluginId)
  }

  /**
   * Opens a wallet, or gives the one that is open, as it is.
   *
   * @throws WALLET_ID_UNKNOWN, PLUGIN_FOR_TYPE, KEY_INTEGRITY, STORAGE_FAILED, SYNC_FAILED, LOGGED_OUT
   */
  async get(walletId: WalletId, options?: OpenWalletOptions): Promise<CurrencyWallet> {
    const { wallet } = await this.getOpened(walletId, options)
    return wallet
  }

  /** A wallet that is open by now. @throws WALLET_NOT_LOADED, WALLET_ID_UNKNOWN, LOGGED_OUT */
  loaded(walletId: WalletId): CurrencyWallet {
    this.#check()
    const { opened } = this.#held.get(walletId) ?? {}
    if (opened !== undefined) return opened.wallet
    this.#options.book.get(walletId)
    throw new WalletError('WALLET_NOT_LOADED', {})
  }

  /** As {@link get}, with what the account itself needs of the wallet. */
  async getOpened(walletId: WalletId, options: OpenWalletOptions = {}): Promise<OpenedWallet> {
    this.#check()
    const leaving = this.#options.quiet.wake(walletId)
    if (leaving !== undefined) {
      await leaving
      this.#check()
    }
    const { opening } = this.#held.get(walletId) ?? this.#begin(walletId, options)
    const opened = await opening
    this.#check()
    // It is paused only because nobody has wanted it yet.
    if (this.#counted.delete(walletId) && options.isPaused !== true) opened.runtime.pause.change(false, {})
    return opened
  }

  /** Returns a wallet to count its payments; one that is not open is opened without an engine. @throws as {@link get} */
  async getToCount(walletId: WalletId): Promise<OpenedWallet> {
    this.#check()
    const held = this.#held.get(walletId)
    if (held !== undefined) return held.opening
    this.#counted.add(walletId)
    const { opening } = this.#begin(walletId, { isPaused: true })
    return opening.catch((error: unknown) => {
      this.#counted.delete(walletId)
      throw error
    })
  }

  /**
   * Opens many wallets, a few at a time and with pauses for everybody else; one result each, in order. One that fails
   * or hangs holds up no other.
   */
  async forEach<Item extends { readonly walletId: WalletId }>(
    items: readonly Item[],
    open: (item: Item) => Promise<CurrencyWallet>
  ): Promise<WalletResult[]> {
    const { clock } = this.#options.services.io
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
    await allSettledOrThrow([...this.#held.values()].map(({ opened }) => opened?.runtime.pauseSettled()))
  }

  /** Closes every wallet; one that is still opening closes as soon as it can. */
  async close(): Promise<void> {
    this.#isClosed = true
    const { services } = this.#options
    const { clock } = services.io
    const closing = [...this.#held.values()].map(({ opening, opened }) => {
      const closed = opening.then(
        ({ runtime }) => runtime.close(),
        () => {}
      )
      if (opened !== undefined) return closed
      return withDeadline({ clock, milliseconds: CLOSE_MS, what: 'The opening of a wallet' }, () => closed)
    })
    for (const result of await Promise.allSettled(closing)) {
      if (result.status === 'rejected') services.report('closing a wallet', result.reason)
    }
  }

  #begin(walletId: WalletId, options: OpenWalletOptions): Holding {
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

  async #open(walletId: WalletId, options: OpenWalletOptions): Promise<OpenedWallet> {
    return this.#options.opener.open(this.#options.book.get(walletId), options)
  }

  #check(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }
}

const resultOf = async (walletId: WalletId, work: Promise<CurrencyWallet>): Promise<WalletResult> => {
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

/** What the wallets of one account share. */
export interface WalletOpenerOptions {
  readonly services: Services
  readonly repos: OpenRepos
  readonly settings: AccountSettings
  readonly scheduler: Scheduler
  readonly events: EventQueue
  /** The pause of the account. */
  readonly pause: PauseSwitch
  readonly unfinished: UnfinishedWallets
  readonly rules: AccountRules
  readonly sawSwap: WalletOptions['sawSwap']
}

/** Opens the wallets of one account: the repo of each, with the files of a new one, and then the wallet in it. */
export class WalletOpener {
  readonly #options: WalletOpenerOptions
  readonly #appNames = new Map<string, Promise<string>>()

  constructor(options: WalletOpenerOptions) {
    this.#options = options
  }

  /** @throws PLUGIN_FOR_TYPE, KEY_INTEGRITY, STORAGE_FAILED, SYNC_FAILED, LOGGED_OUT */
  async open(
    walletInfo: SecretWalletInfo,
    { settings, isPaused = false }: OpenWalletOptions
  ): Promise<OpenedWallet> {
    const { services, repos, scheduler, events, pause, rules, sawSwap } = this.#options
    const { pluginId } = services.plugins.infoOf(walletInfo.type)
    const found = await repos.open(walletInfo, settings === undefined ? 'needed' : 'empty')
    try {
      await this.#finishNew(found, walletInfo.id, settings)
      return await openWallet({
        ...{ services, walletInfo, scheduler, events, rules, paused: pause, isPaused },
        nameOfApp: this.#nameOfApp,
        sawSwap,
        config: this.#options.settings.currencyConfig(pluginId),
        ...{ repo: found.repo, hashOf: found.hashOf, syncLoop: repos.syncLoop }
      })
    } catch (error) {
      await found.close().catch(failure => services.report('closing a repo', failure))
      throw error
    }
  }

  /**
   * Writes the settings of a new wallet, also of one whose making was cut off: files that are there by now stay as they are.
   * A wallet whose settings cannot be written has the default ones until it is opened again.
   */
  async #finishNew(
    { repo }: OpenRepo,
    walletId: WalletId,
    settings: NewWalletSettings | undefined
  ): Promise<void> {
    const { services, unfinished } = this.#options
    try {
      const wanted = settings ?? unfinished.find(walletId)
      if (wanted === undefined) return
      const missing = new Map<string, string>()
      for (const [path, text] of newWalletFiles(wanted)) if (!(await repo.has(path))) missing.set(path, text)
      if (missing.size > 0) await repo.write({ texts: missing })
      await unfinished.end(walletId)
    } catch (error) {
      services.report('account', error)
    }
  }

  /** One app may have made hundreds of wallets. */
  readonly #nameOfApp = (appId: string): Promise<string> => {
    const { services } = this.#options
    const known = this.#appNames.get(appId) ?? fetchAppDisplay(services, appId).then(face => face.displayName)
    this.#appNames.set(appId, known)
    return known
  }
}

/** The initial settings of a new wallet. */
export interface NewWalletSettings {
  readonly name?: string | undefined
  /** Such as `iso:USD`. */
  readonly fiatCurrencyCode: string
  readonly enabledTokenIds?: readonly TokenId[] | undefined
}

/** The files of a new wallet, for one write: there is no moment at which half of them is there (protocol §3.5). */
const newWalletFiles = ({
  name,
  fiatCurrencyCode,
  enabledTokenIds
}: NewWalletSettings): ReadonlyMap<string, string> => {
  const files = new Map([[FIAT_PATH, JSON.stringify({ fiat: fiatCurrencyCode })]])
  if (name !== undefined) files.set(NAME_PATH, JSON.stringify({ walletName: name }))
  if (enabledTokenIds !== undefined) {
    const lists = { enabledTokenIds: tokenIdList(enabledTokenIds), detectedTokenIds: [] }
    files.set(TOKENS_PATH, JSON.stringify(lists))
  }
  return files
}

/**
 * The settings of wallets that are being made, kept on this device from before their keys are sent until their files are
 * written: a process that ends in between leaves no wallet without its name.
 */
export class UnfinishedWallets {
  readonly #store: EngineStore

  /** @param store - of the account's repo, never synced */
  constructor(store: EngineStore) {
    this.#store = store
  }

  /** Remembers the settings of new wallets, by wallet id, durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED */
  async begin(settings: ReadonlyMap<string, NewWalletSettings>, now: number): Promise<void> {
    const writes = new Map<string, string | null>()
    for (const [key, text] of this.#store.entries('')) {
      const left = tryParseJson(text)
      const at = isRecord(left) && typeof left.at === 'number' ? left.at : 0
      if (at < now - KEEP_MS) writes.set(key, null)
    }
    for (const [walletId, wanted] of settings) writes.set(walletId, JSON.stringify({ ...wanted, at: now }))
    if (writes.size > 0) await this.#store.write(writes)
  }

  /** Returns the initial settings of a wallet if they were never written. */
  find(walletId: WalletId): NewWalletSettings | undefined {
    const left = tryParseJson(this.#store.get(walletId))
    if (!isRecord(left)) return undefined
    const { name, fiatCurrencyCode, enabledTokenIds } = left
    return {
      ...compact({ name: typeof name === 'string' ? name : undefined }),
      fiatCurrencyCode: typeof fiatCurrencyCode === 'string' ? fiatCurrencyCode : DEFAULT_FIAT,
      ...compact({ enabledTokenIds: Array.isArray(enabledTokenIds) ? enabledTokenIds : undefined })
    }
  }

  /** Forgets what has been written. */
  async end(walletId: WalletId): Promise<void> {
    if (this.#store.get(walletId) !== undefined) await this.#store.write(new Map([[walletId, null]]))
  }
}

/** A request whose keys never came to be leaves its settings behind for so long. */
const KEEP_MS = 30 * 24 * 3600 * 1000
