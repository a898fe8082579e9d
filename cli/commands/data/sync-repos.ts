import type { Account, CurrencyWallet, RepoSnapshot, RepoStatus } from '../../../kernel/index.ts'
import { localTime } from '../../output/texts.ts'
import { type CommandResult, cellOf } from '../../output/view.ts'
import {
  lastSyncText,
  ownerNameOf,
  repoAdvice,
  repoCell,
  repoJson,
  shortHash,
  syncCell
} from '../../output/wallet-texts.ts'
import type { CommandRun } from '../../session/command.ts'
import { openEventQueue, openEventStream, sleep } from '../../session/event-stream.ts'
import { findWallets, syncTargetsOf, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'

/** Syncs the files of the account and its wallets, and waits until the wallets have seen their chains. */
export const sync: CommandRun = async (session, ...texts) => {
  const account = await session.account()
  const { wallets } = await syncTargetsOf(session, texts)
  if (wallets.length + texts.length === 0) session.statusLine.info('This account has no wallet yet.')
  session.statusLine.step('syncing…')
  await Promise.all(wallets.map(wallet => session.synced(wallet)))
  await session.withTimeout('Syncing', () => account.sync())
  if (session.isOn('wait') && !account.location.isDeviceOnly)
    await session.withTimeout('Uploading', () => untilUploaded(session, account))
  return resultOf(account, wallets)
}

const PAUSE_SECONDS = 0.5

const untilUploaded = async (session: Session, account: Account): Promise<void> => {
  while (account.listRepos().some(({ pendingCount }) => pendingCount > 0)) {
    await sleep(session.signal, PAUSE_SECONDS)
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
        const isDone =
          repo.errorCode === undefined && repo.pendingCount === 0 && repo.isDeviceOnly === undefined
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

/** Shows the sync progress of each wallet, and what it waits for. */
export const syncStatus: CommandRun = async (session, ...texts) => {
  const wallets = await findWallets(
    session,
    texts.filter(text => text !== undefined)
  )
  const warnings = session.isOn('wait') ? await syncWallets(session, wallets) : []
  await untilSettled(session, wallets)
  return {
    data: {
      wallets: wallets.map(wallet => {
        const { ratio, stage, since, sentence, errorCode = null } = wallet.syncStatus
        const { blockHeight: height } = wallet.engine.getSnapshot()
        const facts = { id: wallet.id, name: wallet.name, ratio, stage, height, sentence }
        return { ...facts, since: new Date(since * 1000).toISOString(), error: errorCode }
      })
    },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'SEEN', align: 'right' },
        { title: 'HEIGHT', align: 'right' },
        { title: 'SINCE' },
        { title: 'IN WORDS', canShrink: true }
      ],
      rows: wallets.map(wallet => {
        const { ratio, stage, since, sentence } = wallet.syncStatus
        return [
          wallet.name ?? wallet.id,
          { text: stage, tone: stage === 'synced' ? 'good' : stage === 'failed' ? 'bad' : 'warn' },
          `${Math.floor(ratio * 100)} %`,
          String(wallet.engine.getSnapshot().blockHeight),
          localTime(new Date(since * 1000)),
          sentence
        ]
      }),
      empty: 'This account has no wallet yet.'
    }
  }
}

const SETTLE_SECONDS = 3
const SETTLE_PAUSE_SECONDS = 0.05

/** Waits a moment until the engines of newly opened wallets have started: their first state means nothing. */
const untilSettled = async (session: Session, wallets: readonly CurrencyWallet[]): Promise<void> => {
  const isBusy = ({ syncStatus: { stage } }: CurrencyWallet): boolean =>
    stage === 'starting' || stage === 'looking'
  for (let waited = 0; waited < SETTLE_SECONDS && wallets.some(isBusy); waited += SETTLE_PAUSE_SECONDS) {
    session.signal.throwIfAborted()
    await sleep(session.signal, SETTLE_PAUSE_SECONDS)
  }
}

/** Lists the repos of the account and its wallets, as this device knows them. */
export const syncRepos: CommandRun = async session => {
  const account = await session.account()
  const wallets = await findWallets(session, [])
  const repos = account.listRepos()
  return {
    data: { repos: repos.map(repoJson) },
    ...repoAdvice(repos),
    view: {
      kind: 'table',
      columns: [
        { title: 'OF', canShrink: true },
        { title: 'STATE' },
        { title: 'TO UPLOAD', align: 'right' },
        { title: 'LAST SYNC' },
        { title: 'HASH', canShrink: true },
        { title: 'REPO', canShrink: true }
      ],
      rows: repos.map(repo => [
        ownerNameOf(repo, wallets),
        repoCell(repo),
        String(repo.pendingCount),
        lastSyncText(repo),
        shortHash(repo.lastHash),
        repo.repoId
      ]),
      empty: ''
    }
  }
}

/** Reports each sync and each pending upload until the command is stopped. */
export const syncWatch: CommandRun = async (session, ...texts) => {
  const events = openEventQueue<RepoSnapshot>(session.signal)
  session.observe(({ hooks }) => hooks.repoChanged.tap('watch', events.push))
  const { wallets, hasAccount } = await syncTargetsOf(session, texts)
  const account = await session.account()
  const isWanted = ({ ownerId, type }: RepoStatus): boolean =>
    texts.length === 0 || (type.startsWith('wallet:') ? wallets.some(({ id }) => id === ownerId) : hasAccount)
  const stream = openEventStream(session)
  await stream.emit('sync.watching', { repos: account.listRepos().map(repoJson) })
  session.statusLine.info('Watching the syncs; stop with Ctrl-C')
  const emitted = new Map<string, string>()
  for await (const { repoId } of events) {
    const repo = account.listRepos().find(one => one.repoId === repoId)
    if (repo === undefined || !isWanted(repo)) continue
    const facts = repoJson(repo)
    const text = JSON.stringify(facts)
    // The state has not changed since it was reported.
    if (emitted.get(repoId) === text) continue
    emitted.set(repoId, text)
    await stream.emit('sync.repo', facts)
    if (session.globals.json) continue
    const words = [localTime(new Date()), ownerNameOf(repo, wallets), cellOf(repoCell(repo)).text]
    const counts = `sent ${repo.sent}, received ${repo.received}, to upload ${repo.pendingCount}`
    await session.print({ data: {}, view: { kind: 'text', lines: [[...words, counts].join('  ')] } })
  }
  await stream.end('stopped')
  return undefined
}
