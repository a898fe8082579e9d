import { WalletError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import { sealBox, sealText } from '../crypto/box.ts'
import type { Io } from '../io/io.ts'
import type { Username } from '../types/ids.ts'
import type { LoginStash, LoginTree } from '../types/login.ts'
import type { KeyedLogin, LoginChange } from './changes.ts'
import { pin2AuthOf, pin2IdOf } from './derive.ts'
import { listTrees } from './tree.ts'
import { keepOrMakeKey } from './verified-keys.ts'

/** A change of the PIN. */
export interface PinChangeOptions {
  /** The new PIN; the one that is known when absent. */
  readonly pin?: Secret<string> | undefined
  /** True if the PIN shall log in. When absent: if it did so far, or if it is the account's first. */
  readonly enableLogin?: boolean | undefined
}

/**
 * Changes the PIN of a login and of all below it, and whether it logs in (protocol §4.8).
 *
 * The login that deployed clients open under duress has a PIN of its own, which stays (protocol §7.5).
 *
 * Without any PIN there is nothing to keep, so that switching off is the same as {@link pinRemovals}.
 *
 * @throws PIN_MISSING if no PIN is known that could be switched on
 */
export const pinChanges = (
  io: Pick<Io, 'crypto' | 'random'>,
  { held, stash }: { readonly held: LoginTree; readonly stash: LoginStash },
  { pin = held.pin, enableLogin = isOnByDefault(held, pin) }: PinChangeOptions
): LoginChange[] => {
  if (pin === undefined) {
    if (enableLogin) throw new WalletError('PIN_MISSING', {})
    return pinRemovals(held)
  }
  if (!enableLogin) {
    return outermostLast(held).map(({ loginId, loginKey }) =>
      loginKey.use(key => pinTextChange(io, { loginId, loginKey: key }, pin))
    )
  }
  return sharersOf(held).map(({ loginId, loginKey, pin2Key }) =>
    loginKey.use(key => pinChange(io, { loginId, loginKey: key, pin2Key }, { pin, username: stash.username }))
  )
}

/** Takes the PIN of a login and of all below it away, but for one under duress (protocol §4.8, §7.5). */
export const pinRemovals = (held: LoginTree): LoginChange[] => outermostLast(held).map(pinRemoval)

/**
 * The order in which a PIN is switched off: the account shows it as on until it is off everywhere, so that a connection
 * which breaks in between leaves no login of an app that it opens unseen.
 */
const outermostLast = (held: LoginTree): LoginTree[] => sharersOf(held).reverse()

/** The logins that have the PIN of the one that is held. */
const sharersOf = (held: LoginTree): LoginTree[] =>
  listTrees(held).filter(tree => tree === held || !tree.appId.endsWith('.duress'))

const isOnByDefault = (held: LoginTree, pin: Secret<string> | undefined): boolean =>
  held.pin2Key !== undefined || (held.pin === undefined && pin !== undefined)

/** A PIN, and the name of the root login that it is bound to, normalised. */
export interface NewPin {
  readonly pin: Secret<string>
  readonly username: Username | undefined
}

/**
 * Checks a new PIN.
 *
 * @throws PIN_INVALID unless it is text of 4 to 100 digits
 */
export const checkPin = (pin: string): void => {
  if (!/^\d{4,100}$/.test(pin)) throw new WalletError('PIN_INVALID', {})
}

/** Switches PIN login on for a login; with the PIN key that it has if an owner made it, so that other devices keep theirs (protocol §2.4). */
export const pinChange = (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginId, loginKey, pin2Key: known }: KeyedLogin & { readonly pin2Key?: Secret<Uint8Array> | undefined },
  { pin, username }: NewPin
): LoginChange => {
  const { toBase64 } = io.crypto
  const pin2Key = keepOrMakeKey(io, { use: 'pin2Key', loginKey, known })
  const pin2TextBox = pin.use(text => sealText(io, loginKey, text))
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PIN_PATH,
    serverBody: {
      pin2Id: toBase64(pin2IdOf(io, pin2Key, username)),
      pin2Auth: pin.use(text => toBase64(pin2AuthOf(io, pin2Key, text))),
      pin2Box: { ...sealBox(io, pin2Key, loginKey) },
      pin2KeyBox: { ...sealBox(io, loginKey, pin2Key) },
      pin2TextBox: { ...pin2TextBox }
    },
    stash: { pin2Key: toBase64(pin2Key), pin2TextBox }
  }
}

/** Switches PIN login off and keeps the text: a request without the other fields clears them (protocol §8, 4). */
const pinTextChange = (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginId, loginKey }: KeyedLogin,
  pin: Secret<string>
): LoginChange => {
  const pin2TextBox = pin.use(text => sealText(io, loginKey, text))
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PIN_PATH,
    serverBody: { pin2TextBox: { ...pin2TextBox } },
    stash: { pin2Key: undefined, pin2TextBox }
  }
}

/** Takes the PIN of a login away, the text too. */
const pinRemoval = ({ loginId }: LoginTree): LoginChange => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PIN_PATH,
  stash: { pin2Key: undefined, pin2TextBox: undefined }
})

const PIN_PATH = '/v2/login/pin2'
