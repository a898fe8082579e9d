import { setImmediate } from 'node:timers/promises'
import { makeRandom } from '../../fake-server/base/faults.ts'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Json } from '../../kernel/base/json.ts'
import type { Io } from '../../kernel/io/io.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { quickCrypto } from './quick-crypto.ts'

/** A fake world whose time stands still and in which the same seed gives the same run. */
export interface CredentialWorld {
  readonly world: FakeWorld
  readonly clock: FakeClock
  /** The io of one more device. */
  makeIo(): Io
}

/** Makes a world, or goes on with a saved one. */
export const makeCredentialWorld = (seed: number, saved?: Json): CredentialWorld => {
  const clock = makeFakeClock()
  const crypto = quickCrypto
  const seededRandom = makeRandom(seed)
  const random = (count: number): Uint8Array =>
    Uint8Array.from({ length: count }, () => Math.floor(seededRandom() * 256))
  const world = makeFakeWorld({ io: { clock, crypto, random }, ...(saved === undefined ? {} : { saved }) })
  return { world, clock, makeIo: () => world.ioFor({ ...makeNodeIo(), crypto, random }) }
}

/** Lets everything come to rest that waits for no time. */
export const settle = async (mutex = 60): Promise<void> => {
  for (let turn = 0; turn < mutex; turn += 1) await setImmediate()
}
