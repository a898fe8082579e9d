import { WalletError } from '../../base/errors.ts'
import { sealJson } from '../../crypto/box.ts'
import type { Io } from '../../io/io.ts'
import type { WalletInfo } from '../../types/keys.ts'
import type { LoginKit } from './login-kit.ts'

type KeysIo = Pick<Io, 'crypto' | 'random'>

/** A login with its key, for sealing. */
export interface KeyedLogin {
  /** Base64. */
  readonly loginId: string
  readonly loginKey: Uint8Array
}

/**
 * Attaches wallets and repos to a login, and has the server make their repos (protocol §2.4).
 *
 * @throws KEY_INTEGRITY if a `syncKey` is no base64 text
 */
export const makeKeysKit = (io: KeysIo, login: KeyedLogin, infos: readonly WalletInfo[]): LoginKit => {
  const keyBoxes = infos.map(({ id, type, keys }) => sealJson(io, login.loginKey, { id, type, keys }))
  return {
    loginId: login.loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/keys',
    serverBody: {
      keyBoxes: keyBoxes.map(box => ({ ...box })),
      newSyncKeys: infos.flatMap(({ keys }) => (keys.syncKey === undefined ? [] : [hexOf(io, keys.syncKey)]))
    },
    stash: { keyBoxes }
  }
}

const hexOf = ({ crypto }: KeysIo, syncKey: unknown): string => {
  try {
    return crypto.toHex(crypto.fromBase64(syncKey as string))
  } catch {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the sync key of a wallet is no base64 text' })
  }
}
