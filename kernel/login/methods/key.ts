import { WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { parseBase58 } from '../../crypto/encoding.ts'
import type { LoginStash } from '../../types/login.ts'
import { Login } from '../login.ts'
import {
  type LoginOptions,
  type LoginServices,
  type OpenedLogin,
  runAttempt,
  saveLoginDate
} from '../online.ts'
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
  return runAttempt(services, 'key', async ({ stage, secrets }) => {
    try {
      const stash = findUser(stashes, options)
      stage('opening')
      const rootId = stash.loginId
      const key = secrets.add(loginKey.use(parseKey))
      const login = openWithKey(services, stashes, stash, {
        rootId,
        loginKey: key,
        secrets,
        isCurrent: false
      })
      await saveLoginDate(services, stashes, { rootId, now: options.now })
      login.refreshInBackground()
      return login
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

/** Opens the login of the app, or the root if the key does not open that. */
const openWithKey = (
  services: LoginServices,
  stashes: Stashes,
  stash: LoginStash,
  login: Omit<OpenedLogin, 'loginId'>
): Login => {
  const openNode = ({ loginId }: LoginStash): Login => new Login(services, stashes, { ...login, loginId })
  const node = findStashByApp(stash, services.config.appId)
  if (node === undefined || node === stash) return openNode(stash)
  try {
    return openNode(node)
  } catch {
    return openNode(stash)
  }
}
