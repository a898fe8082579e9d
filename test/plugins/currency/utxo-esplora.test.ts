import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import test, { type ExecutionContext } from 'ava'
import { answerEsplora, type EsploraReply } from '../../../fake-server/http/esplora.ts'
import {
  type FetchOptions,
  type FetchReply,
  type Io,
  nativeAmount,
  WalletError
} from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const base58check = createBase58check(sha256)
const SERVER = 'esplora+http://127.0.0.1:3000/api'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const ELECTRUM = 'tcp://electrum.test:1'

interface EsploraWorld extends TestWorld {
  /** What was asked, in order. */
  readonly paths: string[]
  /** The most requests that waited for an answer at one time. */
  most(): number
}

/** Changes an answer; `headers` may come with it. */
type Twist = (path: string, reply: EsploraReply) => Promise<Partial<FetchReply>> | Partial<FetchReply>

interface EsploraWorldOptions {
  readonly twist?: Twist
  /** What is said of every payment, which no node gets. */
  readonly refusal?: () => string
  readonly servers?: string[]
  readonly speed?: number
  /** That of waits up to half a minute, such as those for an answer: a busy machine takes a second for one. */
  readonly shortSpeed?: number
}

/** A world whose first server speaks Esplora; time runs `speed` times as fast. */
const makeWorld = (
  t: ExecutionContext,
  { twist, refusal, servers = [SERVER], speed = 1, shortSpeed = speed }: EsploraWorldOptions = {}
): EsploraWorld => {
  const base = makeNodeIo()
  const paths: string[] = []
  let [open, most] = [0, 0]
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * speed,
    after: (delayMs, task) => base.clock.after(delayMs / (delayMs > 30_000 ? speed : shortSpeed), task)
  }
  let world: TestWorld | undefined
  const fetch = async (url: string, { body }: FetchOptions = {}): Promise<FetchReply> => {
    const path = url.replace('http://127.0.0.1:3000/api', '')
    paths.push(path)
    open += 1
    most = Math.max(most, open)
    try {
      await base.clock.turn()
      if (path === '/tx' && refusal !== undefined) return { headers: {}, status: 400, text: refusal() }
      const reply = await answerEsplora((world as TestWorld).chain, { path, body })
      const twisted = (await twist?.(path, reply)) ?? {}
      return { headers: {}, ...reply, ...twisted }
    } finally {
      open -= 1
    }
  }
  world = makeTestWorld({ io: { fetch, clock }, servers })
  t.teardown(() => world?.close())
  return Object.assign(world, { paths, most: () => most })
}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const detailsOf = ({ reported }: TestWallet): { readonly spendable?: string; readonly incoming?: string } =>
  reported.details.at(-1) ?? {}

const pay = (wallet: TestWallet, publicAddress: string, amount: string) =>
  wallet.send({ spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }] })

test('a wallet by Esplora receives, pays and sees blocks, without a word being pushed', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  world.chain.fund(await addressOf(alice), '500000')
  await until('it is seen', () => detailsOf(alice).incoming === '500000')
  world.chain.mine()
  await until('it is spendable', () => detailsOf(alice).spendable === '500000')
  const bob = await world.openWallet()
  const { txid } = await pay(alice, await addressOf(bob), '200000')
  t.true(world.chain.view.mempool.has(txid as never))
  await until('the payee sees it', () => detailsOf(bob).incoming === '200000')
  world.chain.mine()
  await until('both have it in a block', () =>
    [alice, bob].every(({ reported }) => (reported.txs.get(txid)?.blockHeight ?? 0) > 0)
  )
  t.is(detailsOf(bob).spendable, '200000')
  t.true(world.most() <= 4)
})

test('a key is swept by Esplora', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  // Private key 1 of a test network, whose address is that of BIP-173.
  const key = base58check.encode(Uint8Array.of(239, ...new Uint8Array(31), 1, 1))
  world.chain.fund(PAYEE, '70000')
  world.chain.mine()
  world.chain.fund(PAYEE, '30000')
  const swept = await alice.sweep({ tokenId: null, spendTargets: [] }, [key])
  t.is(Number(swept?.nativeAmount) + Number(swept?.networkFee), 70_000)
  t.like(swept?.otherParams, { leftOut: { incoming: '30000' } })
  t.is(world.chain.broadcast(swept?.signedTx ?? ''), swept?.txid ?? '')
})

test('a history of several pages is read to its end', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  for (let i = 0; i < 61; i += 1) {
    world.chain.fund(address, '10000')
    if (i % 20 === 0) world.chain.mine()
  }
  world.chain.mine()
  await until('all of it is there', () => detailsOf(alice).spendable === '610000')
  t.true(world.paths.filter(path => path.includes('/txs/chain/')).length >= 2)
})

test('more blocks than come at once are linked, and a payment in each is proven to be in its block', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  for (let i = 0; i < 33; i += 1) {
    world.chain.fund(address, '10000')
    world.chain.mine()
  }
  await until('all of it is there', () => detailsOf(alice).spendable === '330000')
  // The headers may be linked after the scripts have been asked for.
  await until('all blocks are known', () => alice.reported.heights.at(-1) === world.chain.height)
  await until('a payment is proven', () => world.paths.some(path => path.endsWith('/merkle-proof')))
  t.is(detailsOf(alice).spendable, '330000')
})

test('a block that comes while the headers below it are read is not missed', async t => {
  let left = 0
  let world: EsploraWorld | undefined
  const twist: Twist = (path, reply) => {
    if (path !== '/blocks/tip/hash' || left === 0 || world === undefined) return reply
    left -= 1
    // More than one, so that the headers between are asked for.
    world.chain.mine(2)
    return { text: world.chain.view.tip.hash }
  }
  world = makeWorld(t, { twist })
  const { chain } = world
  const alice = await world.openWallet()
  left = 2
  await until('all blocks are known', () => left === 0 && alice.reported.heights.at(-1) === chain.height)
  t.is(alice.reported.heights.at(-1), chain.height)
})

test('a server that is asked too often is left alone for as long as it says, and then everything is there', async t => {
  let refused = 0
  const world = makeWorld(t, {
    speed: 10,
    twist: (path, reply) => {
      if (!path.startsWith('/scripthash/') || refused >= 8) return reply
      refused += 1
      return {
        status: 429,
        text: 'Too many requests',
        ...(refused % 2 ? {} : { headers: { 'retry-after': '7' } })
      }
    }
  })
  const alice = await world.openWallet({ isStarted: false })
  await alice.engine.startEngine()
  await until('it is in step', () => alice.reported.ratios.at(-1) === 1)
  t.is(refused, 8)
  t.true(world.most() <= 4)
  t.deepEqual(
    alice.reported.connections.filter(server => server !== undefined),
    []
  )
})

test('a server that is busy for minutes gives way to the next one; alone it is waited for, and the status says so', async t => {
  const busy = { status: 503, text: '', headers: { 'retry-after': '600' } }
  const first = makeWorld(t, { speed: 10, twist: () => busy, servers: [SERVER, ELECTRUM] })
  const alice = await first.openWallet({ isStarted: false })
  await alice.engine.startEngine()
  await until('the next one is asked', () => alice.reported.ratios.at(-1) === 1)
  t.true(first.paths.length <= 4)
  let left = 3
  const shortly = { ...busy, headers: { 'retry-after': '20' } }
  const alone = makeWorld(t, { speed: 10, twist: () => (left-- > 0 ? shortly : {}) })
  const bob = await alone.openWallet({ isStarted: false })
  await bob.engine.startEngine()
  await until('it has answered', () => bob.reported.ratios.at(-1) === 1)
  t.true(bob.reported.statuses.some(text => text.includes('The server is busy, and asked again in 20 s')))
})

test('a wallet whose only server was busy for minutes is not said to wait for it any more', async t => {
  let left = 0
  const busy = { status: 503, text: '', headers: { 'retry-after': '600' } }
  const world = makeWorld(t, { speed: 40, shortSpeed: 5, twist: () => (left-- > 0 ? busy : {}) })
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  await until('it is in step', () => alice.reported.ratios.at(-1) === 1)
  left = 6
  await until('it is busy', () => alice.reported.statuses.at(-1)?.includes('is busy') === true)
  const txid = world.chain.fund(address, '70000')
  await until('it is in step again', () => alice.reported.txs.has(txid))
  t.is(alice.reported.statuses.at(-1), '')
})

test('a payment that moves to another block is shown there, although its script has as many as before', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  const txid = world.chain.fund(await addressOf(alice), '70000')
  world.chain.mine()
  const height = (): number => alice.reported.txs.get(txid)?.blockHeight ?? 0
  await until('it is in a block', () => height() > 0)
  const before = height()
  world.chain.reorg(1)
  world.chain.mine()
  await until('it is in a later one', () => height() > before)
  t.is(
    height(),
    world.chain.view.scripts === undefined ? 0 : (world.chain.view.find(txid as never)?.height ?? 0)
  )
})

test('of a refusal only words of nodes are shown, and where a node says nothing the payment may be out', async t => {
  let said = ''
  const world = makeWorld(t, { refusal: () => `sendrawtransaction RPC error: ${said}` })
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  world.chain.fund(address, '500000')
  world.chain.mine()
  await until('it is rich', () => detailsOf(alice).spendable === '500000')
  for (const [text, code, reason] of [
    [
      '{"code":-26,"message":"min relay fee not met, 10 < 110"}',
      'BROADCAST_REFUSED',
      'min relay fee not met'
    ],
    ['{"code":-28,"message":"Loading block index..."}', 'NETWORK', undefined],
    ['Install the update from http://evil.test', 'NETWORK', undefined]
  ] as const) {
    said = text
    const refusal = await t.throwsAsync(pay(alice, PAYEE, '10000'))
    t.like(refusal, { code }, text)
    t.is((refusal as { details?: { reason?: string } }).details?.reason, reason)
  }
  t.false(alice.reported.statuses.some(text => text.includes('evil.test')))
})

test('a target without a rate takes that of a faster one, and a server without rates has none', async t => {
  for (const [rates, isDear] of [
    ['{"1":87.9,"144":2}', true],
    ['{}', false]
  ] as const) {
    const world = makeWorld(t, {
      twist: (path, reply) => (path === '/fee-estimates' ? { text: rates } : reply)
    })
    const alice = await world.openWallet()
    const address = await addressOf(alice)
    world.chain.fund(address, '500000')
    world.chain.mine()
    await until('it is rich', () => detailsOf(alice).spendable === '500000')
    const draft = await alice.engine.makeSpend(
      { tokenId: null, spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount('10000') }] },
      {}
    )
    t.is(BigInt(draft.networkFee) > 9000n, isDear, rates)
  }
})

test('where a server fails, breaks the protocol or lies, the next one is asked, of the other kind too', async t => {
  const failures: readonly Twist[] = [
    () => ({ status: 500, text: 'Internal error' }),
    path => {
      if (path.includes('/txs')) throw new WalletError('REPLY_TOO_LARGE', { source: path, limit: 1 })
      return {}
    },
    (path, reply) => (path.includes('/txs') ? { text: '<html>' } : reply),
    (path, reply) => (path.includes('/txs') ? { text: '[{"txid":"no"}]' } : reply),
    (path, reply) => (path.endsWith('/header') ? { text: '00'.repeat(80) } : reply),
    (path, reply) =>
      path.endsWith('/merkle-proof') ? { text: '{"block_height":1,"merkle":[],"pos":0}' } : reply,
    async path => {
      if (path.startsWith('/scripthash')) throw Object.assign(new Error('secret'), { code: 'ECONNRESET' })
      return {}
    }
  ]
  for (const [at, twist] of failures.entries()) {
    const world = makeWorld(t, { twist, servers: [SERVER, ELECTRUM], speed: 50, shortSpeed: 5 })
    const keys = (await world.openWallet({ isStarted: false })).privateKeys
    const carol = await world.openWallet({ isStarted: false, keys })
    world.chain.fund(await addressOf(carol), '90000')
    world.chain.mine()
    await carol.engine.startEngine()
    await until(`failure ${at}`, () => carol.reported.txs.size === 1)
    t.true(world.sent.length > 0, `failure ${at}`)
    t.false(carol.reported.statuses.some(text => text.includes('secret')))
  }
})

test('after an Electrum server has taken over, no history is asked for again that Esplora has shown', async t => {
  let isGone = false
  const world = makeWorld(t, {
    servers: [SERVER, ELECTRUM],
    twist: (_path, reply) => (isGone ? { status: 502, text: '' } : reply)
  })
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  for (const amount of ['10000', '20000', '30000']) {
    world.chain.fund(address, amount)
    world.chain.mine()
  }
  await until('all of it is there', () => detailsOf(alice).spendable === '60000')
  await until('Electrum was not followed', () => alice.reported.ratios.at(-1) === 1)
  isGone = true
  const before = world.sent.length
  await until(
    'another one is there',
    () => alice.reported.connections.at(-1) === undefined && alice.reported.connections.length > 1
  )
  await alice.engine.syncNetwork({})
  const histories = world.sent.slice(before).filter(text => text.includes('get_history'))
  t.deepEqual(histories, [])
})

test('a second server of another kind agrees on a block', async t => {
  const world = makeWorld(t, { servers: [SERVER, ELECTRUM] })
  const alice = await world.openWallet()
  const txid = world.chain.fund(await addressOf(alice), '80000')
  world.chain.mine()
  await until('two have it', () => alice.reported.txs.get(txid)?.grade === 'agreed')
  t.is(detailsOf(alice).spendable, '80000')
})

test('an address that is none is refused with the forms that are', async t => {
  for (const url of [
    'esplora://host',
    'esplora+https://',
    'esplora+https://user:word@host/api',
    'esplora+https://host/api?key=1',
    'rpc+http://127.0.0.1',
    'rpc+http://user:word@127.0.0.1:8332',
    'rpc+http://127.0.0.1:8332/wallet/mine'
  ])
    t.throws(
      () => makeTestWorld({ servers: [url] }),
      { message: /no tcp, tls, ws, wss, esplora.*number 1/ },
      url
    )
})
