import type { CurrencyWallet } from '../../kernel/index.ts'
import { readPausedWallets } from '../profile/paused-wallets.ts'
import type { Session } from '../session.ts'

/** Opens a wallet to be used; its engine rests only where somebody paused the wallet on this device. */
export const openWallet = (session: Session, walletId: string): Promise<CurrencyWallet> =>
  open(session, walletId, readPausedWallets(session.paths.session).has(walletId))

/** Opens a wallet for what its files say, such as its name: its engine rests, and its chain is left alone. */
export const openResting = (session: Session, walletId: string): Promise<CurrencyWallet> =>
  open(session, walletId, true)

/** Opens many wallets, a few at a time; gives undefined for each that cannot be opened. */
export const openEach = async (
  walletIds: readonly string[],
  open: (walletId: string) => Promise<CurrencyWallet>
): Promise<readonly (CurrencyWallet | undefined)[]> => {
  const opened: (CurrencyWallet | undefined)[] = []
  const waiting = [...walletIds.entries()].reverse()
  const workOff = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [at, walletId] = next
      opened[at] = await open(walletId).catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workOff))
  return opened
}

const AT_ONCE = 8

const open = async (session: Session, walletId: string, isPaused: boolean): Promise<CurrencyWallet> => {
  const wallet = await (await session.account()).openWallet(walletId, { isPaused })
  // It may rest so far, because somebody asked for its name. Nobody waits for the engine, and its failure shows in the
  // wallet. One that is in use is not put to rest by a second look at its name.
  if (!isPaused && wallet.getSnapshot().isPaused) wallet.changePaused(false).catch(() => {})
  return wallet
}
