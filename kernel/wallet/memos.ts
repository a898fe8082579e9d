import { WalletError } from '../base/errors.ts'
import type { MemoOption } from '../types/currency.ts'
import type { Memo, SpendInfo, SpendTarget } from '../types/transaction.ts'

/**
 * Brings the memos of a spend into one form before an engine sees them (pure).
 *
 * Memos given the old way, on the targets, become `memos`; a leading 0x of hex memos goes. If exactly one memo is
 * left and it is of the currency's memo type, it is copied to the first target for engines of the old kind.
 *
 * @throws MEMO_INVALID for a memo that is not of its own kind, or longer than the currency takes
 * @see specification §5 "Memos"; vectors `memo-upgrade`
 */
export const upgradeMemos = (spend: SpendInfo, options: readonly MemoOption[] = []): SpendInfo => {
  const memoType = options[0]?.type
  const given = spend.memos ?? []
  const memos = (given.length > 0 ? given : memosOfTargets(spend.spendTargets, memoType)).map(cleanMemo)
  for (const memo of memos) checkMemo(memo, options)
  const targets = spend.spendTargets.map(withoutMemo)
  const [only] = memos
  const [first, ...others] = targets
  if (memos.length !== 1 || only === undefined || only.type !== memoType || first === undefined) {
    return { ...spend, spendTargets: targets, memos }
  }
  return { ...spend, spendTargets: [withMemo(first, only.value), ...others], memos }
}

const memosOfTargets = (targets: readonly SpendTarget[], memoType: Memo['type'] | undefined): Memo[] => {
  if (memoType === undefined) return []
  return targets.flatMap(target => {
    const fromParams = target.otherParams?.uniqueIdentifier
    const value =
      target.memo ?? target.uniqueIdentifier ?? (typeof fromParams === 'string' ? fromParams : undefined)
    return value === undefined ? [] : [{ type: memoType, value }]
  })
}

const cleanMemo = (memo: Memo): Memo =>
  memo.type === 'hex' ? { ...memo, value: memo.value.replace(/^0x/i, '') } : memo

const checkMemo = ({ type, value }: Memo, options: readonly MemoOption[]): void => {
  const refuse = (rule: string): never => {
    throw new WalletError('MEMO_INVALID', { rule })
  }
  if (type === 'hex' && !/^(?:[0-9a-fA-F]{2})*$/.test(value)) refuse('must be hex, two digits a byte')
  if (type === 'number' && !/^\d{1,100}$/.test(value)) refuse('must be a number')
  if (!['hex', 'number', 'text'].includes(type)) refuse('must be hex, number or text')
  const option = options.find(candidate => candidate.type === type)
  const length = type === 'hex' ? value.length / 2 : value.length
  if (option?.maxLength !== undefined && length > option.maxLength) {
    refuse(`is longer than ${option.maxLength}`)
  }
  if (type === 'number' && option?.maxValue !== undefined && BigInt(value) > BigInt(option.maxValue)) {
    refuse(`is above ${option.maxValue}`)
  }
}

const withoutMemo = ({ memo: _memo, uniqueIdentifier: _identifier, ...rest }: SpendTarget): SpendTarget =>
  rest

// Engines of the deployed system look for the misspelt key; the vectors pin it.
const withMemo = (target: SpendTarget, value: string): SpendTarget => ({
  ...target,
  memo: value,
  uniqueIdentifier: value,
  otherParams: { ...target.otherParams, uniqueIdenfitifer: value }
})
