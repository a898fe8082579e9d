import test, { type ExecutionContext } from 'ava'
import { answerEsplora } from '../../../fake-server/http/esplora.ts'
import { type FetchReply, type Io, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const OWN = 'esplora+http://127.0.0.1:3000/api'
const PUBLIC = 'esplora+https://esplora.test/api'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
/** Two branches in each of two formats, with gaps of 25. */
const SCRIPTS = 100
const AT_ONCE = 4
/** Of ten seconds, then two for each branch and as many others, the newest block, and the payment itself. */
const NEWS_QUESTIONS = 44

interface SlowWorld extends TestWorld {
  /** What was asked, in order. */
  readonly paths: string[]
  /** The paths of histories that were not empty. */
  readonly used: Set<string>
  /** Dependent trips so far: what is sent before an answer has come shares one. */
  trips(): number
  /** The most questions that waited for an answer at one time. */
  most(): number
  /** Has a block made when the newest one is asked for next, before the answer; gives its hash once it is there. */
  mineAtNextLook(): Promise<string>
}

/**
 * A world whose server speaks Esplora and takes a second for each answer. All that waits is answered once the wallet has nothing more to
 * do, so that trips are no matter of the machine's speed, and then a second has passed; between trips time runs twenty times as fast.
 */
const makeWorld = (t: ExecutionContext, server: string, { isTimed = false } = {}): SlowWorld => {
  const base = makeNodeIo()
  const paths: string[] = []
  const used = new Set<string>()
  let world: TestWorld | undefined
  let [trips, most] = [0, 0]
  const held: (() => void)[] = []
  let onTip: (() => void) | undefined
  const run = async (): Promise<void> => {
    for (let quiet = 0, seen = 0; quiet < QUIET_TICKS; quiet = seen === held.length ? quiet + 1 : 0) {
      seen = held.length
      await new Promise(resolve => setImmediate(resolve))
    }
    trips += 1
    most = Math.max(most, held.length)
    for (const answer of held.splice(0)) answer()
  }
  const fetch: Io['fetch'] = async (url, { body } = {}): Promise<FetchReply> => {
    const path = url.replace(/^https?:\/\/[^/]+\/api/, '')
    paths.push(path)
    await new Promise<void>(resolve => {
      if (isTimed) return void setTimeout(resolve, 1000 / SPEED)
      held.push(resolve)
      if (held.length === 1) void run()
    })
    if (path === '/blocks/tip/hash') onTip?.()
    const reply = await answerEsplora((world as TestWorld).chain, { path, body })
    if (path.endsWith('/txs') && reply.text !== '[]') used.add(path)
    return { headers: {}, ...reply }
  }
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * SPEED + trips * 1000,
    after: (delayMs, task) => base.clock.after(delayMs / SPEED, task)
  }
  world = makeTestWorld({ io: { fetch, clock }, servers: [server] })
  t.teardown(() => world?.close())
  const { chain } = world
  const mineAtNextLook = (): Promise<string> =>
    new Promise(resolve => {
      onTip = () => {
        onTip = undefined
        chain.mine()
        resolve(chain.view.tip.hash)
      }
    })
  return Object.assign(world, { paths, used, trips: () => trips, most: () => most, mineAtNextLook })
}

const QUIET_TICKS = 40
const SPEED = 20

const isHistory = (path: string): boolean => path.endsWith('/txs')

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

const detailsOf = ({ reported }: TestWallet): { readonly spendable?: string; readonly incoming?: string } =>
  reported.details.at(-1) ?? {}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const openSynced = async (world: TestWorld): Promise<TestWallet> => {
  const wallet = await world.openWallet()
  await until('it is in step', () => isSynced(wallet))
  return wallet
}

test('a start asks once for each script, four at a time, and shows what has come before it has asked for all', async t => {
  const world = makeWorld(t, OWN)
  const owner = await world.openWallet({ isStarted: false })
  world.chain.fund(await addressOf(owner), '70000')
  await owner.engine.startEngine()
  await until('the payment is shown', () => detailsOf(owner).incoming === '70000')
  const [early, before] = [world.paths.filter(isHistory).length, world.trips()]
  t.true(early < SCRIPTS, `${early} scripts before anything is shown`)
  await until('it is in step', () => isSynced(owner))
  const histories = world.paths.filter(isHistory)
  t.log(`shown after ${before} trips and ${early} scripts, in step after ${world.trips()} trips`)
  // One more than the gaps, as one is used.
  t.is(new Set(histories).size, SCRIPTS + 1)
  // Each script asked twice would be more than fifty.
  t.true(world.trips() <= SCRIPTS / AT_ONCE + 20, `${world.trips()} trips`)
  t.is(world.most(), AT_ONCE)
})

for (const [kind, server] of [
  ['of one’s own', OWN],
  ['of others', PUBLIC]
] as const)
  test(`a payment to the next address is seen soon by a server ${kind}, however many others are watched`, async t => {
    const world = makeWorld(t, server)
    const owner = await openSynced(world)
    for (const amount of ['50000', '60000', '70000', '80000', '90000']) {
      world.chain.fund(await addressOf(owner), amount)
      const [before, trips] = [world.paths.length, world.trips()]
      await until(
        'it is shown',
        () => owner.reported.details.at(-1)?.incoming?.startsWith(amount[0] ?? '') === true
      )
      t.log(`${world.paths.length - before} questions, ${world.trips() - trips} trips`)
      t.true(world.paths.length - before <= NEWS_QUESTIONS, `${world.paths.length - before} questions`)
      world.chain.mine()
      await until('it is spendable', () => detailsOf(owner).incoming === '0')
    }
    t.true(world.most() <= AT_ONCE)
  })

test('a new block has those scripts looked at first whose payments wait', async t => {
  const world = makeWorld(t, PUBLIC)
  const owner = await openSynced(world)
  world.chain.fund(await addressOf(owner), '70000')
  await until('it is shown', () => detailsOf(owner).incoming === '70000')
  const hash = await world.mineAtNextLook()
  await until('it is spendable', () => detailsOf(owner).spendable === '70000')
  const [next = ''] = world.paths.slice(world.paths.indexOf(`/block/${hash}`)).filter(isHistory)
  t.true(world.used.has(next))
})

test('a payment leaves before all that a wallet which starts has to ask', async t => {
  const world = makeWorld(t, OWN)
  const owner = await openSynced(world)
  world.chain.fund(await addressOf(owner), '500000')
  world.chain.mine()
  await until('it is rich', () => detailsOf(owner).spendable === '500000')
  const other = await world.openWallet({ isStarted: false })
  const known = new Set(world.paths)
  await other.engine.startEngine()
  const starting = other.engine.syncNetwork({})
  await until('the other one asks', () => world.paths.some(path => isHistory(path) && !known.has(path)))
  const trips = world.trips()
  await owner.send({ spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount('200000') }] })
  t.log(`${world.trips() - trips} trips`)
  // Behind the questions of the other one it would be about fifty.
  t.true(world.trips() - trips <= 12, `${world.trips() - trips} trips`)
  await starting
})

// Making so many blocks would keep the others waiting.
test.serial('a server that takes most of a minute to show its chain is not said to be silent', async t => {
  const world = makeWorld(t, OWN, { isTimed: true })
  const owner = await world.openWallet({ isStarted: false })
  world.chain.fund(await addressOf(owner), '70000')
  world.chain.mine(1500)
  await owner.engine.startEngine()
  await t.notThrowsAsync(owner.engine.syncNetwork({}))
  t.is(detailsOf(owner).spendable, '70000')
})
