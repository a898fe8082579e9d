import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { PausedWallets } from '../../app/actions/services.ts'
import { type Account, compact, parseJsonText, tryJsonText } from '../../kernel/index.ts'
import { makePrivateFolder } from './paths.ts'

const CURRENT_ACCOUNT = 'current-account.json'

/** The account that commands use while no other is named. No key is kept. */
export interface CurrentAccount {
  readonly loginId: string
  readonly username?: string
  /** The method of the last login, for `whoami`. */
  readonly method?: string
  readonly appId?: string
  readonly isEdgeLogin?: boolean
}

/** Reads the current account of this profile; undefined after a logout. */
export const readCurrentAccount = (stateFolder: string): CurrentAccount | undefined => {
  const { loginId, username, method, appId, isEdgeLogin } = readState(stateFolder, CURRENT_ACCOUNT) ?? {}
  if (typeof loginId !== 'string') return undefined
  return {
    loginId,
    ...compact({
      username: typeof username === 'string' ? username : undefined,
      method: typeof method === 'string' ? method : undefined,
      appId: typeof appId === 'string' ? appId : undefined,
      isEdgeLogin: typeof isEdgeLogin === 'boolean' ? isEdgeLogin : undefined
    })
  }
}

/** Saves an account as the current one. */
export const rememberAccount = (stateFolder: string, account: Account): void => {
  const { id, username, loginMethod, isEdgeLogin } = account
  const { appId } = account.getSnapshot()
  const name = username === undefined ? {} : { username }
  writeCurrentAccount(stateFolder, { loginId: id, ...name, method: loginMethod, appId, isEdgeLogin })
}

/** Saves the current account. */
export const writeCurrentAccount = (stateFolder: string, account: CurrentAccount): void =>
  writeState(stateFolder, CURRENT_ACCOUNT, account)

/** Removes the current account. */
export const forgetCurrentAccount = (stateFolder: string): void => removeState(stateFolder, CURRENT_ACCOUNT)

const PAUSED_WALLETS = 'paused-wallets.json'

/** Reads the wallets that are paused on this device. */
export const readPausedWallets = (stateFolder: string): ReadonlySet<string> => {
  const { walletIds } = readState(stateFolder, PAUSED_WALLETS) ?? {}
  return new Set(Array.isArray(walletIds) ? walletIds.filter(id => typeof id === 'string') : [])
}

/** The wallets that are paused on this device, for actions. */
export const pausedWalletsIn = (stateFolder: string): PausedWallets => ({
  has: walletId => readPausedWallets(stateFolder).has(walletId),
  change(walletId, isPaused) {
    const others = [...readPausedWallets(stateFolder)].filter(id => id !== walletId)
    writeState(stateFolder, PAUSED_WALLETS, { walletIds: isPaused ? [...others, walletId] : others })
  }
})

/** Reads a small JSON file of the state folder; undefined if it is missing or damaged. */
export const readState = (folder: string, name: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = parseJsonText(readFileSync(join(folder, name), 'utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a JSON file of the state folder that must not be lost unnoticed; undefined if there is none.
 *
 * @param parse - returns undefined for invalid data: then the file is moved to `<name>.damaged`
 * @param onDamaged - called with the new path
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

/** Returns true if a value has fields. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Replaces a small JSON file of the state folder, whole or not at all, readable by its owner alone. */
export const writeState = (folder: string, name: string, value: object): void => {
  makePrivateFolder(folder)
  replaceFile(join(folder, name), `${JSON.stringify(value)}\n`)
}

/** As {@link writeState}, but leaves a file that is there, also one that another process has just made. */
export const writeNewState = (folder: string, name: string, value: object): void => {
  makePrivateFolder(folder)
  writeWhole(join(folder, name), `${JSON.stringify(value)}\n`, moveUnlessThere)
}

const moveUnlessThere = (draft: string, path: string): void => {
  try {
    linkSync(draft, path)
  } catch {
    // Some file systems have no links; there the check and the move are two steps.
    if (!existsSync(path)) renameSync(draft, path)
  }
  rmSync(draft, { force: true })
}

/** Replaces a file, whole or not at all, readable by its owner alone. It is durable once this returns. */
export const replaceFile = (path: string, text: string): void => writeWhole(path, text, renameSync)

const writeWhole = (path: string, text: string, move: (draft: string, path: string) => void): void => {
  const draft = `${path}.${process.pid}.tmp`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  move(draft, path)
  // Windows cannot sync a folder.
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Removes a file of the state folder, if it is there. */
export const removeState = (folder: string, name: string): void => {
  rmSync(join(folder, name), { force: true })
}
