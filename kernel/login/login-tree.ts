import { openJson, openText } from '../crypto/box.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { Io } from '../io/io.ts'
import { hideWalletInfo, mergeWalletInfos } from '../keys/wallet-info.ts'
import { parseWalletInfo } from '../schema/login-files.ts'
import { Secret } from '../state/secret.ts'
import type { Box, SecretWalletInfo } from '../types/keys.ts'
import type { LoginStash, LoginTree } from '../types/login.ts'
import type { OpenedBoxes } from './opened-boxes.ts'

/** What opening a stash needs. */
export interface TreePort {
  readonly io: Pick<Io, 'crypto'>
  /** Keeps the secrets of the tree. */
  readonly opened: OpenedBoxes
  /** Hears of key boxes that cannot be read; they are skipped, so that one bad wallet does not lock out the rest. */
  readonly report: (error: unknown) => void
}

/**
 * Opens a login and everything below it (protocol §4.2).
 *
 * Legacy boxes are left alone.
 *
 * @param stash - the login whose key this is
 * @throws NO_AUTH_METHODS if a login has neither a loginAuth nor a passwordAuth
 * @throws KEY_INTEGRITY, INVALID_CHECKSUM
 */
export const openLoginTree = (port: TreePort, stash: LoginStash, loginKey: Secret<Uint8Array>): LoginTree => {
  const { opened } = port
  const { appId, loginId, loginAuthBox, passwordAuthBox, pin2TextBox } = stash
  if (loginAuthBox === undefined && passwordAuthBox === undefined)
    throw new WalletError('NO_AUTH_METHODS', {})
  const pin = pin2TextBox === undefined ? undefined : pinOf(port, loginKey, pin2TextBox)
  const { pin2Key, recovery2Key, otpKey } = stash
  const { fromBase64 } = port.io.crypto
  const userId = stash.userId ?? (passwordAuthBox === undefined ? undefined : loginId)
  return Object.freeze({
    appId,
    isRoot: stash.parentBox === undefined,
    loginId,
    loginKey,
    ...(loginAuthBox === undefined ? {} : { loginAuth: opened.bytesOf(loginKey, loginAuthBox) }),
    ...(passwordAuthBox === undefined ? {} : { passwordAuth: opened.bytesOf(loginKey, passwordAuthBox) }),
    ...(userId === undefined ? {} : { userId }),
    ...(stash.username === undefined ? {} : { username: stash.username }),
    ...(pin === undefined ? {} : { pin }),
    ...(pin2Key === undefined ? {} : { pin2Key: opened.ofText('key', pin2Key, fromBase64) }),
    ...(recovery2Key === undefined ? {} : { recovery2Key: opened.ofText('key', recovery2Key, fromBase64) }),
    ...(otpKey === undefined ? {} : { otpKey: opened.ofText('code key', otpKey, text => text) }),
    ...(stash.otpResetDate === undefined ? {} : { otpResetDate: stash.otpResetDate }),
    ...(stash.otpTimeout === undefined ? {} : { otpTimeout: stash.otpTimeout }),
    pendingVouchers: stash.pendingVouchers,
    ...(stash.created === undefined ? {} : { created: stash.created }),
    ...(stash.lastLogin === undefined ? {} : { lastLogin: stash.lastLogin }),
    children: (stash.children ?? []).map(child => {
      if (child.parentBox === undefined) {
        throw new WalletError('KEY_INTEGRITY', { rule: 'No parentBox on child login.' })
      }
      return openLoginTree(port, child, opened.bytesOf(loginKey, child.parentBox))
    }),
    walletInfos: ownWalletInfos(port, stash, loginKey)
  })
}

/** The first login of the tree, depth first, that passes the test (pure). */
export const findTree = (tree: LoginTree, test: (node: LoginTree) => boolean): LoginTree | undefined => {
  if (test(tree)) return tree
  for (const child of tree.children) {
    const found = findTree(child, test)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Every wallet info of a login and of all below it, those of one id put together (protocol §4.3).
 *
 * @throws KEY_INTEGRITY
 */
export const allWalletInfos = (io: Pick<Io, 'crypto'>, tree: LoginTree): SecretWalletInfo[] =>
  mergeWalletInfos(io, infosBelow(tree))

const infosBelow = (tree: LoginTree): SecretWalletInfo[] => [
  ...tree.walletInfos,
  ...tree.children.flatMap(infosBelow)
]

const pinOf = ({ io, opened }: TreePort, loginKey: Secret<Uint8Array>, box: Box): Secret<string> =>
  opened.once('text', box, () => opened.adopt(new Secret(loginKey.use(key => openText(io, key, box)))))

const ownWalletInfos = (
  port: TreePort,
  stash: LoginStash,
  loginKey: Secret<Uint8Array>
): SecretWalletInfo[] => {
  const infos: SecretWalletInfo[] = []
  for (const box of stash.keyBoxes ?? []) {
    try {
      infos.push(
        port.opened.once('wallet', box, () => openWalletInfo(port, loginKey, { box, appId: stash.appId }))
      )
    } catch (error) {
      port.report(error)
    }
  }
  return mergeWalletInfos(port.io, infos)
}

const openWalletInfo = (
  { io, opened }: TreePort,
  loginKey: Secret<Uint8Array>,
  { box, appId }: { box: Box; appId: string }
): SecretWalletInfo => {
  const info = hideWalletInfo(parseWalletInfo(loginKey.use(key => openJson(io, key, box))), appId)
  opened.adopt(info.keys)
  return info
}
