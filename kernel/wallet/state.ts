import { type NativeAmount, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { isSameJson } from '../base/json.ts'
import { Observable } from '../base/observable.ts'
import { isWatchOnly } from '../keys/wallet-info.ts'
import type { BalanceDetails } from '../types/engine.ts'
import type { TokenId } from '../types/ids.ts'
import type { WalletSnapshot } from '../types/snapshots.ts'
import type { WalletContext } from './options.ts'
import { DEFAULT_FIAT } from './settings.ts'

/** The options of {@link WalletState}. */
export type WalletStateOptions = Pick<
  WalletContext,
  'services' | 'events' | 'walletId' | 'walletInfo' | 'info' | 'report'
>

/**
 * The public state of one open wallet (specification §3).
 *
 * Changes of the user are emitted at once; an engine's reports are batched for a moment and emitted as one change. A
 * change without a difference is not emitted, and nothing is emitted before the wallet is open.
 */
export class WalletState {
  readonly snapshot: Observable<WalletSnapshot>
  readonly #options: WalletStateOptions
  #isOpen = false
  /** Changes that are not emitted yet. */
  #batched: Partial<WalletSnapshot> | undefined
  /** Balances that wait with it: an engine may report thousands of tokens at once. */
  #balances: Map<string, NativeAmount> | undefined

  constructor(options: WalletStateOptions) {
    const { walletId, walletInfo, info, report } = options
    this.#options = options
    this.snapshot = new Observable<WalletSnapshot>(
      {
        ...{ walletId, pluginId: info.pluginId, type: walletInfo.type, ...NEW_WALLET },
        ...compact({ isWatchOnly: isWatchOnly(walletInfo) || undefined })
      },
      () => this.#emit(),
      report
    )
  }

  /** Emits the snapshot, and each change from now on; called once the wallet's files are read. */
  open(): void {
    this.#isOpen = true
    this.#emit()
  }

  /** The balance of an asset as it was last reported, emitted or not; zero before. */
  balanceOf(tokenId: TokenId | null): NativeAmount {
    return this.#balances?.get(tokenId ?? '') ?? balanceIn(this.snapshot.getSnapshot(), tokenId)
  }

  /** Shows changes at once. */
  set(changes: Partial<WalletSnapshot>): void {
    if (isNews(this.snapshot.getSnapshot(), changes)) this.snapshot.update(changes)
  }

  /** Shows changes soon, with others that come in meanwhile. */
  batch(changes: Partial<WalletSnapshot>): void {
    if (!isNews({ ...this.snapshot.getSnapshot(), ...this.#batched }, changes)) return
    this.#deliverSoon()
    this.#batched = { ...this.#batched, ...changes }
  }

  /** Batches the balance of one asset, for at most as many assets as any chain has. */
  batchBalance(tokenId: TokenId | null, balance: NativeAmount): void {
    const { balances } = this.snapshot.getSnapshot()
    const key = tokenId ?? ''
    const known = this.#balances?.get(key) ?? (Object.hasOwn(balances, key) ? balances[key] : undefined)
    if (known === balance || (this.#balances?.size ?? 0) >= MAX_ASSETS) return
    this.#deliverSoon()
    this.#balances ??= new Map()
    this.#balances.set(key, balance)
  }

  /** Batches the parts of an asset's balance, for at most as many assets as any chain has. */
  batchBalanceDetails(tokenId: TokenId | null, details: BalanceDetails): void {
    const known = this.#batched?.balanceDetails ?? this.snapshot.getSnapshot().balanceDetails ?? {}
    if (Object.keys(known).length >= MAX_ASSETS) return
    const all = new Map([...Object.entries(known), [tokenId ?? '', details] as const])
    this.batch({ balanceDetails: Object.freeze(Object.fromEntries(all)) })
  }

  /** Emits the batched changes now. */
  emitBatch(): void {
    const changes = { ...this.#batched, ...this.#balancesNow() }
    this.#batched = undefined
    this.#balances = undefined
    this.set(changes)
  }

  #deliverSoon(): void {
    if (this.#batched !== undefined || this.#balances !== undefined) return
    this.#options.events.push(`wallet ${this.#options.walletId}`, () => this.emitBatch())
  }

  #balancesNow(): Pick<Partial<WalletSnapshot>, 'balances'> {
    if (this.#balances === undefined) return {}
    const all = new Map([...Object.entries(this.snapshot.getSnapshot().balances), ...this.#balances])
    return { balances: Object.freeze(Object.fromEntries([...all].slice(0, MAX_ASSETS))) }
  }

  #emit(): void {
    if (this.#isOpen) this.#options.services.hooks.walletChanged.call(this.snapshot.getSnapshot())
  }
}

/** Returns the balance of an asset in a snapshot; zero before the engine has reported it. */
export const balanceIn = ({ balances }: WalletSnapshot, tokenId: TokenId | null): NativeAmount => {
  const key = tokenId ?? ''
  return Object.hasOwn(balances, key) ? (balances[key] as NativeAmount) : ZERO
}

/** Returns the parts of an asset's balance in a snapshot; where the engine reports none, all of it counts as spendable. */
export const balanceDetailsIn = (snapshot: WalletSnapshot, tokenId: TokenId | null): BalanceDetails => {
  const key = tokenId ?? ''
  const { balanceDetails = {} } = snapshot
  const known = Object.hasOwn(balanceDetails, key) ? balanceDetails[key] : undefined
  return known ?? { spendable: balanceIn(snapshot, tokenId), incoming: ZERO, immature: ZERO, reserved: ZERO }
}

/** As many tokens as a plugin may bring, and the currency itself. */
const MAX_ASSETS = 100_001

const NONE: readonly string[] = Object.freeze([])

const NEW_WALLET: Omit<WalletSnapshot, 'walletId' | 'pluginId' | 'type'> = {
  name: null,
  fiatCurrencyCode: DEFAULT_FIAT,
  enabledTokenIds: NONE,
  detectedTokenIds: NONE,
  unactivatedTokenIds: NONE,
  tokens: Object.freeze([]),
  stakingStatus: Object.freeze({ stakedAmounts: Object.freeze([]) }),
  balances: Object.freeze({}),
  openPayments: Object.freeze([]),
  isPaused: false
}

const isNews = (shown: WalletSnapshot, changes: Partial<WalletSnapshot>): boolean =>
  Object.entries(changes).some(([name, fact]) => !isSameJson(shown[name as keyof WalletSnapshot], fact))
