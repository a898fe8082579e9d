import { isoOf } from '../../kernel/base/time.ts'
import { leaf, objectOf } from '../../kernel/schema/shape.ts'
import type { Box } from '../../kernel/types/keys.ts'
import { DB_LIMITS, type FakeDb } from '../accounts/fake-db.ts'
import { loginPayloadOf } from '../accounts/login-payload.ts'
import type { LoginRecord } from '../accounts/login-record.ts'
import {
  credential,
  groups,
  isShortText,
  type KeysGroup,
  optionalWireBox,
  type Shape,
  tryGroup
} from '../accounts/shapes.ts'
import { envelope, type FakeReply, invalidRequest } from '../base/replies.ts'
import {
  done,
  type KnownCall,
  type LoginCall,
  payloadOf,
  type Route,
  withChallenge,
  withLogin
} from './route.ts'

/** Logging in, making logins, giving them keys and deleting them (protocol §2.10). */
export const loginRoutes = (): readonly Route[] => {
  const login = withChallenge(withLogin(logIn, lookUp))
  const create = withLogin(
    call => createLogin(call, call.record),
    call => createLogin(call, undefined)
  )
  return [
    { path: '/api/v2/login', methods: { GET: login, POST: login } },
    { path: '/api/v2/login/create', methods: { POST: create, PUT: create } },
    { path: '/api/v2/login/keys', methods: { POST: withLogin(addKeys) } },
    { path: '/api/v2/login/delete', methods: { POST: withLogin(deleteLogin) } }
  ]
}

const logIn = (call: KnownCall): FakeReply => {
  const { record, db, clock } = call
  db.saveLogin({ ...record, lastLogin: isoOf(clock.now()) })
  return envelope('success', { results: loginPayloadOf(record, call) })
}

/** The reply to the userId or recovery id alone; it holds nothing that needs a secret. */
const lookUp = ({ request, db }: LoginCall): FakeReply => {
  const { userId, recovery2Id } = request
  if (userId !== undefined) {
    const record = db.findLogin('userId', userId)
    if (record === undefined) return envelope('noAccount')
    const { loginId, passwordAuthSnrp = PASSWORD_AUTH_SNRP } = record
    return envelope('success', { results: { loginId, passwordAuthSnrp } })
  }
  if (recovery2Id !== undefined) {
    const question2Box = db.findLogin('recovery2Id', recovery2Id)?.question2Box
    return question2Box === undefined
      ? envelope('noAccount')
      : envelope('success', { results: { question2Box } })
  }
  return envelope('invalidRequest')
}

// The fixed parameters of protocol §1.4, for accounts that were made without any.
const PASSWORD_AUTH_SNRP = {
  salt_hex: 'b5865ffb9fa7b3bfe4b2384d47ce831ee22a4a9d5c34c7ef7d21467cc758f81b',
  n: 16384,
  r: 1,
  p: 1
} as const

const createLogin = (call: LoginCall, parent: LoginRecord | undefined): FakeReply => {
  const { db, clock } = call
  const { appId, loginId, parentBox } = payloadOf(createShape, call)
  const { loginAuth, loginAuthBox } = payloadOf(groups.secret, call)
  const { data } = call.request
  const username = tryGroup(groups.username, data)
  const refusal = refuseCreate(db, { appId, loginId, userId: username?.userId, parent })
  if (refusal !== undefined) return refusal
  const pin = tryGroup(groups.pin, data)
  const recovery = tryGroup(groups.recovery, data)
  if (isIdTaken(db, { pin2Id: pin?.pin2Id, recovery2Id: recovery?.recovery2Id }, loginId)) {
    return envelope('conflict')
  }
  const keys: KeysGroup = tryGroup(groups.keys, data) ?? { keyBoxes: [], newSyncKeys: [] }
  if (!hasRoomForRepos(db, keys)) return FULL
  db.createRepos(keys.newSyncKeys)
  db.saveLogin({
    loginId,
    appId,
    parentBox,
    parentId: parent?.loginId,
    created: isoOf(clock.now()),
    loginAuth,
    loginAuthBox,
    vouchers: [],
    keyBoxes: keys.keyBoxes,
    ...tryGroup(groups.password, data),
    ...pin,
    ...recovery,
    ...username
  })
  return envelope('created')
}

interface NewLogin {
  readonly appId: string
  readonly loginId: string
  readonly userId: string | undefined
  readonly parent: LoginRecord | undefined
}

const refuseCreate = (db: FakeDb, { appId, loginId, userId, parent }: NewLogin): FakeReply | undefined => {
  if (db.login(loginId) !== undefined) return envelope('accountExists')
  // The deployed test server does not check for a used name (protocol §8, 16).
  if (userId !== undefined && db.findLogin('userId', userId) !== undefined) return envelope('accountExists')
  if (parent === undefined && appId !== '') return invalidRequest('only a login below another has an appId')
  if (parent !== undefined && userId !== undefined)
    return invalidRequest('Only top-level logins can have usernames')
  if (parent !== undefined && db.childrenOf(parent.loginId).some(child => child.appId === appId)) {
    return envelope('appIdTaken')
  }
  return db.counts.logins >= DB_LIMITS.logins ? FULL : undefined
}

/** Checks if another login already has one of these ids. */
export const isIdTaken = (
  db: FakeDb,
  ids: { readonly pin2Id?: string | undefined; readonly recovery2Id?: string | undefined },
  loginId: string
): boolean => {
  const owners = [
    ids.pin2Id === undefined ? undefined : db.findLogin('pin2Id', ids.pin2Id),
    ids.recovery2Id === undefined ? undefined : db.findLogin('recovery2Id', ids.recovery2Id)
  ]
  return owners.some(owner => owner !== undefined && owner.loginId !== loginId)
}

const FULL = envelope('failed', { message: 'This fake server is full' })

const hasRoomForRepos = (db: FakeDb, { newSyncKeys }: KeysGroup): boolean =>
  db.counts.repos + newSyncKeys.length <= DB_LIMITS.repos

const addKeys = (call: KnownCall): FakeReply => {
  const keys = payloadOf(groups.keys, call)
  const { db, record } = call
  const keyBoxes = [...record.keyBoxes, ...keys.keyBoxes]
  if (!hasRoomForRepos(db, keys) || keyBoxes.length > DB_LIMITS.keyBoxes) return FULL
  db.createRepos(keys.newSyncKeys)
  db.saveLogin({ ...record, keyBoxes })
  return done()
}

const deleteLogin = ({ db, record }: KnownCall): FakeReply => {
  db.deleteLogin(record.loginId)
  return done()
}

/** `data` of POST /v2/login/create that every login has. */
const createShape: Shape<{ appId: string; loginId: string; parentBox: Box | undefined }> = objectOf<{
  appId: string
  loginId: string
  parentBox: Box | undefined
}>({ appId: leaf('text', isShortText), loginId: credential(), parentBox: optionalWireBox() })
