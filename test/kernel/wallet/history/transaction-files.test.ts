import test from 'ava'
import fc from 'fast-check'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import { parseTransactionFile, transactionFileJson } from '../../../../kernel/wallet/history/file-format.ts'
import { type HistoryDevice, incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { boxOf } from '../../../helpers/repo-device.ts'
import { makeSyncStore, type SyncStore } from '../../../helpers/sync-store.ts'

const put = (store: SyncStore, files: Readonly<Record<string, unknown>>): void =>
  store.put(
    Object.fromEntries(Object.entries(files).map(([path, file]) => [path, boxOf(JSON.stringify(file))]))
  )

const open = async (store: SyncStore): Promise<HistoryDevice> => {
  const device = await openHistory(store, { tokens: { usd: 'USD', twin: 'TOY' } })
  await device.sync()
  await device.settled()
  return device
}

const metadataOf = async ({ table }: HistoryDevice, tokenId: string | null = null) =>
  (await table.find('a', tokenId))?.metadata

/** The file as the published core writes it before 1.14. */
const OLD = {
  txid: 'a',
  internal: true,
  creationDate: 1_600_000_000.5,
  currencies: {
    TOY: {
      metadata: {
        bizId: 7,
        category: 'Expense:Food',
        exchangeAmount: { 'iso:USD': 1.5 },
        name: 'Bob',
        notes: 'lunch'
      },
      nativeAmount: '-700',
      providerFeeSent: '3'
    }
  },
  deviceDescription: 'phone',
  feeRateRequested: { satPerByte: '5' },
  feeRateUsed: { rate: 7 },
  payees: [{ address: 'dest', amount: '700', currency: 'TOY', tag: 'hello' }],
  secret: 's',
  swap: {
    orderId: 'o',
    isEstimate: false,
    plugin: { pluginId: 'sw', displayName: 'SW' },
    payoutAddress: 'p',
    payoutCurrencyCode: 'BTC',
    payoutNativeAmount: '1',
    payoutWalletId: 'w'
  }
}

test('a transaction file of the specification is read whole, edited, and keeps every field [3.24]', async t => {
  const store = makeSyncStore()
  const path = (hash: string): string => `transaction/1600000001-${hash}.json`
  const { hashOf } = await openHistory(makeSyncStore())
  put(store, { [path(hashOf('a'))]: { ...OLD, ofTomorrow: { x: 1 } } })
  const device = await open(store)
  await device.table.applyReports([outgoing('a')])
  const tx = await device.table.find('a')
  t.like(tx, {
    date: 1_600_000_000.5,
    metadata: { ...OLD.currencies.TOY.metadata, amountFiat: 1.5 },
    deviceDescription: 'phone',
    networkFeeOption: 'custom',
    requestedCustomFee: { satPerByte: '5' },
    feeRateUsed: { rate: 7 },
    txSecret: 's',
    swapData: OLD.swap
  })
  t.deepEqual(tx?.spendTargets, [
    {
      ...{ currencyCode: 'TOY', nativeAmount: nativeAmount('700'), publicAddress: 'dest' },
      ...{ memo: 'hello', uniqueIdentifier: 'hello' }
    }
  ])
  await device.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: 'dinner', name: null })
  const asset = {
    metadata: { bizId: 7, category: 'Expense:Food', exchangeAmount: { 'iso:USD': 1.5 }, notes: 'dinner' },
    nativeAmount: '-700',
    providerFeeSent: '3'
  }
  t.deepEqual(await device.json(path(device.hashOf('a'))), {
    ...OLD,
    ofTomorrow: { x: 1 },
    currencies: {},
    tokens: { '': asset }
  })
  for (const feeRateRequested of ['high', 'standard', 'low'] as const) {
    const file = parseTransactionFile({ ...OLD, feeRateRequested })
    t.is(transactionFileJson(file).feeRateRequested, feeRateRequested)
  }
})

test('of the newer and the older map of assets the newer wins, and an edit of a token leaves the coin as it was', async t => {
  const store = makeSyncStore()
  const { hashOf } = await openHistory(makeSyncStore())
  const path = `transaction/1600000000-${hashOf('a')}.json`
  put(store, {
    [path]: {
      txid: 'a',
      internal: false,
      creationDate: 1_600_000_000,
      currencies: { TOY: { metadata: { name: 'old coin' } }, USD: { metadata: { name: 'old dollar' } } },
      tokens: { '': { metadata: { name: 'coin' } }, twin: { metadata: { notes: 'same code' } } }
    }
  })
  const device = await open(store)
  await device.table.applyReports([null, 'usd', 'twin'].map(tokenId => incoming('a', { tokenId })))
  t.deepEqual(await metadataOf(device), { name: 'coin' })
  t.deepEqual(await metadataOf(device, 'usd'), { name: 'old dollar' })
  t.deepEqual(await metadataOf(device, 'twin'), { name: 'coin', notes: 'same code' })
  await device.table.saveMetadata({ txid: 'a', tokenId: 'usd' }, { name: 'dollar' })
  t.deepEqual(await device.json(path), {
    txid: 'a',
    internal: false,
    creationDate: 1_600_000_000,
    currencies: {},
    tokens: {
      '': { metadata: { name: 'coin' } },
      twin: { metadata: { notes: 'same code' } },
      usd: { metadata: { name: 'dollar', exchangeAmount: {} } }
    }
  })
})

const LEGACY = {
  airbitzFeeWanted: 0,
  meta: {
    amountFeeAirBitzSatoshi: 12,
    balance: 0,
    fee: 0,
    amountCurrency: 5.25,
    bizId: 3,
    category: 'Income:Salary',
    name: 'Ann',
    notes: 'from long ago',
    attributes: 0,
    amountSatoshi: 100,
    amountFeeMinersSatoshi: 1,
    airbitzFee: 0
  },
  ntxid: 'n',
  state: { creationDate: 1_400_000_000, internal: false, malleableTxId: 'a' }
}

test('a legacy file is found by what is in it, and its edit goes into a new file of the same date', async t => {
  const store = makeSyncStore()
  put(store, {
    'Transactions/a-name-of-its-own.json': LEGACY,
    'Transactions/broken.json': { ...LEGACY, meta: { ...LEGACY.meta, balance: 'much' } }
  })
  const device = await open(store)
  await device.table.applyReports([incoming('a')])
  t.is(device.reports.length, 1)
  t.like(await device.table.find('a'), {
    date: 1_400_000_000,
    metadata: {
      bizId: 3,
      category: 'Income:Salary',
      exchangeAmount: { 'iso:USD': 5.25 },
      amountFiat: 5.25,
      name: 'Ann',
      notes: 'from long ago'
    }
  })
  await device.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: null, name: 'Ann B.' })
  t.like(await device.json(`transaction/1400000000-${device.hashOf('a')}.json`), {
    txid: 'a',
    creationDate: 1_400_000_000,
    currencies: {},
    tokens: { '': { providerFeeSent: '12' } }
  })
  t.deepEqual(await device.json('Transactions/a-name-of-its-own.json'), LEGACY)
  t.like(await metadataOf(device), { name: 'Ann B.', category: 'Income:Salary' })
  t.false(
    'notes' in ((await metadataOf(device)) ?? {}),
    'what the new file deletes does not come back from the old'
  )
  const again = await device.again()
  t.like(await metadataOf(again), { name: 'Ann B.' })
})

test('the one amount of a legacy file is in the fiat currency that the wallet is shown in', async t => {
  const store = makeSyncStore()
  put(store, { 'Transactions/x.json': LEGACY })
  const device = await open(store)
  device.settings.fiatCode = 'iso:EUR'
  await device.table.applyReports([incoming('a')])
  const metadata = await metadataOf(device)
  t.deepEqual([metadata?.exchangeAmount, metadata?.amountFiat], [{ 'iso:EUR': 5.25 }, 5.25])
})

test('a note on a token whose code is the coin’s leaves what older files say of the coin', async t => {
  const store = makeSyncStore()
  const { hashOf } = await openHistory(makeSyncStore())
  const pathAt = (date: number): string => `transaction/${date}-${hashOf('a')}.json`
  const fileAt = (creationDate: number) => ({
    ...{ txid: 'a', internal: false, creationDate },
    currencies: { TOY: { metadata: { name: `coin ${creationDate}` } } }
  })
  put(store, { [pathAt(1000)]: fileAt(1000), [pathAt(2000)]: fileAt(2000) })
  const device = await open(store)
  await device.table.applyReports([outgoing('a', { tokenId: 'twin', parentNetworkFee: nativeAmount('1') })])
  await device.table.saveMetadata({ txid: 'a', tokenId: 'twin' }, { notes: 'token' })
  const twin = { metadata: { notes: 'token', exchangeAmount: {} } }
  t.deepEqual(await device.json(pathAt(2000)), { ...fileAt(2000), tokens: { twin } })
  t.deepEqual(await device.json(pathAt(1000)), {
    ...fileAt(1000),
    currencies: {},
    tokens: { '': { metadata: { name: 'coin 1000' } }, twin }
  })
  t.deepEqual(await metadataOf(device), { name: 'coin 1000' })
})

test('a note makes a file of the date of the transaction, but of none that is still to come', async t => {
  const device = await openHistory(makeSyncStore())
  const now = device.clock.now() / 1000
  await device.table.applyReports([
    outgoing('past', { date: now - 100 }),
    outgoing('future', { date: now + 100 })
  ])
  for (const txid of ['past', 'future'])
    await device.table.saveMetadata({ txid, tokenId: null }, { name: 'Joe' })
  const dates = await Promise.all(
    [`${now - 100}-${device.hashOf('past')}`, `${now}-${device.hashOf('future')}`].map(
      async name => (await device.json(`transaction/${name}.json`)) as { creationDate: number } | null
    )
  )
  t.deepEqual(
    dates.map(file => file?.creationDate),
    [now - 100, now]
  )
})

test('what another client notes without reading the legacy file is laid over it, until it is edited here', async t => {
  const store = makeSyncStore()
  put(store, { 'Transactions/x.json': LEGACY })
  const device = await open(store)
  await device.table.applyReports([incoming('a')])
  const path = `transaction/1400000000-${device.hashOf('a')}.json`
  const asset = { metadata: { notes: 'theirs', exchangeAmount: {} } }
  const file = {
    txid: 'a',
    internal: false,
    creationDate: 1_400_000_000,
    currencies: {},
    tokens: { '': asset }
  }
  put(store, { [path]: file })
  await device.sync()
  await device.settled()
  t.like(await metadataOf(device), { name: 'Ann', notes: 'theirs', bizId: 3, amountFiat: 5.25 })
  await device.table.saveMetadata({ txid: 'a', tokenId: null }, { name: null })
  t.like(await device.json(path), { tokens: { '': { metadata: { notes: 'theirs', bizId: 3 } } } })
  const again = await device.again()
  t.false('name' in ((await metadataOf(again)) ?? {}), 'what is deleted then does not come back')
})

test('a legacy file that another device deletes takes its notes along', async t => {
  const store = makeSyncStore()
  put(store, { 'Transactions/x.json': LEGACY })
  const device = await open(store)
  await device.table.applyReports([incoming('a')])
  t.like(await metadataOf(device), { name: 'Ann' })
  store.put({ 'Transactions/x.json': null })
  await device.sync()
  await device.settled()
  t.deepEqual(await metadataOf(device), {})
})

test('of several files for one transaction the oldest wins, the others fill in, and no order of coming changes that', async t => {
  const { hashOf } = await openHistory(makeSyncStore())
  const file = fc.record({
    date: fc.integer({ min: 1, max: 50 }),
    name: fc.constantFrom(undefined, 'A', 'B', 'C'),
    notes: fc.constantFrom(undefined, 'x', 'y'),
    secret: fc.constantFrom(undefined, 's1', 's2')
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(file, { minLength: 2, maxLength: 5, selector: ({ date }) => date }),
      fc.nat({ max: 5 }),
      fc.constantFrom(undefined, null, 'edited'),
      async (files, knownAt, edit) => {
        const store = makeSyncStore()
        const device = await openHistory(store)
        for (const [index, { date, name, notes, secret }] of files.entries()) {
          if (index === knownAt) await device.table.applyReports([outgoing('a')])
          const metadata = {
            ...(name === undefined ? {} : { name }),
            ...(notes === undefined ? {} : { notes })
          }
          const asset = { '': { metadata } }
          put(store, {
            [`transaction/${date}-${hashOf('a')}.json`]: {
              ...{ txid: 'a', internal: true, creationDate: date, currencies: {}, tokens: asset },
              ...(secret === undefined ? {} : { secret })
            }
          })
          await device.sync()
          await device.settled()
        }
        if (knownAt >= files.length) await device.table.applyReports([outgoing('a')])
        const oldest = [...files].sort((a, b) => a.date - b.date)
        const first = <K extends 'name' | 'notes' | 'secret'>(key: K) =>
          oldest.find(found => found[key] !== undefined)?.[key]
        if (edit !== undefined) await device.table.saveMetadata({ txid: 'a', tokenId: null }, { name: edit })
        const name = edit === undefined ? first('name') : (edit ?? undefined)
        for (const shown of [device, await device.again()]) {
          const tx = await shown.table.find('a')
          t.deepEqual(
            [tx?.metadata.name, tx?.metadata.notes, tx?.txSecret],
            [name, first('notes'), first('secret')]
          )
          t.is(tx?.date, oldest[0]?.date)
        }
      }
    ),
    { numRuns: 30 }
  )
})

test('two devices that see a payment at once each write a file, and a note on either is kept on both', async t => {
  const store = makeSyncStore()
  const [first, second] = [await openHistory(store), await openHistory(store)]
  await second.clock.advance(5000)
  await first.table.applyReports([incoming('a')])
  await second.table.applyReports([incoming('a')])
  await second.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: 'written on the later one' })
  for (const device of [second, first, second, first]) await device.sync()
  for (const device of [first, second]) {
    await device.settled()
    t.is((await device.repo.list('transaction')).length, 2)
    t.deepEqual(await metadataOf(device), { notes: 'written on the later one' })
  }
  await first.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: null })
  for (const device of [first, second]) await device.sync()
  await second.settled()
  t.deepEqual([await metadataOf(first), await metadataOf(second)], [{}, {}])
})

test('a file that cannot be read is reported and kept, its note cannot be edited, and the listing goes on', async t => {
  const store = makeSyncStore()
  const { hashOf } = await openHistory(makeSyncStore())
  const path = `transaction/1600000000-${hashOf('a')}.json`
  put(store, { [path]: { txid: 'a', form: 'of another age' } })
  const device = await open(store)
  await device.table.applyReports([outgoing('a'), outgoing('b')])
  t.is(device.reports.length, 1)
  t.deepEqual([await metadataOf(device), (await device.table.find('a'))?.date], [{}, 1_600_000_000])
  await t.throwsAsync(device.table.saveMetadata({ txid: 'a', tokenId: null }, { name: 'x' }), {
    code: 'CORRUPT_FILE'
  })
  t.deepEqual(await device.json(path), { txid: 'a', form: 'of another age' })
  await t.throwsAsync(device.table.saveMetadata({ txid: 'nope', tokenId: null }, {}), {
    code: 'TX_NOT_FOUND'
  })
})

test('a file with odd swaps, payees and dates neither breaks a search nor hides a transaction', async t => {
  const store = makeSyncStore()
  const { hashOf } = await openHistory(makeSyncStore())
  const file = { txid: 'a', internal: true, creationDate: 1_600_000_000, currencies: {} }
  const tokens = { '': { metadata: { name: 'Bob' } } }
  const payee = { address: 'dest', amount: '700', currency: 'TOY' }
  const oddities: Readonly<Record<string, unknown>>[] = [
    { tokens, swap: { ...OLD.swap, plugin: {} } },
    { tokens, swap: { ...OLD.swap, orderId: 5 } },
    {
      tokens,
      payees: [
        { ...payee, tag: null },
        { ...payee, tag: 5 }
      ]
    },
    { tokens, payees: [payee, { ...payee, amount: 'many' }] }
  ]
  const txids = oddities.map((_, index) => `odd-${index}`)
  put(
    store,
    Object.fromEntries(
      oddities.map((odd, index) => [
        `transaction/1600000000-${hashOf(`odd-${index}`)}.json`,
        { ...file, txid: `odd-${index}`, ...odd }
      ])
    )
  )
  for (const [txid, creationDate] of [
    ['late', 1e300],
    ['early', -Number.MAX_VALUE]
  ] as const)
    put(store, { [`transaction/1600000000-${hashOf(txid)}.json`]: { ...file, txid, creationDate } })
  const device = await open(store)
  await device.table.search('warm')
  await device.table.applyReports([...txids, 'late', 'early'].map(txid => outgoing(txid)))
  const found = await device.table.search('bob')
  t.deepEqual(found.sort(), txids.map(hashOf).sort())
  const targets = await Promise.all(txids.map(async txid => (await device.table.find(txid))?.spendTargets))
  const shown = { publicAddress: 'dest', nativeAmount: '700', currencyCode: 'TOY' }
  t.deepEqual(targets.slice(2) as unknown, [[shown, shown], [shown]])
  const list = await device.table.list(null)
  t.is((await list.page(0, 10)).length, 6)
  for (const txid of ['late', 'early']) t.is((await device.table.find(txid))?.date, 1_600_000_000)
  await device.table.saveMetadata({ txid: 'odd-0', tokenId: null }, { notes: 'kept' })
  t.is((await device.table.find('odd-0'))?.metadata.name, 'Bob')
})

test('a note on a transaction dated before 1970 is found again', async t => {
  const device = await openHistory(makeSyncStore())
  const old = outgoing('a', { date: -5 })
  await device.table.applyReports([old])
  await device.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: 'old' })
  await device.table.clear()
  await device.table.applyReports([old])
  t.like(await device.table.find('a'), { date: -5, metadata: { notes: 'old' } })
})

test('an edit keeps the fields that another version wrote into a file in its own form', async t => {
  const store = makeSyncStore()
  const { hashOf } = await openHistory(makeSyncStore())
  const path = `transaction/1600000000-${hashOf('a')}.json`
  const file = {
    txid: 'a',
    internal: true,
    creationDate: 1_600_000_000,
    currencies: { USD: { metadata: { name: 'dollar', behaviour: 'bad' } } },
    tokens: {
      '': { metadata: { behaviour: 'good', bizId: 'x7' }, nativeAmount: '5', assetAction: { a: 1 } }
    },
    payees: [{ address: 'dest', amount: '700', currency: 'TOY', extra: 1 }, { toName: 'x' }],
    swap: { plugin: {}, orderId: 5 },
    feeRateRequested: 'turbo',
    deviceDescription: { a: 1 },
    ofTomorrow: null
  }
  put(store, { [path]: file })
  const device = await open(store)
  await device.table.applyReports([outgoing('a')])
  await device.table.saveMetadata({ txid: 'a', tokenId: null }, { notes: 'n' })
  t.deepEqual(await metadataOf(device), { notes: 'n' })
  const coin = {
    ...file.tokens[''],
    metadata: { ...file.tokens[''].metadata, notes: 'n', exchangeAmount: {} }
  }
  t.deepEqual(await device.json(path), { ...file, tokens: { '': coin } })
})
