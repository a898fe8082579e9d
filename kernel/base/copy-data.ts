/** The limits of a copy, and the error when it cannot be made. */
export interface CopyLimits {
  /** Characters of all texts and names together, with one or more for each item; about the length of its JSON. */
  readonly maxLength: number
  /** Freezes the copy all through. */
  readonly isFrozen?: boolean
  /** Makes the error; `rule` continues a sentence about the data, such as `is too long`. */
  refuse(rule: string): Error
}

/** The deepest nesting that any data from outside may have. */
export const MAX_DEPTH = 64

/** Names of fields that would reach a prototype. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Copies data that foreign code in this process has given, as `JSON.stringify` and `JSON.parse` would: `toJSON` is
 * honoured, what JSON does not have is left out, and a number that is none becomes null.
 *
 * Each property is read once, so that a getter cannot answer the check and the use differently; a getter or a `Proxy`
 * that throws is a refusal. Nothing in the copy belongs to anybody else. The limits hold while it is made, so that hostile
 * data costs no more than they allow.
 *
 * @returns undefined for what JSON does not have, such as a function
 * @throws what `refuse` makes, for data that is too long, nests deeper than 64, has a forbidden key or cannot be read
 */
export const copyData = (root: unknown, { maxLength, isFrozen = false, refuse }: CopyLimits): unknown => {
  const done = <T>(made: T): T => (isFrozen ? Object.freeze(made) : made)
  let left = maxLength
  let refusal: Error | undefined
  const fail = (rule: string): Error => {
    refusal = refuse(rule)
    return refusal
  }
  const take = (count: number): void => {
    left -= count
    if (left < 0) throw fail('is too long')
  }
  const copy = (given: unknown, name: string, depth: number): unknown => {
    const value = dataOf(given, name)
    switch (typeof value) {
      case 'string':
        take(value.length + 1)
        return value
      case 'number':
      case 'boolean':
        take(1)
        return Number.isFinite(Number(value)) ? value : null
      case 'bigint':
        throw fail('is no JSON')
      case 'object':
        if (value === null) return value
        if (depth > MAX_DEPTH) throw fail(`nests deeper than ${MAX_DEPTH}`)
        return Array.isArray(value) ? copyItems(value, depth) : copyFields(value, depth)
      default:
        return undefined
    }
  }
  const copyItems = (value: readonly unknown[], depth: number): unknown => {
    const { length } = value
    take(length)
    const items: unknown[] = []
    for (let at = 0; at < length; at++) items.push(copy(value[at], String(at), depth + 1) ?? null)
    return done(items)
  }
  const copyFields = (value: object, depth: number): unknown => {
    const names = Object.keys(value)
    take(names.length)
    const fields: Record<string, unknown> = {}
    for (const name of names) {
      if (FORBIDDEN_KEYS.has(name)) throw fail('has a forbidden key')
      take(name.length)
      const field = copy((value as Record<string, unknown>)[name], name, depth + 1)
      if (field !== undefined) fields[name] = field
    }
    return done(fields)
  }
  try {
    return copy(root, '', 0)
  } catch {
    // What was thrown may be anything, and is not looked at.
    throw refusal ?? fail('cannot be read')
  }
}

/** A copy of the kernel's own JSON data that plugins may be given: frozen all through. */
export const frozenCopy = <T>(data: T): T => copyOwn(data, true)

/** A copy of the kernel's own JSON data that a plugin may change as it likes. */
export const looseCopy = <T>(data: T): T => copyOwn(data, false)

const copyOwn = <T>(data: T, isFrozen: boolean): T =>
  copyData(data, {
    maxLength: Number.POSITIVE_INFINITY,
    isFrozen,
    refuse: rule => new TypeError(`The data ${rule}`)
  }) as T

const dataOf = (value: unknown, name: string): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value, name) : value
}

/**
 * Copies the items of a list that foreign code has given, each read once; the items themselves are still theirs.
 *
 * @returns undefined for what is no list, is longer than `maxItems`, or cannot be read
 */
export const copyList = (value: unknown, maxItems: number): readonly unknown[] | undefined => {
  try {
    if (!Array.isArray(value)) return undefined
    const { length } = value
    if (length > maxItems) return undefined
    const items: unknown[] = []
    for (let at = 0; at < length; at++) items.push(value[at])
    return items
  } catch {
    return undefined
  }
}
