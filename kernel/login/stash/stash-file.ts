import { WalletError } from '../../base/errors.ts'
import { isRecord, isSameJson, parseJson } from '../../base/json.ts'
import { base58Of, parseBase58, parseBase64 } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'
import { isRootId, parseLoginStash } from '../../schema/login.ts'
import type { LoginStash } from '../../types/login.ts'
import { normalizeUsername } from '../derive.ts'

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

/** Tells whether two stashes would be one file (pure): most of their boxes are the same objects. */
export const isSameStash = (left: LoginStash, right: LoginStash): boolean =>
  isSameJson(storedFields(left), storedFields(right))

const storedFields = (stash: LoginStash): unknown => {
  const { syncToken: _, children, ...fields } = stash
  const stored = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(stored), ...(children && { children: children.map(storedFields) }) }
}

const byName = ([left]: [string, unknown], [right]: [string, unknown]): number => (left < right ? -1 : 1)

/** Text without a final `=` reads as base58, so a key whose base64 has no padding is written as that. */
const storedPinKey = (base64: string): string =>
  base64.endsWith('=') ? base64 : base58Of(parseBase64(base64))

const normalizeStash = (io: Pick<Io, 'crypto'>, stash: LoginStash): LoginStash => {
  const { username, nextUsername, pin2Key, children } = stash
  return {
    ...stash,
    ...(username === undefined ? {} : { username: normalizeUsername(username) }),
    ...(nextUsername === undefined ? {} : { nextUsername: normalizeUsername(nextUsername) }),
    ...(pin2Key === undefined ? {} : { pin2Key: base64KeyOf(io, pin2Key) }),
    ...(children === undefined ? {} : { children: children.map(child => normalizeChild(io, child)) })
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
