import test from 'ava'
import fc from 'fast-check'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import type { Json } from '../../../../kernel/base/json.ts'
import type { HistoryRow } from '../../../../kernel/wallet/history/row.ts'
import type { HistoryRows } from '../../../../kernel/wallet/history/rows.ts'
import {
  matchesSearch,
  normalizeQuery,
  SEARCH_FORM,
  type SearchableTransaction,
  searchable,
  searchTextOf
} from '../../../../kernel/wallet/history/search.ts'
import { SearchIndex, SearchText } from '../../../../kernel/wallet/history/search-index.ts'
import { viewOf } from '../../../../kernel/wallet/history/view.ts'
import { makeFakeClock } from '../../../../testing/fake-clock.ts'
import { drawSeed } from '../../../helpers/drawn-runs.ts'

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

const word = fc.string({
  unit: fc.constantFrom('a', 'B', 'ß', 'İ', 'Σ', '0', '1', '.', ',', ' ', '😀', '\ud83d', '\ude00'),
  maxLength: 6
})
const amount = fc.nat({ max: 10_000 }).map(count => nativeAmount(String(count)))
const FIAT_CODES = ['iso:USD', 'iso:EUR']
const assetRecord = fc.record(
  {
    metadata: fc.record(
      {
        ...{ name: word, category: word, notes: word },
        exchangeAmount: fc.dictionary(fc.constantFrom(...FIAT_CODES), fc.double({ noNaN: true }))
      },
      { requiredKeys: [] }
    )
  },
  { requiredKeys: ['metadata'] }
)
const swap = fc.record({
  plugin: fc.record({ pluginId: fc.constant('x'), displayName: word }),
  payoutAddress: word
})
const payee: fc.Arbitrary<Json> = fc.oneof(
  fc.record(
    { currency: fc.constant('TOY'), amount, address: word, tag: word },
    { requiredKeys: ['currency', 'amount', 'address'] }
  ),
  fc.constant({ other: 'version' })
)
const historyFile = fc.record(
  {
    ...{ txid: word, internal: fc.boolean(), creationDate: fc.nat() },
    currencies: fc.dictionary(fc.constantFrom('TOY', 'USDT'), assetRecord),
    tokens: fc.dictionary(fc.constantFrom('', 'usd'), assetRecord),
    ...{ payees: fc.array(payee, { maxLength: 2 }), swap }
  },
  { requiredKeys: ['txid', 'internal', 'creationDate', 'currencies', 'tokens'] }
)
const reportOfAsset = (tokenId: null | string) =>
  fc.record(
    {
      ...{ txid: word, date: fc.nat(), blockHeight: fc.nat(), tokenId: fc.constant(tokenId) },
      ...{ nativeAmount: amount, networkFee: amount, parentNetworkFee: amount, signedTx: fc.constant('') },
      networkFees: fc.constant([{ tokenId: 'usd', nativeAmount: '3' }]),
      ourReceiveAddresses: fc.array(word, { maxLength: 2 }),
      memos: fc.array(fc.record({ type: fc.constant('text'), value: word }), { maxLength: 2 })
    },
    {
      requiredKeys: [
        ...(['txid', 'date', 'blockHeight', 'tokenId', 'nativeAmount', 'networkFee', 'signedTx'] as const),
        'ourReceiveAddresses'
      ]
    }
  )
const historyRow = fc.record(
  {
    reports: fc.oneof(
      fc.tuple(reportOfAsset(null)),
      fc.tuple(reportOfAsset('usd')),
      fc.tuple(reportOfAsset(null), reportOfAsset('usd'))
    ),
    ...{ paths: fc.constant([]), file: historyFile }
  },
  { requiredKeys: ['reports', 'paths'] }
)

const textsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)]

test('what a search finds in a transaction, it finds in the search text of its row, for each asset and fiat currency', t => {
  const seed = drawSeed(t)
  const counts = { found: 0, other: 0 }
  fc.assert(
    fc.property(historyRow, fc.nat(), fc.nat(), fc.nat({ max: 4 }), (row, from, start, length) => {
      const drawn = row as unknown as HistoryRow
      const text = searchTextOf(drawn)
      const texts = [...textsIn(row), '0', '0', '0', '0']
      const some = texts[from % texts.length] ?? ''
      const query = normalizeQuery(some.slice(start % (some.length + 1)).slice(0, length + 1))
      if (query === '') return
      for (const tokenId of [null, 'usd'])
        for (const fiatCode of FIAT_CODES) {
          const asset = { tokenId, currencyCode: tokenId === null ? 'TOY' : 'USDT' }
          const tx = viewOf(drawn, {
            ...{ walletId: 'w', currencyCode: 'TOY', fiatCode, asset, assetCode: asset.currencyCode },
            chain: { height: 1, required: 1 }
          })
          const isFound = tx !== undefined && matchesSearch(tx, query, fiatCode)
          counts[isFound ? 'found' : 'other'] += 1
          if (isFound)
            t.true(text.includes(searchable(query)), `${JSON.stringify(query)} in ${JSON.stringify(text)}`)
        }
    }),
    { numRuns: 3000, seed }
  )
  t.true(counts.found > 500, JSON.stringify(counts))
})

test('the search text of a row is that of its form: where this changes, the form must', t => {
  const report = {
    ...{ txid: 'TX', date: 1, blockHeight: 1, tokenId: null, nativeAmount: '-5', networkFee: '1' },
    ...{ parentNetworkFee: '2', signedTx: 'raw', ourReceiveAddresses: ['Mine'] },
    memos: [{ type: 'text', value: 'Memo' }]
  }
  const metadata = { name: 'Name', category: 'Income:x', notes: 'a.b.c', exchangeAmount: { 'iso:USD': 1.5 } }
  const file = {
    ...{ txid: 'TX', internal: false, creationDate: 1, currencies: {}, tokens: { '': { metadata } } },
    payees: [{ currency: 'TOY', amount: '1', address: 'Payee', tag: 'Tag' }],
    swap: { plugin: { pluginId: 'x', displayName: 'Swap \ud83d' } }
  }
  t.is(
    SEARCH_FORM + searchTextOf({ reports: [report], paths: [], file } as unknown as HistoryRow),
    [
      '1',
      'tx',
      '-5',
      'mine',
      'memo',
      '0',
      'swap ',
      '55357',
      'payee',
      'tag',
      'income:x',
      'name',
      'ab.c',
      '15',
      ''
    ].join('\0')
  )
})

test('a search after one that could not read everything finds what has changed meanwhile', async t => {
  let isBroken = true
  const rows: Pick<HistoryRows, 'scanSearchTexts'> = {
    async *scanSearchTexts() {
      yield [{ key: 'a', search: isBroken ? 'rent\0' : 'bicycle\0' }]
      if (isBroken) throw new Error('EIO')
    }
  }
  const index = new SearchIndex({ rows, addSearchTexts: () => t.fail() }, makeFakeClock())
  await t.throwsAsync(index.find('rent'), { message: 'EIO' })
  isBroken = false
  t.deepEqual([await index.find('rent'), await index.find('bicycle')], [[], ['a']])
})
