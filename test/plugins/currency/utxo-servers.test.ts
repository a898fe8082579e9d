import test, { type ExecutionContext } from 'ava'
import { type Channel, type Io, isWalletError, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { type Lies, type Requested, refusal, withLies } from '../../helpers/lying-server.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

interface OddWorld extends TestWorld {
  /** Everything that was asked, in order. */
  readonly requested: Requested[]
}

/** A world whose server is as some real ones are. `closesAt`: it ends a connection that says this. */
const makeOddWorld = (t: ExecutionContext, lies: Lies, closesAt?: string): OddWorld => {
  const requested: Requested[] = []
  const query: NonNullable<Lies['query']> = question => {
    requested.push(question)
    return lies.query?.(question)
  }
  let world: TestWorld | undefined
  const honest: NonNullable<Io['connect']> = (address, handlers) =>
    (world as TestWorld).electrum.connect(address, handlers)
  const odd = withLies({ ...makeNodeIo(), connect: honest }, { ...lies, query })
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    const channel = (await odd.connect?.(address, handlers)) as Channel
    return {
      close: () => channel.close(),
      send(text) {
        channel.send(text)
        if (closesAt !== undefined && text.includes(closesAt)) channel.close()
      }
    }
  }
  world = makeTestWorld({ io: { connect }, servers: ['tcp://odd.test:1'] })
  t.teardown(() => world?.close())
  return Object.assign(world, { requested })
}

const isSynced = ({ reported }: TestWallet): boolean => reported.ratios.at(-1) === 1

const methodsOf = ({ requested }: OddWorld): readonly string[] => requested.map(({ method }) => method)

test('a server that cannot read two versions of the protocol, and closes, is given one the next time', async t => {
  const world = makeOddWorld(t, {}, '"1.6"')
  const alice = await world.openWallet({ isStarted: false })
  await alice.engine.startEngine()
  await until('it is in step', () => isSynced(alice))
  const versions = world.requested.flatMap(({ method, params }) =>
    method === 'server.version' ? [params[1]] : []
  )
  t.deepEqual(versions, [['1.4', '1.6'], '1.4'])
})

test('scripts are unsubscribed where the server can, and elsewhere nothing is sent that counts as an error', async t => {
  for (const [agreed, isSent] of [
    ['1.4', false],
    ['1.4.1', false],
    ['1.4.2', true],
    ['1.5.3', true],
    ['1.6', true]
  ] as const) {
    const world = makeOddWorld(t, {
      answer: ({ method }, answer) =>
        method === 'server.version' ? { ...answer, result: ['odd', agreed] } : answer
    })
    const [alice, bob] = [await world.openWallet(), await world.openWallet()]
    await until('both are in step', () => isSynced(alice) && isSynced(bob))
    await alice.engine.killEngine()
    // What is sent afterwards has come behind it.
    world.chain.fund((await bob.engine.getFreshAddress({ tokenId: null })).publicAddress, '1000')
    await until('bob is paid', () => bob.balance() === '1000')
    t.is(methodsOf(world).includes('blockchain.scripthash.unsubscribe'), isSent, agreed)
  }
})

test('a server that has agreed to another protocol is not used, and the status says why', async t => {
  const world = makeOddWorld(t, {
    answer: ({ method }, answer) =>
      method === 'server.version' ? { ...answer, result: ['odd', '1.7'] } : answer
  })
  const alice = await world.openWallet({ isStarted: false })
  void alice.engine.startEngine().catch(() => {})
  await until('it says so', () => alice.reported.statuses.some(text => text.includes('no protocol from 1.4')))
  t.false(isSynced(alice))
})

test('a payment that a server lists twice, mined and waiting, right after its block is taken once', async t => {
  const world = makeOddWorld(t, {
    answer: ({ method }, answer) => {
      if (method !== 'blockchain.scripthash.get_history' || !Array.isArray(answer.result)) return answer
      const mined = (answer.result as { height: number; tx_hash: string }[]).filter(
        ({ height }) => height > 0
      )
      const copies = mined.map(({ tx_hash }) => ({ tx_hash, height: 0, fee: 1 }))
      return { ...answer, result: [...answer.result, ...copies] }
    }
  })
  const alice = await world.openWallet()
  await until('it is in step', () => isSynced(alice))
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '70000')
  world.chain.mine()
  await until('it is spendable', () => alice.reported.details.at(-1)?.spendable === '70000')
  t.is(alice.reported.txs.size, 1)
  t.true([...alice.reported.txs.values()].every(({ blockHeight }) => blockHeight > 0))
})

test('of a refusal only words of nodes are shown, however a server says it', async t => {
  const cases: readonly (readonly [said: object, shown: string])[] = [
    [refusal('txn-mempool-conflict\n[0200]'), 'txn-mempool-conflict'],
    [refusal('258: min relay fee not met, 10 < 110'), 'min relay fee not met'],
    [{ error: { code: 2, message: 'dust' } }, 'dust'],
    [
      { error: 'sendrawtransaction RPC error: {"code":-25,"message":"bad-txns-inputs-missingorspent"}' },
      'bad-txns-inputs-missingorspent'
    ],
    [
      refusal('Your wallet is out of date. Install the update from https://evil.test, then pay again.'),
      'words that are not those of a node'
    ]
  ]
  let at = 0
  const world = makeOddWorld(t, {
    query: ({ method }) =>
      method === 'blockchain.transaction.broadcast' ? { answer: cases[at]?.[0] ?? {} } : undefined
  })
  const alice = await world.openWallet()
  await until('it is in step', () => isSynced(alice))
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '70000')
  world.chain.mine()
  await until('it is spendable', () => alice.reported.details.at(-1)?.spendable === '70000')
  const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const spendTargets = [{ publicAddress: payee, nativeAmount: nativeAmount('10000') }]
  const draft = await alice.engine.makeSpend({ tokenId: null, spendTargets }, {})
  const signed = await alice.engine.signTx(draft, alice.privateKeys)
  for (; at < cases.length; at += 1) {
    const error = await t.throwsAsync(alice.engine.broadcastTx(signed, {}))
    t.is(isWalletError(error, 'BROADCAST_REFUSED') && error.details.reason, cases[at]?.[1] ?? '')
  }
})
