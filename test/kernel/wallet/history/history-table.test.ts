import test from 'ava'
import type { MetadataChange } from '../../../../kernel/types/transaction.ts'
import { mergeMetadata } from '../../../../kernel/wallet/history/metadata.ts'
import { newTransactionFile, withMetadata } from '../../../../kernel/wallet/history/transaction-file.ts'
import { listTransactions } from '../../../../kernel/wallet/history/transaction-list.ts'
import { type HistoryDevice, incoming, openHistory, outgoing } from '../../../helpers/history-device.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

const idsOf = async ({ table }: HistoryDevice): Promise<string[]> =>
  (await listTransactions(table, {})).map(({ txid }) => txid)

const note = async ({ table }: HistoryDevice, txid: string, change: MetadataChange): Promise<void> => {
  const tx = await table.find(txid)
  if (tx === undefined) throw new Error('unknown')
  await table.editFile(txid, file =>
    withMetadata(
      file ?? newTransactionFile(tx, table.creationDateOf(tx.date)),
      table.assetName(null),
      metadata => mergeMetadata(metadata, change)
    )
  )
}

test('what an engine reports is listed newest first, and is there again after a power cut', async t => {
  const device = await openHistory(makeSyncStore())
  const taken = await device.table.take([
    incoming('a', { date: 1_700_000_000 }),
    outgoing('b', { date: 1_700_000_900 }),
    incoming('c', { date: 1_700_000_500 })
  ])
  t.deepEqual([taken.created, taken.changed], [['a', 'c'], ['b']])
  t.deepEqual(await idsOf(device), ['b', 'c', 'a'])
  t.deepEqual((await device.repo.list('transaction')).length, 2)
  const again = await device.again()
  t.deepEqual(await idsOf(again), ['b', 'c', 'a'])
  const same = await again.table.take([incoming('a', { date: 1_700_000_000 })])
  t.deepEqual([same.created, same.changed], [[], []])
  await note(again, 'a', { name: 'Ann' })
  const third = await again.again()
  t.is((await third.table.find('a'))?.metadata.name, 'Ann')
  t.deepEqual(third.reports, [])
})
