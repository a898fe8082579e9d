import { type CurrencyWallet, WalletError } from '../../kernel/index.ts'

/** Resolves when a wallet's engine has seen all of its chain. @throws ENGINE_FAILED, or the signal's reason */
export const untilSynced = (wallet: CurrencyWallet, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    let unsubscribe = (): void => {}
    const look = (): void => {
      const { state, syncRatio, status } = wallet.engine.getSnapshot()
      if (state !== 'failed' && syncRatio < 1) return
      unsubscribe()
      if (state !== 'failed') {
        resolve()
        return
      }
      const { pluginId } = wallet.currencyInfo
      reject(
        new WalletError('ENGINE_FAILED', { pluginId, walletId: wallet.id, reason: status ?? 'it stopped' })
      )
    }
    unsubscribe = wallet.engine.subscribe(look)
    const stop = (): void => {
      unsubscribe()
      reject(signal?.reason)
    }
    if (signal?.aborted === true) return stop()
    signal?.addEventListener('abort', stop, { once: true })
    look()
  })
