import { WalletError } from '../../kernel/base/errors.ts'
import { parseJson } from '../../kernel/base/json.ts'
import { Secret } from '../../kernel/base/secret.ts'
import { openText } from '../../kernel/crypto/box.ts'
import type { Io } from '../../kernel/io/io.ts'
import { SecretCache } from '../../kernel/login/secret-cache.ts'
import { allWalletInfos, openLoginTree } from '../../kernel/login/tree.ts'
import { parseLegacyWalletFile } from '../../kernel/schema/account-files.ts'
import type { Box } from '../../kernel/types/keys.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import type { FakeDb } from '../accounts/fake-db.ts'
import type { LoginRecord } from '../accounts/login-record.ts'
import { dumpLogin, type FakeUser, type UserRepo } from './fake-user.ts'
import { type StashSource, userStashOf } from './load-user.ts'

/** Which user, and what opens it. */
export interface UserKey {
  /** Base64, of the root login. */
  readonly loginId: string
  /** 32 bytes; stays the caller's. */
  readonly loginKey: Uint8Array
  /** For old accounts, whose name the server does not keep. */
  readonly username?: string | undefined
}

/**
 * Takes a user out of a world in the deployed format, with the repos of all its keys (protocol §2.11).
 *
 * The world keeps it. Loading what this gives into an empty world makes the same user again.
 *
 * @throws ACCOUNT_NOT_FOUND; DUMP_OF_CHILD for the login of an app
 * @throws INVALID_CHECKSUM if it is not the key of this login, KEY_INTEGRITY
 */
export const dumpFakeUser = (source: StashSource, { loginId, loginKey, username }: UserKey): FakeUser => {
  const { io, db } = source
  const record = db.login(loginId)
  if (record === undefined) throw new WalletError('ACCOUNT_NOT_FOUND', {})
  if (record.appId !== '') throw new WalletError('DUMP_OF_CHILD', {})
  const stash = userStashOf(source, { record, loginKey, username })
  const user = {
    username: nameOf(io, record, loginKey) ?? username,
    lastLogin: record.lastLogin,
    loginId,
    loginKey: io.crypto.toBase64(loginKey),
    repos: reposOf(db, syncKeysOf(source, stash, loginKey)),
    server: dumpLogin(record, id => db.childrenOf(id))
  }
  return JSON.parse(JSON.stringify(user))
}

const nameOf = (io: StashSource['io'], record: LoginRecord, loginKey: Uint8Array): string | undefined =>
  record.userTextBox === undefined ? undefined : openText(io, loginKey, record.userTextBox)

/** The sync keys of everything that the user has keys of, in hex: of the login, and of files that name legacy wallets. */
const syncKeysOf = ({ io, db }: StashSource, stash: LoginStash, loginKey: Uint8Array): string[] => {
  const secrets = new SecretCache(io)
  const report = (error: unknown): never => {
    throw error
  }
  try {
    const key = secrets.add(new Secret(Uint8Array.from(loginKey)))
    const tree = openLoginTree({ io, secrets, report }, stash, key)
    const keys = allWalletInfos({ io, report }, tree).flatMap(info =>
      info.keys.use(({ syncKey, dataKey }) => {
        if (typeof syncKey !== 'string') return []
        const own = hexOf(io, syncKey)
        const boxes = typeof dataKey === 'string' ? legacyBoxesOf(db, own) : []
        if (boxes.length === 0) return [own]
        const key = io.crypto.fromBase64(String(dataKey))
        try {
          return [own, ...boxes.flatMap(box => legacySyncKeyOf(io, key, box) ?? [])]
        } finally {
          key.fill(0)
        }
      })
    )
    return [...new Set(keys)]
  } finally {
    secrets.destroy()
  }
}

const hexOf = ({ crypto }: Pick<Io, 'crypto'>, base64: string): string =>
  crypto.toHex(crypto.fromBase64(base64))

/** The wallets of the first clients, as files of an account's repo hold them (protocol §3.4). */
const legacyBoxesOf = (db: FakeDb, syncKey: string): Box[] =>
  [...(db.repo(syncKey)?.files ?? [])].flatMap(([path, { content }]) =>
    path.startsWith('Wallets/') && content !== null ? [content] : []
  )

/** Undefined for a file that no client can read either. */
const legacySyncKeyOf = (io: Pick<Io, 'crypto'>, key: Uint8Array, box: Box): string | undefined => {
  try {
    return parseLegacyWalletFile(
      parseJson(openText(io, key, box), 'legacy wallet file')
    ).SyncKey.toLowerCase()
  } catch {
    return undefined
  }
}

/** Keys without a repo on this server are left out. */
const reposOf = (db: FakeDb, keys: readonly string[]): Record<string, UserRepo> => {
  const repos: [string, UserRepo][] = []
  for (const key of keys) {
    const files = db.repo(key)?.files
    if (files === undefined) continue
    const present = [...files].flatMap(([path, { content }]) =>
      content === null ? [] : [[path, content] as const]
    )
    repos.push([key, Object.fromEntries(present)])
  }
  return Object.fromEntries(repos)
}
