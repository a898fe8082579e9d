import type { UnixSeconds } from '../base/time.ts'
import type { Io } from '../io/io.ts'
import { equalBytes, utf8Of } from './encoding.ts'

/** The six-digit code of a counter (RFC 4226). `counter`: a whole number from 0 to 2^53 − 1. */
export const hotp = (io: Pick<Io, 'crypto'>, key: Uint8Array, counter: number): string => {
  const message = new Uint8Array(8)
  const view = new DataView(message.buffer)
  view.setUint32(0, Math.floor(counter / 2 ** 32))
  view.setUint32(4, counter % 2 ** 32)
  const hash = io.crypto.hmacSha1(key, message)
  const offset = (hash[19] ?? 0) & 0xf
  const word = new DataView(hash.buffer, hash.byteOffset, hash.byteLength).getUint32(offset) & 0x7fffffff
  return String(word % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The six-digit code of a moment; it changes every 30 seconds (RFC 6238, protocol §1.6). */
export const totp = (io: Pick<Io, 'crypto'>, key: Uint8Array, time: UnixSeconds): string =>
  hotp(io, key, counterOf(time))

/**
 * Checks if a code is right now, or was or will be within two steps: clocks differ (protocol §1.6).
 *
 * `time`: in unix seconds. Tries the current counter, then −1, +1, −2, +2.
 */
export const isTotp = (
  io: Pick<Io, 'crypto'>,
  key: Uint8Array,
  { code, time }: { code: string; time: UnixSeconds }
): boolean => {
  if (!/^\d{6}$/.test(code)) return false
  const given = utf8Of(code)
  const now = counterOf(time)
  return SPREAD.some(step => now + step >= 0 && equalBytes(given, utf8Of(hotp(io, key, now + step))))
}

const DIGITS = 6
const STEP_SECONDS = 30
const SPREAD = [0, -1, 1, -2, 2]

const counterOf = (time: UnixSeconds): number => Math.floor(time / STEP_SECONDS)
