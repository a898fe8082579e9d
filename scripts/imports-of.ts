/** One import or re-export statement of a module. */
export interface ImportOf {
  /** What stands between the quotes. */
  readonly specifier: string
  /** True for `export … from`. */
  readonly isReexport: boolean
}

const COMMENT_OR_TEXT =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|(?:\b(from|import|require)\s*\(?\s*)?(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)")/g

/**
 * Finds what a TypeScript module imports (pure): static, dynamic, type-only and re-exports.
 *
 * Reads text, not syntax, since the compiler offers no parser to us. Comments and plain strings do not
 * count. What only a computed `import(name)` names is not found.
 */
export const importsOf = (text: string): readonly ImportOf[] => {
  const found: ImportOf[] = []
  for (const match of text.matchAll(COMMENT_OR_TEXT)) {
    const [, keyword, single, double] = match
    const specifier = single ?? double
    if (keyword === undefined || specifier === undefined) continue
    found.push({ specifier, isReexport: keyword === 'from' && isExport(text.slice(0, match.index)) })
  }
  return found
}

/** Whether the statement that ends here began with `export` rather than `import`. */
const isExport = (before: string): boolean =>
  before.lastIndexOf('export') > before.lastIndexOf('import') &&
  /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*$/.test(before)
