import type { Account, WalletListing } from '../../kernel/index.ts'

/** The wallets that an account lists, without its repos and other keys. */
export const listedWallets = (account: Pick<Account, 'listWallets'>): readonly WalletListing[] =>
  account.listWallets().filter(({ isWallet }) => isWallet)
