import { WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { parseBase58 } from '../../crypto/encoding.ts'
import type { LoginStash } from '../../types/login.ts'
import { Login } from '../login.ts'
import { keepDate, type LoginOptions, type LoginPort, tellAttempt } from '../online.ts'
import { OpenedBoxes } from '../secret-cache.ts'
import { findStashByApp } from '../stash.ts'
import { findUser, type Stashes, type UserName } from '../stashes.ts'

/** A user of this device, and the base58 key of the app's login, or of the root login. */
export type KeyOptions = UserName & Pick<LoginOptions, 'now'> & { readonly loginKey: string }

/**
 * Logs in by the login key, without a request; a refresh follows in the background (protocol §4.5).
 *
 * @throws USER_NOT_ON_DEVICE
 * @throws INVALID_CHECKSUM if it is not the key of this account
 */
export const loginWithKey = (port: LoginPort, stashes: Stashes, options: KeyOptions): Promise<Login> => {
  const loginKey = new Secret(options.loginKey)
  return tellAttempt(port, 'key', async stage => {
    const stash = findUser(stashes, options)
    stage('opening')
    const opened = new OpenedBoxes(port.io)
    try {
      const key = opened.adopt(loginKey.use(parseKey))
      const login = openWith({ port, stashes, opened }, stash, key)
      await keepDate(port, stashes, { rootId: stash.loginId, now: options.now })
      login.refreshInBackground()
      return login
    } catch (error) {
      opened.destroy()
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
  readonly port: LoginPort
  readonly stashes: Stashes
  readonly opened: OpenedBoxes
}

const openWith = (
  { port, stashes, opened }: KeyPort,
  stash: LoginStash,
  loginKey: Secret<Uint8Array>
): Login => {
  const rootId = stash.loginId
  const openNode = (loginId: string): Login =>
    new Login(port, stashes, { rootId, loginId, loginKey, opened, isCurrent: false })
  const node = findStashByApp(stash, port.config.appId)
  if (node === undefined || node === stash) return openNode(rootId)
  try {
    return openNode(node.loginId)
  } catch {
    return openNode(rootId)
  }
}
