import test from 'ava'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { Purpose } from '../../../plugins/currency/utxo/params/coin.ts'
import {
  type CoinSource,
  chooseCoins,
  type SpendSource,
  sortCoins
} from '../../../plugins/currency/utxo/spend/choose-coins.ts'
import {
  maxAmountOf,
  type SelectionGoal,
  selectCoins,
  selectWith
} from '../../../plugins/currency/utxo/spend/select-coins.ts'
import type { Coin } from '../../../plugins/currency/utxo/wallet/ledger.ts'

const coinOf = (value: bigint, purpose: Purpose = 84, more: Partial<Coin> = {}): Coin =>
  ({
    ...{ txid: String(value), vout: 0, value, record: { branch: { purpose } } },
    ...{ height: 7, isCoinbase: false, isPegOut: false, isOwnChange: false },
    ...more
  }) as unknown as Coin

/** One recipient of 22 bytes, at a rate of one unit for a byte if no other is said. */
const goalOf = (amount: bigint, more: Partial<SelectionGoal> = {}): SelectionGoal => ({
  ...{ amount, outputs: [22], rate: 1000n, longTermRate: 10_000n },
  ...{ changePurpose: 84, changeType: 'p2wpkh', changeDust: 294n, random: () => 0 },
  ...more
})

const valuesOf = (coins: readonly Coin[] = []): readonly bigint[] =>
  coins.map(({ value }) => value).sort((a, b) => Number(a - b))

const sourceOf = (coins: readonly Coin[], height: number): SpendSource => {
  const [network] = bitcoinRow.networks
  const source: CoinSource = {
    ...{ coin: bitcoinRow, height },
    frozen: new Set(),
    reserved: { isReserved: () => false } as unknown as CoinSource['reserved'],
    ledger: { coins: () => coins } as unknown as CoinSource['ledger']
  }
  return { ...source, network } as unknown as SpendSource
}

// Virtual bytes, counted by hand from BIP-141: a payment of one coin to one recipient of 22 bytes has 110, to two 141;
// a second coin makes
// it 177.
const ONE_TO_ONE = 110n
const TWO_TO_ONE = 177n

test('the first block of a chain confirms its coins, and a reward of it is spendable a hundred blocks later', t => {
  const confirmed = coinOf(1n, 84, { height: 1 })
  const unconfirmed = coinOf(2n, 84, { height: 0, isOwnChange: true })
  const reward = coinOf(3n, 84, { height: 1, isCoinbase: true })
  const coins = [confirmed, unconfirmed, reward]
  const [young, ripe] = [sourceOf(coins, 99), sourceOf(coins, 100)]
  t.deepEqual(sortCoins(young, {}), { safe: [confirmed, unconfirmed], risky: [], waiting: [reward] })
  t.deepEqual(sortCoins(ripe, { noUnconfirmed: true }), {
    ...{ safe: [confirmed, reward], risky: [], waiting: [unconfirmed] }
  })
})

test('a payment that even the coins which wait could not pay lacks funds, and does not have to wait for any', t => {
  const [safe, waiting] = [[coinOf(10_000n)], [coinOf(5000n, 84, { height: 0 })]]
  const source = sourceOf([], 10)
  const tiers = { safe, risky: [], waiting }
  const error = t.throws(() => chooseCoins(source, tiers, goalOf(20_000n)), { code: 'INSUFFICIENT_FUNDS' })
  t.like(error, { details: { available: '10000', networkFee: '110', needed: '20110' } })
  t.throws(() => chooseCoins(source, tiers, goalOf(12_000n)), { code: 'PENDING_FUNDS' })
})

test('a coin that brings no more than it costs is not spent, also with the empty witness of a legacy one', t => {
  // A coin of BIP-84 costs 68 beside others, one of BIP-44 148.
  for (const [purpose, cost] of [
    [84, 68n],
    [44, 148n]
  ] as const) {
    const coins = [coinOf(100_000n), coinOf(cost, purpose)]
    t.is(maxAmountOf(coins, goalOf(0n)), 100_000n - ONE_TO_ONE, `${purpose}`)
    t.is(selectCoins([coinOf(cost, purpose)], goalOf(1n)), undefined)
  }
})

test('two coins that fit are spent rather than one with change, where change costs more than the second coin', t => {
  const goal = goalOf(100_000n, { rate: 20_000n })
  // The search rounds each part up: so the coins leave one byte more.
  const fee = (TWO_TO_ONE + 1n) * 20n
  const coins = [coinOf(60_000n), coinOf(40_000n + fee), coinOf(300_000n)]
  const { coins: chosen, change } = selectCoins(coins, goal) ?? {}
  t.deepEqual(valuesOf(chosen), [40_000n + fee, 60_000n])
  t.is(change, 0n)
})

test('a coin that leaves less than change is worth is spent alone, and no second one is added to make change', t => {
  // What is left is more than change costs in the long term (3780), and less than it has to bring now (10,194).
  const rate = 100_000n
  const largest = 1_000_000n + ONE_TO_ONE * 100n + 5000n
  const coins = [coinOf(largest), coinOf(20_000n)]
  const selection = selectCoins(coins, goalOf(1_000_000n, { rate }))
  t.deepEqual(valuesOf(selection?.coins), [largest])
  t.is(selection?.change, 0n)
  t.is(selection?.fee, largest - 1_000_000n)
})

test('where inputs are cheap, coins that leave no large change are spent together', t => {
  const small = [5001n, 5002n, 5003n, 5004n]
  const coins = [100_000n, ...small].map(value => coinOf(value))
  const selection = selectCoins(coins, goalOf(95_000n))
  t.deepEqual(valuesOf(selection?.coins), [...small, 100_000n])
})

test('coins that must be spent pay exactly what they can, and the weight is that of their kinds and outputs', t => {
  const forced = [coinOf(10_000n)]
  const all = selectWith(forced, [], goalOf(10_000n - ONE_TO_ONE))
  t.deepEqual(all, { coins: forced, change: 0n, fee: ONE_TO_ONE, weight: 437 })
  t.is(selectWith(forced, [], goalOf(10_001n - ONE_TO_ONE)), undefined)
  // An input of BIP-86 weighs 230, one of BIP-84 271, an output of 22 bytes 124, and what is around them 42.
  const mixed = selectWith(forced, [coinOf(50_000n, 86), coinOf(20_000n, 86)], goalOf(75_000n))
  t.is(mixed?.weight, 42 + 271 + 2 * 230 + 2 * 124)
  t.deepEqual(valuesOf(mixed?.coins), [10_000n, 20_000n, 50_000n])
})

test('coins larger than floating point can count are chosen and paid to the last unit', t => {
  // 2^53 + 1 and 2^54 + 1: neither is a number of floating point, nor is their sum.
  const [small, large] = [coinOf(9_007_199_254_740_993n), coinOf(18_014_398_509_481_985n)]
  for (const value of [small.value, large.value, small.value + large.value])
    for (let offset = -3n; offset <= 3n; offset += 1n) {
      const amount = value - TWO_TO_ONE + offset
      const { coins = [], fee = 0n, change = 0n } = selectCoins([small, large], goalOf(amount)) ?? {}
      const total = small.value + large.value
      if (amount > total - TWO_TO_ONE) t.deepEqual(coins, [], `${amount} is too much`)
      else {
        t.is(
          coins.reduce((sum, coin) => sum + coin.value, 0n),
          amount + fee + change,
          `${amount}`
        )
        t.true(fee >= ONE_TO_ONE && fee < 1000n, `${fee}`)
      }
    }
  t.is(maxAmountOf([small, large], goalOf(0n)), small.value + large.value - TWO_TO_ONE)
})
