import { base64 } from '@scure/base'
import type { Clock, Io } from '../../kernel/io/io.ts'
import { repoFolderOf, stashPathOf } from '../../kernel/keys/ids.ts'
import { stashTextOf } from '../../kernel/login/stash.ts'
import { FakeDb } from '../accounts/fake-db.ts'
import { loadFakeUser, userStashOf } from './load-user.ts'

/**
 * The files of a device on which these users have logged in before, in the deployed layout: a stash each, and
 * their repos with a status (protocol §2.11, §3.3).
 *
 * @param users - in the deployed format
 * @returns texts by path, for any disk
 * @throws BAD_REPLY, ACCOUNT_EXISTS if two users are one, INVALID_CHECKSUM if a key does not open its login
 */
export const deviceFilesOf = (
  { io, clock }: { readonly io: Pick<Io, 'crypto'>; readonly clock: Pick<Clock, 'now'> },
  users: readonly unknown[]
): ReadonlyMap<string, string> => {
  const { crypto } = io
  const db = new FakeDb(crypto)
  const files = new Map<string, string>()
  for (const value of users) {
    const { logins, loginKey, username, repos, lastLogin } = loadFakeUser({ db, crypto, clock }, value)
    const open = { record: { ...logins[0], lastLogin }, loginKey: base64.decode(loginKey), username }
    files.set(
      stashPathOf(base64.decode(open.record.loginId)),
      stashTextOf(userStashOf({ io, db, clock }, open))
    )
    for (const [syncKey, boxes] of Object.entries(repos)) {
      const folder = repoFolderOf(io, crypto.fromHex(syncKey))
      files.set(`${folder}/status.json`, JSON.stringify({ lastSync: 1, lastHash: null }))
      for (const [path, box] of Object.entries(boxes))
        files.set(`${folder}/data/${path}`, JSON.stringify(box))
    }
  }
  return files
}
