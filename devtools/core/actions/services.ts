import {
  type Account,
  type Context,
  type CurrencyWallet,
  type Io,
  WalletError,
  type WalletId
} from '../../../kernel/index.ts'
import type { ActionName, Actions } from '../model/actions.ts'
import type { FakeWorldControl } from '../model/world-control.ts'

/** The kernel and the device state that action handlers work on. */
export interface ActionServices {
  readonly context: Context
  /** The kernel's own. */
  readonly io: Pick<Io, 'clock' | 'random' | 'crypto'>
  /** Absent where the chains are real. */
  readonly world?: FakeWorldControl | undefined
  /** Left out where a pause lasts no longer than the wallet is open. */
  readonly pausedWallets?: PausedWallets | undefined
  /** For a panel that may only look: what it asks leaves nothing behind. That it does no more is for the session to see to. */
  readonly isReadOnly?: boolean | undefined
}

/** The actions whose names begin so, such as `account`. */
export type HandlersOf<Group extends string> = {
  readonly [K in ActionName as K extends `${Group}.${string}` ? K : never]: (
    input: Actions[K]['in']
  ) => Promise<Actions[K]['out']>
}

/** A wallet with the account that it is in. */
export interface OwnedWallet {
  readonly account: Account
  readonly wallet: CurrencyWallet
}

/** The account with that id, however it was opened. @throws LOGGED_OUT unless it is open */
export const accountOf = ({ context }: ActionServices, accountId: string): Account => {
  const found = context.accounts.find(({ id }) => id === accountId)
  if (found === undefined) throw new WalletError('LOGGED_OUT', {})
  return found
}

/** Finds a wallet in the open accounts, and opens it if it is not. @throws WALLET_NOT_FOUND, what opening one can meet */
export const walletOf = async (services: ActionServices, walletId: WalletId): Promise<OwnedWallet> => {
  const account = services.context.accounts.find(one =>
    one.listWallets().some(listing => listing.isWallet && listing.walletId === walletId && !listing.deleted)
  )
  if (account === undefined) throw new WalletError('WALLET_NOT_FOUND', { walletId })
  return { account, wallet: await openWalletIn(services, account, walletId) }
}

/** Opens a wallet of an account; one that was paused stays at rest. @throws what opening one can meet */
export const openWalletIn = (
  { pausedWallets }: ActionServices,
  account: Account,
  walletId: WalletId
): Promise<CurrencyWallet> =>
  account.openWallet(walletId, { isPaused: pausedWallets?.has(walletId) === true })

/** The wallets that somebody has paused on this device, kept beyond the life of a kernel. */
export interface PausedWallets {
  has(walletId: WalletId): boolean
  /** Remembers that a wallet is paused, or no longer is. */
  change(walletId: WalletId, isPaused: boolean): void
}
