const SCOPED = /^((?:test|holdfast)[\w./-]*):([\w$]+<?)$/

/**
 * Tells what names are called now below one path: that of a test file, or that of an export such as `holdfast/plugin`.
 * The longest start of the path counts.
 *
 * @param renames - new names by old ones; a key such as `test/cli/:film` is the name below the path before the colon
 */
export const namesBelow = (
  path: string,
  renames: ReadonlyMap<string, string>
): ReadonlyMap<string, string> => {
  const scoped = [...renames].flatMap(([key, name]) => {
    const [, start = '', word = ''] = SCOPED.exec(key) ?? []
    return word !== '' && path.startsWith(start) ? [{ start, word, name }] : []
  })
  scoped.sort((a, b) => a.start.length - b.start.length)
  return new Map(scoped.map(({ word, name }) => [word, name]))
}

/**
 * Replaces old names of a record with new ones. A name of a generic type may end with `<`, as in `Channel<`, if another
 * type without parameters has the same name.
 *
 * @param path - the export path of the record, or nothing for a record that has none
 */
export const withNewNames = (text: string, renames: ReadonlyMap<string, string>, path = ''): string => {
  const below = namesBelow(path, renames)
  const nameOf = (word: string): string => below.get(word) ?? renames.get(word) ?? word
  return text.replace(/([A-Za-z_$][\w$]*)(<?)/g, (found, word: string, open: string) => {
    const generic = open === '' ? undefined : below.get(found)
    return generic ?? `${nameOf(word)}${open}`
  })
}
