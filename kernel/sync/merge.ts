import { isSameJson, type JsonLimits, tryJsonText } from '../base/json.ts'

/** Three versions of one file: what both began with, what we made of it, and what they made of it. */
export interface ThreeTexts {
  /** Undefined if the file was new on both sides. */
  readonly base: string | undefined
  /** Our versions between `base` and `mine`, with which the other side may have begun; none if left out. */
  readonly earlier?: readonly string[]
  readonly mine: string
  readonly theirs: string
  /** The side whose value stands where both changed one field: the later writer. */
  readonly winner: Side
  /** Decides whose value of a field is the later one, by its tag; undefined if only the texts can tell. */
  readonly laterOf?: (tag: number) => Side | undefined
}

/** One side of a merge. */
export type Side = 'mine' | 'theirs'

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
export const mergeJson = ({
  base,
  earlier = [],
  mine,
  theirs,
  winner,
  laterOf
}: ThreeTexts): string | undefined => {
  const ours = parseObject(mine)
  const others = parseObject(theirs)
  const origin = base === undefined ? {} : parseObject(base)
  if (ours === undefined || others === undefined || origin === undefined) return undefined
  try {
    const steps = earlier.map(parseObject).filter(step => step !== undefined)
    const three = { base: origin, earlier: steps, mine: ours, theirs: others, winner, laterOf }
    const merged = mergeFields(three, WHOLE_FILE)
    if (isSameJson(merged, others)) return theirs
    return isSameJson(merged, ours) ? mine : JSON.stringify(merged)
  } catch (error) {
    // Nesting so deep that it cannot be walked.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * The tags of the fields that differ between two texts of a file, as {@link mergeJson} separates fields.
 *
 * If one of them is no JSON object, the file is one field: {@link WHOLE_FILE}.
 *
 * @param options.isDeep - leaves out the tag of a new object or set, and tags only what is in it
 */
export const changedFields = (
  before: string,
  after: string,
  { isDeep = false }: { readonly isDeep?: boolean } = {}
): number[] => {
  const [old, present] = [parseObject(before), parseObject(after)]
  if (old === undefined || present === undefined) return before === after ? [] : [WHOLE_FILE]
  const tags: number[] = []
  addChanged({ tags: tags, isDeep }, WHOLE_FILE, old, present)
  return tags
}

interface ChangedTags {
  readonly tags: number[]
  readonly isDeep: boolean
}

const addChanged = (found: ChangedTags, tag: number, old: unknown, present: unknown): void => {
  if (isSameJson(old, present)) return
  const { tags, isDeep } = found
  const known = tags.length
  if (isObject(present) && isObject(old ?? {})) {
    const before = isObject(old) ? old : {}
    for (const name of new Set([...Object.keys(before), ...Object.keys(present)]))
      addChanged(found, fieldTag(tag, name), fieldOf(before, name), fieldOf(present, name))
    if (isObject(old)) return
  } else if (isSet(present) && isSet(old ?? [])) {
    const [before, after] = [new Set<unknown>(Array.isArray(old) ? old : []), new Set(present)]
    for (const text of new Set([...before, ...after]))
      if (!before.has(text) || !after.has(String(text))) tags.push(fieldTag(tag, String(text)))
    if (old !== undefined) return
  }
  if (!isDeep || tags.length === known) tags.push(tag)
}

/** Identifies a field within its file by 32 bits (FNV-1a): a hash of its parent's tag and its name. */
const fieldTag = (parent: number, name: string): number => {
  let tag = Math.imul(parent ^ 0x1f, FNV_PRIME)
  for (let i = 0; i < name.length; i += 1) tag = Math.imul(tag ^ name.charCodeAt(i), FNV_PRIME)
  return tag >>> 0
}

/** The tag of a file as a whole. */
export const WHOLE_FILE = 0x811c9dc5
const FNV_PRIME = 0x01000193

type Fields = Readonly<Record<string, unknown>>

interface ThreeValues {
  readonly base: unknown
  readonly earlier: readonly unknown[]
  readonly mine: unknown
  readonly theirs: unknown
  readonly winner: Side
  readonly laterOf: ThreeTexts['laterOf'] | undefined
}

interface ThreeFields extends ThreeValues {
  readonly base: Fields
  readonly earlier: readonly Fields[]
  readonly mine: Fields
  readonly theirs: Fields
}

const mergeFields = ({ base, earlier, mine, theirs, ...rest }: ThreeFields, tag: number): Fields => {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
  const merged: [string, unknown][] = []
  for (const name of names) {
    const old = fieldOf(base, name)
    const ours = fieldOf(mine, name)
    const others = fieldOf(theirs, name)
    const steps = earlier.map(step => fieldOf(step, name))
    const three = { base: old, earlier: steps, mine: ours, theirs: others, ...rest }
    const value = mergeValue(three, fieldTag(tag, name))
    if (value !== undefined) merged.push([name, value])
  }
  // Defines own fields only, so that a field called __proto__ is a field like any other.
  return Object.fromEntries(merged)
}

const mergeValue = (values: ThreeValues, tag: number): unknown => {
  const { base, earlier, mine, theirs, winner, laterOf } = values
  if (isObject(mine) && isObject(theirs)) {
    const steps = earlier.filter(isObject)
    return mergeFields({ ...values, base: isObject(base) ? base : {}, earlier: steps, mine, theirs }, tag)
  }
  if (isSet(mine) && isSet(theirs) && isSet(base ?? [])) {
    const steps = [base, ...earlier].map(step => step ?? []).filter(isSet)
    return mergeSets({ steps, mine, theirs, laterOf }, tag)
  }
  const later = laterOf?.(tag)
  if (later !== undefined) return later === 'mine' ? mine : theirs
  if ([base, ...earlier].some(ours => isSameJson(theirs, ours))) return mine
  if (isSameJson(mine, base)) return theirs
  return winner === 'mine' ? mine : theirs
}

interface ThreeSets {
  readonly steps: readonly (readonly string[])[]
  readonly mine: readonly string[]
  readonly theirs: readonly string[]
  readonly laterOf: ThreeTexts['laterOf'] | undefined
}

/** The side that added or removed a text decides; the other side still has it as one of the steps had it. */
const mergeSets = ({ steps, mine, theirs, laterOf }: ThreeSets, tag: number): string[] => {
  const [ours, others, ...begun] = [mine, theirs, ...steps].map(list => new Set(list))
  return [...new Set([...mine, ...theirs])]
    .filter(text => {
      const [isOurs, isTheirs] = [ours?.has(text) === true, others?.has(text) === true]
      const later = isOurs === isTheirs ? undefined : laterOf?.(fieldTag(tag, text))
      if (later !== undefined) return later === 'mine' ? isOurs : isTheirs
      return begun.some(step => step.has(text) === isTheirs) ? isOurs : isTheirs
    })
    .sort()
}

const isSet = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.every((text, at) => typeof text === 'string' && (at === 0 || value[at - 1] < text))

const fieldOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

const parseObject = (text: string): Fields | undefined => {
  const value = tryJsonText(text, FILE_LIMITS)
  return isObject(value) ? value : undefined
}

/** An application may nest what it keeps as it likes; 8 MB hold four million values. */
const FILE_LIMITS: JsonLimits = { maxDepth: 512, maxValues: 8_000_000 }

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
