import { WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { parseBase58 } from '../../crypto/encoding.ts'
import type { LoginStash } from '../../types/login.ts'
import { Login } from '../login.ts'
import { type LoginOptions, type LoginServices, runAttempt, saveLoginDate } from '../online.ts'
import { SecretCache } from '../secret-cache.ts'
import { findStashByApp } from '../stash.ts'
import { findUser, type Stashes, type UserName } from '../stashes.ts'

/** A user of this device, and the base58 key of the app's login, or of the root login. */
export type KeyLoginOptions = UserName & Pick<LoginOptions, 'now'> & { readonly loginKey: string }

/**
 * Logs in by the login key, without a request; a refresh follows in the background (protocol §4.5).
 *
 * @throws USER_NOT_ON_DEVICE
 * @throws INVALID_CHECKSUM if it is not the key of this account
 */
export const loginWithKey = (
  services: LoginServices,
  stashes: Stashes,
  options: KeyLoginOptions
): Promise<Login> => {
  const loginKey = new Secret(options.loginKey)
  return runAttempt(services, 'key', async stage => {
    const stash = findUser(stashes, options)
    stage('opening')
    const secrets = new SecretCache(services.io)
    try {
      const key = secrets.add(loginKey.use(parseKey))
      const login = openWithKey({ services, stashes, secrets }, stash, key)
      await saveLoginDate(services, stashes, { rootId: stash.loginId, now: options.now })
      login.refreshInBackground()
      return login
    } catch (error) {
      secrets.destroy()
      throw error
    } finally {
      loginKey.destroy()
    }
  })
}

const parseKey = (text: string): Secret<Uint8Array> => {
  try {
    return new Secret(parseBase58(text))
  } catch {
    throw new WalletError('INVALID_CHECKSUM', {})
  }
}

interface KeyPort {
  readonly services: LoginServices
  readonly stashes: Stashes
  readonly secrets: SecretCache
}

const openWithKey = (
  { services, stashes, secrets }: KeyPort,
  stash: LoginStash,
  loginKey: Secret<Uint8Array>
): Login => {
  const rootId = stash.loginId
  const openNode = (loginId: string): Login =>
    new Login(services, stashes, { rootId, loginId, loginKey, secrets, isCurrent: false })
  const node = findStashByApp(stash, services.config.appId)
  if (node === undefined || node === stash) return openNode(rootId)
  try {
    return openNode(node.loginId)
  } catch {
    return openNode(rootId)
  }
}
