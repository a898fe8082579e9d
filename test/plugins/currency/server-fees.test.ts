import test from 'ava'
import type { Json } from '../../../kernel/plugin-api.ts'
import { ServerFees } from '../../../plugins/currency/utxo/electrum/server-fees.ts'

test('the rates of a server that was asked an hour ago are compared with no other', async t => {
  let now = 0
  const fees = new ServerFees({ monotonic: () => now })
  const serverOf = (url: string, rate: number) => ({
    ...{ url, isOpen: true },
    callMany: (calls: readonly unknown[]) => calls.map(async (): Promise<Json> => rate)
  })
  await fees.fetch(serverOf('a', 0.001))
  now += 1_800_000
  await fees.fetch(serverOf('b', 0.002))
  t.is(fees.ofOthers('b').length, 1)
  now += 1_900_000
  t.deepEqual(fees.ofOthers('b'), [])
  t.is(fees.ofOthers('a').length, 1)
})
