import { Mutex } from '../base/mutex.ts'
import type { RatePair } from '../types/rates.ts'
import type { EngineRunner } from './engine/supervisor.ts'
import type { WalletParts, WalletPlace } from './options.ts'
import { WalletLife } from './runtime.ts'
import { WalletFacts } from './state.ts'
import { CurrencyWallet } from './wallet.ts'

/** An open wallet and the way to close it. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  /** For what the account asks of it. */
  readonly engine: Pick<EngineRunner, 'call'>
  /** Resolves when the engine runs or stands as a pause of the account wants it. @throws ENGINE_FAILED */
  pauseSettled(): Promise<void>
  /** The pairs that tell what its balances are worth. */
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
export const openWallet = async (place: WalletPlace): Promise<OpenedWallet> => {
  const { services, walletInfo } = place
  const { io, disk } = services
  const info = services.plugins.infoOf(walletInfo.type)
  const parts: WalletParts = {
    ...place,
    walletId: walletInfo.id,
    info,
    keys: walletInfo.keys,
    clock: io.clock,
    disk,
    turns: new Mutex(),
    fiatCode: () => facts.state.getSnapshot().fiatCurrencyCode,
    report: error => services.report(`wallet ${info.pluginId}`, error)
  }
  const facts = new WalletFacts(parts)
  const life = new WalletLife(parts, facts)
  try {
    await life.open()
  } catch (error) {
    await life.close()
    throw error
  }
  return new LiveWallet(new CurrencyWallet(parts, life), life)
}

/** A class and no object of functions: there are hundreds. */
class LiveWallet implements OpenedWallet {
  readonly wallet: CurrencyWallet
  readonly #life: WalletLife

  constructor(wallet: CurrencyWallet, life: WalletLife) {
    this.wallet = wallet
    this.#life = life
  }

  get engine(): Pick<EngineRunner, 'call'> {
    return this.#life.engine
  }

  pauseSettled(): Promise<void> {
    return this.#life.pauseSettled()
  }

  ratePairs(): Iterable<RatePair> {
    return this.#life.ratePairs()
  }

  close(): Promise<void> {
    return this.#life.close()
  }
}
