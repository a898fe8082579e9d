import { WalletError } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import { sealBox, sealText } from '../../crypto/box.ts'
import type { Io } from '../../io/io.ts'
import type { LoginTree } from '../../types/login.ts'
import { pin2AuthOf, pin2IdOf } from '../derive.ts'
import type { KeyedLogin } from './keys-kit.ts'
import type { LoginKit } from './login-kit.ts'
import { keepOrMakeKey } from './proven-key.ts'

/** A PIN, and the name of the root login that it is bound to, normalised. */
export interface NewPin {
  readonly pin: Secret<string>
  readonly username: string | undefined
}

/**
 * Checks a PIN that somebody chose.
 *
 * @throws PIN_INVALID unless it is text of 4 to 100 digits
 */
export const checkPin = (pin: string): void => {
  if (!/^\d{4,100}$/.test(pin)) throw new WalletError('PIN_INVALID', {})
}

/** Switches PIN login on for a login; with the PIN key that it has if an owner made it, so that other devices keep theirs (protocol §2.4). */
export const makePinKit = (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginId, loginKey, pin2Key: known }: KeyedLogin & { readonly pin2Key?: Secret<Uint8Array> | undefined },
  { pin, username }: NewPin
): LoginKit => {
  const { toBase64 } = io.crypto
  const pin2Key = keepOrMakeKey(io, { use: 'pin2Key', loginKey, known })
  const pin2TextBox = pin.use(text => sealText(io, loginKey, text))
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PATH,
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
export const makePinTextKit = (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginId, loginKey }: KeyedLogin,
  pin: Secret<string>
): LoginKit => {
  const pin2TextBox = pin.use(text => sealText(io, loginKey, text))
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PATH,
    serverBody: { pin2TextBox: { ...pin2TextBox } },
    stash: { pin2Key: undefined, pin2TextBox }
  }
}

/** Takes the PIN of a login away, the text too. */
export const makePinRemovalKit = ({ loginId }: LoginTree): LoginKit => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PATH,
  stash: { pin2Key: undefined, pin2TextBox: undefined }
})

const PATH = '/v2/login/pin2'
