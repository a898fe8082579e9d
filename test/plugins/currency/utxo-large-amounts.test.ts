import test, { type ExecutionContext } from 'ava'
import { COIN_NETWORKS } from '../../../fake-server/chain/coin-networks.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { nativeAmount, type SpendInfo } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

/** The first amount that floating point does not have. */
const FIRST = 2n ** 53n + 1n
/** Odd, as their sum is: floating point has none of them. */
const AMOUNTS = [FIRST, 3n * 2n ** 53n + 1n, 2n ** 55n + 1n]
const SUM = AMOUNTS.reduce((sum, amount) => sum + amount)

/** Dogecoin as it is shipped, but for the work of its blocks, on a chain whose blocks earn far more. */
const makeWorld = (t: ExecutionContext): TestWorld => {
  const [{ work: _work, linking: _linking, checkpoint: _checkpoint, ...mainnet }] = dogecoinRow.networks
  const { dogecoin } = COIN_NETWORKS
  const network = { ...mainnet, name: 'regtest', genesis: dogecoin.genesis.hash }
  const { clock, random } = makeNodeIo()
  const chain = openFakeChain({ clock, random, network: { ...dogecoin, subsidy: 10n ** 16n } })
  const world = makeTestWorld({ plugin: utxoPlugin({ ...dogecoinRow, networks: [network] }), chain })
  t.teardown(() => world.close())
  return world
}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const spendable = ({ reported }: TestWallet): string | undefined => reported.details.at(-1)?.spendable

const spendTo = (publicAddress: string, amount: string): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }]
})

const maxOf = async ({ engine }: TestWallet, spend: SpendInfo): Promise<string> =>
  (await engine.getMaxSpendable?.(spend, {})) ?? ''

test('amounts beyond what floating point can count are received, listed, chosen, paid and kept to the last unit', async t => {
  const world = makeWorld(t)
  const { chain } = world
  const [alice, bob] = [await world.openWallet(), await world.openWallet()]
  for (const amount of AMOUNTS) chain.fund(await addressOf(alice), String(amount))
  await until('they come', () => alice.balance() === String(SUM))
  t.is(alice.reported.details.at(-1)?.incoming, nativeAmount(String(SUM)))
  chain.mine()
  await until('they can be spent', () => spendable(alice) === String(SUM))
  t.deepEqual(
    [...alice.reported.txs.values()].map(tx => BigInt(tx.nativeAmount)).sort((a, b) => (a < b ? -1 : 1)),
    [...AMOUNTS]
  )
  t.deepEqual(
    (await alice.engine.listCoins?.())?.map(coin => String(coin.nativeAmount)).sort(),
    AMOUNTS.map(String).sort()
  )

  // More than any coin has.
  const paid = 2n ** 55n + 2n ** 53n + 3n
  const sent = await alice.send(spendTo(await addressOf(bob), String(paid)))
  const fee = BigInt(sent.networkFee)
  t.is(BigInt(sent.nativeAmount), -paid - fee)
  t.true(fee > 0n && fee < 10n ** 10n)
  const left = SUM - paid - fee
  await until('the change is there', () => alice.balance() === String(left))
  await until('it is paid', () => bob.balance() === String(paid))
  chain.mine()
  await until('both can spend it', () => spendable(alice) === String(left) && spendable(bob) === String(paid))

  // What is on the disk is the same, before any server is asked.
  await alice.engine.killEngine()
  const again = await world.openWallet({ keys: alice.privateKeys, store: alice.store, isStarted: false })
  await again.engine.startEngine()
  t.is(again.balance(), String(left))
  await again.engine.syncNetwork({})

  const most = await maxOf(bob, spendTo(await addressOf(again), '0'))
  const back = await bob.send(spendTo(await addressOf(again), most))
  t.is(BigInt(most) + BigInt(back.networkFee), paid)
  await until('nothing is left', () => bob.balance() === '0')
  await until('all of it is back', () => again.balance() === String(left + BigInt(most)))
})

test('an amount beyond what floating point can count that is one unit too large is refused', async t => {
  const world = makeWorld(t)
  const alice = await world.openWallet()
  world.chain.fund(await addressOf(alice), String(FIRST))
  world.chain.mine()
  await until('it can be spent', () => spendable(alice) === String(FIRST))
  const to = await addressOf(await world.openWallet())
  const most = BigInt(await maxOf(alice, spendTo(to, '0')))
  t.is(
    (await alice.engine.makeSpend(spendTo(to, String(most)), {})).networkFee,
    nativeAmount(String(FIRST - most))
  )
  await t.throwsAsync(alice.engine.makeSpend(spendTo(to, String(most + 1n)), {}), {
    code: 'INSUFFICIENT_FUNDS'
  })
})
