import test, { type ExecutionContext } from 'ava'
import { makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { type ServerKind, serverKinds } from '../../../fake-server/electrum/kinds.ts'
import {
  type EngineTransaction,
  type Io,
  type JsonObject,
  nativeAmount,
  type SpendInfo
} from '../../../kernel/plugin-api.ts'
import { BAD, makeHostileWorld, only } from './hostile-world.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const bumpOf = (bumps: string, satPerByte = '60'): SpendInfo => ({
  ...{ tokenId: null, spendTargets: [], bumps },
  ...{ networkFeeOption: 'custom', customNetworkFee: { satPerByte } }
})

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

/** What a transaction pays and weighs, by the fake chain alone. */
const costOf = ({ chain }: TestWorld, txid: string): { fee: number; bytes: number } => {
  const tx = chain.view.find(txid as never)?.tx
  if (tx === undefined) throw new Error('no such transaction')
  const spent = tx.inputs.reduce((sum, { txid: from, index }) => {
    const output = chain.view.find(from)?.tx.outputs[index]
    return sum + Number(output?.amount)
  }, 0)
  const fee = spent - tx.outputs.reduce((sum, { amount }) => sum + Number(amount), 0)
  return { fee, bytes: Math.ceil(tx.weight / 4) }
}

const opened = async (
  t: ExecutionContext
): Promise<{ world: TestWorld; alice: TestWallet; bob: TestWallet }> => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  return { world, alice: await world.openWallet(), bob: await world.openWallet() }
}

const fund = async (world: TestWorld, wallet: TestWallet, amount: string): Promise<string> => {
  const txid = world.chain.fund(await addressOf(wallet), amount)
  await until('it comes', () => wallet.reported.txs.has(txid))
  return txid
}

const hasten = async (wallet: TestWallet, spend: SpendInfo): Promise<EngineTransaction> => {
  const draft = await wallet.engine.makeSpend(spend, {})
  const sent = await wallet.engine.broadcastTx(await wallet.engine.signTx(draft, wallet.privateKeys), {})
  await wallet.engine.saveTx(sent)
  return sent
}

/** The rate of some transactions together, in units per virtual byte. */
const rateOf = (world: TestWorld, txids: readonly string[]): number => {
  const costs = txids.map(txid => costOf(world, txid))
  return costs.reduce((sum, { fee }) => sum + fee, 0) / costs.reduce((sum, { bytes }) => sum + bytes, 0)
}

test('a child of an incoming payment pays so much that both have the wanted rate', async t => {
  const { world, alice } = await opened(t)
  const txid = await fund(world, alice, '100000')
  t.true(rateOf(world, [txid]) < 60)
  const child = await hasten(alice, bumpOf(txid))
  t.deepEqual([child.spentCoins?.length, child.spentCoins?.[0]?.startsWith(txid)], [1, true])
  const rate = rateOf(world, [txid, child.txid])
  // A signature is at most one byte shorter than it is counted.
  t.true(rate >= 60 && rate < 60.5, `${rate}`)
  t.is(alice.balance(), String(100_000 - Number(child.networkFee)))
  world.chain.mine()
  await until('both are in a block', () => (alice.reported.txs.get(child.txid)?.blockHeight ?? 0) > 0)
})

test('every unconfirmed ancestor that pays less is paid for, and none that pays more', async t => {
  const { world, alice, bob } = await opened(t)
  await fund(world, alice, '1000000')
  world.chain.mine()
  await until('it is confirmed', () => alice.reported.details.at(-1)?.spendable === '1000000')
  const payee = { publicAddress: await addressOf(bob), nativeAmount: nativeAmount('200000') }
  const at = (satPerByte: string) =>
    ({ networkFeeOption: 'custom', customNetworkFee: { satPerByte } }) as const
  const rich = await alice.send({ spendTargets: [payee], ...at('90') })
  const poor = await alice.send({ spendTargets: [payee], ...at('3') })
  const last = await alice.send({ spendTargets: [payee], ...at('2') })
  await until('it comes', () => bob.reported.txs.has(last.txid))
  const child = await hasten(bob, bumpOf(last.txid))
  const rate = rateOf(world, [poor.txid, last.txid, child.txid])
  t.true(rate >= 60 && rate < 60.5, `${rate}`)
  t.true(rateOf(world, [rich.txid]) > 80)
  // The payer can do the same with the change.
  const own = await alice.engine.makeSpend(bumpOf(last.txid), {})
  t.is(own.networkFee, child.networkFee)
})

test('confirmed coins help where the coin of the payment is too small, and frozen ones never do', async t => {
  const { world, alice } = await opened(t)
  await fund(world, alice, '300000')
  const helping = await fund(world, alice, '200000')
  world.chain.mine()
  await until('they are confirmed', () => alice.reported.details.at(-1)?.spendable === '500000')
  const txid = await fund(world, alice, '2000')
  const coins = (await alice.engine.listCoins?.()) ?? []
  const big = coins.find(({ nativeAmount: value }) => value === '300000')
  await alice.engine.freezeCoins?.([`${big?.txid}:${big?.vout}`])
  const draft = await alice.engine.makeSpend(bumpOf(txid), {})
  t.deepEqual(
    draft.spentCoins?.map(coin => coin.slice(0, 64)),
    [txid, helping]
  )
  await alice.engine.freezeCoins?.(
    coins.filter(coin => coin.txid !== txid).map(coin => `${coin.txid}:${coin.vout}`)
  )
  await t.throwsAsync(alice.engine.makeSpend(bumpOf(txid), {}), { code: 'INSUFFICIENT_FUNDS' })
  await alice.engine.freezeCoins?.(coins.map(coin => `${coin.txid}:${coin.vout}`))
  await t.throwsAsync(alice.engine.makeSpend(bumpOf(txid), {}), { code: 'NOT_SUPPORTED', message: /frozen/ })
})

test('what cannot be hastened is refused with the reason', async t => {
  const { world, alice, bob } = await opened(t)
  const mined = await fund(world, alice, '100000')
  world.chain.mine()
  await until('it is confirmed', () => alice.reported.details.at(-1)?.spendable === '100000')
  const refused = async (spend: SpendInfo): Promise<string> => {
    const error = await t.throwsAsync(alice.engine.makeSpend(spend, {}))
    return `${(error as { code?: string }).code} ${error?.message}`
  }
  t.regex(await refused(bumpOf('ab')), /TX_NOT_FOUND/)
  t.regex(await refused(bumpOf(mined)), /NOT_SUPPORTED.*in a block/)
  const txid = await fund(world, alice, '70000')
  t.regex(await refused(bumpOf(txid, '1')), /FEE_INVALID/)
  const target = { publicAddress: await addressOf(bob), nativeAmount: nativeAmount('1000') }
  t.regex(await refused({ ...bumpOf(txid), spendTargets: [target] }), /NOT_SUPPORTED/)
  t.regex(await refused({ ...bumpOf(txid), coins: [`${txid}:0`] }), /NOT_SUPPORTED/)
  world.chain.drop(txid)
  t.regex(await refused(bumpOf(txid)), /NOT_SUPPORTED.*does not all have|TX_NOT_FOUND/)
})

test('a server that sends other transactions than the requested ones is given up, and nothing is signed', async t => {
  let isLying = false
  const world = makeHostileWorld(
    only('blockchain.transaction.get', hex => (isLying ? `${String(hex).slice(0, -2)}01` : hex)),
    { servers: [BAD] }
  )
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const txid = await fund(world, alice, '100000')
  isLying = true
  await t.throwsAsync(alice.engine.makeSpend(bumpOf(txid), {}), { code: 'NETWORK' })
})

test('what a server says of the ancestors of strangers makes no fee usual, and one that hides them is given up', async t => {
  let said: 'hidden' | 'honest' | 'waiting' = 'honest'
  let funded = 0
  const world = makeHostileWorld(
    only('blockchain.scripthash.get_history', history =>
      said === 'honest'
        ? history
        : said === 'hidden'
          ? []
          : (history as JsonObject[]).map(item =>
              Number(item.height) > funded ? { ...item, height: 0 } : item
            )
    ),
    { servers: [BAD] }
  )
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  const bob = await world.openWallet()
  // Bob pays out of a chain of payments that are all mined.
  await fund(world, bob, '3000000')
  world.chain.mine()
  await until('it is confirmed', () => bob.reported.details.at(-1)?.spendable === '3000000')
  funded = world.chain.height
  const at = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '2' } } as const
  const payee = {
    publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    nativeAmount: nativeAmount('1000')
  }
  for (let count = 0; count < 12; count += 1) {
    await bob.send({ spendTargets: [payee], ...at })
    world.chain.mine()
  }
  await until('all are mined', () =>
    [...bob.reported.txs.values()].every(({ blockHeight }) => blockHeight > 0)
  )
  const gift = { publicAddress: await addressOf(alice), nativeAmount: nativeAmount('200000') }
  const { txid } = await bob.send({ spendTargets: [gift], ...at })
  await until('it comes', () => alice.reported.txs.has(txid))
  const honest = await alice.engine.makeSpend(bumpOf(txid), {})
  said = 'waiting'
  const lied = await alice.engine.makeSpend(bumpOf(txid), {})
  t.true(Number(lied.networkFee) > 5 * Number(honest.networkFee), 'the lie costs')
  t.is(lied.usualNetworkFee, honest.usualNetworkFee, 'and shows')
  said = 'hidden'
  await t.throwsAsync(alice.engine.makeSpend(bumpOf(txid), {}), { code: 'NETWORK' })
})

const payee = {
  publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  nativeAmount: nativeAmount('200000')
}

/** A world whose server is of a kind, and whose connection ends instead of an answer to what `loses` names. */
interface RoughWorld extends TestWorld {
  kind: ServerKind
  loses: string | undefined
  readonly methods: string[]
}

const makeRoughWorld = (t: ExecutionContext): RoughWorld => {
  const { chain } = makeTestWorld()
  const methods: string[] = []
  const server = { kind: serverKinds.ours, loses: undefined as string | undefined }
  const connect: NonNullable<Io['connect']> = async (address, handlers) => {
    let isCut = false
    const onText = (text: string): void => {
      if (!isCut) handlers.onText(text)
    }
    const endOnceTaken = (): void => {
      if (chain.view.mempool.size > 0) handlers.onClose()
      else setTimeout(endOnceTaken, 5)
    }
    const electrum = makeElectrumConnect(chain, { kind: server.kind })
    const channel = await electrum.connect(address, { onText, onClose: handlers.onClose })
    return {
      close: () => channel.close(),
      send(text) {
        methods.push(...(text.match(/broadcast\w*/g) ?? []))
        isCut ||= server.loses !== undefined && text.includes(server.loses)
        channel.send(text)
        if (isCut) endOnceTaken()
      }
    }
  }
  const world = makeTestWorld({ chain, io: { connect } })
  t.teardown(() => world.close())
  return Object.assign(server, world, { methods })
}

/** A payment of Alice that leaves change to her, and that no server keeps any more. */
const makeLost = async (
  t: ExecutionContext,
  world: RoughWorld,
  alice: TestWallet
): Promise<EngineTransaction> => {
  await fund(world, alice, '1000000')
  world.chain.mine()
  await until('it is confirmed', () => alice.reported.details.at(-1)?.spendable === '1000000')
  const cheap = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '2' } } as const
  const lost = await alice.send({ spendTargets: [payee], ...cheap })
  await alice.engine.reservePayments?.([lost])
  await until('a server has it', () => world.chain.view.mempool.has(lost.txid))
  await until('it is seen', async () => (await alice.engine.findPayment?.(lost))?.state === 'seen')
  await alice.engine.syncNetwork({})
  world.chain.setLeastFee(20_000)
  t.false(world.chain.view.mempool.has(lost.txid))
  await until('it is gone', () => alice.reported.txs.get(lost.txid)?.blockHeight === -1)
  await t.throwsAsync(alice.engine.broadcastTx(lost, {}), { message: /mempool min fee not met/ })
  return lost
}

test('a child takes its parent along that pays less than servers keep, and both reach a block', async t => {
  const world = makeRoughWorld(t)
  const alice = await world.openWallet()
  const lost = await makeLost(t, world, alice)
  world.methods.length = 0
  const child = await hasten(alice, bumpOf(lost.txid))
  t.deepEqual(world.methods, ['broadcast', 'broadcast_package'])
  const rate = rateOf(world, [lost.txid, child.txid])
  t.true(rate >= 60 && rate < 60.5, `${rate}`)
  world.chain.mine()
  for (const txid of [lost.txid, child.txid])
    await until('both are in a block', () => (alice.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
})

test('without the newest protocol a payment that no server keeps is not hastened', async t => {
  const world = makeRoughWorld(t)
  const alice = await world.openWallet()
  const lost = await makeLost(t, world, alice)
  world.kind = serverKinds.romanz
  await alice.engine.killEngine()
  const again = await world.openWallet({ keys: alice.privateKeys, store: alice.store })
  await again.engine.reservePayments?.([lost])
  await t.throwsAsync(again.engine.makeSpend(bumpOf(lost.txid), {}), {
    ...{ code: 'NOT_SUPPORTED', message: /keep no longer/ }
  })
})

test('a package whose reply is lost leaves both payments kept, and their coins to no other', async t => {
  const world = makeRoughWorld(t)
  const alice = await world.openWallet()
  const lost = await makeLost(t, world, alice)
  const draft = await alice.engine.makeSpend(bumpOf(lost.txid), {})
  const child = await alice.engine.signTx(draft, alice.privateKeys)
  await alice.engine.reservePayments?.([lost, child])
  world.loses = 'broadcast_package'
  const error = await t.throwsAsync(alice.engine.broadcastTx(child, {}))
  t.not((error as { code?: string }).code, 'BROADCAST_REFUSED')
  world.loses = undefined
  const coins = (await alice.engine.listCoins?.()) ?? []
  t.deepEqual(
    coins.map(({ state }) => state),
    ['reserved'],
    'the change of the first'
  )
  await t.throwsAsync(alice.engine.makeSpend(bumpOf(lost.txid), {}), { message: /reserved/ })
  // It has arrived.
  world.chain.mine()
  await alice.engine.syncNetwork({})
  for (const txid of [lost.txid, child.txid])
    await until('both are in a block', () => (alice.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
})

test('a package of which one payment is refused is refused with the reason', async t => {
  const world = makeRoughWorld(t)
  const alice = await world.openWallet()
  const lost = await makeLost(t, world, alice)
  // For both it is too little.
  const draft = await alice.engine.makeSpend(bumpOf(lost.txid, '5'), {})
  const child = await alice.engine.signTx(draft, alice.privateKeys)
  await t.throwsAsync(alice.engine.broadcastTx(child, {}), {
    code: 'BROADCAST_REFUSED',
    message: /mempool min fee not met/
  })
  t.false(world.chain.view.mempool.has(lost.txid))
  // A rival of the parent is mined.
  const rival = await alice.engine.makeSpend(
    {
      ...{ tokenId: null, spendTargets: [payee], replaces: lost.txid },
      ...{ networkFeeOption: 'custom', customNetworkFee: { satPerByte: '30' } }
    },
    {}
  )
  const dear = await alice.engine.makeSpend(bumpOf(lost.txid, '60'), {})
  const late = await alice.engine.signTx(dear, alice.privateKeys)
  world.chain.broadcast((await alice.engine.signTx(rival, alice.privateKeys)).signedTx)
  world.chain.mine()
  await t.throwsAsync(alice.engine.broadcastTx(late, {}), {
    code: 'BROADCAST_REFUSED',
    message: /missingorspent|Missing inputs/
  })
})
