import test from 'ava'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import type { FetchReply, Io } from '../../../kernel/io/io.ts'
import { SyncServers } from '../../../kernel/sync/sync-servers.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { openDevice, syncKey } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'
import { setText } from '../../helpers/repo-texts.ts'
import { makeSyncStore, replyOf } from '../../helpers/sync-store.ts'

test('dead servers are skipped, in random order, while one works', async t => {
  const store = makeSyncStore()
  store.fault = call => {
    if (call.url.startsWith('https://dead')) throw new Error(`cannot reach ${call.url}`)
    return call.url.startsWith('https://ill') ? replyOf(503, '<html>') : undefined
  }
  const first = new Set<string>()
  const syncServers = ['https://dead.example', 'https://ill.example/', 'https://good.example']
  const a = await openDevice(store, { syncServers })
  for (let i = 0; i < 20; i += 1) {
    const before = store.calls.length
    await a.sync()
    first.add(new URL(store.calls[before]?.url ?? '').host)
  }
  t.is(first.size, 3)
})

test('a failure names neither the sync key nor the address, keeps what is pending, and shows in the state', async t => {
  const store = makeSyncStore()
  const hex = Buffer.from(syncKey).toString('hex')
  for (const fault of [
    () => Promise.reject(new Error(`connect failed: https://sync.example/api/v2/store/${hex}/`)),
    () => replyOf(500, `no such repo ${hex}`)
  ]) {
    store.fault = fault as () => Promise<FetchReply>
    const a = await openDevice(store)
    await setText(a.repo, 'f', '1')
    const error = await t.throwsAsync(a.sync())
    t.true(isWalletError(error, 'SYNC_FAILED'))
    t.false(`${error?.message}${error?.stack}${JSON.stringify(error)}`.includes(hex))
    t.is((error as Error).cause, undefined)
    t.false(JSON.stringify(a.reports).includes(hex))
    t.is(a.repo.state.getSnapshot().errorCode, 'SYNC_FAILED')
    t.is(a.repo.pendingCount, 1)
    store.fault = undefined
    await a.sync()
    t.is(a.repo.state.getSnapshot().errorCode, undefined)
  }
})

test('a server that answers with a status outside of 200 to 299 has failed, and the failure says which', async t => {
  const store = makeSyncStore()
  const device = await openDevice(store)
  for (const status of [199, 300, 404, 500]) {
    store.fault = () => replyOf(status, { changes: {}, hash: 'ab' })
    await t.throwsAsync(device.sync(), { code: 'SYNC_FAILED', message: new RegExp(`HTTP ${status}`) })
  }
  for (const status of [200, 299]) {
    store.fault = () => replyOf(status, { changes: {}, hash: `ab${status}` })
    await device.sync()
    t.is(device.repo.state.getSnapshot().lastHash, `ab${status}`)
  }
})

test('the only info server gets a request with the first sync, and no other within ten minutes', async t => {
  const store = makeSyncStore()
  const requested: string[] = []
  store.fault = ({ url }) => {
    if (!url.startsWith('https://info.example')) return undefined
    requested.push(url)
    return replyOf(200, {})
  }
  const device = await openDevice(store, { infoServers: ['https://info.example'] })
  for (const minutes of [0, 9, 1]) {
    await device.clock.advance(minutes * 60_000)
    await device.sync()
    t.is(requested.length, minutes === 1 ? 2 : 1)
  }
  t.is(requested[0], 'https://info.example/v1/edgeServers')
})

test('a list of servers counts only in a reply with a status from 200 to 299', async t => {
  for (const status of [199, 200, 299, 300]) {
    const fetch = async () => replyOf(status, { syncServers: ['https://new.example.com'] })
    const servers = new SyncServers({
      io: makeRepoIo({ fetch }),
      syncServers: ['https://sync.example.com'],
      infoServers: ['https://info.example.com'],
      report() {}
    })
    await servers.refresh()
    t.is(servers.lists.syncServers.length, status === 200 || status === 299 ? 2 : 1, String(status))
  }
})

test('a reply of a sync server may have 192 MB, and a list of servers 256 KB', async t => {
  const bounds = new Map<string, number | undefined>()
  const fetch: Io['fetch'] = async (url, options) => {
    bounds.set(new URL(url).host, options?.maxReplyBytes)
    return replyOf(200, { changes: {}, hash: 'ab' })
  }
  const { servers } = makeServers(fetch, ['https://info.example'])
  await servers.exchange({ syncKey: keyOf(), server: 'https://one.example' })
  t.deepEqual(
    bounds,
    new Map([
      ['info.example', 262_144],
      ['one.example', 201_326_592]
    ])
  )
})

test('a server that never answers is abandoned after 30 seconds, and its request is aborted', async t => {
  const store = makeSyncStore()
  const a = await openDevice(store)
  store.fault = () => new Promise<never>(() => {})
  const sync = a.sync()
  const failed = t.throwsAsync(sync)
  await a.clock.advance(29_000)
  t.true(a.repo.state.getSnapshot().isSyncing)
  await a.clock.advance(1_500)
  const error = await failed
  t.is((error as { details?: { reason?: string } }).details?.reason, 'no answer in 30 s')
  t.false(a.repo.state.getSnapshot().isSyncing)
  store.fault = undefined
  await a.sync()
  t.false(a.repo.state.getSnapshot().isSyncing)
})

/** Sync servers of which each request meets `fetch`, and what they were asked. */
const makeServers = (fetch: Io['fetch'], infoServers: readonly string[] = [], isProxied = false) => {
  const clock = makeFakeClock()
  const hosts: string[] = []
  const counting: Io['fetch'] = (url, options) => {
    hosts.push(new URL(url).host)
    return fetch(url, options)
  }
  const syncServers = ['https://one.example', 'https://two.example', 'https://three.example']
  const io = { ...makeRepoIo({ clock, fetch: counting }), isProxied }
  return { clock, hosts, servers: new SyncServers({ io, syncServers, infoServers, report() {} }) }
}

const keyOf = (): Secret<Uint8Array> => new Secret(syncKey.slice())

test('through a proxy a server has three times as long to answer, and the failure says so', async t => {
  const { servers, clock } = makeServers(() => new Promise<never>(() => {}), [], true)
  let hasFailed = false
  const failed = t.throwsAsync(servers.exchange({ syncKey: keyOf(), server: 'https://one.example' }))
  void failed.then(() => (hasFailed = true))
  await clock.advance(89_000)
  t.false(hasFailed)
  await clock.advance(1_500)
  t.like(await failed, { details: { reason: 'no answer in 90 s' } })
})

test('a request can name its only server, or servers that it does not go to', async t => {
  const { servers, hosts } = makeServers(async () => replyOf(200, { changes: {}, hash: 'ab' }))
  for (let run = 0; run < 10; run += 1) {
    const server = 'https://two.example'
    t.is((await servers.exchange({ syncKey: keyOf(), server })).server, server)
    const except = new Set([server, 'https://one.example'])
    t.is((await servers.exchange({ syncKey: keyOf(), except })).server, 'https://three.example')
  }
  t.deepEqual(new Set(hosts), new Set(['two.example', 'three.example']))
  const none = new Set(['https://one.example', 'https://two.example', 'https://three.example'])
  await t.throwsAsync(servers.exchange({ syncKey: keyOf(), except: none }), {
    message: /there is no sync server/
  })
})

test('the failure of a server says whether it was silent, did not answer, or answered too much', async t => {
  const failures: readonly (readonly [fetch: () => Promise<never>, reason: string])[] = [
    [() => Promise.reject(new Error('connection reset')), 'no answer'],
    [
      () => Promise.reject(new WalletError('REPLY_TOO_LARGE', { source: 'a server', limit: 1 })),
      'the reply is too large'
    ],
    [() => new Promise<never>(() => {}), 'no answer in 30 s']
  ]
  for (const [fetch, reason] of failures) {
    const signals: (AbortSignal | undefined)[] = []
    const { servers, clock } = makeServers((_, options) => {
      signals.push(options?.signal as AbortSignal | undefined)
      return fetch()
    })
    const failed = t.throwsAsync(servers.exchange({ syncKey: keyOf(), server: 'https://one.example' }))
    await clock.advance(31_000)
    t.deepEqual(((await failed) as WalletError<'SYNC_FAILED'>).details, { reason })
    t.deepEqual(
      signals.map(signal => signal?.aborted),
      [true],
      'nothing of the request is left'
    )
  }
})

test('the list is asked for again after ten minutes, however long the device has been on', async t => {
  const info = 'https://info.example'
  const { servers, clock, hosts } = makeServers(
    async url => replyOf(200, url.startsWith(info) ? {} : { changes: {}, hash: 'ab' }),
    [info]
  )
  await clock.advance(3_600_000)
  for (const minutes of [0, 9, 2]) {
    await clock.advance(minutes * 60_000)
    await servers.exchange({ syncKey: keyOf() })
  }
  t.is(hosts.filter(host => host === 'info.example').length, 2)
})

test('info servers add servers of our domains and take none away, and a reply without a list keeps the old ones', async t => {
  const store = makeSyncStore()
  const infoServers = ['https://dead.example', 'https://info.example']
  const syncServers = ['https://sync-1.ours.example']
  store.fault = call => {
    if (call.url === 'https://info.example/v1/edgeServers') {
      const syncServers = [
        'https://sync-2.ours.example/',
        'https://ours.example',
        'https://evil.example',
        'https://evilours.example',
        'https://ours.example.evil.example',
        'http://sync-3.ours.example',
        'ftp://x',
        7,
        'http://127.0.0.1:8080'
      ]
      return replyOf(200, { syncServers, infoServers: ['https://spy.example'] })
    }
    return call.url.startsWith('https://dead') ? replyOf(500, '') : undefined
  }
  const a = await openDevice(store, { infoServers, syncServers })
  await a.sync()
  await a.clock.advance(0)
  const known = [...syncServers, 'https://sync-2.ours.example', 'https://ours.example']
  t.deepEqual(a.servers.lists, { syncServers: known, infoServers })
  t.deepEqual(
    a.reports.map(report => isWalletError(report, 'BAD_REPLY') && report.details.rule),
    ['names 7 servers outside of the domains of this profile']
  )
  await a.servers.refresh()
  t.is(a.reports.length, 1, 'foreign servers are reported once')
  store.fault = call => (call.url.includes('/v1/') ? replyOf(200, { syncServers: 'none' }) : undefined)
  const count = (): number => store.calls.filter(call => call.url.includes('/v1/')).length
  const before = count()
  await a.sync()
  t.is(count(), before)
  await a.clock.advance(11 * 60_000)
  await a.sync()
  t.is(count(), before + 1)
  t.is(a.servers.lists.syncServers.length, 3)
})

test('info servers add servers of loopback only where ours are there, and no neighbour of a domain that is a suffix', t => {
  const cases: readonly (readonly [own: string, named: string, isTaken: boolean])[] = [
    ['http://localhost:8080', 'http://127.0.0.1:9', true],
    ['http://localhost:8080', 'https://sync.edge.app', false],
    ['https://sync-us1.edge.app', 'https://sync-us9.edge.app', true],
    ['https://sync-us1.edge.app', 'http://127.0.0.1:9', false],
    ['https://sync-us1.edge.app', 'https://127.0.0.1', false],
    ['https://sync-us1.edge.app', 'https://edge.app.example', false],
    ['https://ours.co.uk', 'https://theirs.co.uk', false],
    ['https://ours.co.uk', 'https://sync.ours.co.uk', true],
    ['https://ours.com.au', 'https://theirs.com.au', false],
    ['https://sync.ours.info', 'https://other.ours.info', true],
    ['https://ours.example', 'https://theirs.example', false],
    ['https://10.0.0.1', 'https://9.0.0.1', false]
  ]
  return Promise.all(
    cases.map(async ([own, named, isTaken]) => {
      const reply = { status: 200, headers: {}, text: JSON.stringify({ syncServers: [named] }) }
      const io = makeRepoIo({ clock: makeFakeClock(), fetch: async () => reply })
      const reports: unknown[] = []
      const report = (error: unknown): void => void reports.push(error)
      const servers = new SyncServers({ io, syncServers: [own], infoServers: ['https://info'], report })
      await servers.refresh()
      t.is(reports.length, isTaken ? 0 : 1)
      t.deepEqual(servers.lists.syncServers, isTaken ? [own, named] : [own], `${named} beside ${own}`)
    })
  )
})
