import test, { type ExecutionContext } from 'ava'
import {
  type FetchOptions,
  type FetchReply,
  type Io,
  isWalletError,
  makeAbort,
  nativeAmount,
  type SigningOptions,
  type SpendInfo,
  WalletError
} from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { NodeHistory } from '../../../plugins/currency/utxo/http/node-history.ts'
import { NodeRpc } from '../../../plugins/currency/utxo/http/node-rpc.ts'
import { readWif } from '../../../plugins/currency/utxo/keys/wif.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { scriptOfKey } from '../../../plugins/currency/utxo/spend/foreign-coins.ts'
import { FakeNode } from '../../helpers/fake-node.ts'
import { makeTestStore, makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const SERVER = 'rpc+http://127.0.0.1:8332'
const ELECTRUM = 'tcp://electrum.test:1'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

interface NodeWorld extends TestWorld {
  readonly node: FakeNode
  /** What the node has answered of payments so far, in letters. */
  readonly answered: () => number
}

interface NodeWorldOptions {
  readonly servers?: string[]
  readonly speed?: number
  /** Answers in the place of the node. */
  readonly instead?: () => Partial<FetchReply> | undefined
}

/** A world whose first server is a node without an indexer; time runs `speed` times as fast. */
const makeWorld = (
  t: ExecutionContext,
  { servers = [SERVER], speed = 1, instead = () => undefined }: NodeWorldOptions = {}
): NodeWorld => {
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const base = makeNodeIo()
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * speed,
    after: (delayMs, task) => base.clock.after(delayMs / speed, task)
  }
  let node: FakeNode | undefined
  let letters = 0
  const fetch = async (_url: string, { body = '' }: FetchOptions = {}): Promise<FetchReply> => {
    await base.clock.turn()
    const reply = instead() ?? (await (node as FakeNode).answer(body))
    if (/listsinceblock|listtransactions|gettransaction/.test(body)) letters += reply.text?.length ?? 0
    return { status: 200, text: '', headers: {}, ...reply }
  }
  const world = makeTestWorld({ io: { fetch, clock }, servers })
  node = new FakeNode(world.chain)
  t.teardown(() => world.close())
  return Object.assign(world, { node, answered: () => letters })
}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const detailsOf = ({ reported }: TestWallet): { readonly spendable?: string; readonly incoming?: string } =>
  reported.details.at(-1) ?? {}

const pay = (wallet: TestWallet, amount: string) =>
  wallet.send({ spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount(amount) }] })

for (const hasDescriptors of [false, true])
  test(`a wallet on a node of one’s own with ${hasDescriptors ? 'descriptors' : 'an older wallet'} receives, pays and sees blocks`, async t => {
    const world = makeWorld(t)
    world.node.hasDescriptors = hasDescriptors
    const alice = await world.openWallet()
    world.chain.fund(await addressOf(alice), '500000')
    await until('it is seen', () => detailsOf(alice).incoming === '500000')
    world.chain.mine()
    await until('it is spendable', () => detailsOf(alice).spendable === '500000')
    const { txid } = await pay(alice, '200000')
    t.true(world.chain.view.mempool.has(txid as never))
    world.chain.mine()
    await until('it is in a block', () => (alice.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
    t.true(BigInt(detailsOf(alice).spendable ?? '0') > 299_000n)
  })

test('the history of before is found by one search for all addresses, and not searched for again', async t => {
  const world = makeWorld(t)
  const { privateKeys: keys } = await world.openWallet({ isStarted: false })
  const before = await world.openWallet({ keys, isStarted: false })
  const address = await addressOf(before)
  for (let i = 0; i < 15; i += 1) {
    world.chain.fund(address, '10000')
    world.chain.mine()
  }
  const alice = await world.openWallet({ keys })
  await until('all of it is there', () => detailsOf(alice).spendable === '150000')
  const bob = await world.openWallet({ keys })
  await until('again', () => detailsOf(bob).spendable === '150000')
  t.is(world.node.called.filter(method => method === 'importmulti').length, 1)
})

test('a payment that waited before the node had the addresses is seen, and the wallet stays connected while the node looks for it', async t => {
  const world = makeWorld(t)
  const { node, chain } = world
  const other = await world.openWallet()
  const alice = await world.openWallet({ isStarted: false })
  chain.fund(await addressOf(alice), '70000')
  let end = (): void => undefined
  node.unloading = new Promise(resolve => (end = resolve))
  await alice.engine.startEngine()
  const syncing = alice.engine.syncNetwork({})
  const callsOf = (method: string): number => node.called.filter(name => name === method).length
  await until('it unloads its wallet', () => callsOf('unloadwallet') === 1)
  await until('it is looked at', () => node.refusedUnloaded > 0)
  end()
  await syncing
  t.is(detailsOf(alice).incoming, '70000')
  chain.fund(await addressOf(other), '50000')
  await until('the other one goes on', () => detailsOf(other).incoming === '50000')
  t.is(callsOf('unloadwallet'), 1)
  t.is(callsOf('createwallet'), 1)
  t.deepEqual(other.reported.connections, [undefined])
})

test('a wallet of the node that someone unloads is loaded again', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  await world.node.answer(JSON.stringify({ id: 1, method: 'unloadwallet', params: ['holdfast'] }))
  world.chain.fund(await addressOf(alice), '70000')
  await until('it is seen', () => detailsOf(alice).incoming === '70000')
  t.deepEqual(alice.reported.connections, [undefined])
})

test('while the node searches its blocks the wallet says how far it is, and goes on by itself at the end', async t => {
  const world = makeWorld(t, { speed: 5 })
  let end = (): void => undefined
  world.node.search = { progress: 0.125, ended: new Promise(resolve => (end = resolve)) }
  const alice = await world.openWallet({ isStarted: false })
  world.chain.fund(await addressOf(alice), '70000')
  world.chain.mine()
  await alice.engine.startEngine()
  await until('it says how far the node is', async () => {
    const failure = await alice.engine.syncNetwork({}).then(
      () => undefined,
      (error: unknown) => error
    )
    return (
      isWalletError(failure, 'NETWORK') &&
      /searches its blocks for the payments of this wallet, 12 % done/.test(failure.message)
    )
  })
  end()
  await until('it has gone on', () => detailsOf(alice).spendable === '70000')
  t.is(alice.reported.txs.size, 1)
})

test('a search whose answer is lost is begun again once the node searches nothing any more', async t => {
  const world = makeWorld(t, { speed: 200 })
  let isScanning = true
  world.node.search = {
    get progress() {
      return isScanning ? 0.5 : undefined
    },
    ended: new Promise<void>(() => undefined)
  }
  const alice = await world.openWallet({ isStarted: false })
  world.chain.fund(await addressOf(alice), '70000')
  world.chain.mine()
  await alice.engine.startEngine()
  const callsOf = (method: string): number => world.node.called.filter(name => name === method).length
  await until('it searches', () => callsOf('importmulti') === 1)
  const before = callsOf('getwalletinfo')
  await until('it is looked at', () => callsOf('getwalletinfo') > before + 50)
  t.is(callsOf('importmulti'), 1, 'a search that goes on is not begun again')
  isScanning = false
  await until('it is begun again', () => callsOf('importmulti') > 1)
  world.node.search = undefined
  await until('it has gone on', () => detailsOf(alice).spendable === '70000')
  t.true(alice.reported.statuses.some(text => text.includes('was lost')))
})

test('a node that has deleted blocks is refused with the reason, and one that knows the keys is not', async t => {
  const world = makeWorld(t)
  world.node.isPruned = true
  const alice = await world.openWallet({ isStarted: false })
  await alice.engine.startEngine()
  const failure = await t.throwsAsync(alice.engine.syncNetwork({}))
  t.regex(failure?.message ?? '', /pruned/)
  world.node.isPruned = false
  await alice.engine.syncNetwork({})
  world.node.isPruned = true
  const again = await world.openWallet({ keys: alice.privateKeys })
  t.is(again.reported.ratios.at(-1), 1)
})

test('blocks that are replaced take a payment with them and bring it back elsewhere', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  const txid = world.chain.fund(await addressOf(alice), '70000')
  world.chain.mine()
  const height = (): number => alice.reported.txs.get(txid)?.blockHeight ?? 0
  await until('it is in a block', () => height() > 0)
  world.chain.mine(14)
  await until('it is deep', () => alice.reported.heights.at(-1) === world.chain.height)
  const before = height()
  world.chain.reorg(15)
  await until('it waits', () => height() === 0)
  world.chain.mine()
  await until('it is in a later block', () => height() > before)
  t.is(height(), world.chain.view.find(txid as never)?.height ?? 0)
})

test('a payment of a block that was replaced is in no mempool, although the index of the node still has it', async t => {
  const world = makeWorld(t)
  world.node.hasIndex = true
  const alice = await world.openWallet()
  world.chain.fund(await addressOf(alice), '500000')
  world.chain.mine()
  await until('it is rich', () => detailsOf(alice).spendable === '500000')
  const tx = await pay(alice, '200000')
  world.chain.mine(14)
  await until('it is deep', () => alice.reported.heights.at(-1) === world.chain.height)
  t.deepEqual(await alice.engine.findPayment?.(tx), { state: 'seen' })
  world.chain.reorg(14, { keepTransactions: false, count: 15 })
  t.false(world.chain.view.mempool.has(tx.txid as never))
  await until('it is in no block', () => !((alice.reported.txs.get(tx.txid)?.blockHeight ?? 0) > 0))
  t.deepEqual(await alice.engine.findPayment?.(tx), { state: 'notInMempool' })
  await alice.engine.broadcastTx(tx, {})
  t.deepEqual(await alice.engine.findPayment?.(tx), { state: 'seen' })
})

test('what the node’s wallet remembers and its mempool does not have is no payment that waits', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  world.node.forgotten.push('ab'.repeat(32))
  world.chain.fund(await addressOf(alice), '70000')
  await until('the other one is seen', () => detailsOf(alice).incoming === '70000')
  t.is(alice.reported.txs.size, 1)
})

test('the node judges a payment before it leaves, and its reason is shown in words of nodes alone', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  world.chain.fund(await addressOf(alice), '500000')
  world.chain.mine()
  await until('it is rich', () => detailsOf(alice).spendable === '500000')
  for (const [said, shown] of [
    ['min relay fee not met, 10 < 110', 'min relay fee not met'],
    ['Go to http://evil.test', 'words that are not those of a node']
  ] as const) {
    world.node.refusal = said
    const refusal = (await t.throwsAsync(pay(alice, '10000'))) as { details?: { reason?: string } }
    t.is(refusal.details?.reason, shown)
  }
  t.false(world.node.called.includes('sendrawtransaction'))
})

test('a node that refuses the login, is none, or is behind gives way to the next server, and the status says why', async t => {
  for (const [reply, reason] of [
    [{ status: 401 }, /refuses the login/],
    [{ status: 403 }, /rpcallowip/],
    [{ status: 200, text: '<html>' }, /is no node/],
    [
      { text: '{"id":0,"error":{"code":-28,"message":"Loading block index…"},"result":null}', status: 500 },
      /\(-28\)/
    ],
    [{ text: '{"id":0,"error":null,"result":{"blocks":10,"headers":90}}' }, /10 of 90 blocks/]
  ] as const) {
    const world = makeWorld(t, { servers: [SERVER, ELECTRUM], instead: () => reply })
    const alice = await world.openWallet({ isStarted: false })
    await alice.engine.startEngine()
    await until('another one is there', () => alice.reported.ratios.at(-1) === 1)
    t.true(
      alice.reported.statuses.some(text => reason.test(text)),
      alice.reported.statuses.join('; ')
    )
  }
})

/** Keys of the test networks, compressed and not, of the number one. */
const KEY = 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA'
const LONG_KEY = '91avARGdfge8E4tZfYLoxeJ5sGBdNJQH4kvjJoQFacbgwmaKkrx'
const SWEEP: SpendInfo = {
  ...{ tokenId: null, spendTargets: [], networkFeeOption: 'custom' },
  customNetworkFee: { satPerByte: '5' }
}

const scriptsOf = (key: string): readonly Uint8Array[] => {
  const regtest = bitcoinRow.networks.find(({ name }) => name === 'regtest') ?? bitcoinRow.networks[0]
  const single = readWif(bitcoinRow, regtest, key)
  return single.scripts.map(type => scriptOfKey(single, type).script)
}

test('a wallet goes back to a node of one’s own that was away when it started, and sees and pays there', async t => {
  let isAway = true
  const world = makeWorld(t, {
    servers: [SERVER, ELECTRUM],
    speed: 10,
    instead: () => (isAway ? { status: 500, text: 'away' } : undefined)
  })
  const alice = await world.openWallet({ isStarted: false })
  await alice.engine.startEngine()
  world.chain.fund(await addressOf(alice), '500000')
  world.chain.mine()
  await until('the other server shows it', () => alice.balance() === '500000')
  t.is(world.answered(), 0)
  isAway = false
  await until('the node is asked', () => world.answered() > 0)
  world.chain.fund(await addressOf(alice), '40000')
  await until('it shows what comes', () => alice.balance() === '540000')
  const before = world.answered()
  world.chain.mine()
  await until('all can be spent', () => detailsOf(alice).spendable === '540000')
  const { txid } = await pay(alice, '200000')
  t.true(world.chain.view.mempool.has(txid as never))
  t.true(world.answered() > before)
})

test('a node of one’s own finds the coins of every script of a key, which are swept', async t => {
  for (const [key, count] of [
    [KEY, 5],
    [LONG_KEY, 2]
  ] as const) {
    const world = makeWorld(t)
    const alice = await world.openWallet()
    const scripts = scriptsOf(key)
    t.is(scripts.length, count)
    for (const script of scripts) world.chain.fund(script, '100000')
    world.chain.mine()
    world.chain.fund(scripts[0] as Uint8Array, '70000')
    // It is incoming, and left unless the spend says otherwise.
    const both = await alice.sweep({ ...SWEEP, noUnconfirmed: false }, [key])
    t.is(both.spentCoins?.length, count + 1)
    const swept = await alice.sweep(SWEEP, [key])
    t.is(swept.spentCoins?.length, count)
    t.is(BigInt(swept.nativeAmount) + BigInt(swept.networkFee), BigInt(count * 100_000))
    await alice.engine.broadcastTx(swept, {})
    world.chain.mine()
    await until('it arrives', () => detailsOf(alice).spendable === swept.nativeAmount)
    // What it has spent is not swept again, only what has arrived since.
    t.is((await alice.sweep(SWEEP, [key])).spentCoins?.length, 1)
  }
})

test('an incoming payment is hastened with all that strangers built it on, of which the node knows only sizes and fees', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  const others = makeTestWorld({ chain: world.chain })
  t.teardown(() => others.close())
  const bob = await others.openWallet()
  world.chain.fund(await addressOf(bob), '900000')
  world.chain.mine()
  await until('he is rich', () => detailsOf(bob).spendable === '900000')
  const slow = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '2' } } as const
  const payTo = async (publicAddress: string, amount: string): Promise<string> => {
    const spendTargets = [{ publicAddress, nativeAmount: nativeAmount(amount) }]
    return (await bob.send({ ...slow, spendTargets })).txid
  }
  const first = await payTo(PAYEE, '100000')
  const second = await payTo(await addressOf(alice), '300000')
  await until('it comes', () => detailsOf(alice).incoming === '300000')
  const fast = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '50' } } as const
  const draft = await alice.engine.makeSpend({ ...fast, tokenId: null, spendTargets: [], bumps: second }, {})
  const signed = await alice.engine.signTx(draft, alice.privateKeys)
  await alice.engine.broadcastTx(signed, {})
  const all = [first, second, signed.txid].map(txid => world.chain.view.mempool.get(txid as never))
  const fees = all.reduce((sum, entry) => sum + Number(entry?.fee), 0)
  const bytes = all.reduce((sum, entry) => sum + Number(entry?.tx.vsize), 0)
  t.true(fees / bytes >= 50 && fees / bytes < 51, `${fees / bytes}`)
  world.chain.mine()
  const again = alice.engine.makeSpend({ ...fast, tokenId: null, spendTargets: [], bumps: first }, {})
  await t.throwsAsync(again, { code: 'TX_NOT_FOUND' })
})

test('a coin that a payment in the mempool spends is not swept', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  for (const script of scriptsOf(KEY)) world.chain.fund(script, '100000')
  world.chain.mine()
  await alice.engine.broadcastTx(await alice.sweep(SWEEP, [KEY]), {})
  await t.throwsAsync(alice.sweep(SWEEP, [KEY]), { code: 'NOTHING_TO_SWEEP' })
})

test('a search for coins says how far it is, is stopped in the node, too, and one at a time is made', async t => {
  const world = makeWorld(t, { speed: 2 })
  const alice = await world.openWallet()
  for (const script of scriptsOf(KEY)) world.chain.fund(script, '100000')
  world.chain.mine()
  let end = (): void => undefined
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  world.node.coinSearch = { progress: 37, ended }
  const ratios: number[] = []
  const kept = { frozen: [], reserved: [] }
  const sweep = (options?: SigningOptions) => alice.engine.sweepPrivateKeys?.(SWEEP, [KEY], kept, options)
  const { signal, abort } = makeAbort()
  const stopped = sweep({ signal, onProgress: ratio => void ratios.push(ratio) }) as Promise<unknown>
  await until('it says how far it is', () => ratios.at(-1) === 0.37)
  abort()
  await t.throwsAsync(stopped, { code: 'SIGN_STOPPED' })
  await until('the node stops', () => world.node.stopped === 1)
  // So it does when the wallet is closed.
  const lost = sweep() as Promise<unknown>
  await until('it is asked', () => world.node.called.filter(name => name === 'scantxoutset').length > 4)
  const failed = t.throwsAsync(lost)
  await alice.engine.killEngine()
  await failed
  await until('the node stops again', () => world.node.stopped === 2)
  end()
  world.node.coinSearch = undefined
  world.node.isSearchingCoins = true
  const again = await world.openWallet({ keys: alice.privateKeys, store: alice.store })
  await t.throwsAsync(again.sweep(SWEEP, [KEY]), {
    code: 'NETWORK',
    message: /one search at a time: try again/
  })
  t.is(again.reported.connections.at(-1), undefined, 'the node is not given up')
})

test('a node and an Electrum server agree on a block', async t => {
  const world = makeWorld(t, { servers: [ELECTRUM, SERVER] })
  const alice = await world.openWallet()
  const txid = world.chain.fund(await addressOf(alice), '80000')
  world.chain.mine()
  await until('two have it', () => alice.reported.txs.get(txid)?.grade === 'agreed')
  t.is(detailsOf(alice).spendable, '80000')
})

test('the payments of a node’s wallet are read in pages, however many there are, and a block that comes meanwhile hides none', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { chain } = world
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  const txids: string[] = []
  for (let block = 0; block < 12; block += 1) {
    txids.push(chain.fund(address, '20000'), chain.fund(address, '30000'))
    chain.mine()
  }
  chain.mine(12)
  const node = new FakeNode(chain)
  const { io } = world
  let isLate = true
  let pages = 0
  const rpcIo: Io = {
    ...io,
    async fetch(_url, { body = '' } = {}) {
      if (body.includes('listtransactions') && ++pages === 2 && isLate) {
        isLate = false
        txids.push(chain.fund(address, '40000'))
        chain.mine()
      }
      const reply = { headers: {}, ...(await node.answer(body)) }
      if (reply.text.split('"txid"').length > 6)
        throw new WalletError('REPLY_TOO_LARGE', { maxBytes: 1 } as never)
      return reply
    }
  }
  const rpc = new NodeRpc(rpcIo, { base: 'http://127.0.0.1:8332', wallet: 'holdfast' })
  await rpc.node('createwallet', {})
  await rpc.wallet(node.hasDescriptors ? 'importdescriptors' : 'importmulti', [[]])
  const history = new NodeHistory(rpc, io.crypto, 4)
  const { tip } = await history.read()
  t.is(tip.height, chain.height)
  t.true(pages > 6)
  t.deepEqual(
    txids.filter(txid => !history.has(txid)),
    []
  )
})

/** A wallet with `count` payments in as many blocks, and blocks above them, that was closed when it was up to date. */
const closedWallet = async (
  world: NodeWorld,
  { count = 60, above = 15 } = {}
): Promise<{ readonly alice: TestWallet; readonly txids: readonly string[] }> => {
  const alice = await world.openWallet()
  const address = await addressOf(alice)
  const txids = Array.from({ length: count }, () => {
    const txid = world.chain.fund(address, '10000')
    world.chain.mine()
    return txid
  })
  world.chain.mine(above)
  await until('all is spendable', () => detailsOf(alice).spendable === String(count * 10_000))
  await until('it knows up to which block', async () => {
    await alice.engine.syncNetwork({})
    const [height] = (alice.store.map.get('n') ?? '').split(' ')
    return Number(height) > world.chain.height - 20 && Number(height) > 0
  })
  await alice.engine.killEngine()
  world.node.called.length = 0
  world.node.cursors.length = 0
  return { alice, txids }
}

const reopened = (world: NodeWorld, { privateKeys, store }: TestWallet): Promise<TestWallet> =>
  world.openWallet({ keys: privateKeys, store })

test('a warm start asks a node only for what came behind the block up to which all is known', async t => {
  const world = makeWorld(t)
  const { alice } = await closedWallet(world)
  const before = world.answered()
  const [, cursor] = (alice.store.map.get('n') ?? '').split(' ')
  const again = await reopened(world, alice)
  t.is(detailsOf(again).spendable, '600000')
  t.is(world.node.cursors[0], cursor)
  for (const method of ['listtransactions', 'gettransaction', 'getrawtransaction'])
    t.false(world.node.called.includes(method), method)
  t.true(world.answered() - before < 1000, `${world.answered() - before} letters`)
  // What comes later is seen as before.
  const txid = world.chain.fund(await addressOf(again), '10000')
  world.chain.mine()
  await until('it comes', () => (again.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
  const { txid: spent } = await pay(again, '500000')
  world.chain.mine()
  await until('old coins are spent', () => (again.reported.txs.get(spent)?.blockHeight ?? 0) > 0)
  await again.engine.resyncBlockchain()
  t.true(world.node.called.includes('listtransactions'), 'a resync believes nothing')
  await until('all is there', () => again.reported.ratios.at(-1) === 1)
  t.true(BigInt(again.balance() ?? '0') < 110_000n)
})

for (const forgetsStale of [false, true])
  for (const count of [25, 24])
    test(`a reorganisation while the wallet was closed, to ${count === 24 ? 'the same height' : 'a longer chain'}, is followed by a node that ${forgetsStale ? 'has forgotten' : 'names'} what it took away`, async t => {
      const world = makeWorld(t)
      const { alice, txids } = await closedWallet(world)
      // With nine of the payments, of which none comes back.
      world.chain.reorg(24, { keepTransactions: false, count })
      world.node.forgetsStale = forgetsStale
      const again = await reopened(world, alice)
      await until('they are gone', () => detailsOf(again).spendable === '510000')
      for (const [at, txid] of txids.entries())
        if (at >= 51) t.is(again.reported.txs.get(txid)?.blockHeight ?? -1, -1)
      t.is(world.node.called.includes('listtransactions'), forgetsStale)
      t.is(world.node.called.includes('gettransaction'), false, 'their bytes are known')
    })

test('a reorganisation to the same height moves payments under the eyes of the wallet', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  world.chain.mine(30)
  const address = await addressOf(alice)
  const [lost, moved] = [world.chain.fund(address, '10000'), world.chain.fund(address, '20000')]
  world.chain.mine()
  world.chain.mine(14)
  await until('both are there', () => detailsOf(alice).spendable === '30000')
  const bytes = world.chain.view.find(moved as never)?.tx.hex ?? ''
  const { height } = world.chain
  world.chain.reorg(15, { keepTransactions: false, count: 13 })
  world.chain.broadcast(bytes)
  world.chain.mine(2)
  t.is(world.chain.height, height)
  await until('one is gone', () => detailsOf(alice).spendable === '20000')
  await until('and one has moved', () => alice.reported.txs.get(moved)?.blockHeight === height - 1)
  t.is(alice.reported.txs.get(lost)?.blockHeight, -1)
})

test('addresses and wallets that were not known at the last start show their old payments', async t => {
  const world = makeWorld(t)
  const other = await world.openWallet()
  const late = await world.openWallet()
  const far = async (wallet: TestWallet): Promise<string> =>
    (await wallet.engine.getFreshAddress({ tokenId: null, forceIndex: 60 })).publicAddress
  const keys = other.privateKeys
  const fresh = { keys, store: makeTestStore() }
  const lateTxid = world.chain.fund(await addressOf(late), '30000')
  const farAddress = await far(other)
  world.chain.mine()
  const first = await world.openWallet(fresh)
  const farTxid = world.chain.fund(farAddress, '20000')
  world.chain.mine(15)
  for (const wallet of [other, late]) await wallet.engine.killEngine()
  await until('it is up to date', async () => {
    await first.engine.syncNetwork({})
    return Number((first.store.map.get('n') ?? '').split(' ')[0]) > 0
  })
  t.false(first.reported.txs.has(farTxid))
  await first.engine.killEngine()
  const again = await world.openWallet(fresh)
  await far(again)
  await until('the far one is there', () => again.reported.txs.has(farTxid))
  const lateAgain = await world.openWallet({ keys: late.privateKeys })
  await until('the late wallet is whole', () => lateAgain.reported.txs.has(lateTxid))
})
