import { readState, removeState, writeState } from './state-file.ts'

const FILE = 'current-account.json'

/** The account that commands use while no other is named. No key is kept. */
export interface CurrentAccount {
  readonly loginId: string
  readonly username?: string
}

/** Who logged in last on this profile, unless they logged out. */
export const readCurrentAccount = (stateFolder: string): CurrentAccount | undefined => {
  const { loginId, username } = readState(stateFolder, FILE) ?? {}
  if (typeof loginId !== 'string') return undefined
  return { loginId, ...(typeof username === 'string' ? { username } : {}) }
}

/** Remembers who logged in. */
export const writeCurrentAccount = (stateFolder: string, account: CurrentAccount): void =>
  writeState(stateFolder, FILE, account)

/** Forgets who logged in. */
export const forgetCurrentAccount = (stateFolder: string): void => removeState(stateFolder, FILE)
