import type { ExecutionContext } from 'ava'

/** Compares a list with as many selectors as it has items; `t.like` alone would let further items pass unnoticed. */
export const likeList = <T>(
  t: ExecutionContext,
  list: readonly T[],
  selectors: readonly Partial<T>[]
): void => {
  t.is(list.length, selectors.length)
  for (const [at, selector] of selectors.entries()) t.like(list[at], selector as never)
}
