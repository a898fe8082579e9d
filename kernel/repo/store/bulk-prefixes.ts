/** Which keys of a store are rows of tables. */
export interface BulkPrefixes {
  /** The table that a key belongs to, or undefined for an entry. */
  tableOf(key: string): string | undefined
  /** What every key of a row begins with, one of these. */
  readonly roots: readonly string[]
}

/**
 * Reads the prefixes of tables, of which none begins with another.
 *
 * One that ends with `+/` stands for a family: `w/t/+/` makes `w/t/a/` and `w/t/b/` tables of their own.
 */
export const parseBulkPrefixes = (prefixes: readonly string[]): BulkPrefixes => {
  const roots = prefixes.map(prefix => (isFamily(prefix) ? prefix.slice(0, -FAMILY.length) : prefix))
  const families = prefixes.map(isFamily)
  return {
    roots,
    tableOf(key) {
      for (let i = 0; i < roots.length; i += 1) {
        const root = roots[i] ?? ''
        if (!key.startsWith(root)) continue
        if (families[i] !== true) return root
        const end = key.indexOf('/', root.length)
        return end < 0 ? undefined : key.slice(0, end + 1)
      }
      return undefined
    }
  }
}

const FAMILY = '+/'

const isFamily = (prefix: string): boolean => prefix.endsWith(FAMILY)
