import { Mutex } from '../base/mutex.ts'
import type { WalletContext, WalletOptions } from './options.ts'
import { WalletRuntime } from './runtime.ts'
import { WalletState } from './state.ts'
import { CurrencyWallet } from './wallet.ts'

/** An open wallet for the application, and its runtime for the account. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  readonly runtime: WalletRuntime
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
  return { wallet: new CurrencyWallet(context, runtime), runtime }
}
