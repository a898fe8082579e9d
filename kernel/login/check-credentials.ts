import { isWalletError } from '../base/errors.ts'
import { equalBytes, isWellFormed, utf8Of } from '../crypto/encoding.ts'
import type { LoginTree } from '../types/login.ts'
import { passwordAuthOf, pin2AuthOf, pin2IdOf } from './derive.ts'
import type { LoginState } from './login.ts'
import { postLogin, type ServerPort } from './server/login-server.ts'
import { findStashById } from './stash/stash-tree.ts'
import { deviceFields } from './ways-in/online-login.ts'

/** Tells whether this is the password of a login, without asking the server (protocol §4.8). */
export const isPassword = async (
  { io }: Pick<ServerPort, 'io'>,
  { isRoot, username, passwordAuth }: LoginTree,
  password: string
): Promise<boolean> => {
  if (!isRoot || username === undefined || passwordAuth === undefined || !isWellFormed(password)) return false
  const given = await passwordAuthOf(io, { username, password })
  try {
    return passwordAuth.use(known => equalBytes(known, given))
  } finally {
    given.fill(0)
  }
}

/**
 * Tells whether this is the PIN of a login: by its text, or where that is not known, by trying it on the server
 * (protocol §4.8). Whatever goes wrong there is a no, and so is a login without a username.
 */
export const isPin = async (port: ServerPort, { held, stash }: LoginState, pin: string): Promise<boolean> => {
  if (!isWellFormed(pin)) return false
  if (held.pin !== undefined) return held.pin.use(known => equalBytes(utf8Of(known), utf8Of(pin)))
  const { pin2Key, loginId } = held
  const { username } = stash
  if (pin2Key === undefined || username === undefined) return false
  const { io } = port
  const credentials = pin2Key.use(key => ({
    pin2Id: pin2IdOf(io, key, username),
    pin2Auth: pin2AuthOf(io, key, pin)
  }))
  try {
    await postLogin(port, { ...deviceFields(io, findStashById(stash, loginId) ?? stash), ...credentials })
    return true
  } catch (error) {
    if (isWalletError(error)) return false
    throw error
  }
}
