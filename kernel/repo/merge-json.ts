import { isSameJson } from '../types/json.ts'

/** Three versions of one file: what both began with, what we made of it, and what they made of it. */
export interface ThreeTexts {
  /** Undefined if the file was new on both sides. */
  readonly base: string | undefined
  /** What we made of it on the way to `mine`, and the other side may have begun with; none if left out. */
  readonly earlier?: readonly string[]
  readonly mine: string
  readonly theirs: string
  /** Whose value stands where both changed one field: the later writer's. */
  readonly winner: 'mine' | 'theirs'
}

/**
 * Merges two edits of one JSON object field by field, at every depth where both are objects (decision 21): two tokens
 * of one currency, or name and notes of one transaction, are fields of their own.
 *
 * A list is one value, but for lists of different texts in ascending order, such as token ids: these are sets, and each
 * text is a field of its own. A field that one side changed takes that side's value, a removal included. The answer is
 * one of the two texts itself, letter for letter, where it says the same. Pure; nothing outside the three texts matters.
 *
 * @returns undefined if one of them is no JSON object: then the last writer wins
 */
export const mergeJson = ({ base, earlier = [], mine, theirs, winner }: ThreeTexts): string | undefined => {
  const ours = parseObject(mine)
  const others = parseObject(theirs)
  const origin = base === undefined ? {} : parseObject(base)
  if (ours === undefined || others === undefined || origin === undefined) return undefined
  try {
    const steps = earlier.map(parseObject).filter(step => step !== undefined)
    const merged = mergeFields({ base: origin, earlier: steps, mine: ours, theirs: others, winner })
    if (isSameJson(merged, others)) return theirs
    return isSameJson(merged, ours) ? mine : JSON.stringify(merged)
  } catch (error) {
    // Nesting so deep that it cannot be walked.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

type Fields = Readonly<Record<string, unknown>>

interface ThreeValues {
  readonly base: unknown
  readonly earlier: readonly unknown[]
  readonly mine: unknown
  readonly theirs: unknown
  readonly winner: 'mine' | 'theirs'
}

interface ThreeFields extends ThreeValues {
  readonly base: Fields
  readonly earlier: readonly Fields[]
  readonly mine: Fields
  readonly theirs: Fields
}

const mergeFields = ({ base, earlier, mine, theirs, winner }: ThreeFields): Fields => {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
  const merged: [string, unknown][] = []
  for (const name of names) {
    const old = fieldOf(base, name)
    const ours = fieldOf(mine, name)
    const others = fieldOf(theirs, name)
    const steps = earlier.map(step => fieldOf(step, name))
    const value = mergeValue({ base: old, earlier: steps, mine: ours, theirs: others, winner })
    if (value !== undefined) merged.push([name, value])
  }
  // Defines own fields only, so that a field called __proto__ is a field like any other.
  return Object.fromEntries(merged)
}

const mergeValue = ({ base, earlier, mine, theirs, winner }: ThreeValues): unknown => {
  if ([base, ...earlier, mine].some(ours => isSameJson(theirs, ours))) return mine
  if (isObject(mine) && isObject(theirs)) {
    const steps = earlier.filter(isObject)
    return mergeFields({ base: isObject(base) ? base : {}, earlier: steps, mine, theirs, winner })
  }
  if (isSameJson(mine, base)) return theirs
  if (isSet(mine) && isSet(theirs) && isSet(base ?? []))
    return mergeSets([base, ...earlier].map(step => step ?? []).filter(isSet), mine, theirs)
  return winner === 'mine' ? mine : theirs
}

/** Who has changed a text's place in the set decides; the other side has left it as one of the steps had it. */
const mergeSets = (
  steps: readonly (readonly string[])[],
  mine: readonly string[],
  theirs: readonly string[]
): string[] => {
  const [ours, others, ...begun] = [mine, theirs, ...steps].map(list => new Set(list))
  return [...new Set([...mine, ...theirs])]
    .filter(text => {
      const isTheirs = others?.has(text) === true
      return begun.some(step => step.has(text) === isTheirs) ? ours?.has(text) : isTheirs
    })
    .sort()
}

const isSet = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.every((text, at) => typeof text === 'string' && (at === 0 || value[at - 1] < text))

const fieldOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const parseObject = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
