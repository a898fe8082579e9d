import type { CommandRun } from '../command.ts'
import { parseCount } from '../grammar/values.ts'
import { openEventStream } from '../output/event-stream.ts'
import { txJson } from '../output/tx-facts.ts'
import { txLine } from '../output/tx-table.ts'
import { findWallet } from '../session/find-wallet.ts'
import { historyOf, selectionOf } from '../session/history.ts'
import { chosenAsset } from '../session/wallet-assets.ts'

/** Tells the history of a wallet batch by batch, newest first. */
export const txStream: CommandRun = async (session, text = '') => {
  const batchSize = parseCount(session.text('batch') ?? '10', 'batch', [1, MAX_BATCH])
  const first = session.text('firstBatch')
  const firstBatchSize = first === undefined ? batchSize : parseCount(first, 'first batch', [1, MAX_BATCH])
  const selection = selectionOf(session, session.text('search'))
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  const stream = openEventStream(session)
  for await (const batch of historyOf(
    session,
    { wallet, asset },
    { ...selection, batchSize, firstBatchSize }
  )) {
    await stream.emit('tx.batch', { transactions: batch.map(tx => txJson(tx, asset)) })
    if (session.globals.json) continue
    for (const tx of batch) await session.print(txLine(undefined, { asset, tx }))
  }
  await stream.end('done')
  return undefined
}

const MAX_BATCH = 10_000
