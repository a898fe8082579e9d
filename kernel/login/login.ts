import { failureLine, isWalletError, WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import { base58Of } from '../crypto/encoding.ts'
import { checkWalletInfos, findInfos, hideWalletInfo } from '../keys/wallet-info.ts'
import type { LocalLoginId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletInfo } from '../types/keys.ts'
import type { LoginPayload, LoginStash, LoginTree } from '../types/login.ts'
import { type LoginChange, staleIdChanges, walletInfosChange } from './changes.ts'
import { createOnServer, movedStash, movingStash, serverUseOf } from './move-to-server.ts'
import { appLoginChange, findAppRepo } from './new-login.ts'
import {
  deviceFields,
  fetchLogin,
  type LoginServices,
  mergeReply,
  type OnlineLoginOptions,
  type OpenedLogin,
  saveLogin,
  saveOtpKey,
  sendChange
} from './online.ts'
import { isUnchanged } from './server.ts'
import { findStashByApp, findStashById, patchStash } from './stash.ts'
import type { Stashes } from './stashes.ts'
import { allWalletInfos, credentialsOf, findTree, openLoginTree } from './tree.ts'

/** The state of a login at one moment. Keys are secrets. */
export interface LoginState {
  /** The whole stash, from the root down. */
  readonly stash: LoginStash
  /** From the login whose key is held down. */
  readonly held: LoginTree
  /** Every wallet and repo of the app and of the apps below it. */
  readonly walletInfos: readonly SecretWalletInfo[]
}

/** Makes changes of a login from what it is. */
export type BuildChanges = (state: LoginState) => readonly LoginChange[] | Promise<readonly LoginChange[]>

/** The credentials of a refresh, in place of the login's own secret and code. */
export type RefreshProof = Required<Pick<OnlineLoginOptions, 'credentials' | 'otpKey'>>

/**
 * A logged-in account: its keys in memory, and the only way to change it.
 *
 * Changes are queued, so that two never race. After `close` every call fails with LOGGED_OUT.
 */
export class Login implements Readable<LoginState> {
  readonly #services: LoginServices
  readonly #stashes: Stashes
  readonly #login: OpenedLogin
  readonly #state: Observable<LoginState>
  readonly #mutex = new Mutex()
  readonly #markClosed: () => void
  /**
   * The time until which the stash counts as current; 0 while a change may be half made. By the calendar, as the
   * monotonic clock stands still while a device sleeps.
   */
  #currentUntil: number
  #isClosed = false

  /** Opens what the stash holds. @throws STASH_NOT_FOUND, NO_AUTH_METHODS, KEY_INTEGRITY, INVALID_CHECKSUM */
  constructor(services: LoginServices, stashes: Stashes, login: OpenedLogin) {
    this.#services = services
    this.#stashes = stashes
    this.#login = login
    this.#currentUntil = login.isCurrent ? services.io.clock.now() + CURRENT_MS : 0
    const stash = stashes.get(login.rootId)
    if (stash === undefined) throw new WalletError('STASH_NOT_FOUND', {})
    this.#state = new Observable<LoginState>(
      this.#open(stash),
      () => {},
      error => services.report('login', error)
    )
    this.#markClosed = stashes.markOpen(login.rootId)
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): LoginState => this.#state.getSnapshot()

  /** The present state of the login, its secrets alive. @throws LOGGED_OUT */
  get openState(): LoginState {
    this.#checkOpen()
    return this.getSnapshot()
  }

  get appId(): string {
    return this.#services.config.appId
  }

  /** Base58. */
  get rootLoginId(): LocalLoginId {
    return base58Of(this.#services.io.crypto.fromBase64(this.#login.rootId))
  }

  get username(): string | undefined {
    return this.stash.username
  }

  /** The whole stash, from the root down. */
  get stash(): LoginStash {
    return this.getSnapshot().stash
  }

  /** True if no login server knows the account. */
  get isDeviceOnly(): boolean {
    return this.stash.deviceOnly !== undefined
  }

  /** The login of the app. @throws APP_ID_NOT_FOUND until `ensureAccountRepo` has made it */
  get tree(): LoginTree {
    const tree = findTree(this.getSnapshot().held, node => node.appId === this.appId)
    if (tree === undefined) throw new WalletError('APP_ID_NOT_FOUND', { appId: this.appId })
    return tree
  }

  /** Every wallet and repo of the app and of the apps below it; those of one id are one (protocol §4.3). */
  get walletInfos(): readonly SecretWalletInfo[] {
    return this.getSnapshot().walletInfos
  }

  /** The key that `loginWithKey` takes, in base58: of the app's login. @throws LOGGED_OUT */
  rootLoginKeyBase58(): string {
    this.#checkOpen()
    return this.tree.loginKey.use(base58Of)
  }

  /** True if this device holds only the login of the app, without the root's key (specification §6). */
  get isEdgeLogin(): boolean {
    return this.#login.loginId !== this.#login.rootId
  }

  /**
   * Makes changes one after another, each on the server, then on the disk, then in memory; stops at the first failure.
   *
   * Another device may have changed the username meanwhile, and a password, PIN or recovery that is made from an
   * earlier name would never log in. Such a change asks the server afterwards, and has succeeded only then. If the name is
   * another one, it is made once more.
   *
   * @param refreshesFirst - also if this device asked just now
   * @param build - makes the changes from the login as it is when all earlier changes are done
   * @throws LOGGED_OUT, NETWORK and what the server answers; then the server is soon asked what became of it
   * @throws CONFLICT if the username changes each time
   */
  change(
    build: BuildChanges,
    { refreshesFirst = false }: { readonly refreshesFirst?: boolean } = {}
  ): Promise<void> {
    return this.#queue(async () => {
      if (refreshesFirst || this.#isStale) await this.#refresh()
      try {
        for (let tries = 0; tries < MAX_TRIES; tries += 1) {
          const changes = await build(this.getSnapshot())
          for (const change of changes) await this.#apply(change)
          const { username } = this
          // The login of an app alone does not say how the account is called now.
          if (this.isEdgeLogin || !changes.some(isMadeFromName)) return
          await this.#refresh()
          if (this.username === username) return
        }
        throw new WalletError('CONFLICT', { message: 'another device changes the username again and again' })
      } catch (error) {
        // A second try must know what the first one kept.
        this.#setStash(this.#kept)
        this.refreshInBackground()
        throw error
      }
    })
  }

  /**
   * Asks the server for the account as it is now (protocol §4.6).
   *
   * An account of this device only is as it is here, and nothing is asked.
   *
   * @param proof - a code key that alone must do, with another proof than the login's own
   * @throws LOGGED_OUT, OTP, NETWORK, …
   * @throws DEVICE_ONLY with a proof, which only a server can judge
   */
  refresh(proof?: RefreshProof): Promise<void> {
    return this.#queue(async () => {
      if (proof !== undefined) this.checkServer('two-factor')
      await this.#refresh(proof)
      await this.#finishRename()
    })
  }

  /** {@link refresh} without an owner: only a refused one-time code is reported (protocol §4.9). */
  refreshInBackground(): void {
    // The account comes first.
    const refreshed = this.#services.io.clock.turn().then(() => this.refresh())
    refreshed.catch(error => {
      if (isWalletError(error, 'LOGGED_OUT')) return
      if (isWalletError(error, 'OTP')) this.#services.report('login', error)
      else this.#services.logOf('login').warn(failureLine('Could not refresh the login', error))
    })
  }

  /**
   * Attaches wallets to the app's login, and gives them back with their keys hidden.
   *
   * @throws KEY_INTEGRITY before anything is sent if they contradict what is there
   * @throws LOGGED_OUT, NETWORK, …
   */
  addWalletInfos(infos: readonly WalletInfo[]): Promise<readonly SecretWalletInfo[]> {
    return this.#queue(async () => {
      const { loginId, loginKey, appId } = this.tree
      const { io } = this.#services
      const hidden = infos.map(info => hideWalletInfo(info, appId))
      try {
        checkWalletInfos(io, [...this.walletInfos, ...hidden])
      } finally {
        for (const { keys } of hidden) keys.destroy()
      }
      const change = loginKey.use(key => walletInfosChange(io, { loginId, loginKey: key }, infos))
      return this.#applyAndVerify(change, () => findInfos(this.walletInfos, infos))
    })
  }

  /**
   * Finds the repo of an app's account, and makes it, and the app's login, where missing (protocol §4.4 step 3).
   *
   * @param appId - the app of this context, or one that another device asks for
   * @throws APP_ID_NOT_FOUND if the app has a login whose key is not held here
   * @throws LOGGED_OUT, NETWORK, …
   */
  ensureAccountRepo(appId: string = this.appId): Promise<SecretWalletInfo> {
    const find = (): SecretWalletInfo | undefined => findAppRepo(this.getSnapshot().held, appId)
    const known = find()
    // Not queued: a known account opens although a refresh waits for a server that does not answer.
    if (known !== undefined && !this.#isClosed) return Promise.resolve(known)
    return this.#queue(async () => {
      // Another device may have made it; a second one would split the account's data.
      if (find() === undefined && this.#isStale) await this.#refresh()
      const { held, stash } = this.getSnapshot()
      const isBelow = findTree(held, node => node.appId === appId) !== undefined
      if (!isBelow && findStashByApp(stash, appId) !== undefined)
        throw new WalletError('APP_ID_NOT_FOUND', { appId })
      const app = { appId, username: this.username }
      return find() ?? this.#applyAndVerify(await appLoginChange(this.#services.io, held, app), find)
    })
  }

  /** Refuses what only a login server can do. `what`: a noun for the error. @throws DEVICE_ONLY */
  checkServer(what: string): void {
    if (this.isDeviceOnly) throw new WalletError('DEVICE_ONLY', { what })
  }

  /**
   * Makes the account, with all logins below it, on the login server, and then asks for it as any device does.
   *
   * The account stays one of this device until all of that is done, so that a call which failed or was cut off can be
   * repeated: a server that knows the login by now is brought up to date. Changes wait meanwhile.
   *
   * @param upload - brings the files of every repo to the sync servers
   * @throws APP_ID_NOT_FOUND without the root's key
   * @throws SYNC_FAILED before the login server is asked if no sync server is named
   * @throws ACCOUNT_EXISTS if another account of the server has the username; LOGGED_OUT, NETWORK, SYNC_FAILED, …
   */
  moveToServer(upload: (held: LoginTree) => Promise<void>): Promise<void> {
    return this.#queue(async () => {
      if (this.isEdgeLogin) throw new WalletError('APP_ID_NOT_FOUND', { appId: '' })
      this.#setStash(this.#kept)
      const { rootId } = this.#login
      if (this.isDeviceOnly) {
        const { io, config } = this.#services
        // The username would be taken, and no other device could open the account.
        if (config.authServer !== '' && config.syncServers.length === 0)
          throw new WalletError('SYNC_FAILED', { reason: 'there is no sync server' })
        // Before the server is asked: it may make the login and its answer be lost.
        this.#setStash(await this.#stashes.update(rootId, root => root && movingStash(io, root)))
        await createOnServer(this.#services, this.getSnapshot())
      }
      await upload(this.getSnapshot().held)
      await this.#refreshNow()
      if (this.isDeviceOnly)
        this.#setStash(await this.#stashes.update(rootId, root => root && movedStash(root)))
    })
  }

  /** Forgets every key. Calls that are under way end with LOGGED_OUT or were already kept on the disk. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { keys } of this.walletInfos) keys.destroy()
    this.#login.secrets.destroy()
    this.#markClosed()
  }

  /** Closes, and removes the account from this device. @throws STORAGE_FAILED */
  async forget(): Promise<void> {
    this.close()
    await this.#stashes.remove(this.rootLoginId)
  }

  /** True if another device, or another login on this one, may have a newer state of the account. */
  get #isStale(): boolean {
    const restMs = this.#currentUntil - this.#services.io.clock.now()
    // A calendar that was put back says nothing.
    return restMs <= 0 || restMs > CURRENT_MS || this.#kept !== this.stash
  }

  /** The stash as the device has it, which another login on it may have changed. */
  get #kept(): LoginStash {
    return this.#stashes.get(this.#login.rootId) ?? this.stash
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
  }

  #queue<T>(job: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      this.#checkOpen()
      try {
        return await job()
      } finally {
        // Whatever a job met after a logout, the logout is the reason.
        this.#checkOpen()
      }
    })
  }

  #open(stash: LoginStash): LoginState {
    const { io, report } = this.#services
    const { secrets, loginId, loginKey } = this.#login
    const node = findStashById(stash, loginId)
    if (node === undefined) throw new WalletError('STASH_NOT_FOUND', {})
    const context = { io, secrets, report: (error: unknown) => report('login', error) }
    const held = openLoginTree(context, node, loginKey)
    const app = findTree(held, ({ appId }) => appId === this.appId)
    const walletInfos = app === undefined ? [] : allWalletInfos(context, app)
    for (const { keys } of walletInfos) secrets.add(keys)
    return { stash, held, walletInfos }
  }

  #setStash(stash: LoginStash): void {
    this.#checkOpen()
    if (stash !== this.stash) this.#state.set(this.#open(stash))
  }

  /**
   * A reply that another login on this device has overtaken is asked for again.
   *
   * @param isNews - the server has just shown that it is not as it was
   */
  async #refresh(proof?: RefreshProof, isNews = false): Promise<void> {
    if (this.#kept.deviceOnly !== undefined) this.#setStash(this.#kept)
    else await this.#refreshNow(proof, isNews)
  }

  async #refreshNow(proof?: RefreshProof, isNews = false): Promise<void> {
    let isCurrent = false
    for (let tries = 0; tries < MAX_TRIES && !isCurrent; tries += 1) {
      isCurrent = await this.#fetch(proof, isNews)
      this.#setStash(this.#kept)
    }
    this.#currentUntil = isCurrent ? this.#services.io.clock.now() + CURRENT_MS : 0
  }

  /** Gives whether the device knows now what the server knew. */
  async #fetch(proof: RefreshProof | undefined, isNews: boolean): Promise<boolean> {
    const { loginId, loginKey, secrets } = this.#login
    const stash = this.#kept
    const node = findStashById(stash, loginId) ?? stash
    // The token of a stash that was never opened here says nothing of what this login shows.
    const isShown = stash === this.stash && proof === undefined && !isNews
    if (isShown && (await isUnchanged(this.#services, node))) return true
    const fetched = await fetchLogin(this.#services, this.#stashes, {
      ...{ stash, node, secrets, isRefresh: true },
      credentials: credentialsOf(this.#services.io, this.getSnapshot().held),
      openers: { loginKey: loginKey.use(key => key.slice()) },
      ...(proof === undefined ? {} : { ...proof, isWithoutVoucher: true })
    })
    const { isCurrent } = await saveLogin(this.#services, this.#stashes, fetched, loginKey)
    return isCurrent
  }

  /** Whatever is in its way, the login is fetched, and the next refresh tries again. */
  async #finishRename(): Promise<void> {
    try {
      for (const change of staleIdChanges(this.#services.io, this.getSnapshot().held))
        await this.#apply(change)
    } catch (error) {
      this.#services
        .logOf('login')
        .warn(
          failureLine('Could not update the user ids of a child login; the next refresh tries again', error)
        )
    }
  }

  async #apply(change: LoginChange, isRetry = false): Promise<void> {
    const { io } = this.#services
    const { rootId, secrets } = this.#login
    const stash = this.#kept
    const node = findStashById(stash, change.loginId)
    const tree = findTree(this.getSnapshot().held, ({ loginId }) => loginId === change.loginId)
    if (node === undefined || tree === undefined) throw new WalletError('STASH_NOT_FOUND', {})
    if (stash.deviceOnly !== undefined) return this.#applyHere(change)
    const currentUntil = this.#currentUntil
    this.#currentUntil = 0
    const request = {
      ...deviceFields(io, node),
      syncToken: node.syncToken,
      ...credentialsOf(io, tree),
      data: change.serverBody
    }
    let reply: LoginPayload | undefined
    try {
      reply = await sendChange(this.#services, this.#stashes, { change, request, stash, node })
    } catch (error) {
      if (!isWalletError(error, 'OTP') || isRetry) throw error
      // A reply may have left the key out that the server still wants; what this device has kept brings it back.
      await this.#refresh(undefined, true)
      return this.#apply(change, true)
    }
    const next = await this.#stashes.update(rootId, root => {
      if (root === undefined) return undefined
      const changed = patchStash(root, this.#login.loginId, change)
      if (reply === undefined) return changed
      return mergeReply(io, changed, { payload: reply, loginKey: tree.loginKey, secrets })
    })
    this.#setStash(next)
    this.#currentUntil = currentUntil
    const { otpKey } = change.stash
    if (otpKey === undefined) return
    const kept = { rootId, loginId: change.loginId, otpKey, loginKey: tree.loginKey }
    await saveOtpKey(this.#services, this.#stashes, kept)
  }

  /** Makes a change of an account that no server has. @throws DEVICE_ONLY, ACCOUNT_ON_DEVICE, STORAGE_FULL, STORAGE_FAILED */
  async #applyHere(change: LoginChange): Promise<void> {
    const what = serverUseOf(change)
    if (what !== undefined) throw new WalletError('DEVICE_ONLY', { what })
    const next = await this.#stashes.update(this.#login.rootId, root => {
      if (root === undefined) return undefined
      const changed = patchStash(root, this.#login.loginId, change)
      if (changed.username !== root.username) this.#stashes.checkNameFree(changed)
      return changed
    })
    this.#setStash(next)
  }

  /** Makes a change whose outcome may stay unknown: after a failure, the server is asked whether it was made. */
  async #applyAndVerify<T>(change: LoginChange, find: () => T | undefined): Promise<T> {
    try {
      await this.#apply(change)
    } catch (error) {
      this.#checkOpen()
      await this.#refresh().catch(() => {})
      if (find() === undefined) throw error
    }
    const found = find()
    if (found === undefined) throw new WalletError('INCOMPLETE_LOGIN', {})
    return found
  }
}

/** A change of the name itself takes what hangs on it along. */
const isMadeFromName = ({ serverPath, serverBody = {} }: LoginChange): boolean =>
  serverPath !== '/v2/login/username' && MADE_FROM_NAME.some(field => field in serverBody)

const MADE_FROM_NAME = ['passwordAuth', 'pin2Id', 'recovery2Id']

/** The most attempts at a change that another device's change of the username spoils, and at a refresh that is overtaken. */
const MAX_TRIES = 5

/** Two refreshes that did not come (specification §9). */
const CURRENT_MS = 60_000
