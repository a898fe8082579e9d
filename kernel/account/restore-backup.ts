import { compact } from '../base/compact.ts'
import { checkPath } from '../base/disk-path.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, isShortText, tryJsonText } from '../base/json.ts'
import { Secret } from '../base/secret.ts'
import { makeYielder } from '../base/yielder.ts'
import { openBox, openJson } from '../crypto/box.ts'
import { base58Of, isWellFormed } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import { repoIdOf } from '../keys/ids.ts'
import { destroyRepoKeys, type RepoKeys, repoKeysOf } from '../keys/wallet-info.ts'
import { normalizeUsername, passwordKeyOf } from '../login/derive.ts'
import { isKeyOf } from '../login/payload.ts'
import { SecretCache } from '../login/secret-cache.ts'
import { boxNameOf } from '../login/secret-uses.ts'
import { parseStashFile } from '../login/stash.ts'
import type { Stashes } from '../login/stashes.ts'
import { openLoginTree } from '../login/tree.ts'
import type { Services } from '../plugins/services.ts'
import type { BulkChange } from '../repo/store/bulk.ts'
import { isSnrp } from '../schema/shape.ts'
import { restoreRepo } from '../sync/open-repo.ts'
import { PREFIX, parseBox } from '../sync/repo-record.ts'
import { type Box, isBox, type Snrp } from '../types/keys.ts'
import type { LocalUser, LoginStash } from '../types/login.ts'
import { BACKUP_TYPE, BACKUP_VERSION, backupKeyOf, DEVICE_KEY, MAX_BACKUP, walletInfosIn } from './backup.ts'

/** The password of a backup, and what it may do. */
export interface RestoreOptions {
  /** The account's password when the backup was made. */
  readonly password: string
  /**
   * Puts the backup in the place of the same account of this device. Texts that are replaced are kept for 30 days, and wallets that the
   * backup does not have stay.
   */
  readonly replaces?: boolean
}

interface GivenBackup extends Required<RestoreOptions> {
  readonly backup: string
}

/**
 * Restores an account: the whole backup is opened and checked, then each repo is written at once, then the stash. Until
 * that is there the device knows no account, and another try writes the same.
 *
 * @throws PASSWORD, BACKUP_INVALID, ACCOUNT_ON_DEVICE, USER_LOGGED_IN, STORAGE_FULL, STORAGE_FAILED
 */
export const restoreBackup = async (
  services: Services,
  stashes: Stashes,
  { backup, password, replaces }: GivenBackup
): Promise<LocalUser> => {
  const { io } = services
  const secrets = new SecretCache(io)
  try {
    const { header, lines } = parseBackup(backup)
    const loginKey = secrets.add(await openLoginKey(io, header, password))
    const { stash, repos } = await openParts(io, loginKey, lines)
    const isSameHeader =
      stash.username === header.username &&
      stash.passwordBox !== undefined &&
      boxNameOf(stash.passwordBox) === boxNameOf(header.passwordBox)
    if (!isSameHeader) throw invalid('was altered')
    const present = presentOf(stashes, stash, replaces)
    // A stranger's backup could name the id of an account of this device, to take its place.
    const isOwn = (known: LoginStash): boolean => loginKey.use(key => isKeyOf(io, known, key)) === true
    if (!isOwn(stash) || (present !== undefined && !isOwn(present))) throw invalid('is of another account')
    const tree = openLoginTree({ io, secrets, report: () => {} }, stash, loginKey)
    for (const info of walletInfosIn(tree)) secrets.add(info.keys)
    const keys = new Map<string, RepoKeys>()
    try {
      for (const info of walletInfosIn(tree)) addKeys(io, keys, () => repoKeysOf(io, info))
      for (const [repoId, contents] of repos) {
        const dataKey = keys.get(repoId)?.dataKey
        // Only what the account's own keys name has a place here.
        if (dataKey === undefined) continue
        const report = (error: unknown): void => services.report('restore', error)
        await restoreRepo({ io, disk: services.disk, repoId, dataKey, report, own: DEVICE_KEY }, contents)
      }
    } finally {
      for (const repoKeys of keys.values()) destroyRepoKeys(repoKeys)
    }
    await stashes.save(present === undefined ? stash : withRest(stash, present))
    const loginId = base58Of(io.crypto.fromBase64(stash.loginId))
    return stashes.localUsers().find(user => user.loginId === loginId) as LocalUser
  } finally {
    secrets.destroy()
  }
}

type Contents = (readonly [key: string, change: string | BulkChange])[]

interface Header {
  readonly username: string
  readonly passwordKeySnrp: Snrp
  readonly passwordBox: Box
}

const invalid = (rule: string, cause?: unknown): WalletError =>
  new WalletError('BACKUP_INVALID', { rule }, cause)

const parseBackup = (backup: string): { header: Header; lines: string[] } => {
  if (backup.length > MAX_BACKUP) throw invalid('is too large')
  const [first = '', ...lines] = backup.replaceAll('\r\n', '\n').trimEnd().split('\n')
  const header = first.length > MAX_HEADER ? undefined : tryJsonText(first)
  if (!isRecord(header) || header.type !== BACKUP_TYPE) throw invalid('is no backup of an account')
  if (header.version !== BACKUP_VERSION) throw invalid('is of another version of this program')
  const { username, passwordKeySnrp, passwordBox } = header
  if (!isShortText(username) || !isSnrp(passwordKeySnrp) || !isBox(passwordBox))
    throw invalid('has a damaged first line')
  return { header: { username, passwordKeySnrp, passwordBox }, lines }
}

const MAX_HEADER = 10_000

/** The dear derivation of a login by password, with the parameters of the account. */
const openLoginKey = async (
  io: Io,
  { username, passwordKeySnrp, passwordBox }: Header,
  password: string
): Promise<Secret<Uint8Array>> => {
  if (!isWellFormed(password)) throw new WalletError('PASSWORD', {})
  let name: string
  let key: Uint8Array
  try {
    name = normalizeUsername(username)
    key = await passwordKeyOf(io, { username: name, password }, passwordKeySnrp)
  } catch (error) {
    const isAltered = isWalletError(error, 'SNRP_REFUSED') || isWalletError(error, 'BAD_USERNAME')
    throw isAltered ? invalid('has a damaged first line', error) : error
  }
  try {
    return new Secret(openBox(io, key, passwordBox))
  } catch (error) {
    throw new WalletError('PASSWORD', {}, error)
  } finally {
    key.fill(0)
  }
}

interface OpenedBackup {
  readonly stash: LoginStash
  readonly repos: ReadonlyMap<string, Contents>
}

/** Opens every box before anything is used: a backup that is not whole restores nothing. */
const openParts = async (
  io: Io,
  loginKey: Secret<Uint8Array>,
  lines: readonly string[]
): Promise<OpenedBackup> => {
  const key = backupKeyOf(io, loginKey)
  const breathe = makeYielder(io.clock)
  const repos = new Map<string, Contents>()
  let stash: LoginStash | undefined
  let backupId: unknown
  try {
    for (const [at, line] of lines.entries()) {
      const part = openPart(io, key, line)
      backupId ??= part.backupId
      const isLast = at === lines.length - 1
      // A box of another backup of the account opens, too.
      const isInPlace = part.backupId === backupId && part.part === at + 1
      if (typeof backupId !== 'string' || !isInPlace || (part.isLast === true) !== isLast)
        throw invalid('was cut or altered')
      if (at === 0) stash = parseStash(io, part.stash)
      else if (!isLast) addEntries(repos, part)
      await breathe()
    }
  } finally {
    key.fill(0)
  }
  if (stash === undefined || lines.length < 2) throw invalid('was cut or altered')
  return { stash, repos }
}

const openPart = (io: Io, key: Uint8Array, line: string): Readonly<Record<string, unknown>> => {
  const box = parseBox(line)
  if (box === undefined) throw invalid('was cut or altered')
  try {
    const part = openJson(io, key, box)
    if (isRecord(part)) return part
  } catch (error) {
    throw invalid('was cut or altered', error)
  }
  throw invalid('was cut or altered')
}

const parseStash = (io: Io, text: unknown): LoginStash => {
  try {
    return parseStashFile(io, String(text))
  } catch (error) {
    throw invalid('holds no account', error)
  }
}

const addEntries = (repos: Map<string, Contents>, part: Readonly<Record<string, unknown>>): void => {
  const { repoId, entries } = part
  if (typeof repoId !== 'string' || !Array.isArray(entries)) throw invalid('holds a damaged repo')
  const contents = repos.get(repoId) ?? []
  for (const entry of entries as unknown[]) contents.push(parseEntry(entry))
  repos.set(repoId, contents)
}

const parseEntry = (entry: unknown): Contents[number] => {
  const [key, text, order, mark] = Array.isArray(entry) ? (entry as unknown[]) : []
  if (typeof key !== 'string' || typeof text !== 'string' || !isStoreKey(key))
    throw invalid('holds a damaged entry')
  if (order === undefined && mark === undefined) return [key, text]
  if (!Number.isFinite(order) || !Number.isInteger(mark)) throw invalid('holds a damaged entry')
  return [key, { text, order: order as number, mark: mark as number }]
}

const isStoreKey = (key: string): boolean => {
  if (!PREFIXES.some(prefix => key.startsWith(prefix))) return false
  if (!key.startsWith(PREFIX.file)) return true
  try {
    checkPath(key.slice(PREFIX.file.length))
    return true
  } catch {
    return false
  }
}

const PREFIXES = Object.values(PREFIX)

/** The same account on this device. @throws ACCOUNT_ON_DEVICE, USER_LOGGED_IN */
const presentOf = (stashes: Stashes, stash: LoginStash, replaces: boolean): LoginStash | undefined => {
  stashes.checkNameFree(stash)
  const present = stashes.get(stash.loginId)
  if (present === undefined) return undefined
  const hasMoved = stash.deviceOnly !== undefined && present.deviceOnly === undefined
  if (hasMoved) throw new WalletError('ACCOUNT_ON_DEVICE', { reason: 'moved' })
  if (!replaces) throw new WalletError('ACCOUNT_ON_DEVICE', { reason: 'account' })
  if (stashes.isOpen(stash.loginId)) throw new WalletError('USER_LOGGED_IN', {})
  return present
}

/** The stash of the backup, with the keys and logins of this device that came later: coins hang on them. */
const withRest = (stash: LoginStash, present: LoginStash): LoginStash => {
  const names = new Set((stash.keyBoxes ?? []).map(boxNameOf))
  const keyBoxes = (present.keyBoxes ?? []).filter(box => !names.has(boxNameOf(box)))
  const known = present.children ?? []
  const children = (stash.children ?? []).map(child => {
    const other = known.find(({ loginId }) => loginId === child.loginId)
    return other === undefined ? child : withRest(child, other)
  })
  const others = known.filter(({ loginId }) => !children.some(child => child.loginId === loginId))
  const all = [...children, ...others]
  return {
    ...stash,
    keyBoxes: [...(stash.keyBoxes ?? []), ...keyBoxes],
    ...compact({ children: all.length === 0 ? undefined : all })
  }
}

/** Keys without a repo are left out. */
const addKeys = (io: Io, keys: Map<string, RepoKeys>, read: () => RepoKeys): void => {
  try {
    const repoKeys = read()
    const repoId = repoKeys.syncKey.use(key => repoIdOf(io, key))
    const known = keys.get(repoId)
    if (known !== undefined) destroyRepoKeys(known)
    keys.set(repoId, repoKeys)
  } catch {}
}
