import test from 'ava'
import { OpenWallets, type OpenWalletsOptions } from '../../../kernel/account/open-wallets.ts'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { Services } from '../../../kernel/plugins/services.ts'
import type { CurrencyWallet, OpenedWallet } from '../../../kernel/wallet/wallet.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeKnownUser } from '../../helpers/known-user.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

const io = makeNodeIo()

interface Bench {
  readonly wallets: OpenWallets
  readonly clock: FakeClock
  readonly begun: string[]
  readonly closed: string[]
  readonly reports: unknown[]
}

/** Wallets that open as a test says; the ids are numbers from 0. */
const makeBench = (openOne: (walletId: string) => Promise<void> = async () => {}): Bench => {
  const clock = makeFakeClock()
  const bench = { clock, begun: [] as string[], closed: [] as string[], reports: [] as unknown[] }
  const services = {
    io: { ...io, clock },
    report: (_: string, error: unknown) => void bench.reports.push(error)
  } as unknown as Services
  const open: OpenWalletsOptions['opener']['open'] = async ({ id }) => {
    bench.begun.push(id)
    await openOne(id)
    const wallet = { id } as CurrencyWallet
    const runtime = { close: async () => void bench.closed.push(id) }
    return { wallet, runtime } as unknown as OpenedWallet
  }
  const get = (id: string) => {
    if (Number.isNaN(Number(id))) throw new WalletError('WALLET_ID_UNKNOWN', { walletId: id })
    return { id, type: 'wallet:a', appIds: [''] } as never
  }
  return {
    ...bench,
    wallets: new OpenWallets({ services, book: { get }, opener: { open }, quiet: { wake: () => undefined } })
  }
}

const idsOf = (count: number): { walletId: string }[] =>
  Array.from({ length: count }, (_, at) => ({ walletId: String(at) }))

const openAll = ({ wallets }: Bench, count: number) =>
  wallets.forEach(idsOf(count), ({ walletId }) => wallets.get(walletId))

const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await new Promise(resolve => setImmediate(resolve))
}

const never = (): Promise<void> => new Promise(() => {})

test('wallets open a few at a time, in order, and each once', async t => {
  let now = 0
  let most = 0
  const bench = makeBench(async () => {
    now += 1
    most = Math.max(most, now)
    await new Promise(resolve => setImmediate(resolve))
    now -= 1
  })
  const [results, again] = await Promise.all([openAll(bench, 50), openAll(bench, 50)])
  t.true(most > 1 && most <= 8, `${most} at once`)
  t.deepEqual(
    bench.begun,
    idsOf(50).map(({ walletId }) => walletId)
  )
  t.deepEqual(
    results.map(({ walletId }) => walletId),
    bench.begun
  )
  t.true([...results, ...again].every(({ ok }) => ok))
  t.is(bench.wallets.open.length, 50)
})

test('a requested wallet does not wait for those before it', async t => {
  const gates = new Map<string, () => void>()
  const bench = makeBench(id => new Promise(resolve => gates.set(id, resolve)))
  const all = openAll(bench, 100)
  await settle()
  t.false(bench.begun.includes('99'))
  const wanted = bench.wallets.get('99')
  t.true(bench.begun.includes('99'))
  gates.get('99')?.()
  t.is((await wanted).id, '99')
  while (bench.begun.length < 100) {
    for (const open of gates.values()) open()
    await settle()
  }
  for (const open of gates.values()) open()
  t.true((await all).every(({ ok }) => ok))
  t.is(bench.begun.filter(id => id === '99').length, 1)
})

test('wallets that fail or hang hold up no other, and each has its own result', async t => {
  const bench = makeBench(async id => {
    const at = Number(id)
    if (at < 12) return never()
    if (at % 5 === 0) throw new WalletError('STORAGE_FAILED', { path: id, reason: 'broken' })
  })
  const all = openAll(bench, 40)
  // Each place is given free after a while, long before a wallet counts as failed.
  for (let i = 0; i < 4; i += 1) {
    await bench.clock.advance(2000)
  }
  await settle()
  t.is(bench.wallets.open.length, 40 - 12 - 5)
  await bench.clock.advance(60_000)
  const results = await all
  for (const [at, result] of results.entries()) {
    const code = result.ok ? 'ok' : isWalletError(result.error) ? result.error.code : '?'
    t.is(code, at < 12 ? 'DEADLINE' : at % 5 === 0 ? 'STORAGE_FAILED' : 'ok', String(at))
  }
})

test('a wallet that failed is opened again on the next request', async t => {
  let isBroken = true
  const bench = makeBench(async () => {
    if (isBroken) throw new WalletError('STORAGE_FAILED', { path: '', reason: 'broken' })
  })
  await t.throwsAsync(bench.wallets.get('0'), { code: 'STORAGE_FAILED' })
  isBroken = false
  t.is((await bench.wallets.get('0')).id, '0')
  await t.throwsAsync(bench.wallets.get('nothing'), { code: 'WALLET_ID_UNKNOWN' })
})

test('an open wallet is returned at once; before that: "Wallet has not yet loaded" [8.71]', async t => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: io.crypto.toHex(io.random(32)) })
  const { account } = await makeKnownUser(t, { infos: [info] }).logIn({ plugins: [makeToy().plugin] })
  const notLoaded = { code: 'WALLET_NOT_LOADED', message: 'Wallet has not yet loaded' }
  t.throws(() => account.wallet(info.id), notLoaded)
  const opening = account.openWallet(info.id)
  t.throws(() => account.wallet(info.id), notLoaded)
  const wallet = await opening
  t.is(account.wallet(info.id), wallet)
  t.throws(() => account.wallet('nothing'), { code: 'WALLET_ID_UNKNOWN' })
  await account.logout()
  t.throws(() => account.wallet(info.id), { code: 'LOGGED_OUT' })
})

test('a logout in the middle closes what is open, begins nothing more, and waits for no wallet that hangs', async t => {
  const bench = makeBench(async id => (id === '1' ? never() : settle()))
  const all = openAll(bench, 100)
  await settle()
  await settle()
  const begun = bench.begun.length
  const closing = bench.wallets.close()
  await bench.clock.advance(10_000)
  await closing
  await bench.clock.advance(60_000)
  const results = await all
  const opened = results.filter(({ ok }) => ok).length
  t.true(opened > 0 && opened < begun)
  t.is(bench.begun.length, begun)
  t.is(bench.closed.length, begun - 1)
  for (const result of results) {
    const isHanging = result.walletId === '1'
    if (!result.ok) t.true(isWalletError(result.error, isHanging ? 'DEADLINE' : 'LOGGED_OUT'))
  }
  t.true(bench.reports.every(error => isWalletError(error, 'DEADLINE')))
  await t.throwsAsync(bench.wallets.get('0'), { code: 'LOGGED_OUT' })
})

test('all active wallets of an account open, whatever one of them does', async t => {
  const good = Array.from({ length: 6 }, () =>
    makeWalletInfo(io, 'wallet:toycoin', { toyKey: io.crypto.toHex(io.random(32)) })
  )
  const damaged = makeWalletInfo(io, 'wallet:toycoin', { toyKey: '00', syncKey: 'AAAA' })
  const infos = [...good.slice(0, 3), damaged, ...good.slice(3)]
  const { account } = await makeKnownUser(t, { infos }).logIn({ plugins: [makeToy().plugin] })
  const [archived = '', hidden = ''] = good.map(({ id }) => id)
  await account.changeWalletStates({ [archived]: { archived: true }, [hidden]: { hidden: true } })
  const results = await account.openAllWallets()
  t.deepEqual(
    results.map(({ walletId }) => walletId),
    account.getSnapshot().activeWalletIds
  )
  t.is(results.length, 6)
  t.deepEqual(
    results.filter(({ ok }) => !ok).map(({ walletId }) => walletId),
    [damaged.id]
  )
  await account.logout()
  await t.throwsAsync(account.openAllWallets(), { code: 'LOGGED_OUT' })
})
