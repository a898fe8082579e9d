import { makeSerialQueue } from '../crypto/serial-queue.ts'
import { WalletError } from '../errors/wallet-error.ts'
import { fileHashOf } from '../keys/wallet-id.ts'
import type { Services } from '../services.ts'
import { Secret } from '../state/secret.ts'
import type { SecretWalletInfo } from '../types/keys.ts'
import { CurrencyWallet } from './currency-wallet.ts'
import type { EngineRunner } from './engine/engine-runner.ts'
import { WalletFacts } from './wallet-facts.ts'
import { WalletLife } from './wallet-life.ts'
import type { WalletParts, WalletPlace } from './wallet-place.ts'

/** An open wallet and the way to close it. */
export interface OpenedWallet {
  readonly wallet: CurrencyWallet
  /** For what the account asks of it. */
  readonly engine: Pick<EngineRunner, 'call'>
  /** Resolves when the engine runs or stands as a pause of the account wants it. @throws ENGINE_FAILED */
  pauseSettled(): Promise<void>
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
  const dataKey = new Secret(walletInfo.keys.use(({ dataKey: key }) => io.crypto.fromBase64(String(key))))
  const parts: WalletParts = {
    ...place,
    walletId: walletInfo.id,
    info,
    keys: walletInfo.keys,
    clock: io.clock,
    disk,
    inOrder: makeSerialQueue(),
    hashOf: makeHash(services, walletInfo, dataKey),
    fiatCode: () => facts.state.getSnapshot().fiatCurrencyCode,
    report: error => services.report(`wallet ${info.pluginId}`, error)
  }
  const facts = new WalletFacts(parts)
  const life = new WalletLife(parts, facts)
  const close = (): Promise<void> => life.close().finally(() => dataKey.destroy())
  try {
    await life.open()
  } catch (error) {
    await close()
    throw error
  }
  return {
    wallet: new CurrencyWallet(parts, life),
    engine: life.engine,
    pauseSettled: () => life.pauseSettled(),
    close
  }
}

/** Texts are hashed by the ten thousand, so the bytes of the key are kept. */
const makeHash =
  ({ io }: Services, { keys }: SecretWalletInfo, dataKey: Secret<Uint8Array>) =>
  (text: string): string => {
    if (!keys.isAlive || !dataKey.isAlive) throw new WalletError('LOGGED_OUT', {})
    return dataKey.use(bytes => fileHashOf(io, bytes, text))
  }
