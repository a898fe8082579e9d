import test from 'ava'
import { makeNobleCrypto } from '../../../kernel/crypto/noble-crypto.ts'
import type { Json } from '../../../kernel/plugin-api.ts'
import type { ElectrumCall } from '../../../plugins/currency/utxo/electrum/connection.ts'
import { HeaderCache } from '../../../plugins/currency/utxo/electrum/headers.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'

/** A header of no network, told apart by its nonce. */
const headerOf = (nonce: number): string => {
  const bytes = Buffer.alloc(80)
  bytes.writeUInt32LE(nonce, 76)
  return bytes.toString('hex')
}

test('headers of blocks that a reorganisation undid while they were read are not remembered', async t => {
  const base = makeFakeClock()
  let time = 0
  // Each look at the clock finds that other work has to have its turn.
  const clock = { ...base, monotonic: () => (time += 100) }
  const cache = new HeaderCache({ clock, crypto: makeNobleCrypto(base) }, {})
  const tipOf = (height: number, nonce: number) => ({ height, header: cache.read(headerOf(nonce)) })
  const requested: number[] = []
  const answers =
    (nonce: number) =>
    (calls: readonly ElectrumCall[]): readonly Promise<Json>[] =>
      calls.map(({ params }) => {
        requested.push(params[0] as number)
        return Promise.resolve(headerOf(nonce))
      })
  const tip = tipOf(102, 1)
  cache.extend(undefined, tip)
  const reading = cache.fetch([100, 101], answers(1))
  await Promise.resolve()
  cache.extend(tip, tipOf(103, 2))
  t.is((await reading).size, 2)
  const found = await cache.fetch([100, 101], answers(2))
  t.deepEqual(requested, [100, 101, 100, 101])
  const { hash } = cache.read(headerOf(2))
  t.deepEqual(
    [...found.values()].map(header => header.hash),
    [hash, hash]
  )
  await cache.fetch([100, 101], answers(3))
  t.is(requested.length, 4)
})
