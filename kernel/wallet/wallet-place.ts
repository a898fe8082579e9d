import type { Scheduler } from '../io/scheduler.ts'
import type { Repo } from '../repo/repo.ts'
import type { Services } from '../services.ts'
import type { Readable } from '../state/observable.ts'
import type { CurrencyConfigSnapshot } from '../types/currency.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import type { EventQueue } from './event-queue.ts'
import type { PauseSnapshot } from './pause-switch.ts'

/** What a wallet needs from its account to open. */
export interface WalletPlace {
  readonly services: Services
  readonly info: SecretWalletInfo
  readonly repo: Repo
  readonly scheduler: Scheduler
  readonly events: EventQueue
  /** Tokens and settings of its currency. */
  readonly config: Readable<CurrencyConfigSnapshot>
  /** The pause of the account. */
  readonly paused: Readable<PauseSnapshot>
  /** What an app calls itself, for the wallets that it made and never named. */
  nameOfApp(appId: string): Promise<string>
  syncRepo(): Promise<void>
}
