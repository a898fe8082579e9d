/**
 * Drops the fields that are undefined, so that an object has known facts only: absent and undefined differ in copies,
 * comparisons and recordings.
 *
 * @example
 * ```ts
 * import { compact } from 'holdfast/plugin'
 *
 * compact({ label: undefined, year: 2026 }) // { year: 2026 }
 * ```
 */
export const compact = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } => {
  const known: { [K in keyof T]?: Exclude<T[K], undefined> } = {}
  for (const name of Object.keys(fields) as (keyof T)[]) {
    const value = fields[name]
    if (value !== undefined) known[name] = value as Exclude<T[keyof T], undefined>
  }
  return known
}
