import { sealBox, sealText } from '../crypto/box.ts'
import { WalletError } from '../errors/wallet-error.ts'
import type { Io } from '../io/io.ts'
import type { Secret } from '../state/secret.ts'
import { pin2AuthOf, pin2IdOf } from './derive.ts'
import type { KeyedLogin } from './keys-kit.ts'
import type { LoginKit } from './login-kit.ts'

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

/** Switches PIN login on for a login, with a fresh PIN key (protocol §1.5, §2.4). */
export const makePinKit = (
  io: Pick<Io, 'crypto' | 'random'>,
  { loginId, loginKey }: KeyedLogin,
  { pin, username }: NewPin
): LoginKit => {
  const { toBase64 } = io.crypto
  const pin2Key = io.random(32)
  const pin2TextBox = pin.use(text => sealText(io, loginKey, text))
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/pin2',
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
