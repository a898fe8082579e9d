import { allowFlags, allowTexts, requireObject, requireTexts } from '../base/arguments.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import { base58Of } from '../crypto/encoding.ts'
import {
  checkNewPassword,
  checkRecovery,
  loginDeletion,
  passwordChange,
  passwordRemoval,
  recoveryChange,
  recoveryRemoval,
  staleIdChanges,
  usernameChanges
} from '../login/changes.ts'
import { normalizeUsername } from '../login/derive.ts'
import type { Login } from '../login/login.ts'
import { isPassword } from '../login/methods/password.ts'
import { isPin } from '../login/methods/pin.ts'
import { checkPin, pinChanges, pinRemovals } from '../login/pin-changes.ts'
import { findTree } from '../login/tree.ts'
import type { Services } from '../plugins/services.ts'
import type { LoginId } from '../types/ids.ts'
import type { LoginTree } from '../types/login.ts'
import type { AccountSnapshot, LoginSnapshot } from '../types/snapshots.ts'
import type { SpendRules } from './spend-rules.ts'

/** A new PIN, or a change of PIN login, or both. */
export interface PinOptions {
  /** At least four digits; the PIN stays as it is when absent. */
  readonly pin?: string
  /** When absent: as it is, and on for the first PIN of an account. */
  readonly enableLogin?: boolean
}

/** A new username. */
export interface UsernameOptions {
  /** As typed. */
  readonly username: string
  /** The account's; for an account without a password, its first one. */
  readonly password?: string
}

/** The proof of an owner, which an account with rules needs where a change could lead past them. */
export interface OwnPassword {
  /** The present password; not needed by who has logged in with recovery answers or the login key. */
  readonly current?: string | undefined
}

/** The login whose credentials are changed. */
export interface CredentialsOptions {
  readonly services: Services
  readonly login: Login
  /** The method of this login; left out for the account itself. */
  readonly loginMethod?: LoginSnapshot['method']
  /** The rules of the account, which only its password loosens. */
  readonly rules?: Pick<SpendRules, 'hasAny'>
  /** Refuses calls after this login has logged out, even if others are still logged in. @throws LOGGED_OUT */
  check?(): void
  /** Closes the account, for everyone who is logged in to it. */
  logout(): Promise<void>
}

/**
 * The credentials of an account: its password, PIN, recovery answers and username (specification §5, §6).
 *
 * Each change is made on the server, then on the disk, then in memory, one after another. Where keys are hidden,
 * each is refused with HIDDEN_KEYS. After a logout everything fails with LOGGED_OUT.
 *
 * @example
 * ```ts
 * const { credentials } = account
 * if (await credentials.checkPassword('correct horse battery')) await credentials.changePIN({ pin: '2468' })
 * ```
 */
export class Credentials {
  readonly #options: CredentialsOptions

  constructor(options: CredentialsOptions) {
    this.#options = options
  }

  /**
   * Sets the password. Takes about two seconds by design.
   *
   * @throws HIDDEN_KEYS, USERNAME_REQUIRED, PASSWORD_TOO_WEAK for text that has no bytes, NETWORK, …
   * @throws POLICY_PASSWORD, PASSWORD without the present one, which an account with rules needs
   */
  async changePassword(password: string, proof: OwnPassword = {}): Promise<void> {
    this.#checkAllowed()
    requireTexts({ password })
    checkNewPassword(password)
    const secret = new Secret(password)
    const { services, login } = this.#options
    const { io, config } = services
    try {
      await login.change(async ({ held }) => {
        const { isRoot, username } = held
        if (!isRoot || username === undefined) throw new WalletError('USERNAME_REQUIRED', {})
        await this.#requireOwner(proof)
        const options = { username, password: secret, snrp: config.passwordSnrp }
        return [await withKey(held, key => passwordChange(io, key, options))]
      })
    } finally {
      secret.destroy()
    }
  }

  /** Returns true for the password of the account, without a request; false without a password. @throws LOGGED_OUT */
  async checkPassword(password: string): Promise<boolean> {
    this.#options.check?.()
    const { held } = this.#options.login.openState
    requireTexts({ password })
    return isPassword(this.#options.services, held, password)
  }

  /**
   * Removes the password; the other login methods stay.
   *
   * @throws HIDDEN_KEYS, NO_AUTH_METHODS if the server knows the login by nothing else, NETWORK, …
   * @throws DEVICE_ONLY for an account of this device, which nothing else opens
   * @throws OPTION_INVALID for an account with rules, which nothing could loosen then
   */
  async deletePassword(): Promise<void> {
    this.#checkAllowed()
    await this.#options.login.change(async ({ held }) => {
      if (await this.#options.rules?.hasAny())
        throw new WalletError('OPTION_INVALID', {
          option: 'password',
          rule: 'stays while the account has rules, which nothing could loosen then'
        })
      const others = [held.loginAuth, held.pin2Key, held.recovery2Key]
      if (others.every(other => other === undefined)) throw new WalletError('NO_AUTH_METHODS', {})
      return [passwordRemoval(held)]
    })
  }

  /** True if a password opens the account, as far as this device knows. */
  get hasPassword(): boolean {
    return this.#options.login.getSnapshot().held.passwordAuth !== undefined
  }

  /** True if this device knows the digits of a PIN. */
  get hasPin(): boolean {
    return this.#options.login.getSnapshot().held.pin !== undefined
  }

  /** True if the PIN logs in: to the root, or else to the app's login. */
  get isPinLoginEnabled(): boolean {
    const { login } = this.#options
    const { held } = login.getSnapshot()
    const app = findTree(held, ({ appId }) => appId === login.appId)
    return (held.pin2Key ?? app?.pin2Key) !== undefined
  }

  /** Returns the PIN. A secret. @throws HIDDEN_KEYS, PIN_NOT_LOCAL, LOGGED_OUT */
  getPIN(): string {
    this.#checkAllowed()
    const { pin } = this.#options.login.openState.held
    if (pin === undefined) throw new WalletError('PIN_NOT_LOCAL', {})
    return pin.use(text => text)
  }

  /**
   * Sets the PIN, switches PIN login on or off, or both; also for the app's login and those below it.
   *
   * A PIN that is switched off is kept: it can still be checked, and switched on again.
   *
   * @throws HIDDEN_KEYS, PIN_INVALID, PIN_MISSING, NETWORK, …
   */
  async changePIN(options: PinOptions): Promise<void> {
    this.#checkAllowed()
    requireObject('options', options)
    const { pin, enableLogin } = options
    allowFlags({ enableLogin })
    allowTexts({ pin })
    if (pin !== undefined) checkPin(pin)
    const secret = pin === undefined ? undefined : new Secret(pin)
    const { services, login } = this.#options
    try {
      await login.change(state => pinChanges(services.io, state, { pin: secret, enableLogin }))
    } finally {
      secret?.destroy()
    }
  }

  /**
   * Returns true for the PIN of the account; asks the server only if this device does not know the PIN. @throws LOGGED_OUT
   */
  async checkPIN(pin: string): Promise<boolean> {
    this.#options.check?.()
    const { openState } = this.#options.login
    requireTexts({ pin })
    return isPin(this.#options.services, openState, pin)
  }

  /** Removes the PIN, also from the app's login and those below it. @throws HIDDEN_KEYS, NETWORK, … */
  async deletePIN(): Promise<void> {
    this.#checkAllowed()
    await this.#options.login.change(({ held }) => pinRemovals(held))
  }

  /**
   * Sets the recovery questions and answers; a recovery key that exists stays valid.
   *
   * @returns the recovery key, base58: with it, the username and the answers, anyone can log in. A secret
   * @throws HIDDEN_KEYS, OPTION_INVALID, RECOVERY_USERNAME_REQUIRED, NETWORK, …
   * @throws POLICY_PASSWORD, PASSWORD without the password, which an account with rules needs
   */
  async changeRecovery(
    questions: readonly string[],
    answers: readonly string[],
    proof: OwnPassword = {}
  ): Promise<string> {
    this.#checkAllowed()
    checkRecovery(questions, answers)
    const recovery = { questions: [...questions], answers: new Secret<readonly string[]>([...answers]) }
    const { services, login } = this.#options
    try {
      let key = ''
      await login.change(async ({ held }) => {
        await this.#requireOwner(proof)
        const change = recoveryChange(services.io, held, recovery)
        key = change.stash.recovery2Key ?? ''
        return [change]
      })
      // Another device may have switched recovery off since.
      return base58Of(services.io.crypto.fromBase64(key))
    } finally {
      recovery.answers.destroy()
    }
  }

  /** Switches recovery off; the recovery key becomes useless. @throws HIDDEN_KEYS, NETWORK, … */
  async deleteRecovery(): Promise<void> {
    this.#checkAllowed()
    await this.#options.login.change(({ held }) => [recoveryRemoval(held)])
  }

  /** True if recovery answers open the account, as far as this device knows. */
  get hasRecovery(): boolean {
    return this.#options.login.getSnapshot().held.recovery2Key !== undefined
  }

  /** Returns the recovery key, base58. A secret. @throws HIDDEN_KEYS, RECOVERY_KEY_MISSING, LOGGED_OUT */
  getRecoveryKey(): string {
    this.#checkAllowed()
    const { recovery2Key } = this.#options.login.openState.held
    if (recovery2Key === undefined) throw new WalletError('RECOVERY_KEY_MISSING', {})
    return recovery2Key.use(base58Of)
  }

  /**
   * Changes the username, or sets the first one.
   *
   * The call can be repeated: an interrupted change is completed, also by the next login on any device.
   *
   * @throws HIDDEN_KEYS, CHILD_USERNAME without the root's key, BAD_USERNAME, USERNAME_INVALID
   * @throws USERNAME_WITHOUT_PASSWORD if the account has a password and none is given; PASSWORD for a wrong one
   * @throws ACCOUNT_EXISTS if the name is taken; NETWORK, …
   */
  async changeUsername(options: UsernameOptions): Promise<void> {
    this.#checkAllowed()
    requireObject('options', options)
    const { username, password } = options
    requireTexts({ username })
    allowTexts({ password })
    const name = normalizeUsername(username)
    if (name === '') throw new WalletError('USERNAME_INVALID', {})
    if (password !== undefined) checkNewPassword(password)
    const { services, login } = this.#options
    const secret = password === undefined ? undefined : new Secret(password)
    const snrp = services.config.passwordSnrp
    try {
      await login.change(async ({ held }) => {
        if (!held.isRoot) throw new WalletError('CHILD_USERNAME', {})
        if (held.username === name) return staleIdChanges(services.io, held)
        await this.#checkSame(held, password)
        return usernameChanges(services.io, held, { username: name, password: secret, snrp })
      }, REFRESHES_FIRST)
    } catch (error) {
      if (!isWalletError(error, 'CONFLICT')) throw error
      await login.refresh()
      if (login.username !== name) throw new WalletError('ACCOUNT_EXISTS', {}, error)
    } finally {
      secret?.destroy()
    }
  }

  /**
   * Deletes the account: on the server for good, with all logins below it, then on this device. Its wallets are
   * lost with their keys.
   *
   * @throws HIDDEN_KEYS, APP_ID_NOT_FOUND without the root's key, NETWORK, …; then it can be repeated
   */
  async deleteRemoteAccount(): Promise<void> {
    this.#checkAllowed()
    const { login, logout } = this.#options
    const isKnownById = login.openState.held.loginAuth !== undefined
    try {
      await login.change(({ held }) => {
        // Without a login that they know, the account's other devices would refuse everything.
        if (!held.isRoot) throw new WalletError('APP_ID_NOT_FOUND', { appId: '' })
        return [loginDeletion(held)]
      })
    } catch (error) {
      // It was deleted before, perhaps by a request whose answer was lost. A login that is known by its user id may
      // also have another name now.
      const isGone = isWalletError(error, 'ACCOUNT_NOT_FOUND') && isKnownById
      if (!isGone) throw error
    }
    await logout()
    await login.forget()
  }

  /** The password goes into the new proof: a slip of the finger must not change it. */
  async #checkSame(held: LoginTree, password: string | undefined): Promise<void> {
    if (held.passwordAuth === undefined) return
    if (password === undefined) throw new WalletError('USERNAME_WITHOUT_PASSWORD', {})
    if (!(await isPassword(this.#options.services, held, password))) throw new WalletError('PASSWORD', {})
  }

  /** Who sets a password or answers could loosen the rules with them: only who knows one of those may. */
  async #requireOwner({ current }: OwnPassword): Promise<void> {
    const { loginMethod, rules } = this.#options
    if (loginMethod === 'recovery' || loginMethod === 'key' || !this.hasPassword) return
    if (!(await rules?.hasAny())) return
    if (current === undefined) throw new WalletError('POLICY_PASSWORD', { rule: '' })
    if (!(await this.checkPassword(current))) throw new WalletError('PASSWORD', {})
  }

  #checkAllowed(): void {
    if (this.#options.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    this.#options.check?.()
  }
}

/** The new ids are made from keys, and the new proof from a password, that another device may just have changed. */
const REFRESHES_FIRST = { refreshesFirst: true } as const

/** Lends out a copy of a login's key, for work that waits. */
const withKey = async <T>(
  { loginId, loginKey }: LoginTree,
  work: (login: { readonly loginId: LoginId; readonly loginKey: Uint8Array }) => Promise<T>
): Promise<T> => {
  const copy = loginKey.use(key => key.slice())
  try {
    return await work({ loginId, loginKey: copy })
  } finally {
    copy.fill(0)
  }
}

/** The login methods that the owner can use after a log-out. */
export const loginMethodsOf = (
  credentials: Credentials,
  { username, isEdgeLogin }: Login
): NonNullable<AccountSnapshot['loginMethods']> =>
  Object.freeze([
    ...(username !== undefined && credentials.hasPassword ? (['password'] as const) : []),
    ...(credentials.isPinLoginEnabled ? (['pin'] as const) : []),
    ...(username !== undefined && credentials.hasRecovery ? (['recovery'] as const) : []),
    ...(isEdgeLogin ? (['edge'] as const) : [])
  ])
