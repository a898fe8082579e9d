/**
 * Tells what kind of value JSON is: its fields by name, lists by what their items have in common or apart, and no
 * contents. Fields whose names are ids, paths or codes are one field, `<key>`.
 *
 * @example shapeOf({ id: 'a', sizes: [1, 2] }) // '{id: string, sizes: [number]}'
 */
export const shapeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join(' | ')}]`
  if (typeof value !== 'object') return typeof value
  const fields = Object.entries(value).map(([name, item]) => {
    const isName = /^[a-z][A-Za-z0-9_]{0,40}$/.test(name)
    return `${isName ? name : '<key>'}: ${shapeOf(item)}`
  })
  return `{${[...new Set(fields)].sort().join(', ')}}`
}
