/** The wallets that somebody has paused on this device, kept beyond the life of a kernel. */
export interface PausedWallets {
  has(walletId: string): boolean
  /** Remembers that a wallet is paused, or no longer is. */
  change(walletId: string, isPaused: boolean): void
}
