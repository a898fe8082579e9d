import type { SpendInfo, Transaction } from '../../kernel/index.ts'
import type { SpendReview } from './actions.ts'
import { safeText } from './command-line-of.ts'

/**
 * What payments tell the chain besides whom they pay: a memo can decide where a swap pays out to, and a call has nothing
 * but its parameters. What there is not is left out (pure).
 *
 * @param drafts - what is signed
 * @param spends - what the drafts were made of
 */
export const chainNotesOf = (
  drafts: readonly Transaction[],
  spends: readonly SpendInfo[] = []
): Pick<SpendReview, 'memos' | 'params'> => {
  const memos = drafts.flatMap(draft =>
    draft.memos.map(({ type, value }) => (type === 'text' ? value : `${type}:${value}`))
  )
  const params = spends
    .flatMap(({ otherParams, spendTargets }) => [otherParams, ...spendTargets.map(each => each.otherParams)])
    .flatMap(each => (each === undefined ? [] : JSON.stringify(each)))
  return {
    ...(memos.length === 0 ? {} : { memos: memos.map(safeText) }),
    ...(params.length === 0 ? {} : { params: params.map(safeText) })
  }
}
