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
  const version = Promise.resolve({ hasMempoolInfo: false })
  await fees.fetch(serverOf('a', 0.001), version)
  now += 1_800_000
  await fees.fetch(serverOf('b', 0.002), version)
  t.is(fees.ofOthers('b').length, 1)
  now += 1_900_000
  t.deepEqual(fees.ofOthers('b'), [])
  t.is(fees.ofOthers('a').length, 1)
})

test('the least fee is asked for by the name of the agreed protocol, and waited for before a payment', async t => {
  for (const [hasMempoolInfo, answer, relay] of [
    [false, 0.00001, 1000n],
    [true, { mempoolminfee: 0.00004, minrelaytxfee: 0.00001, incrementalrelayfee: 0.00001 }, 4000n],
    [true, { mempoolminfee: 0.000001, minrelaytxfee: 0.00001 }, 1000n],
    [true, { minrelaytxfee: 'much' }, undefined]
  ] as const) {
    const requested: string[] = []
    let answerLate = (_: Json): void => {}
    const server = {
      ...{ url: 'a', isOpen: true },
      callMany: (calls: readonly { readonly method: string }[]) =>
        calls.map(({ method }): Promise<Json> => {
          requested.push(method)
          if (method === 'blockchain.estimatefee') return Promise.resolve(0.001)
          return new Promise(resolve => {
            answerLate = resolve
          })
        })
    }
    const version = Promise.resolve({ hasMempoolInfo })
    const fees = new ServerFees({ monotonic: () => 0 })
    await fees.fetch(server, version)
    const rates = { high: 100_000n, standard: 100_000n, low: 100_000n }
    t.deepEqual(fees.latest, rates, 'the greeting does not wait for it')
    const fresh = fees.refresh(server)
    answerLate(answer)
    await fresh
    t.deepEqual(fees.latest, relay === undefined ? rates : { ...rates, relay })
    t.deepEqual(requested.slice(3), [hasMempoolInfo ? 'mempool.get_info' : 'blockchain.relayfee'])
  }
})

test('wallets that pay at once ask for the rates once, and all know the least fee', async t => {
  let now = 0
  let count = 0
  const server = {
    ...{ url: 'a', isOpen: true },
    callMany: (calls: readonly { readonly method: string }[]) =>
      calls.map(async ({ method }): Promise<Json> => {
        count += 1
        // A later answer may overtake an earlier one.
        for (let left = 40 - count; left > 0; left--) await Promise.resolve()
        return method === 'blockchain.relayfee' ? 0.00004 : 0.001
      })
  }
  const fees = new ServerFees({ monotonic: () => now })
  await fees.fetch(server, Promise.resolve({ hasMempoolInfo: false }))
  now += 61_000
  count = 0
  const known = await Promise.all(
    [1, 2, 3].map(async () => {
      await fees.refresh(server)
      return fees.latest.relay
    })
  )
  t.deepEqual(known, [4000n, 4000n, 4000n])
  t.is(count, 4)
})
