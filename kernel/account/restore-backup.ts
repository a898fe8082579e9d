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
import type { LoginId } from '../types/ids.ts'
import { type Box, isBox, type SecretWalletInfo, type Snrp } from '../types/keys.ts'
import type { LocalUser, LoginStash } from '../types/login.ts'
import { JOURNAL_PREFIXES } from '../wallet/spend/journal.ts'
import { BACKUP_TYPE, BACKUP_VERSION, backupKeyOf, isOfDevice, MAX_BACKUP, walletInfosIn } from './backup.ts'

/** The password of a backup. */
export interface RestoreOptions {
  /** The account's password when the backup was made. */
  readonly password: string
}

interface GivenBackup extends RestoreOptions {
  readonly backup: string
  /** Resolves when a session of the account that is ending has closed its repos. */
  sessionEnd(loginId: LoginId): Promise<void>
}

/**
 * Restores an account that this device does not have: the whole backup is opened and checked, then each repo is written at
 * once, then the stash. Until that is there the device knows no account, and another try writes the same. No login is
 * saved or forgotten meanwhile.
 *
 * @throws PASSWORD, BACKUP_INVALID, ACCOUNT_ON_DEVICE, STORAGE_FULL, STORAGE_FAILED
 */
export const restoreBackup = async (
  services: Services,
  stashes: Stashes,
  { backup, password, sessionEnd }: GivenBackup
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
    if (loginKey.use(key => isKeyOf(io, stash, key)) !== true) throw invalid('is of another account')
    const tree = openLoginTree({ io, secrets, report: () => {} }, stash, loginKey)
    for (const info of walletInfosIn(tree)) secrets.add(info.keys)
    await sessionEnd(stash.loginId)
    await stashes.add(stash, () => restoreRepos(services, walletInfosIn(tree), repos))
    const loginId = base58Of(io.crypto.fromBase64(stash.loginId))
    return stashes.localUsers().find(user => user.loginId === loginId) as LocalUser
  } finally {
    secrets.destroy()
  }
}

const restoreRepos = async (
  services: Services,
  infos: readonly SecretWalletInfo[],
  repos: ReadonlyMap<string, Contents>
): Promise<void> => {
  const { io, disk } = services
  const report = (error: unknown): void => services.report('restore', error)
  const keys = new Map<string, RepoKeys>()
  try {
    for (const info of infos) addKeys(io, keys, () => repoKeysOf(io, info))
    for (const [repoId, contents] of repos) {
      const dataKey = keys.get(repoId)?.dataKey
      // Only what the account's own keys name has a place here.
      if (dataKey === undefined) continue
      const given = contents.filter(([key]) => !isOfDevice(key))
      await restoreRepo({ io, disk, repoId, dataKey, report, staysAsItIs }, given)
    }
  } finally {
    for (const repoKeys of keys.values()) destroyRepoKeys(repoKeys)
  }
}

/**
 * True for an entry that this device keeps from a time when it had the account: payments that may have left, orders that were
 * made, and what rules remember. A backup of an earlier day must not undo it.
 */
const staysAsItIs = (key: string): boolean =>
  isOfDevice(key) || LASTING.some(prefix => key.startsWith(PREFIX.local + prefix))

const LASTING = [...JOURNAL_PREFIXES, 'swap/', 'order/']

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
