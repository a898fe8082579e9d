import type { Mutex } from '../base/mutex.ts'
import type { Readable } from '../base/observable.ts'
import type { PauseSnapshot } from '../base/pause-switch.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { Secret } from '../base/secret.ts'
import type { Disk } from '../io/disk.ts'
import type { Clock } from '../io/io.ts'
import type { AccountRules } from '../keys/key-gate.ts'
import type { Services } from '../plugins/services.ts'
import type { Repo } from '../sync/repo.ts'
import type { SyncLoop } from '../sync/sync-loop.ts'
import type { CurrencyConfigSnapshot, CurrencyInfo } from '../types/currency.ts'
import type { FileHash, WalletId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletKeys } from '../types/keys.ts'
import type { Transaction } from '../types/transaction.ts'
import type { EventQueue } from './events.ts'

/** The options with which an account opens a wallet. */
export interface WalletOptions {
  readonly services: Services
  readonly walletInfo: SecretWalletInfo
  readonly repo: Repo
  readonly syncLoop: Pick<SyncLoop, 'syncNow'>
  readonly scheduler: Scheduler
  readonly events: EventQueue
  /** Tokens and settings of its currency. */
  readonly config: Readable<CurrencyConfigSnapshot>
  /** The pause of the account. */
  readonly paused: Readable<PauseSnapshot>
  /** The wallet's own pause, to begin with. */
  readonly isPaused: boolean
  /** The rules of the account, which judge each use of its keys. */
  readonly rules: AccountRules
  /** Told of the payment of a swap whenever its file was read again: the account follows the order. */
  sawSwap(payment: Pick<Transaction, 'date' | 'swapData' | 'txid' | 'walletId'>): void
  /** Fetches the name of an app, for the wallets that it made and never named. */
  nameOfApp(appId: string): Promise<string>
  /** The wallet's file-name hash. @throws LOGGED_OUT */
  hashOf(text: string): FileHash
}

/** The options and shared objects of one open wallet: one object, since there are hundreds of wallets. */
export interface WalletContext extends WalletOptions {
  readonly walletId: WalletId
  readonly info: CurrencyInfo
  readonly keys: Secret<WalletKeys>
  readonly clock: Clock
  readonly disk: Disk
  /** Readings and edits of the wallet's small files never overlap. */
  readonly mutex: Mutex
  /** The fiat currency that the wallet is shown in now, such as `iso:USD`. */
  fiatCode(): string
  /** Hands a failure that was survived to the application. */
  report(error: unknown): void
}
