import { compact } from '../../base/compact.ts'
import { WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { isoOf } from '../../base/time.ts'
import type { SnrpOptions } from '../../crypto/key-derivation.ts'
import { checkNewPassword } from '../changes.ts'
import { normalizeUsername } from '../derive.ts'
import { Login } from '../login.ts'
import { makeNewLogin } from '../new-login.ts'
import { type LoginServices, runAttempt } from '../online.ts'
import { checkPin } from '../pin-changes.ts'
import { postCreate } from '../server.ts'
import type { Stashes } from '../stashes.ts'

/** A new account: a username, with a password or without, or neither for a light account. */
export interface CreateLoginOptions {
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly pin?: string | undefined
  /** The cost of guessing the password; fit for this device when absent. */
  readonly snrp?: SnrpOptions
  /** The date that the login counts as its own; the present by default. */
  readonly now?: Date | undefined
  /** Makes it on this device alone: no server is asked. */
  readonly isDeviceOnly?: boolean | undefined
}

/**
 * Makes an account on the server, then keeps it on this device (protocol §4.4 steps 1 and 2).
 *
 * The account repo is the next step: `Login.ensureAccountRepo`. If keeping it fails, an account with a
 * password exists all the same, and a login on any device finds it.
 *
 * One of this device alone is an ordinary login that was never sent; the PIN is what a server judges, so it has none.
 *
 * @throws USERNAME_REQUIRED, USERNAME_INVALID, BAD_USERNAME, PASSWORD_TOO_WEAK for text
 * that has no bytes, PIN_INVALID, DEVICE_ONLY, ACCOUNT_ON_DEVICE: before anything is sent
 * @throws ACCOUNT_EXISTS, NETWORK, STORAGE_FULL, …
 */
export const createLogin = (
  services: LoginServices,
  stashes: Stashes,
  options: CreateLoginOptions
): Promise<Login> => {
  const password = options.password === undefined ? undefined : new Secret(options.password)
  const pin = options.pin === undefined ? undefined : new Secret(options.pin)
  const { snrp, now, isDeviceOnly = false } = options
  return runAttempt(services, 'create', async ({ stage, secrets }) => {
    try {
      const username = checkOptions({ username: options.username, password, pin })
      if (isDeviceOnly && pin !== undefined) throw new WalletError('DEVICE_ONLY', { what: 'login by PIN' })
      const deviceOnly = isDeviceOnly ? ({ deviceOnly: 'yes' } as const) : {}
      stashes.checkNameFree({ ...compact({ username }), loginId: '', ...deviceOnly })
      stage('deriving')
      const login = await makeNewLogin(services.io, { appId: '', username, password, pin, snrp })
      if (!isDeviceOnly) {
        stage('asking')
        await postCreate(services, { data: login.serverBody })
      }
      stage('opening')
      const { loginId } = login.stash
      const lastLogin = isoOf(now?.getTime() ?? services.io.clock.now())
      await stashes.save({ ...login.stash, ...deviceOnly, lastLogin })
      const loginKey = secrets.add(new Secret(login.loginKey))
      return new Login(services, stashes, { rootId: loginId, loginId, loginKey, secrets, isCurrent: true })
    } finally {
      password?.destroy()
      pin?.destroy()
    }
  })
}

interface CheckedOptions {
  readonly username: string | undefined
  readonly password: Secret<string> | undefined
  readonly pin: Secret<string> | undefined
}

const checkOptions = ({ username, password, pin }: CheckedOptions): string | undefined => {
  if (username === undefined && password !== undefined) throw new WalletError('USERNAME_REQUIRED', {})
  pin?.use(checkPin)
  password?.use(checkNewPassword)
  if (username === undefined) return undefined
  const name = normalizeUsername(username)
  if (name === '') throw new WalletError('USERNAME_INVALID', {})
  return name
}
