import { WalletError } from '../../kernel/base/errors.ts'
import { compact } from '../../kernel/index.ts'
import type { Clock, CryptoPort, Io } from '../../kernel/io/io.ts'
import { applyLoginPayload } from '../../kernel/login/payload.ts'
import { makeEmptyStash } from '../../kernel/login/stash.ts'
import { parseLoginPayload } from '../../kernel/schema/login.ts'
import type { Box } from '../../kernel/types/keys.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import { DB_LIMITS, FakeDb } from '../accounts/fake-db.ts'
import { loginPayloadOf } from '../accounts/login-payload.ts'
import type { LoginRecord } from '../accounts/login-record.ts'
import { type ParsedUser, parseFakeUser, type UserRepo } from './fake-user.ts'

/** The part of a world that users live in. */
export interface UserWorld {
  readonly db: FakeDb
  readonly crypto: Pick<CryptoPort, 'sha256'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Moves a user in the deployed format into a world: its logins, and its repos with exactly these files.
 *
 * Everything is checked before anything is changed. Who has a world on a disk waits for its `saved` afterwards.
 *
 * @throws BAD_REPLY if it is no such user, or does not fit into this world
 * @throws ACCOUNT_EXISTS if a login, name, PIN or recovery id of it is there already
 */
export const loadFakeUser = (world: UserWorld, value: unknown): ParsedUser => {
  const { db, clock } = world
  const user = parseFakeUser(value, clock.now())
  checkConsistency(world, user)
  if (user.logins.some(login => isTaken(db, login))) throw new WalletError('ACCOUNT_EXISTS', {})
  checkRoom(db, user)
  for (const login of user.logins) {
    db.saveLogin(login.parentId === undefined ? { ...login, lastLogin: user.lastLogin } : login)
  }
  const keys = Object.keys(user.repos)
  db.createRepos(keys)
  for (const key of keys) fillRepo(db, key, user.repos[key] ?? {})
  return user
}

/** A user that contradicts itself does not even fit into an empty world. */
const checkConsistency = ({ crypto }: UserWorld, { logins }: ParsedUser): void => {
  const empty = new FakeDb(crypto)
  for (const login of logins) empty.saveLogin(login)
  if (empty.counts.logins !== logins.length) throw misfit('has one login twice')
  for (const { loginId } of logins) {
    const apps = empty.childrenOf(loginId).map(({ appId }) => appId)
    if (new Set(apps).size !== apps.length) throw misfit('has two logins of one app')
  }
}

const isTaken = (db: FakeDb, { loginId, userId, pin2Id, recovery2Id }: LoginRecord): boolean =>
  db.login(loginId) !== undefined ||
  // An old login without a userId is found by its loginId.
  db.findLogin('userId', userId ?? loginId) !== undefined ||
  (pin2Id !== undefined && db.findLogin('pin2Id', pin2Id) !== undefined) ||
  (recovery2Id !== undefined && db.findLogin('recovery2Id', recovery2Id) !== undefined)

const checkRoom = (db: FakeDb, { logins, repos }: ParsedUser): void => {
  const hasRoom =
    db.counts.logins + logins.length <= DB_LIMITS.logins &&
    db.counts.repos + Object.keys(repos).length <= DB_LIMITS.repos &&
    Object.entries(repos).every(
      ([key, files]) => db.repo(key)?.novelties(files) !== undefined || !db.repo(key)
    )
  if (!hasRoom) throw misfit('does not fit into this world')
}

/** A repo outlives its account, so it may be there with other files. */
const fillRepo = (db: FakeDb, key: string, files: UserRepo): void => {
  const repo = db.repo(key)
  if (repo === undefined) return
  const gone: [string, Box | null][] = [...repo.files.keys()].map(path => [path, null])
  const changes = repo.novelties({ ...Object.fromEntries(gone), ...files }) ?? {}
  if (Object.keys(changes).length > 0) db.commit(key, changes)
}

const misfit = (rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: 'fake user', path: 'server', rule })

/** The key that opens a login of the server. */
export interface StashSource {
  readonly io: Pick<Io, 'crypto'>
  readonly db: FakeDb
  readonly clock: Pick<Clock, 'now'>
}

/** A root login on a server, its key, and the name that goes into the stash. */
export interface OpenRecord {
  readonly record: LoginRecord
  readonly loginKey: Uint8Array
  readonly username: string | undefined
}

/**
 * The stash of a device that has just logged in (protocol §4.1).
 *
 * @throws INVALID_CHECKSUM and the other failures of boxes for another key; BAD_REPLY, KEY_INTEGRITY
 */
export const userStashOf = ({ io, db, clock }: StashSource, open: OpenRecord): LoginStash => {
  const { record, loginKey, username } = open
  const reply = loginPayloadOf(record, { db, clock, crypto: io.crypto })
  const payload = parseLoginPayload(JSON.parse(JSON.stringify(reply)))
  const empty = { ...makeEmptyStash(username), loginId: record.loginId }
  const stash = applyLoginPayload(io, empty, { loginKey, payload })
  return { ...stash, ...compact({ lastLogin: record.lastLogin }) }
}
