import type { Purpose, ScriptType } from '../params/coin.ts'
import type { Coin } from '../wallet/ledger.ts'
import { feeOf, inputWeightOf, outputWeightOf, scriptLengthOf, txWeightOf } from './fees.ts'

/** What the coins have to pay for. Rates in native units per 1000 virtual bytes. */
export interface SelectionGoal {
  /** Sum of all recipients. */
  readonly amount: bigint
  /** The length of each output's script, in bytes. */
  readonly outputs: readonly number[]
  readonly rate: bigint
  readonly longTermRate: bigint
  readonly changePurpose: Purpose
  readonly changeType: ScriptType
  /** The dust limit of the change script. */
  readonly changeDust: bigint
  readonly random: RandomBelow
}

/** A way to pay: `change` is 0 if there is none, and then the fee takes what is left over. */
export interface Selection {
  readonly coins: readonly Coin[]
  readonly change: bigint
  readonly fee: bigint
}

/**
 * Chooses coins: Branch and Bound without change, a single random draw, and largest first; the least wasteful wins.
 *
 * @returns undefined if the coins cannot pay for amount and fee
 */
export const selectCoins = (coins: readonly Coin[], goal: SelectionGoal): Selection | undefined => {
  const valued = usefulCoins(coins, goal)
  const useful = valued.map(({ coin }) => coin)
  const ranked = [...valued].sort((a, b) => Number(b.effective - a.effective))
  const sorted = ranked.map(({ coin }) => coin)
  const tried = [
    withoutChange(ranked, goal),
    accumulate(shuffledCoins(useful, goal.random), goal, MIN_RANDOM_CHANGE),
    accumulate(sorted, goal, 0n)
  ]
  let best: { readonly selection: Selection; readonly waste: bigint } | undefined
  for (const selection of tried) {
    if (selection === undefined) continue
    const waste = wasteOf(selection, goal)
    if (best === undefined || waste < best.waste) best = { selection, waste }
  }
  return best?.selection
}

/** A way to pay that spends all of `forced`, and of `others` the largest as far as they are needed; undefined if there is none. */
export const selectWith = (
  forced: readonly Coin[],
  others: readonly Coin[],
  goal: SelectionGoal
): (Selection & { readonly weight: number }) | undefined => {
  const ranked = usefulCoins(others, goal).sort((a, b) => Number(b.effective - a.effective))
  const counts = new Map(countPurposes(forced))
  let sum = forced.reduce((total, { value }) => total + value, 0n)
  for (let count = 0; count <= ranked.length; count++) {
    const added = count === 0 ? undefined : ranked[count - 1]?.coin
    if (added !== undefined) {
      const { purpose } = added.record.branch
      counts.set(purpose, (counts.get(purpose) ?? 0) + 1)
      sum += added.value
    }
    // Only a sum that suffices is worth building: of thousands of coins the maximum is searched for.
    if (sum < goal.amount + feeOf(txWeightOf(counts, goal.outputs), goal.rate)) continue
    const coins = [...forced, ...ranked.slice(0, count).map(({ coin }) => coin)]
    const selection = finish(coins, goal)
    if (selection === undefined) continue
    const change = selection.change > 0n ? [scriptLengthOf[goal.changeType]] : []
    return { ...selection, weight: txWeightOf(counts, [...goal.outputs, ...change]) }
  }
  return undefined
}

/** The most that the coins can pay to the outputs of `goal` in all, with no change; may be negative. */
export const maxAmountOf = (coins: readonly Coin[], goal: SelectionGoal): bigint => {
  const useful = usefulCoins(coins, goal).map(({ coin }) => coin)
  const fee = feeOf(txWeightOf(countPurposes(useful), goal.outputs), goal.rate)
  return useful.reduce((sum, { value }) => sum + value, 0n) - fee
}

/** What all of these coins can pay to the outputs of `goal`, with no change, also those that cost more than they bring. */
export const wholeAmountOf = (coins: readonly Coin[], goal: SelectionGoal): bigint =>
  coins.reduce((sum, { value }) => sum + value, 0n) -
  feeOf(txWeightOf(countPurposes(coins), goal.outputs), goal.rate)

/** The fee of a payment from one typical coin; for messages about what is missing. */
export const typicalFeeOf = (coins: readonly Coin[], goal: SelectionGoal): bigint =>
  feeOf(txWeightOf(countPurposes(coins), goal.outputs), goal.rate)

/** A change output smaller than this costs more than it brings. */
const minimumChangeOf = ({ changeDust, changePurpose, rate }: SelectionGoal): bigint =>
  changeDust + feeOf(inputWeightOf[changePurpose], rate)

// A random draw looks for change that does not stand out as change.
const MIN_RANDOM_CHANGE = 50_000n
const MAX_TRIES = 100_000

/** A coin with what is left of it after the fee to spend it. */
interface ValuedCoin {
  readonly coin: Coin
  readonly effective: bigint
}

// One more weight unit: a legacy input beside segwit ones has an empty witness.
const usefulCoins = (coins: readonly Coin[], { rate }: SelectionGoal): ValuedCoin[] => {
  const fees = new Map<Purpose, bigint>()
  const valued: ValuedCoin[] = []
  for (const coin of coins) {
    const { purpose } = coin.record.branch
    const fee = fees.get(purpose) ?? feeOf(inputWeightOf[purpose] + 1, rate)
    fees.set(purpose, fee)
    if (coin.value > fee) valued.push({ coin, effective: coin.value - fee })
  }
  return valued
}

const countPurposes = (coins: readonly Coin[]): ReadonlyMap<Purpose, number> => {
  const counts = new Map<Purpose, number>()
  for (const { record } of coins)
    counts.set(record.branch.purpose, (counts.get(record.branch.purpose) ?? 0) + 1)
  return counts
}

const finish = (coins: readonly Coin[], goal: SelectionGoal): Selection | undefined => {
  const purposes = countPurposes(coins)
  const left = coins.reduce((sum, { value }) => sum + value, 0n) - goal.amount
  const fee = feeOf(txWeightOf(purposes, goal.outputs), goal.rate)
  if (left < fee) return undefined
  const feeWithChange = feeOf(
    txWeightOf(purposes, [...goal.outputs, scriptLengthOf[goal.changeType]]),
    goal.rate
  )
  const change = left - feeWithChange
  if (change >= minimumChangeOf(goal)) return { coins, change, fee: feeWithChange }
  return { coins, change: 0n, fee: left }
}

const accumulate = (
  coins: readonly Coin[],
  goal: SelectionGoal,
  wantedChange: bigint
): Selection | undefined => {
  const counts = new Map<Purpose, number>()
  let sum = 0n
  let enough: Selection | undefined
  for (const [at, coin] of coins.entries()) {
    const { purpose } = coin.record.branch
    counts.set(purpose, (counts.get(purpose) ?? 0) + 1)
    sum += coin.value
    // Cheap test first: only a sum that may do is worth building.
    if (sum < goal.amount + feeOf(txWeightOf(counts, goal.outputs), goal.rate)) continue
    enough = finish(coins.slice(0, at + 1), goal)
    if (enough !== undefined && (wantedChange === 0n || enough.change >= wantedChange)) return enough
    if (at > MAX_EXTRA && wantedChange > 0n) return enough
  }
  return enough
}

// Beyond so many coins the random draw stops looking for nicer change.
const MAX_EXTRA = 200

const withoutChange = (ranked: readonly ValuedCoin[], goal: SelectionGoal): Selection | undefined => {
  const { rate, longTermRate, outputs, amount } = goal
  // Two more for a witness flag. The parts are rounded up one by one, so their sum is seldom below the whole;
  // `finish` has the last word.
  const target = amount + feeOf(txWeightOf(new Map(), outputs) + 2, rate)
  const slack =
    feeOf(outputWeightOf(scriptLengthOf[goal.changeType]), rate) +
    feeOf(inputWeightOf[goal.changePurpose], longTermRate)
  const values = ranked.map(({ effective }) => effective)
  const total = values.reduce((sum, value) => sum + value, 0n)
  if (total < target || total + slack + target > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  const wastes = ranked.map(({ coin }) => {
    const weight = inputWeightOf[coin.record.branch.purpose]
    return Number(feeOf(weight, rate) - feeOf(weight, longTermRate))
  })
  const found = branchAndBound({
    values: values.map(Number),
    target: Number(target),
    slack: Number(slack),
    wastes,
    maxTries: MAX_TRIES
  })
  if (found === undefined) return undefined
  return finish(
    found.flatMap(at => ranked[at]?.coin ?? []),
    goal
  )
}

// Bitcoin Core's waste: what these inputs cost now rather than later, and what the change costs or the fee swallows.
const wasteOf = ({ coins, change, fee }: Selection, goal: SelectionGoal): bigint => {
  const { rate, longTermRate, outputs, changeType, changePurpose } = goal
  let waste = 0n
  for (const { record } of coins) {
    const weight = inputWeightOf[record.branch.purpose]
    waste += feeOf(weight, rate) - feeOf(weight, longTermRate)
  }
  if (change > 0n)
    return (
      waste +
      feeOf(outputWeightOf(scriptLengthOf[changeType]), rate) +
      feeOf(inputWeightOf[changePurpose], longTermRate)
    )
  return waste + fee - feeOf(txWeightOf(countPurposes(coins), outputs), rate)
}

/** A search for coins whose sum lands in a window, so that no change is needed. */
export interface BoundedSearch {
  /** Effective values (value less the fee to spend it), largest first, all positive. */
  readonly values: readonly number[]
  readonly target: number
  /** How far above the target is still cheaper than making change. */
  readonly slack: number
  /** Waste of each coin at the present fee rate against the long-term one; same order. */
  readonly wastes: readonly number[]
  readonly maxTries: number
}

/**
 * Branch and Bound (Erhardt; Bitcoin Core `SelectCoinsBnB`): indexes of the coins with the least waste whose sum
 * lies in `[target, target + slack]`, or undefined.
 *
 * Works on safe integers only; the caller checks that sums stay below 2^53.
 */
export const branchAndBound = (search: BoundedSearch): readonly number[] | undefined => {
  const { values, target, slack, wastes, maxTries } = search
  const rest = suffixSums(values)
  const isFeeHigh = (wastes[0] ?? 0) > 0
  const chosen: number[] = []
  let best: readonly number[] | undefined
  let bestWaste = Number.POSITIVE_INFINITY
  let sum = 0
  let waste = 0
  let at = 0
  for (let tries = 0; tries < maxTries; tries++) {
    const isHopeless =
      sum + (rest[at] ?? 0) < target || sum > target + slack || (isFeeHigh && waste > bestWaste)
    let mustGoBack = isHopeless
    if (!isHopeless && sum >= target) {
      const total = waste + (sum - target)
      if (total <= bestWaste) {
        best = [...chosen]
        bestWaste = total
      }
      mustGoBack = true
    }
    if (!mustGoBack) {
      // A coin equal to the one just left out would only repeat the same search.
      const previous = at - 1
      const isRepeat =
        values[at] === values[previous] && wastes[at] === wastes[previous] && chosen.at(-1) !== previous
      if (!isRepeat) {
        sum += values[at] ?? 0
        waste += wastes[at] ?? 0
        chosen.push(at)
      }
      at++
      continue
    }
    const last = chosen.pop()
    if (last === undefined) break
    sum -= values[last] ?? 0
    waste -= wastes[last] ?? 0
    at = last + 1
  }
  return best
}

const suffixSums = (values: readonly number[]): readonly number[] => {
  const sums: number[] = new Array(values.length + 1).fill(0)
  for (let at = values.length - 1; at >= 0; at--) sums[at] = (sums[at + 1] ?? 0) + (values[at] ?? 0)
  return sums
}

/** An even random integer: 0 ≤ result < `below`. */
type RandomBelow = (below: number) => number

/** Makes even random integers below at most 2^24 from random bytes, without modulo bias. */
export const makeRandomBelow =
  (random: (count: number) => Uint8Array): RandomBelow =>
  below => {
    const limit = 0x1000000 - (0x1000000 % below)
    while (true) {
      const [a = 0, b = 0, c = 0] = random(3)
      const value = a * 65536 + b * 256 + c
      if (value < limit) return value % below
    }
  }

/** A copy in random order (Fisher and Yates). */
export const shuffledCoins = <T>(items: readonly T[], random: RandomBelow): T[] => {
  const mixed = [...items]
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const held = mixed[at] as T
    mixed[at] = mixed[other] as T
    mixed[other] = held
  }
  return mixed
}
