import { isWalletError, WalletError } from '../../../../kernel/plugin-api.ts'
import type { Coin } from '../ledger/ledger-tx.ts'
import { rivalOf } from '../ledger/reserved-coins.ts'
import { type Selection, type SelectionGoal, selectWith } from '../select/select-coins.ts'
import { feeOf } from '../select/weights.ts'
import { type SpendSource, sortCoins } from './choose-coins.ts'

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
export const replacedOf = ({ ledger, reserved, coin }: SpendSource, txid: string): Replaced => {
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

const largerOf = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const MAX_ROUNDS = 20

const cannot = (reason: string): WalletError =>
  new WalletError('NOT_SUPPORTED', { what: `replacing a payment ${reason}` })
