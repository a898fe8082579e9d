import test from 'ava'
import type { Io, Json } from '../../kernel/plugin-api.ts'
import { isWalletError, nativeAmount } from '../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { drawSeed, logCounts, makeSeededRandom, runCount } from '../helpers/drawn-runs.ts'
import { line, makeHostileWorld, only, type Twist } from '../plugins/currency/hostile-world.ts'
import { makeTestStore, makeTestWorld, type TestWorld, until } from '../plugins/currency/utxo-world.ts'

const THIEF = 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry'
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

/** Every question about one method refused, as a server of another kind words it. */
const refusing =
  (name: string, error: Json): Twist =>
  (method, reply) =>
    method === name && reply.id !== undefined ? `${JSON.stringify({ id: reply.id, error })}\n` : line(reply)

/** Lies about what is there that need no other server: the wallet sees through them, or they concern nothing it believes. */
const idle: readonly (readonly [string, Twist])[] = [
  ['every push twice', (_method, reply) => line(reply) + (reply.id === undefined ? line(reply) : '')],
  ['replies with blanks in odd places', (_method, reply) => line(reply).replace('":', '" :  ')],
  ['fees of 99 coins for a kB', only('blockchain.estimatefee', () => 99)],
  ['fees that are text', only('blockchain.estimatefee', () => 'much')],
  ['fees below nothing', only('blockchain.estimatefee', () => -5)],
  [
    'a relay fee of a million coins',
    only('mempool.get_info', () => ({ mempoolminfee: 1e6, minrelaytxfee: 1e6 }))
  ],
  [
    'a tip in the year 3000',
    only('blockchain.headers.subscribe', tip => ({ ...(tip as { hex: string }), height: 54_000_000 }))
  ],
  [
    'the nonsense that ElectrumX sends old clients, before each reply',
    (_method, reply) =>
      line({ method: 'blockchain.relayfee', params: [] }) +
      line({ method: 'blockchain.estimatefee', params: [] }) +
      line(reply)
  ],
  [
    'replies filled up with blanks to twice their length',
    (_method, reply) => {
      const text = JSON.stringify(reply)
      return `${text.slice(0, -1)}${' '.repeat(Math.max(1024, text.length * 2) - text.length)}}\n`
    }
  ],
  [
    'older news of a script before the reply to its subscription',
    (method, reply, params) => {
      const [script = ''] = Array.isArray(params) ? params : []
      const isReply = method === 'blockchain.scripthash.subscribe' && reply.id !== undefined
      return (isReply ? line({ method, params: [script, hex64] }) : '') + line(reply)
    }
  ],
  [
    'news of scripts that nobody has',
    (_method, reply) =>
      line(reply) + line({ method: 'blockchain.scripthash.subscribe', params: [hex64, hex64] })
  ]
]

const damaging: readonly (readonly [string, Twist])[] = [
  ...lies,
  [
    'nothing but null',
    (_method, reply) => line(reply.result === undefined ? reply : { ...reply, result: null })
  ],
  [
    'a refusal of every question',
    (_method, reply) => `${JSON.stringify({ id: reply.id, error: { code: 1, message: 'no' } })}\n`
  ],
  [
    'a thousand brackets',
    (_method, reply) => `{"id":${reply.id ?? 0},"result":${'['.repeat(1000)}${']'.repeat(1000)}}\n`
  ],
  [
    'a history that is too long for it, in a bare text as Esplora does',
    refusing('blockchain.scripthash.get_history', 'Too many history entries')
  ],
  ['headers that are nested lists', only('blockchain.block.header', hex => [[[hex]]])],
  ['a history that is text', only('blockchain.scripthash.get_history', () => 'none')],
  [
    'heights below nothing',
    only('blockchain.scripthash.get_history', items =>
      (items as { tx_hash: string }[]).map(item => ({ ...item, height: -7 }))
    )
  ],
  [
    'a proof of ten thousand hashes',
    only('blockchain.transaction.get_merkle', () => ({
      merkle: Array(10_000).fill(hex64),
      pos: 0,
      block_height: 1
    }))
  ],
  [
    'a proof at a place below nothing',
    only('blockchain.transaction.get_merkle', () => ({ merkle: [], pos: -1, block_height: 1 }))
  ],
  ['a header of another length', only('blockchain.block.header', hex => String(hex).slice(0, 100))],
  ['a transaction in capitals that is none', only('blockchain.transaction.get', () => 'FFFF')]
]

test('at least 33 kinds of hostile servers are tried', t => {
  const names = [...damaging, ...idle].map(([name]) => name)
  t.is(new Set(names).size, names.length)
  t.true(names.length >= 33, `${names.length} kinds`)
})

for (const [name, twist] of damaging) {
  test(`the wallet replaces a server that sends ${name}, and ends with the correct balance`, async t => {
    const honest = makeTestWorld()
    const keys = (await honest.openWallet()).privateKeys
    await honest.close()
    let lied = 0
    const counted: Twist = (method, reply, params) => {
      const text = twist(method, reply, params)
      if (text !== line(reply)) lied += 1
      return text
    }
    const replaceOnce = async (): Promise<void> => {
      const world = makeHostileWorld(counted, { speed: 25 })
      try {
        const wallet = await world.openWallet({ keys, isStarted: false })
        const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
        world.chain.fund(publicAddress, '70000')
        world.chain.mine(2)
        await wallet.engine.startEngine()
        await until(
          'the right balance',
          () => wallet.balance() === '70000' && wallet.reported.ratios.at(-1) === 1
        )
        t.is(world.ports[0], 1)
        // A busy machine may lose a connection to the good one, too.
        t.true(world.ports.includes(2))
        t.is(wallet.reported.txs.size, 1)
        t.true(wallet.reported.statuses.length > 0)
      } finally {
        await world.close()
      }
    }
    // On a busy machine the wallet may give the liar up before it has said anything.
    for (let tries = 0; tries < 10 && lied === 0; tries += 1) await replaceOnce()
    t.true(lied > 0)
  })
}

test('servers that lie always, or now and then, never make a wallet wrong in the end', async t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  // A status of null says that a script was never used: nobody sees that but from another server.
  const kinds = [...damaging, ...idle].filter(([name]) => name !== 'nothing but null')
  const counts = new Map<string, number>()
  const runs = runCount(400)
  let drafted = 0
  t.true(runs >= kinds.length)
  for (let run = 0; run < runs; run++) {
    const [name, twist] = kinds[run % kinds.length] as (typeof kinds)[number]
    // Each kind that a wallet sees through lies always in its first run, so that it is surely met.
    const isFirst = run < kinds.length && idle.some(([idleName]) => idleName === name)
    const every = isFirst ? 1 : 1 + seededRandom.below(3)
    let replies = 0
    const lieNowAndThen: Twist = (method, reply, params) => {
      // Some lie always, some now and then.
      if (replies++ % every > 0) return line(reply)
      const text = twist(method, reply, params)
      if (text !== line(reply)) counts.set(name, (counts.get(name) ?? 0) + 1)
      return text
    }
    const world = makeHostileWorld(lieNowAndThen, { speed: 25 })
    try {
      const wallet = await world.openWallet({ isStarted: false })
      world.chain.fund((await wallet.engine.getFreshAddress({ tokenId: null })).publicAddress, '70000')
      world.chain.mine(2)
      await wallet.engine.startEngine()
      await until(
        `the right balance after ${name}, run ${run}`,
        () => wallet.balance() === '70000' && wallet.reported.ratios.at(-1) === 1
      )
      t.is(wallet.reported.txs.size, 1)
      if (isFirst) world.chain.mine()
      const draft = await wallet.engine
        .makeSpend(
          {
            tokenId: null,
            spendTargets: [{ publicAddress: THIEF, nativeAmount: nativeAmount('20000') }],
            networkFeeOption: 'custom',
            customNetworkFee: { satPerByte: '5' }
          },
          {}
        )
        .catch((error: unknown) => {
          // What the second server does not confirm waits for it, and is not lost.
          t.true(
            isWalletError(error, 'PENDING_FUNDS') && error.details.incoming === '70000',
            `${name}: ${error}`
          )
        })
      // On a busy machine the wallet may be with the other server by then.
      if (isFirst) await until(`${name} is met`, () => (counts.get(name) ?? 0) > 0).catch(() => undefined)
      if (draft === undefined) continue
      drafted += 1
      t.true(Number(draft.networkFee) < 5000, name)
      const kept = draft.otherParams?.draft as { lockTime: number }
      t.is(kept.lockTime, 0, name)
    } finally {
      await world.close()
    }
  }
  t.log(`${drafted} of ${runs} could pay`)
  // About half can; of the forty of a short run, seven have been seen.
  t.true(drafted > runs / 10, `only ${drafted} of ${runs} could pay`)
  logCounts(t, 'replies twisted', counts)
  const unmet = idle.map(([name]) => name).filter(name => !counts.has(name))
  t.true(unmet.length < idle.length / 2, `not met: ${unmet.join(', ')}`)
})

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
  await until('coin', () => alice.reported.details.at(-1)?.spendable === '90000')
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
  await until('connected again', () => again.reported.ratios.at(-1) === 1)
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
  t.true(alice.reported.statuses.some(text => text.includes('cache')))
  failing.failing = false
  world.chain.mine()
  await until('confirmed', () => [...alice.reported.txs.values()].some(tx => tx.blockHeight > 0))
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
  t.is(alice.reported.addressChanges, 1)
  t.true(await alice.engine.isAddressUsed(fresh))
  const next = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  t.not(next, fresh)
  world.chain.fund(next, '50000')
  const far = (await alice.engine.getFreshAddress({ tokenId: null, forceIndex: 60 })).publicAddress
  world.chain.fund(far, '60000')
  world.chain.mine()
  await until('both', () => alice.balance() === '110000')
  const before = [...alice.reported.txs.keys()].sort()
  alice.reported.txs.clear()
  await alice.engine.resyncBlockchain()
  t.deepEqual([...alice.reported.txs.keys()].sort(), before)
  t.is(alice.balance(), '110000')
  t.true(await alice.engine.isAddressUsed(fresh))
})
