import test, { type ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyWallet,
  isWalletError,
  type Kernel,
  nativeAmount,
  type RatePlugin,
  type SpendRule,
  type StoragePlugin,
  type WalletId
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { spendRules } from '../../plugins/policy/spend-rules.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import {
  drawSeed,
  logCounts,
  makeSeededRandom,
  passWalletError,
  runCount,
  type SeededRandom
} from '../helpers/drawn-runs.ts'
import { type FaultDisk, makeFaultDisk } from '../helpers/fault-disk.ts'
import { LedgerChain, type LedgerTx, makeLedgerCoin, type Reception } from '../helpers/ledger-coin.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const PASSWORD = 'Correct horse 1'
const LIMIT = 100
const RULES: readonly SpendRule[] = [
  { id: 'daily', kind: 'rolling', asset: 'ledger', max: String(LIMIT), windowHours: 24 },
  { id: 'euros', kind: 'rolling', maxFiat: '10', fiat: 'iso:EUR', windowHours: 24 }
]
const IN_A_PART = 100
const STEPS = 9

/** What one schedule shares: the world, the chain and the true time. */
interface Scene {
  readonly world: FakeWorld
  readonly chain: LedgerChain
  readonly random: SeededRandom
  readonly counts: Map<string, number>
  /** Milliseconds that have passed beside those of the test. */
  passed: number
  isRateKnown: boolean
  isMade: boolean
  readonly trueNow: () => number
}

/** One device with its disk, which outlives its processes. */
class Device {
  readonly scene: Scene
  readonly files = new Map<string, string>()
  skew = 0
  kernel: Kernel | undefined
  wallets: readonly CurrencyWallet[] = []
  account: Account | undefined
  #disk: FaultDisk | undefined

  constructor(scene: Scene) {
    this.scene = scene
  }

  async open(): Promise<Account> {
    const { scene, files } = this
    const disk = makeFaultDisk(files)
    this.#disk = disk
    const io = scene.world.ioFor(makeNodeIo())
    const { clock } = io
    const startedAt = scene.passed
    const storage: StoragePlugin = {
      kind: 'storage',
      id: 'faulty',
      apply: ({ hooks }) => hooks.openDisk.tapPromise('faulty', async () => disk)
    }
    const rates: RatePlugin = {
      kind: 'rates',
      id: 'rates',
      displayName: 'rates',
      apply: ({ hooks }) =>
        hooks.fetchRates.tapPromise('rates', async ({ offer }) => {
          if (scene.isRateKnown) offer({ fromCurrency: 'LDG', toCurrency: 'iso:EUR' }, 10)
        })
    }
    this.kernel = await openDevice(scene.world, {
      io: {
        ...io,
        clock: {
          ...{ after: clock.after.bind(clock), turn: () => clock.turn() },
          now: () => scene.trueNow() + this.skew,
          monotonic: () => clock.monotonic() + scene.passed - startedAt
        }
      },
      storage,
      plugins: [makeLedgerCoin(scene.chain), rates, spendRules],
      logLevel: 'silent',
      onError: () => {}
    })
    const { context } = this.kernel
    this.account = scene.isMade
      ? await context.loginWithPassword('alice', PASSWORD)
      : await context.createAccount({ username: 'alice', password: PASSWORD })
    return this.account
  }

  async openWallets(ids: readonly WalletId[]): Promise<void> {
    const { account } = this
    if (account === undefined) return
    this.wallets = await Promise.all(ids.map(id => account.openWallet(id)))
    await Promise.all(this.wallets.map(wallet => waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)))
  }

  /** Ends the process at a moment between or within two writes, and begins another one over what is on the disk. */
  async kill(ids: readonly WalletId[]): Promise<void> {
    this.#disk?.cutPower()
    await this.kernel?.close().catch(passWalletError)
    await this.open()
    await this.openWallets(ids)
  }

  /** Makes one of the next writes the last one of the process. */
  strike(at: number): void {
    this.#disk?.strike({ at, kind: 'lost' })
  }

  get isDown(): boolean {
    return this.#disk?.isDown === true
  }
}

const ACTIONS = [
  'pay',
  'pay',
  'pay',
  'pay many',
  'replace',
  'mine',
  'pass',
  'skew',
  'kill',
  'die',
  'rate',
  'forget',
  'resend'
] as const
const RECEPTIONS: readonly Reception[] = ['accept', 'accept', 'accept', 'keep', 'lose', 'refuse', 'silent']

/** Pays, and notes the rule of a refusal. A refusal without a rule fails the test. */
const pay = async (
  t: ExecutionContext,
  { random, counts }: Scene,
  wallet: CurrencyWallet,
  replaces?: string
): Promise<void> => {
  const amount = 5 + random.below(60)
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount(String(amount)) }]
  try {
    const replacing = replaces === undefined ? {} : { replaces }
    await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets, ...replacing }))
    add(counts, 'paid')
  } catch (error) {
    if (!isWalletError(error, 'SIGN_REFUSED')) return add(counts, isWalletError(error) ? error.code : 'other')
    if (error.details.refusedBy !== 'account') return add(counts, 'refused by the wallet')
    t.truthy(error.details.rule, 'a refusal names its rule')
    add(counts, `refused by ${error.details.rule}`)
  }
}

const add = (counts: Map<string, number>, kind: string): void =>
  void counts.set(kind, (counts.get(kind) ?? 0) + 1)

const syncAll = async (device: Device): Promise<void> => {
  for (const wallet of device.wallets) {
    await wallet.sync().catch(passWalletError)
    await wallet.lookAtOpenPayments().catch(() => [])
  }
}

const runAction = async (t: ExecutionContext, device: Device, ids: readonly WalletId[]): Promise<void> => {
  const { scene, wallets } = device
  const { random, chain, counts } = scene
  const action = random.pick(ACTIONS)
  add(counts, `does: ${action}`)
  chain.reception = random.pick(RECEPTIONS)
  const wallet = random.pick(wallets)
  const open = wallet.getSnapshot().openPayments
  switch (action) {
    case 'pay':
      return pay(t, scene, wallet)
    case 'pay many':
      await Promise.all(wallets.flatMap(each => [pay(t, scene, each), pay(t, scene, each)]))
      return
    case 'replace':
      return open.length === 0 ? pay(t, scene, wallet) : pay(t, scene, wallet, random.pick(open).txid)
    case 'mine': {
      const left = [...chain.txs.values()].filter(({ state }) => state === 'pool' || state === 'kept')
      chain.mine(left.length === 0 ? undefined : random.pick(left).txid)
      return syncAll(device)
    }
    case 'pass':
      scene.passed += random.below(2 * DAY)
      if (random.oneIn(2)) chain.mine()
      return syncAll(device)
    case 'skew':
      device.skew = random.pick([0, 0, 3 * DAY, -3 * DAY, 400 * DAY, HOUR])
      return
    case 'kill':
      await Promise.all([pay(t, scene, wallet), device.kill(ids)])
      return
    case 'die':
      device.strike(1 + random.below(6))
      await pay(t, scene, wallet)
      return device.kill(ids)
    case 'rate':
      scene.isRateKnown = random.oneIn(2)
      return
    case 'forget':
      if (open.length > 0) await wallet.forgetTx(random.pick(open).txid).catch(passWalletError)
      return
    case 'resend':
      if (open.length > 0) await wallet.resendTx(random.pick(open).txid).catch(passWalletError)
      return
  }
}

/** The most that the chain has confirmed within any day, by block time: an oracle that knows nothing of rules. */
const mostInADay = (txs: Iterable<LedgerTx>): number => {
  const confirmed = [...txs].filter(({ state }) => state === 'confirmed')
  return Math.max(
    0,
    ...confirmed.map(({ minedAt: end }) =>
      confirmed
        .filter(({ minedAt }) => minedAt > end - DAY && minedAt <= end)
        .reduce((total, { amount }) => total + amount, 0)
    )
  )
}

/** Everything that anyone still holds is mined in one block: the worst that can come of what was signed. */
const mineAll = (chain: LedgerChain): void => {
  for (const { txid } of [...chain.txs.values()].sort((left, right) => right.amount - left.amount))
    chain.mine(txid)
}

const runSchedule = async (
  t: ExecutionContext,
  seed: number,
  { devices: deviceCount, counts }: { devices: number; counts: Map<string, number> }
): Promise<void> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const scene = {
    world,
    random: makeSeededRandom(seed),
    counts,
    passed: 0,
    isRateKnown: true,
    isMade: false
  } as {
    -readonly [K in keyof Scene]: Scene[K]
  }
  scene.trueNow = () => world.clock.now() + scene.passed
  scene.chain = new LedgerChain(scene.trueNow)
  const devices = [new Device(scene)]
  const [first] = devices as [Device]
  const account = await first.open()
  const made = [
    await account.createCurrencyWallet('wallet:ledger'),
    await account.createCurrencyWallet('wallet:ledger')
  ]
  const ids = made.map(({ id }) => id)
  for (const rule of RULES) await account.policies.add(rule, { password: PASSWORD })
  await account.sync()
  scene.isMade = true
  await first.openWallets(ids)
  for (let more = 1; more < deviceCount; more++) {
    const device = new Device(scene)
    devices.push(device)
    await device.open()
    await device.openWallets(ids)
  }
  for (let step = 0; step < STEPS; step++) await runAction(t, scene.random.pick(devices), ids)
  for (const device of devices) await device.kernel?.close().catch(passWalletError)
  await world.close()
  mineAll(scene.chain)
  const most = mostInADay(scene.chain.txs.values())
  t.true(most <= LIMIT * deviceCount, `seed ${seed}: ${most} of ${LIMIT * deviceCount} in a day`)
  if (most > LIMIT) add(counts, 'days above one limit, of two devices')
}

/** Several at once: each mostly waits. */
const runAll = async (count: number, run: (at: number) => Promise<void>): Promise<void> => {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const at = next
      next += 1
      await run(at)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

const AT_ONCE = 6

const PARTS = runCount(90, 30)
test.serial(`of ${PARTS * IN_A_PART} schedules of one device, none spends more than its budget`, async t => {
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  t.timeout(PARTS * IN_A_PART * 5000)
  const seed = drawSeed(t)
  const counts = new Map<string, number>()
  await runAll(PARTS * IN_A_PART, at => runSchedule(t, seed + at, { devices: 1, counts }))
  logCounts(t, 'what came', counts)
  for (const kind of ['paid', 'refused by daily', 'refused by euros'])
    t.true((counts.get(kind) ?? 0) > 0, `${kind} never came: the schedules would show nothing`)
})

const PARTS_OF_TWO = runCount(10)
test.serial(
  `of ${PARTS_OF_TWO * IN_A_PART} schedules of two devices, none spends more than twice its budget`,
  async t => {
    const alive = setInterval(() => {}, 1000)
    t.teardown(() => clearInterval(alive))
    t.timeout(PARTS_OF_TWO * IN_A_PART * 10_000)
    const seed = drawSeed(t)
    const counts = new Map<string, number>()
    await runAll(PARTS_OF_TWO * IN_A_PART, at => runSchedule(t, seed + at, { devices: 2, counts }))
    logCounts(t, 'what came', counts)
  }
)
