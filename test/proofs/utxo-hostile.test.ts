import test from 'ava'
import type { Channel, Io, Json } from '../../kernel/plugin-api.ts'
import { isWalletError, nativeAmount } from '../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { makeTestStore, makeTestWorld, type TestWorld, until } from '../plugins/currency/utxo-world.ts'

interface Reply {
  id?: number
  method?: string
  params?: Json
  result?: Json
}

/** Changes what the bad server answers. Gets the method asked and its reply; gives the text to send, or undefined for silence. */
type Twist = (method: string, reply: Reply) => string | undefined

const BAD = 'tcp://bad.test:1'
const GOOD = 'tcp://good.test:2'

/** A world with a bad server first and an honest one second; time runs 25 times as fast. */
const makeHostileWorld = (twist: Twist, servers = [BAD, GOOD]): TestWorld & { readonly ports: number[] } => {
  const base = makeNodeIo()
  const ports: number[] = []
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * 25,
    after: (delayMs, task) => base.clock.after(delayMs / 25, task)
  }
  let world: TestWorld | undefined
  const connect: NonNullable<Io['connect']> = async (address, handlers): Promise<Channel> => {
    ports.push(address.port)
    const electrum = (world as TestWorld).electrum
    if (address.port !== 1) return electrum.connect(address, handlers)
    const methods = new Map<number, string>()
    const channel = await electrum.connect(address, {
      onText(text) {
        for (const line of text.split('\n')) {
          if (line === '') continue
          const reply = JSON.parse(line) as Reply
          const method = reply.method ?? methods.get(reply.id ?? -1) ?? ''
          const twisted = twist(method, reply)
          if (twisted !== undefined) handlers.onText(twisted)
        }
      },
      onClose: error => handlers.onClose(error)
    })
    return {
      close: () => channel.close(),
      send(text) {
        for (const line of text.split('\n')) {
          if (line === '') continue
          const { id, method } = JSON.parse(line) as { id: number; method: string }
          methods.set(id, method)
        }
        channel.send(text)
      }
    }
  }
  world = makeTestWorld({ io: { connect, clock }, servers })
  return Object.assign(world, { ports })
}

const line = (reply: Reply): string => `${JSON.stringify(reply)}\n`
const only =
  (name: string, change: (result: Json) => Json): Twist =>
  (method, reply) =>
    line(method === name && reply.result !== undefined ? { ...reply, result: change(reply.result) } : reply)

const hex64 = 'ab'.repeat(32)
const otherTx = (hex: Json): Json => String(hex).replace(/.{8}$/, '01000000')

const lies: readonly (readonly [string, Twist])[] = [
  ['text that is no JSON', () => '<html>502 Bad Gateway</html>\n'],
  ['a reply to no question', (_method, reply) => line({ ...reply, id: 999_999 })],
  ['a message without end', () => 'x'.repeat(17_000_000)],
  ['silence', () => undefined],
  ['another network', only('blockchain.block.header', hex => String(hex).replace(/^01/, '02'))],
  ['a bad tip', only('blockchain.headers.subscribe', () => ({ height: 'high', hex: null }))],
  ['bad statuses', only('blockchain.scripthash.subscribe', () => 'used')],
  ['a status without a history', only('blockchain.scripthash.get_history', () => [])],
  [
    'a history of nonsense',
    only('blockchain.scripthash.get_history', () => [{ tx_hash: '../../etc', height: 1e99 }])
  ],
  ['other bytes for a transaction', only('blockchain.transaction.get', otherTx)],
  ['a transaction cut short', only('blockchain.transaction.get', hex => String(hex).slice(0, 60))],
  [
    'a wrong proof',
    only('blockchain.transaction.get_merkle', () => ({ merkle: [hex64], pos: 0, block_height: 1 }))
  ],
  [
    'an object for a history',
    (method, reply) => {
      if (method === 'blockchain.scripthash.get_history')
        return line({ id: reply.id ?? 0, result: { error: 1 } })
      return line(reply)
    }
  ]
]

for (const [name, twist] of lies) {
  test(`a server that sends ${name} is left for the next one, and the wallet is right in the end`, async t => {
    const honest = makeTestWorld()
    const keys = (await honest.openWallet()).privateKeys
    await honest.close()
    const world = makeHostileWorld(twist)
    t.teardown(() => world.close())
    const wallet = await world.openWallet({ keys, isStarted: false })
    const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
    world.chain.fund(publicAddress, '70000')
    world.chain.mine(2)
    await wallet.engine.startEngine()
    await until('the right balance', () => wallet.balance() === '70000' && wallet.told.ratios.at(-1) === 1)
    t.is(world.ports[0], 1)
    t.is(world.ports.at(-1), 2)
    t.is(wallet.told.txs.size, 1)
    t.true(wallet.told.statuses.length > 0)
  })
}

test('with no server at all a sync fails by the catalogue, and so does a broadcast, and nothing is lost', async t => {
  const base = makeNodeIo()
  const clock: Io['clock'] = {
    ...base.clock,
    monotonic: () => base.clock.monotonic() * 5,
    after: (delayMs, task) => base.clock.after(delayMs / 5, task)
  }
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const offline: { on: boolean } = { on: false }
  let world: TestWorld | undefined
  const connect: NonNullable<Io['connect']> = (address, handlers) =>
    offline.on
      ? Promise.reject(new Error('ECONNREFUSED'))
      : (world as TestWorld).electrum.connect(address, handlers)
  world = makeTestWorld({ io: { connect, clock } })
  const { chain, openWallet, close } = world
  t.teardown(close)
  const store = makeTestStore()
  const alice = await openWallet({ store })
  chain.fund((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, '90000')
  chain.mine()
  await until('coin', () => alice.balance() === '90000')
  await alice.engine.syncNetwork({})
  await alice.engine.killEngine()
  offline.on = true
  const again = await openWallet({ store, keys: alice.privateKeys, isStarted: false })
  await again.engine.startEngine()
  t.is(again.balance(), '90000')
  t.true(isWalletError(await t.throwsAsync(again.engine.syncNetwork({})), 'NETWORK'))
  const target = (await (await openWallet({ isStarted: false })).engine.getFreshAddress({ tokenId: null }))
    .publicAddress
  const draft = await again.engine.makeSpend(
    { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('40000') }] },
    {}
  )
  const signed = await again.engine.signTx(draft, alice.privateKeys)
  t.true(isWalletError(await t.throwsAsync(again.engine.broadcastTx(signed, {})), 'NETWORK'))
  offline.on = false
  await until('connected again', () => again.told.ratios.at(-1) === 1)
  await again.engine.broadcastTx(signed, {})
  t.true(chain.view.mempool.has(signed.txid))
})

test('a full disk or a damaged cache costs a rescan, never money or a wrong address', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const failing = makeTestStore()
  const alice = await world.openWallet({ store: failing })
  failing.failing = true
  world.chain.fund((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, '90000')
  await until('coin', () => alice.balance() === '90000')
  t.true(alice.told.statuses.some(text => text.includes('cache')))
  failing.failing = false
  world.chain.mine()
  await until('confirmed', () => [...alice.told.txs.values()].some(tx => tx.blockHeight > 0))
  await alice.engine.killEngine()
  for (const [key, text] of [...failing.map]) {
    const damaged = new Map(failing.map)
    damaged.set(key, key.startsWith('k/') ? text.replace(/^..../, 'AAAA') : `x${text.slice(1)}`)
    const again = await world.openWallet({ store: makeTestStore(damaged), keys: alice.privateKeys })
    const fresh = await again.engine.getFreshAddress({ tokenId: null }).catch(error => error)
    if (key.startsWith('k/84/0')) {
      t.true(isWalletError(fresh, 'KEY_INTEGRITY') || again.balance() === '90000', key)
    } else {
      t.is(again.balance(), '90000', key)
    }
    await again.engine.killEngine()
  }
})

test('a resync forgets the cache, keeps marks, and finds the same history', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const fresh = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  await alice.engine.addGapLimitAddresses([fresh])
  t.is(alice.told.addressChanges, 1)
  t.true(await alice.engine.isAddressUsed(fresh))
  const next = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  t.not(next, fresh)
  world.chain.fund(next, '50000')
  const far = (await alice.engine.getFreshAddress({ tokenId: null, forceIndex: 60 })).publicAddress
  world.chain.fund(far, '60000')
  world.chain.mine()
  await until('both', () => alice.balance() === '110000')
  const before = [...alice.told.txs.keys()].sort()
  alice.told.txs.clear()
  await alice.engine.resyncBlockchain()
  t.deepEqual([...alice.told.txs.keys()].sort(), before)
  t.is(alice.balance(), '110000')
  t.true(await alice.engine.isAddressUsed(fresh))
})
