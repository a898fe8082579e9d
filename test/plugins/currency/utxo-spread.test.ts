import test from 'ava'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'
import { nativeAmount } from '../../../kernel/plugin-api.ts'
import { ServerScores } from '../../../plugins/currency/utxo/electrum/server-scores.ts'
import { isSynced, makeSpreadWorld, openMany } from './spread-world.ts'
import { type TestWallet, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** The pauses of the plugin between two looks for a lost server, and until a server counts as one that stays. */
const [MOVE_PAUSE_MS, TRUST_MS] = [250, 30_000]

/** Starts a wallet that has to look for a server, and waits until it is in step. */
const begin = async (wallet: TestWallet): Promise<void> => {
  await wallet.engine.startEngine()
  await until('it is in step', () => isSynced(wallet))
}

/** Starts a wallet and lets it look at the chain. */
const look = async ({ engine }: TestWallet): Promise<void> => {
  await engine.startEngine()
  await engine.syncNetwork({})
}

/** Starts wallets one after another, each once the one before has a server. */
const seatAll = async (made: readonly { readonly wallet: TestWallet }[]): Promise<void> => {
  for (const { wallet } of made) {
    const looking = look(wallet)
    await until('it has a server', () => isSynced(wallet))
    await looking
  }
}

test.serial(
  'wallets spread over the named servers, none has more than it gives, and one that dies takes no wallet with it',
  async t => {
    const limits = [700, 1400, 1400]
    const world = makeSpreadWorld(t, { limits, kind: serverKinds.fulcrum })
    const made = await openMany(world, 100)
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
    t.true(made.every(({ wallet, amount }) => wallet.balance() === amount))
    const loads = (): readonly number[] => world.servers.map(server => server.subscribed().size)
    t.log(`subscriptions: ${loads().join(', ')}`)
    for (const [at, load] of loads().entries()) t.true(load <= (limits[at] ?? 0))
    t.true(loads().filter(load => load > 300).length === 3, 'all servers carry wallets')
    const [first, ...others] = world.servers
    const scripts = world.servers.flatMap(server => [...server.subscribed()])
    t.is(new Set(scripts).size, scripts.length, 'each wallet has one server')
    for (const server of others) server.mostWaiting = 0
    const lost = first?.subscribed().size ?? 0
    first?.kill()
    await until('the others have all wallets', () => {
      const there = new Set(others.flatMap(server => [...server.subscribed()]))
      return scripts.every(script => there.has(script))
    })
    t.true(
      others.every(({ mostWaiting }) => mostWaiting < lost),
      'not all of them at once'
    )
    t.log(`subscriptions: ${loads().join(', ')}`)
    for (const [at, load] of loads().entries()) t.true(load <= (limits[at] ?? 0))
    for (const { address } of made) world.chain.fund(address, '5000')
    world.chain.mine()
    await until('all see a payment', () =>
      made.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
    )
  }
)

test.serial('a few wallets stay with the first server, and no other one learns what they watch', async t => {
  const world = makeSpreadWorld(t, { limits: [9000, 9000] })
  const made = await openMany(world, 5)
  await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
  await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
  const [first, second] = world.servers
  t.is(first?.subscribed().size, 5 * 26)
  t.is(second?.learned.size, 0)
})

test.serial(
  'a wallet that starts while no other one is open begins with the first server that is there',
  async t => {
    const world = makeSpreadWorld(t, { limits: [9000, 9000] })
    const [one, two] = (await openMany(world, 2)).map(({ wallet }) => wallet) as [TestWallet, TestWallet]
    const [first, second] = world.servers
    first?.kill()
    await begin(one)
    t.is(second?.subscribed().size, 26)
    await one.engine.killEngine()
    first?.revive()
    world.pass(61_000)
    await look(two)
    t.is(first?.subscribed().size, 26)
    t.is(second?.learned.size, 26, 'the second server learns nothing of it')
  }
)

test.serial("a server of one's own that is named first gets the next wallet once it is back", async t => {
  const hosts = ['node.home.arpa', 's2.test', 's3.test']
  const world = makeSpreadWorld(t, { limits: [9000, 9000, 9000], hosts })
  const made = (await openMany(world, 5)).map(({ wallet }) => wallet)
  const [one, two, three, four, five] = made as [TestWallet, TestWallet, TestWallet, TestWallet, TestWallet]
  const [own, second, third] = world.servers
  own?.kill()
  await begin(one)
  t.is(second?.subscribed().size, 26)
  own?.revive()
  world.pass(61_000)
  for (const wallet of [two, three]) await look(wallet)
  t.is(own?.subscribed().size, 52)
  t.is(second?.learned.size, 26, 'no other learns of them, although it has fewer')
  own?.kill()
  await until('the second has them', () => second?.subscribed().size === 78)
  world.pass(61_000)
  await begin(four)
  await look(five)
  t.is(second?.subscribed().size, 130)
  t.is(third?.learned.size, 0, 'a third learns nothing while the second has room')
})

test.serial(
  "a server of one's own is looked for also while wallets have all connections that they may share",
  async t => {
    const others = ['s2', 's3', 's4', 's5', 's6', 's7', 's8', 's9'].map(name => `${name}.test`)
    const hosts = ['node.home.arpa', ...others]
    const world = makeSpreadWorld(t, {
      limits: [9000, ...others.map(() => 40)],
      ...{ hosts, kind: serverKinds.fulcrum, isHurried: true }
    })
    const made = await openMany(world, others.length)
    const [own, ...rest] = world.servers
    own?.kill()
    await seatAll(made)
    t.deepEqual(
      rest.map(server => server.subscribed().size),
      others.map(() => 26),
      'each has a wallet'
    )
    own?.revive()
    world.pass(61_000)
    await until('all are back', () => own?.subscribed().size === 26 * others.length)
  }
)

test.serial('a wallet that finds no room at its own server again goes back to where it was', async t => {
  const others = ['s2', 's3', 's4', 's5', 's6', 's7', 's8', 's9'].map(name => `${name}.test`)
  const hosts = ['node.home.arpa', ...others]
  // The first has room for one wallet, each other for two.
  const world = makeSpreadWorld(t, {
    limits: [45, ...others.map(() => 66)],
    ...{ hosts, kind: serverKinds.fulcrum, isHurried: true }
  })
  const made = await openMany(world, 2 * others.length)
  const [own, ...rest] = world.servers
  own?.kill()
  await seatAll(made)
  const all = 26 * made.length
  const watched = (): number => new Set(world.servers.flatMap(server => [...server.subscribed()])).size
  t.is(watched(), all)
  own?.revive()
  world.pass(61_000)
  await until('one is back', () => own?.subscribed().size === 26)
  await until('every wallet has a server', () => watched() === all && rest.every(({ sent }) => sent > 0))
  for (const { wallet } of made) await wallet.engine.syncNetwork({})
  t.is(watched(), all)
})

test.serial("wallets go back to a server of one's own, and a payment on its way is not cut off", async t => {
  const hosts = ['node.home.arpa', 's2.test', 's3.test']
  const world = makeSpreadWorld(t, { limits: [9000, 9000, 9000], hosts, isHurried: true })
  const made = await openMany(world, 20)
  const [own, second, third] = world.servers
  own?.kill()
  await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
  await until('the second has all', () => made.every(({ wallet }) => isSynced(wallet)))
  t.is(second?.subscribed().size, 20 * 26)
  if (second === undefined || own === undefined) return t.fail()
  second.holdsPayments = true
  const [{ wallet: paying }] = made as [(typeof made)[0]]
  await until('its payment is agreed', () => paying.reported.details.at(-1)?.incoming === '0')
  const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('1000') }]
  const draft = await paying.engine.makeSpend({ tokenId: null, spendTargets }, {})
  const signed = await paying.engine.signTx(draft, paying.privateKeys)
  const paid = Number(draft.nativeAmount) * -1
  const sending = paying.engine.broadcastTx(signed, {})
  await until('it is on its way', () => second.held.length === 1)
  own.revive()
  world.pass(61_000)
  await until('it is there again', () => own.opened > 0)
  const looks = world.ended(MOVE_PAUSE_MS)
  await until('they have looked for it', () => world.ended(MOVE_PAUSE_MS) >= looks + 3)
  t.is(second.subscribed().size, 20 * 26, 'none goes while nobody knows what becomes of the payment')
  second.held[0]?.()
  await sending
  // The payment has used one more address.
  await until('their own server has them', () => own.subscribed().size === 20 * 26 + 1)
  await until('no other has any', () => second.subscribed().size + (third?.subscribed().size ?? 0) === 0)
  for (const { address } of made) world.chain.fund(address, '5000')
  world.chain.mine()
  await until('all see a payment', () =>
    made.every(
      ({ wallet, amount }) =>
        wallet.balance() === String(Number(amount) + 5000 - (wallet === paying ? paid : 0))
    )
  )
})

test.serial(
  "a server of one's own that is away for a moment keeps its wallets, whatever is requested meanwhile",
  async t => {
    const hosts = ['node.home.arpa', 's2.test']
    const world = makeSpreadWorld(t, { limits: [9000, 9000], hosts, isHurried: true })
    const made = await openMany(world, 3)
    const [own, second] = world.servers
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
    await until('it is trusted', () => world.ended(TRUST_MS) > 0)
    const tried = own?.tried ?? 0
    own?.kill()
    await until('they know it', () =>
      made.every(({ wallet }) => wallet.reported.connections.at(-1) !== undefined)
    )
    // Somebody who waits for a wallet does not take its time from the server.
    const request = (): void => {
      for (const { wallet } of made) wallet.engine.syncNetwork({}).catch(() => undefined)
    }
    request()
    await until('it was tried in vain', () => (own?.tried ?? 0) > tried)
    // Long enough for that try to end, and for one that came at once.
    for (let round = 0; round < 60; round += 1) {
      if (round === 30) request()
      await new Promise(resolve => setImmediate(resolve))
    }
    const trusted = world.ended(TRUST_MS)
    own?.revive()
    await until('it has them again', () => own?.subscribed().size === 78)
    t.is(second?.learned.size, 0, 'no other learns of them')
    await until('it is trusted again', () => world.ended(TRUST_MS) > trusted)
    own?.kill()
    await until('the second has them once it stays away', () => second?.subscribed().size === 78)
  }
)

test.serial(
  'a server alone serves as many wallets as it can, and the others say once that it is full, without asking again',
  async t => {
    const world = makeSpreadWorld(t, { limits: [140], kind: serverKinds.fulcrum })
    const [server] = world.servers
    const made = await openMany(world, 8)
    await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
    const isRefused = ({ reported }: TestWallet): boolean =>
      /watches no more than/.test(reported.statuses.at(-1) ?? '')
    await until('each is served or refused', () =>
      made.every(({ wallet }) => isSynced(wallet) || isRefused(wallet))
    )
    const served = made.filter(({ wallet }) => isSynced(wallet))
    const refused = made.filter(({ wallet }) => !isSynced(wallet))
    t.is(served.length, 5)
    const requested = server?.learned.size
    const sent = server?.sent
    const tried = server?.tried
    const watched = server?.subscribed()
    for (const { wallet } of refused) {
      t.deepEqual(
        wallet.reported.statuses.filter(text => text !== ''),
        [
          'tcp://s1.test:1 watches no more than 140 addresses for this device, and no other server has room for this wallet'
        ]
      )
      for (let looks = 0; looks < 3; looks += 1)
        await t.throwsAsync(wallet.engine.syncNetwork({}), { code: 'SERVER_FULL' })
    }
    for (const { address } of served) world.chain.fund(address, '5000')
    await until('those that are served see a payment', () =>
      served.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
    )
    // The requests for the payment left after all that was requested before, by the same connection.
    const later = server?.scripts.slice(sent) ?? []
    t.true(later.length >= served.length)
    t.deepEqual(
      later.filter(script => watched?.has(script) !== true),
      [],
      'those that were refused are not requested again'
    )
    t.is(server?.learned.size, requested)
    t.is(server?.opened, 1)
    t.is(server?.tried, tried)
    await served[0]?.wallet.engine.killEngine()
    const [next] = refused
    await next?.wallet.engine.syncNetwork({})
    t.true(next !== undefined && isSynced(next.wallet), 'there is room for one more')
    t.is(next?.wallet.balance(), next?.amount)
    t.is(next?.wallet.reported.statuses.at(-1), '')
  }
)

for (const atLimit of ['exhausted', 'closed'] as const)
  test.serial(
    `a server that ends the connection of a device that asks too much (${atLimit}) loses its wallets to another one`,
    async t => {
      const world = makeSpreadWorld(t, {
        limits: [600, 9000],
        kind: { ...serverKinds.ours, atLimit }
      })
      const made = await openMany(world, 40)
      await Promise.all(made.map(({ wallet }) => wallet.engine.startEngine()))
      await until('all are in step', () => made.every(({ wallet }) => isSynced(wallet)))
      t.true(made.every(({ wallet, amount }) => wallet.balance() === amount))
      const [first] = world.servers
      t.log(
        `connections of the first: ${first?.subscribing}, subscriptions: ${world.servers.map(server => server.subscribed().size)}`
      )
      t.true((first?.subscribing ?? 0) <= 3)
      for (const { address } of made) world.chain.fund(address, '5000')
      await until('all see a payment', () =>
        made.every(({ wallet, amount }) => wallet.balance() === String(Number(amount) + 5000))
      )
    }
  )

test.serial('a server that had enough of a device with few subscriptions serves it again soon', async t => {
  const world = makeSpreadWorld(t, { limits: [10], kind: { ...serverKinds.ours, atLimit: 'exhausted' } })
  const [server] = world.servers
  const [made] = await openMany(world, 1)
  await made?.wallet.engine.startEngine()
  await until('it was refused', () => (server?.opened ?? 0) > 1)
  if (server !== undefined) server.limit = 9000
  server?.revive()
  await until('it is in step', () => made !== undefined && isSynced(made.wallet))
  t.is(made?.wallet.balance(), made?.amount)
})

test.serial(
  'a wallet that is paused and resumed finds its place at a server that forgets no subscription',
  async t => {
    const kind: ServerKind = { ...serverKinds.ours, versions: ['1.4', '1.4'], atLimit: 'refused' }
    const world = makeSpreadWorld(t, { limits: [60], kind })
    const made = await openMany(world, 3)
    const [first, paused, refused] = made.map(({ wallet }) => wallet) as [TestWallet, TestWallet, TestWallet]
    await look(first)
    await look(paused)
    await t.throwsAsync(look(refused), { code: 'SERVER_FULL', message: /no more than 60/ })
    let wallet = paused
    for (let round = 0; round < 3; round += 1) {
      await wallet.engine.killEngine()
      wallet = await world.openWallet({ format: 'bip32', keys: wallet.privateKeys, store: wallet.store })
      await t.notThrowsAsync(wallet.engine.syncNetwork({}), `round ${round}`)
      t.true(isSynced(wallet))
    }
  }
)

/** Lets a wallet watch more, and waits for nothing. */
const widen = ({ engine }: TestWallet, forceIndex: number): Promise<unknown> =>
  engine.getFreshAddress({ tokenId: null, forceIndex })

test.serial('a wallet too large for the servers that are left keeps no smaller one from them', async t => {
  const world = makeSpreadWorld(t, { limits: [300, 100], kind: serverKinds.fulcrum })
  const [first, second] = world.servers
  const made = (await openMany(world, 8)).map(({ wallet }) => wallet)
  await widen(made[0] as TestWallet, 200)
  for (const wallet of made) await look(wallet).catch(() => undefined)
  for (const { engine } of made.slice(5)) await engine.killEngine()
  await until('three have left', () => second?.subscribed().size === 26)
  t.is(first?.subscribed().size, 279)
  first?.kill()
  await until('two have come', () => second?.subscribed().size === 3 * 26)
})

test.serial('a wallet that goes to a server of long ago does not go back in height', async t => {
  const world = makeSpreadWorld(t, { limits: [60, 60], kind: serverKinds.fulcrum })
  const made = (await openMany(world, 4)).map(({ wallet }) => wallet)
  for (const wallet of made) await look(wallet)
  const [one, two, , four] = made as [TestWallet, TestWallet, TestWallet, TestWallet]
  await one.engine.killEngine()
  await two.engine.killEngine()
  world.chain.mine(3)
  const { heights } = four.reported
  await until('it knows the new blocks', () => heights.at(-1) === world.chain.height)
  const [first] = world.servers
  const opened = first?.opened
  await widen(four, 40)
  await until('it has moved', () => first?.opened !== opened)
  t.deepEqual(
    heights,
    [...heights].sort((a, b) => a - b)
  )
})

test.serial('through a proxy, a server that refuses one wallet still has the next one', async t => {
  const world = makeSpreadWorld(t, { limits: [10, 9000], kind: serverKinds.fulcrum, isProxied: true })
  const [one, two] = (await openMany(world, 2)).map(({ wallet }) => wallet) as [TestWallet, TestWallet]
  const [first, second] = world.servers
  await look(one)
  t.is(second?.subscribed().size, 26)
  if (first !== undefined) first.limit = 9000
  first?.revive()
  await look(two)
  t.is(first?.subscribed().size, 26)
  t.is(second?.learned.size, 26, 'the second server learns nothing of it')
})

test.serial(
  'a wallet that finds no room says which servers have only failed, and that its own is full',
  async t => {
    const kind: ServerKind = { ...serverKinds.ours, atLimit: 'refused' }
    const world = makeSpreadWorld(t, { limits: [9000, 60], kind })
    const made = (await openMany(world, 3)).map(({ wallet }) => wallet)
    const [one, two, three] = made as [TestWallet, TestWallet, TestWallet]
    const [first, second] = world.servers
    first?.kill()
    await begin(one)
    await look(two)
    await t.throwsAsync(look(three), {
      code: 'SERVER_FULL',
      message: /s2\.test:1 watches no more than 60 .* s1\.test failed within the last minute/
    })
    second?.kill()
    const { statuses } = three.reported
    await until('the loss is shown beside the refusal', () =>
      /closed.*; .*watches no more than 60/.test(statuses.at(-1) ?? '')
    )
    first?.revive()
    await until('it is in step', () => isSynced(three))
    t.is(statuses.at(-1), '')
  }
)

test.serial('an error names the servers that were tried for a wallet, and no others', async t => {
  const kind: ServerKind = { ...serverKinds.ours, atLimit: 'refused' }
  const world = makeSpreadWorld(t, { limits: [60, 9000], kind })
  const made = (await openMany(world, 3)).map(({ wallet }) => wallet)
  for (const wallet of made) await look(wallet)
  const { engine, reported } = made[2] as TestWallet
  const [, second] = world.servers
  t.is(second?.subscribed().size, 26)
  // The timers of the io keep no process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  second?.kill()
  await until('it has lost its server', () => reported.connections.at(-1) !== undefined)
  await t.throwsAsync(engine.syncNetwork({}), {
    code: 'NETWORK',
    message: /^Could not reach tcp:\/\/s2\.test:1/
  })
})

test.serial(
  'a payment that has not left when its server dies goes to the next server of the wallet',
  async t => {
    const world = makeSpreadWorld(t, { limits: [9000, 9000] })
    const [made] = await openMany(world, 1)
    const wallet = made?.wallet as TestWallet
    await begin(wallet)
    // A second server has to agree before.
    await until('its coin can be spent', () => wallet.reported.details.at(-1)?.spendable === made?.amount)
    const { engine, privateKeys } = wallet
    const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('2000') }]
    const draft = await engine.makeSpend({ tokenId: null, spendTargets }, {})
    const signed = await engine.signTx(draft, privateKeys)
    // The wallet learns of it with the next turn of the event loop, before the bytes would leave.
    world.servers[0]?.kill()
    await engine.broadcastTx(signed, {})
    t.is(String(world.chain.balance(PAYEE).unconfirmed), '2000')
  }
)

test('a server whose limit goes up and down is tried again later and later, until it gives more than ever', t => {
  let now = 0
  const server = { url: 'tcp://s1.test:1', open: () => Promise.reject(new Error('not needed')) }
  const scores = new ServerScores([server], { monotonic: () => now })
  const waitOf = (limit: number): number => {
    scores.noteLimit(server, limit)
    const since = now
    while (scores.limitOf('s1.test') !== Number.POSITIVE_INFINITY) now += 60_000
    return (now - since) / 60_000
  }
  t.deepEqual([1000, 1200, 1000, 1200, 1000, 1250, 1000].map(waitOf), [10, 10, 20, 40, 80, 160, 160])
  t.is(waitOf(2000), 10)
})
