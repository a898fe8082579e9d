import test from 'ava'
import { OpenRepos } from '../../../kernel/account/repos.ts'
import type { ExchangeSnapshot, ObserverPlugin, RepoSnapshot } from '../../../kernel/index.ts'
import { hideWalletInfo, makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { Services } from '../../../kernel/plugins/services.ts'
import type { SyncLoop } from '../../../kernel/sync/sync-loop.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { openToyHome } from '../../helpers/toy-home.ts'

const io = makeNodeIo()

/** Repos whose leaving of the sync loop does what a test says. */
const makeBench = (leave: () => void | Promise<void>) => {
  const reports: unknown[] = []
  const reported: RepoSnapshot[] = []
  const services = {
    ...{ io, disk: makeFaultDisk(new Map()) },
    hooks: { repoChanged: { call: (snapshot: RepoSnapshot) => void reported.push(snapshot) } },
    report: (_: string, error: unknown) => void reports.push(error)
  } as unknown as Services
  const repos = new OpenRepos(services, {
    syncLoop: { add() {}, remove: leave, trafficOf: () => ({}) } as unknown as SyncLoop,
    accountId: 'account'
  })
  const info = hideWalletInfo(makeWalletInfo(io, 'wallet:toycoin'), '')
  return { repos, info, reports, reported }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await new Promise(resolve => setImmediate(resolve))
}

test('every call that closes a repo waits until it is closed, also if another call began it', async t => {
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

test('an error while a repo closes is reported; its keys are destroyed, and it can open again', async t => {
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

test('a repo that is still opening when all are closed closes too, and its callers get an error', async t => {
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

test('observers get the owner of a repo when it opens, and its close last of all, also if closing fails', async t => {
  for (const leave of [() => {}, () => Promise.reject(new Error('stuck'))]) {
    const { repos, info, reported } = makeBench(leave)
    const { repo } = await repos.open(info, 'empty')
    const own = { repoId: repo.id, accountId: 'account', walletId: info.id }
    t.like(reported[0], { ...own, isOpen: true })
    await setText(repo, 'WalletName.json', '{"walletName":"x"}')
    t.like(reported.at(-1), { ...own, isOpen: true, pendingCount: 1 })
    t.deepEqual(
      repos.list().map(({ walletId, isOpen }) => [walletId, isOpen]),
      [[info.id, true]]
    )
    await repos.close()
    t.like(reported.at(-1), { ...own, isOpen: false, pendingCount: 1 })
    t.is(reported.filter(({ isOpen }) => !isOpen).length, 1)
  }
  const { repos, reported } = makeBench(() => {})
  await repos.open(hideWalletInfo(makeWalletInfo(io, 'account-repo:co.airbitz.wallet'), ''), 'empty')
  t.false('walletId' in (reported[0] ?? {}))
})

test('observers get the files that a sync sent and received, and no event for a sync without changes', async t => {
  const reported = { one: [] as ExchangeSnapshot[], other: [] as ExchangeSnapshot[] }
  const watching = (list: ExchangeSnapshot[]): ObserverPlugin => ({
    kind: 'observer',
    id: 'watch',
    apply: ({ hooks }) => hooks.filesExchanged.tap('watch', exchange => void list.push(exchange))
  })
  const home = await openToyHome(t, { device: { plugins: [watching(reported.one)] } })
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin', { name: 'Nest' })
  await home.clock.advance(60_000)
  const { account } = await home.another({ device: { plugins: [watching(reported.other)] } })
  const same = await account.openWallet(wallet.id)
  await home.clock.advance(60_000)
  for (const list of Object.values(reported)) list.length = 0
  await home.clock.advance(120_000)
  t.deepEqual(reported, { one: [], other: [] })

  await wallet.rename('Rainy days')
  await home.clock.advance(60_000)
  t.is(same.name, 'Rainy days')
  const { repoId = '' } = account.listRepos().find(({ walletId }) => walletId === wallet.id) ?? {}
  t.deepEqual(reported, {
    one: [{ repoId, sent: ['WalletName.json'], received: [] }],
    other: [{ repoId, sent: [], received: ['WalletName.json'] }]
  })
  const countsNow = () => account.listRepos().find(repo => repo.repoId === repoId)
  const { sent = 0, received = 0 } = countsNow() ?? {}
  t.true(received > 0)
  await wallet.rename('Sunny days')
  await home.clock.advance(60_000)
  t.like(countsNow(), { sent, received: received + 1 })
  await same.rename('Any days')
  await home.clock.advance(60_000)
  t.like(countsNow(), { sent: sent + 1, received: received + 1 })
})

test('of two visits to a repo at once each sees it open', async t => {
  const { repos, info } = makeBench(() => {})
  const seen: string[] = []
  const visit = (name: string): Promise<void> =>
    repos.forEach([info], async repo => {
      await settle()
      await repo.contents()
      seen.push(name)
    })
  await Promise.all([visit('first'), visit('second'), visit('third')])
  t.deepEqual(seen, ['first', 'second', 'third'])
  await (await repos.open(info, 'empty')).close()
})

test('a repo that is visited is closed after the visit, and one that closes is visited after that', async t => {
  const order: string[] = []
  const gates: (() => void)[] = []
  const { repos, info } = makeBench(() => new Promise<void>(resolve => gates.push(resolve)))
  const repo = await repos.open(info, 'empty')
  let release = (): void => {}
  const visiting = repos.forEach([info], async visited => {
    t.is(visited, repo.repo)
    await new Promise<void>(resolve => (release = resolve))
    await visited.contents()
    order.push('visited')
  })
  await settle()
  const closing = repo.close().then(() => order.push('closed'))
  const again = repos.forEach([info], async visited => {
    t.not(visited, repo.repo)
    await visited.contents()
    order.push('visited again')
    void settle().then(() => gates.at(-1)?.())
  })
  gates[0]?.()
  await settle()
  release()
  await Promise.all([visiting, closing, again])
  t.deepEqual(order, ['visited', 'closed', 'visited again'])
})
