import type { Account } from '../../kernel/index.ts'
import { readState, removeState, writeState } from './state-file.ts'

const FILE = 'current-account.json'

/** The account that commands use while no other is named. No key is kept. */
export interface CurrentAccount {
  readonly loginId: string
  readonly username?: string
  /** How the last login went, for `whoami`. */
  readonly method?: string
  readonly appId?: string
  readonly isEdgeLogin?: boolean
}

/** Who logged in last on this profile, unless they logged out. */
export const readCurrentAccount = (stateFolder: string): CurrentAccount | undefined => {
  const { loginId, username, method, appId, isEdgeLogin } = readState(stateFolder, FILE) ?? {}
  if (typeof loginId !== 'string') return undefined
  return {
    loginId,
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    ...(typeof appId === 'string' ? { appId } : {}),
    ...(typeof isEdgeLogin === 'boolean' ? { isEdgeLogin } : {})
  }
}

/** Remembers an account that is logged in as the current one. */
export const rememberAccount = (stateFolder: string, account: Account): void => {
  const { id, username, loginMethod, isEdgeLogin } = account
  const { appId } = account.getSnapshot()
  const name = username === undefined ? {} : { username }
  writeCurrentAccount(stateFolder, { loginId: id, ...name, method: loginMethod, appId, isEdgeLogin })
}

/** Remembers who logged in. */
export const writeCurrentAccount = (stateFolder: string, account: CurrentAccount): void =>
  writeState(stateFolder, FILE, account)

/** Forgets who logged in. */
export const forgetCurrentAccount = (stateFolder: string): void => removeState(stateFolder, FILE)
