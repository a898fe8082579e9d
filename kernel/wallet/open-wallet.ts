import { Mutex } from '../base/mutex.ts'
import type { RatePair } from '../types/rates.ts'
import type { EngineSupervisor } from './engine/supervisor.ts'
import type { WalletContext, WalletOptions } from './options.ts'
import { WalletRuntime } from './runtime.ts'
import { WalletState } from './state.ts'
import { CurrencyWallet } from './wallet.ts'

/** An open wallet and the way to close it. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  /** The engine, for the account's own calls. */
  readonly engine: Pick<EngineSupervisor, 'call'>
  /** Resolves when the engine runs or stands as a pause of the account wants it. @throws ENGINE_FAILED */
  pauseSettled(): Promise<void>
  /** The rate pairs for its balances. */
  ratePairs(): Iterable<RatePair>
  close(): Promise<void>
}

/**
 * Opens a wallet: files, tokens, history; its engine is made and started in the background, where what a crash left
 * of its spends is finished.
 *
 * Resolves as soon as the wallet can be used; a failure of the engine shows in the wallet's `engine` snapshot.
 *
 * @throws PLUGIN_FOR_TYPE, STORAGE_FAILED
 */
export const openWallet = async (options: WalletOptions): Promise<OpenedWallet> => {
  const { services, walletInfo } = options
  const { io, disk } = services
  const info = services.plugins.infoOf(walletInfo.type)
  const context: WalletContext = {
    ...options,
    walletId: walletInfo.id,
    info,
    keys: walletInfo.keys,
    clock: io.clock,
    disk,
    mutex: new Mutex(),
    fiatCode: () => state.snapshot.getSnapshot().fiatCurrencyCode,
    report: error => services.report(`wallet ${info.pluginId}`, error)
  }
  const state = new WalletState(context)
  const runtime = new WalletRuntime(context, state)
  try {
    await runtime.open()
  } catch (error) {
    await runtime.close()
    throw error
  }
  return new LiveWallet(new CurrencyWallet(context, runtime), runtime)
}

/** A class and no object of functions: there are hundreds. */
class LiveWallet implements OpenedWallet {
  readonly wallet: CurrencyWallet
  readonly #runtime: WalletRuntime

  constructor(wallet: CurrencyWallet, runtime: WalletRuntime) {
    this.wallet = wallet
    this.#runtime = runtime
  }

  get engine(): Pick<EngineSupervisor, 'call'> {
    return this.#runtime.engine
  }

  pauseSettled(): Promise<void> {
    return this.#runtime.pauseSettled()
  }

  ratePairs(): Iterable<RatePair> {
    return this.#runtime.ratePairs()
  }

  close(): Promise<void> {
    return this.#runtime.close()
  }
}
