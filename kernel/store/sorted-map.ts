import { lowerBound } from '../base/lower-bound.ts'
import type { KeyRange } from '../io/store.ts'

/**
 * A key as a text with one letter for each byte: the order of such texts is the order of the bytes.
 *
 * @example
 * ```ts
 * import { textOfKey } from 'holdfast/plugin'
 *
 * console.log(textOfKey(Uint8Array.of(104, 105))) // hi
 * ```
 */
export const textOfKey = (key: Uint8Array): string => String.fromCharCode(...key)

/** The inverse of {@link textOfKey}. */
const keyOfText = (text: string): Uint8Array => Uint8Array.from(text, letter => letter.charCodeAt(0))

/**
 * A map in memory that gives its keys in order, a page at a time: the index of a store whose medium has no order.
 *
 * Its keys are texts as {@link textOfKey} makes them. They are sorted when a page is wanted, and not before.
 *
 * @example
 * ```ts
 * import { SortedMap, textOfKey } from 'holdfast/plugin'
 *
 * const values = new SortedMap<Uint8Array>()
 * values.set(textOfKey(Uint8Array.of(7)), Uint8Array.of(1, 2, 3))
 * console.log(values.keys({ limit: 10 })) // one key: 7
 * ```
 */
export class SortedMap<Value> {
  readonly #values = new Map<string, Value>()
  /** All keys in order, and some that were deleted; undefined when it must be made again. */
  #sorted: string[] | undefined
  /** Keys that are not among the sorted ones yet. */
  #added: string[] = []

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#added.push(key)
    this.#values.set(key, value)
  }

  delete(key: string): void {
    if (!this.#values.delete(key)) return
    // The key would stand there twice if it came back.
    this.#sorted = undefined
  }

  /** One page of the keys whose values count; all do if `counts` is left out. */
  keys(
    { after, before, reverse = false, limit }: KeyRange,
    counts?: (value: Value) => boolean
  ): Uint8Array[] {
    const sorted = this.#sortedKeys()
    const [least, greatest] = [after && textOfKey(after), before && textOfKey(before)]
    const keyAt = (at: number): string => sorted[at] as string
    const start = least === undefined ? 0 : lowerBound(0, sorted.length, at => keyAt(at) > least)
    const end =
      greatest === undefined ? sorted.length : lowerBound(start, sorted.length, at => keyAt(at) >= greatest)
    const found: Uint8Array[] = []
    for (let i = 0; i < end - start && found.length < limit; i += 1) {
      const key = keyAt(reverse ? end - 1 - i : start + i)
      if (counts?.(this.#values.get(key) as Value) ?? true) found.push(keyOfText(key))
    }
    return found
  }

  #sortedKeys(): readonly string[] {
    if (this.#sorted === undefined) this.#sorted = [...this.#values.keys()].sort()
    else if (this.#added.length > 0) this.#sorted = mergeSorted(this.#sorted, this.#added.sort())
    this.#added = []
    return this.#sorted
  }
}

const mergeSorted = (left: readonly string[], right: readonly string[]): string[] => {
  const merged: string[] = []
  let from = 0
  for (const key of right) {
    const end = lowerBound(from, left.length, at => (left[at] as string) > key)
    for (; from < end; from += 1) merged.push(left[from] as string)
    merged.push(key)
  }
  for (; from < left.length; from += 1) merged.push(left[from] as string)
  return merged
}
