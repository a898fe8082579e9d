import {
  type BalanceDetails,
  type Io,
  type NativeAmount,
  type SpendInfo,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { scriptTypeOf } from '../address/script.ts'
import type { FeeEstimates } from '../backend/fee-estimates.ts'
import { feeRateOf } from '../fees/fee-rate.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Coin } from '../ledger/ledger-tx.ts'
import type { ReservedCoins } from '../ledger/reserved-coins.ts'
import { makeRandomBelow } from '../select/random.ts'
import { type Selection, type SelectionGoal, selectCoins, typicalFeeOf } from '../select/select-coins.ts'
import type { SpendRules } from './spend-request.ts'

/** What a spend is made from. */
export interface SpendSource extends SpendRules {
  readonly io: Io
  readonly ledger: Ledger
  readonly reserved: ReservedCoins
  readonly estimates: FeeEstimates
  /** What other servers than the present one have told of fees. */
  readonly otherEstimates: readonly FeeEstimates[]
  /** The height of the tip, or 0 if unknown. */
  readonly height: number
}

/** Coins by how willingly they are spent. */
export interface CoinTiers {
  readonly safe: readonly Coin[]
  /** Incoming, which their sender can still take back: spent only where the spend allows it and nothing else will do. */
  readonly risky: readonly Coin[]
  /**
   * Not now: incoming, unconfirmed where the spend wants confirmed coins, of a block and too young, or reserved for a
   * signed payment that may still be mined.
   */
  readonly waiting: readonly Coin[]
}

/** Sorts the wallet's coins into tiers for one spend: what the balance calls spendable, unless the spend says otherwise. */
export const sortCoins = (
  source: CoinPlace,
  { noUnconfirmed }: Pick<SpendInfo, 'noUnconfirmed'>
): CoinTiers => {
  const safe: Coin[] = []
  const risky: Coin[] = []
  const waiting: Coin[] = []
  for (const coin of source.ledger.coins()) {
    const part = partOf(source, coin)
    if (part === 'spendable' && (coin.height > 0 || noUnconfirmed !== true)) safe.push(coin)
    else if (part === 'incoming' && noUnconfirmed === false) risky.push(coin)
    else waiting.push(coin)
  }
  return { safe, risky, waiting }
}

/** What decides which part of the balance a coin belongs to. */
export type CoinPlace = Pick<SpendSource, 'coin' | 'height' | 'ledger' | 'reserved'>

const partOf = ({ ledger, reserved, coin: row, height }: CoinPlace, coin: Coin): keyof BalanceDetails => {
  if (reserved.isReserved(ledger, `${coin.txid}:${coin.vout}`)) return 'reserved'
  const maturity = coin.isCoinbase ? row.coinbaseMaturity : coin.isPegOut ? PEG_OUT_MATURITY : 0
  if (maturity > 0 && (coin.height <= 0 || height + 1 - coin.height < maturity)) return 'immature'
  return coin.height > 0 || coin.isOwnChange ? 'spendable' : 'incoming'
}

/** What the balance is made of. */
export const balanceDetailsOf = (place: CoinPlace): BalanceDetails => partsOf(place, place.ledger.coins())

const partsOf = (place: CoinPlace, coins: Iterable<Coin>): BalanceDetails => {
  const parts = { spendable: 0n, incoming: 0n, immature: 0n, reserved: 0n }
  for (const coin of coins) parts[partOf(place, coin)] += coin.value
  return {
    spendable: String(parts.spendable) as NativeAmount,
    incoming: String(parts.incoming) as NativeAmount,
    immature: String(parts.immature) as NativeAmount,
    reserved: String(parts.reserved) as NativeAmount
  }
}

// Litecoin Core, consensus.h.
const PEG_OUT_MATURITY = 6

/** The goal of a selection for one spend. @throws FEE_INVALID */
export const goalOf = (
  source: SpendSource,
  spend: SpendInfo,
  wanted: { readonly amount: bigint; readonly outputs: readonly number[] }
): SelectionGoal => {
  const { coin, network, table, io } = source
  const { purpose } = table.mainBranch(1).branch
  const changeType = scriptTypeOf[purpose]
  return {
    ...wanted,
    rate: feeRateOf({
      option: spend.networkFeeOption ?? 'standard',
      custom: spend.customNetworkFee,
      estimates: source.estimates,
      figures: network.defaultFees
    }),
    longTermRate: network.defaultFees.longTerm,
    changePurpose: purpose,
    changeType,
    changeDust: coin.dust[changeType],
    random: makeRandomBelow(count => io.random(count))
  }
}

/** Chooses coins for a goal, risky ones only if the safe ones do not suffice. @throws INSUFFICIENT_FUNDS, PENDING_FUNDS */
export const chooseCoins = (source: SpendSource, tiers: CoinTiers, goal: SelectionGoal): Selection => {
  const { safe, risky, waiting } = tiers
  const spendable = [...safe, ...risky]
  const selection = selectCoins(safe, goal) ?? (risky.length > 0 ? selectCoins(spendable, goal) : undefined)
  if (selection !== undefined) return selection
  if (waiting.length > 0 && selectCoins([...spendable, ...waiting], goal) !== undefined) {
    const { incoming, immature, reserved } = partsOf(source, waiting)
    throw new WalletError('PENDING_FUNDS', { currencyCode: source.coin.code, incoming, immature, reserved })
  }
  const networkFee = typicalFeeOf(spendable, goal)
  throw new WalletError('INSUFFICIENT_FUNDS', {
    currencyCode: source.coin.code,
    tokenId: null,
    needed: String(goal.amount + networkFee),
    available: String(spendable.reduce((sum, { value }) => sum + value, 0n)),
    networkFee: String(networkFee)
  })
}
