import { objectOf, optional } from '../../kernel/schema/shape.ts'
import { loginPayloadOf } from '../accounts/login-payload.ts'
import type { LoginRecord, Voucher } from '../accounts/login-record.ts'
import { groups, isIds, type Shape } from '../accounts/shapes.ts'
import { envelope, type FakeReply } from '../base/replies.ts'
import { isIdTaken } from './login.ts'
import { done, type KnownCall, payloadOf, type Route, withLogin } from './route.ts'

/** Setting and clearing the ways to log in, one group of fields at a time (protocol §2.10). */
export const credentialRoutes = (): readonly Route[] => [
  route('password', {
    set: call => save(call, payloadOf(groups.password, call)),
    clear: call => save(call, NO_PASSWORD)
  }),
  route('pin2', {
    set: call => {
      const pin = payloadOf(groups.pin, call)
      return isIdTaken(call.db, pin, call.record.loginId)
        ? envelope('conflict')
        : save(call, { ...NO_PIN, ...pin })
    },
    clear: call => save(call, NO_PIN)
  }),
  route('recovery2', {
    set: call => {
      const recovery = payloadOf(groups.recovery, call)
      return isIdTaken(call.db, recovery, call.record.loginId) ? envelope('conflict') : save(call, recovery)
    },
    clear: call => save(call, NO_RECOVERY)
  }),
  { path: '/api/v2/login/secret', methods: { POST: withLogin(setSecret) } },
  { path: '/api/v2/login/vouchers', methods: { POST: withLogin(judgeVouchers) } }
]

type KnownHandler = (call: KnownCall) => FakeReply

const route = (name: string, { set, clear }: { set: KnownHandler; clear: KnownHandler }): Route => {
  const change = withLogin(set)
  return {
    path: `/api/v2/login/${name}`,
    methods: { DELETE: withLogin(clear), POST: change, PUT: change }
  }
}

const save = ({ db, record }: KnownCall, fields: Partial<LoginRecord>): FakeReply => {
  db.saveLogin({ ...record, ...fields })
  return done()
}

const NO_PASSWORD: Partial<LoginRecord> = {
  passwordAuth: undefined,
  passwordAuthBox: undefined,
  passwordAuthSnrp: undefined,
  passwordBox: undefined,
  passwordKeySnrp: undefined
}

// Clearing also takes the text of the PIN, as deployed (protocol §8, 4).
const NO_PIN: Partial<LoginRecord> = {
  pin2Id: undefined,
  pin2Auth: undefined,
  pin2Box: undefined,
  pin2KeyBox: undefined,
  pin2TextBox: undefined
}

const NO_RECOVERY: Partial<LoginRecord> = {
  recovery2Id: undefined,
  recovery2Auth: undefined,
  recovery2Box: undefined,
  recovery2KeyBox: undefined,
  question2Box: undefined
}

const setSecret: KnownHandler = call => {
  const { db, record } = call
  if (record.loginAuth !== undefined) {
    return envelope('conflict', { message: 'The secret-key login is already configured' })
  }
  const saved = { ...record, ...payloadOf(groups.secret, call) }
  db.saveLogin(saved)
  return envelope('success', { results: loginPayloadOf(saved, call) })
}

const judgeVouchers: KnownHandler = call => {
  const { db, record } = call
  const { approvedVouchers = [], rejectedVouchers = [] } = payloadOf(vouchersShape, call)
  const statusOf = ({ voucherId, status }: Voucher): Voucher['status'] => {
    if (rejectedVouchers.includes(voucherId)) return 'rejected'
    return approvedVouchers.includes(voucherId) ? 'approved' : status
  }
  const vouchers = record.vouchers.map(voucher => ({ ...voucher, status: statusOf(voucher) }))
  const saved = { ...record, vouchers }
  db.saveLogin(saved)
  return envelope('success', { results: loginPayloadOf(saved, call) })
}

/** `data` of POST /v2/login/vouchers. */
const vouchersShape: Shape<{
  approvedVouchers: string[] | undefined
  rejectedVouchers: string[] | undefined
}> = objectOf<{ approvedVouchers: string[] | undefined; rejectedVouchers: string[] | undefined }>({
  approvedVouchers: optional('list of text', isIds),
  rejectedVouchers: optional('list of text', isIds)
})
