import test from 'ava'
import fc from 'fast-check'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import type { EngineTransaction, Transaction } from '../../../../kernel/types/transaction.ts'
import {
  listTransactions,
  type StreamQuery,
  streamTransactions,
  type TransactionQuery
} from '../../../../kernel/wallet/history/list.ts'
import { type HistoryDevice, incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { naiveList } from '../../../helpers/naive-list.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

const TOKENS = { usd1: 'USD', usd2: 'USD' }
const DATES = [1_700_000_000, 1_700_000_000.25, 1_700_000_000.1, 1_700_000_007, 1_700_000_100, 1_900_000_000]
const NAMES = ['Bob', 'bobby', 'Rent', 'a.b', 'Lunch, 12', '0012']

const reportArbitrary: fc.Arbitrary<EngineTransaction> = fc
  .record({
    txid: fc.integer({ min: 0, max: 60 }),
    date: fc.constantFrom(...DATES),
    amount: fc.integer({ min: -2000, max: 2000 }),
    tokenId: fc.constantFrom(null, null, 'usd1', 'usd2'),
    hasFee: fc.boolean(),
    memo: fc.constantFrom(undefined, ...NAMES)
  })
  .map(({ txid, date, amount, tokenId, hasFee, memo }) =>
    incoming(`tx${txid}`, {
      date,
      tokenId,
      nativeAmount: nativeAmount(String(amount)),
      ourReceiveAddresses: [`addr${txid % 7}`],
      ...(tokenId !== null && hasFee ? { parentNetworkFee: nativeAmount('7') } : {}),
      ...(memo === undefined ? {} : { memos: [{ type: 'text', value: memo }] })
    })
  )

const dateArbitrary = fc.constantFrom(undefined, ...DATES.flatMap(date => [date, date - 1, date + 0.001]))

const queryArbitrary = fc
  .record({
    tokenId: fc.constantFrom(undefined, null, 'usd1', 'usd2', 'unknown'),
    start: dateArbitrary,
    end: dateArbitrary,
    searchString: fc.constantFrom(
      undefined,
      '',
      'BOB',
      '0',
      'tx1',
      'addr3',
      '1',
      '12',
      'rent',
      'lunch 12',
      'nothing'
    ),
    startIndex: fc.constantFrom(undefined, 0, 1, 5, 30),
    startEntries: fc.constantFrom(undefined, 0, 1, 7, 200),
    limit: fc.constantFrom(undefined, 0, 3, 150),
    before: fc.option(fc.nat(), { nil: undefined })
  })
  .map(({ start, end, before, ...rest }) => ({
    before,
    query: defined({
      ...rest,
      startDate: start === undefined ? undefined : new Date(start * 1000),
      endDate: end === undefined ? undefined : new Date(end * 1000)
    }) as TransactionQuery
  }))

const defined = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

const noteAny = async (table: HistoryDevice['table'], txid: string, name: string): Promise<void> => {
  for (const tokenId of [null, 'usd1', 'usd2']) {
    if ((await table.find(txid, tokenId)) !== undefined) await table.saveMetadata({ txid, tokenId }, { name })
  }
}

const collect = async (table: HistoryDevice['table'], query: StreamQuery): Promise<Transaction[][]> => {
  const batches: Transaction[][] = []
  for await (const batch of streamTransactions(table, query)) batches.push(batch)
  return batches
}

test('any page of any search, dates and token is that part of the whole list, complete with what is noted', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(reportArbitrary, { maxLength: 120 }),
      fc.array(fc.record({ txid: fc.nat(), name: fc.constantFrom(...NAMES) }), { maxLength: 8 }),
      fc.array(queryArbitrary, { minLength: 1, maxLength: 6 }),
      async (reports, notes, queries) => {
        const device = await openHistory(makeSyncStore(), { tokens: TOKENS })
        const { table } = device
        await table.applyReports(reports)
        const txids = [...new Set(reports.map(({ txid }) => txid))]
        for (const { txid, name } of notes) {
          if (txids.length > 0) await noteAny(table, txids[txid % txids.length] ?? '', name)
        }
        for (const { query, before } of queries) {
          const all: Transaction[] = []
          for (const txid of txids) {
            const tx = await table.find(txid, query.tokenId)
            if (tx !== undefined) all.push(tx)
          }
          const listed = await listTransactions(
            table,
            defined({ tokenId: query.tokenId }) as TransactionQuery
          )
          t.deepEqual(
            [...listed].sort((a, b) => a.txid.localeCompare(b.txid)),
            all.sort((a, b) => a.txid.localeCompare(b.txid))
          )
          if (!listed.every(({ date }, index) => index === 0 || date <= (listed[index - 1]?.date ?? 0)))
            throw new Error(JSON.stringify(listed))
          const whole =
            before === undefined || listed.length === 0
              ? query
              : { ...query, beforeTxid: listed[before % listed.length]?.txid ?? '' }
          const expected = naiveList(listed, whole)
          t.deepEqual(await listTransactions(table, whole), expected, JSON.stringify(whole))
          t.deepEqual((await collect(table, whole)).flat(), expected, JSON.stringify(whole))
        }
      }
    ),
    { numRuns: 60 }
  )
})

test('dates select from the start on and before the end, to the millisecond; without an end the future is listed too [5.45]', async t => {
  const { table } = await openHistory(makeSyncStore())
  const dates = [1.001, 1.002, 1.003, 1_700_000_000.1, 1_700_000_000.123, 9_000_000_000]
  await table.applyReports(dates.map((date, index) => outgoing(`tx${index}`, { date })))
  const found = async (start?: number, end?: number): Promise<number[]> => {
    const query = {
      ...(start === undefined ? {} : { startDate: new Date(start) }),
      ...(end === undefined ? {} : { endDate: new Date(end) })
    }
    return (await listTransactions(table, query)).map(({ date }) => date).reverse()
  }
  t.deepEqual(await found(), dates)
  for (const start of [
    0, 1, 2, 1001, 1002, 1003, 1004, 1_700_000_000_100, 1_700_000_000_123, 1_700_000_000_124
  ]) {
    const isAfter = (date: number): boolean => date * 1000 >= start
    t.deepEqual(await found(start), dates.filter(isAfter), String(start))
    t.deepEqual(
      await found(undefined, start),
      dates.filter(date => !isAfter(date)),
      String(start)
    )
  }
})

test('a search among many is cut by its dates and its limit, and finds nothing twice', async t => {
  const { table } = await openHistory(makeSyncStore())
  const isMarked = (index: number): boolean => index < 100 || index >= 580
  await table.applyReports(
    Array.from({ length: 600 }, (_, index) =>
      outgoing(`tx${index}`, {
        date: index,
        ...(isMarked(index) ? { memos: [{ type: 'text', value: 'marked' }] } : {})
      })
    )
  )
  const marked = Array.from({ length: 600 }, (_, index) => 599 - index).filter(isMarked)
  const found = async (query: TransactionQuery): Promise<number[]> =>
    (await listTransactions(table, { searchString: 'marked', ...query })).map(({ date }) => date)
  t.deepEqual(await found({}), marked)
  t.deepEqual(await found({ limit: 60 }), marked.slice(0, 60))
  t.deepEqual(await found({ limit: 60, startIndex: 25 }), marked.slice(20, 80))
  const [startDate, endDate] = [new Date(50_000), new Date(590_000)]
  const between = marked.filter(date => date >= 50 && date < 590)
  t.deepEqual(await found({ startDate, endDate }), between)
  t.deepEqual(await found({ startDate, endDate, limit: 60 }), between)
  t.deepEqual(
    await found({ startDate, beforeTxid: 'tx70' }),
    between.filter(date => date < 70)
  )
})

test('the start index counts every transaction of the list, found or not, as in the deployed core', async t => {
  const { table } = await openHistory(makeSyncStore())
  const dates = [10, 20, 30, 40, 50]
  await table.applyReports(
    dates.map((date, at) =>
      outgoing(`t${at + 1}`, { date, nativeAmount: nativeAmount(at % 2 === 0 ? '-1000' : '-77') })
    )
  )
  const found = async (query: TransactionQuery): Promise<string> =>
    (await listTransactions(table, query)).map(({ txid }) => txid).join(' ')
  // What version 1.14.0 answered when it was asked the same.
  const searched = ['t5 t3', 't3 t1', 't3 t1', 't1', 't1', '']
  for (const [startIndex, expected] of searched.entries())
    t.is(await found({ searchString: '1000', startIndex, startEntries: 2 }), expected, `${startIndex}`)
  const [startDate, endDate] = [new Date(15_000), new Date(45_000)]
  for (const [startIndex, expected] of ['t4 t3', 't4 t3', 't3 t2', 't2', ''].entries())
    t.is(await found({ startDate, endDate, startIndex, startEntries: 2 }), expected, `${startIndex}`)
  t.is(await found({ beforeTxid: 't5', startIndex: 1 }), 't3 t2 t1')
})

test('a stream hands out batches of 10, the first of another size if wanted', async t => {
  const { table } = await openHistory(makeSyncStore())
  await table.applyReports(Array.from({ length: 34 }, (_, index) => outgoing(`tx${index}`, { date: index })))
  const sizes = async (query: StreamQuery): Promise<number[]> =>
    (await collect(table, query)).map(batch => batch.length)
  t.deepEqual(await sizes({}), [10, 10, 10, 4])
  t.deepEqual(await sizes({ firstBatchSize: 3 }), [3, 10, 10, 10, 1])
  t.deepEqual(await sizes({ batchSize: 17 }), [17, 17])
  t.deepEqual(await sizes({ batchSize: 5, limit: 12 }), [5, 5, 2])
  t.deepEqual(await sizes({ searchString: 'tx3' }), [5])
  t.deepEqual(await sizes({ searchString: 'nothing' }), [])
})

test('a stream returns nothing twice and nothing deleted, whatever arrives, moves or vanishes meanwhile', async t => {
  const event = fc.oneof(
    fc.record({
      kind: fc.constant('arrive' as const),
      txid: fc.nat({ max: 80 }),
      date: fc.nat({ max: 100 })
    }),
    fc.record({ kind: fc.constant('resync' as const), kept: fc.nat({ max: 40 }), date: fc.constant(0) })
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 6 }), event), { maxLength: 12 }),
      fc.constantFrom(undefined, 'tx'),
      async (events, searchString) => {
        const { table } = await openHistory(makeSyncStore())
        let live = new Map(Array.from({ length: 40 }, (_, index) => [`tx${index}`, index * 2]))
        const emit = (txids: Iterable<string>): Promise<unknown> =>
          table.applyReports([...txids].map(txid => outgoing(txid, { date: live.get(txid) ?? 0 })))
        await emit(live.keys())
        const untouched = new Set(live.keys())
        const seen: string[] = []
        let turn = 0
        const query = { batchSize: 7, ...(searchString === undefined ? {} : { searchString }) }
        for await (const batch of streamTransactions(table, query)) {
          for (const tx of batch) {
            t.true(live.has(tx.txid), 'no ghost')
            t.false(seen.includes(tx.txid), 'nothing twice')
            seen.push(tx.txid)
          }
          for (const [at, change] of events) {
            if (at !== turn) continue
            if (change.kind === 'arrive') {
              live.set(`tx${change.txid}`, change.date)
              untouched.delete(`tx${change.txid}`)
              await emit([`tx${change.txid}`])
            } else {
              live = new Map([...live].slice(0, change.kept))
              for (const txid of [...untouched]) if (!live.has(txid)) untouched.delete(txid)
              await table.clear()
              await emit(live.keys())
            }
          }
          turn += 1
        }
        for (const txid of untouched) if (!seen.includes(txid)) throw new Error(`${txid} is left out`)
      }
    ),
    { numRuns: 60 }
  )
})

test('a search does not return a transaction again that moved down the list meanwhile', async t => {
  const { table } = await openHistory(makeSyncStore())
  const memos = [{ type: 'text', value: 'rent' }] as const
  const rent = (index: number): boolean => index % 100 === 0
  const reports = Array.from({ length: 1000 }, (_, index) =>
    outgoing(`tx${index}`, { date: 1000 + index, ...(rent(index) ? { memos } : {}) })
  )
  await table.applyReports(reports)
  const reported: string[] = []
  for await (const batch of streamTransactions(table, { searchString: 'rent', limit: 20, batchSize: 1 })) {
    reported.push(...batch.map(({ txid }) => txid))
    if (reported.length === 1) await table.applyReports([outgoing('tx900', { date: 5, memos })])
  }
  t.deepEqual(
    reported,
    Array.from({ length: 10 }, (_, index) => `tx${900 - 100 * index}`)
  )
})

test('a stream returns rows that it read ahead in their present state, or not at all if they are gone', async t => {
  const { table } = await openHistory(makeSyncStore(), { tokens: TOKENS })
  const reports = ['a', 'b', 'c', 'd'].map((txid, index) =>
    outgoing(txid, { date: 1000 - index, tokenId: 'usd1' })
  )
  await table.applyReports(reports)
  const stream = streamTransactions(table, { tokenId: 'usd1', firstBatchSize: 1, batchSize: 4 })
  const reported = async (): Promise<(readonly [string, string | undefined])[]> => {
    const { value = [] } = await stream.next()
    return (value ?? []).map(({ txid, metadata }) => [txid, metadata.name])
  }
  t.deepEqual(await reported(), [['a', undefined]])
  await table.saveMetadata({ txid: 'b', tokenId: 'usd1' }, { name: 'Bob' })
  await table.clear()
  await table.applyReports(reports.filter(({ txid }) => txid !== 'c'))
  t.deepEqual(await reported(), [
    ['b', 'Bob'],
    ['d', undefined]
  ])
})

test('an unknown cursor is refused, so that no page starts at the top by mistake', async t => {
  const { table } = await openHistory(makeSyncStore())
  await table.applyReports([outgoing('a')])
  await t.throwsAsync(listTransactions(table, { beforeTxid: 'b' }), { code: 'TX_NOT_FOUND' })
  t.deepEqual(await listTransactions(table, { beforeTxid: 'a' }), [])
})

test('a transaction that arrives above the place of a running search is not returned out of order', async t => {
  const { table } = await openHistory(makeSyncStore())
  const rent = { memos: [{ type: 'text', value: 'rent' }] } as const
  const reports = Array.from({ length: 1000 }, (_, index) =>
    outgoing(`tx${index}`, { date: index, ...(index % 50 === 0 ? rent : {}) })
  )
  await table.applyReports(reports)
  const stream = streamTransactions(table, { searchString: 'rent', limit: 15, batchSize: 5 })
  const first = await stream.next()
  await table.applyReports([outgoing('new', { date: 5000, ...rent })])
  const dates = first.done ? [] : first.value.map(({ date }) => date)
  for await (const batch of stream) dates.push(...batch.map(({ date }) => date))
  t.deepEqual(
    dates,
    Array.from({ length: 15 }, (_, index) => 950 - 50 * index)
  )
})
