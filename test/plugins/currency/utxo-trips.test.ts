import test, { type ExecutionContext } from 'ava'
import type { Io, Json } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { type Rounds, withRounds } from '../../helpers/answer-rounds.ts'
import { withLies } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

/** A chain with payments on each of the first addresses of a wallet. */
const makeUsedWallet = async (
  t: ExecutionContext,
  used: number,
  payments = 1
): Promise<{ readonly world: TestWorld; readonly owner: TestWallet }> => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const owner = await world.openWallet()
  const addresses: string[] = []
  for (let forceIndex = used - 1; forceIndex >= 0; forceIndex -= 1)
    addresses.push((await owner.engine.getFreshAddress({ tokenId: null, forceIndex })).publicAddress)
  await owner.engine.killEngine()
  for (const [at, address] of addresses.entries()) {
    for (let each = 0; each < payments; each += 1) world.chain.fund(address, '1000')
    if (at % 20 === 0) world.chain.mine()
  }
  world.chain.mine()
  return { world, owner }
}

/** Another device, which answers of the server reach in rounds. */
const makeDevice = (t: ExecutionContext, { chain, electrum }: TestWorld): TestWorld & { rounds: Rounds } => {
  const connect: NonNullable<Io['connect']> = (address, handlers) => electrum.connect(address, handlers)
  const rounds = withRounds({ ...makeNodeIo(), connect })
  const { connect: inRounds, clock } = rounds.io
  const device = makeTestWorld({ chain, io: { clock, ...(inRounds && { connect: inRounds }) } })
  t.teardown(() => device.close())
  return Object.assign(device, { rounds })
}

/** Bytes of a request to subscribe a script with a number of four digits, and of the answers for used and unused ones, a comma with each. */
const SUBSCRIPTION = 149
const STATUS = 104
const NO_STATUS = 42

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

test('1,000 used addresses take at most eight dependent trips, a payment two after its push, and a warm start one', async t => {
  const { world, owner } = await makeUsedWallet(t, 1000)
  const device = makeDevice(t, world)
  const { rounds } = device
  const cold = await device.openWallet({ keys: owner.privateKeys })
  await until('it is in step', () => isSynced(cold))
  t.is(cold.balance(), '1000000')
  t.log(`cold: ${rounds.trips} trips, ${rounds.sent} bytes sent, ${rounds.received} received`)
  t.true(rounds.trips <= 8, `${rounds.trips} trips`)
  rounds.reset()
  const { publicAddress } = await cold.engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '500')
  await until('it is paid', () => cold.balance() === '1000500')
  t.is(rounds.trips, 3)
  await cold.engine.killEngine()
  rounds.reset()
  const warm = await device.openWallet({ keys: owner.privateKeys, store: cold.store })
  await until('it is in step again', () => isSynced(warm))
  t.log(`warm: ${rounds.trips} trips, ${rounds.sent} bytes sent, ${rounds.received} received`)
  // A second one that the start does not wait for would be in the rounds that come after.
  await rounds.settled()
  t.is(rounds.trips, 1)
  // 1,001 used scripts, and the gaps of 25 of two branches in each of two formats.
  const scripts = 1001 + 4 * 25
  t.true(
    rounds.sent < scripts * SUBSCRIPTION + 1000,
    'no script beyond the gap is subscribed, and nothing twice'
  )
  t.true(rounds.received < 1001 * STATUS + 100 * NO_STATUS + 4000)
})

test('an address that was given out within the look-ahead is watched at each later start', async t => {
  const { world, owner } = await makeUsedWallet(t, 30)
  const device = makeDevice(t, world)
  const cold = await device.openWallet({ keys: owner.privateKeys })
  await until('it is in step', () => isSynced(cold))
  const { publicAddress } = await cold.engine.getFreshAddress({ tokenId: null, forceIndex: 70 })
  await cold.engine.killEngine()
  const warm = await device.openWallet({ keys: owner.privateKeys, store: cold.store })
  await until('it is in step again', () => isSynced(warm))
  world.chain.fund(publicAddress, '500')
  await until('the payment is seen', () => warm.balance() === '30500')
  t.pass()
})

test('a history that came with its subscription is asked for again if its status is another', async t => {
  const { world, owner } = await makeUsedWallet(t, 3, 2)
  let dropped = 0
  const connect: NonNullable<Io['connect']> = (address, handlers) => world.electrum.connect(address, handlers)
  const odd = withLies(
    { ...makeNodeIo(), connect },
    {
      answer({ method }, answer) {
        const { result } = answer
        if (method !== 'blockchain.scripthash.get_history' || dropped === 3) return answer
        if (!Array.isArray(result) || result.length === 0) return answer
        // As of the moment before the payment.
        dropped += 1
        return { ...answer, result: result.slice(0, -1) as Json }
      }
    }
  )
  const device = makeTestWorld({ chain: world.chain, io: { ...(odd.connect && { connect: odd.connect }) } })
  t.teardown(() => device.close())
  const cold = await device.openWallet({ keys: owner.privateKeys })
  await until('it is in step', () => isSynced(cold))
  t.is(dropped, 3)
  t.is(cold.balance(), '6000')
  t.deepEqual(
    cold.reported.connections.filter(lost => lost !== undefined),
    []
  )
})
