/** What a page may weigh, compressed as a server would send it. */
export interface BundleBudget {
  /** The files that are counted together, below the root of the project. */
  readonly files: readonly string[]
  /** Bytes. */
  readonly limit: number
}

/** The budgets of the pages of the devtools (ecosystem 2.7): the panel with React, and the page that has a wallet inside. */
export const bundleBudgets: readonly BundleBudget[] = [
  { files: ['dist/devtools/panel/panel.js', 'dist/devtools/panel/panel.css'], limit: 200_000 },
  // With what converts the stores of earlier versions.
  { files: ['dist/devtools/page/page.js', 'dist/devtools/page/scrypt-worker.js'], limit: 621_500 }
]

/**
 * Finds built pages that are missing or heavier than their budget (pure).
 *
 * @param sizeOf - the bytes of a file after compression; undefined if it is not there
 */
export const checkBundles = (
  budgets: readonly BundleBudget[],
  sizeOf: (path: string) => number | undefined
): readonly string[] =>
  budgets.flatMap(({ files, limit }) => {
    const missing = files.filter(path => sizeOf(path) === undefined)
    if (missing.length > 0) return missing.map(path => `${path} does not exist; run npm run build`)
    const size = files.reduce((sum, path) => sum + (sizeOf(path) ?? 0), 0)
    return size <= limit ? [] : [`${files.join(' and ')}: ${size} bytes with gzip, ${size - limit} too many`]
  })
