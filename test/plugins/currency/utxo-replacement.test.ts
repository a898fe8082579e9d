import test from 'ava'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { Purpose } from '../../../plugins/currency/utxo/params/coin.ts'
import {
  chooseReplacement,
  maxReplacementOf,
  type Replaced,
  replacedOf,
  type SpendSource
} from '../../../plugins/currency/utxo/spend/choose-coins.ts'
import type { SelectionGoal } from '../../../plugins/currency/utxo/spend/select-coins.ts'
import type { Coin } from '../../../plugins/currency/utxo/wallet/ledger.ts'

interface Rival {
  readonly txid: string
  readonly height: number
  readonly fee: bigint
}

interface Circumstances {
  /** The ledger does not have it: nothing but its signed bytes are known. */
  readonly isUnlisted?: boolean
  readonly isReplaceable?: boolean
  readonly isSeen?: boolean
  readonly height?: number
  /** The coins of the payment that the wallet knows nothing of. */
  readonly unknown?: readonly string[]
  /** Outputs of the payment and of its rivals that are spent. */
  readonly spent?: readonly string[]
}

/** A wallet with one signed payment of two coins of 5000 that pays 9000, and what else spends these coins. */
const sourceWith = (
  rivals: readonly Rival[],
  {
    isReplaceable = true,
    isSeen = false,
    isUnlisted = false,
    height = 0,
    unknown = [],
    spent = []
  }: Circumstances = {}
): SpendSource => {
  const payment = { txid: 'ours', spends: ['a:0', 'b:0'], outputTotal: 9000n, weight: 1000 }
  const source = {
    coin: { ...bitcoinRow, isReplaceable },
    frozen: new Set(),
    reserved: { find: (txid: string) => (txid === 'ours' ? payment : undefined) },
    ledger: {
      find: (txid: string) =>
        txid === 'ours' && !isUnlisted ? { height, isSeen, ours: [{ vout: 1 }] } : undefined,
      coinAt: (outpoint: string) => (unknown.includes(outpoint) ? undefined : { value: 5000n }),
      spendersOf: () => rivals,
      effectOf: ({ fee }: Rival) => ({ fee }),
      isSpent: (outpoint: string) => spent.includes(outpoint)
    }
  }
  return source as unknown as SpendSource
}

test('replacing an unknown payment is refused with that reason', t => {
  t.throws(() => replacedOf(sourceWith([]), 'other'), { code: 'TX_NOT_FOUND' })
})

test('a payment that is over, spends unknown coins, or whose change is spent is not replaced, and says why', t => {
  const refusals: readonly [Circumstances, readonly Rival[], RegExp][] = [
    [{ height: 1 }, [], /that is over/],
    [{}, [{ txid: 'rival', height: 1, fee: 0n }], /that is over/],
    [{ unknown: ['a:0'] }, [], /does not know/],
    [{ unknown: ['b:0'] }, [], /does not know/],
    [{ spent: ['ours:1'] }, [], /a later payment spends/]
  ]
  for (const [circumstances, rivals, message] of refusals)
    t.throws(() => replacedOf(sourceWith(rivals, circumstances), 'ours'), { code: 'NOT_SUPPORTED', message })
  t.is(replacedOf(sourceWith([], { isUnlisted: true }), 'ours').fee, 1000n)
  const { coins, fee, rate, txids } = replacedOf(sourceWith([], { spent: ['ours:0', 'other:1'] }), 'ours')
  t.is(coins.length, 2)
  t.deepEqual([fee, rate], [1000n, 4000n])
  t.deepEqual([...txids], ['ours'])
})

test('a replacement pays for each rival in force once, and not for dropped ones', t => {
  const rivals = [
    { txid: 'ours', height: 0, fee: 1000n },
    { txid: 'rival', height: 0, fee: 300n },
    { txid: 'dropped', height: -1, fee: 7000n }
  ]
  const { fee, txids } = replacedOf(sourceWith(rivals), 'ours')
  t.is(fee, 1300n)
  t.deepEqual([...txids], ['ours', 'rival'])
})

test('a payment that the network has is not replaced where the network keeps the first', t => {
  const first = { isReplaceable: false }
  t.throws(() => replacedOf(sourceWith([], { ...first, isSeen: true }), 'ours'), {
    code: 'NOT_SUPPORTED',
    message: /keeps the first/
  })
  t.is(replacedOf(sourceWith([], first), 'ours').fee, 1000n)
  t.is(replacedOf(sourceWith([], { isSeen: true }), 'ours').fee, 1000n)
})

test('the most that a replacement can pay is not zero but refused where its rate is above the limit', t => {
  const [network] = bitcoinRow.networks
  const coin = { value: 1_000_000n, record: { branch: { purpose: 84 } } } as unknown as Coin
  const source = {
    coin: bitcoinRow,
    network,
    ledger: { coins: () => [] }
  } as unknown as SpendSource
  const goal: SelectionGoal = {
    ...{ amount: 0n, outputs: [22], rate: 1000n, longTermRate: 1000n },
    ...{ changePurpose: 84, changeType: 'p2wpkh', changeDust: 294n, random: () => 0 }
  }
  const replaced: Replaced = { coins: [coin], fee: 1000n, rate: 1000n, txids: new Set() }
  t.true(maxReplacementOf(source, replaced, goal) > 900_000n)
  const error = t.throws(() => chooseReplacement(source, replaced, { ...goal, amount: 2_000_000n }))
  t.like(error, { details: { needed: '2001000', available: '1000000', networkFee: '1000' } })
  // Old fee and amount would fit, and a fee that nodes relay does not.
  const cheap = { ...replaced, fee: 100n }
  for (const amount of [999_850n, 999_900n]) {
    const close = t.throws(() => chooseReplacement(source, cheap, { ...goal, amount }))
    t.like(close, { details: { needed: '1000001', available: '1000000', networkFee: '100' } })
  }
  const dear = { ...replaced, rate: network.defaultFees.cap }
  t.throws(() => maxReplacementOf(source, dear, goal), { code: 'FEE_INVALID' })
})

const coinOf = (value: bigint, purpose: Purpose = 84, txid = 'spent', height = 1): Coin =>
  ({
    ...{ txid, vout: 0, height, value, record: { branch: { purpose } } },
    ...{ isCoinbase: false, isPegOut: false, isOwnChange: true }
  }) as unknown as Coin

/** A wallet that has these coins beside those of the payment. */
const walletOf = (...coins: readonly Coin[]): SpendSource => {
  const [network] = bitcoinRow.networks
  return {
    ...{ coin: bitcoinRow, network, height: 10, frozen: new Set(), reserved: { isReserved: () => false } },
    ledger: { coins: () => coins }
  } as unknown as SpendSource
}

const replacementGoal = (amount: bigint, rate = 1000n): SelectionGoal => ({
  ...{ amount, outputs: [22], rate, longTermRate: 1000n },
  ...{ changePurpose: 84, changeType: 'p2wpkh', changeDust: 294n, random: () => 0 }
})

test('a replacement pays all fees that it takes from miners and its own relay beside, and hardly more', t => {
  const none = new Set<string>()
  for (const purpose of [44, 49, 84, 86] as const) {
    for (const [fee, recipients] of [
      [10_000n, 1],
      [50_000n, 1],
      [200_001n, 60]
    ] as const) {
      const coins = [coinOf(1_000_000n, purpose)]
      const replaced: Replaced = { coins, fee, rate: 5000n, txids: none }
      const { selection, rate } = chooseReplacement(walletOf(), replaced, {
        ...replacementGoal(400_000n),
        outputs: Array(recipients).fill(22)
      })
      const input = { 44: 588, 49: 363, 84: 271, 86: 230 }[purpose]
      // Around input and outputs, of 124 each, a payment has 40, and 42 with a witness.
      const weight = input + (recipients + 1) * 124 + (purpose === 44 ? 40 : 42)
      const size = BigInt(Math.ceil(weight / 4))
      const least = fee + size
      t.true(selection.fee >= least, `${purpose} ${fee}: ${selection.fee} of ${least}`)
      // Of the last byte less than a quarter may be paid for nothing.
      t.true(
        selection.fee <= least + least / size + size / 500n + 2n,
        `${purpose} ${fee}: ${selection.fee} of ${least}`
      )
      t.true(rate > 6000n)
      t.is(selection.change, 600_000n - selection.fee)
    }
  }
})

test('a replacement has a higher rate than what it replaces, and the one that is wanted if that is higher still', t => {
  const { cap, minRelay } = bitcoinRow.networks[0].defaultFees
  const coins = [coinOf(100_000_000n)]
  const rateAt = (wanted: bigint, old: bigint): bigint =>
    chooseReplacement(
      walletOf(),
      { coins, fee: 1n, rate: old, txids: new Set() },
      replacementGoal(10_000n, wanted)
    ).rate
  t.is(rateAt(1000n, 20_000n), 20_000n + minRelay)
  t.is(rateAt(90_000n, 20_000n), 90_000n)
  t.is(rateAt(1000n, cap - minRelay), cap)
  t.throws(() => rateAt(1000n, cap - minRelay + 1n), { code: 'FEE_INVALID', message: /above the limit/ })
})

test('a replacement without change that pays exactly what is relayed is taken as it is', t => {
  const coins = [coinOf(100_000n)]
  const replaced: Replaced = { coins, fee: 500n, rate: 1000n, txids: new Set() }
  // One coin and one recipient have 110 bytes; twice the least rate pays for them and is above the old one.
  const { selection } = chooseReplacement(walletOf(), replaced, replacementGoal(100_000n - 610n))
  t.deepEqual([selection.fee, selection.change], [610n, 0n])
  t.throws(() => chooseReplacement(walletOf(), replaced, replacementGoal(100_000n - 609n)), {
    code: 'INSUFFICIENT_FUNDS'
  })
})

test('the most that a replacement can pay is paid, one unit more is not, and it is 0 where not even the fee is', t => {
  for (const value of [5000n, 10_000n, 77_777n, 1_000_001n]) {
    const source = walletOf(coinOf(value / 2n, 84, 'help'))
    const replaced: Replaced = { coins: [coinOf(value)], fee: 700n, rate: 1000n, txids: new Set() }
    const most = maxReplacementOf(source, replaced, replacementGoal(0n))
    t.true(most > value)
    t.notThrows(() => chooseReplacement(source, replaced, replacementGoal(most)))
    t.throws(() => chooseReplacement(source, replaced, replacementGoal(most + 1n)), {
      code: 'INSUFFICIENT_FUNDS'
    })
  }
  const poor: Replaced = { coins: [coinOf(600n)], fee: 590n, rate: 1000n, txids: new Set() }
  t.is(maxReplacementOf(walletOf(), poor, replacementGoal(0n)), 0n)
})

test('a replacement is helped by confirmed coins alone, and by none of what it replaces', t => {
  const [own, safe] = [coinOf(10_000n), coinOf(100_000n, 84, 'safe', 1)]
  const source = walletOf(coinOf(900_000n, 84, 'waiting', 0), coinOf(800_000n, 84, 'ours', 7), safe)
  const goal = replacementGoal(50_000n)
  const replaced: Replaced = { coins: [own], fee: 1000n, rate: 1000n, txids: new Set(['ours']) }
  t.deepEqual(chooseReplacement(source, replaced, goal).selection.coins, [own, safe])
  const most = maxReplacementOf(source, replaced, goal)
  t.true(most < 110_000n && most > 100_000n, String(most))
})
