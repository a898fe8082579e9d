import type { CurrencyWallet } from '../../kernel/index.ts'
import { readPausedWallets } from '../profile/paused-wallets.ts'
import type { Session } from '../session.ts'

/** Opens a wallet to be used; its engine rests only where somebody paused the wallet on this device. */
export const openWallet = async (session: Session, walletId: string): Promise<CurrencyWallet> => {
  const wallet = await (await session.account()).openWallet(walletId)
  changeRest(wallet, readPausedWallets(session.paths.session).has(walletId))
  return wallet
}

/** Opens a wallet for what its files say, such as its name: its engine rests, and its chain is left alone. */
export const openResting = async (session: Session, walletId: string): Promise<CurrencyWallet> => {
  const wallet = await (await session.account()).openWallet(walletId)
  changeRest(wallet, true)
  return wallet
}

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

/** Nobody waits for the engine, and its failure shows in the wallet. */
const changeRest = (wallet: CurrencyWallet, isResting: boolean): void => {
  if (wallet.getSnapshot().isPaused !== isResting) wallet.changePaused(isResting).catch(() => {})
}
