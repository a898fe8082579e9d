import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, parseJsonText, tryJsonText } from '../../kernel/index.ts'
import { makePrivateFolder } from './paths.ts'

const CURRENT_ACCOUNT = 'current-account.json'

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
  const { loginId, username, method, appId, isEdgeLogin } = readState(stateFolder, CURRENT_ACCOUNT) ?? {}
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
  writeState(stateFolder, CURRENT_ACCOUNT, account)

/** Forgets who logged in. */
export const forgetCurrentAccount = (stateFolder: string): void => removeState(stateFolder, CURRENT_ACCOUNT)

const PAUSED_WALLETS = 'paused-wallets.json'

/** The wallets whose chains this device does not look at, until they are resumed. */
export const readPausedWallets = (stateFolder: string): ReadonlySet<string> => {
  const { walletIds } = readState(stateFolder, PAUSED_WALLETS) ?? {}
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
  writeState(stateFolder, PAUSED_WALLETS, { walletIds: isPaused ? [...others, ...walletIds] : others })
}

/** Reads a small JSON file of the state folder; a file that is absent or damaged counts as none. */
export const readState = (folder: string, name: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = parseJsonText(readFileSync(join(folder, name), 'utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a JSON file of the state folder that is not to be lost unnoticed; undefined if there is none.
 *
 * @param parse - undefined for what it cannot be: then the file is kept beside, as `<name>.damaged`
 * @param tell - told where it was put
 */
export const readOrQuarantine = <T>(
  folder: string,
  name: string,
  { parse, onDamaged }: { parse(value: unknown): T | undefined; onDamaged(path: string): void }
): T | undefined => {
  const path = join(folder, name)
  if (!existsSync(path)) return undefined
  const parsed = parse(tryJsonText(readFileSync(path, 'utf8')))
  if (parsed !== undefined) return parsed
  renameSync(path, `${path}.damaged`)
  onDamaged(`${path}.damaged`)
  return undefined
}

/** Whether a value has fields. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Replaces a small JSON file of the state folder, whole or not at all, readable by its owner alone. */
export const writeState = (folder: string, name: string, value: object): void => {
  makePrivateFolder(folder)
  const path = join(folder, name)
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes a file of the state folder, if it is there. */
export const removeState = (folder: string, name: string): void => {
  rmSync(join(folder, name), { force: true })
}
