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

test('the least fee is asked for before a payment, once, by the name of the agreed protocol', async t => {
  for (const [hasMempoolInfo, answer, relay] of [
    [false, 0.00001, 1000n],
    [true, { mempoolminfee: 0.00004, minrelaytxfee: 0.00001, incrementalrelayfee: 0.00001 }, 4000n],
    [true, { mempoolminfee: 0.000001, minrelaytxfee: 0.00001 }, 1000n],
    [true, { minrelaytxfee: 'much' }, undefined]
  ] as const) {
    let requested: string[] = []
    let now = 0
    const server = {
      ...{ url: 'a', isOpen: true },
      callMany: (calls: readonly { readonly method: string }[]) =>
        calls.map(async ({ method }): Promise<Json> => {
          requested.push(method)
          return method === 'blockchain.estimatefee' ? 0.001 : answer
        })
    }
    const fees = new ServerFees({ monotonic: () => now })
    await fees.fetch(server, Promise.resolve({ hasMempoolInfo }))
    const rates = { high: 100_000n, standard: 100_000n, low: 100_000n }
    t.deepEqual(fees.latest, rates, 'a start does not take a trip of its own for it')
    const all = relay === undefined ? rates : { ...rates, relay }
    const least = hasMempoolInfo ? 'mempool.get_info' : 'blockchain.relayfee'
    for (const expected of [[least], []]) {
      requested = []
      await fees.refresh(server)
      t.deepEqual(fees.latest, all)
      t.deepEqual(requested, expected)
    }
    now += 60_000
    await fees.refresh(server)
    t.deepEqual(fees.latest, all)
    t.deepEqual(requested.toSorted(), [...Array(3).fill('blockchain.estimatefee'), least])
  }
})

test('the least fee of a server that was lost before it answered is not taken for one of the next', async t => {
  let answer = (_: Json): void => {}
  const serverOf = (url: string, rate: number) => ({
    ...{ url, isOpen: true },
    callMany: (calls: readonly { readonly method: string }[]) =>
      calls.map(
        ({ method }): Promise<Json> =>
          method === 'blockchain.relayfee' && url === 'a'
            ? new Promise(resolve => {
                answer = resolve
              })
            : Promise.resolve(rate)
      )
  })
  const fees = new ServerFees({ monotonic: () => 0 })
  const [lost, next] = [serverOf('a', 0.001), serverOf('b', 0.00002)]
  const version = Promise.resolve({ hasMempoolInfo: false })
  await fees.fetch(lost, version)
  const refreshing = fees.refresh(lost)
  await Promise.resolve()
  lost.isOpen = false
  await fees.fetch(next, version)
  answer(0.005)
  await refreshing
  const rates = { high: 2000n, standard: 2000n, low: 2000n }
  t.deepEqual(fees.latest, rates)
  await fees.refresh(next)
  t.deepEqual(fees.latest, { ...rates, relay: 2000n })
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
