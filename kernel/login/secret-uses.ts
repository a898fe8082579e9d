import { WalletError } from '../base/errors.ts'
import { openBox } from '../crypto/box.ts'
import type { Io } from '../io/io.ts'
import { type Box, isBox } from '../types/keys.ts'
import type { LoginPayload, LoginStash } from '../types/login.ts'
import { isComplete } from './stash.ts'

type CryptoIo = Pick<Io, 'crypto'>

/** The context of the check of a merged tree. */
export interface SecretCheck {
  readonly io: CryptoIo
  /** The whole stash as this device knows it: an id stays at its place. */
  readonly tree: LoginStash
  /** Gets what is wrong with a child that is not taken. */
  readonly onInvalid: (error: unknown) => void
}

/** Two versions of one login. */
export interface LoginVersions {
  /** Opens both. */
  readonly loginKey: Uint8Array
  /** As this device has it; undefined for a login that is new. */
  readonly known: LoginStash | undefined
  /** With what a server sent. */
  readonly rebuilt: LoginStash
}

/**
 * Returns a merged login without the children in which one secret or one id has two uses, now or in the known version
 * (specification §5); they stay as they are known, or are left out.
 *
 * Hazard: a box does not say what it is for. A server could pass off the box of a secret that it knows, such as the
 * loginAuth, as that of a key, or have a key sent to it as a loginAuth.
 *
 * A box that cannot be opened has no use; it fails when the login is opened.
 *
 * @throws KEY_INTEGRITY if the login itself is such a one, or has a secret of a wrong length
 */
export const withoutInvalidChildren = (check: SecretCheck, versions: LoginVersions): LoginStash => {
  const parents = new Map<string, string>()
  recordParents(parents, check.tree, '')
  const records: UseRecords = { ...check, parents: parents, uses: new Map(), seen: new Set() }
  const { known, loginKey } = versions
  if (known !== undefined) recordKnown(records, known, loginKey)
  return checkLogin(records, versions, [parents.get(versions.rebuilt.loginId) ?? ''])
}

interface UseRecords extends SecretCheck {
  /** The parent of each known login. */
  readonly parents: ReadonlyMap<string, string>
  /** The use and the owner of each secret, by its digest. */
  readonly uses: Map<string, { readonly use: string; readonly owner: string }>
  /** The logins that were taken. */
  readonly seen: Set<string>
}

const recordParents = (parents: Map<string, string>, login: LoginStash, parent: string): void => {
  const { loginId, children = [] } = login
  if (!isNameOnly(login) && !parents.has(loginId)) parents.set(loginId, parent)
  for (const child of children) recordParents(parents, child, loginId)
}

/** Returns true for a login of which only the names are kept: a lie may have put it there, and its box into it. */
const isNameOnly = (login: LoginStash): boolean =>
  !isComplete(login) && (login.keyBoxes ?? []).length === 0 && (login.children ?? []).length === 0

/** `above`: the ids of the logins above, the parent last. */
const checkLogin = (records: UseRecords, versions: LoginVersions, above: readonly string[]): LoginStash => {
  const { rebuilt, known, loginKey } = versions
  const { loginId, children } = rebuilt
  checkPlace(records, rebuilt, above)
  recordSecrets(records, rebuilt, loginKey)
  records.seen.add(loginId)
  if (children === undefined) return rebuilt
  const sound = children.flatMap(child => {
    const before = known?.children?.find(other => other.loginId === child.loginId)
    return checkChild(records, { loginKey, known: before, rebuilt: child }, [...above, loginId]) ?? []
  })
  const isSame = sound.length === children.length && sound.every((child, at) => child === children[at])
  return isSame ? rebuilt : { ...rebuilt, children: sound }
}

const checkPlace = (
  { seen, parents }: UseRecords,
  { loginId }: LoginStash,
  above: readonly string[]
): void => {
  const parent = above.at(-1) ?? ''
  if (seen.has(loginId) || (parents.get(loginId) ?? parent) !== parent)
    throw violation('two logins have one id')
}

/** `loginKey`: of the parent. */
const checkChild = (
  records: UseRecords,
  { loginKey: parentKey, known, rebuilt }: LoginVersions,
  above: readonly string[]
): LoginStash | undefined => {
  const childKey = tryOpenBox(records.io, parentKey, rebuilt.parentBox)
  try {
    if (childKey !== undefined) return checkLogin(records, { loginKey: childKey, known, rebuilt }, above)
    checkPlace(records, rebuilt, above)
    records.seen.add(rebuilt.loginId)
    return rebuilt
  } catch (error) {
    // Who puts a secret of a login to another use below it lies about both.
    if (error instanceof ReusedSecretError && above.includes(error.owner)) throw error
    records.onInvalid(error)
    if (known === undefined || records.seen.has(known.loginId)) return undefined
    records.seen.add(known.loginId)
    return known
  } finally {
    childKey?.fill(0)
  }
}

/** A KEY_INTEGRITY error that names the owner of a secret with another use elsewhere. */
class ReusedSecretError extends WalletError<'KEY_INTEGRITY'> {
  readonly owner: string

  constructor(owner: string) {
    super('KEY_INTEGRITY', { rule: 'one secret of a login has two uses' })
    // No part of what is printed.
    this.owner = owner
    Object.defineProperty(this, 'owner', { enumerable: false })
  }
}

/**
 * Checks the length of a secret from another client: 32 bytes, or about as many, as old clients made some.
 *
 * Hazard: whatever is in the place of the loginAuth or the passwordAuth is sent to the server. A PIN, a sync key or
 * the keys of a wallet are shorter or longer, a long name or PIN is not: those of a root must be exact.
 *
 * @throws KEY_INTEGRITY
 */
export const checkSecretLength = ({ length }: Uint8Array, isExact: boolean): void => {
  if (length !== 32 && (isExact || length < 24 || length > 40))
    throw violation('a secret of a login is not 32 bytes')
}

/**
 * Refuses a reply that has one box in two places, or elsewhere than this device has it beyond doubt (pure).
 *
 * @throws KEY_INTEGRITY
 */
export const checkBoxUses = (stash: LoginStash, payload: LoginPayload): void => {
  const uses = new Map<string, string>()
  const { loginAuthBox, passwordAuthBox, parentBox, keyBoxes } = stash
  for (const login of [{ loginAuthBox, passwordAuthBox, parentBox, keyBoxes }, payload]) {
    for (const [field, value] of Object.entries(login)) {
      for (const box of Array.isArray(value) ? value : [value]) {
        if (!isBox(box)) continue
        const name = boxNameOf(box)
        const known = uses.get(name)
        if (known !== undefined && known !== field) throw violation('one box of a login is in two places')
        uses.set(name, field)
      }
    }
  }
}

/** Returns a name that is unique to a box, however its base16 is spelt (pure). */
export const boxNameOf = (box: Box): string => `${box.iv_hex.toLowerCase()} ${box.data_base64}`

/** Records the secrets that this device has already; they take precedence over a server's and are not checked again. */
const recordKnown = (records: UseRecords, stash: LoginStash, loginKey: Uint8Array): void => {
  for (const [use, digest] of secretsOf(records.io, stash, loginKey)) {
    if (!records.uses.has(digest)) records.uses.set(digest, { use, owner: stash.loginId })
  }
  for (const child of stash.children ?? []) {
    if (isNameOnly(child)) continue
    withBox(records.io, { loginKey, box: child.parentBox }, childKey => recordKnown(records, child, childKey))
  }
}

const recordSecrets = ({ io, uses }: UseRecords, stash: LoginStash, loginKey: Uint8Array): void => {
  const isExact = stash.appId === ''
  const secrets = secretsOf(io, stash, loginKey, secret => checkSecretLength(secret, isExact))
  for (const [use, digest] of secrets) {
    const other = uses.get(digest)
    if (other !== undefined && other.use !== use) throw new ReusedSecretError(other.owner)
    uses.set(digest, { use, owner: stash.loginId })
  }
}

/** The secrets of one login: the use of each, and its digest. `check`: of those that are sent to the server. */
const secretsOf = (
  io: CryptoIo,
  { loginId, loginAuthBox, passwordAuthBox, pin2Key, recovery2Key }: LoginStash,
  loginKey: Uint8Array,
  check: (secret: Uint8Array) => void = () => {}
): [use: string, digest: string][] => {
  const found: [string, string][] = []
  const note = (use: string, secret: Uint8Array): void =>
    void found.push([use, io.crypto.toHex(io.crypto.sha256(secret))])
  const noteBox = (use: string, box: Box | undefined): void =>
    withBox(io, { loginKey, box }, secret => {
      check(secret)
      note(use, secret)
    })
  note(`key of ${loginId}`, loginKey)
  noteBox(`loginAuth of ${loginId}`, loginAuthBox)
  // The deployed client gives children the password of the root.
  noteBox('passwordAuth', passwordAuthBox)
  if (pin2Key !== undefined) note('pin2Key', io.crypto.fromBase64(pin2Key))
  if (recovery2Key !== undefined) note('recovery2Key', io.crypto.fromBase64(recovery2Key))
  return found
}

const withBox = (
  io: CryptoIo,
  { loginKey, box }: { loginKey: Uint8Array; box: Box | undefined },
  reader: (secret: Uint8Array) => void
): void => {
  const secret = tryOpenBox(io, loginKey, box)
  if (secret === undefined) return
  try {
    reader(secret)
  } finally {
    secret.fill(0)
  }
}

const tryOpenBox = (io: CryptoIo, loginKey: Uint8Array, box: Box | undefined): Uint8Array | undefined => {
  if (box === undefined) return undefined
  try {
    return openBox(io, loginKey, box)
  } catch {
    return undefined
  }
}

const violation = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })
