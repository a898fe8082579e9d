import type { Secret } from '../../base/secret.ts'
import { openText } from '../../crypto/box.ts'
import type { Io } from '../../io/io.ts'
import type { LoginPayload } from '../../types/login.ts'
import { normalizeUsername, userIdOf } from '../derive.ts'

/** A reply of the server, and the key that opens its boxes. */
export interface NamedReply {
  readonly payload: LoginPayload
  readonly loginKey: Secret<Uint8Array>
}

/**
 * The name that a root login keeps of itself; undefined where it has none or it cannot be believed.
 *
 * Hazard: a server could put another text of the login, such as the PIN, in the name's place and be shown it.
 * So a name other than the known one must be that of the user id, which nobody can make without the name.
 *
 * @param known - the name that this device has, normalised
 */
export const provenNameOf = async (
  io: Pick<Io, 'crypto'>,
  { payload, loginKey }: NamedReply,
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
