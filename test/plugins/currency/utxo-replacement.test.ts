import test from 'ava'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
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
  { isReplaceable = true, isSeen = false, height = 0, unknown = [], spent = [] }: Circumstances = {}
): SpendSource => {
  const payment = { txid: 'ours', spends: ['a:0', 'b:0'], outputTotal: 9000n, weight: 1000 }
  const source = {
    coin: { ...bitcoinRow, isReplaceable },
    reserved: { find: (txid: string) => (txid === 'ours' ? payment : undefined) },
    ledger: {
      find: (txid: string) => (txid === 'ours' ? { height, isSeen, ours: [{ vout: 1 }] } : undefined),
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

test('a replacement is helped by confirmed coins alone, and by none of what it replaces', t => {
  const [network] = bitcoinRow.networks
  const coinOf = (txid: string, height: number, value: bigint): Coin =>
    ({
      ...{ txid, vout: 0, height, value, record: { branch: { purpose: 84 } } },
      ...{ isCoinbase: false, isPegOut: false, isOwnChange: true }
    }) as unknown as Coin
  const [own, safe] = [coinOf('spent', 5, 10_000n), coinOf('safe', 7, 100_000n)]
  const coins = [coinOf('waiting', 0, 900_000n), coinOf('ours', 7, 800_000n), safe]
  const source = {
    coin: bitcoinRow,
    network,
    height: 10,
    reserved: { isReserved: () => false },
    ledger: { coins: () => coins }
  } as unknown as SpendSource
  const goal: SelectionGoal = {
    ...{ amount: 50_000n, outputs: [22], rate: 1000n, longTermRate: 1000n },
    ...{ changePurpose: 84, changeType: 'p2wpkh', changeDust: 294n, random: () => 0 }
  }
  const replaced: Replaced = { coins: [own], fee: 1000n, rate: 1000n, txids: new Set(['ours']) }
  t.deepEqual(chooseReplacement(source, replaced, goal).selection.coins, [own, safe])
  const most = maxReplacementOf(source, replaced, goal)
  t.true(most < 110_000n && most > 100_000n, String(most))
})
