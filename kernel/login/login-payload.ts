import { openBox, openText } from '../crypto/box.ts'
import { parseBase32 } from '../crypto/encoding.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import type { LoginPayload, LoginStash } from '../types/login.ts'
import { normalizeUsername } from './derive.ts'
import { findStash, makeEmptyStash, replaceStash } from './stash-tree.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** A reply of the server, and the key that opens its boxes. */
export interface OpenedPayload {
  /** 32 bytes; of the login that the payload is about. */
  readonly loginKey: Uint8Array
  readonly payload: LoginPayload
}

/**
 * Merges a login that the server sent into the stash of this device (protocol §4.1, §8 no. 14 and 31; pure).
 *
 * The login is found by its id; by its app only in a stash that has no id yet. What the payload lacks is removed,
 * except vouchers, names, the loginAuth and key boxes: the server never takes a key back, so a key that it
 * no longer sends was lost there and is kept here.
 *
 * @param stash - the whole tree; not changed
 * @returns a new tree, ready to be opened and saved
 * @throws KEY_INTEGRITY if a child has no parent box, or the key is not that of the known login
 * @throws LOST_CHILDREN if a child that the stash has is missing
 * @throws BAD_REPLY if the payload is about a login that the stash does not have
 * @throws INVALID_CHECKSUM and the other failures of boxes
 */
export const applyLoginPayload = (io: CryptoIo, stash: LoginStash, opened: OpenedPayload): LoginStash => {
  const { loginId, appId } = opened.payload
  const target =
    findStash(stash, node => node.loginId === loginId) ??
    findStash(stash, node => node.loginId === '' && node.appId === appId)
  if (target === undefined || target.appId !== appId) {
    throw new WalletError('BAD_REPLY', { source: 'login reply', path: 'loginId', rule: 'is another login' })
  }
  return replaceStash(stash, target.loginId, node => rebuild(io, node, opened))
}

const rebuild = (io: CryptoIo, stash: LoginStash, { loginKey, payload }: OpenedPayload): LoginStash => {
  checkLoginKey(io, stash, loginKey)
  const pin2Key = openKey(io, loginKey, payload.pin2KeyBox)
  const recovery2Key = openKey(io, loginKey, payload.recovery2KeyBox)
  const isRoot = (payload.parentBox ?? stash.parentBox) === undefined
  return withoutUndefined({
    appId: payload.appId,
    created: payload.created,
    lastLogin: stash.lastLogin,
    loginId: payload.loginId,
    username: (isRoot ? usernameOf(io, loginKey, payload) : undefined) ?? stash.username,
    userId: payload.userId ?? stash.userId,
    otpKey: payload.otpKey === true ? stash.otpKey : checkOtpKey(payload.otpKey),
    otpResetDate: payload.otpResetDate,
    otpTimeout: payload.otpTimeout,
    pendingVouchers: payload.pendingVouchers,
    voucherId: stash.voucherId,
    voucherAuth: stash.voucherAuth,
    // Hazard: a server could put another box here and be told what is in it. A loginAuth never changes.
    loginAuthBox: stash.loginAuthBox ?? payload.loginAuthBox,
    parentBox: payload.parentBox ?? stash.parentBox,
    passwordAuthBox: payload.passwordAuthBox,
    passwordAuthSnrp: payload.passwordAuthSnrp,
    passwordBox: payload.passwordBox === true ? stash.passwordBox : payload.passwordBox,
    passwordKeySnrp: payload.passwordKeySnrp,
    pin2Key,
    pin2TextBox: payload.pin2TextBox,
    recovery2Key,
    keyBoxes: mergeBoxes(payload.keyBoxes ?? [], stash.keyBoxes ?? []),
    mnemonicBox: payload.mnemonicBox,
    rootKeyBox: payload.rootKeyBox,
    syncKeyBox: payload.syncKeyBox,
    syncToken: payload.syncToken,
    children: mergeChildren(io, stash, { loginKey, payload })
  })
}

const mergeChildren = (
  io: CryptoIo,
  stash: LoginStash,
  { loginKey, payload }: OpenedPayload
): LoginStash[] => {
  const known = new Map((stash.children ?? []).map(child => [child.loginId, child]))
  const seen = new Set<string>()
  const children = [...(payload.children ?? [])].sort(byCreated).map(child => {
    if (seen.has(child.loginId)) throw violation('two child logins have one id')
    seen.add(child.loginId)
    if (child.parentBox === undefined) throw violation('No parentBox on child login.')
    const childKey = openBox(io, loginKey, child.parentBox)
    try {
      const base = known.get(child.loginId) ?? { ...makeEmptyStash(undefined), appId: child.appId }
      return rebuild(io, base, { loginKey: childKey, payload: child })
    } finally {
      childKey.fill(0)
    }
  })
  for (const id of known.keys()) if (!seen.has(id)) throw new WalletError('LOST_CHILDREN', {})
  return children
}

/** A login keeps its key for life, so a key that opens none of its boxes is that of another login. */
const checkLoginKey = (io: CryptoIo, stash: LoginStash, loginKey: Uint8Array): void => {
  const box = stash.loginAuthBox ?? stash.passwordAuthBox ?? stash.keyBoxes?.[0]
  if (loginKey.length !== 32) throw violation('a login key is not 32 bytes')
  if (box === undefined) return
  try {
    openBox(io, loginKey, box).fill(0)
  } catch (error) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the server sent the key of another login' }, error)
  }
}

const openKey = (io: CryptoIo, loginKey: Uint8Array, box: Box | undefined): string | undefined => {
  if (box === undefined) return undefined
  const key = openBox(io, loginKey, box)
  if (key.length !== 32) throw violation('a PIN or recovery key is not 32 bytes')
  return io.crypto.toBase64(key)
}

/** The name as the account itself keeps it; one that cannot be read is as good as none. */
const usernameOf = (io: CryptoIo, loginKey: Uint8Array, payload: LoginPayload): string | undefined => {
  if (payload.userTextBox === undefined) return undefined
  try {
    return normalizeUsername(openText(io, loginKey, payload.userTextBox))
  } catch {
    return undefined
  }
}

/** A key that makes no codes must not replace one that does. */
const checkOtpKey = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  try {
    parseBase32(text)
    return text
  } catch {
    throw new WalletError('BAD_REPLY', { source: 'login reply', path: 'otpKey', rule: 'is no base32' })
  }
}

const mergeBoxes = (sent: readonly Box[], known: readonly Box[]): Box[] => {
  const names = new Set(sent.map(nameOf))
  return [...sent, ...known.filter(box => !names.has(nameOf(box)))]
}

const nameOf = (box: Box): string => `${box.iv_hex} ${box.data_base64}`

const byCreated = (left: LoginPayload, right: LoginPayload): number =>
  Date.parse(left.created) - Date.parse(right.created)

const violation = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** Absent and undefined are told apart by the types, and both mean absent in the formats. */
const withoutUndefined = (stash: Loose<Required<LoginStash>>): LoginStash =>
  Object.fromEntries(
    Object.entries(stash).filter(([, value]) => value !== undefined)
  ) as unknown as LoginStash
