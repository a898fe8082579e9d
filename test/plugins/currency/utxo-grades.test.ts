import test, { type ExecutionContext } from 'ava'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { type ElectrumConnect, makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type Channel, type Io, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoin, litecoin, utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'
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

for (const plugin of [undefined, litecoin] as const) {
  test(`a payment of ${plugin?.id ?? 'bitcoin'} is claimed until a block has it, and then proven by linked headers`, async t => {
    const world = makeTestWorld(plugin === undefined ? {} : { plugin })
    t.teardown(() => world.close())
    const alice = await world.openWallet()
    world.chain.fund(await fresh(alice), '70000')
    await until('it is seen', () => alice.reported.txs.size === 1)
    t.deepEqual(gradesOf(alice), ['claimed unconfirmed'])
    world.chain.mine()
    await until('it is proven', () => gradesOf(alice).join() === 'proven')
    await until('the balance, too', () => alice.reported.details.at(-1)?.grade === 'proven')
    t.is(alice.reported.details.at(-1)?.spendable, nativeAmount('70000'))

    // Nobody else can have made own change.
    const bob = await world.openWallet()
    await alice.send({
      spendTargets: [{ publicAddress: await fresh(bob), nativeAmount: nativeAmount('30000') }]
    })
    t.is(alice.reported.txs.size, 2)
    t.is(alice.reported.details.at(-1)?.grade, 'proven')
    world.chain.fund(await fresh(alice), '5000')
    await until('more is coming', () => alice.reported.details.at(-1)?.incoming === '5000')
    t.is(alice.reported.details.at(-1)?.grade, 'proven', 'what is incoming has no grade')
  })
}

test('after a reorganisation a payment is proven in its new block, also at the same height', async t => {
  const world = makeTestWorld()
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
    const alice = await world.openWallet({ isStarted: false })
    const txid = chain.fund(await fresh(alice), '70000')
    chain.mine(2)
    isArmed = true
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
  plugin = bitcoin,
  urls = chains.map((_, at) => `tcp://chain${at + 1}.test:${at + 1}`)
): TestWorld & { readonly ports: number[]; cut(): void } => {
  const servers: ElectrumConnect[] = chains.map(chain => makeElectrumConnect(chain))
  const ports: number[] = []
  let cut = (): void => {}
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    ports.push(address.port)
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
    io: { connect },
    servers: urls
  })
  t.teardown(() => world.close())
  return Object.assign(world, { ports, cut: () => cut() })
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
  const first = makeTestWorld({ chain, disk })
  const store = makeTestStore()
  const alice = await first.openWallet({ store })
  const { privateKeys: keys } = alice
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is proven', () => gradesOf(alice).join() === 'proven')
  await until('it is kept', async () => (await disk.list('headers-regtest')).length === 2)
  await first.close()

  const second = makeTestWorld({ chain, disk })
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
  const third = makeTestWorld({ chain, disk })
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

test('a payment that a second server does not have stays claimed, and the difference is told', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other], claimedBitcoin)
  const alice = await world.openWallet()
  const txid = chain.fund(await fresh(alice), '70000')
  other.mine()
  chain.mine()
  const difference = new RegExp(
    `chain2.test:2 has no payment ${txid} in block 151, where tcp://chain1.test:1 has it`
  )
  await until('it is told', () => alice.reported.statuses.some(text => difference.test(text)))
  t.deepEqual(gradesOf(alice), ['claimed'])
})

test('a payment that the first server withholds is told by the second', async t => {
  const chain = newChain(150)
  const other = forkOf(chain)
  const world = twoChains(t, [chain, other], claimedBitcoin)
  const alice = await world.openWallet()
  const address = await fresh(alice)
  const withheld = other.fund(address, '5000')
  other.mine()
  chain.fund(address, '70000')
  chain.mine()
  const difference = new RegExp(`chain2.test:2 has payment ${withheld} in block 151, which tcp://chain1`)
  await until('it is told', () => alice.reported.statuses.some(text => difference.test(text)))
  t.false(gradesOf(alice).includes('agreed'))
})

test('without an answer of the second server a wallet goes on with what one claims', async t => {
  const chain = newChain(150)
  const base = makeElectrumConnect(chain)
  const connect: NonNullable<Io['connect']> = (address, handlers) =>
    address.port === 1 ? base.connect(address, handlers) : Promise.reject(new Error('ECONNREFUSED'))
  const servers = ['tcp://chain1.test:1', 'tcp://chain2.test:2']
  const world = makeTestWorld({ chain, plugin: claimedBitcoin, io: { connect }, servers })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  chain.fund(await fresh(alice), '70000')
  chain.mine()
  await until('it is spendable', () => alice.reported.details.at(-1)?.spendable === '70000')
  await alice.engine.syncNetwork({})
  t.deepEqual(gradesOf(alice), ['claimed'])
  t.is(alice.reported.ratios.at(-1), 1)
})
