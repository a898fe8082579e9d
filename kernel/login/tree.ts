import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import { openBox, openJson, openText } from '../crypto/box.ts'
import { utf8Of } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import { walletIdOf } from '../keys/ids.ts'
import { accountRepoTypeOf, hideWalletInfo, mergeWalletInfos } from '../keys/wallet-info.ts'
import { parseWalletInfo } from '../schema/login.ts'
import type { Box, SecretWalletInfo, WalletInfo } from '../types/keys.ts'
import type { LoginStash, LoginTree } from '../types/login.ts'
import type { SecretCache } from './secret-cache.ts'
import type { LoginCredentials } from './server.ts'

/** The parts that opening a stash needs. */
export interface TreeContext {
  readonly io: Pick<Io, 'crypto'>
  /** Keeps the secrets of the tree. */
  readonly secrets: SecretCache
  /** Called for boxes and logins of apps that cannot be opened; they are skipped, so that none of them locks the owner out. */
  readonly report: (error: unknown) => void
}

/**
 * Opens a login and everything below it (protocol §4.2). A child that cannot be opened is reported and left out, with
 * what is below it.
 *
 * @param stash - the login whose key this is
 * @throws NO_AUTH_METHODS if the login has neither a loginAuth nor a passwordAuth
 * @throws INVALID_CHECKSUM and the other failures of boxes
 */
export const openLoginTree = (
  context: TreeContext,
  stash: LoginStash,
  loginKey: Secret<Uint8Array>
): LoginTree => {
  const { secrets } = context
  const { appId, loginId, loginAuthBox, passwordAuthBox, pin2TextBox } = stash
  if (loginAuthBox === undefined && passwordAuthBox === undefined)
    throw new WalletError('NO_AUTH_METHODS', {})
  const pin = pin2TextBox === undefined ? undefined : pinOf(context, loginKey, pin2TextBox)
  const { pin2Key, recovery2Key, otpKey } = stash
  const { fromBase64 } = context.io.crypto
  const userId = stash.userId ?? (passwordAuthBox === undefined ? undefined : loginId)
  return Object.freeze({
    appId,
    isRoot: stash.parentBox === undefined,
    loginId,
    loginKey,
    ...compact({
      loginAuth: loginAuthBox === undefined ? undefined : secrets.openBytes(loginKey, loginAuthBox),
      passwordAuth: passwordAuthBox === undefined ? undefined : secrets.openBytes(loginKey, passwordAuthBox),
      userId,
      username: stash.username,
      pin,
      pin2Key: pin2Key === undefined ? undefined : secrets.fromText('key', pin2Key, fromBase64),
      recovery2Key:
        recovery2Key === undefined ? undefined : secrets.fromText('key', recovery2Key, fromBase64),
      otpKey: otpKey === undefined ? undefined : secrets.fromText('code key', otpKey, text => text),
      otpResetDate: stash.otpResetDate,
      otpTimeout: stash.otpTimeout
    }),
    pendingVouchers: stash.pendingVouchers,
    ...compact({ created: stash.created, lastLogin: stash.lastLogin }),
    children: (stash.children ?? []).flatMap(child => openChild(context, child, loginKey) ?? []),
    walletInfos: ownWalletInfos(context, stash, loginKey)
  })
}

/**
 * The first login that passes the test, level by level from the top (pure).
 *
 * Hazard: a client that holds the login of an app can make one below it that names another app. It must not come before
 * the login that the other app has from further up.
 */
export const findTree = (tree: LoginTree, test: (node: LoginTree) => boolean): LoginTree | undefined => {
  const nodes = [tree]
  for (const node of nodes) {
    if (test(node)) return node
    nodes.push(...node.children)
  }
  return undefined
}

/** A login and all below it, each before its children: the order in which changes are made (protocol §4.8; pure). */
export const listTrees = (tree: LoginTree): LoginTree[] => [tree, ...tree.children.flatMap(listTrees)]

/** Returns the credentials of a login for the server (protocol §2.3). @throws NO_AUTH_METHODS */
export const credentialsOf = (io: Pick<Io, 'crypto'>, tree: LoginTree): LoginCredentials => {
  const { loginId, loginAuth, userId, passwordAuth } = tree
  const { fromBase64 } = io.crypto
  const copy = (bytes: Uint8Array): Uint8Array => bytes.slice()
  if (loginAuth !== undefined) return { loginId: fromBase64(loginId), loginAuth: loginAuth.use(copy) }
  if (userId === undefined || passwordAuth === undefined) throw new WalletError('NO_AUTH_METHODS', {})
  return { userId: fromBase64(userId), passwordAuth: passwordAuth.use(copy) }
}

/** Every wallet info of a login and of all below it, those of one id put together (protocol §4.3). */
export const allWalletInfos = (
  { io, report }: Pick<TreeContext, 'io' | 'report'>,
  tree: LoginTree
): SecretWalletInfo[] => mergeWalletInfos(io, infosBelow(tree), report)

/**
 * A login below another; undefined for one that cannot be opened, which must not shut the owner out.
 *
 * Old clients made odd ones. And a device without the key above trusts the device that lets it in about the logins below;
 * the next reply of the server removes a stranger's.
 */
const openChild = (
  context: TreeContext,
  child: LoginStash,
  parentKey: Secret<Uint8Array>
): LoginTree | undefined => {
  const { parentBox } = child
  try {
    if (parentBox === undefined)
      throw new WalletError('KEY_INTEGRITY', { rule: 'No parentBox on child login.' })
    return openLoginTree(context, child, context.secrets.openBytes(parentKey, parentBox))
  } catch (error) {
    context.report(error)
    return undefined
  }
}

const infosBelow = (tree: LoginTree): SecretWalletInfo[] => [
  ...tree.walletInfos,
  ...tree.children.flatMap(infosBelow)
]

const pinOf = ({ io, secrets }: TreeContext, loginKey: Secret<Uint8Array>, box: Box): Secret<string> =>
  secrets.get('text', { box, key: loginKey }, () =>
    secrets.add(new Secret(loginKey.use(key => openText(io, key, box))))
  )

/** A reader of one box, or of two that belong together; the first is the one it is known by. */
interface InfoBox {
  readonly kind: 'wallet' | 'bitid' | 'legacy repo'
  readonly box: Box
  readonly open: (loginKey: Uint8Array) => WalletInfo
}

/** Those of old accounts come first (protocol §4.2). */
const infoBoxesOf = ({ io }: TreeContext, stash: LoginStash): InfoBox[] => {
  const { appId, rootKeyBox, mnemonicBox, syncKeyBox, keyBoxes = [] } = stash
  const found: InfoBox[] = []
  if (rootKeyBox !== undefined && mnemonicBox !== undefined) {
    const boxes = { rootKeyBox, mnemonicBox }
    found.push({ kind: 'bitid', box: rootKeyBox, open: key => openBitidInfo(io, key, boxes) })
  }
  if (syncKeyBox !== undefined) {
    const boxes = { appId, syncKeyBox }
    found.push({ kind: 'legacy repo', box: syncKeyBox, open: key => openLegacyRepoInfo(io, key, boxes) })
  }
  for (const box of keyBoxes) {
    found.push({ kind: 'wallet', box, open: key => parseWalletInfo(openJson(io, key, box)) })
  }
  return found
}

const ownWalletInfos = (
  context: TreeContext,
  stash: LoginStash,
  loginKey: Secret<Uint8Array>
): SecretWalletInfo[] => {
  const { io, secrets, report } = context
  const infos: SecretWalletInfo[] = []
  for (const { kind, box, open } of infoBoxesOf(context, stash)) {
    try {
      const info = secrets.get(kind, { box, key: loginKey }, () =>
        hideWalletInfo(loginKey.use(open), stash.appId)
      )
      secrets.add(info.keys)
      infos.push(info)
    } catch (error) {
      report(error)
    }
  }
  return mergeWalletInfos(io, infos, report).map(info => secrets.withKnownType(info))
}

type CryptoIo = Pick<Io, 'crypto'>

const BITID = 'wallet:bitid'

/**
 * The key that old accounts have of their own, with the words that it was made from (protocol §1.3, §1.7).
 *
 * Its id follows from the root key, and it has no repo.
 *
 * @throws INVALID_CHECKSUM and the other failures of boxes
 */
export const openBitidInfo = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { rootKeyBox, mnemonicBox }: { readonly rootKeyBox: Box; readonly mnemonicBox: Box }
): WalletInfo => {
  const rootKey = openBox(io, loginKey, rootKeyBox)
  const infoKey = infoKeyOf(io, rootKey)
  try {
    const mnemonic = openText(io, infoKey, mnemonicBox)
    const keys = { mnemonic, rootKey: io.crypto.toBase64(rootKey) }
    return { id: walletIdOf(io, BITID, rootKey), type: BITID, keys }
  } finally {
    for (const key of [rootKey, infoKey]) key.fill(0)
  }
}

/**
 * The repo of an old account: its data key is the login key (protocol §1.7).
 *
 * Hazard: sync servers receive the sync key. A login server could put the box of another secret of the login in its
 * place, but those have other lengths.
 *
 * @throws KEY_INTEGRITY, INVALID_CHECKSUM and the other failures of boxes
 */
export const openLegacyRepoInfo = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { appId, syncKeyBox }: { readonly appId: string; readonly syncKeyBox: Box }
): WalletInfo => {
  const type = accountRepoTypeOf(appId)
  const { toBase64 } = io.crypto
  const syncKey = openBox(io, loginKey, syncKeyBox)
  const keys = { dataKey: toBase64(loginKey), syncKey: toBase64(syncKey) }
  const isSyncKey = syncKey.length === 20
  syncKey.fill(0)
  if (!isSyncKey) throw new WalletError('KEY_INTEGRITY', { rule: 'the sync key of a login is not 20 bytes' })
  return { id: walletIdOf(io, type, loginKey), type, keys }
}

/** The key of the box with the words: the constant is the HMAC's key (protocol §1.3). */
export const infoKeyOf = ({ crypto }: CryptoIo, rootKey: Uint8Array): Uint8Array =>
  crypto.hmacSha256(utf8Of('infoKey'), rootKey)
