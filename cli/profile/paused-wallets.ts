import { readState, writeState } from './state-file.ts'

const FILE = 'paused-wallets.json'

/** The wallets whose chains this device does not look at, until they are resumed. */
export const readPausedWallets = (stateFolder: string): ReadonlySet<string> => {
  const { walletIds } = readState(stateFolder, FILE) ?? {}
  return new Set(Array.isArray(walletIds) ? walletIds.filter(id => typeof id === 'string') : [])
}

/** Remembers that wallets are paused on this device, or no longer are. */
export const changePausedWallets = (
  stateFolder: string,
  walletIds: readonly string[],
  isPaused: boolean
): void => {
  const before = [...readPausedWallets(stateFolder)]
  const others = before.filter(walletId => !walletIds.includes(walletId))
  writeState(stateFolder, FILE, { walletIds: isPaused ? [...others, ...walletIds] : others })
}
