import { WalletError } from '../base/errors.ts'
import type { Io, ScryptCost } from '../io/io.ts'
import type { Snrp } from '../types/keys.ts'
import { utf8Of } from './encoding.ts'

/** The scrypt parameters of user ids and of password authentication; the server relies on them (protocol §1.4). */
export const FIXED_SNRP: Snrp = {
  salt_hex: 'b5865ffb9fa7b3bfe4b2384d47ce831ee22a4a9d5c34c7ef7d21467cc758f81b',
  n: 16384,
  r: 1,
  p: 1
}

/** The options by which {@link makeSnrp} finds the cost. */
export interface SnrpOptions {
  /** Takes this cost and measures nothing. */
  readonly cost?: ScryptCost
  /** The time of one derivation on this device by the measure of protocol §1.4. Default 2000 ms. */
  readonly targetMs?: number
}

/**
 * Makes scrypt parameters for a new password: a fresh salt and a cost fit for this device.
 *
 * The speed of the device is measured once per `io`, at the first call (protocol §1.4).
 */
export const makeSnrp = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  { cost, targetMs = 2000 }: SnrpOptions = {}
): Promise<Snrp> => {
  const { n, r, p } = cost ?? chooseSnrpCost(await benchmarkOf(io), targetMs)
  const snrp = { salt_hex: io.crypto.toHex(io.random(32)), n, r, p }
  checkSnrp(snrp, io)
  return snrp
}

/**
 * The scrypt cost that the deployed system picks on a device where n 16384, r 8, p 1 takes `benchMs`.
 *
 * It takes a quotient for an exponent; kept, so that a password costs the same with every client (protocol §1.4).
 */
export const chooseSnrpCost = (benchMs: number, targetMs: number): ScryptCost => {
  if (benchMs <= 0) return { n: 131072, r: 8, p: 64 }
  const doublings = clamp(Math.floor((targetMs - benchMs) / benchMs), 3)
  const roundMs = benchMs + doublings * benchMs
  const parallelism = clamp(Math.floor((targetMs - roundMs) / roundMs), 64)
  return { n: 2 ** (14 + doublings), r: 8, p: Math.max(1, parallelism) }
}

/**
 * Runs scrypt on a text; the result has 32 bytes.
 *
 * @throws WalletError SNRP_REFUSED if the parameters are out of bounds
 * @throws TypeError if the text holds a lone surrogate
 */
export const scryptText = async (io: Pick<Io, 'crypto'>, text: string, snrp: Snrp): Promise<Uint8Array> => {
  const salt = checkSnrp(snrp, io)
  const data = utf8Of(text)
  try {
    return await io.crypto.scrypt(data, salt, snrp, 32)
  } finally {
    data.fill(0)
  }
}

/**
 * Checks scrypt parameters that came from outside, and gives the bytes of the salt.
 *
 * Bounds: `n` a power of two, `p` at most 64, and 256 MiB of memory (128·n·r), so that n·r·p is at most 2^27; a
 * salt of 8 to 64 bytes. The costliest parameters that any client makes, n 131072, r 8, p 64, are inside.
 *
 * @throws WalletError SNRP_REFUSED naming the bound
 */
export const checkSnrp = (snrp: Snrp, io: Pick<Io, 'crypto'>): Uint8Array => {
  const { n, r, p, salt_hex } = snrp
  if (!isCount(n) || n < 2 || !Number.isInteger(Math.log2(n))) refuse('n must be a power of two')
  if (!isCount(r)) refuse('r must be a positive whole number')
  if (!isCount(p) || p > 64) refuse('p must be a whole number from 1 to 64')
  if (128 * n * r > MAX_MEMORY) refuse('they need more than 256 MiB of memory')
  if (typeof salt_hex !== 'string' || !SALT.test(salt_hex)) refuse('the salt must be 8 to 64 bytes of base16')
  return io.crypto.fromHex(salt_hex)
}

const MAX_MEMORY = 256 * 1024 * 1024
const SALT = /^(?:[0-9a-fA-F]{2}){8,64}$/

const BENCHMARK_TEXT = '1reallyJunkiePasswordToCheck'
const BENCHMARK_SNRP: Snrp = { ...FIXED_SNRP, r: 8 }

const benchmarks = new WeakMap<object, Promise<number>>()

const benchmarkOf = (io: Pick<Io, 'crypto' | 'clock'>): Promise<number> => {
  const known = benchmarks.get(io)
  if (known !== undefined) return known
  const measured = measure(io)
  benchmarks.set(io, measured)
  measured.catch(() => benchmarks.delete(io))
  return measured
}

const measure = async (io: Pick<Io, 'crypto' | 'clock'>): Promise<number> => {
  const start = io.clock.monotonic()
  await scryptText(io, BENCHMARK_TEXT, BENCHMARK_SNRP)
  return Math.round(io.clock.monotonic() - start)
}

const clamp = (value: number, highest: number): number => Math.min(Math.max(value, 0), highest)

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1

const refuse = (rule: string): never => {
  throw new WalletError('SNRP_REFUSED', { rule })
}
