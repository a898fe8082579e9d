import {
  type BalanceDetails,
  compact,
  type EngineCoin,
  isWalletError,
  type NativeAmount,
  type SpendInfo,
  type Txid,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { addressOf, scriptTypeOf } from '../chain/address.ts'
import type { CoinRow, FeeEstimates, ScriptType } from '../params/coin.ts'
import { type Coin, rivalOf, weakestOf } from '../wallet/ledger.ts'
import type { ScriptRecord } from '../wallet/scripts.ts'
import type { WalletContext } from '../wallet/wallet-state.ts'
import { feeOf, feeRateOf } from './fees.ts'
import {
  makeRandomBelow,
  type Selection,
  type SelectionGoal,
  selectCoins,
  selectWith,
  typicalFeeOf,
  wholeAmountOf
} from './select-coins.ts'

/** The smallest output of a kind that the chain has. */
export const dustOf = ({ dust }: CoinRow, type: ScriptType): bigint => dust[type] ?? 0n

/** What a spend is made from. */
export interface SpendSource extends WalletContext {
  readonly estimates: FeeEstimates
  /** The fee rates of other servers than the present one. */
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
  source: CoinSource,
  { noUnconfirmed }: Pick<SpendInfo, 'noUnconfirmed'>
): CoinTiers => {
  const safe: Coin[] = []
  const risky: Coin[] = []
  const waiting: Coin[] = []
  for (const coin of source.ledger.coins()) {
    const part = partOf(source, coin)
    if (source.frozen.has(`${coin.txid}:${coin.vout}`)) waiting.push(coin)
    else if (part === 'spendable' && (coin.height > 0 || noUnconfirmed !== true)) safe.push(coin)
    else if (part === 'incoming' && noUnconfirmed === false) risky.push(coin)
    else waiting.push(coin)
  }
  return { safe, risky, waiting }
}

/** What decides which part of the balance a coin belongs to. */
export type CoinSource = Pick<SpendSource, 'coin' | 'frozen' | 'height' | 'ledger' | 'reserved'>

/** Every unspent coin, with the part of the balance that it belongs to. */
export const listCoins = (source: CoinSource & Pick<WalletContext, 'network'>): readonly EngineCoin[] =>
  [...source.ledger.coins()].map(coin => ({
    ...{ txid: coin.txid, vout: coin.vout, blockHeight: coin.height, state: partOf(source, coin) },
    publicAddress: addressOf(source.network, coin.record.program),
    nativeAmount: String(coin.value) as NativeAmount
  }))

const partOf = (
  { ledger, reserved, frozen, coin: row, height }: CoinSource,
  coin: Coin
): Exclude<keyof BalanceDetails, 'grade' | 'paymentsGrade'> => {
  if (reserved.isReserved(ledger, `${coin.txid}:${coin.vout}`)) return 'reserved'
  if (isImmature(row, coin, height)) return 'immature'
  if (coin.height <= 0 && !coin.isOwnChange) return 'incoming'
  return frozen.has(`${coin.txid}:${coin.vout}`) ? 'frozen' : 'spendable'
}

/**
 * Returns true of an output of a block's own that is too young to be spent in the next block. Nodes relay what can be mined next; their
 * own wallets call it immature for one block more.
 */
export const isImmature = (
  { coinbaseMaturity }: Pick<CoinRow, 'coinbaseMaturity'>,
  coin: Pick<Coin, 'height' | 'isCoinbase' | 'isPegOut'>,
  tip: number
): boolean => {
  const maturity = coin.isCoinbase ? coinbaseMaturity : coin.isPegOut ? PEG_OUT_MATURITY : 0
  return maturity > 0 && (coin.height <= 0 || tip + 1 - coin.height < maturity)
}

/**
 * What the balance is made of, and its grades, without what is incoming.
 *
 * @param isAgreed - true of a script whose whole history a second server has, too
 */
export const balancePartsOf = (
  source: CoinSource,
  isAgreed: (record: ScriptRecord) => boolean
): BalanceDetails => {
  const coins = [...source.ledger.coins()]
  const arrived = coins.filter(coin => partOf(source, coin) !== 'incoming')
  const paymentsGrade = weakestOf(new Set(arrived.map(coin => source.ledger.gradeOf(coin)))) ?? 'claimed'
  // No proof shows that a coin was not spent since.
  const isGood = paymentsGrade !== 'claimed' && arrived.every(({ record }) => isAgreed(record))
  return { ...partsOf(source, coins), grade: isGood ? 'agreed' : 'claimed', paymentsGrade }
}

const partsOf = (source: CoinSource, coins: Iterable<Coin>): BalanceDetails => {
  const parts = { spendable: 0n, incoming: 0n, immature: 0n, reserved: 0n, frozen: 0n }
  for (const coin of coins) parts[partOf(source, coin)] += coin.value
  return {
    spendable: String(parts.spendable) as NativeAmount,
    incoming: String(parts.incoming) as NativeAmount,
    immature: String(parts.immature) as NativeAmount,
    reserved: String(parts.reserved) as NativeAmount,
    frozen: String(parts.frozen) as NativeAmount
  }
}

// Litecoin Core, consensus.h.
const PEG_OUT_MATURITY = 6

/** The fee rate that a spend asks for. @throws FEE_INVALID */
export const rateOf = (
  { estimates, network }: Pick<SpendSource, 'estimates' | 'network'>,
  { networkFeeOption: option = 'standard', customNetworkFee: custom }: SpendInfo
): bigint => feeRateOf({ option, custom, estimates, figures: network.defaultFees })

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
    rate: rateOf(source, spend),
    longTermRate: network.defaultFees.longTerm,
    changePurpose: purpose,
    changeType,
    changeDust: dustOf(coin, changeType),
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
    const { incoming, immature, reserved, frozen = '0' } = partsOf(source, waiting)
    const held = { incoming, immature, reserved, frozen }
    throw new WalletError('PENDING_FUNDS', { currencyCode: source.coin.code, ...held })
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

/**
 * The coins that a spend names, each once.
 *
 * @throws OPTION_INVALID for one that is unknown, frozen, reserved, too young, or incoming and not allowed; NOT_SUPPORTED in a replacement
 */
export const chosenCoins = (
  source: SpendSource,
  { coins = [], noUnconfirmed, replaces }: SpendInfo
): readonly Coin[] => {
  if (replaces !== undefined)
    throw new WalletError('NOT_SUPPORTED', { what: 'a choice of coins for a replacement' })
  const { safe, risky } = sortCoins(source, compact({ noUnconfirmed }))
  const free = new Map([...safe, ...risky].map(coin => [`${coin.txid}:${coin.vout}`, coin]))
  const refuse = (rule: string): WalletError => new WalletError('OPTION_INVALID', { option: 'coins', rule })
  if (coins.length === 0 || coins.length > MAX_CHOSEN) throw refuse(`must be 1 to ${MAX_CHOSEN}`)
  return [...new Set(coins)].map(outpoint => {
    const found = free.get(outpoint)
    if (found !== undefined) return found
    const known = [...source.ledger.coins()].find(({ txid, vout }) => `${txid}:${vout}` === outpoint)
    if (known === undefined) throw refuse('must be unspent ones of this wallet')
    const part = source.frozen.has(outpoint) ? 'frozen' : partOf(source, known)
    throw refuse(`must not have one that is ${part === 'spendable' ? 'unconfirmed' : part}`)
  })
}

const MAX_CHOSEN = 1000

/** Pays with all of these coins, and no others. @throws INSUFFICIENT_FUNDS */
export const spendChosen = (
  { coin }: SpendSource,
  coins: readonly Coin[],
  goal: SelectionGoal
): Selection => {
  const selection = selectWith(coins, [], goal)
  if (selection !== undefined) return selection
  const available = coins.reduce((sum, { value }) => sum + value, 0n)
  const fee = available - wholeAmountOf(coins, goal)
  throw new WalletError('INSUFFICIENT_FUNDS', {
    ...{ currencyCode: coin.code, tokenId: null, networkFee: String(fee) },
    ...{ needed: String(goal.amount + fee), available: String(available) }
  })
}

/** What a replacement has to spend and to pay more than. */
export interface Replaced {
  /** Every coin of the payment: so the new one conflicts with each form that it ever had. */
  readonly coins: readonly Coin[]
  readonly fee: bigint
  /** Units per 1000 virtual bytes. */
  readonly rate: bigint
  /** Transactions whose outputs must not be spent, because they go when it is replaced. */
  readonly txids: ReadonlySet<string>
}

/**
 * Reads the signed payment whose place a draft is to take.
 *
 * @throws TX_NOT_FOUND if nothing is known of it; NOT_SUPPORTED if it cannot be replaced, with the reason
 */
export const replacedOf = ({ ledger, reserved, coin }: SpendSource, txid: Txid): Replaced => {
  const payment = reserved.find(txid)
  if (payment === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  if (rivalOf(ledger, payment, 1) !== undefined || (ledger.find(txid)?.height ?? 0) > 0)
    throw cannot('that is over')
  const coins = payment.spends.map(outpoint => ledger.coinAt(outpoint))
  if (!coins.every(found => found !== undefined)) throw cannot('whose coins this wallet does not know')
  const txids = new Set([txid])
  const value = coins.reduce((sum, found) => sum + found.value, 0n)
  let fee = value - payment.outputTotal
  const rate = (fee * 4000n) / BigInt(payment.weight)
  for (const outpoint of payment.spends) {
    for (const rival of ledger.spendersOf(outpoint)) {
      if (rival.height < 0 || txids.has(rival.txid)) continue
      txids.add(rival.txid)
      fee += ledger.effectOf(rival).fee
    }
  }
  const isSeen = [...txids].some(one => ledger.find(one)?.isSeen === true && ledger.find(one)?.height === 0)
  if (isSeen && !coin.isReplaceable) throw cannot(`that the network has: ${coin.displayName} keeps the first`)
  for (const one of txids) {
    const hasChild = [...(ledger.find(one)?.ours ?? [])].some(({ vout }) => ledger.isSpent(`${one}:${vout}`))
    if (hasChild) throw cannot('whose change a later payment spends')
  }
  return { coins, fee, rate, txids }
}

/**
 * Chooses the coins of a replacement: all of the replaced payment, and confirmed ones if these do not suffice. It pays
 * a higher rate and so much more that nodes relay it (BIP-125, rules 2 to 4).
 *
 * @throws INSUFFICIENT_FUNDS, FEE_INVALID if it would cost more than is sane
 */
export const chooseReplacement = (
  source: SpendSource,
  { coins, fee: oldFee, rate: oldRate, txids }: Replaced,
  goal: SelectionGoal
): { readonly selection: Selection; readonly rate: bigint } => {
  const { minRelay, cap } = source.network.defaultFees
  const others = othersBeside(source, txids)
  let rate = largerOf(goal.rate, oldRate + minRelay)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (rate > cap)
      throw new WalletError('FEE_INVALID', { rule: 'of a replacement would be above the limit' })
    const selection = selectWith(coins, others, { ...goal, rate })
    if (selection === undefined) {
      const available = [...coins, ...others].reduce((sum, { value }) => sum + value, 0n)
      const needed = goal.amount + oldFee
      throw new WalletError('INSUFFICIENT_FUNDS', {
        currencyCode: source.coin.code,
        tokenId: null,
        needed: String(needed > available ? needed : available + 1n),
        available: String(available),
        networkFee: String(oldFee)
      })
    }
    const least = oldFee + feeOf(selection.weight, minRelay)
    if (selection.fee >= least) return { selection, rate }
    rate = largerOf((least * 4000n) / BigInt(selection.weight) + 1n, rate + minRelay)
  }
  throw new WalletError('FEE_INVALID', { rule: 'of a replacement could not be found' })
}

/**
 * The most that a replacement can pay in all, by halving: its fee depends on what it chooses, and that on the amount.
 *
 * @returns 0 if not even the fee can be paid
 */
export const maxReplacementOf = (source: SpendSource, replaced: Replaced, goal: SelectionGoal): bigint => {
  const isPayable = (amount: bigint): boolean => {
    try {
      chooseReplacement(source, replaced, { ...goal, amount })
      return true
    } catch (error) {
      if (isWalletError(error, 'INSUFFICIENT_FUNDS')) return false
      throw error
    }
  }
  const coins = [...replaced.coins, ...othersBeside(source, replaced.txids)]
  let least = 0n
  let tooMuch = coins.reduce((sum, { value }) => sum + value, 1n)
  while (tooMuch - least > 1n) {
    const middle = (least + tooMuch) / 2n
    if (isPayable(middle)) least = middle
    else tooMuch = middle
  }
  return least
}

const othersBeside = (source: SpendSource, txids: ReadonlySet<string>): readonly Coin[] =>
  sortCoins(source, {}).safe.filter(({ txid, height }) => height > 0 && !txids.has(txid))

/** The larger of two amounts. */
export const largerOf = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const MAX_ROUNDS = 20

const cannot = (reason: string): WalletError =>
  new WalletError('NOT_SUPPORTED', { what: `replacing a payment ${reason}` })
