import { isWalletError, WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { openBox } from '../../crypto/box.ts'
import { equalBytes, isWellFormed, utf8Of } from '../../crypto/encoding.ts'
import type { LoginStash } from '../../types/login.ts'
import { pin2AuthOf, pin2IdOf } from '../derive.ts'
import { Login, type LoginState } from '../login.ts'
import {
  deviceFields,
  fetchLogin,
  type LoginOptions,
  type LoginServices,
  runAttempt,
  saveLogin
} from '../online.ts'
import { postLogin, type ServerServices } from '../server.ts'
import { findStashByApp, findStashById, idNameOf } from '../stash.ts'
import { findUser, type Stashes, type UserName } from '../stashes.ts'

/** A user of this device, and the PIN as typed. */
export type PinLoginOptions = UserName & LoginOptions & { readonly pin: string }

/**
 * Logs in by PIN, on the server (protocol §4.5): only a device that knows the account can, and only online.
 *
 * @throws USER_NOT_ON_DEVICE, DEVICE_ONLY, PIN_NOT_ENABLED, PASSWORD, OTP, CHALLENGE, NETWORK
 * @throws LOGIN_DATA_MISSING if the server keeps back the box that the PIN opens
 */
export const loginWithPin = (
  services: LoginServices,
  stashes: Stashes,
  options: PinLoginOptions
): Promise<Login> => {
  const pin = new Secret(options.pin)
  const { otp, otpKey, challengeId, now } = options
  return runAttempt(services, 'pin', async ({ stage, secrets }) => {
    const { io } = services
    try {
      checkText(pin)
      const stash = findUser(stashes, options)
      if (stash.deviceOnly !== undefined) throw new WalletError('DEVICE_ONLY', { what: 'login by PIN' })
      const { node, pin2Key } = findPin(io.crypto.fromBase64, stash, services.config.appId)
      const pin2Auth = pin.use(text => pin2AuthOf(io, pin2Key, text))
      stage('asking')
      const fetched = await tryNames(namesOf(stash, node), name =>
        fetchLogin(services, stashes, {
          ...{ otp, otpKey, challengeId, now },
          ...{ stash, node, secrets, openers: { pin2Key } },
          credentials: { pin2Id: pin2IdOf(io, pin2Key, name), pin2Auth }
        })
      )
      const { pin2Box } = fetched.payload
      if (pin2Box === undefined || pin2Box === true) {
        throw new WalletError('LOGIN_DATA_MISSING', { method: 'PIN v2' })
      }
      const loginKey = secrets.add(new Secret(openBox(io, pin2Key, pin2Box)))
      const opened = await saveLogin(services, stashes, fetched, loginKey)
      stage('opening')
      return new Login(services, stashes, opened)
    } finally {
      pin.destroy()
    }
  })
}

const checkText = (pin: Secret<string>): void => {
  try {
    pin.use(utf8Of)
  } catch {
    throw new WalletError('PASSWORD', {})
  }
}

type Name = string | undefined

/** The name that the PIN's id is made from; after an interrupted change of username it may be another one. */
const namesOf = (stash: LoginStash, node: LoginStash): Name[] => {
  const { username, nextUsername = username } = stash
  return [...new Set([idNameOf(stash, node), username, nextUsername])]
}

const tryNames = async <T>([name, ...others]: Name[], login: (name: Name) => Promise<T>): Promise<T> => {
  try {
    return await login(name)
  } catch (error) {
    if (others.length === 0 || !isWalletError(error, 'ACCOUNT_NOT_FOUND')) throw error
    return tryNames(others, login)
  }
}

/** The root if it has a PIN, else the app's login (protocol §4.5). */
const findPin = (
  fromBase64: (text: string) => Uint8Array,
  stash: LoginStash,
  appId: string
): { node: LoginStash; pin2Key: Uint8Array } => {
  for (const node of [stash, findStashByApp(stash, appId)]) {
    if (node?.pin2Key !== undefined) return { node, pin2Key: fromBase64(node.pin2Key) }
  }
  throw new WalletError('PIN_NOT_ENABLED', {})
}

/**
 * Checks if this is the PIN of a login: by its text, or where that is not known, by trying it on the server
 * (protocol §4.8). Whatever goes wrong there is a no, and so is a login without a username.
 */
export const isPin = async (
  services: ServerServices,
  { held, stash }: LoginState,
  pin: string
): Promise<boolean> => {
  if (!isWellFormed(pin)) return false
  if (held.pin !== undefined) return held.pin.use(known => equalBytes(utf8Of(known), utf8Of(pin)))
  const { pin2Key, loginId } = held
  const { username } = stash
  if (pin2Key === undefined || username === undefined) return false
  const { io } = services
  const credentials = pin2Key.use(key => ({
    pin2Id: pin2IdOf(io, key, username),
    pin2Auth: pin2AuthOf(io, key, pin)
  }))
  try {
    await postLogin(services, { ...deviceFields(io, findStashById(stash, loginId) ?? stash), ...credentials })
    return true
  } catch (error) {
    if (isWalletError(error)) return false
    throw error
  }
}
