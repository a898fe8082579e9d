import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import {
  fakeBlockchain,
  type Replies,
  sampleEvents,
  swapAssets,
  testCurrencyPlugin,
  testObserverPlugin,
  testPolicyPlugin,
  testRatePlugin,
  testStoragePlugin,
  testSwapPlugin
} from 'holdfast/testing'
import feeGuard from '../../examples/cookbook/fee-guard.ts'
import marketMaker from '../../examples/cookbook/market-maker.ts'
import medianPrice from '../../examples/cookbook/median-price.ts'
import ownPrices from '../../examples/cookbook/own-prices.ts'
import { withOwnUnits } from '../../examples/cookbook/own-units.ts'
import { paymentJournal } from '../../examples/cookbook/payment-journal.ts'
import paymentsADay from '../../examples/cookbook/payments-a-day.ts'
import { slowTaps } from '../../examples/cookbook/slow-taps.ts'
import trustedFirst from '../../examples/cookbook/trusted-first.ts'
import { twoDiskStorage, twoDisks } from '../../examples/cookbook/two-disks.ts'
import { type CountedPayment, type Disk, nativeAmount, type QuoteSnapshot } from '../../kernel/plugin-api.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'

const csv = '# the books of 2026\n2026-01-01,BTC,iso:EUR,58000\r\n2025-01-01,BTC,iso:EUR,90000\n'
testRatePlugin(test, ownPrices, {
  options: { csv },
  valid: [
    { wanted: ['BTC iso:EUR'], offers: { 'BTC iso:EUR': 58_000 } },
    { wanted: ['BTC iso:EUR'], date: new Date('2025-06-01'), offers: { 'BTC iso:EUR': 90_000 } }
  ],
  invalid: [{ name: 'a pair that is not listed', wanted: ['LTC iso:EUR'] }]
})

test('a list of own prices with a wrong line is left out, and says which line', t => {
  t.is(
    ownPrices.checkOptions?.({ csv: `${csv}2026-02-01;BTC;iso:EUR;1\n` }),
    'line 4 of the prices is not date,from,to,price'
  )
  t.is(
    ownPrices.checkOptions?.({ csv: '2026-01-01,BTC,iso:EUR,-1' }),
    'line 1 of the prices is not date,from,to,price'
  )
  t.is(ownPrices.checkOptions?.({}), 'its option csv has no prices')
  t.is(ownPrices.checkOptions?.({ csv }), undefined)
})

const [coinbase, bitstamp, gemini] = [
  'https://api.coinbase.com/v2/prices/BTC-USD/spot',
  'https://www.bitstamp.net/api/v2/ticker/btcusd/',
  'https://api.gemini.com/v1/pubticker/btcusd'
]
const spot = (amount: string): string => `{"data":{"amount":"${amount}"}}`
const last = (price: string): string => `{"last":"${price}"}`
const wanted = ['BTC iso:USD']
testRatePlugin(test, medianPrice, {
  valid: [
    {
      name: 'three prices',
      wanted,
      replies: { [coinbase]: spot('64000'), [bitstamp]: last('64100'), [gemini]: last('63900') },
      offers: { 'BTC iso:USD': 64_000 }
    },
    {
      name: 'one that lies',
      wanted,
      replies: { [coinbase]: spot('1000000'), [bitstamp]: last('64100'), [gemini]: last('63900') },
      offers: { 'BTC iso:USD': 64_100 }
    },
    {
      name: 'one that is down',
      wanted,
      replies: { [coinbase]: { status: 503, body: '' }, [bitstamp]: last('64100'), [gemini]: last('63900') },
      offers: { 'BTC iso:USD': 63_900 }
    }
  ],
  invalid: [
    {
      name: 'two that contradict each other',
      wanted,
      replies: { [coinbase]: spot('1'), [bitstamp]: last('64100'), [gemini]: { status: 503, body: '' } },
      code: 'SERVER'
    },
    { name: 'another coin', wanted: ['LTC iso:USD'], replies: {} }
  ]
})

const { btc: from, ltc: to, ufo } = swapAssets
/** The server of the maker: it has one pair, and takes 10,000 native units at least. */
const maker: Replies = () => {
  const answers: Readonly<Record<string, (body: Readonly<Record<string, string>>) => object>> = {
    'POST /quotes': ({ from: paid, to: wanted, amount = '0' }) => {
      if (paid !== 'BTC' || wanted !== 'LTC') return { refusal: 'pair' }
      if (BigInt(amount) < 10_000n) return { refusal: 'small', least: '10000' }
      return { id: 'q1', pays: String(BigInt(amount) * 740n), expires: '2100-01-01T00:00:00Z' }
    },
    'POST /orders': () => ({ id: 'o1', deposit: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' }),
    'GET /orders/o1': () => ({ id: 'o1', state: 'open' })
  }
  return ({ method, path, body }) => {
    const answer = answers[`${method} ${path}`]
    if (answer === undefined) return { status: 404, headers: {}, body: '' }
    return { status: 200, headers: {}, body: JSON.stringify(answer(JSON.parse(body || '{}'))) }
  }
}
testSwapPlugin(test, marketMaker, {
  valid: [
    {
      ...{ from, to, amount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '740000000' },
      replies: maker
    }
  ],
  invalid: [
    { from, to, amount: '5', code: 'SWAP_BELOW_LIMIT', limit: '10000', replies: maker },
    { from, to: ufo, amount: '1000000', code: 'SWAP_CURRENCY', replies: maker },
    { from, to, amount: '1000000', quoteFor: 'to', code: 'SWAP_CURRENCY', replies: maker }
  ]
})

const target = { publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: '10000' }
testPolicyPlugin(test, feeGuard, {
  valid: [
    { name: 'a fee of a tenth', spend: { networkFee: '1000', targets: [target] } },
    { name: 'a message', spend: { use: 'message', networkFee: '0', targets: [] } },
    { name: 'a share of its own', spend: { networkFee: '4000', targets: [target] }, options: { percent: 40 } }
  ],
  invalid: [
    {
      name: 'a fee above a tenth',
      spend: { networkFee: '1001', targets: [target] },
      reason: 'the fee is more than 10 % of the payment'
    },
    {
      name: 'a fee in another token',
      spend: {
        networkFee: '1',
        networkFees: [
          { tokenId: null, nativeAmount: nativeAmount('1') },
          { tokenId: 'toll', nativeAmount: nativeAmount('5') }
        ],
        targets: [target]
      },
      reason: 'the payment costs a fee in the token toll'
    }
  ]
})

const now = Date.UTC(2026, 0, 10)
const HOUR = 3_600_000
const paid = { pluginId: 'bitcoin', tokenId: null, nativeAmount: nativeAmount('5') }
const judged = { walletId: 'w1', pluginId: 'bitcoin', amounts: [paid], payees: ['someone'] }
const counted = (hoursAgo: number, more: Partial<CountedPayment> = {}): CountedPayment => ({
  ...{
    walletId: 'w1',
    txids: [],
    isOpen: false,
    at: now - hoursAgo * HOUR,
    clients: [],
    amounts: [paid],
    values: {}
  },
  ...more
})
const two = { id: 'two', kind: 'payments-a-day', most: 2 }
testPolicyPlugin(test, paymentsADay, {
  rules: [
    {
      name: 'the second payment',
      rules: [two],
      payment: judged,
      now,
      payments: [counted(3), counted(0)],
      verdicts: { two: 'allows' }
    },
    {
      ...{ name: 'the third payment', rules: [two], payment: judged, now },
      ...{ payments: [counted(3), counted(2), counted(0)], verdicts: { two: 'refuses' } }
    },
    {
      ...{ name: 'one of yesterday', rules: [two], payment: judged, now },
      ...{ payments: [counted(25), counted(2), counted(0)], verdicts: { two: 'allows' } }
    },
    {
      ...{ name: 'an old one that is open', rules: [two], payment: judged, now },
      ...{ payments: [counted(99, { isOpen: true }), counted(2), counted(0)], verdicts: { two: 'refuses' } }
    },
    {
      ...{ name: 'one that is lost', rules: [two], payment: judged, now, payments: [counted(0)] },
      ...{
        lostPayments: [{ walletId: 'w1', pluginId: 'bitcoin', at: now - HOUR }],
        verdicts: { two: 'refuses' }
      }
    },
    { name: 'no payment', rules: [two], now, payments: [], verdicts: { two: 'does not apply' } },
    {
      name: 'no number',
      rules: [{ ...two, most: '2' }],
      payment: judged,
      now,
      verdicts: { two: 'unreadable' }
    },
    {
      name: 'a rule of another',
      rules: [{ ...two, kind: 'rolling' }],
      payment: judged,
      now,
      verdicts: { two: null }
    }
  ]
})

const [pending] = sampleEvents.quoteChanged
const quoteOf = (pluginId: string, toNativeAmount: string): QuoteSnapshot => ({
  ...(pending as QuoteSnapshot),
  ...{ pluginId, displayName: pluginId, state: 'resolved', fromNativeAmount: '1000', toNativeAmount }
})
testPolicyPlugin(test, trustedFirst, {
  ranks: [
    {
      name: 'nearly as good',
      quotes: [quoteOf('changenow', '1000'), quoteOf('thorchain', '991')],
      ranked: ['thorchain', 'changenow']
    },
    {
      name: 'much worse',
      quotes: [quoteOf('changenow', '1000'), quoteOf('thorchain', '900')],
      ranked: ['changenow', 'thorchain']
    }
  ]
})

testObserverPlugin(
  test,
  () => {
    const lines: string[] = []
    const plugin = paymentJournal(
      line => lines.push(line),
      () => new Date(now)
    )
    return { plugin, seen: () => lines }
  },
  {
    valid: [
      {
        name: 'a payment of a wallet whose name is a formula',
        events: [
          [
            'walletChanged',
            { ...(sampleEvents.walletChanged[0] as never as object), walletId: 'w1', name: '=1,2' } as never
          ],
          ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'signed', txid: 'ab' }],
          ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'signed', txid: 'ab' }]
        ],
        seen: [`2026-01-10T00:00:00.000Z,"'=1,2",signed,ab,s1\n`]
      }
    ]
  }
)

testObserverPlugin(
  test,
  () => {
    const { plugin, times } = slowTaps()
    return { plugin, seen: times }
  },
  {
    valid: [
      {
        name: 'two calls, one of which failed',
        events: [
          ['tapRan', { hook: 'fetchRates', pluginId: 'coinbase', durationMs: 2, outcome: 'done' }],
          ['tapRan', { hook: 'ready', pluginId: 'coinbase', durationMs: 1, outcome: 'done' }],
          ['tapRan', { hook: 'fetchRates', pluginId: 'coinbase', durationMs: 5, outcome: 'failed' }]
        ],
        seen: [
          { pluginId: 'coinbase', hook: 'fetchRates', calls: 2, failures: 1, totalMs: 7, longestMs: 5 },
          { pluginId: 'coinbase', hook: 'ready', calls: 1, failures: 0, totalMs: 1, longestMs: 1 }
        ]
      }
    ]
  }
)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
testStoragePlugin(
  test,
  place =>
    twoDiskStorage(async () => [
      await openFileDisk(join(folder, `first-${place}`)),
      await openFileDisk(join(folder, `second-${place}`))
    ]),
  { pluginId: 'two-disks' }
)

test('a second disk that is new, or was away, gets what the first has, and nothing is taken from an empty first', async t => {
  const [first, second] = [memoryDisk(), memoryDisk()]
  await first.setText('logins/a.json', 'new')
  await second.setText('logins/a.json', 'old')
  await second.setText('repos/gone.json', 'deleted meanwhile')
  const both = await twoDisks(first, second)
  await both.setText('client.json', '{}')
  t.deepEqual(await second.list(''), ['client.json', 'logins/a.json'])
  t.is(await second.getText('logins/a.json'), 'new')
  await t.throwsAsync(twoDisks(memoryDisk(), second), { code: 'STORAGE_FAILED' } as never)
})

test('where one of two disks refuses a write, both keep the old text', async t => {
  const [good, full] = [memoryDisk(), memoryDisk()]
  const refusing: Disk = {
    ...full,
    setText: async (path, text) => {
      if (text === 'new') throw new Error('full')
      await full.setText(path, text)
    }
  }
  for (const [first, second] of [
    [good, refusing],
    [refusing, good]
  ] as const) {
    const both = await twoDisks(first, second)
    await both.setText('a', 'old')
    await t.throwsAsync(both.setText('a', 'new'), { message: 'full' })
    t.deepEqual([await good.getText('a'), await full.getText('a')], ['old', 'old'])
  }
})

const bits = { name: 'bits', multiplier: '100' }
const usd = {
  currencyCode: 'USD',
  displayName: 'Dollar',
  denominations: [{ name: 'USD', multiplier: '100' }]
}
const ownUnits = { units: [bits, { name: 'finney', multiplier: '10' }], tokens: { usd } }
testCurrencyPlugin(test, () => fakeBlockchain(withOwnUnits(bitcoin, ownUnits), 'bitcoin'), {
  pluginId: 'bitcoin',
  level: 'quick'
})

test('a currency with own units keeps its others, and means one amount by a name', t => {
  const { info } = withOwnUnits(bitcoin, ownUnits)
  t.deepEqual(
    info.denominations.map(({ name }) => name),
    ['bits', 'finney', ...bitcoin.info.denominations.map(({ name }) => name).filter(name => name !== 'bits')]
  )
  t.throws(() => withOwnUnits(bitcoin, { units: [{ ...bits, multiplier: '10' }] }), {
    message: 'bits of bitcoin is 100 native units'
  })
})
