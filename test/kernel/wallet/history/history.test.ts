import test from 'ava'
import { nativeAmount } from '../../../../kernel/base/amount.ts'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { storeDisk } from '../../../../kernel/store/store-disk.ts'
import type { EngineTransaction } from '../../../../kernel/types/transaction.ts'
import { listTransactions, streamTransactions } from '../../../../kernel/wallet/history/list.ts'
import { STATE_KEY } from '../../../../kernel/wallet/history/rows.ts'
import { SEARCH_FORM } from '../../../../kernel/wallet/history/search.ts'
import { bodiesIn, damageValue } from '../../../helpers/damaged-log.ts'
import { passWalletError } from '../../../helpers/drawn-runs.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { type HistoryDevice, incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { makePluginStore } from '../../../helpers/plugin-store.ts'
import { deleteFile } from '../../../helpers/repo-texts.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

const idsOf = async ({ table }: HistoryDevice): Promise<string[]> =>
  (await listTransactions(table, {})).map(({ txid }) => txid)

const note = ({ table }: HistoryDevice, txid: string, notes: string): Promise<void> =>
  table.saveMetadata({ txid, tokenId: null }, { notes })

test('reported transactions are listed newest first, also after a power cut and after a close', async t => {
  const device = await openHistory(makeSyncStore())
  const reports = [
    incoming('a', { date: 1_700_000_000 }),
    outgoing('b', { date: 1_700_000_900 }),
    incoming('c', { date: 1_700_000_500 })
  ]
  await device.table.applyReports(reports)
  await note(device, 'b', 'rent')
  let next = device
  for (const isClosed of [false, true, false]) {
    t.deepEqual(await idsOf(next), ['b', 'c', 'a'])
    t.is((await next.table.find('b'))?.metadata.notes, 'rent')
    t.deepEqual(await next.table.applyReports(reports).then(({ created, changed }) => [created, changed]), [
      [],
      []
    ])
    next = await next.again({ isClosed })
  }
  t.deepEqual(next.reports, [])
})

test('unknown incoming transactions get a file each, dated now, and are reported as new once [4.11]', async t => {
  const device = await openHistory(makeSyncStore())
  const first = await device.table.applyReports([incoming('in-1'), incoming('in-2'), outgoing('out')])
  t.deepEqual([first.created, first.changed], [['in-1', 'in-2'], ['out']])
  const now = device.clock.now() / 1000
  t.deepEqual(
    await device.repo.list('transaction'),
    ['in-1', 'in-2'].map(txid => `transaction/${now}-${device.hashOf(txid)}.json`).sort()
  )
  t.like(await device.json(`transaction/${now}-${device.hashOf('in-1')}.json`), {
    txid: 'in-1',
    internal: false,
    creationDate: now
  })
  const again = await device.again()
  const second = await again.table.applyReports([
    incoming('in-1'),
    incoming('in-2', { blockHeight: 5 }),
    incoming('in-3')
  ])
  t.deepEqual([second.created, second.changed], [['in-3'], ['in-2']])
  t.is((await again.repo.list('transaction')).length, 3)
})

test('the fiat amount that an engine reports on an incoming payment is kept, in the file and after a restart', async t => {
  const device = await openHistory(makeSyncStore())
  const fiatCode = device.table.options.fiatCode()
  await device.table.applyReports([
    incoming('a', { metadata: { name: 'Shop', amountFiat: 12.5 } }),
    incoming('b', { metadata: { amountFiat: 7, exchangeAmount: { 'iso:XYZ': 3, [fiatCode]: 1 } } }),
    incoming('c', { metadata: { amountFiat: Number.NaN, notes: 'x' } })
  ])
  for (const next of [device, await device.again()]) {
    t.like((await next.table.find('a'))?.metadata, { name: 'Shop', amountFiat: 12.5 })
    t.deepEqual((await next.table.find('b'))?.metadata.exchangeAmount, { 'iso:XYZ': 3, [fiatCode]: 7 })
    t.deepEqual((await next.table.find('c'))?.metadata, { notes: 'x' })
  }
  const now = device.clock.now() / 1000
  const file = await device.json(`transaction/${now}-${device.hashOf('a')}.json`)
  t.like(file, { tokens: { '': { metadata: { name: 'Shop', exchangeAmount: { [fiatCode]: 12.5 } } } } })
})

test('a transaction whose file came from another device is not reported as new, and has its note from the start', async t => {
  const store = makeSyncStore()
  const [first, second] = [await openHistory(store), await openHistory(store)]
  await first.table.applyReports([incoming('a')])
  await note(first, 'a', 'salary')
  await first.sync()
  await second.sync()
  await second.settled()
  t.deepEqual(await idsOf(second), [], 'a file alone is no transaction')
  const taken = await second.table.applyReports([incoming('a')])
  t.deepEqual([taken.created, taken.changed], [[], ['a']])
  t.is((await second.table.find('a'))?.metadata.notes, 'salary')
  t.is((await second.repo.list('transaction')).length, 1)

  await note(first, 'a', 'bonus')
  await first.sync()
  await second.sync()
  await second.settled()
  t.is((await second.table.find('a'))?.metadata.notes, 'bonus')
  t.deepEqual(second.reported, ['a'])
})

test('files that a sync brought before a power cut are applied afterwards, and deleted ones are gone', async t => {
  const store = makeSyncStore()
  const [first, second] = [await openHistory(store), await openHistory(store)]
  await first.table.applyReports([incoming('a'), incoming('b')])
  await note(first, 'a', 'one')
  await first.sync()
  await second.sync()
  await second.settled()
  await second.table.applyReports([incoming('a'), incoming('b')])
  await note(first, 'a', 'two')
  const [path = ''] = (await first.repo.list('transaction')).filter(name => name.includes(first.hashOf('b')))
  await note(first, 'b', 'soon gone')
  await deleteFile(first.repo, path)
  await first.sync()
  await second.sync()
  const again = await second.again()
  t.is((await again.table.find('a'))?.metadata.notes, 'two')
  t.deepEqual((await again.table.find('b'))?.metadata, {})
})

test('a checkpoint is given to the next engine, as long as every row that it stands for is there', async t => {
  const device = await openHistory(makeSyncStore())
  t.is(await device.table.checkpoint(), undefined)
  await device.table.applyReports([incoming('a'), incoming('b')], '2')
  const again = await device.again()
  t.is(await again.table.checkpoint(), '2')

  const rows = new Map([[`t/1/${again.hashOf('a')}`, null]])
  await again.repo.local.write(rows)
  const damaged = await again.again()
  t.is(await damaged.table.checkpoint(), undefined, 'a row was lost with a part of the disk')
  t.deepEqual(await idsOf(damaged), ['b'], 'what is there is shown meanwhile')
  await damaged.table.applyReports([incoming('a'), incoming('b')])
  t.deepEqual((await idsOf(damaged)).sort(), ['a', 'b'])
})

test('after damage the history of a token is rebuilt, too', async t => {
  const device = await openHistory(makeSyncStore(), { tokens: { usd: 'USD' } })
  const reports = ['a', 'b'].map(txid => incoming(txid, { tokenId: 'usd' }))
  const idsIn = async ({ table }: HistoryDevice): Promise<string[]> =>
    (await listTransactions(table, { tokenId: 'usd' })).map(({ txid }) => txid).sort()
  await device.table.applyReports(reports)
  await device.table.applyReports([], '2')
  // A part of the disk that held this row only.
  await device.repo.local.write(new Map([[`t/1.usd/${device.hashOf('a')}`, null]]))
  await device.repo.forgetServer()
  const again = await device.again()
  t.is(await again.table.checkpoint(), undefined)
  await again.table.applyReports(reports)
  t.deepEqual(await idsIn(again), ['a', 'b'])
  await again.table.applyReports([], '2')
  const third = await again.again()
  t.is(await third.table.checkpoint(), '2', 'the same damage counts once')
  t.deepEqual(await idsIn(third), ['a', 'b'])
})

/** Makes two lots of reports, and damages the part of the disk that holds the second one. */
const withDamage = async (older: readonly EngineTransaction[], newer: readonly EngineTransaction[]) => {
  const device = await openHistory(makeSyncStore(), { tokens: { usd: 'USD' } })
  await device.table.applyReports(older)
  const kept = new Set(bodiesIn(device.files).map(({ key }) => key))
  await device.table.applyReports(newer)
  await device.table.close()
  await device.repo.close()
  const lost = bodiesIn(device.files).filter(({ key }) => !kept.has(key))
  if (kept.size === 0 || lost.length === 0) throw new Error('Each lot should have a block')
  for (const value of lost) damageValue(device.files, value)
  return device
}

/** So long, all together, that no block has rows of two lots. */
const reportsFrom = (start: number, count: number, size: number): EngineTransaction[] =>
  Array.from({ length: count }, (_, index) =>
    outgoing(`tx${start + index}`, {
      ...{ date: start + index, tokenId: 'usd', parentNetworkFee: nativeAmount('1') },
      signedTx: 'f'.repeat(size)
    })
  )

test('what stands behind a damaged part of the disk is listed', async t => {
  const device = await withDamage(reportsFrom(1000, 400, 1000), reportsFrom(2000, 400, 1000))
  for (const tokenId of [null, 'usd']) {
    const { table } = await device.again()
    const dates: number[] = []
    for await (const batch of streamTransactions(table, { tokenId })) dates.push(...batch.map(tx => tx.date))
    const expected = Array.from({ length: 400 }, (_, index) => 1399 - index)
    t.deepEqual(dates, expected)
  }
})

test('wherever a crash or a full disk ends the new beginning after damage, what can be read is listed at the next opening', async t => {
  const device = await withDamage(reportsFrom(1000, 400, 1000), reportsFrom(2000, 400, 1000))
  // It finds the damage, and notes it.
  const first = await device.again()
  for await (const _ of streamTransactions(first.table, {}));
  await first.table.close()
  await first.repo.close()
  const noted = new Map(first.files)
  const whole = makeFaultDisk(new Map(noted))
  const opened = await device.again({ files: new Map(noted), disk: whole })
  t.is((await idsOf(opened)).length, 400)
  let fired = 0
  for (const kind of ['full', 'late', 'lost'] as const) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = new Map(noted)
      const disk = makeFaultDisk(files, { at, kind })
      const failing = await device.again({ files, disk }).catch(passWalletError)
      if (failing !== undefined) await idsOf(failing).catch(passWalletError)
      fired += Number(disk.hasFired)
      const next = await device.again({ files: new Map(files) })
      t.is((await idsOf(next)).length, 400, `${kind} at write ${at}`)
    }
  }
  t.true(fired > 0)
})

test('rows that are no longer in use are deleted also behind a damaged part of the disk', async t => {
  const device = await withDamage(reportsFrom(1000, 400, 1000), reportsFrom(2000, 6000, 0))
  const { repo, table } = await device.again()
  await table.clear()
  for (let turn = 0; turn < 9; turn += 1) await table.idle()
  t.is(await repo.local.table('t/1/').get(device.hashOf('tx1000')), undefined)
  t.false(await repo.local.table('t/1.usd/').has(device.hashOf('tx1000')))
})

test('a history that is missing, damaged or of another version is rebuilt from the files and the engine', async t => {
  for (const state of [null, '{"version":1,', '{"version":0,"generation":1}', '{"generation":"x"}', '[]']) {
    const device = await openHistory(makeSyncStore())
    await device.table.applyReports([incoming('a'), outgoing('b')])
    await note(device, 'a', 'kept')
    await device.table.applyReports([], '2')
    await device.repo.local.write(new Map([[STATE_KEY, state]]))
    const again = await device.again()
    t.is(await again.table.checkpoint(), undefined, String(state))
    // Rows of another version may mean something else.
    const isOfAnother = state?.includes('"version":0') === true
    t.deepEqual((await idsOf(again)).sort(), isOfAnother ? [] : ['a', 'b'], String(state))
    const { created } = await again.table.applyReports([incoming('a'), outgoing('b')])
    t.deepEqual(created, [])
    t.is((await again.table.find('a'))?.metadata.notes, 'kept', String(state))
    t.deepEqual(again.reports, [])
  }
})

test('a resync drops the transactions and the checkpoint of the engine; notes are back after the new report', async t => {
  const device = await openHistory(makeSyncStore())
  await device.table.applyReports([incoming('a'), incoming('b'), outgoing('c')])
  await note(device, 'c', 'rent')
  await device.table.applyReports([], '3')
  await device.table.clear()
  t.deepEqual([await idsOf(device), await device.table.checkpoint()], [[], undefined])
  t.is((await device.repo.list('transaction')).length, 3)
  const { created } = await device.table.applyReports([outgoing('c'), incoming('a')])
  t.deepEqual(created, [])
  t.deepEqual((await idsOf(device)).sort(), ['a', 'c'])
  t.is((await device.table.find('c'))?.metadata.notes, 'rent')
  t.is((await (await device.again()).table.find('c'))?.metadata.notes, 'rent')

  await device.table.close()
  t.deepEqual(await device.repo.local.table('t/1/').page(0, 9), [], 'nothing of the old rows is left')
})

test('a transaction that does not fit on the disk is reported and shown, and is durable with the next successful write', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const device = await openHistory(makeSyncStore(), { disk, files })
  await device.table.applyReports([outgoing('old', { date: 1 })])
  disk.strike({ at: 1, kind: 'full' })
  const { created } = await device.table.applyReports([incoming('new')], '1')
  t.true(disk.hasFired)
  t.deepEqual(created, ['new'])
  t.true(isWalletError(device.reports[0], 'STORAGE_FULL'))
  t.deepEqual(await idsOf(device), ['new', 'old'])
  t.deepEqual((await listTransactions(device.table, { searchString: 'NEW' })).length, 1)
  const crashed = await openHistory(makeSyncStore(), { disk: makeFaultDisk(new Map(files)) })
  t.is(await crashed.table.checkpoint(), undefined, 'what is not durable was not seen')
  t.deepEqual([await idsOf(crashed), crashed.reports], [['old'], []])

  await note(device, 'new', 'salary')
  await device.table.applyReports([], '2')
  const again = await openHistory(makeSyncStore(), { disk: makeFaultDisk(new Map(files)) })
  t.deepEqual(await idsOf(again), ['new', 'old'])
  t.is((await again.table.find('new'))?.metadata.notes, 'salary')
  t.is((await again.repo.list('transaction')).length, 1)
  t.is(await again.table.checkpoint(), '2')
})

test('a payment that comes while the storage can be neither read nor written fails, and is there with the next report', async t => {
  const medium = makePluginStore()
  const sync = makeSyncStore()
  const open = async (): Promise<HistoryDevice> => openHistory(sync, { disk: storeDisk(medium) })
  const first = await open()
  await first.table.applyReports([incoming('old')], '1')
  await first.sync()
  await first.repo.close()
  for (const isRead of [false, true]) {
    const device = await open()
    if (isRead) await device.table.find('old')
    medium.isDown = true
    const txid = `new, ${isRead}`
    await device.table.applyReports([incoming(txid)], '2').catch((error: unknown) => {
      t.true(isWalletError(error, 'STORAGE_FAILED'), 'then no checkpoint counts it')
    })
    medium.isDown = false
    await device.table.applyReports([incoming(`other, ${isRead}`)])
    t.not(await device.table.find(txid), undefined)
    t.is(device.repo.pendingCount, 2)
    await device.sync()
    await device.repo.close()
    const again = await open()
    t.not(await again.table.find(txid), undefined)
    t.false(await again.table.isPartial())
    await again.repo.close()
  }
})

test('a report that waits for the storage is forgotten with the others before a resync', async t => {
  const medium = makePluginStore()
  const sync = makeSyncStore()
  const first = await openHistory(sync, { disk: storeDisk(medium) })
  await first.table.applyReports([incoming('old')])
  await first.repo.close()
  // Nothing of its tables was read yet.
  const device = await openHistory(sync, { disk: storeDisk(medium) })
  medium.isDown = true
  await t.throwsAsync(device.table.applyReports([incoming('waiting')]), { code: 'STORAGE_FAILED' })
  medium.isDown = false
  await device.table.clear()
  await device.table.applyReports([incoming('new')])
  t.deepEqual(await idsOf(device), ['new'])
})

test('a synced note that does not fit on the disk is shown, and is durable with the next successful write', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const here = await openHistory(store, { disk, files })
  await here.table.applyReports([outgoing('a')])
  const other = await openHistory(store)
  await other.table.applyReports([outgoing('a')])
  await note(other, 'a', 'theirs')
  await other.sync()

  disk.strike({ at: 2, kind: 'full' })
  await here.sync()
  await here.settled()
  t.true(disk.hasFired)
  t.true(isWalletError(here.reports[0], 'STORAGE_FULL'))
  t.is((await here.table.find('a'))?.metadata.notes, 'theirs')

  await here.table.applyReports([outgoing('b')])
  const again = await openHistory(makeSyncStore(), { disk: makeFaultDisk(new Map(files)) })
  t.is((await again.table.find('a'))?.metadata.notes, 'theirs')
})

test('a file that is deleted while the disk is full does not apply to later reports', async t => {
  const store = makeSyncStore()
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const here = await openHistory(store, { disk, files })
  const other = await openHistory(store)
  await other.table.applyReports([incoming('a')])
  await other.sync()
  await here.sync()
  await here.settled()
  const [path = ''] = await other.repo.list('transaction')
  await deleteFile(other.repo, path)
  await other.sync()

  disk.strike({ at: 2, kind: 'full' })
  await here.sync()
  await here.settled()
  t.true(disk.hasFired)
  t.true(isWalletError(here.reports[0], 'STORAGE_FULL'))
  t.deepEqual(await here.repo.list('transaction'), [])
  const { created } = await here.table.applyReports([incoming('a')])
  t.deepEqual(created, ['a'])
  t.is((await here.repo.list('transaction')).length, 1)
  t.is((await here.table.find('a'))?.date, incoming('a').date)
})

test('a transaction that cannot be kept is refused as bogus, and the others of its batch count', async t => {
  const { table, reports } = await openHistory(makeSyncStore())
  const ring: Record<string, unknown> = {}
  ring.ring = ring
  await table.applyReports([
    incoming('a'),
    incoming('b', { otherParams: ring as never }),
    incoming('c', { otherParams: { n: 1n } as never }),
    incoming('d', { tokenId: '\ud800' }),
    incoming('\ud800'),
    incoming('e', { signedTx: 'f'.repeat(4_000_001) }),
    incoming('f')
  ])
  t.deepEqual(
    reports.map(error => isWalletError(error, 'BOGUS_TX')),
    [true, true, true, true, true]
  )
  t.deepEqual((await listTransactions(table, {})).map(({ txid }) => txid).sort(), ['a', 'f'])
})

test('a sync uploads at most 100 files a pass, and a stream hands out batches of 10 [9.14]', async t => {
  const store = makeSyncStore()
  const device = await openHistory(store)
  await device.table.applyReports(
    Array.from({ length: 250 }, (_, index) => incoming(`tx${index}`, { date: index }))
  )
  for (let sync = 0; device.repo.pendingCount > 0 && sync < 9; sync++) await device.sync()
  const uploads = store.calls.filter(({ method }) => method === 'POST').map(({ paths }) => paths.length)
  t.deepEqual(uploads, [100, 100, 50])
  const sizes = new Set<number>()
  for await (const batch of streamTransactions(device.table, {})) sizes.add(batch.length)
  t.deepEqual([...sizes], [10])
})

test('the text of a search follows notes and the fiat currency of the wallet', async t => {
  const device = await openHistory(makeSyncStore())
  await device.table.applyReports([outgoing('a'), outgoing('b')])
  await device.table.saveMetadata(
    { txid: 'a', tokenId: null },
    { exchangeAmount: { 'iso:USD': 7171, 'iso:EUR': 8282 } }
  )
  const found = async (searchString: string): Promise<number> =>
    (await listTransactions(device.table, { searchString })).length
  t.deepEqual([await found('7171'), await found('8282')], [1, 0])
  device.settings.fiatCode = 'iso:EUR'
  t.deepEqual([await found('7171'), await found('8282')], [0, 1])
  await device.table.saveMetadata({ txid: 'b', tokenId: null }, { name: 'Zoe' })
  t.is(await found('zoe'), 1)
  await device.table.saveMetadata({ txid: 'b', tokenId: null }, { name: null })
  t.is(await found('zoe'), 0)
})

test('a note that a sync brings to a file of our own while the wallet closes is shown when it opens again', async t => {
  const store = makeSyncStore()
  const [here, other] = [await openHistory(store), await openHistory(store)]
  await here.table.applyReports([incoming('a')])
  await here.sync()
  await other.sync()
  await other.settled()
  await other.table.applyReports([incoming('a')])
  await note(other, 'a', 'theirs')
  await other.sync()
  // A wallet that closes no longer listens.
  Object.defineProperty(here.table, 'filesChanged', { value: async () => [] })
  await here.sync()
  const again = await here.again({ isClosed: true })
  t.is((await again.table.find('a'))?.metadata.notes, 'theirs')
})

test('the direction that an engine reports counts, whatever the sign of the amount', async t => {
  const { table, repo } = await openHistory(makeSyncStore())
  const reports = [incoming('sent', { isSend: true }), outgoing('came', { isSend: false })]
  const { created, changed } = await table.applyReports(reports)
  t.deepEqual([created, changed], [['came'], ['sent']])
  t.is((await repo.list('transaction')).length, 1, 'only what comes in gets a file')
  t.is((await table.find('sent'))?.isSend, true)
  t.is((await table.find('came'))?.isSend, false)
  await table.applyReports([outgoing('plain')])
  t.is((await table.find('plain'))?.isSend, true)
})

test('an empty token id is the chain’s own coin', async t => {
  const device = await openHistory(makeSyncStore())
  await device.table.applyReports([outgoing('a', { tokenId: '' })])
  t.deepEqual(await idsOf(device), ['a'])
  t.is((await device.table.find('a'))?.tokenId, null)
  const { created, changed } = await device.table.applyReports([outgoing('a')])
  t.deepEqual([created, changed], [[], []], 'the same report is no news')
})

test('a transaction counts as dropped in each form that an engine may report', async t => {
  const { table } = await openHistory(makeSyncStore())
  await table.applyReports([
    outgoing('live'),
    outgoing('dropped', { blockHeight: -1 }),
    outgoing('gone', { confirmations: 'dropped' })
  ])
  const known = await Promise.all(['live', 'dropped', 'gone', 'unknown'].map(txid => table.has(txid)))
  t.deepEqual(known, [true, false, false, false])
})

test('nothing is read or searched once the wallet is closed, also by a stream that was begun before', async t => {
  const { table } = await openHistory(makeSyncStore())
  await table.applyReports(Array.from({ length: 600 }, (_, index) => outgoing(`tx${index}`, { date: index })))
  const streams = ['', 'tx5', 'tx10'].map(searchString =>
    streamTransactions(table, { searchString, batchSize: 1, limit: 90 })
  )
  for (const stream of streams) t.false((await stream.next()).done)
  await table.close()
  for (const stream of streams) await t.throwsAsync(stream.next(), { code: 'LOGGED_OUT' })
  await t.throwsAsync(table.search('tx'), { code: 'LOGGED_OUT' })
})

test('a transaction that leaves a list while the disk is full is not shown there', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const { table } = await openHistory(makeSyncStore(), { disk, files, tokens: { usd: 'USD' } })
  const report = outgoing('a', { tokenId: 'usd' })
  await table.applyReports([outgoing('b'), { ...report, parentNetworkFee: nativeAmount('1') }])
  disk.strike({ at: 1, kind: 'full' })
  await table.applyReports([report])
  const listed = await listTransactions(table, {})
  t.deepEqual(
    listed.map(({ txid }) => txid),
    ['b']
  )
})

test('the text for searches is kept beside each row, and the first search writes it anew for rows of an older version', async t => {
  const device = await openHistory(makeSyncStore(), { tokens: { usd: 'USD' } })
  const { table, repo } = device
  const txids = Array.from({ length: 300 }, (_, index) => `tx${index}`)
  await table.applyReports(
    txids.map(txid => outgoing(txid, { memos: [{ type: 'text', value: `for ${txid}` }] }))
  )
  await table.saveMetadata({ txid: 'tx7', tokenId: null }, { notes: 'A Bicycle' })
  const rows = repo.local.table('t/1/')
  const kept = async (): Promise<Map<string, string | undefined>> => {
    const found = new Map<string, string | undefined>()
    for await (const some of rows.scanSearchTexts(SEARCH_FORM))
      for (const { key, search } of some) found.set(key, search)
    return found
  }
  const before = await kept()
  t.is(before.size, 300)
  t.true(before.get(device.hashOf('tx7'))?.includes('a bicycle'))
  t.true(before.get(device.hashOf('tx8'))?.includes('for tx8'))
  // Some have none, and others one of an older form.
  let isOlder = false
  for await (const some of rows.scan()) {
    const older = isOlder ? { search: '0\0what was searched then' } : {}
    await repo.local.write(new Map(some.map(({ key, ...row }) => [`t/1/${key}`, { ...row, ...older }])))
    isOlder = true
  }
  t.true([...(await kept()).values()].every(search => search === undefined))
  const again = await device.again({ isClosed: true })
  t.is((await listTransactions(again.table, { searchString: 'bicycle' })).length, 1)
  await again.table.idle()
  for await (const some of again.repo.local.table('t/1/').scanSearchTexts(SEARCH_FORM))
    for (const { key, search } of some) t.is(search, before.get(key))
  t.is(await again.repo.local.table('t/1/').count(), 300)
  const [shown] = await listTransactions(again.table, { searchString: 'for tx299' })
  t.is(shown?.txid, 'tx299')
})

/** A device whose first search stops after the first rows until it is released. */
const openStalledSearch = async () => {
  const device = await openHistory(makeSyncStore())
  const reports = Array.from({ length: 300 }, (_, i) =>
    outgoing(`tx${i}`, { memos: [{ type: 'text', value: i === 299 ? 'a bicycle' : 'rent' }] })
  )
  await device.table.applyReports(reports)
  const rows = device.repo.local.table('t/1/')
  const scan = rows.scanSearchTexts.bind(rows)
  let isBegun = false
  let release = (): void => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  async function* stalledScan(form: string) {
    for await (const some of scan(form)) {
      isBegun = true
      await released
      yield some
    }
  }
  Object.assign(rows, { scanSearchTexts: stalledScan })
  const searching = device.table.search('bicycle')
  while (!isBegun) await new Promise(resolve => setImmediate(resolve))
  return { ...device, reports, searching, release }
}

test('a search during which all reports are forgotten answers from what is there afterwards', async t => {
  const { table, reports, searching, release, hashOf } = await openStalledSearch()
  await table.clear()
  await table.applyReports(reports)
  release()
  t.deepEqual(await searching, [hashOf('tx299')])
})

test('a search during a log-out fails, and does not say that there is nothing', async t => {
  const { table, searching, release } = await openStalledSearch()
  const closing = table.close()
  release()
  await t.throwsAsync(searching, { code: 'LOGGED_OUT' })
  await closing
})

test('a text with half a character is found', async t => {
  const device = await openHistory(makeSyncStore())
  await device.table.applyReports([
    outgoing('a', { memos: [{ type: 'text', value: 'odd \ud800' }] }),
    outgoing('b')
  ])
  const again = await device.again({ isClosed: true })
  const found = await listTransactions(again.table, { searchString: 'odd \ud800' })
  t.deepEqual(
    found.map(({ txid }) => txid),
    ['a']
  )
})
