import test from 'ava'
import fc from 'fast-check'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import type { HistoryRows } from '../../../../kernel/wallet/history/rows.ts'
import {
  matchesSearch,
  normalizeQuery,
  type SearchableTransaction
} from '../../../../kernel/wallet/history/search.ts'
import { SearchIndex, SearchText } from '../../../../kernel/wallet/history/search-index.ts'
import { makeFakeClock } from '../../../../testing/fake-clock.ts'

const TX: SearchableTransaction = {
  nativeAmount: nativeAmount('-1234500'),
  txid: 'DeadBeef01',
  ourReceiveAddresses: ['AddrXYZ', 'second'],
  metadata: {
    name: 'Bob Smith',
    category: 'Expense:Food',
    notes: 'lunch, e.g. Soup',
    exchangeAmount: { 'iso:USD': 77.25, 'iso:EUR': 99 }
  },
  swapData: {
    isEstimate: false,
    plugin: { pluginId: 'hidden', displayName: 'ChangeCo' },
    payoutAddress: 'payout',
    payoutCurrencyCode: 'XMR',
    payoutNativeAmount: nativeAmount('888'),
    payoutWalletId: 'other'
  },
  spendTargets: [
    { currencyCode: 'TOY', publicAddress: 'DestAddr', memo: 'Tag42', nativeAmount: nativeAmount('5551') }
  ],
  memos: [{ type: 'text', value: 'Thanks a lot' }]
}

const finds = (query: string): boolean => matchesSearch(TX, normalizeQuery(query), 'iso:USD')

test('a search does not care for the case of letters [5.42]', t => {
  for (const query of ['bob smith', 'BOB', 'sMiTh', 'DEADbeef', 'destADDR', 'changeCO', 'EXPENSE:food']) {
    t.true(finds(query), query)
  }
})

test('dots, commas and leading zeros of a query are dropped, but zeros alone are looked for [5.43]', t => {
  for (const query of [
    '1.2345',
    '1,2345',
    '0012345',
    '0.012345',
    '12345.00',
    '77.25',
    '7725',
    'e.g. soup',
    'lunch e.g.'
  ])
    t.true(finds(query), query)
  for (const query of ['000', '1.2.3.4', '1,2,3']) t.false(finds(query), query)
  t.true(finds('00'))
  t.is(normalizeQuery('000'), '000')
})

test('a search looks into amount, category, name, notes, fiat amount, swap, target, memo, own addresses and txid only [5.44]', t => {
  const found = [
    '1234500',
    'food',
    'smith',
    'lunch',
    '7725',
    'changeco',
    'destaddr',
    'tag42',
    'addrxyz',
    'second',
    'beef01'
  ]
  for (const query of [...found, 'thanks a lot', '']) t.true(finds(query), query)
  const other = [
    '99',
    'usd',
    'hidden',
    'payout',
    'xmr',
    '888',
    '5551',
    'toy',
    'bobsmith',
    'smith lunch',
    'nope'
  ]
  for (const query of other) t.false(finds(query), query)
  t.true(matchesSearch(TX, '99', 'iso:EUR'))
  t.false(matchesSearch({ ...TX, metadata: {} }, '7725', 'iso:USD'))
})

test('the text of a search finds the same as looking at each, whatever is added, changed and taken away', async t => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'B', 'ß', '0', '.', '😀'), maxLength: 5 }), {
    maxLength: 3
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 600 }), texts), { maxLength: 900 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '0', '😀'), minLength: 1, maxLength: 3 }),
      async (changes, query) => {
        const index = new SearchText(makeFakeClock())
        const model = new Map<string, string[]>()
        for (const [key, value] of changes) {
          index.set(`k${key}`, value.map(text => `${text.toLowerCase()}\0`).join(''))
          model.set(`k${key}`, value)
        }
        const expected = [...model].filter(([, value]) =>
          value.some(text => text.toLowerCase().includes(query))
        )
        t.deepEqual((await index.find(query)).sort(), expected.map(([key]) => key).sort())
        index.clear()
        t.deepEqual([await index.find(query), index.has('k1')], [[], false])
      }
    ),
    { numRuns: 60 }
  )
})

test('a search after one that could not read everything finds what has changed meanwhile', async t => {
  let isBroken = true
  const rows: Pick<HistoryRows, 'searches'> = {
    async *searches() {
      yield [{ key: 'a', search: isBroken ? 'rent\0' : 'bicycle\0' }]
      if (isBroken) throw new Error('EIO')
    }
  }
  const index = new SearchIndex({ rows, complete: () => t.fail() }, makeFakeClock())
  await t.throwsAsync(index.find('rent'), { message: 'EIO' })
  isBroken = false
  t.deepEqual([await index.find('rent'), await index.find('bicycle')], [[], ['a']])
})
