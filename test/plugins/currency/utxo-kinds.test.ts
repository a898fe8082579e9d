import test, { type ExecutionContext } from 'ava'
import { makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'
import type { ElectrumLimits } from '../../../fake-server/electrum/session.ts'
import { type Io, nativeAmount } from '../../../kernel/plugin-api.ts'
import { messagesOf } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

interface KindWorld extends TestWorld {
  /** What was sent, by connection. */
  readonly texts: string[][]
  /** Refusals that came back. */
  readonly refusals: string[]
}

/** A world whose server is of a kind, answers late and in small pieces. */
const makeKindWorld = (
  t: ExecutionContext,
  kind: ServerKind,
  {
    limits = {},
    delayMs = 30,
    isOneByOne = false
  }: { limits?: Partial<ElectrumLimits>; delayMs?: number; isOneByOne?: boolean } = {}
): KindWorld => {
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const { chain, close } = makeTestWorld()
  t.teardown(close)
  chain.mine(3)
  const electrum = makeElectrumConnect(chain, { kind, limits, delayMs, sliceLength: 700 })
  const texts: string[][] = []
  const refusals: string[] = []
  const connect: NonNullable<Io['connect']> = async (address, handlers) => {
    const sent: string[] = []
    texts.push(sent)
    let line = ''
    let last = Promise.resolve()
    const onText = (text: string): void => {
      line += text
      if (line.endsWith('\n')) {
        for (const answer of messagesOf(line)) if ('error' in answer) refusals.push(JSON.stringify(answer))
        line = ''
      }
      if (!isOneByOne) return void handlers.onText(text)
      // What the answer before this one has led to is sent, and answered, before it comes.
      last = last.then(async () => {
        await new Promise(resolve => setTimeout(resolve, 2))
        handlers.onText(text)
      })
    }
    const channel = await electrum.connect(address, { ...handlers, onText, onClose: handlers.onClose })
    return {
      close: () => channel.close(),
      send(text) {
        sent.push(text)
        channel.send(text)
      }
    }
  }
  const world = makeTestWorld({ chain, io: { connect } })
  t.teardown(() => world.close())
  return Object.assign(world, { texts, refusals })
}

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

const fresh = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const lossesOf = ({ reported }: TestWallet): readonly unknown[] =>
  reported.connections.filter(lost => lost !== undefined)

/** How many connections a first contact takes. */
const CONNECTIONS: Readonly<Record<keyof typeof serverKinds, number>> = {
  ...{ ours: 1, electrumx: 1, fulcrum: 1, romanz: 1, mempool: 1 },
  ...{ blockstream: 2, personal: 2 }
}

for (const [name, kind] of Object.entries(serverKinds))
  test(`a wallet receives, pays and starts again at a late server of the kind ${name}, which refuses nothing`, async t => {
    const world = makeKindWorld(t, kind)
    const alice = await world.openWallet()
    const txid = world.chain.fund(await fresh(alice), '70000')
    await until('it is incoming', () => alice.reported.txs.get(txid)?.blockHeight === 0)
    world.chain.mine()
    await until('it is spendable', () => alice.reported.details.at(-1)?.spendable === '70000')
    const bob = await world.openWallet()
    const publicAddress = await fresh(bob)
    const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('20000') }]
    const paid = await alice.send({ spendTargets })
    await until('it has arrived', () => bob.balance() === '20000')
    world.chain.mine()
    await until(
      'it is confirmed',
      () => alice.reported.txs.get(paid.txid)?.blockHeight === world.chain.height
    )
    await until('for its payee, too', () => bob.reported.details.at(-1)?.spendable === '20000')
    await alice.engine.killEngine()
    const last = world.chain.fund(publicAddress, '5000')
    const again = await world.openWallet({ keys: alice.privateKeys, store: alice.store })
    await until('it is in step again', () => isSynced(again))
    t.is(again.balance(), alice.balance())
    await until('bob has both', () => bob.reported.txs.has(last))
    t.deepEqual([alice, bob, again].flatMap(lossesOf), [])
    t.is(world.texts.length, CONNECTIONS[name as keyof typeof serverKinds])
    t.deepEqual(world.refusals, [])
    const batches = world.texts.flat().filter(text => text.includes('},{'))
    t.is(batches.length > 0, kind.maxBatch > 0, 'batches are sent where they are taken')
  })

for (const [what, limits] of [
  ['a batch', { maxBatch: 7 }],
  ['a part of a batch', { maxReply: 22_000 }]
] as const)
  test(`${what} that a server finds too large is asked for in smaller ones`, async t => {
    const world = makeKindWorld(t, serverKinds.ours, { limits, delayMs: 0 })
    const alice = await world.openWallet()
    const { engine } = alice
    for (let at = 0; at < 60; at += 1) {
      const { publicAddress } = await engine.getFreshAddress({ tokenId: null, forceIndex: at })
      world.chain.fund(publicAddress, '1000')
    }
    world.chain.mine()
    await until('all is there', () => alice.reported.details.at(-1)?.spendable === '60000')
    const again = await world.openWallet({ keys: alice.privateKeys })
    await until('from the beginning, too', () => again.reported.details.at(-1)?.spendable === '60000')
    t.true(world.refusals.length > 0)
    t.deepEqual([alice, again].flatMap(lossesOf), [])
  })

test('a server that refuses open batches one by one gets smaller ones, and no single requests', async t => {
  const world = makeKindWorld(t, serverKinds.ours, {
    ...{ limits: { maxBatch: 60 }, delayMs: 0, isOneByOne: true }
  })
  const alice = await world.openWallet()
  for (let forceIndex = 0; forceIndex < 150; forceIndex += 1) {
    const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null, forceIndex })
    world.chain.fund(publicAddress, '1000')
  }
  world.chain.mine()
  await until('all is there', () => alice.reported.details.at(-1)?.spendable === '150000')
  const again = await world.openWallet({ keys: alice.privateKeys })
  await until('from the beginning, too', () => again.reported.details.at(-1)?.spendable === '150000')
  const sizes = world.texts.flat().flatMap(text => text.split('\n').map(line => messagesOf(line).length))
  t.true(world.refusals.length > 1)
  t.true(sizes.includes(100))
  t.true(sizes.filter(size => size === 50).length > 10, 'batches are halved, and stay so')
  // A gap has 25 scripts, so that a batch or two may have as many.
  t.true(sizes.filter(size => size === 25).length < 5, 'they are not halved again')
  t.deepEqual([alice, again].flatMap(lossesOf), [])
})

test('a server that shows nothing of a long history takes no payment away that the chain has', async t => {
  const limits = { maxHistory: 2 }
  const world = makeKindWorld(t, serverKinds.fulcrum, { limits, delayMs: 0 })
  const alice = await world.openWallet()
  const publicAddress = await fresh(alice)
  world.chain.fund(publicAddress, '1000')
  world.chain.fund(publicAddress, '2000')
  world.chain.mine()
  await until('both are there', () => alice.reported.details.at(-1)?.spendable === '3000')
  world.chain.mine(120)
  await until('they lie deep', () => alice.reported.heights.at(-1) === world.chain.height)
  world.chain.fund(publicAddress, '4000')
  await until('the server is refused', () => lossesOf(alice).length > 0)
  t.is(alice.balance(), '3000')
  t.true(alice.reported.statuses.some(text => text.includes('shows nothing of a payment')))
})
