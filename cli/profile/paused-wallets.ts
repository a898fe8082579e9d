import { readState, writeState } from './state-file.ts'

const FILE = 'paused-wallets.json'

/** The wallets whose chains this device does not look at, until they are resumed. */
export const readPausedWallets = (stateFolder: string): ReadonlySet<string> => {
  const { walletIds } = readState(stateFolder, FILE) ?? {}
  return new Set(Array.isArray(walletIds) ? walletIds.filter(id => typeof id === 'string') : [])
}

/** Remembers the wallets that are paused on this device. */
export const writePausedWallets = (stateFolder: string, walletIds: ReadonlySet<string>): void =>
  writeState(stateFolder, FILE, { walletIds: [...walletIds] })
