import type { Json, JsonObject } from '../../base/json.ts'
import type { Io } from '../../io/io.ts'

/** What proves to the login server who asks; exactly one pair of protocol §2.3, or none. Raw bytes. */
export interface LoginCredentials {
  readonly loginId?: Uint8Array
  readonly loginAuth?: Uint8Array
  readonly userId?: Uint8Array
  readonly passwordAuth?: Uint8Array
  readonly pin2Id?: Uint8Array
  readonly pin2Auth?: Uint8Array
  readonly recovery2Id?: Uint8Array
  readonly recovery2Auth?: readonly Uint8Array[]
  /** With a userId alone it asks for the reset of two-factor. */
  readonly otpResetAuth?: string
}

/** The flat body that all login routes share (protocol §2.3). */
export interface LoginRequest extends LoginCredentials {
  readonly challengeId?: string | undefined
  readonly deviceDescription?: string | undefined
  readonly otp?: string | undefined
  readonly syncToken?: string | undefined
  readonly voucherId?: string | undefined
  readonly voucherAuth?: Uint8Array | undefined
  readonly data?: JsonObject | undefined
}

/** The JSON of a request: bytes as padded base64, absent fields left out (pure; vectors `request-codec`). */
export const encodeLoginRequest = (io: Pick<Io, 'crypto'>, request: LoginRequest): JsonObject => {
  const body: Record<string, Json> = {}
  for (const [name, value] of Object.entries(request)) {
    if (value instanceof Uint8Array) body[name] = io.crypto.toBase64(value)
    else if (name === 'recovery2Auth') body[name] = (value as Uint8Array[]).map(io.crypto.toBase64)
    else if (value !== undefined) body[name] = value
  }
  return body
}
