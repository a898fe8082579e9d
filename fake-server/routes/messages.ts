import { parse } from '../../kernel/schema/shape.ts'
import { loginAt } from '../accounts/auth.ts'
import { loginPayloadOf, pendingVouchersOf } from '../accounts/login-payload.ts'
import { loginRequestShape } from '../accounts/shapes.ts'
import { envelope } from '../base/replies.ts'
import type { Handler, Route } from './route.ts'

/** The routes without a secret: messages for the logins that a device knows (protocol §2.4). */
export const messageRoutes = (): readonly Route[] => [
  { path: '/api/v2/messages', methods: { POST: listMessages } },
  { path: '/api/v2/sync', methods: { POST: compareToken } }
]

const listMessages: Handler = ({ body, db, clock }) => {
  const { loginIds } = parse(loginRequestShape, body, 'request')
  if (loginIds === undefined) return envelope('invalidRequest')
  const results = loginIds
    .map(id => db.login(id))
    .filter(record => record !== undefined)
    .map(record => loginAt(record, clock.now()))
    .map(record => ({
      loginId: record.loginId,
      otpResetPending: record.otpResetDate !== undefined,
      pendingVouchers: pendingVouchersOf(record),
      recovery2Corrupt: false
    }))
  return envelope('success', { results })
}

const compareToken: Handler = call => {
  const { loginId, syncToken } = parse(loginRequestShape, call.body, 'request')
  if (loginId === undefined || syncToken === undefined) return envelope('invalidRequest')
  const record = call.db.login(loginId)
  if (record === undefined) return envelope('noAccount')
  return envelope('success', { results: loginPayloadOf(record, call).syncToken === syncToken })
}
