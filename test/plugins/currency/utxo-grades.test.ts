import test, { type ExecutionContext } from 'ava'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { type ElectrumConnect, makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type Channel, type CurrencyPlugin, type Io, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { SecondOpinion } from '../../../plugins/currency/utxo/grades.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { BAD, line, makeHostileWorld, type Twist } from './hostile-world.ts'
import { makeTestStore, makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const { clock, random } = makeNodeIo()

const gradesOf = ({ reported }: TestWallet): (string | undefined)[] =>
  [...reported.txs.values()].map(
    ({ grade, blockHeight }) => `${grade}${blockHeight > 0 ? '' : ' unconfirmed'}`
  )

const fresh = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

/** A coin whose regtest proves what it links, as a main network does. */
const weighed = (row: CoinRow): CurrencyPlugin =>
  utxoPlugin({
    ...row,
    networks: row.networks.map(network =>
      network.linking === undefined
        ? network
        : { ...network, linking: { ...network.linking, isWorthless: false } }
    ) as unknown as CoinRow['networks']
  })
const weighedBitcoin = weighed(bitcoinRow)

for (const plugin of [weighedBitcoin, weighed(litecoinRow)]) {
  test(`a payment of ${plugin.id} is claimed until a block has it, and then proven by linked headers`, async t => {
    const world = makeTestWorld({ plugin })
    t.teardown(() => world.close())
    const alice = await world.openWallet()
    world.chain.fund(await fresh(alice), '70000')
    await until('it is seen', () => alice.reported.txs.size === 1)
    t.deepEqual(gradesOf(alice), ['claimed unconfirmed'])
    world.chain.mine()
    await until('it is proven', () => gradesOf(alice).join() === 'proven')
    await until('the balance, too', () => alice.reported.details.at(-1)?.paymentsGrade === 'proven')
    t.is(alice.reported.details.at(-1)?.grade, 'claimed', 'only the server says that it is unspent')
    t.is(alice.reported.details.at(-1)?.spendable, nativeAmount('70000'))

    // Nobody else can have made own change.
    const bob = await world.openWallet()
    await alice.send({
      spendTargets: [{ publicAddress: await fresh(bob), nativeAmount: nativeAmount('30000') }]
    })
    t.is(alice.reported.txs.size, 2)
    t.is(alice.reported.details.at(-1)?.paymentsGrade, 'proven')
    world.chain.fund(await fresh(alice), '5000')
    await until('more is coming', () => alice.reported.details.at(-1)?.incoming === '5000')
    t.is(alice.reported.details.at(-1)?.paymentsGrade, 'proven', 'what is incoming has no grade')
  })
}

test('after a reorganisation a payment is proven in its new block, also at the same height', async t => {
  const world = makeTestWorld({ plugin: weighedBitcoin })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const txid = world.chain.fund(await fresh(alice), '70000')
  world.chain.mine()
  await until('it is proven', () => gradesOf(alice).join() === 'proven')
  const blockOf = (): string => alice.store.map.get(`t/${txid}`)?.split(' ')[6] ?? ''
  await until('it is saved', () => blockOf() !== '')
  const before = blockOf()
  world.chain.reorg(1)
  world.chain.mine()
  await until('it lies elsewhere', () => blockOf() !== before && gradesOf(alice).join() === 'proven')
  t.is(world.chain.view.blockAt(alice.reported.txs.get(txid)?.blockHeight ?? 0)?.hash, blockOf())
})

for (const [method, what] of [
  ['blockchain.transaction.get_merkle', 'between the proof of a payment and the header of its block'],
  ['blockchain.scripthash.get_history', 'between the history of a payment and its proof']
] as const) {
  test(`a server whose chain is reorganised ${what} is asked again, and not left`, async t => {
    const chain = newChain(150)
    const electrum = makeElectrumConnect(chain)
    let isArmed = false
    let opened = 0
    const connect: NonNullable<Io['connect']> = async (address, handlers) => {
      opened++
      const channel = await electrum.connect(address, handlers)
      let sending = Promise.resolve()
      const pass = async (text: string): Promise<void> => {
        channel.send(text)
        if (!isArmed || !text.includes(method)) return
        isArmed = false
        for (let waited = 0; waited < 3; waited++) await clock.turn()
        chain.reorg(2)
        chain.mine()
      }
      return {
        close: () => channel.close(),
        send: text => {
          for (const each of text.split('\n'))
            if (each !== '') sending = sending.then(() => pass(`${each}\n`))
        }
      }
    }
    const world = makeTestWorld({ chain, io: { connect } })
    t.teardown(() => world.close())
    // Of scripts that it knows, a wallet asks for histories only after their statuses.
    const { engine, privateKeys: keys, store } = await world.openWallet()
    await engine.killEngine()
    const alice = await world.openWallet({ keys, store, isStarted: false })
    const txid = chain.fund(await fresh(alice), '70000')
    chain.mine(2)
    isArmed = true
    opened = 0
    await alice.engine.startEngine()
    await until('it is in its new block', () => alice.reported.txs.get(txid)?.blockHeight === 154)
    await alice.engine.syncNetwork({})
    t.false(isArmed)
    t.deepEqual([opened, alice.reported.connections.filter(server => server !== undefined)], [1, []])
  })
}

/** Two servers of chains that may differ; the first is asked until it is cut off. */
const twoChains = (
  t: ExecutionContext,
  chains: readonly FakeChain[],
  plugin = weighedBitcoin,
  urls = chains.map((_, at) => `tcp://chain${at + 1}.test:${at + 1}`)
): TwoChains => {
  const servers: ElectrumConnect[] = chains.map(chain => makeElectrumConnect(chain))
  const ports: number[] = []
  let passedMs = 0
  let cut = (): void => {}
  const hooks: TwoChains['hooks'] = { onOpen: () => {} }
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    ports.push(address.port)
    hooks.onOpen(address.port)
    if (address.port === 2 && hooks.onSilent !== undefined) return hooks.onSilent()
    const channel = await (servers[address.port - 1] as ElectrumConnect).connect(address, handlers)
    // Not a connection in which the second one is compared.
    if (address.port === 1)
      cut = () => {
        channel.close()
        handlers.onClose(new Error('cut'))
      }
    return channel
  }
  const world = makeTestWorld({
    chain: chains[0] as FakeChain,
    plugin,
    io: {
      connect,
      clock: {
        ...clock,
        monotonic: () => clock.monotonic() + passedMs,
        now: () => clock.now() + passedMs
      }
    },
    servers: urls
  })
  t.teardown(() => world.close())
  return Object.assign(world, {
    ...{ ports, hooks, cut: () => cut() },
    pass: (ms: number) => {
      passedMs += ms
    },
    serve: (port: number, chain: FakeChain | undefined) => {
      servers[port - 1] =
        chain === undefined
          ? ({ connect: () => Promise.reject(new Error('ECONNREFUSED')) } as unknown as ElectrumConnect)
          : makeElectrumConnect(chain)
    }
  })
}

interface TwoChains extends TestWorld {
  /** Of each connection, in order. */
  readonly ports: number[]
  readonly hooks: { onOpen(port: number): void; onSilent?: () => Channel }
  cut(): void
  /** Lets the clock jump. */
  pass(ms: number): void
  /** Puts another chain behind a port; undefined for no server. */
  serve(port: number, chain: FakeChain | undefined): void
}

const forkOf = (chain: FakeChain): FakeChain =>
  openFakeChain({ clock, random, network: BITCOIN_REGTEST, saved: chain.toJson() })

const newChain = (blocks: number): FakeChain => {
  const chain = openFakeChain({ clock, random, network: BITCOIN_REGTEST })
  chain.mine(blocks)
  return chain
}

for (const [kind, sentence, others] of [
  ['weaker', /chain from block 151 on has less work/, (chain: FakeChain) => chain.mine(1)],
  ['stale', /9 blocks behind/, () => undefined]
] as const) {
  test(`a server of a ${kind} chain is refused with the reason, and the wallet stays with the other one`, async t => {
    const chain = newChain(150)
    const other = forkOf(chain)
    const world = twoChains(t, [chain, other])
    const alice = await world.openWallet()
    chain.fund(await fresh(alice), '70000')
    chain.mine(9)
    await until('it is proven', () => gradesOf(alice).join() === 'proven')
    others(other)
    world.cut()
    await until('the other was refused', () => alice.reported.statuses.some(text => sentence.test(text)))
    await until('the first serves again', () => (alice.reported.connections.at(-1) ?? '') === '')
    await alice.engine.syncNetwork({})
    t.deepEqual(gradesOf(alice), ['proven'])
    t.is(alice.reported.heights.at(-1), chain.height)
    t.true(alice.reported.heights.every((height, at, all) => height >= (all[at - 1] ?? 0)))
  })
}

test('a chain with more work replaces the one that was linked', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other])
  const alice = await world.openWallet()
  const txid = chain.fund(await fresh(alice), '70000')
  chain.mine(2)
  await until('it is proven', () => gradesOf(alice).join() === 'proven')
  other.mine(30)
  world.cut()
  await until('it is gone', () => (alice.reported.txs.get(txid)?.blockHeight ?? 1) <= 0)
  await until('the height is the other one', () => alice.reported.heights.at(-1) === 180)
  t.is(alice.reported.details.at(-1)?.grade, 'claimed')
})

const forgedTip: Twist = (method, reply) => {
  if (method !== 'blockchain.headers.subscribe' || reply.result === undefined) return line(reply)
  const { hex, height } = reply.result as { hex: string; height: number }
  const other = `${hex.slice(0, 8)}${'ab'.repeat(32)}${hex.slice(72)}`
  return line({ ...reply, result: { hex: other, height } })
}

test('a server that alone shows a forged tip fails the sync with a typed error, and nothing is called proven', async t => {
  const world = makeHostileWorld(forgedTip, { servers: [BAD], speed: 5 })
  t.teardown(() => world.close())
  const alice = await world.openWallet({ isStarted: false })
  world.chain.fund(await fresh(alice), '70000')
  world.chain.mine()
  await alice.engine.startEngine()
  const error = await t.throwsAsync(alice.engine.syncNetwork({}), { code: 'CHAIN_REFUSED' })
  t.like(error, { details: { server: BAD, refused: 'forged' } })
  t.false(gradesOf(alice).includes('proven'))
})

test('linked headers are kept on the disk, for all wallets of the coin, and a warm start asks only for the newest', async t => {
  const [disk, chain] = [memoryDisk(), newChain(300)]
  const plugin = weighedBitcoin
  const first = makeTestWorld({ chain, disk, plugin })
  const store = makeTestStore()
  const alice = await first.openWallet({ store })
  const { privateKeys: keys } = alice
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is proven', () => gradesOf(alice).join() === 'proven')
  await until('it is kept', async () => (await disk.list('headers-regtest')).length === 2)
  await first.close()

  const second = makeTestWorld({ chain, disk, plugin })
  t.teardown(() => second.close())
  chain.mine(3)
  const again = await second.openWallet({ store, keys })
  await second.openWallet()
  t.deepEqual(gradesOf(again), ['proven'])
  const requests = second.sent
    .join('')
    .split('\n')
    .filter(text => text.includes('block.headers'))
  t.deepEqual(
    requests.map(text => JSON.parse(text).params),
    [[289, 2016]]
  )
  // What is damaged on the disk is linked again.
  await disk.setText('headers-regtest/0', 'AAAA')
  const third = makeTestWorld({ chain, disk, plugin })
  t.teardown(() => third.close())
  const last = await third.openWallet({ store, keys })
  await until('proven again', () => gradesOf(last).join() === 'proven')
})

const claimedBitcoin = utxoPlugin({
  ...bitcoinRow,
  networks: [
    bitcoinRow.networks[0],
    // As on signet: nothing of a header can be checked here.
    ...bitcoinRow.networks.slice(1).map(({ linking: _, ...network }) => network)
  ]
} as typeof bitcoinRow)

test('a payment that two servers have in one block is agreed where no work can be checked', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is agreed', () => gradesOf(alice).join() === 'agreed')
  await until('the balance, too', () => alice.reported.details.at(-1)?.grade === 'agreed')
  await until('it is kept', () => [...alice.store.map.values()].some(text => text.includes(' agreed ')))
  t.is(alice.reported.details.at(-1)?.spendable, nativeAmount('70000'))
})

test('two ports of one host do not agree: a payment stays what one server claims', async t => {
  const chain = newChain(150)
  const urls = ['tcp://chain.test:1', 'tcp://chain.test:2']
  const world = twoChains(t, [chain, chain], claimedBitcoin, urls)
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is confirmed', () => alice.reported.details.at(-1)?.spendable === '70000')
  await alice.engine.syncNetwork({})
  t.deepEqual(gradesOf(alice), ['claimed'])
  t.deepEqual([...new Set(world.ports)], [1])
})

const DISAGREE = /^Two servers disagree/
const lastStatus = ({ reported }: TestWallet): string => reported.statuses.at(-1) ?? ''

test('a payment that a second server does not have is no confirmed one, and the difference stands until it ends', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other], claimedBitcoin)
  const alice = await world.openWallet()
  const txid = chain.fund(await fresh(alice), '70000')
  other.mine()
  chain.mine()
  await until('it is seen', () => alice.reported.heights.at(-1) === 151)
  await alice.engine.syncNetwork({})
  const difference = new RegExp(
    `chain2.test:2 has no payment ${txid} in block 151, where tcp://chain1.test:1 has it`
  )
  await until('it is told', async () => {
    world.pass(1_000)
    await alice.engine.syncNetwork({})
    return difference.test(lastStatus(alice))
  })
  for (let looks = 0; looks < 3; looks++) {
    world.pass(700_000)
    await alice.engine.syncNetwork({})
  }
  t.regex(lastStatus(alice), DISAGREE)
  t.deepEqual(gradesOf(alice), ['claimed unconfirmed'])
  t.like(alice.reported.details.at(-1), { grade: 'claimed', spendable: '0', incoming: '70000' })
  world.serve(2, chain)
  await until('it has ended', async () => {
    await alice.engine.syncNetwork({})
    return lastStatus(alice) === ''
  })
  t.deepEqual(gradesOf(alice), ['agreed'])
  await until('the balance, too', () => alice.reported.details.at(-1)?.grade === 'agreed')
})

test('a payment that the first server withholds is told by the second', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  const alice = await world.openWallet()
  const address = await fresh(alice)
  chain.fund(address, '70000')
  chain.mine()
  await until('it is agreed', () => alice.reported.details.at(-1)?.grade === 'agreed')
  const other = forkOf(chain)
  world.serve(2, other)
  const withheld = other.fund(address, '5000')
  other.mine()
  chain.mine()
  const difference = new RegExp(`chain2.test:2 has payment ${withheld} in block 152, which tcp://chain1`)
  await until('it is told', async () => {
    world.pass(600_000)
    await alice.engine.syncNetwork({})
    return alice.reported.statuses.some(text => difference.test(text))
  })
  t.is(alice.reported.details.at(-1)?.grade, 'claimed', 'a balance is never better than its doubts')
})

test('a payment that moves to another block while a second server is asked is no difference', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  const alice = await world.openWallet()
  const txid = chain.fund(await fresh(alice), '70000')
  let isMoved = false
  world.hooks.onOpen = port => {
    if (port !== 2 || isMoved) return
    isMoved = true
    chain.reorg(1)
    chain.mine()
  }
  chain.mine()
  await until('it is agreed in its new block', () => gradesOf(alice).join() === 'agreed')
  t.is(alice.reported.txs.get(txid)?.blockHeight, 153)
  t.deepEqual([isMoved, alice.reported.statuses.filter(text => DISAGREE.test(text))], [true, []])
})

// Since when it waits stands at the end of what is kept of a payment.
const HELD = / claimed \S* \d{10}$/

test('without a second server a payment waits for ten minutes, counts then by the word of one, and the wallet says so', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  world.serve(2, undefined)
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is kept', () => [...alice.store.map.values()].some(text => HELD.test(text)))
  t.deepEqual(gradesOf(alice), ['claimed unconfirmed'])
  t.like(alice.reported.details.at(-1), { spendable: '0', incoming: '70000' })
  t.true((await alice.engine.syncNetwork({})) < 60_000, 'it looks again soon')
  await until('it was asked', () => world.ports.includes(2))
  // Its refusal has come, too.
  await clock.turn()
  world.pass(590_000)
  await alice.engine.syncNetwork({})
  t.deepEqual(gradesOf(alice), ['claimed unconfirmed'])
  world.pass(20_000)
  await alice.engine.syncNetwork({})
  await until('it counts', () => alice.reported.details.at(-1)?.spendable === '70000')
  t.deepEqual(gradesOf(alice), ['claimed'])
  t.is(lastStatus(alice), 'No second server answers: blocks count by the word of one')
  world.serve(2, chain)
  await until('it is agreed', async () => {
    await alice.engine.syncNetwork({})
    return gradesOf(alice).join() === 'agreed'
  })
  t.is(lastStatus(alice), '')
})

test('a payment waits for ten minutes over short sessions, too', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  world.serve(2, undefined)
  const store = makeTestStore()
  const first = await world.openWallet({ store })
  const { privateKeys: keys } = first
  chain.fund(await fresh(first), '70000')
  chain.mine()
  await until('it is kept', () => [...store.map.values()].some(text => HELD.test(text)))
  await first.engine.killEngine()
  world.pass(400_000)
  const second = await world.openWallet({ store, keys })
  await second.engine.syncNetwork({})
  await until('it is told', () => lastStatus(second).endsWith('which does not answer'))
  t.is(second.reported.details.at(-1)?.spendable, nativeAmount('0'))
  await second.engine.killEngine()
  world.pass(210_000)
  const third = await world.openWallet({ store, keys })
  await until('it counts', async () => {
    await third.engine.syncNetwork({})
    return third.reported.details.at(-1)?.spendable === '70000'
  })
  t.deepEqual(gradesOf(third), ['claimed'])
})

test('a second server that never comes to the block of a payment is waited for as long as one that is silent', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, forkOf(chain)], claimedBitcoin)
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is kept', () => [...alice.store.map.values()].some(text => HELD.test(text)))
  world.pass(500_000)
  await until('it is told', async () => {
    await alice.engine.syncNetwork({})
    return lastStatus(alice).endsWith('which has not come to its block')
  })
  t.is(alice.reported.details.at(-1)?.spendable, nativeAmount('0'))
  world.pass(110_000)
  await until('it counts', async () => {
    await alice.engine.syncNetwork({})
    return alice.reported.details.at(-1)?.spendable === '70000'
  })
  t.is(lastStatus(alice), '')
})

test('a third server is asked where two differ about several scripts', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other, chain], claimedBitcoin)
  const alice = await world.openWallet()
  const addresses = [await fresh(alice)]
  chain.fund(addresses[0] ?? '', '70000')
  other.mine()
  chain.mine()
  await until('the next address', async () => (await fresh(alice)) !== addresses[0])
  chain.fund(await fresh(alice), '30000')
  other.mine()
  chain.mine()
  await until('both are agreed', async () => {
    world.pass(1_000)
    await alice.engine.syncNetwork({})
    return gradesOf(alice).join() === 'agreed,agreed'
  })
  t.true(world.ports.includes(3))
})

test('a payment that a second server has contradicted waits when that falls silent, and holds no other one up', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other], claimedBitcoin)
  const alice = await world.openWallet()
  const address = await fresh(alice)
  const doubted = chain.fund(address, '70000')
  other.mine()
  chain.mine()
  await until('it is told', async () => {
    world.pass(1_000)
    await alice.engine.syncNetwork({})
    return DISAGREE.test(lastStatus(alice))
  })
  world.serve(2, undefined)
  await until('the next address', async () => (await fresh(alice)) !== address)
  const later = chain.fund(await fresh(alice), '30000')
  chain.mine()
  await until('it is seen', () => alice.reported.txs.has(later))
  world.pass(610_000)
  await until('the later one counts', async () => {
    await alice.engine.syncNetwork({})
    return alice.reported.details.at(-1)?.spendable === '30000'
  })
  t.is(alice.reported.txs.get(doubted)?.blockHeight, 0)
  t.regex(lastStatus(alice), DISAGREE)
})

test('a question to a second server ends with the wallet', async t => {
  const chain = newChain(150)
  const world = twoChains(t, [chain, chain], claimedBitcoin)
  const silent: { opened: number; closed: number } = { opened: 0, closed: 0 }
  world.serve(2, undefined)
  world.hooks.onSilent = () => {
    silent.opened++
    return { send: () => {}, close: () => silent.closed++ }
  }
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is asked', () => silent.opened === 1)
  await alice.engine.killEngine()
  t.deepEqual(silent, { opened: 1, closed: 1 })
})

test('the word of one server counts once, also where a wallet goes to it while it is compared', async t => {
  const hash = 'ab'.repeat(32)
  const tx = { txid: 'cd'.repeat(32), height: 7, block: hash, grade: 'claimed', heldSince: 0, ours: [] }
  const records = [{ txids: new Set([tx.txid]), scripthash: '11'.repeat(32) }]
  const testimony = {
    ...{ server: 'tcp://second.test:1', height: 9, unspent: [], hashes: new Map([[7, hash]]) },
    histories: [[{ txid: tx.txid, height: 7 }]]
  }
  for (const moves of ['not', 'before', 'meanwhile']) {
    const grades: string[] = []
    let isCurrent = moves !== 'before'
    const opinion = new SecondOpinion(async () => {
      if (moves === 'meanwhile') isCurrent = false
      return testimony
    }, clock)
    opinion.note(records as never)
    const compared = {
      pool: { serverUrl: 'tcp://first.test:1', tip: { height: 9, header: { hash } }, callMany: () => [] },
      ledger: {
        find: () => tx,
        all: () => [],
        isSpent: () => false,
        place: (_: unknown, { grade }: { grade: string }) => grades.push(grade)
      },
      ...{ table: { records: () => records }, scripts: {}, isCurrent: () => isCurrent }
    }
    await new Promise<void>(resolve =>
      opinion.compareSoon(
        () => compared as never,
        async () => resolve()
      )
    )
    t.deepEqual(grades, moves === 'not' ? ['agreed'] : [], moves)
  }
})
