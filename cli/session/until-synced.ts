import { type CurrencyWallet, WalletError } from '../../kernel/index.ts'

/** Resolves when a wallet's engine has seen all of its chain. @throws ENGINE_FAILED, or the signal's reason */
export const untilSynced = (wallet: CurrencyWallet, signal?: AbortSignal): Promise<void> =>
  untilReached(wallet, () => wallet.engine.getSnapshot().syncRatio >= 1, signal)

/** Resolves when a wallet or its engine is as it should be. @throws ENGINE_FAILED, or the signal's reason */
export const untilReached = (
  wallet: CurrencyWallet,
  isReached: () => boolean,
  signal?: AbortSignal
): Promise<void> =>
  new Promise((resolve, reject) => {
    const unsubscribes: (() => void)[] = []
    const stop = (): void => {
      end()
      reject(signal?.reason)
    }
    const end = (): void => {
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe()
      signal?.removeEventListener('abort', stop)
    }
    const look = (): void => {
      const { state, status, failure } = wallet.engine.getSnapshot()
      if (state === 'failed') {
        end()
        const { pluginId } = wallet.currencyInfo
        const reason = failure ?? status ?? 'it stopped'
        reject(new WalletError('ENGINE_FAILED', { pluginId, walletId: wallet.id, reason }))
      } else if (isReached()) {
        end()
        resolve()
      }
    }
    if (signal?.aborted === true) return stop()
    unsubscribes.push(wallet.engine.subscribe(look), wallet.subscribe(look))
    signal?.addEventListener('abort', stop, { once: true })
    look()
  })
