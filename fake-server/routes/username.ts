import { compact } from '../../kernel/index.ts'
import { objectOf } from '../../kernel/schema/shape.ts'
import { loginPayloadOf } from '../accounts/login-payload.ts'
import type { LoginRecord } from '../accounts/login-record.ts'
import { groups, optionalCredential, type Shape, tryGroup } from '../accounts/shapes.ts'
import { envelope, type FakeReply, invalidRequest } from '../base/replies.ts'
import { type KnownCall, payloadOf, type Route, withLogin } from './route.ts'

/**
 * Changing the username, which changes every id and secret that is derived from it (protocol §2.10).
 *
 * Everything is checked before anything is changed; the deployed test server applies a part (protocol §8, 18).
 */
export const usernameRoutes = (): readonly Route[] => [
  { path: '/api/v2/login/username', methods: { POST: withLogin(changeUsername) } }
]

const changeUsername = (call: KnownCall): FakeReply => {
  const { db, record, request } = call
  const password = tryGroup(groups.password, request.data)
  const username = tryGroup(groups.username, request.data)
  const { pin2Id, recovery2Id } = payloadOf(newIdsShape, call)
  const wanted = { hasPassword: password !== undefined, userId: username?.userId, pin2Id, recovery2Id }
  const refusal = refuseMissing(record, wanted) ?? refuseUsed(call, wanted) ?? refuseExtra(record, wanted)
  if (refusal !== undefined) return refusal
  const saved = {
    ...record,
    ...password,
    ...username,
    ...compact({ pin2Id, recovery2Id })
  }
  db.saveLogin(saved)
  return envelope('success', { results: loginPayloadOf(saved, call) })
}

interface Wanted {
  readonly hasPassword: boolean
  readonly userId: string | undefined
  readonly pin2Id: string | undefined
  readonly recovery2Id: string | undefined
}

const refuseMissing = (record: LoginRecord, wanted: Wanted): FakeReply | undefined => {
  if (record.passwordAuth !== undefined && !wanted.hasPassword)
    return invalidRequest('Missing password payload')
  if (record.pin2Auth !== undefined && wanted.pin2Id === undefined)
    return invalidRequest('Missing pin2Id payload')
  if (record.recovery2Auth !== undefined && wanted.recovery2Id === undefined) {
    return invalidRequest('Missing recovery2Id payload')
  }
  if (record.parentBox === undefined && wanted.userId === undefined) {
    return invalidRequest('Missing userId payload')
  }
  return undefined
}

// An id that this login already has counts as used, too: a new name gives new ids.
const refuseUsed = ({ db }: KnownCall, { userId, pin2Id, recovery2Id }: Wanted): FakeReply | undefined => {
  const isUsed =
    (userId !== undefined && db.findLogin('userId', userId) !== undefined) ||
    (pin2Id !== undefined && db.findLogin('pin2Id', pin2Id) !== undefined) ||
    (recovery2Id !== undefined && db.findLogin('recovery2Id', recovery2Id) !== undefined)
  return isUsed ? envelope('conflict') : undefined
}

const refuseExtra = (record: LoginRecord, { userId, pin2Id, recovery2Id }: Wanted): FakeReply | undefined => {
  if (pin2Id !== undefined && record.pin2Auth === undefined) return invalidRequest('Login lacks pin2')
  if (recovery2Id !== undefined && record.recovery2Auth === undefined) {
    return invalidRequest('Login lacks recovery2')
  }
  if (userId !== undefined && record.parentBox !== undefined) {
    return invalidRequest('Only top-level logins can have usernames')
  }
  return undefined
}

/** `data` of POST /v2/login/username besides the username and password groups. */
const newIdsShape: Shape<{ pin2Id: string | undefined; recovery2Id: string | undefined }> = objectOf<{
  pin2Id: string | undefined
  recovery2Id: string | undefined
}>({ pin2Id: optionalCredential(), recovery2Id: optionalCredential() })
