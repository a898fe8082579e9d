import { type CurrencyWallet, isWalletError, WalletError } from '../../kernel/index.ts'
import { AdvisedError, CliError } from '../errors/cli-error.ts'
import { localTime } from '../output/texts.ts'

/**
 * Resolves when a wallet's engine has seen all of its chain, and is connected to it.
 *
 * @param hasLooked - a server has just answered, and a failure that is still shown is older
 * @throws CliError WALLET_BEHIND as soon as every server has failed, since waiting then shows nothing new; ENGINE_FAILED; the
 * signal's reason
 */
export const untilSynced = (wallet: CurrencyWallet, signal?: AbortSignal, hasLooked = false): Promise<void> =>
  untilReached(
    wallet,
    () => {
      const { syncRatio, failure, errorCode } = wallet.engine.getSnapshot()
      // NETWORK means that every server has failed; after a lost connection another one is tried.
      if (errorCode === 'NETWORK' && !hasLooked)
        throw new CliError('WALLET_BEHIND', behindText(wallet), {
          hint: 'Nothing was lost. Check the connection and try again.',
          next: [{ command: 'holdfast sync status', why: 'see the sync status of each wallet' }]
        })
      return syncRatio >= 1 && failure === undefined
    },
    signal
  )

/** Explains in one line why a wallet is outdated: the server, the reason, and since when. */
export const behindText = (wallet: CurrencyWallet): string => {
  const { failure, status, syncRatio, since } = wallet.engine.getSnapshot()
  const seen = `it has seen ${Math.floor(syncRatio * 100)} % of its chain`
  const why = failure?.replace(/ \([A-Z_]+\)$/, '') ?? (status === undefined ? seen : `${seen}; ${status}`)
  const name = wallet.name ?? wallet.id
  return `${name} is behind since ${localTime(new Date(since * 1000))}: ${why}`
}

/** Adds to a DEADLINE what each wallet is waiting for. */
export const explainedWait = (error: unknown, wallets: readonly CurrencyWallet[]): unknown =>
  isWalletError(error, 'DEADLINE')
    ? new AdvisedError(error, { hint: `${wallets.map(behindText).join('. ')}.` })
    : error

/**
 * Resolves when a condition on a wallet or its engine holds.
 *
 * @throws ENGINE_FAILED, the errors of `isReached`, or the signal's reason
 */
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
    const checkEngine = (): void => {
      const { state, status, failure } = wallet.engine.getSnapshot()
      if (state !== 'failed') return
      const { pluginId } = wallet.currencyInfo
      throw new WalletError('ENGINE_FAILED', {
        ...{ pluginId, walletId: wallet.id },
        reason: failure ?? status ?? 'it stopped'
      })
    }
    const check = (): void => {
      try {
        checkEngine()
        if (!isReached()) return
        end()
        resolve()
      } catch (error) {
        end()
        reject(error)
      }
    }
    if (signal?.aborted === true) return stop()
    unsubscribes.push(wallet.engine.subscribe(check), wallet.subscribe(check))
    signal?.addEventListener('abort', stop, { once: true })
    check()
  })
