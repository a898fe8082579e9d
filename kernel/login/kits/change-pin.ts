import { WalletError } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import type { Io } from '../../io/io.ts'
import type { LoginStash, LoginTree } from '../../types/login.ts'
import { listTrees } from '../login-tree.ts'
import type { LoginKit } from './login-kit.ts'
import { makePinKit, makePinRemovalKit, makePinTextKit } from './pin-kit.ts'

/** A change of the PIN. */
export interface PinChange {
  /** The new PIN; the one that is known when absent. */
  readonly pin?: Secret<string> | undefined
  /** Whether the PIN shall log in. When absent: if it did so far, or if it is the account's first. */
  readonly enableLogin?: boolean | undefined
}

/**
 * Changes the PIN of a login and of all below it, and whether it logs in (protocol §4.8).
 *
 * The login that deployed clients open under duress has a PIN of its own, which stays (protocol §7.5).
 *
 * Without any PIN there is nothing to keep, so that switching off is the same as {@link makePinRemovalKits}.
 *
 * @throws PIN_MISSING if no PIN is known that could be switched on
 */
export const makePinChangeKits = (
  io: Pick<Io, 'crypto' | 'random'>,
  { held, stash }: { readonly held: LoginTree; readonly stash: LoginStash },
  { pin = held.pin, enableLogin = isOnByDefault(held, pin) }: PinChange
): LoginKit[] => {
  if (pin === undefined) {
    if (enableLogin) throw new WalletError('PIN_MISSING', {})
    return makePinRemovalKits(held)
  }
  if (!enableLogin) {
    return outermostLast(held).map(({ loginId, loginKey }) =>
      loginKey.use(key => makePinTextKit(io, { loginId, loginKey: key }, pin))
    )
  }
  return sharersOf(held).map(({ loginId, loginKey, pin2Key }) =>
    loginKey.use(key =>
      makePinKit(io, { loginId, loginKey: key, pin2Key }, { pin, username: stash.username })
    )
  )
}

/** Takes the PIN of a login and of all below it away, but for one under duress (protocol §4.8, §7.5). */
export const makePinRemovalKits = (held: LoginTree): LoginKit[] => outermostLast(held).map(makePinRemovalKit)

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
