import { type NativeAmount, ZERO } from '../base/amount.ts'
import { isSameJson } from '../base/json.ts'
import { Observable } from '../base/observable.ts'
import type { BalanceDetails } from '../types/engine.ts'
import type { WalletSnapshot } from '../types/snapshots.ts'
import type { WalletParts } from './options.ts'
import { DEFAULT_FIAT } from './settings.ts'

/** What the facts of a wallet belong to. */
export type WalletFactsParts = Pick<
  WalletParts,
  'services' | 'events' | 'walletId' | 'walletInfo' | 'info' | 'report'
>

/**
 * The public facts of one open wallet (specification §3).
 *
 * What a user does is shown at once; what an engine says is gathered for a moment and told as one change. What
 * changes nothing is told to nobody, and nothing is told before the wallet is open.
 */
export class WalletFacts {
  readonly state: Observable<WalletSnapshot>
  readonly #parts: WalletFactsParts
  #isOpen = false
  /** What waits to be told. */
  #waiting: Partial<WalletSnapshot> | undefined
  /** Balances that wait with it: an engine may tell of thousands of tokens at once. */
  #balances: Map<string, NativeAmount> | undefined

  constructor(parts: WalletFactsParts) {
    const { walletId, walletInfo, info, report } = parts
    this.#parts = parts
    this.state = new Observable<WalletSnapshot>(
      { walletId, pluginId: info.pluginId, type: walletInfo.type, ...NEW_WALLET },
      () => this.#tell(),
      report
    )
  }

  /** Tells everyone of the wallet, once its files are read. */
  open(): void {
    this.#isOpen = true
    this.#tell()
  }

  /** The balance of an asset as it was heard last, whether told or not; zero before. */
  balanceOf(tokenId: string | null): NativeAmount {
    return this.#balances?.get(tokenId ?? '') ?? balanceIn(this.state.getSnapshot(), tokenId)
  }

  /** Shows facts at once. */
  show(facts: Partial<WalletSnapshot>): void {
    if (isNews(this.state.getSnapshot(), facts)) this.state.update(facts)
  }

  /** Shows facts soon, with others that come in meanwhile. */
  gather(facts: Partial<WalletSnapshot>): void {
    if (!isNews({ ...this.state.getSnapshot(), ...this.#waiting }, facts)) return
    this.#tellSoon()
    this.#waiting = { ...this.#waiting, ...facts }
  }

  /** Gathers the balance of one asset; those of more assets than any chain has are not kept. */
  gatherBalance(tokenId: string | null, balance: NativeAmount): void {
    const { balances } = this.state.getSnapshot()
    const key = tokenId ?? ''
    const known = this.#balances?.get(key) ?? (Object.hasOwn(balances, key) ? balances[key] : undefined)
    if (known === balance || (this.#balances?.size ?? 0) >= MAX_ASSETS) return
    this.#tellSoon()
    this.#balances ??= new Map()
    this.#balances.set(key, balance)
  }

  /** Gathers what the balance of one asset is made of; of more assets than any chain has nothing is kept. */
  gatherDetails(tokenId: string | null, details: BalanceDetails): void {
    const known = this.#waiting?.balanceDetails ?? this.state.getSnapshot().balanceDetails ?? {}
    if (Object.keys(known).length >= MAX_ASSETS) return
    const all = new Map([...Object.entries(known), [tokenId ?? '', details] as const])
    this.gather({ balanceDetails: Object.freeze(Object.fromEntries(all)) })
  }

  #tellSoon(): void {
    if (this.#waiting !== undefined || this.#balances !== undefined) return
    this.#parts.events.push(`wallet ${this.#parts.walletId}`, () => {
      const facts = { ...this.#waiting, ...this.#balancesNow() }
      this.#waiting = undefined
      this.#balances = undefined
      this.show(facts)
    })
  }

  #balancesNow(): Pick<Partial<WalletSnapshot>, 'balances'> {
    if (this.#balances === undefined) return {}
    const all = new Map([...Object.entries(this.state.getSnapshot().balances), ...this.#balances])
    return { balances: Object.freeze(Object.fromEntries([...all].slice(0, MAX_ASSETS))) }
  }

  #tell(): void {
    if (this.#isOpen) this.#parts.services.hooks.walletChanged.call(this.state.getSnapshot())
  }
}

/** The balance of an asset in a snapshot; zero before the engine has told. */
export const balanceIn = ({ balances }: WalletSnapshot, tokenId: string | null): NativeAmount => {
  const key = tokenId ?? ''
  return Object.hasOwn(balances, key) ? (balances[key] as NativeAmount) : ZERO
}

/** What the balance of an asset in a snapshot is made of; where the engine tells no more, all of it counts as spendable. */
export const balanceDetailsIn = (snapshot: WalletSnapshot, tokenId: string | null): BalanceDetails => {
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

const isNews = (shown: WalletSnapshot, facts: Partial<WalletSnapshot>): boolean =>
  Object.entries(facts).some(([name, fact]) => !isSameJson(shown[name as keyof WalletSnapshot], fact))
