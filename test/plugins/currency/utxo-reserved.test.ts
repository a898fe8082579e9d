import test from 'ava'
import { nativeAmount } from '../../../kernel/plugin-api.ts'
import { type Ledger, ReservedCoins, rivalOf } from '../../../plugins/currency/utxo/wallet/ledger.ts'
import { makeTestWorld, until } from './utxo-world.ts'

/** A transaction that spends the first output of each of these, a byte of their ids each. */
const payment = (txid: string, ...spent: readonly string[]) => {
  const inputs = spent.map(byte => `${byte.repeat(32)}0000000000ffffffff`)
  const outputs = `01e80300000000000016${'0014'.padEnd(44, 'a')}`
  const signedTx = `02000000${`0${spent.length}`}${inputs.join('')}${outputs}00000000`
  return { txid, signedTx }
}

const coin = (byte: string): string => `${byte.repeat(32)}:0`

/** A ledger in which these transactions spend, by coin. */
const ledgerOf = (spenders: Readonly<Record<string, readonly { txid: string; height: number }[]>>): Ledger =>
  ({ spendersOf: (outpoint: string) => spenders[outpoint] ?? [] }) as unknown as Ledger

const reservedBy = (...payments: readonly { txid: string; signedTx: string }[]): ReservedCoins => {
  const reserved = new ReservedCoins({ fromHex: hex => Uint8Array.from(Buffer.from(hex, 'hex')) })
  reserved.replace(payments)
  return reserved
}

test('a coin stays reserved as long as one payment holds it, whichever of them a draft replaces', t => {
  const reserved = reservedBy(payment('first', 'aa', 'bb'), payment('second', 'aa'), payment('odd'))
  const nothing = ledgerOf({})
  for (const except of [undefined, 'first', 'second'])
    t.true(reserved.isReserved(nothing, coin('aa'), except))
  t.true(reserved.isReserved(nothing, coin('bb')))
  t.false(reserved.isReserved(nothing, coin('bb'), 'first'))
  t.false(reserved.isReserved(nothing, coin('cc')))
  t.deepEqual(reserved.find('first')?.spends, [coin('aa'), coin('bb')])
  t.is(reserved.find('first')?.outputTotal, 1000n)
})

test('a payment gives its coins free when a confirmed rival has taken one of them, and not before', t => {
  const reserved = reservedBy(payment('ours', 'aa', 'bb'))
  const spentAt = (height: number, txid = 'rival'): Ledger => ledgerOf({ [coin('bb')]: [{ txid, height }] })
  t.true(reserved.isReserved(spentAt(0), coin('aa')))
  t.false(reserved.isReserved(spentAt(1), coin('aa')))
  t.true(reserved.isReserved(spentAt(1, 'ours'), coin('aa')), 'it is no rival of itself')
  const ours = { txid: 'ours', spends: [coin('aa'), coin('bb')] }
  t.is(rivalOf(spentAt(0), ours, 0), 'rival')
  t.is(rivalOf(spentAt(0), ours, 1), undefined)
})

test('payments that no longer hold coins are listed, and bytes that are no transaction hold none', t => {
  const reserved = reservedBy(payment('a', 'aa'), payment('b', 'bb'), { txid: 'odd', signedTx: 'zz' })
  t.is(reserved.find('odd'), undefined)
  t.false(reserved.isEmpty)
  t.deepEqual(reserved.replace([{ txid: 'b', signedTx: 'not read again' }]), ['a'])
  t.deepEqual(reserved.find('b')?.spends, [coin('bb')])
  t.false(reserved.isReserved(ledgerOf({}), coin('aa')))
  t.false(reserved.isEmpty)
  t.deepEqual(reserved.replace([]), ['b'])
  t.true(reserved.isEmpty)
  t.true(reservedBy().isEmpty)
  t.true(reservedBy({ txid: 'odd', signedTx: 'zz' }).isEmpty)
})

test('a payment whose parent was beaten by a rival in a block is dropped for good, and gives its other coins free', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const [alice, bob] = [await world.openWallet(), await world.openWallet()]
  const { engine } = alice
  const addressOf = async (wallet: typeof alice): Promise<string> =>
    (await wallet.engine.getFreshAddress({ tokenId: null })).publicAddress
  const payee = await addressOf(bob)
  const payTo = (amount: string) => ({
    ...{ tokenId: null, spendTargets: [{ publicAddress: payee, nativeAmount: nativeAmount(amount) }] }
  })
  // The smaller coin goes into the child, besides the change of its parent.
  for (const amount of ['100000', '20000']) world.chain.fund(await addressOf(alice), amount)
  world.chain.mine()
  await until('the coins are there', () => alice.reported.details.at(-1)?.spendable === '120000')
  const parent = await alice.send(payTo('30000'))
  await engine.reservePayments?.([parent])
  const fee = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '90' } } as const
  const draft = await engine.makeSpend({ ...payTo('30000'), ...fee, replaces: parent.txid }, {})
  const rival = await engine.signTx(draft, alice.privateKeys)
  const child = await alice.send(payTo('75000'))
  await engine.reservePayments?.([parent, child])
  await until('it is seen', async () => (await engine.findPayment?.(child))?.state === 'seen')
  world.chain.broadcast(rival.signedTx)
  await until('the rival is seen', async () => (await engine.findPayment?.(parent))?.state === 'replaced')
  t.not((await engine.findPayment?.(child))?.isFinal, true, 'not before a block has the rival')
  world.chain.mine()
  await until('a block has it', () => (alice.reported.txs.get(rival.txid)?.blockHeight ?? 0) > 0)
  t.deepEqual(await engine.findPayment?.(parent), {
    ...{ state: 'replaced', replacedBy: rival.txid, isFinal: true }
  })
  t.deepEqual(await engine.findPayment?.(child), { state: 'dropped', isFinal: true })
  await engine.reservePayments?.([])
  const coins = (await engine.listCoins?.()) ?? []
  const spendable = coins
    .filter(({ state }) => state === 'spendable')
    .reduce((sum, coin) => sum + BigInt(coin.nativeAmount), 0n)
  // Whichever coins the rival took, all that it left is free, and its change.
  t.is(spendable, 120_000n - 30_000n - BigInt(rival.networkFee))
})
