import { compact } from '../../../kernel/base/compact.ts'
import type { Account, JsonObject, KeptFileListing } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { localTime } from '../../output/texts.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { findWallets } from '../../session/find-wallets.ts'
import { refreshedAccount, upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Lists the versions of files that were deleted, replaced or damaged in the last 30 days, or restores some of them. */
export const dataRecover: CommandRun = async (session, ...texts) => {
  const ids = texts.filter(text => text !== undefined)
  const isAll = session.isOn('all')
  if (isAll && ids.length > 0) throw new CliError('USAGE', 'Use either --all or the ids of files')
  const { account, warnings } = await refreshedAccount(session)
  const wallets = await findWallets(session, [])
  const kept = await account.keptFiles.list()
  if (ids.length > 0 || isAll)
    return bringBack(session, account, { chosen: choose(kept, ids, isAll), warnings })
  const nameOf = ({ walletId }: KeptFileListing): string =>
    walletId === undefined ? 'account' : (wallets.find(({ id }) => id === walletId)?.name ?? walletId)
  return {
    data: { files: kept.map(keptJson) },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'ID' },
        { title: 'OF', canShrink: true },
        { title: 'WHAT' },
        { title: 'ABOUT', canShrink: true },
        { title: 'WAS' },
        { title: 'WHEN' }
      ],
      rows: kept.map(file => [
        file.id,
        nameOf(file),
        file.kind,
        file.title ?? '',
        { text: file.canRestore ? file.reason : 'unreadable', tone: file.canRestore ? 'warn' : 'bad' },
        localTime(new Date(file.keptAt))
      ]),
      empty: 'Nothing was deleted or replaced on this device in the last 30 days.'
    },
    ...compact({ advice: kept.length === 0 ? undefined : ['holdfast data recover <id> restores a file.'] })
  }
}

/**
 * Returns the named versions; with `--all` the newest version of each deleted file, since a replaced one has a newer
 * text.
 */
const choose = (
  kept: readonly KeptFileListing[],
  ids: readonly string[],
  isAll: boolean
): readonly KeptFileListing[] => {
  if (!isAll) {
    return ids.map(id => {
      const found = kept.find(file => file.id === id)
      if (found !== undefined) return found
      throw new CliError('NOT_FOUND', `Nothing is kept under ${id}`, {
        next: [{ command: 'holdfast data recover', why: 'see the files that can be restored' }]
      })
    })
  }
  const paths = new Set<string>()
  return kept.filter(({ reason, canRestore, repoId, path }) => {
    const place = `${repoId} ${path}`
    if (reason !== 'deleted' || !canRestore || paths.has(place)) return false
    paths.add(place)
    return true
  })
}

interface Chosen {
  readonly chosen: readonly KeptFileListing[]
  readonly warnings: readonly string[]
}

const bringBack = async (
  session: Session,
  account: Account,
  { chosen, warnings }: Chosen
): ReturnType<CommandRun> => {
  const files = chosen.map(keptJson)
  const count =
    chosen.length === 1
      ? `the ${chosen[0]?.kind ?? 'file'} ${chosen[0]?.title ?? chosen[0]?.path}`
      : `${chosen.length} files`
  if (session.globals.dryRun || chosen.length === 0) {
    const line =
      chosen.length === 0 ? 'There is nothing to restore' : `Nothing was changed; without --dry-run: ${count}`
    return { data: { files, dryRun: true }, warnings, view: { kind: 'text', lines: [line] } }
  }
  const question = `Restore ${count}, on every device? The current versions are kept for 30 days.`
  await confirm(session, { question, summary: { files } })
  for (const { id } of chosen) await account.keptFiles.restore(id)
  return {
    data: { files },
    warnings: [...warnings, ...(await upload(session))],
    view: { kind: 'text', lines: [`Brought back: ${count}`] }
  }
}

const keptJson = (file: KeptFileListing): JsonObject => ({
  id: file.id,
  walletId: file.walletId ?? null,
  path: file.path,
  kind: file.kind,
  title: file.title ?? null,
  reason: file.reason,
  keptAt: new Date(file.keptAt).toISOString(),
  canRestore: file.canRestore
})
