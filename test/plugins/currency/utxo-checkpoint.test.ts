import test, { type ExecutionContext } from 'ava'
import { makeTestStore, makeTestWorld, type TestStore, type TestWallet, until } from './utxo-world.ts'

const txidsOf = ({ reported }: TestWallet): string[] => reported.reports.flat().map(({ txid }) => txid)
const copyOf = (store: TestStore): TestStore => makeTestStore(new Map(store.map))

/** A wallet that was paid once, and has synced since. */
const openPaid = async (t: ExecutionContext) => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const store = makeTestStore()
  const first = await world.openWallet({ store })
  const { publicAddress } = await first.engine.getFreshAddress({ tokenId: null })
  const paid = world.chain.fund(publicAddress, '50000')
  await until('paid', () => first.balance() === '50000')
  await first.engine.syncNetwork({})
  return { world, store, first, paid }
}

test('an engine that starts from a checkpoint reports only what has changed since', async t => {
  const { world, store, first, paid } = await openPaid(t)
  const checkpoint = first.reported.checkpoints.at(-1)
  await first.engine.killEngine()
  t.truthy(checkpoint)

  const writes = store.writes
  const quiet = await world.openWallet({ store, keys: first.privateKeys, checkpoint })
  t.deepEqual([txidsOf(quiet), quiet.reported.checkpoints], [[], []])
  t.is(store.writes, writes, 'a start that brings nothing new writes nothing')
  world.chain.mine()
  await until('it confirms', () => quiet.reported.txs.get(paid)?.blockHeight === world.chain.height)
  await quiet.engine.syncNetwork({})
  const later = quiet.reported.checkpoints.at(-1)
  t.not(later, checkpoint)
  await quiet.engine.killEngine()

  const behind = await world.openWallet({ store, keys: first.privateKeys, checkpoint })
  t.deepEqual(txidsOf(behind), [paid], 'what the kernel has not kept is told again')
  const unreported = await world.openWallet({ store: copyOf(store), keys: first.privateKeys })
  t.deepEqual(txidsOf(unreported), [paid], 'without a checkpoint everything is told')
})

test('a checkpoint of another cache is ignored: everything is reported, and no number is used twice', async t => {
  const { world, store, first, paid } = await openPaid(t)
  const checkpoint = first.reported.checkpoints.at(-1) ?? ''
  await first.engine.killEngine()
  const keys = first.privateKeys

  const lost = await world.openWallet({ store: makeTestStore(), keys, checkpoint })
  t.deepEqual([...lost.reported.txs.keys()], [paid], 'the cache was lost')
  for (const odd of ['', 'nonsense', `${checkpoint.slice(0, 17)}x`, '0123456789abcdef:99999']) {
    const wallet = await world.openWallet({ store: copyOf(store), keys, checkpoint: odd })
    t.deepEqual([...wallet.reported.txs.keys()], [paid], odd)
  }

  const [epoch, step] = checkpoint.split(':')
  const ahead = `${epoch}:${Number(step) + 7}`
  const wallet = await world.openWallet({ store: copyOf(store), keys, checkpoint: ahead })
  world.chain.mine()
  await until('it confirms', () => wallet.reported.txs.get(paid)?.blockHeight === world.chain.height)
  await wallet.engine.syncNetwork({})
  t.is(wallet.reported.checkpoints.at(-1), `${epoch}:${Number(step) + 8}`)
  await wallet.engine.resyncBlockchain()
  t.not(wallet.reported.checkpoints.at(-1)?.split(':')[0], epoch, 'a resync begins another cache')
})

test('a transaction that could not be saved is reported again, and no checkpoint before unreported ones of an earlier engine', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const store = makeTestStore()
  const wallet = await world.openWallet({ store })
  const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
  store.failing = true
  const paid = world.chain.fund(publicAddress, '50000')
  await until('told', () => wallet.reported.txs.has(paid))
  await wallet.engine.syncNetwork({})
  const checkpoint = wallet.reported.checkpoints.at(-1)
  await wallet.engine.killEngine()
  store.failing = false

  const next = await world.openWallet({ store, keys: wallet.privateKeys, isStarted: false, checkpoint })
  await next.engine.syncNetwork({})
  t.deepEqual([txidsOf(next), next.reported.checkpoints], [[paid], []])
  await next.engine.startEngine()
  t.is(next.reported.checkpoints.length, 1)
  t.not(next.reported.checkpoints[0], checkpoint)
})
