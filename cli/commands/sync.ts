import type { Account, CurrencyWallet, RepoStatus } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { syncCell } from '../output/facts.ts'
import { ownerNameOf, repoAdvice, repoCell, repoJson, shortHash } from '../output/repo-facts.ts'
import { syncTargetsOf } from '../session/sync-targets.ts'
import { waitFor } from '../session/wait-for.ts'
import type { Session } from '../session.ts'

/** Exchanges the files of the account and its wallets with the sync server, and looks at the chain. */
export const sync: CommandRun = async (session, ...texts) => {
  const account = await session.account()
  const { wallets } = await syncTargetsOf(session, texts)
  if (wallets.length + texts.length === 0) session.talk.say('This account has no wallet yet.')
  session.talk.step('syncing…')
  await Promise.all(wallets.map(wallet => session.synced(wallet)))
  await session.within('Syncing', () => account.sync())
  if (session.isOn('wait')) await session.within('Uploading', () => untilUploaded(session, account))
  return resultOf(account, wallets)
}

const PAUSE_SECONDS = 0.5

const untilUploaded = async (session: Session, account: Account): Promise<void> => {
  while (account.listRepos().some(({ pendingCount }) => pendingCount > 0)) {
    await waitFor(session.signal, PAUSE_SECONDS)
    session.signal.throwIfAborted()
    await account.sync()
  }
}

const resultOf = (account: Account, wallets: readonly CurrencyWallet[]): CommandResult => {
  const repos = account.listRepos()
  const heightOf = ({ ownerId }: RepoStatus): string => {
    const wallet = wallets.find(({ id }) => id === ownerId)
    return wallet === undefined ? '' : String(wallet.engine.getSnapshot().blockHeight)
  }
  return {
    data: {
      account: account.id,
      wallets: wallets.map(wallet => {
        const { syncRatio, blockHeight } = wallet.engine.getSnapshot()
        return { id: wallet.id, name: wallet.name, ratio: syncRatio, height: blockHeight }
      }),
      repos: repos.map(repoJson)
    },
    ...repoAdvice(repos),
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'HEIGHT', align: 'right' },
        { title: 'SENT', align: 'right' },
        { title: 'RECEIVED', align: 'right' },
        { title: 'BEFORE', canShrink: true },
        { title: 'AFTER', canShrink: true }
      ],
      rows: repos.map(repo => {
        const wallet = wallets.find(({ id }) => id === repo.ownerId)
        const isDone = repo.errorCode === undefined && repo.pendingCount === 0
        return [
          ownerNameOf(repo, wallets),
          wallet !== undefined && isDone ? syncCell(wallet.engine.getSnapshot()) : repoCell(repo),
          heightOf(repo),
          String(repo.sent),
          String(repo.received),
          shortHash(repo.openingHash),
          shortHash(repo.lastHash)
        ]
      }),
      empty: ''
    }
  }
}
