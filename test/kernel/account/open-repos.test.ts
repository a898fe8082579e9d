import test from 'ava'
import { OpenRepos } from '../../../kernel/account/open-repos.ts'
import { hideWalletInfo, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { SyncLoop } from '../../../kernel/repo/sync-loop.ts'
import type { Services } from '../../../kernel/services.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'

const io = makeNodeIo()

/** Repos whose leaving of the sync loop does what a test says. */
const makeBench = (leave: () => void | Promise<void>) => {
  const reports: unknown[] = []
  const services = {
    ...{ io, disk: makeFaultDisk(new Map()) },
    hooks: { repoChanged: { call() {} } },
    report: (_: string, error: unknown) => void reports.push(error)
  } as unknown as Services
  const repos = new OpenRepos(services, { add() {}, remove: leave } as unknown as SyncLoop)
  const info = hideWalletInfo(makeWalletInfo(io, 'wallet:toycoin'), '')
  return { repos, info, reports }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await new Promise(resolve => setImmediate(resolve))
}

test('whoever closes a repo waits until it is closed, also if somebody else has begun to', async t => {
  let open = (): void => {}
  const gate = new Promise<void>(resolve => (open = resolve))
  const { repos, info } = makeBench(() => gate)
  const repo = await repos.open(info, 'empty')
  const ended: string[] = []
  const closing = [repo.close().then(() => ended.push('owner')), repos.close().then(() => ended.push('all'))]
  await settle()
  t.deepEqual(ended, [])
  open()
  await Promise.all(closing)
  t.deepEqual(ended, ['owner', 'all'])
})

test('what goes wrong while a repo closes is said, and keeps it from nothing: its keys go, and it opens again', async t => {
  const { repos, info, reports } = makeBench(() => {
    throw new Error('stuck')
  })
  const repo = await repos.open(info, 'empty')
  await t.throwsAsync(repos.open(info, 'empty'), { code: 'KEY_INTEGRITY' })
  await t.throwsAsync(repo.close(), { message: 'stuck' })
  t.throws(() => repo.hashOf('name'), { code: 'LOGGED_OUT' })
  t.deepEqual(repos.list(), [])
  const again = await repos.open(info, 'needed')
  t.not(again, repo)
  await repos.close()
  t.deepEqual(
    reports.map(error => (error as Error).message),
    ['stuck']
  )
  await t.throwsAsync(repos.open(info, 'empty'), { code: 'LOGGED_OUT' })
})

test('a repo that is still opening when all are closed closes too, and nobody gets it', async t => {
  let left = 0
  const { repos, info } = makeBench(() => {
    left += 1
  })
  const opening = repos.open(info, 'empty')
  const closing = repos.close()
  await t.throwsAsync(opening, { code: 'LOGGED_OUT' })
  await closing
  t.is(left, 1)
  t.deepEqual(repos.list(), [])
})
