import { compare, type NativeAmount, nativeAmount, sum, ZERO } from '../base/amount.ts'
import { copyJson, isRecord, isShortText, type JsonObject } from '../base/json.ts'
import type { Memo, SpendInfo, SpendTarget } from '../types/transaction.ts'

/** What spends of a provider are held against. */
export interface SpendsRule {
  /** The asset that the user pays with. */
  readonly tokenId: string | null
  readonly fromNativeAmount: NativeAmount
  /** Makes the error; `rule` continues a sentence about the order. */
  refuse(rule: string): Error
}

/** Tells whether a value is an amount in its one form: digits, no sign. */
export const isAmount = (value: unknown): value is NativeAmount =>
  typeof value === 'string' && /^(0|[1-9]\d{0,99})$/.test(value)

/**
 * Copies what a provider wants to be paid: nobody else holds the copy, and only what a spend has is in it.
 *
 * The last spend pays the swap, in the user's asset and no more than was said; those before it approve a token and
 * pay nothing. Every target has an address.
 *
 * @throws what `rule.refuse` makes
 */
export const readSpends = (value: unknown, rule: SpendsRule): readonly SpendInfo[] => {
  const { refuse, tokenId, fromNativeAmount } = rule
  const spends = copyOf(value, rule)
  if (!Array.isArray(spends) || spends.length === 0 || spends.length > MAX_SPENDS)
    throw refuse('has no payment that makes sense')
  const read = spends.map((spend: unknown) => readSpend(spend, rule))
  const approvals = read.slice(0, -1)
  if (approvals.length > 0 && tokenId === null) throw refuse('asks for more than one payment')
  if (approvals.some(spend => totalOf(spend) !== ZERO)) throw refuse('pays something with an approval')
  const last = read.at(-1)
  if (last?.tokenId !== tokenId) throw refuse('is to be paid in another asset')
  if (compare(totalOf(last), fromNativeAmount) > 0) throw refuse('pays out more than it says')
  return Object.freeze(read)
}

/** Copies spends that a provider asks about only, of the asset that is paid or of the chain; a target may be without an address. */
export const readQuestion = (
  value: unknown,
  { refuse, tokenId }: Pick<SpendsRule, 'refuse' | 'tokenId'>
): readonly SpendInfo[] => {
  const spends = copyOf(value, { refuse })
  if (!Array.isArray(spends) || spends.length === 0 || spends.length > MAX_SPENDS)
    throw refuse('is no list of spends')
  for (const spend of spends as readonly unknown[]) {
    const isSpend =
      isRecord(spend) &&
      (spend.tokenId === null || spend.tokenId === tokenId) &&
      Array.isArray(spend.spendTargets) &&
      spend.spendTargets.length <= MAX_TARGETS &&
      spend.spendTargets.every(isRecord)
    if (!isSpend) throw refuse('is no list of spends')
  }
  return spends as readonly SpendInfo[]
}

const copyOf = (value: unknown, { refuse }: Pick<SpendsRule, 'refuse'>): unknown => {
  try {
    return copyJson(value, 'swap payment', MAX_LENGTH)
  } catch {
    throw refuse('is no data')
  }
}

const readSpend = (value: unknown, { refuse, tokenId: own }: SpendsRule): SpendInfo => {
  if (!isRecord(value)) throw refuse('has no payment that makes sense')
  const { tokenId, spendTargets, memos, networkFeeOption, customNetworkFee, otherParams } = value
  // An approval is a call of the chain itself, or of the token.
  if (tokenId !== null && tokenId !== own) throw refuse('is to be paid in another asset')
  const isTargets =
    Array.isArray(spendTargets) && spendTargets.length > 0 && spendTargets.length <= MAX_TARGETS
  if (!isTargets || !spendTargets.every(isTarget)) throw refuse('pays nobody that can be paid')
  const isMemos =
    memos === undefined || (Array.isArray(memos) && memos.length <= MAX_MEMOS && memos.every(isMemo))
  if (!isMemos) throw refuse('has a memo that makes no sense')
  // Figures of its own could burn the rest of the wallet.
  if (customNetworkFee !== undefined || !(networkFeeOption === undefined || FEE_LEVELS.has(networkFeeOption)))
    throw refuse('sets a network fee of its own')
  if (otherParams !== undefined && !isRecord(otherParams)) throw refuse('has no payment that makes sense')
  return {
    tokenId: tokenId === null ? null : own,
    spendTargets: spendTargets.map(copyTarget),
    ...(memos === undefined ? {} : { memos: memos.map(({ type, value: text }) => ({ type, value: text })) }),
    ...(networkFeeOption === undefined ? {} : { networkFeeOption: networkFeeOption as 'standard' }),
    ...(otherParams === undefined ? {} : { otherParams: otherParams as JsonObject })
  }
}

const isTarget = (value: unknown): value is SpendTarget =>
  isRecord(value) &&
  isShortText(value.publicAddress) &&
  value.publicAddress !== '' &&
  isAmount(value.nativeAmount) &&
  [value.memo, value.uniqueIdentifier].every(text => text === undefined || isShortText(text)) &&
  (value.otherParams === undefined || isRecord(value.otherParams))

const copyTarget = (target: SpendTarget): SpendTarget => {
  const { publicAddress, nativeAmount: amount, memo, uniqueIdentifier, otherParams } = target
  return {
    ...(publicAddress === undefined ? {} : { publicAddress }),
    ...(amount === undefined ? {} : { nativeAmount: amount }),
    ...(memo === undefined ? {} : { memo }),
    ...(uniqueIdentifier === undefined ? {} : { uniqueIdentifier }),
    ...(otherParams === undefined ? {} : { otherParams })
  }
}

const isMemo = (value: unknown): value is Memo =>
  isRecord(value) && isShortText(value.value) && MEMO_TYPES.has(value.type)

const totalOf = ({ spendTargets }: SpendInfo): NativeAmount =>
  sum(spendTargets.map(target => nativeAmount(target.nativeAmount ?? ZERO)))

const FEE_LEVELS: ReadonlySet<unknown> = new Set(['high', 'standard', 'low'])
const MEMO_TYPES: ReadonlySet<unknown> = new Set(['hex', 'number', 'text'])
const MAX_SPENDS = 10
const MAX_TARGETS = 100
const MAX_MEMOS = 10
const MAX_LENGTH = 100_000
