import { WalletError } from '../../kernel/base/errors.ts'
import { isRecord } from '../../kernel/base/json.ts'
import { isoOf } from '../../kernel/base/time.ts'
import { leaf, objectOf, optionalIsoDate, optionalText, parse } from '../../kernel/schema/shape.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { type LoginRecord, loginRecordShape, type Voucher } from '../accounts/login-record.ts'
import { credential, isRepoPath, isSyncKey, isWireBox, plainBox, type Shape } from '../accounts/shapes.ts'

/** The files of a repo by path. */
export type UserRepo = Readonly<Record<string, Box>>

/**
 * A whole user in the deployed format: its logins, its repos and the key to all of them (protocol §2.11).
 *
 * Ids and keys are base64, repos go by their sync key in hex, dates are ISO text. It is a fixture, and holds every
 * secret of the account.
 */
export interface FakeUser {
  readonly username?: string | undefined
  readonly lastLogin?: string | undefined
  readonly loginId: string
  /** Of the root login. */
  readonly loginKey: string
  readonly repos: Readonly<Record<string, UserRepo>>
  readonly server: LoginDump
}

/** A record of the server with the logins below it; its place says whose child it is. */
export interface LoginDump extends Omit<LoginRecord, 'lastLogin' | 'parentId' | 'vouchers'> {
  readonly vouchers: readonly (Voucher & { readonly loginId: string })[]
  readonly children: readonly LoginDump[]
}

/** A checked user, ready for a world. */
export interface ParsedUser extends Omit<FakeUser, 'server'> {
  /** The root login first, each login before those below it. */
  readonly logins: readonly [LoginRecord, ...LoginRecord[]]
}

/**
 * Checks a user in the deployed format. The obsolete fields of the first PIN logins are left out.
 *
 * @param now - milliseconds; the date of logins without one
 * @throws BAD_REPLY naming the field, also for logins deeper than 8 levels or more than 1000 in all
 */
export const parseFakeUser = (value: unknown, now: number): ParsedUser => {
  const { server, ...user } = parse(userShape, value, SOURCE)
  const logins = recordsOf(server, { created: isoOf(now), parentId: undefined, depth: 1 })
  const [{ appId, loginId }] = logins
  if (appId !== '' || loginId !== user.loginId) misfit('server', 'is no root login with this loginId')
  if (logins.length > MAX_LOGINS) misfit('server', `has more than ${MAX_LOGINS} logins`)
  return { ...user, repos: reposOf(user.repos), logins }
}

/** Puts a user together from a record and what belongs to it (pure). `children`: the records below one. */
export const dumpLogin = (
  record: LoginRecord,
  children: (loginId: string) => readonly LoginRecord[]
): LoginDump => {
  const { lastLogin: _, parentId: __, vouchers, ...fields } = record
  return {
    ...fields,
    vouchers: vouchers.map(voucher => ({ ...voucher, loginId: record.loginId })),
    children: children(record.loginId).map(child => dumpLogin(child, children))
  }
}

const SOURCE = 'fake user'
const MAX_DEPTH = 8
const MAX_LOGINS = 1000
const MAX_REPOS = 10_000

interface UserFields extends Omit<FakeUser, 'server'> {
  readonly server: unknown
}

const isRepos = (value: unknown): value is Record<string, UserRepo> =>
  isRecord(value) &&
  Object.keys(value).length <= MAX_REPOS &&
  Object.entries(value).every(([key, files]) => isSyncKey(key) && isFiles(files))

const isFiles = (value: unknown): value is UserRepo =>
  isRecord(value) && Object.entries(value).every(([path, box]) => isRepoPath(path) && isWireBox(box))

const userShape: Shape<UserFields> = objectOf<UserFields>({
  username: optionalText(),
  lastLogin: optionalIsoDate(),
  loginId: credential(),
  loginKey: credential(),
  repos: leaf('repos', isRepos),
  server: leaf('login', isRecord)
})

/** Of the login above, or of the user. */
interface ParentLogin {
  readonly created: string
  readonly parentId: string | undefined
  readonly depth: number
}

const recordsOf = (value: unknown, parent: ParentLogin): [LoginRecord, ...LoginRecord[]] => {
  if (parent.depth > MAX_DEPTH) misfit('server', `has logins deeper than ${MAX_DEPTH}`)
  if (!isRecord(value)) return misfit('server', 'has a login that is no object')
  const { children, vouchers, keyBoxes, created, ...fields } = value
  if (children != null && !Array.isArray(children)) return misfit('children', 'is no list')
  const record = parse(
    loginRecordShape,
    {
      ...fields,
      lastLogin: undefined,
      parentId: parent.parentId,
      created: created ?? parent.created,
      vouchers: vouchers ?? [],
      keyBoxes: keyBoxes ?? []
    },
    SOURCE
  )
  const below = { ...parent, parentId: record.loginId, depth: parent.depth + 1 }
  return [record, ...((children as unknown[] | undefined) ?? []).flatMap(child => recordsOf(child, below))]
}

const reposOf = (repos: FakeUser['repos']): FakeUser['repos'] =>
  Object.fromEntries(
    Object.entries(repos).map(([key, files]) => [
      key.toLowerCase(),
      Object.fromEntries(Object.entries(files).map(([path, box]) => [path, plainBox(box)]))
    ])
  )

const misfit = (path: string, rule: string): never => {
  throw new WalletError('BAD_REPLY', { source: SOURCE, path, rule })
}
