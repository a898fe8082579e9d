/**
 * The table that a key belongs to, or undefined for an entry.
 *
 * A prefix that ends with `+/` stands for a family: `w/t/+/` makes `w/t/a/` and `w/t/b/` tables of their own.
 *
 * @param prefixes - none begins with another
 */
export const tableOfKey = (prefixes: readonly string[], key: string): string | undefined => {
  for (const prefix of prefixes) {
    const table = prefix.endsWith(FAMILY) ? memberOf(prefix, key) : prefix
    if (table !== undefined && key.startsWith(table)) return table
  }
  return undefined
}

/** What every key of the tables of a prefix begins with. */
export const rootOf = (prefix: string): string =>
  prefix.endsWith(FAMILY) ? prefix.slice(0, -FAMILY.length) : prefix

const FAMILY = '+/'

const memberOf = (prefix: string, key: string): string | undefined => {
  const root = rootOf(prefix)
  const end = key.startsWith(root) ? key.indexOf('/', root.length) : -1
  return end < 0 ? undefined : key.slice(0, end + 1)
}
