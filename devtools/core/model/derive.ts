/**
 * Remembers what was derived of each object for as long as that is kept: a list of ten thousand events is drawn ten times
 * a second.
 */
export const memoize = <Source extends object, Row>(
  rowOf: (source: Source) => Row
): ((source: Source) => Row) => {
  const rows = new WeakMap<Source, { readonly row: Row }>()
  return source => {
    const known = rows.get(source)
    if (known !== undefined) return known.row
    const row = rowOf(source)
    rows.set(source, { row })
    return row
  }
}

/** Checks if one of some texts contains a part, in any case; an empty part is in all of them (pure). */
export const matchesText = (part: string, texts: readonly (string | undefined)[]): boolean => {
  if (part === '') return true
  const wanted = part.toLowerCase()
  return texts.some(text => text?.toLowerCase().includes(wanted) === true)
}
