import {
  compact,
  type EngineTransaction,
  isNativeAmount,
  type NativeAmount,
  type SpendInfo,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { addressOf, type Destination, parseAddress } from '../chain/address.ts'
import { hexOf, type MemoOutput, readMemo } from '../chain/transaction.ts'
import type { CoinRow, ScriptType } from '../params/coin.ts'
import {
  chooseCoins,
  chooseReplacement,
  chosenCoins,
  dustOf,
  goalOf,
  maxReplacementOf,
  replacedOf,
  type SpendSource,
  sortCoins,
  spendChosen
} from './choose-coins.ts'
import { type DraftOutput, isPaid, writeDraft } from './draft.ts'
import { feeRateText, scriptLengthOf, usualRateOf } from './fees.ts'
import { maxAmountOf, type Selection, shuffledCoins, wholeAmountOf } from './select-coins.ts'

/**
 * Makes an unsigned transaction from the wallet's coins.
 *
 * Change goes to the next unused change address. Outputs are shuffled unless there is a memo: then recipients come
 * first, in their order, then the memo, then the change, as those who act on memos expect. There is no lock time: the
 * present height is only what a server says, and a payment locked beyond it could be refused today and mined later. The
 * sequence allows replacement where nodes replace.
 *
 * What `replaces` a signed payment spends all its coins and pays more for its place.
 *
 * @throws INSUFFICIENT_FUNDS, PENDING_FUNDS, DUST_SPEND, NO_AMOUNT_SPECIFIED, SPEND_TO_SELF, ADDRESS_INVALID,
 *   AMOUNT_INVALID, FEE_INVALID, MEMO_INVALID; what {@link chosenCoins} throws, also where `replaces` is there
 */
export const makeDraft = (source: SpendSource, spend: SpendInfo): EngineTransaction => {
  const payees = readPayees(source, spend)
  const amount = payees.reduce((sum, payee) => sum + payee.amount, 0n)
  const memo = readMemo(spend.memos)
  const scripts = payees.map(({ destination }) => destination.script)
  const goal = goalOf(source, spend, { amount, outputs: lengthsOf(scripts, memo) })
  const { replaces } = spend
  const replaced = replaces === undefined ? undefined : replacedOf(source, replaces)
  const chosen = spend.coins === undefined ? undefined : chosenCoins(source, spend)
  const { selection, rate } =
    replaced === undefined
      ? {
          selection:
            chosen === undefined
              ? chooseCoins(source, sortCoins(source, spend), goal)
              : spendChosen(source, chosen, goal),
          rate: goal.rate
        }
      : chooseReplacement(source, replaced, goal)
  const { coins, change, fee } = selection
  const outputs: DraftOutput[] = payees.map(payee => ({
    address: payee.destination.address,
    value: payee.amount,
    isChange: false
  }))
  if (memo !== undefined) outputs.push({ script: hexOf(memo.script) })
  if (change > 0n) outputs.push({ address: changeAddressOf(source), value: change, isChange: true })
  const shuffled = memo === undefined ? shuffledCoins(outputs, goal.random) : outputs
  return draftedFrom(source, spend, { coins, outputs: shuffled, fee, rate, memo })
}

/** The draft of a payment from these coins to these outputs. */
export const draftedFrom = (
  source: SpendSource,
  spend: SpendInfo,
  {
    coins,
    outputs,
    fee,
    rate,
    memo
  }: Pick<Selection, 'coins' | 'fee'> & {
    readonly outputs: readonly DraftOutput[]
    readonly rate: bigint
    readonly memo?: MemoOutput | undefined
  }
): EngineTransaction => {
  const inputs = coins.map(({ txid, vout, value, record }) => ({
    txid,
    vout,
    value,
    branch: record.branch.id,
    index: record.index
  }))
  const draft = { ...compact({ replaces: spend.replaces }), lockTime: lockTimeOf(source), inputs, outputs }
  const ours = draft.outputs.filter(isPaid).filter(({ address }) => isOurs(source, address))
  const spent = inputs.reduce((sum, { value }) => sum + value, 0n)
  const returned = ours.reduce((sum, { value }) => sum + value, 0n)
  return {
    tokenId: null,
    txid: '',
    date: Math.floor(source.io.clock.now() / 1000),
    blockHeight: 0,
    nativeAmount: String(returned - spent) as NativeAmount,
    networkFee: String(fee) as NativeAmount,
    usualNetworkFee: String(usualFeeOf(source, spend, { fee, rate })) as NativeAmount,
    ourReceiveAddresses: ours.map(({ address }) => address),
    signedTx: '',
    isSend: true,
    memos: memo === undefined ? [] : [memo.memo],
    feeRateUsed: { satPerVByte: feeRateText(rate) },
    spentCoins: inputs.map(({ txid, vout }) => `${txid}:${vout}`),
    otherParams: { draft: writeDraft(draft) }
  }
}

/**
 * The newest height that is sure, so that who mines a block anew to take its fees cannot take this payment's, too; now and then a lower one, so
 * that payments that were signed earlier do not stand out (as Bitcoin Core does it). 0 where no height is sure.
 */
const lockTimeOf = ({ safeHeight = 0, io }: SpendSource): number => {
  if (safeHeight === 0) return 0
  const [die = 0, less = 0] = io.random(2)
  return die % 10 === 0 ? Math.max(0, safeHeight - (less % 100)) : safeHeight
}

/**
 * The most that can be sent to the first recipient, beside what the others get; exact. Of a replacement, the most that it
 * can send with the coins of the payment whose place it takes.
 *
 * A recipient without an address counts as the largest kind. '0' if fees eat everything or dust would be left.
 *
 * @throws ADDRESS_INVALID, FEE_INVALID, MEMO_INVALID
 */
export const maxSpendableOf = (source: SpendSource, spend: SpendInfo): string => {
  checkFrame(spend)
  const types = spend.spendTargets.map(({ publicAddress }): ScriptType => {
    if (publicAddress === undefined || publicAddress === '') return largestTypeOf(source.coin)
    return parseAddress(source.coin, source.network, publicAddress).program.type
  })
  const others = spend.spendTargets
    .slice(1)
    .reduce((sum, { nativeAmount }) => sum + BigInt(nativeAmount ?? '0'), 0n)
  const goal = goalOf(source, spend, {
    amount: others,
    outputs: [...types.map(type => scriptLengthOf[type]), ...lengthsOf([], readMemo(spend.memos))]
  })
  const { replaces } = spend
  const { safe, risky } = sortCoins(source, spend)
  const most =
    spend.coins !== undefined
      ? wholeAmountOf(chosenCoins(source, spend), goal)
      : replaces === undefined
        ? maxAmountOf([...safe, ...risky], goal)
        : maxReplacementOf(source, replacedOf(source, replaces), goal)
  const max = most - others
  return max < dustOf(source.coin, types[0] ?? largestTypeOf(source.coin)) ? '0' : String(max)
}

/** Of the scripts that the chain has, the kind that takes most bytes. */
const largestTypeOf = ({ dust }: CoinRow): ScriptType => (dust.p2wsh === undefined ? 'p2pkh' : 'p2wsh')

/** What the same bytes would cost by other sources than the present server. */
export const usualFeeOf = (
  { network, otherEstimates }: SpendSource,
  { networkFeeOption: option = 'standard' }: SpendInfo,
  { fee, rate }: { readonly fee: bigint; readonly rate: bigint }
): bigint => (fee * usualRateOf({ option, figures: network.defaultFees }, otherEstimates)) / rate

const lengthsOf = (scripts: readonly Uint8Array[], memo: MemoOutput | undefined): readonly number[] =>
  [...scripts, ...(memo === undefined ? [] : [memo.script])].map(({ length }) => length)

const isOurs = ({ coin, network, table }: SpendSource, address: string): boolean =>
  table.findScript(parseAddress(coin, network, address).script) !== undefined

/** The address that change goes to: the next unused one. */
export const changeAddressOf = ({ table, network, coin }: SpendSource): string => {
  const record = table.firstUnused(table.mainBranch(1))
  if (record === undefined || !table.isGenuine(record)) {
    throw new WalletError('NOT_SUPPORTED', { what: `change in ${coin.displayName} before its first sync` })
  }
  return addressOf(network, record.program)
}

/** A recipient, checked. */
export interface Payee {
  readonly destination: Destination
  readonly amount: bigint
}

/**
 * Checks the recipients of a spend.
 *
 * @throws NO_AMOUNT_SPECIFIED, AMOUNT_INVALID, ADDRESS_INVALID, DUST_SPEND, SPEND_TO_SELF, NOT_SUPPORTED
 */
const readPayees = ({ coin, network, table }: SpendSource, spend: SpendInfo): readonly Payee[] => {
  checkFrame(spend)
  const payees = spend.spendTargets.map(({ publicAddress, nativeAmount }): Payee => {
    if (nativeAmount === undefined || nativeAmount === '' || /^0+$/.test(nativeAmount)) {
      throw new WalletError('NO_AMOUNT_SPECIFIED', {})
    }
    if (!isNativeAmount(nativeAmount) || nativeAmount.startsWith('-')) {
      throw new WalletError('AMOUNT_INVALID', { rule: 'must be a positive integer of native units' })
    }
    const destination = parseAddress(coin, network, publicAddress ?? '')
    const amount = BigInt(nativeAmount)
    const minimum = dustOf(coin, destination.program.type)
    if (amount < minimum) {
      throw new WalletError('DUST_SPEND', { minimum: String(minimum), currencyCode: coin.code })
    }
    return { destination, amount }
  })
  // To oneself is how a payment is taken back that another may still be mined for.
  const isToSelf =
    spend.replaces === undefined &&
    payees.every(({ destination }) => table.findScript(destination.script) !== undefined)
  if (isToSelf) {
    throw new WalletError('SPEND_TO_SELF', {})
  }
  return payees
}

/** Checks what does not concern the recipients one by one. */
const checkFrame = (spend: SpendInfo): void => {
  if (spend.tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
  if (spend.spendTargets.length === 0) throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  if (spend.spendTargets.length > MAX_TARGETS)
    throw new WalletError('NOT_SUPPORTED', { what: `${MAX_TARGETS} recipients` })
}

const MAX_TARGETS = 1000
