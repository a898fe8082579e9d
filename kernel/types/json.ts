/** Any value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; keys that come from outside must be read through `Object.hasOwn` or a Map. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Tells whether two JSON values say the same: fields in any order, items of a list in theirs. */
export const isSameJson = (left: unknown, right: unknown): boolean => {
  if (Object.is(left, right)) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSameJson(item, right[index]))
  }
  if (!isObject(left) || !isObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(name => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
