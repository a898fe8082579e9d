import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { check } from '../../section.ts'
import { txidOf } from '../bench-coin.ts'
import type { Work, WorkContext } from '../job.ts'

/**
 * Changes a large history a little. Steps `edit`: one note, ours durable; `arrive`: ten more transactions; of ours,
 * `sync` too: some bytes appended to a file and made durable, which is the least that an edit could cost.
 */
export const change: Work = async ({ device, user, folder, step, stepUntil }) => {
  const count = user.transactionCount
  const isOwn = folder !== undefined
  const account = await device.loginWithKey()
  // Its engine is started, too.
  check((await account.openAllWallets()) === user.walletCount, 'how many wallets are usable')
  const wallet = await account.openFirstWallet()
  // The peer knows a transaction only after it has listed it.
  check((await wallet.page(0, 20)).length === 20, 'the first page')
  await device.goOffline()
  if (isOwn) await bareSyncs(folder, step)
  for (let i = 0; i < (isOwn ? EDITS : 3); i++) {
    const start = Math.floor((count * (i + 1)) / (EDITS + 1))
    const txid = txidOf(count - 1 - start)
    await step('edit', () => wallet.setNote(txid, `a new note ${i}`))
    const [edited] = isOwn ? await wallet.page(start, 1) : []
    check(!isOwn || (edited?.txid === txid && edited.metadata?.notes === `a new note ${i}`), 'an edited note')
  }
  for (let round = 0; round < (isOwn ? 5 : 2); round++) {
    const known = count + round * TEN
    await stepUntil('arrive', wallet.arrival(known, known + TEN))
    const [newest] = await wallet.page(0, 1)
    check(newest?.txid === txidOf(known + TEN - 1), 'the newest of ten more')
  }
}

const EDITS = 11
const TEN = 10

const bareSyncs = async (folder: string, step: WorkContext['step']): Promise<void> => {
  const file = await open(join(folder, '..', 'bare'), 'a')
  try {
    for (let i = 0; i < EDITS; i++) {
      await step('sync', async () => {
        await file.appendFile('x'.repeat(700))
        await file.datasync()
      })
    }
  } finally {
    await file.close()
  }
}
