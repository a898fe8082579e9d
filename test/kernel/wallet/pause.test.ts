import test from 'ava'
import { openToyHome } from '../../helpers/toy-home.ts'

test('a wallet is paused and resumed at once, or after some seconds; the last word counts [4.24]', async t => {
  const { account, clock } = await openToyHome(t)
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  const shown = (): unknown[] => [
    wallet.getSnapshot().isPaused,
    wallet.engine.getSnapshot().isPaused,
    wallet.engine.getSnapshot().state
  ]
  await clock.advance(100)
  await wallet.changePaused(true)
  t.deepEqual(shown(), [true, true, 'stopped'])
  await wallet.changePaused(false, { afterSeconds: 5 })
  await clock.advance(4999)
  t.deepEqual(shown(), [true, true, 'stopped'])
  await clock.advance(1)
  t.deepEqual(shown(), [false, false, 'started'])
  await wallet.changePaused(true, { afterSeconds: 5 })
  await wallet.changePaused(false)
  await clock.advance(10_000)
  t.deepEqual(shown(), [false, false, 'started'])
  for (const afterSeconds of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await t.throwsAsync(wallet.changePaused(true, { afterSeconds }), { code: 'OPTION_INVALID' })
  }
})

test('a pause of the account, or of everything, reaches wallets that are open and that open later, and leaves their own', async t => {
  const { account, clock, kernel } = await openToyHome(t)
  const [own, other] = await Promise.all([
    account.createCurrencyWallet('wallet:toycoin'),
    account.createCurrencyWallet('wallet:toycoin')
  ])
  await clock.advance(100)
  await own.changePaused(true)
  await account.changePaused(true)
  const later = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  const states = (): string[] => [own, other, later].map(({ engine }) => engine.getSnapshot().state)
  t.deepEqual(states(), ['stopped', 'stopped', 'created'])
  t.true(account.getSnapshot().isPaused)
  t.false(other.getSnapshot().isPaused)
  kernel.context.changePaused(true)
  await account.changePaused(false)
  t.deepEqual(states(), ['stopped', 'stopped', 'created'])
  kernel.context.changePaused(false, { afterSeconds: 3 })
  t.true(kernel.context.isPaused)
  await clock.advance(3000)
  t.deepEqual(states(), ['stopped', 'started', 'started'])
  t.true(own.getSnapshot().isPaused)
})

test('a wallet that is opened paused makes no engine until it is resumed, and later openings change nothing', async t => {
  const home = await openToyHome(t)
  const { id } = await home.account.createCurrencyWallet('wallet:toycoin', { name: 'Savings' })
  await home.account.sync()
  const { account, clock, toy } = await home.another()
  const wallet = await account.openWallet(id, { isPaused: true })
  t.like(wallet.getSnapshot(), { name: 'Savings', isPaused: true })
  t.is(await account.openWallet(id), wallet)
  await clock.advance(60_000)
  t.like(wallet.engine.getSnapshot(), { state: 'created', isPaused: true })
  t.is(toy.requests.length, 0)
  await wallet.changePaused(false)
  t.like(wallet.engine.getSnapshot(), { state: 'started', isPaused: false })
  t.is(toy.requests.length, 1)
})

test('while everything is paused nothing is synced and no login is refreshed; afterwards it goes on', async t => {
  const { account, clock, kernel, world } = await openToyHome(t)
  await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(40_000)
  kernel.context.changePaused(true)
  await clock.advance(1000)
  let requests = 0
  world.server.traffic.onLine(() => (requests += 1))
  await clock.advance(300_000)
  t.is(requests, 0)
  kernel.context.changePaused(false)
  await clock.advance(40_000)
  t.true(requests >= 3)
})

test('repos sync as seldom as an application wishes, within bounds', async t => {
  const { account, clock, kernel } = await openToyHome(t)
  await clock.advance(2000)
  const lastSync = (): number => account.listRepos()[0]?.lastSync ?? 0
  const syncsIn = async (minutes: number): Promise<number> => {
    const seen = new Set<number>()
    for (let second = 0; second < 60 * minutes; second += 1) {
      await clock.advance(1000)
      seen.add(lastSync())
    }
    return seen.size
  }
  t.true((await syncsIn(10)) >= 18)
  kernel.context.changeSyncPeriod(300_000)
  t.true((await syncsIn(20)) <= 7)
  for (const periodMs of [29_999, 3_600_001, Number.NaN, '60000' as never])
    t.throws(() => kernel.context.changeSyncPeriod(periodMs), { code: 'OPTION_INVALID' })
})

/** A home whose engines survive a pause, with the calls that they got. */
const openEnduringHome = async (
  t: Parameters<typeof openToyHome>[0],
  onPause: (isPaused: boolean) => Promise<void> = async () => {}
) => {
  const calls: string[] = []
  const home = await openToyHome(t, {
    engine: good => ({
      async changePaused(isPaused) {
        calls.push(isPaused ? 'pause' : 'resume')
        await onPause(isPaused)
      },
      async syncNetwork(keys) {
        calls.push('sync')
        return good.syncNetwork(keys)
      },
      async startEngine() {
        calls.push('start')
      },
      async killEngine() {
        calls.push('kill')
      }
    })
  })
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
  await home.clock.advance(100)
  return { ...home, calls, wallet }
}

test('an engine that survives a pause is neither killed nor made again, and looks at nothing meanwhile', async t => {
  const { account, calls, clock, toy, wallet } = await openEnduringHome(t)
  calls.splice(0)
  await wallet.changePaused(true)
  await clock.advance(120_000)
  t.deepEqual(calls, ['pause'])
  t.like(wallet.engine.getSnapshot(), { state: 'stopped', isPaused: true })
  t.is(typeof (await wallet.getReceiveAddress()).publicAddress, 'string')
  await account.currencyConfig('toycoin').changeUserSettings({ server: 'other' })
  await wallet.changePaused(false)
  await clock.advance(100)
  t.deepEqual(calls, ['pause', 'resume', 'sync'])
  t.like(wallet.engine.getSnapshot(), { state: 'started', isPaused: false })
  await Promise.all([wallet.changePaused(true), wallet.changePaused(false), wallet.changePaused(true)])
  t.like(wallet.engine.getSnapshot(), { state: 'stopped', isPaused: true })
  t.is(calls.filter(call => call === 'pause').length >= 2 && calls.at(-1), 'pause')
  t.is(toy.requests.length, 1)
  await account.logout()
  t.deepEqual(calls.slice(-1), ['kill'])
})

test('an engine that fails at a pause, or is late, is killed, and a resume makes another', async t => {
  for (const onPause of [() => Promise.reject(new Error('No pause')), () => new Promise<void>(() => {})]) {
    const { calls, clock, toy, wallet } = await openEnduringHome(t, async isPaused => {
      if (isPaused) await onPause()
    })
    const pausing = wallet.changePaused(true)
    await clock.advance(5000)
    await pausing
    t.is(calls.at(-1), 'kill')
    t.like(wallet.engine.getSnapshot(), { state: 'stopped', isPaused: true })
    await wallet.changePaused(false)
    await clock.advance(100)
    t.is(toy.requests.length, 2)
    t.like(wallet.engine.getSnapshot(), { state: 'started', isPaused: false })
  }
})

test('an engine that fails at a resume is killed, and another is made half a minute later', async t => {
  const { calls, clock, toy, wallet } = await openEnduringHome(t, async isPaused => {
    if (!isPaused) throw new Error('Cannot wake')
  })
  await wallet.changePaused(true)
  await t.throwsAsync(wallet.changePaused(false), { code: 'ENGINE_FAILED' })
  t.is(calls.at(-1), 'kill')
  await clock.advance(31_000)
  t.is(toy.requests.length, 2)
  t.is(wallet.engine.getSnapshot().state, 'started')
})
