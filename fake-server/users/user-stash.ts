import type { Clock, Io } from '../../kernel/io/io.ts'
import { applyLoginPayload } from '../../kernel/login/payload.ts'
import { makeEmptyStash } from '../../kernel/login/stash.ts'
import { parseLoginPayload } from '../../kernel/schema/login.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import type { FakeDb } from '../fake-db.ts'
import { loginPayloadOf } from '../login-payload.ts'
import type { LoginRecord } from '../login-record.ts'

/** What opens a login that a server keeps. */
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
  return { ...stash, ...(record.lastLogin === undefined ? {} : { lastLogin: record.lastLogin }) }
}
