import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { isSameJson } from '../base/json.ts'
import type { Secret } from '../base/secret.ts'
import { openBox, openText } from '../crypto/box.ts'
import { parseBase32 } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import type { Username } from '../types/ids.ts'
import type { Box } from '../types/keys.ts'
import type { LoginPayload, LoginStash } from '../types/login.ts'
import { normalizeUsername, userIdOf } from './derive.ts'
import { boxNameOf, checkBoxUses, checkSecretLength, withoutInvalidChildren } from './secret-uses.ts'
import { findStashById, isComplete, makeEmptyStash, renameStash, replaceStash } from './stash.ts'
import { openBitidInfo, openLegacyRepoInfo } from './tree.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** A reply of the server, and the key that opens its boxes. */
export interface PayloadOptions {
  /** 32 bytes; of the login that the payload is about. */
  readonly loginKey: Uint8Array
  readonly payload: LoginPayload
  /** The name of the root login where it is beyond doubt; else the stash keeps the one it has. */
  readonly username?: Username | undefined
  /** The password has just opened the box that the payload has. */
  readonly isPasswordVerified?: boolean
  /** Gets what is wrong with a login of an app that is kept as it was known, or left out. */
  readonly onInvalid?: (error: unknown) => void
}

/**
 * Merges a login that the server sent into the stash of this device (protocol §4.1, §8 no. 14 and 31; pure).
 *
 * The login is found by its id. What the payload lacks is removed, except names, vouchers, and what never changes in the life of a login: a server that no longer sends a key has
 * lost it, and it is kept here.
 *
 * A login below that contradicts itself, the known one or another login stays as this device knows it. Of a new one the
 * names are kept, so that no second login is made for its app.
 *
 * @param stash - the whole tree; not changed
 * @returns a new tree, ready to be opened and saved
 * @throws KEY_INTEGRITY if the key is not that of the known login, or a secret of the login itself has two uses
 * @throws LOST_CHILDREN if a child that the stash has is missing
 * @throws BAD_REPLY if the payload is about a login that the stash does not have
 * @throws INVALID_CHECKSUM and the other failures of boxes
 */
export const applyLoginPayload = (io: CryptoIo, stash: LoginStash, options: PayloadOptions): LoginStash => {
  const { loginId } = options.payload
  const target = findStashById(stash, loginId)
  if (target === undefined) throw anotherLogin('loginId')
  const rebuilt = rebuild(io, target, options)
  if (target !== stash && rebuilt.parentBox === undefined) throw withoutParent()
  const { loginKey, onInvalid = () => {} } = options
  const sound = withoutInvalidChildren({ io, onInvalid, tree: stash }, { loginKey, known: target, rebuilt })
  return replaceStash(stash, target.loginId, () => sound)
}

const rebuild = (io: CryptoIo, stash: LoginStash, options: PayloadOptions): LoginStash => {
  const { loginKey, payload } = options
  if (payload.appId !== stash.appId) throw anotherLogin('appId')
  checkLoginKey(io, stash, loginKey)
  checkBoxUses(stash, payload)
  for (const box of [payload.loginAuthBox, payload.passwordAuthBox])
    openKey(io, loginKey, { box, isExact: payload.appId === '' })
  const named = options.username === undefined ? stash : renameStash(stash, options.username)
  const { username } = named
  const { mnemonicBox, rootKeyBox, syncKeyBox } = validLegacyBoxes(io, loginKey, [stash, payload])
  const isNewId = username !== stash.username || options.isPasswordVerified === true
  return withoutUndefined({
    appId: payload.appId,
    created: payload.created,
    lastLogin: stash.lastLogin,
    loginId: payload.loginId,
    username,
    nextUsername: undefined,
    // A server that has the login may lack the logins below it, and files.
    deviceOnly: stash.deviceOnly,
    sentValues: stash.sentValues,
    userId: isNewId ? (payload.userId ?? stash.userId) : (stash.userId ?? payload.userId),
    otpKey: otpKeyOf(stash, payload),
    otpResetDate: payload.otpResetDate,
    otpTimeout: payload.otpTimeout,
    pendingVouchers: payload.pendingVouchers,
    voucherId: stash.voucherId,
    voucherAuth: stash.voucherAuth,
    // Hazard: a server could put another box here and be sent its content. A loginAuth never changes.
    loginAuthBox: stash.loginAuthBox ?? payload.loginAuthBox,
    parentBox: stash.parentBox ?? parentBoxOf(payload),
    ...passwordOf(stash, options),
    pin2Key: openKey(io, loginKey, { box: payload.pin2KeyBox }),
    pin2TextBox: checkPinText(io, loginKey, payload.pin2TextBox),
    recovery2Key: openKey(io, loginKey, { box: payload.recovery2KeyBox }),
    keyBoxes: mergeBoxes(io, loginKey, { sent: payload.keyBoxes ?? [], known: stash.keyBoxes ?? [] }),
    mnemonicBox,
    rootKeyBox,
    syncKeyBox,
    syncToken: payload.syncToken,
    children: mergeChildren(io, named, options)
  })
}

/**
 * Known children keep their order and new ones come last, whatever dates the server gives them: the first login of an app is
 * the one in use.
 */
const mergeChildren = (
  io: CryptoIo,
  stash: LoginStash,
  { loginKey, payload, onInvalid = () => {} }: PayloadOptions
): LoginStash[] => {
  const known = new Map((stash.children ?? []).map(child => [child.loginId, child]))
  const sent = [...(payload.children ?? [])].sort(byCreated)
  const isKnown = ({ loginId }: LoginPayload): boolean => known.has(loginId)
  const places = [...known.keys()]
  const placeOf = ({ loginId }: LoginPayload): number => places.indexOf(loginId)
  const kept = sent.filter(isKnown).sort((left, right) => placeOf(left) - placeOf(right))
  const inOrder = [...kept, ...sent.filter(child => !isKnown(child))]
  const ids = new Set(inOrder.map(({ loginId }) => loginId))
  for (const child of known.values()) {
    if (!ids.has(child.loginId) && isOwnChild(io, loginKey, child)) throw new WalletError('LOST_CHILDREN', {})
  }
  const apps = new Set([payload.appId])
  const taken = new Set<string>()
  return inOrder.flatMap(child => {
    const before = known.get(child.loginId)
    let merged: LoginStash
    if (taken.has(child.loginId)) {
      onInvalid(violation('two logins have one id'))
      return []
    }
    taken.add(child.loginId)
    try {
      if (apps.has(child.appId)) throw violation('two logins have one app')
      merged = mergeChild(io, { parentKey: loginKey, before, child, onInvalid })
    } catch (error) {
      if (isWalletError(error, 'LOST_CHILDREN')) throw error
      onInvalid(error)
      if (before === undefined && apps.has(child.appId)) return []
      merged = before ?? namesOf(child)
    }
    apps.add(merged.appId)
    return [merged]
  })
}

interface ChildMerge {
  readonly parentKey: Uint8Array
  readonly before: LoginStash | undefined
  readonly child: LoginPayload
  readonly onInvalid: (error: unknown) => void
}

const mergeChild = (io: CryptoIo, { parentKey, before, child, onInvalid }: ChildMerge): LoginStash => {
  if (child.isOdd === true) throw violation('a login of an app cannot be read')
  if (child.parentBox === undefined) throw withoutParent()
  const childKey = openBox(io, parentKey, child.parentBox)
  try {
    const base = before ?? { ...makeEmptyStash(undefined), appId: child.appId }
    // A device that was let in by another one could not try the box that it was given.
    // Nor is that of a login sound of which only the names are kept: it came with what was left out.
    const isSound =
      isComplete(base) && base.parentBox !== undefined && isOpenedBy(io, parentKey, base.parentBox)
    const sound = isSound ? base : { ...base, parentBox: child.parentBox }
    return rebuild(io, sound, { loginKey: childKey, payload: child, onInvalid })
  } finally {
    childKey.fill(0)
  }
}

/** A login of which nothing else can be used. */
const namesOf = ({ appId, created, loginId, parentBox }: LoginPayload): LoginStash => ({
  appId,
  created,
  loginId,
  pendingVouchers: [],
  ...compact({ parentBox })
})

/**
 * Returns true for a real child of the login: a device without the parent's key trusts the device that lets it in about
 * the parent. What is no child, or names a login and holds nothing of it, is not missed.
 */
const isOwnChild = (io: CryptoIo, loginKey: Uint8Array, child: LoginStash): boolean => {
  const { parentBox, keyBoxes = [], children = [] } = child
  if (parentBox !== undefined) return isOpenedBy(io, loginKey, parentBox)
  return isComplete(child) || keyBoxes.length > 0 || children.length > 0
}

/** Checks if a key is that of a login; undefined for a login that has no box yet. */
export const isKeyOf = (io: CryptoIo, stash: LoginStash, loginKey: Uint8Array): boolean | undefined => {
  const box = stash.loginAuthBox ?? stash.passwordAuthBox ?? stash.keyBoxes?.[0]
  return box === undefined ? undefined : isOpenedBy(io, loginKey, box)
}

/** A login keeps its key for life, so a key that opens none of its boxes is that of another login. */
const checkLoginKey = (io: CryptoIo, stash: LoginStash, loginKey: Uint8Array): void => {
  // Below the root, deployed clients take every key that AES takes.
  const isKey = loginKey.length === 32 || (stash.appId !== '' && [16, 24].includes(loginKey.length))
  if (!isKey) throw violation('a login key is not 32 bytes')
  if (isKeyOf(io, stash, loginKey) === false) throw violation('the server sent the key of another login')
}

const parentBoxOf = ({ appId, parentBox }: LoginPayload): Box | undefined => {
  if (appId === '' && parentBox !== undefined) throw violation('a root login has a parent')
  return parentBox
}

type PasswordFields = Pick<
  Loose<Required<LoginStash>>,
  'passwordAuthBox' | 'passwordAuthSnrp' | 'passwordBox' | 'passwordKeySnrp'
>

/**
 * The password's box cannot be checked without the password. But it never changes alone: where what proves the
 * password to the server is the same, so is the box, and the parameters of its key.
 */
const passwordOf = (stash: LoginStash, { payload, isPasswordVerified }: PayloadOptions): PasswordFields => {
  const { passwordBox, passwordAuthSnrp } = payload
  const passwordAuthBox = payload.passwordAuthBox ?? (passwordBox && stash.passwordAuthBox)
  const isHidden = passwordBox === true
  const isSame = passwordBox !== undefined && isSameBox(passwordAuthBox, stash.passwordAuthBox)
  if (stash.passwordBox !== undefined && (isHidden || (isSame && isPasswordVerified !== true))) {
    const { passwordBox, passwordKeySnrp } = stash
    return { passwordAuthBox, passwordAuthSnrp, passwordBox, passwordKeySnrp }
  }
  const { passwordKeySnrp } = payload
  return {
    passwordAuthBox,
    passwordAuthSnrp,
    passwordBox: isHidden || passwordAuthBox === undefined ? undefined : passwordBox,
    passwordKeySnrp
  }
}

const openKey = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { box, isExact = false }: { readonly box: Box | undefined; readonly isExact?: boolean }
): string | undefined => {
  if (box === undefined) return undefined
  const key = openBox(io, loginKey, box)
  checkSecretLength(key, isExact)
  return io.crypto.toBase64(key)
}

const checkPinText = (io: CryptoIo, loginKey: Uint8Array, box: Box | undefined): Box | undefined => {
  if (box === undefined) return undefined
  try {
    openText(io, loginKey, box)
    return box
  } catch (error) {
    throw isWalletError(error) ? error : violation('a PIN is no text')
  }
}

/** Keeps a key that was sent to the server and is not there yet: the request may still arrive. */
const otpKeyOf = (stash: LoginStash, { otpKey, otpTimeout }: LoginPayload): string | undefined => {
  const isAwaited = otpKey === undefined && otpTimeout === undefined && stash.otpTimeout === undefined
  return otpKey === true || isAwaited ? stash.otpKey : checkOtpKey(otpKey)
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

/**
 * Known boxes stay as they are, but for one that cannot be read where the server's can. One that cannot be read is
 * kept only while the server sends it.
 */
const mergeBoxes = (
  io: CryptoIo,
  loginKey: Uint8Array,
  { sent, known }: { readonly sent: readonly Box[]; readonly known: readonly Box[] }
): Box[] => {
  if (isSameJson(sent, known)) return [...known]
  const merged = new Map(sent.map(box => [boxNameOf(box), box]))
  for (const box of known) {
    const name = boxNameOf(box)
    const other = merged.get(name)
    const isSame = other?.encryptionType === box.encryptionType
    const isKept =
      other === undefined ? isOpenedBy(io, loginKey, box) : isSame || !isOpenedBy(io, loginKey, other)
    if (isKept) merged.set(name, box)
  }
  return [...merged.values()]
}

const isOpenedBy = (io: CryptoIo, loginKey: Uint8Array, box: Box): boolean => {
  try {
    openBox(io, loginKey, box).fill(0)
    return true
  } catch {
    return false
  }
}

const isSameBox = (left: Box | undefined, right: Box | undefined): boolean =>
  left === undefined || right === undefined ? left === right : boxNameOf(left) === boxNameOf(right)

const byCreated = (left: LoginPayload, right: LoginPayload): number =>
  Date.parse(left.created) - Date.parse(right.created)

const violation = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })

const withoutParent = (): WalletError => violation('No parentBox on child login.')

const anotherLogin = (path: string): WalletError =>
  new WalletError('BAD_REPLY', { source: 'login reply', path, rule: 'is another login' })

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** The types distinguish absent and undefined; both mean absent in the formats. */
const withoutUndefined = (stash: Loose<Required<LoginStash>>): LoginStash =>
  Object.fromEntries(
    Object.entries(stash).filter(([, value]) => value !== undefined)
  ) as unknown as LoginStash

/** The boxes that only old accounts have. */
export type LegacyBoxes = Pick<LoginStash, 'mnemonicBox' | 'rootKeyBox' | 'syncKeyBox'>

/**
 * The first of each that opens, for a what an old account is made of never changes.
 *
 * A box that opens in no version is left out, so that a false box of a server is not kept for ever.
 *
 * @param versions - of one login, the known one before the one that a server sent
 */
export const validLegacyBoxes = (
  io: Pick<Io, 'crypto'>,
  loginKey: Uint8Array,
  versions: readonly (LoginStash | LoginPayload)[]
): LegacyBoxes => {
  const bitid = versions.find(({ rootKeyBox, mnemonicBox }) =>
    opens(() => rootKeyBox && mnemonicBox && openBitidInfo(io, loginKey, { rootKeyBox, mnemonicBox }))
  )
  const repo = versions.find(({ appId, syncKeyBox }) =>
    opens(() => syncKeyBox && openLegacyRepoInfo(io, loginKey, { appId, syncKeyBox }))
  )
  return compact({
    rootKeyBox: bitid?.rootKeyBox,
    mnemonicBox: bitid?.mnemonicBox,
    syncKeyBox: repo?.syncKeyBox
  })
}

const opens = (open: () => object | undefined): boolean => {
  try {
    return open() !== undefined
  } catch {
    return false
  }
}

/** A reply of the server, and the key that opens its boxes. */
export interface ReplyWithKey {
  readonly payload: LoginPayload
  readonly loginKey: Secret<Uint8Array>
}

/**
 * The name that a root login keeps of itself; undefined where it has none or it cannot be believed.
 *
 * Hazard: a server could put another text of the login, such as the PIN, in the name's place and be shown it.
 * So a name other than the known one must be that of the user id, which cannot be made without the name.
 *
 * @param known - the name that this device has, normalised
 */
export const verifiedNameOf = async (
  io: Pick<Io, 'crypto'>,
  { payload, loginKey }: ReplyWithKey,
  known: string | undefined
): Promise<string | undefined> => {
  const { appId, loginId, userId = loginId, userTextBox } = payload
  if (appId !== '' || userTextBox === undefined) return undefined
  let name: string
  try {
    name = normalizeUsername(loginKey.use(key => openText(io, key, userTextBox)))
  } catch {
    return undefined
  }
  if (name === known) return name
  return io.crypto.toBase64(await userIdOf(io, name)) === userId ? name : undefined
}
