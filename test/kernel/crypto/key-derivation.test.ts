import test from 'ava'
import {
  checkSnrp,
  chooseSnrpCost,
  FIXED_SNRP,
  makeSnrp,
  scryptText
} from '../../../kernel/crypto/key-derivation.ts'
import type { CryptoPort, ScryptCost } from '../../../kernel/io/io.ts'
import type { Snrp } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'

const io = makeNodeIo()
const snrp = (changes: Partial<Snrp>): Snrp => ({ ...FIXED_SNRP, ...changes })

test('parameters that any client makes are accepted [3.2] [3.39]', t => {
  const good = [
    FIXED_SNRP,
    chooseSnrpCost(0, 2000),
    { n: 2, r: 1, p: 1 },
    { n: 16, r: 1, p: 1 },
    { n: 2 ** 18, r: 8, p: 64 },
    { n: 2 ** 21, r: 1, p: 64 },
    { salt_hex: 'AB'.repeat(8) },
    { salt_hex: '00'.repeat(64) }
  ]
  for (const changes of good) t.notThrows(() => checkSnrp(snrp(changes), io))
  t.deepEqual(checkSnrp(snrp({ salt_hex: 'AB'.repeat(8) }), io), new Uint8Array(8).fill(0xab))
})

test('parameters that would take the memory or the time of a device are refused', async t => {
  const bad: Partial<Snrp>[] = [
    { n: 0 },
    { n: 1 },
    { n: 3 },
    { n: 16385 },
    { n: -16 },
    { n: 2.5 },
    { n: Number.NaN },
    { n: Number.POSITIVE_INFINITY },
    { n: 2 ** 22, r: 1 },
    { n: 2 ** 19, r: 8 },
    { n: 2 ** 40, r: 1 },
    { r: 0 },
    { r: 1.5 },
    { r: 2 ** 30 },
    { p: 0 },
    { p: 65 },
    { n: 2 ** 19, r: 4, p: 65 },
    { n: 2, r: 2 ** 20, p: 65 },
    { n: 2 ** 21, r: 1, p: 64.5 },
    { salt_hex: '' },
    { salt_hex: 'ab'.repeat(7) },
    { salt_hex: 'ab'.repeat(65) },
    { salt_hex: 'xy'.repeat(16) },
    { salt_hex: `${'ab'.repeat(16)}a` }
  ]
  for (const changes of bad) {
    t.throws(() => checkSnrp(snrp(changes), io), { code: 'SNRP_REFUSED' }, JSON.stringify(changes))
  }
  t.throws(() => checkSnrp(snrp({ n: 2 ** 18, r: 8, p: 64.5 }), io), { code: 'SNRP_REFUSED' })
  await t.throwsAsync(scryptText(io, 'x', snrp({ n: 2 ** 22 })), { code: 'SNRP_REFUSED' })
})

test('a lone surrogate in a password is refused', async t => {
  await t.throwsAsync(scryptText(io, '\ud800', snrp({ n: 16 })), { instanceOf: TypeError })
})

/** Scrypt that takes a given time on a clock of its own. */
const slowDevice = (scryptMs: number) => {
  let time = 1000
  const jobs: ScryptCost[] = []
  const crypto: CryptoPort = {
    ...io.crypto,
    scrypt: async (_data, _salt, cost) => {
      jobs.push(cost)
      time += scryptMs
      return new Uint8Array(32)
    }
  }
  return { jobs, crypto, random: makeSeededRandom(), clock: { ...io.clock, monotonic: () => time } }
}

test('the device is measured once, for two seconds a derivation, and every salt is new [9.7] [9.8] [9.10]', async t => {
  const device = slowDevice(100.4)
  const [first, second] = await Promise.all([makeSnrp(device), makeSnrp(device)])
  const third = await makeSnrp(device, { targetMs: 200 })
  t.is(device.jobs.length, 1)
  t.like(device.jobs[0], { n: 16384, r: 8, p: 1 })
  t.like(first, { n: 131072, r: 8, p: 4 })
  t.like(third, { n: 32768, r: 8, p: 1 })
  t.is(new Set([first, second, third].map(made => made.salt_hex)).size, 3)
  for (const made of [first, second, third]) t.regex(made.salt_hex, /^[0-9a-f]{64}$/)
})

test('a failed measurement is tried again', async t => {
  const device = slowDevice(100)
  const { scrypt } = device.crypto
  device.crypto.scrypt = () => Promise.reject(new Error('out of memory'))
  await t.throwsAsync(makeSnrp(device), { message: 'out of memory' })
  device.crypto.scrypt = scrypt
  t.like(await makeSnrp(device), { p: 4 })
})

test('a given cost is taken without measuring, but never one out of bounds', async t => {
  const device = slowDevice(1)
  t.like(await makeSnrp(device, { cost: { n: 16, r: 1, p: 1 } }), { n: 16, r: 1, p: 1 })
  t.is(device.jobs.length, 0)
  await t.throwsAsync(makeSnrp(device, { cost: { n: 15, r: 1, p: 1 } }), { code: 'SNRP_REFUSED' })
})

test('password authentication has fixed parameters, and a device of unmeasurable speed the costliest [3.3] [9.9]', t => {
  t.deepEqual(FIXED_SNRP, {
    salt_hex: 'b5865ffb9fa7b3bfe4b2384d47ce831ee22a4a9d5c34c7ef7d21467cc758f81b',
    n: 16384,
    r: 1,
    p: 1
  })
  t.deepEqual(chooseSnrpCost(0, 2000), { n: 131072, r: 8, p: 64 })
  t.deepEqual(chooseSnrpCost(1000, 2000), { n: 32768, r: 8, p: 1 })
  t.deepEqual(chooseSnrpCost(4000, 2000), { n: 16384, r: 8, p: 1 })
})
