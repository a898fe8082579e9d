import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { KernelPool } from '../../cli/agent/kernel-pool.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { homeFor } from '../helpers/command-line.ts'
import { CHEAP_SNRP } from '../helpers/device.ts'

const HOUR = 3_600_000
const STEP = 10_000
const WALLETS = 10
const MAX_GROWTH = 3_000_000

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

test('an agent with open wallets to which nothing happens holds after a day what it held after three hours', async t => {
  t.timeout(600_000)
  const clock = makeFakeClock()
  const pool = new KernelPool({
    io: { ...makeNodeIo(), clock },
    plugins: [],
    passwordSnrp: CHEAP_SNRP
  })
  t.teardown(() => pool.close())
  const paths = profilePaths('default', { HOLDFAST_HOME: homeFor(t) })
  const { kernel } = await pool.open(paths, { device: 'main', isOffline: false })
  const account = await kernel.context.createAccount({
    username: 'alice',
    password: 'correct horse',
    pin: '2468'
  })
  for (let count = 0; count < WALLETS; count += 1) await account.createCurrencyWallet('wallet:bitcoin')
  const held = (): number => {
    for (let count = 0; count < 3; count += 1) collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const lastSync = (): number => Math.min(...account.listRepos().map(repo => repo.lastSync ?? 0))

  /** Lets time pass in small steps, and each sync end, since disks take their own time. */
  const pass = async (hours: number): Promise<void> => {
    for (let step = 0; step < (hours * HOUR) / STEP; step += 1) {
      await clock.advance(STEP)
      while (account.listRepos().some(({ isSyncing }) => isSyncing)) await setImmediate()
    }
  }

  // The rings of events and lines are full by then.
  await pass(3)
  const [before, timers, synced] = [held(), clock.timerCount, lastSync()]
  t.true(clock.now() / 1000 - synced < 60, 'every repo was synced a moment ago')
  await pass(21)
  const growth = held() - before
  t.true(clock.now() / 1000 - lastSync() < 60, 'and a day later')
  t.true(growth < MAX_GROWTH, `the heap grew by ${growth} bytes`)
  t.true(clock.timerCount <= timers + 5, `${timers} timers became ${clock.timerCount}`)
  t.log(`the heap held ${before} bytes after three hours, and ${growth} more after a day`)
})
