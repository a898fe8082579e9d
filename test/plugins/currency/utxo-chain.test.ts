import test from 'ava'
import { type Io, isWalletError, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeTestStore, makeTestWorld, type TestWorld, until } from './utxo-world.ts'

const FORMATS = ['bip84', 'bip49', 'bip44', 'bip86', 'bip32']

for (const format of FORMATS) {
  test(`a ${format} wallet receives, pays and is paid back, in agreement with the chain`, async t => {
    const world = makeTestWorld()
    t.teardown(() => world.close())
    const alice = await world.openWallet({ format })
    const bob = await world.openWallet({ format: 'bip86' })
    t.is(alice.balance(), '0')
    const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
    const txid = world.chain.fund(publicAddress, '500000')
    await until('the coin shows', () => alice.balance() === '500000')
    t.is(alice.reported.txs.get(txid)?.blockHeight, 0)
    t.is(String(alice.reported.txs.get(txid)?.nativeAmount), '500000')
    t.deepEqual(alice.reported.txs.get(txid)?.ourReceiveAddresses, [publicAddress])
    t.not((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, publicAddress)
    t.true(await alice.engine.isAddressUsed(publicAddress))
    world.chain.mine()
    await until('it confirms', () => alice.reported.txs.get(txid)?.blockHeight === world.chain.height)

    const target = (await bob.engine.getFreshAddress({ tokenId: null })).publicAddress
    const paid = await alice.send({
      spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('120000') }]
    })
    const fee = BigInt(paid.networkFee)
    t.is(String(paid.nativeAmount), String(-120000n - fee))
    t.is(alice.balance(), String(380000n - fee))
    await until('bob sees it', () => bob.balance() === '120000')
    t.is(String(bob.reported.txs.get(paid.txid)?.nativeAmount), '120000')
    world.chain.mine()
    await until('it confirms', () => alice.reported.txs.get(paid.txid)?.blockHeight === world.chain.height)
    t.is(alice.reported.txs.get(paid.txid)?.nativeAmount, paid.nativeAmount)
    t.is(alice.reported.txs.get(paid.txid)?.networkFee, paid.networkFee)
    t.is(alice.balance(), String(380000n - fee))

    const all =
      (await alice.engine.getMaxSpendable?.(
        { tokenId: null, spendTargets: [{ publicAddress: target }] },
        {}
      )) ?? ''
    const last = await alice.send({
      spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount(all) }]
    })
    t.is(alice.balance(), '0')
    t.is(BigInt(all) + BigInt(last.networkFee), 380000n - fee)

    const twin = await world.openWallet({ keys: alice.privateKeys })
    t.is(twin.balance(), '0')
    t.deepEqual(
      [...twin.reported.txs.values()].map(({ txid, nativeAmount }) => `${txid} ${nativeAmount}`).sort(),
      [...alice.reported.txs.values()].map(({ txid, nativeAmount }) => `${txid} ${nativeAmount}`).sort()
    )
  })
}

test('a spend of every kind of recipient and of 100 inputs is accepted by the chain', async t => {
  const world = makeTestWorld({ sliceLength: 7000 })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const { publicAddress, legacyAddress = '' } = await alice.engine.getFreshAddress({ tokenId: null })
  world.chain.fundMany(
    Array.from({ length: 100 }, (_, at) => ({
      to: at % 2 === 0 ? publicAddress : legacyAddress,
      amount: '10000'
    }))
  )
  world.chain.mine()
  await until('coins', () => alice.balance() === '1000000')
  const recipients = await Promise.all(
    ['bip44', 'bip49', 'bip84', 'bip86'].map(async format => {
      const wallet = await world.openWallet({ format })
      const fresh = await wallet.engine.getFreshAddress({ tokenId: null })
      return format === 'bip49' ? (fresh.legacyAddress ?? '') : fresh.publicAddress
    })
  )
  const paid = await alice.send({
    spendTargets: recipients.map(publicAddress => ({ publicAddress, nativeAmount: nativeAmount('200000') }))
  })
  const chainTx = world.chain.view.mempool.get(paid.txid)
  t.is(chainTx?.fee, BigInt(paid.networkFee))
  t.true((chainTx?.tx.outputs.length ?? 0) >= 4)
  const rate = Number(paid.networkFee) / (chainTx?.tx.vsize ?? 1)
  t.true(rate >= 8 && rate < 8.2, `paid ${rate} per vbyte`)
  world.chain.mine()
  await until('confirmed', () => alice.reported.txs.get(paid.txid)?.blockHeight === world.chain.height)
})

test('a reorg takes a payment back to unconfirmed and a lost one is dropped with what was built on it', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const bob = await world.openWallet()
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  const kept = world.chain.fund(publicAddress, '300000')
  world.chain.mine()
  await until('confirmed', () => alice.reported.txs.get(kept)?.blockHeight === world.chain.height)
  const height = world.chain.height
  world.chain.reorg(1)
  await until('unconfirmed again', () => alice.reported.txs.get(kept)?.blockHeight === 0)
  t.is(alice.balance(), '300000')
  world.chain.mine()
  await until('confirmed in another block', () => alice.reported.txs.get(kept)?.blockHeight === height + 2)

  const target = (await bob.engine.getFreshAddress({ tokenId: null })).publicAddress
  const paid = await alice.send({
    spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('100000') }]
  })
  await until('bob sees it', () => bob.balance() === '100000')
  const afterPay = alice.balance()
  t.not(afterPay, '300000')
  await until('the server has shown it to its sender too', () =>
    [...alice.store.map].some(([key, text]) => key === `t/${paid.txid}` && text.split(' ')[2] === '1')
  )
  world.chain.drop(paid.txid)
  await until('dropped for both', () => alice.balance() === '300000' && bob.balance() === '0')
  t.is(alice.reported.txs.get(paid.txid)?.blockHeight, -1)
  t.is(bob.reported.txs.get(paid.txid)?.blockHeight, -1)

  await alice.engine.broadcastTx(paid, {})
  await until('alive again', () => bob.balance() === '100000' && alice.balance() === afterPay)
  await alice.engine.broadcastTx(paid, {})
  world.chain.mine()
  await until('confirmed', () => alice.reported.txs.get(paid.txid)?.blockHeight === world.chain.height)
  await t.notThrowsAsync(alice.engine.broadcastTx(paid, {}))
})

test('a block that comes while a history is on its way, and is undone before it is looked at, leaves nothing confirmed', async t => {
  let stage: 'opening' | 'before' | 'mined' | 'undone' = 'opening'
  let world: TestWorld | undefined
  const connect: NonNullable<Io['connect']> = async (address, handlers) => {
    const { chain, electrum } = world as TestWorld
    const channel = await electrum.connect(address, {
      ...handlers,
      onText(text) {
        if (stage === 'mined' && text.includes('"merkle"')) {
          stage = 'undone'
          chain.reorg(1)
        }
        handlers.onText(text)
      }
    })
    return {
      ...channel,
      close: () => channel.close(),
      send(text) {
        if (stage === 'before' && text.includes('get_history')) {
          stage = 'mined'
          chain.mine()
        }
        channel.send(text)
      }
    }
  }
  world = makeTestWorld({ io: { connect } })
  t.teardown(() => world?.close())
  const { chain } = world
  const alice = await world.openWallet()
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  stage = 'before'
  const txid = chain.fund(publicAddress, '300000')
  await until(
    'unconfirmed again',
    () => stage === 'undone' && alice.reported.txs.get(txid)?.blockHeight === 0
  )
  const heights = alice.reported.reports.flat().flatMap(tx => (tx.txid === txid ? [tx.blockHeight > 0] : []))
  // The same height twice is the same news with another grade.
  t.deepEqual(
    heights.filter((isIn, at) => isIn !== heights[at - 1]),
    [true, false]
  )
  t.is(alice.reported.details.at(-1)?.incoming, nativeAmount('300000'))
})

test('a double spend is refused with the reason of the node, and the winner of a conflict is the confirmed one', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const twin = await world.openWallet({ keys: alice.privateKeys })
  const bob = await world.openWallet()
  world.chain.fund((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, '300000')
  world.chain.mine()
  await until('both see it', () => alice.balance() === '300000' && twin.balance() === '300000')
  const target = (await bob.engine.getFreshAddress({ tokenId: null })).publicAddress
  const spend = {
    tokenId: null,
    spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('100000') }]
  }
  const first = await alice.engine.signTx(await alice.engine.makeSpend(spend, {}), alice.privateKeys)
  const second = await twin.engine.signTx(
    await twin.engine.makeSpend({ ...spend, networkFeeOption: 'low' }, {}),
    twin.privateKeys
  )
  t.not(first.txid, second.txid)
  await alice.engine.broadcastTx(first, {})
  await alice.engine.saveTx(first)
  const refused = await t.throwsAsync(twin.engine.broadcastTx(second, {}))
  t.true(isWalletError(refused, 'BROADCAST_REFUSED'))
  t.true(isWalletError(refused, 'BROADCAST_REFUSED') && refused.details.reason.length > 5)
  await twin.engine.saveTx(second)
  world.chain.mine()
  await until('the confirmed one wins', () => twin.reported.txs.get(second.txid)?.blockHeight === -1)
  await until('both see it confirmed', () =>
    [alice, twin].every(wallet => wallet.reported.txs.get(first.txid)?.blockHeight === world.chain.height)
  )
  t.is(twin.balance(), alice.balance())
})

test('a warm start without changes is one round trip and fetches no history', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const store = makeTestStore()
  const first = await world.openWallet({ store })
  const addresses = await Promise.all(
    Array.from({ length: 60 }, (_, forceIndex) => first.engine.getFreshAddress({ tokenId: null, forceIndex }))
  )
  world.chain.fundMany(addresses.map(({ publicAddress }) => ({ to: publicAddress, amount: '20000' })))
  world.chain.mine()
  await until('all', () => first.balance() === '1200000')
  await first.engine.syncNetwork({})
  await first.engine.killEngine()
  const before = world.sent.length
  const again = await world.openWallet({ store, keys: first.privateKeys })
  t.is(again.balance(), '1200000')
  const requested = world.sent.slice(before).join('')
  t.false(requested.includes('get_history'))
  t.false(requested.includes('transaction.get'))
  t.true(world.sent.length - before <= 4, `${world.sent.length - before} writes`)
  t.is(again.reported.txs.size, first.reported.txs.size)
})

test('engines share nothing but the connection, and say nothing once killed', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const bob = await world.openWallet()
  const address = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  world.chain.fund(address, '50000')
  await until('alice', () => alice.balance() === '50000')
  t.is(bob.balance(), '0')
  await alice.engine.killEngine()
  await alice.engine.killEngine()
  const reported = alice.reported.count
  world.chain.fund(address, '50000')
  world.chain.mine(2)
  await until('bob hears the height', () => bob.reported.heights.at(-1) === world.chain.height)
  t.is(alice.reported.count, reported)
  t.is(bob.reported.txs.size, 0)
  await t.throwsAsync(alice.engine.syncNetwork({}))
})

test('over WebSocket the wallet sees and spends the same, where there is no TCP', async t => {
  const world = makeTestWorld({ servers: ['ws://127.0.0.1:50003'], io: { connect: undefined as never } })
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const bob = await world.openWallet()
  world.chain.fund((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, '300000')
  await until('coin', () => alice.balance() === '300000')
  world.chain.mine()
  await until('confirmed', () => alice.reported.details.at(-1)?.spendable === '300000')
  const { publicAddress } = await bob.engine.getFreshAddress({ tokenId: null })
  await alice.send({ spendTargets: [{ publicAddress, nativeAmount: nativeAmount('100000') }] })
  await until('bob', () => bob.balance() === '100000')
  t.is(world.sent.length, 0)
})

test('a new device finds coins up to 25 unused addresses after the last used one, and none beyond', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const payer = await world.openWallet()
  const addressAt = async (forceIndex: number): Promise<string> =>
    (await payer.engine.getFreshAddress({ tokenId: null, forceIndex })).publicAddress
  const balanceOfNewDevice = async (): Promise<string | undefined> =>
    (await world.openWallet({ keys: payer.privateKeys })).balance()

  world.chain.fund(await addressAt(25), '700000')
  t.is(await balanceOfNewDevice(), '0', 'index 25 has 25 unused ones before it: outside')
  world.chain.fund(await addressAt(20), '10000')
  t.is(await balanceOfNewDevice(), '710000', 'after index 20, the gap reaches to 45')
  world.chain.fund(await addressAt(40), '2000')
  world.chain.fund(await addressAt(66), '500000')
  t.is(await balanceOfNewDevice(), '712000', 'after index 40, the gap reaches to 65')
  world.chain.fund(await addressAt(65), '30000')
  t.is(await balanceOfNewDevice(), '1242000')
})
