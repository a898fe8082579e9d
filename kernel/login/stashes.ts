import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import { quarantine } from '../base/quarantine.ts'
import { dateOf, isoOf } from '../base/time.ts'
import { base58Of, parseBase58 } from '../crypto/encoding.ts'
import { stashPathOf } from '../keys/ids.ts'
import type { Services } from '../plugins/services.ts'
import { type CredentialFiles, openCredentialFiles } from '../sync/credential-files.ts'
import type { LocalLoginId, LoginId, Username } from '../types/ids.ts'
import type { LocalUser, LoginStash } from '../types/login.ts'
import type { UserSnapshot } from '../types/snapshots.ts'
import { normalizeUsername } from './derive.ts'
import { SavedOtpKeys } from './saved-otp-keys.ts'
import {
  findStashByApp,
  isComplete,
  isSameStash,
  parseStashFile,
  replaceStash,
  stashTextOf
} from './stash.ts'

/** The services that the stashes need. */
export type StashServices = Pick<Services, 'io' | 'hooks' | 'disk' | 'config' | 'report' | 'logOf'>

/** A user by name, normalised, or by base58 id. */
export type UserQuery = { readonly username: Username } | { readonly loginId: LocalLoginId }

/**
 * Reads every login of this device; writes nothing.
 *
 * A file that cannot be read is reported, skipped and kept.
 *
 * @throws STORAGE_FAILED
 */
export const openStashes = async (services: StashServices): Promise<Stashes> => {
  const files = openCredentialFiles({
    io: services.io,
    disk: services.disk,
    report: error => services.report('logins', error),
    isValid: (_, text) => isStash(services, text)
  })
  const stashes = new Stashes(services, files, await loadStashes(services, files))
  if (stashes.list().length > 0) stashes.emit()
  return stashes
}

/** The logins that this device knows, the last used first; the one writer of `logins/` (specification §3). */
export class Stashes implements Readable<readonly LoginStash[]> {
  /** The two-factor keys that have worked here. */
  readonly otpKeys: SavedOtpKeys
  readonly #services: StashServices
  readonly #files: CredentialFiles
  readonly #unreadable: Map<string, string>
  readonly #found = new Map<string, FoundStash>()
  readonly #state: Observable<readonly LoginStash[]>
  readonly #mutex = new Mutex()
  readonly #openCounts = new Map<string, number>()
  #users: { readonly stashes: readonly LoginStash[]; readonly users: readonly LocalUser[] } | undefined

  constructor(services: StashServices, files: CredentialFiles, folder: StashFolder) {
    this.#services = services
    this.otpKeys = new SavedOtpKeys(services)
    this.#files = files
    this.#unreadable = new Map(folder.unreadable)
    for (const found of folder.found) this.#found.set(found.saved.loginId, found)
    this.#state = new Observable<readonly LoginStash[]>(
      folder.found.map(({ saved }) => saved),
      () => this.emit(),
      error => services.report('logins', error)
    )
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): readonly LoginStash[] => this.#state.getSnapshot()

  /** Notifies observers of the logins on this device. */
  emit(): void {
    this.#services.hooks.usersChanged.call(this.#snapshots())
  }

  /** Every root login, the last used first. */
  list(): readonly LoginStash[] {
    return this.#state.getSnapshot()
  }

  /** The users of this device, the last used first; the same list until one changes, since screens compare by identity. */
  localUsers(): readonly LocalUser[] {
    const stashes = this.list()
    if (this.#users?.stashes !== stashes)
      this.#users = { stashes, users: stashes.map(stash => localUserOf(this.#services, stash)) }
    return this.#users.users
  }

  find(query: UserQuery): LoginStash | undefined {
    if ('username' in query) return this.list().find(({ username }) => username === query.username)
    const loginId = this.#base64Of(query.loginId)
    return this.list().find(stash => stash.loginId === loginId)
  }

  /** The login with this base64 id. */
  get(loginId: LoginId): LoginStash | undefined {
    return this.list().find(stash => stash.loginId === loginId)
  }

  /**
   * Keeps a login and puts it first. Resolves when it is durable; memory changes last.
   *
   * A change of nothing but `lastLogin` is written once a day, so that a plain login writes nothing.
   *
   * @throws INCOMPLETE_LOGIN unless it is a root login with an id of 32 bytes
   * @throws STORAGE_FULL, STORAGE_FAILED; what was kept before is unharmed
   */
  save(stash: LoginStash): Promise<void> {
    return this.#mutex.run(() => this.#save(stash))
  }

  /**
   * Changes the newest version of a login, after all earlier changes; as {@link save} in all else.
   *
   * `change` gets undefined for a login that is not known, and saves nothing by giving back what it got.
   *
   * @param loginId - base64, of the root login
   * @throws STASH_NOT_FOUND if there is none and `change` gives none
   */
  update(
    loginId: LoginId,
    change: (stash: LoginStash | undefined) => LoginStash | undefined
  ): Promise<LoginStash> {
    return this.#mutex.run(async () => {
      const present = this.get(loginId)
      const next = change(present)
      if (next === undefined) throw new WalletError('STASH_NOT_FOUND', {})
      if (next !== present) await this.#save(next)
      return next
    })
  }

  /**
   * Keeps a login that this device does not have, after what belongs to it. All other changes of logins wait until both are done, or one
   * has failed.
   *
   * @param write - brings what the login needs on this device
   * @throws ACCOUNT_ON_DEVICE, before `write` is called; as {@link save}, and what `write` throws
   */
  add(stash: LoginStash, write: () => Promise<void>): Promise<void> {
    return this.#mutex.run(async () => {
      this.checkNameFree(stash)
      const present = this.get(stash.loginId)
      const hasMoved = stash.deviceOnly !== undefined && present?.deviceOnly === undefined
      if (present !== undefined)
        throw new WalletError('ACCOUNT_ON_DEVICE', { reason: hasMoved ? 'moved' : 'account' })
      await write()
      await this.#save(stash)
    })
  }

  /**
   * Forgets a user and deletes its files. `loginId`: base58.
   *
   * @throws USER_NOT_ON_DEVICE, USER_LOGGED_IN
   */
  remove(loginId: LocalLoginId): Promise<void> {
    return this.#mutex.run(async () => {
      const found = this.#found.get(this.#base64Of(loginId))
      if (found === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
      const id = found.saved.loginId
      if (this.#openCounts.has(id)) throw new WalletError('USER_LOGGED_IN', {})
      for (const path of found.paths) await this.#files.delete(path)
      await this.otpKeys.remove(id)
      this.#found.delete(id)
      this.#state.set(this.list().filter(stash => stash.loginId !== id))
    })
  }

  /** True while a login is logged in. `loginId`: base64. */
  isOpen(loginId: LoginId): boolean {
    return this.#openCounts.has(loginId)
  }

  /**
   * Checks that no other account of this device has a username where one of the two has no server that keeps names apart: a
   * password could not tell them apart. `loginId`: base64, of the account that wants the name.
   *
   * @throws ACCOUNT_ON_DEVICE
   */
  checkNameFree({
    username,
    loginId,
    deviceOnly
  }: Pick<LoginStash, 'username' | 'loginId' | 'deviceOnly'>): void {
    const isSame = (other: LoginStash): boolean =>
      username !== undefined && other.username === username && other.loginId !== loginId
    const isTaken = (other: LoginStash): boolean =>
      isSame(other) && (deviceOnly !== undefined || other.deviceOnly !== undefined)
    if (this.list().some(isTaken)) throw new WalletError('ACCOUNT_ON_DEVICE', { reason: 'name' })
  }

  /** Marks a login as logged in until the returned function is called. `loginId`: base64. */
  markOpen(loginId: LoginId): () => void {
    const count = (change: 1 | -1): void => {
      const next = (this.#openCounts.get(loginId) ?? 0) + change
      if (next === 0) this.#openCounts.delete(loginId)
      else this.#openCounts.set(loginId, next)
      this.#state.set([...this.list()])
    }
    count(1)
    let isOpen = true
    return () => {
      if (isOpen) count(-1)
      isOpen = false
    }
  }

  async #save(stash: LoginStash): Promise<void> {
    const { loginId } = stash
    const bytes = idBytesOf(this.#services, stash)
    const found = this.#found.get(loginId)
    if (found === undefined || !isNearlyEqual(stash, found.saved)) {
      const path = stashPathOf(bytes)
      await this.#keepUnreadable(path)
      await this.#files.setText(path, stashTextOf(stash))
      this.#found.set(loginId, { saved: stash, paths: new Set([path, ...(found?.paths ?? [])]) })
    }
    this.#state.set([stash, ...this.list().filter(other => other.loginId !== loginId)])
  }

  async #keepUnreadable(path: string): Promise<void> {
    const text = this.#unreadable.get(path)
    if (text === undefined) return
    await quarantine(this.#services.disk, this.#services.io.clock, {
      path,
      text,
      rule: 'it is no login stash'
    })
    this.#unreadable.delete(path)
  }

  #base64Of(base58: string): string {
    try {
      return this.#services.io.crypto.toBase64(parseBase58(base58))
    } catch {
      return ''
    }
  }

  #snapshots(): readonly UserSnapshot[] {
    const snapshots = this.list().map(stash => {
      const { loginId, username, isPinLoginEnabled, isDeviceOnly } = localUserOf(this.#services, stash)
      return Object.freeze<UserSnapshot>({
        loginId,
        isPinLoginEnabled,
        isLoggedIn: this.#openCounts.has(stash.loginId),
        ...compact({ username, lastLogin: stash.lastLogin, isDeviceOnly })
      })
    })
    return Object.freeze(snapshots)
  }
}

const DAY_MS = 86_400_000

/** Checks if two versions differ in nothing but a `lastLogin` of the same day. */
const isNearlyEqual = (next: LoginStash, saved: LoginStash): boolean => {
  const gap = Date.parse(next.lastLogin ?? '') - Date.parse(saved.lastLogin ?? '')
  if (next.lastLogin !== saved.lastLogin && !(Math.abs(gap) < DAY_MS)) return false
  const { lastLogin: _, ...rest } = next
  const { lastLogin: __, ...savedRest } = saved
  return isSameStash(rest, savedRest)
}

const idBytesOf = ({ io }: StashServices, { appId, loginId }: LoginStash): Uint8Array => {
  const bytes = io.crypto.fromBase64(loginId)
  if (appId !== '' || bytes.length !== 32) throw new WalletError('INCOMPLETE_LOGIN', {})
  return bytes
}

const localUserOf = ({ io, config }: StashServices, stash: LoginStash): LocalUser => {
  const node = findStashByApp(stash, config.appId)
  const { username, lastLogin, voucherId, recovery2Key, deviceOnly } = stash
  const user: LocalUser = {
    loginId: base58Of(io.crypto.fromBase64(stash.loginId)),
    isPinLoginEnabled: (stash.pin2Key ?? node?.pin2Key) !== undefined,
    isKeyLoginEnabled: node !== undefined && isComplete(node),
    ...compact({ username, lastLogin: lastLogin === undefined ? undefined : dateOf(lastLogin), voucherId }),
    ...compact({ isDeviceOnly: deviceOnly && (true as const) })
  }
  if (recovery2Key === undefined || config.hideKeys) return user
  // Not enumerable, so that printing or copying the list of users never shows a secret.
  const get = (): string => base58Of(io.crypto.fromBase64(recovery2Key))
  return Object.defineProperty(user, 'recovery2Key', { get, enumerable: false })
}

const isStash = (services: StashServices, text: string): boolean => {
  try {
    parseStashFile(services.io, text)
    return true
  } catch {
    return false
  }
}

/** A login as the disk has it, and every file that holds it: old clients named files otherwise. */
interface FoundStash {
  readonly saved: LoginStash
  readonly paths: ReadonlySet<string>
}

/** The content of `logins/`: the logins, last used first, and the texts that are none, by path. */
interface StashFolder {
  readonly found: readonly FoundStash[]
  readonly unreadable: ReadonlyMap<string, string>
}

/**
 * Reads `logins/`. A file that cannot be read is reported and left as it is (protocol §3.2).
 *
 * @throws STORAGE_FAILED
 */
const loadStashes = async (
  services: Pick<Services, 'io' | 'report'>,
  files: CredentialFiles
): Promise<StashFolder> => {
  const found = new Map<string, FoundStash>()
  const unreadable = new Map<string, string>()
  for (const path of await files.list('logins')) {
    if (!path.endsWith('.json')) continue
    const text = await textOf(services, files, path)
    if (text === undefined) continue
    try {
      const stash = parseStashFile(services.io, text)
      found.set(stash.loginId, choose(services, { path, stash, known: found.get(stash.loginId) }))
    } catch (error) {
      unreadable.set(path, text)
      const rule = isWalletError(error) ? error.message : 'it is no login stash'
      services.report('logins', new WalletError('CORRUPT_FILE', { path, rule }, error))
    }
  }
  return { found: [...found.values()].sort(byLastLogin), unreadable }
}

const textOf = async (
  services: Pick<Services, 'report'>,
  files: CredentialFiles,
  path: string
): Promise<string | undefined> => {
  try {
    return await files.getText(path)
  } catch (error) {
    if (!isWalletError(error, 'CORRUPT_FILE')) throw error
    services.report('logins', error)
    return undefined
  }
}

interface Candidate {
  readonly path: string
  readonly stash: LoginStash
  readonly known: FoundStash | undefined
}

/** Of several files with one login, the one under the name that every client writes today is the newest. */
const choose = ({ io }: Pick<Services, 'io'>, { path, stash, known }: Candidate): FoundStash => {
  if (known === undefined) return { saved: stash, paths: new Set([path]) }
  const canonical = stashPathOf(io.crypto.fromBase64(stash.loginId))
  const isNewer = !known.paths.has(canonical) && (path === canonical || timeOf(stash) > timeOf(known.saved))
  return { saved: isNewer ? stash : known.saved, paths: new Set([...known.paths, path]) }
}

const byLastLogin = (left: FoundStash, right: FoundStash): number => timeOf(right.saved) - timeOf(left.saved)

const timeOf = ({ lastLogin }: LoginStash): number => (lastLogin === undefined ? 0 : Date.parse(lastLogin))

/** A user of this device: by username as typed, or by base58 login id for accounts without a name. */
export type UserName =
  | { readonly username: string; readonly loginId?: undefined }
  | { readonly loginId: LocalLoginId; readonly username?: undefined }

/** The stash of a user. @throws USER_NOT_ON_DEVICE, BAD_USERNAME */
export const findUser = (stashes: Stashes, { username, loginId }: UserName): LoginStash => {
  const stash =
    username === undefined
      ? stashes.find({ loginId })
      : stashes.find({ username: normalizeUsername(username) })
  if (stash === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
  return stash
}

type VoucherServices = Pick<Services, 'io' | 'report'>

/** The login that a request was about. */
export interface RequestedLogin {
  /** The root login as it was found, perhaps empty. */
  readonly stash: LoginStash
  /** The login within it. */
  readonly node: LoginStash
  /** It was logged in already, so that the date of the last login stays. */
  readonly isRefresh?: boolean
}

/**
 * Keeps what a refused code says of the account and its voucher, before the error is raised (specification §8).
 *
 * Other errors are passed over. Saving must not hide why the request failed, so its own failure is reported.
 */
export const saveVoucher = async (
  services: VoucherServices,
  stashes: Stashes,
  requested: RequestedLogin,
  error: unknown
): Promise<void> => {
  if (!isWalletError(error, 'OTP')) return
  try {
    await writeVoucher(services, stashes, { ...requested, details: error.details })
  } catch (failure) {
    services.report('login', failure)
  }
}

interface RefusedLogin extends RequestedLogin {
  readonly details: WalletError<'OTP'>['details']
}

const writeVoucher = async (
  { io }: VoucherServices,
  stashes: Stashes,
  refused: RefusedLogin
): Promise<void> => {
  const { stash, node, isRefresh, details } = refused
  const { loginId, voucherId, voucherAuth } = details
  const isNew = stash.loginId === '' && loginId !== undefined
  const hasVoucher = voucherId !== undefined && voucherAuth !== undefined
  if (!isNew && !(hasVoucher && stash.loginId !== '')) return
  const voucher = hasVoucher ? { voucherId, voucherAuth } : {}
  const dated = isRefresh === true ? {} : { lastLogin: isoOf(io.clock.now()) }
  await stashes.update(isNew ? loginId : stash.loginId, present => {
    // A server that names the id of another account of this device changes nothing there.
    if (isNew) return present ?? { ...stash, loginId, ...voucher, ...dated }
    if (present === undefined) return undefined
    return { ...replaceStash(present, node.loginId, known => ({ ...known, ...voucher })), ...dated }
  })
}
