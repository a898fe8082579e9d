import type { MetadataChange } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { metadataJson } from '../output/facts.ts'
import { findWallet } from '../session/find-wallet.ts'
import type { Session } from '../session.ts'

/** Writes the name, category and notes of a transaction, on all devices. */
export const txLabel: CommandRun = async (session, text = '', txid = '') => {
  const change = changeOf(session)
  const wallet = await findWallet(session, text)
  await session.synced(wallet)
  const before = await wallet.getTransaction(txid)
  if (!session.globals.dryRun) {
    await wallet.saveTxMetadata(txid, change)
    if (!session.globals.offline) await session.within('Syncing', () => wallet.sync())
  }
  const after = await wallet.getTransaction(txid)
  const { metadata } = after
  return {
    data: {
      txid,
      before: metadataJson(before),
      metadata: metadataJson(after),
      dryRun: session.globals.dryRun
    },
    view: {
      kind: 'record',
      fields: [
        ['txid', txid],
        ['name', metadata.name ?? ''],
        ['category', metadata.category ?? ''],
        ['notes', metadata.notes ?? '']
      ]
    }
  }
}

const FIELDS = ['name', 'category', 'notes'] as const

const changeOf = (session: Session): MetadataChange => {
  const cleared = new Set(session.texts('clear'))
  const change: Record<string, string | null> = {}
  for (const field of FIELDS) {
    const text = session.text(field)
    if (text !== undefined && cleared.has(field)) {
      throw new CliError('USAGE', `--${field} and --clear ${field} do not go together`)
    }
    if (text !== undefined) change[field] = text
    if (cleared.has(field)) change[field] = null
  }
  if (Object.keys(change).length > 0) return change
  throw new CliError('USAGE', 'Say what to write: --name, --category, --notes or --clear')
}
