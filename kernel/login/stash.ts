import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, isSameJson, parseJson } from '../base/json.ts'
import { base58Of, parseBase58, parseBase64 } from '../crypto/encoding.ts'
import type { Io } from '../io/io.ts'
import { isRootId, parseLoginStash } from '../schema/login.ts'
import type { LoginId, Username } from '../types/ids.ts'
import type { LoginStash } from '../types/login.ts'
import { normalizeUsername } from './derive.ts'

/** The stash of a user that this device has never seen; it cannot be saved until it has a login id (pure). */
export const makeEmptyStash = (username: Username | undefined): LoginStash => ({
  appId: '',
  loginId: '',
  pendingVouchers: [],
  ...compact({ username })
})

/** Returns true if a stash has a login itself, and not only its name and the logins below it (pure). */
export const isComplete = ({ loginAuthBox, passwordAuthBox }: LoginStash): boolean =>
  loginAuthBox !== undefined || passwordAuthBox !== undefined

/** The login with this id, in base64 (pure). */
export const findStashById = (stash: LoginStash, loginId: LoginId): LoginStash | undefined =>
  findStash(stash, node => node.loginId === loginId)

/** The login of this app (pure). */
export const findStashByApp = (stash: LoginStash, appId: string): LoginStash | undefined =>
  findStash(stash, node => node.appId === appId)

/** The tree with one login replaced; every other login stays the same object (pure). */
export const replaceStash = (
  stash: LoginStash,
  loginId: LoginId,
  change: (node: LoginStash) => LoginStash
): LoginStash => {
  if (stash.loginId === loginId) return change(stash)
  const { children } = stash
  if (children === undefined) return stash
  const changed = children.map(child => replaceStash(child, loginId, change))
  return changed.some((child, i) => child !== children[i]) ? { ...stash, children: changed } : stash
}

/** The first login that passes the test, level by level from the top, as `findTree` finds it (pure). */
const findStash = (stash: LoginStash, test: (node: LoginStash) => boolean): LoginStash | undefined => {
  const nodes = [stash]
  for (const node of nodes) {
    if (test(node)) return node
    nodes.push(...(node.children ?? []))
  }
  return undefined
}

/**
 * Reads the content of a stash file, as any deployed client writes it (protocol §3.2).
 *
 * Usernames are normalised, and PIN keys in the old base58 spelling become base64.
 *
 * @throws BAD_REPLY, BAD_USERNAME; the file must then be left as it is
 */
export const parseStashFile = (io: Pick<Io, 'crypto'>, text: string): LoginStash => {
  const stash = normalizeStash(io, parseLoginStash(parseJson(text, 'login stash')))
  if (stash.appId !== '') unreadable('appId', 'is not that of a root login')
  if (!isRootId(stash.loginId)) unreadable('loginId', 'is not 32 bytes of base64')
  return stash
}

/**
 * The content of a stash file; equal stashes have equal texts (pure).
 *
 * `syncToken` is left out: it lives in memory only (protocol §3.2).
 */
export const stashTextOf = (stash: LoginStash): string =>
  JSON.stringify(stash, (name, value: unknown) => {
    if (name === 'syncToken') return undefined
    if (name === 'pin2Key' && typeof value === 'string') return storedPinKey(value)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value
  })

/** Checks if two stashes would be one file (pure): most of their boxes are the same objects. */
export const isSameStash = (left: LoginStash, right: LoginStash): boolean =>
  isSameJson(storedFields(left), storedFields(right))

const storedFields = (stash: LoginStash): unknown => {
  const { syncToken: _, children, ...fields } = stash
  const stored = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(stored), ...compact({ children: children?.map(storedFields) }) }
}

const byName = ([left]: [string, unknown], [right]: [string, unknown]): number => (left < right ? -1 : 1)

/** Text without a final `=` reads as base58, so a key whose base64 has no padding is written as that. */
const storedPinKey = (base64: string): string =>
  base64.endsWith('=') ? base64 : base58Of(parseBase64(base64))

const normalizeStash = (io: Pick<Io, 'crypto'>, stash: LoginStash): LoginStash => {
  const { username, nextUsername, pin2Key, children } = stash
  return {
    ...stash,
    ...compact({
      username: username === undefined ? undefined : normalizeUsername(username),
      nextUsername: nextUsername === undefined ? undefined : normalizeUsername(nextUsername),
      pin2Key: pin2Key === undefined ? undefined : base64KeyOf(io, pin2Key),
      children: children?.map(child => normalizeChild(io, child))
    })
  }
}

/** A name or a PIN key of a child that makes no sense is left out; the server has what belongs there. */
const normalizeChild = (io: Pick<Io, 'crypto'>, child: LoginStash): LoginStash => {
  try {
    return normalizeStash(io, child)
  } catch {
    const { username: _, nextUsername: __, pin2Key: ___, ...rest } = child
    return normalizeStash(io, rest)
  }
}

const base64KeyOf = (io: Pick<Io, 'crypto'>, text: string): string => {
  try {
    const bytes = text.endsWith('=') ? io.crypto.fromBase64(text) : parseBase58(text)
    return io.crypto.toBase64(bytes)
  } catch {
    return unreadable('pin2Key', 'is neither base64 nor base58')
  }
}

const unreadable = (path: string, rule: string): never => {
  throw new WalletError('BAD_REPLY', { source: 'login stash', path, rule })
}

/**
 * The stash of a root login that has another username now (pure).
 *
 * The ids of PIN and recovery login of everything below are made from the root's name, and the server changes them
 * one by one. Until then each login below remembers the name that its ids are made from: whatever interrupts the
 * change, what is left of it can be seen and done.
 */
export const renameStash = (stash: LoginStash, username: Username): LoginStash => {
  if (stash.username === username) return stash
  const names: Names = { past: stash.username ?? NAMELESS, present: username }
  return { ...stash, username, ...childrenOf(stash, names) }
}

/** The name that the ids of PIN and recovery login are made from; undefined for none (protocol §1.5; pure). */
export const idNameOf = (root: LoginStash, node: LoginStash): string | undefined =>
  node.username === NAMELESS ? undefined : (node.username ?? root.username)

/** The name that a login below stores for a root without a username; no name is the empty text. */
const NAMELESS = ''

interface Names {
  readonly past: string
  readonly present: string
}

const childrenOf = ({ children }: LoginStash, names: Names): Pick<LoginStash, 'children'> =>
  children === undefined ? {} : { children: children.map(child => rememberName(child, names)) }

const rememberName = (child: LoginStash, names: Names): LoginStash => {
  const { username = names.past, ...rest } = child
  const hasIds = child.pin2Key !== undefined || child.recovery2Key !== undefined
  const isStale = hasIds && username !== names.present
  return { ...rest, ...compact({ username: isStale ? username : undefined }), ...childrenOf(child, names) }
}

type Changeable = Omit<LoginStash, 'appId' | 'loginId'>

/**
 * Fields of a stash that a change replaces, or removes where they are undefined; key boxes and children are added to
 * those that are there.
 */
export type StashPatch = { readonly [Field in keyof Changeable]?: Changeable[Field] | undefined }

/**
 * The tree after a change of one of its logins (pure).
 *
 * The sync token of the held login goes: the server would call the login unchanged if it were to become again what it
 * was before, and this device would go on with what it made of it.
 *
 * @param heldId - base64, of the login whose key is held
 */
export const patchStash = (
  root: LoginStash,
  heldId: LoginId,
  { loginId, stash }: { readonly loginId: LoginId; readonly stash: StashPatch }
): LoginStash => {
  const changed = replaceStash(root, loginId, node => patchLogin(node, stash))
  return replaceStash(changed, heldId, ({ syncToken: _, ...node }) => node)
}

/** One login after a change (pure). */
export const patchLogin = (stash: LoginStash, changes: StashPatch): LoginStash => {
  const { keyBoxes = [], children = [], ...fields } = changes
  const { username } = fields
  const named = username === undefined ? stash : renameStash(stash, username)
  const changed = {
    ...named,
    ...fields,
    keyBoxes: [...(named.keyBoxes ?? []), ...keyBoxes],
    children: [...(named.children ?? []), ...children]
  }
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== undefined)
  ) as unknown as LoginStash
}

/**
 * Puts a login that another device handed over into what this device knows of the account (protocol §4.7; pure).
 *
 * Logins that this device can open stay. The rest of the sent tree is of no use here: only the names on the way down to
 * the login are trusted.
 *
 * @param known - this device's stash of the account, if it has one
 * @param sent - the whole tree as it was sent
 * @param loginId - base64; of the login within `sent` that was handed over
 * @throws KEY_INTEGRITY if the way down leads through a login that an account whose key opens here does not have
 */
export const importChildLogin = (
  known: LoginStash | undefined,
  sent: LoginStash,
  loginId: LoginId
): LoginStash => {
  if (sent.loginId === loginId) return mergeLogin(known, sent)
  const base = known === undefined ? nameOf(sent) : renamed(known, sent)
  const next = sent.children?.find(child => findStashById(child, loginId) !== undefined)
  if (next === undefined) return base
  const { children = [] } = base
  const place = children.find(child => child.loginId === next.loginId)
  const imported = importChildLogin(place, next, loginId)
  const isThere = place !== undefined
  if (!isThere && isComplete(base) && next.loginId !== loginId) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'a login is below one that this account does not have' })
  }
  return {
    ...base,
    children: isThere ? children.map(child => (child === place ? imported : child)) : [...children, imported]
  }
}

/**
 * Returns the part of the stash that another device may see: a login that is not handed over shows only its identity
 * and place (protocol §4.7; pure).
 *
 * @param shown - the base64 id of the login that is handed over, whole, with everything below it
 */
export const exportedStash = (stash: LoginStash, shown: string): LoginStash => {
  if (stash.loginId === shown) return withoutDevice(stash)
  const children = (stash.children ?? []).map(child => exportedStash(child, shown))
  return { ...nameOf(stash), children }
}

const nameOf = ({ appId, loginId, username }: LoginStash): LoginStash => ({
  appId,
  loginId,
  ...compact({ username }),
  pendingVouchers: [],
  children: []
})

/** A device without the key of a login takes its new name from the device that lets it in. */
const renamed = (known: LoginStash, { username }: LoginStash): LoginStash =>
  isComplete(known) || username === undefined ? known : { ...known, username }

/** A login that can be opened is kept as it is: the server has its newest state, and the other device may not. */
const mergeLogin = (known: LoginStash | undefined, sent: LoginStash): LoginStash => {
  if (known !== undefined && isComplete(known)) return known
  const knownChildren = known?.children ?? []
  const children = (sent.children ?? []).map(child => {
    const place = knownChildren.find(({ loginId }) => loginId === child.loginId)
    return mergeLogin(place, child)
  })
  const rest = knownChildren.filter(({ loginId }) => !children.some(child => child.loginId === loginId))
  const { voucherId, voucherAuth } = known ?? {}
  return {
    ...withoutDevice(sent),
    ...compact({ voucherId, voucherAuth }),
    children: [...children, ...rest]
  }
}

/** Vouchers, tokens and changes that are under way are one device's own. */
export const withoutDevice = ({ children, ...stash }: LoginStash): LoginStash => {
  const { voucherId: _, voucherAuth: __, syncToken: ___, nextUsername: ____, ...rest } = stash
  const { deviceOnly: _____, sentValues: ______, ...shared } = rest
  return children === undefined ? shared : { ...shared, children: children.map(withoutDevice) }
}
