import { requireTexts } from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { Readable } from '../base/observable.ts'
import type { Secret } from '../base/secret.ts'
import { dateOf, secondsOf } from '../base/time.ts'
import { parseBase32 } from '../crypto/encoding.ts'
import { totp } from '../crypto/totp.ts'
import {
  type LoginChange,
  otpChange,
  otpRemoval,
  otpResetCancellation,
  voucherChange
} from '../login/changes.ts'
import { normalizeOtpKey } from '../login/derive.ts'
import type { Login } from '../login/login.ts'
import type { ServerServices } from '../login/server.ts'
import type { Services } from '../plugins/services.ts'
import type { LoginTree, PendingVoucher } from '../types/login.ts'

/** The two-factor state of an account, as last fetched by this device; no secrets. */
export interface TwoFactorStatus {
  readonly isEnabled: boolean
  /** Seconds between the request of a reset and its effect. */
  readonly otpTimeout?: number
  /** The date on which two-factor will be off, after a reset was requested. */
  readonly otpResetDate?: Date
  /** Devices that wait for approval. */
  readonly pendingVouchers: readonly PendingVoucher[]
}

/** The login whose second factor is managed. */
export interface TwoFactorOptions {
  readonly services: Services
  readonly login: Login
  /** Refuses calls after this login has logged out, even if others are still logged in. @throws LOGGED_OUT */
  check?(): void
}

/**
 * The second factor of an account: one-time codes, their reset, and devices that wait for approval (specification §4, §6).
 *
 * Each change is made on the server, then on the disk, then in memory, one after another. Where keys are hidden,
 * each is refused with HIDDEN_KEYS. After a logout everything but the status fails with LOGGED_OUT.
 *
 * @example
 * ```ts
 * const { twoFactor } = account
 * await twoFactor.enableOtp()
 * console.log(twoFactor.getOtpKey(), twoFactor.getCode())
 * for (const { voucherId } of twoFactor.status.pendingVouchers) await twoFactor.approveVoucher(voucherId)
 * ```
 */
export class TwoFactor implements Readable<TwoFactorStatus> {
  readonly subscribe: Readable<TwoFactorStatus>['subscribe']
  readonly #options: TwoFactorOptions
  #seen: { readonly held: LoginTree; readonly status: TwoFactorStatus }

  constructor(options: TwoFactorOptions) {
    const { held } = options.login.getSnapshot()
    this.#options = options
    this.#seen = { held, status: statusOf(held) }
    this.subscribe = options.login.subscribe
  }

  readonly getSnapshot = (): TwoFactorStatus => {
    const { held } = this.#options.login.getSnapshot()
    if (held !== this.#seen.held) this.#seen = { held, status: statusOf(held) }
    return this.#seen.status
  }

  get status(): TwoFactorStatus {
    return this.getSnapshot()
  }

  /**
   * Returns the key that makes the codes, in base32; undefined while two-factor is off, or if the server withholds the key.
   * A secret.
   *
   * @throws HIDDEN_KEYS, LOGGED_OUT
   */
  getOtpKey(): string | undefined {
    this.#checkAllowed()
    return this.#otpKey()?.use(text => text)
  }

  /**
   * Returns the present code of six digits, for another device; undefined where {@link getOtpKey} is. A secret.
   *
   * @throws HIDDEN_KEYS, LOGGED_OUT
   */
  getCode(): string | undefined {
    this.#checkAllowed()
    const { io } = this.#options.services
    const now = secondsOf(io.clock.now())
    return this.#otpKey()?.use(key => totp(io, parseBase32(key), now))
  }

  /**
   * Switches two-factor on, or changes its timeout; other devices need the key, or an approval.
   *
   * @param timeoutSeconds - how long the owner has to notice the request of a reset; seven days by default
   * @throws HIDDEN_KEYS, OPTION_INVALID, NETWORK, …
   */
  enableOtp(timeoutSeconds?: number): Promise<void> {
    return this.#change(held => otpChange(this.#options.services.io, held, timeoutSeconds))
  }

  /** Switches two-factor off, for every device. @throws HIDDEN_KEYS, NETWORK, … */
  disableOtp(): Promise<void> {
    return this.#change(otpRemoval)
  }

  /** Cancels a requested reset, so that two-factor stays on. @throws HIDDEN_KEYS, OTP_RESET_WITHOUT_OTP, NETWORK, … */
  cancelOtpReset(): Promise<void> {
    return this.#change(otpResetCancellation)
  }

  /**
   * Gives this device the code key that another device made; a key that the server refuses is dropped.
   *
   * @param otpKey - base32 as typed
   * @throws HIDDEN_KEYS, OTP for a wrong key, OTP_REPAIR_WITHOUT_PASSWORD, NETWORK, …
   */
  async repairOtp(otpKey: string): Promise<void> {
    this.#checkAllowed()
    requireTexts({ otpKey })
    const { services, login } = this.#options
    await repairOtp(services, login, otpKey)
  }

  /** Lets a waiting device log in without a code. @throws HIDDEN_KEYS, NETWORK, … */
  approveVoucher(voucherId: string): Promise<void> {
    return this.#change(held => {
      requireTexts({ voucherId })
      return voucherChange(held, 'approved', [voucherId])
    })
  }

  /** Refuses a waiting device. @throws HIDDEN_KEYS, NETWORK, … */
  rejectVoucher(voucherId: string): Promise<void> {
    return this.#change(held => {
      requireTexts({ voucherId })
      return voucherChange(held, 'rejected', [voucherId])
    })
  }

  /** A key without a timeout is one that the server has not agreed to yet. */
  #otpKey(): Secret<string> | undefined {
    const { otpKey, otpTimeout } = this.#options.login.openState.held
    return otpTimeout === undefined ? undefined : otpKey
  }

  async #change(makeChange: (held: LoginTree) => LoginChange): Promise<void> {
    this.#checkAllowed()
    await this.#options.login.change(({ held }) => [makeChange(held)])
  }

  #checkAllowed(): void {
    if (this.#options.services.config.hideKeys) throw new WalletError('HIDDEN_KEYS', {})
    this.#options.check?.()
  }
}

/** It is on wherever there is a timeout: the key itself may be kept back (protocol §2.6). */
const statusOf = ({ otpTimeout, otpResetDate, pendingVouchers }: LoginTree): TwoFactorStatus =>
  Object.freeze({
    isEnabled: otpTimeout !== undefined,
    ...compact({ otpTimeout, otpResetDate: otpResetDate === undefined ? undefined : dateOf(otpResetDate) }),
    pendingVouchers
  })

/**
 * Gives a login that was opened offline a new code key, such as after another device switched two-factor on.
 *
 * The server must take the key together with the password's proof, which only a login with a password has
 * (specification §5 "Repairing 2FA needs a password login"); else all stays as it is.
 *
 * @param otpKey - base32 as typed
 * @throws OTP_REPAIR_WITHOUT_PASSWORD; OTP if it is the wrong key; NETWORK, LOGGED_OUT
 */
const repairOtp = async (port: ServerServices, login: Login, otpKey: string): Promise<void> => {
  const { userId, passwordAuth } = login.openState.held
  if (userId === undefined || passwordAuth === undefined) {
    throw new WalletError('OTP_REPAIR_WITHOUT_PASSWORD', {})
  }
  const key = normalizeOtpKey(otpKey)
  if (key === undefined) throw new WalletError('OTP', { reason: 'otp' })
  await login.refresh({
    otpKey: key,
    credentials: {
      userId: port.io.crypto.fromBase64(userId),
      passwordAuth: passwordAuth.use(bytes => bytes.slice())
    }
  })
}
