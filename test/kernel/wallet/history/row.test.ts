import test from 'ava'
import fc from 'fast-check'
import type { Confirmations, EngineTransaction } from '../../../../kernel/types/transaction.ts'
import { confirmationsOf } from '../../../../kernel/wallet/history/row.ts'
import { incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

test('confirmations: dropped, unconfirmed, syncing, a depth, confirmed [4.6] [4.7] [4.8] [4.9]', async t => {
  const of = (blockHeight: number, chainHeight: number, required = 3) =>
    confirmationsOf({ blockHeight, chainHeight, required })
  t.deepEqual(
    [of(-1, 9), of(0, 9), of(11, 9), of(10, 9), of(9, 9), of(8, 9), of(7, 9), of(1, 9)],
    ['dropped', 'unconfirmed', 'syncing', 'syncing', 1, 2, 'confirmed', 'confirmed']
  )
})

test('a currency that does not say how deep is deep enough wants one confirmation [9.16]', async t => {
  const { table } = await openHistory(makeSyncStore())
  await table.applyHeight(100)
  await table.applyReports([incoming('above', { blockHeight: 101 }), incoming('last', { blockHeight: 100 })])
  t.is((await table.find('above'))?.confirmations, 'syncing')
  t.is((await table.find('last'))?.confirmations, 'confirmed')
})

test('a new height counts for the next read at once, and yields the transactions that it changes', async t => {
  const { table } = await openHistory(makeSyncStore(), { info: { requiredConfirmations: 3 } })
  await table.applyHeight(100)
  await table.applyReports([
    outgoing('a', { blockHeight: 100 }),
    outgoing('b'),
    outgoing('c', { blockHeight: 50 })
  ])
  for (const [height, shown] of [
    [101, 2],
    [102, 'confirmed'],
    [103, 'confirmed']
  ] as const) {
    const changing = table.applyHeight(height)
    t.is((await table.find('a'))?.confirmations, shown)
    t.deepEqual(await changing, height === 103 ? [] : ['a'])
  }
})

type Step =
  | { readonly kind: 'height'; readonly height: number }
  | { readonly kind: 'report'; readonly txid: string; readonly blockHeight: number }
  | { readonly kind: 'restart'; readonly isClosed: boolean }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('height' as const), height: fc.integer({ min: 0, max: 12 }) }),
  fc.record({
    kind: fc.constant('report' as const),
    txid: fc.constantFrom('a', 'b', 'c'),
    blockHeight: fc.integer({ min: -1, max: 12 })
  }),
  fc.record({ kind: fc.constant('restart' as const), isClosed: fc.boolean() })
)

test('confirmed and dropped stay until the engine changes them, and other states follow the height [4.10]', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(stepArbitrary, { maxLength: 25 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, required) => {
        let device = await openHistory(makeSyncStore(), { info: { requiredConfirmations: required } })
        let height = 0
        const model = new Map<string, { blockHeight: number; shown: Confirmations }>()
        const judge = (blockHeight: number): Confirmations =>
          confirmationsOf({ blockHeight, chainHeight: height, required })
        for (const step of steps) {
          if (step.kind === 'height') {
            const changed = device.table.applyHeight(step.height)
            height = step.height
            const expected: string[] = []
            for (const [txid, tx] of model) {
              if (tx.shown === 'confirmed' || tx.shown === 'dropped') continue
              const shown = judge(tx.blockHeight)
              if (shown !== tx.shown) expected.push(txid)
              tx.shown = shown
            }
            t.deepEqual((await changed).sort(), expected.sort())
          } else if (step.kind === 'report') {
            const { txid, blockHeight } = step
            await device.table.applyReports([outgoing(txid, { blockHeight })])
            if (model.get(txid)?.blockHeight !== blockHeight)
              model.set(txid, { blockHeight, shown: judge(blockHeight) })
          } else {
            device = await device.again({ isClosed: step.isClosed })
            for (const [txid, { shown }] of model) t.is((await device.table.find(txid))?.confirmations, shown)
            await device.table.applyHeight(height)
          }
          for (const [txid, { shown }] of model) {
            t.is((await device.table.find(txid))?.confirmations, shown, JSON.stringify(steps))
          }
        }
      }
    ),
    { numRuns: 60 }
  )
})

test('the last report for one asset of a transaction holds for all of its assets', async t => {
  const { table } = await openHistory(makeSyncStore(), { tokens: { usd: 'USD' } })
  const report = (tokenId: string | null, changes: Partial<EngineTransaction>): EngineTransaction =>
    outgoing('a', { tokenId, ...changes })
  await table.applyReports([null, 'usd'].map(tokenId => report(tokenId, { confirmations: 'dropped' })))
  t.is((await table.find('a'))?.confirmations, 'dropped')
  await table.applyReports([report('usd', { blockHeight: 5, confirmations: 'confirmed' })])
  for (const tokenId of [null, 'usd']) t.is((await table.find('a', tokenId))?.confirmations, 'confirmed')
})
