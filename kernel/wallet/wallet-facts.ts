import { type NativeAmount, ZERO } from '../amount.ts'
import type { WalletSnapshot } from '../hooks/snapshots.ts'
import type { Services } from '../services.ts'
import { Observable } from '../state/observable.ts'
import { isSameJson } from '../types/json.ts'
import type { EngineChanges } from './engine/engine-state.ts'
import type { EventQueue } from './event-queue.ts'

/** What the facts of a wallet are told with. */
export interface WalletFactsParts {
  readonly services: Services
  readonly events: EventQueue
  readonly place: Pick<WalletSnapshot, 'walletId' | 'pluginId' | 'type'>
  /** Takes what its engine said of progress, height and itself. */
  showEngine(changes: EngineChanges): void
  report(error: unknown): void
}

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
  #waiting: Partial<WalletSnapshot> = {}
  #waitingEngine: EngineChanges = {}

  constructor(parts: WalletFactsParts) {
    this.#parts = parts
    this.state = new Observable<WalletSnapshot>(
      { ...parts.place, ...NEW_WALLET },
      () => this.#tell(),
      error => parts.report(error)
    )
  }

  /** Tells everyone of the wallet, once its files are read. */
  open(): void {
    this.#isOpen = true
    this.#tell()
  }

  /** The balance of an asset as it was heard last, whether told or not; zero before. */
  balanceOf(tokenId: string | null): NativeAmount {
    return balanceIn(this.#latest, tokenId)
  }

  /** Shows facts at once. */
  show(facts: Partial<WalletSnapshot>): void {
    if (isNews(this.state.getSnapshot(), facts)) this.state.update(facts)
  }

  /** Shows facts soon, with others that come in meanwhile. */
  gather(facts: Partial<WalletSnapshot>): void {
    if (!isNews(this.#latest, facts)) return
    this.#waiting = { ...this.#waiting, ...facts }
    this.#parts.events.push(`wallet ${this.#parts.place.walletId}`, () => {
      const gathered = this.#waiting
      this.#waiting = {}
      this.show(gathered)
    })
  }

  /** Gathers the balance of one asset. */
  gatherBalance(tokenId: string | null, balance: NativeAmount): void {
    const { balances } = this.#latest
    const key = tokenId ?? ''
    if (Object.hasOwn(balances, key) && balances[key] === balance) return
    this.gather({ balances: Object.freeze({ ...balances, [key]: balance }) })
  }

  /** Gathers what an engine says of itself. */
  gatherEngine(facts: EngineChanges): void {
    this.#waitingEngine = { ...this.#waitingEngine, ...facts }
    this.#parts.events.push(`engine ${this.#parts.place.walletId}`, () => {
      const gathered = this.#waitingEngine
      this.#waitingEngine = {}
      this.#parts.showEngine(gathered)
    })
  }

  /** Drops what an engine said of itself and nobody was told. */
  dropEngine(): void {
    this.#waitingEngine = {}
  }

  get #latest(): WalletSnapshot {
    return { ...this.state.getSnapshot(), ...this.#waiting }
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

const NONE: readonly string[] = Object.freeze([])

const NEW_WALLET: Omit<WalletSnapshot, 'walletId' | 'pluginId' | 'type'> = {
  name: null,
  fiatCurrencyCode: 'iso:USD',
  enabledTokenIds: NONE,
  detectedTokenIds: NONE,
  unactivatedTokenIds: NONE,
  stakingStatus: Object.freeze({ stakedAmounts: Object.freeze([]) }),
  balances: Object.freeze({}),
  isPaused: false
}

const isNews = (shown: WalletSnapshot, facts: Partial<WalletSnapshot>): boolean =>
  Object.entries(facts).some(([name, fact]) => !isSameJson(shown[name as keyof WalletSnapshot], fact))
