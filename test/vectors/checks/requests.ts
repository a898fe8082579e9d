import { normalizeUsername, passwordAuthOf, userIdOf } from '../../../kernel/login/derive.ts'
import { encodeLoginRequest, type LoginRequest } from '../../../kernel/login/server.ts'
import { bytes, eachVector, type GroupCheck, io } from './check.ts'

/** Three request bodies: all fields of a logged-in client, a password login, a recovery login. */
export const checkRequestCodec: GroupCheck = eachVector(async (t, { id, inputs, outputs }) => {
  const encoded = (request: LoginRequest): unknown => encodeLoginRequest(io, request)
  if (inputs.fields !== undefined) {
    t.deepEqual(Object.keys(outputs).sort(), inputs.fields.split(', ').sort(), id)
    const { loginId, loginAuth, voucherAuth, ...rest } = outputs
    const raw = { loginId: bytes(loginId), loginAuth: bytes(loginAuth), voucherAuth: bytes(voucherAuth) }
    const absent = { challengeId: undefined, deviceDescription: undefined }
    t.deepEqual(encoded({ ...rest, ...raw, ...absent }), outputs, id)
    return
  }
  const username = normalizeUsername(inputs.username)
  if (inputs.password !== undefined) {
    const userId = await userIdOf(io, username)
    const passwordAuth = await passwordAuthOf(io, { username, password: inputs.password })
    t.deepEqual(encoded({ userId, passwordAuth }), outputs, id)
    return
  }
  const key = bytes(inputs.recovery2Key_base64)
  const sign = (text: string): Uint8Array => io.crypto.hmacSha256(key, new TextEncoder().encode(text))
  const recovery2Auth = inputs.answers.map(sign)
  t.deepEqual(encoded({ recovery2Id: sign(username), recovery2Auth }), outputs, id)
})
