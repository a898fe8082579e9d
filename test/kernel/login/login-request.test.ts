import test from 'ava'
import { encodeLoginRequest } from '../../../kernel/login/server.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const bytes = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const base64 = (n: number): string => Buffer.from(bytes(n)).toString('base64')

test('a request has the fields of the specification: bytes as base64, absent ones left out [3.33]', t => {
  const io = makeRepoIo()
  const texts = {
    ...{ challengeId: 'solved', otp: '123456', deviceDescription: 'A phone', syncToken: 'token' },
    ...{ voucherId: 'voucher-0', otpResetAuth: 'reset token', data: { appId: '' } }
  }
  const sent = encodeLoginRequest(io, {
    ...texts,
    ...{ loginId: bytes(1), loginAuth: bytes(2), userId: bytes(3), passwordAuth: bytes(4) },
    ...{ pin2Id: bytes(5), pin2Auth: bytes(6), recovery2Id: bytes(7), recovery2Auth: [bytes(8), bytes(9)] },
    voucherAuth: bytes(10)
  })
  t.deepEqual(sent, {
    ...texts,
    ...{ loginId: base64(1), loginAuth: base64(2), userId: base64(3), passwordAuth: base64(4) },
    ...{ pin2Id: base64(5), pin2Auth: base64(6), recovery2Id: base64(7) },
    recovery2Auth: [base64(8), base64(9)],
    voucherAuth: base64(10)
  })
  t.deepEqual(encodeLoginRequest(io, { otp: undefined, data: undefined }), {})
})
