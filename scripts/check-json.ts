import type { FileTexts } from './project-files.ts'

/** The folders whose code meets texts from outside. */
const FOLDERS = /^(?:kernel|plugins|platform|app|cells|cli|devtools|fake-server|testing)\//

/** Files that may call `JSON.parse`, with the reason. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['kernel/base/json.ts', 'bounds the text first'],
  ['kernel/wallet/history/row.ts', 'rows that this device wrote and sealed, read by the thousand'],
  ['cells/realm.ts', 'runs within a cell, on what the kernel wrote'],
  ['cells/node/cell-programs.ts', 'runs in the process of the cells, on what the kernel wrote'],
  ['cli/agent/frames.ts', 'a line of at most a megabyte from a client with the token, and of 4 kB before'],
  ['cli/agent/agent-files.ts', 'a short file that the agent of this user wrote into a private folder'],
  ['cli/terminal/package-folder.ts', 'the package file of this program'],
  ['devtools/react/panels/route-graph.tsx', 'a text that the same function made'],
  ['devtools/react/state/preferences.ts', 'a short text that this page stored']
])

const CODE_OR_COMMENT =
  /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|\bJSON\s*\.\s*parse\b(?!\(JSON\.stringify\()|\.json\(\)/g

/**
 * Finds JSON of others that is parsed without a bound (pure): nested deep enough, it takes the process down.
 *
 * A copy by `JSON.parse(JSON.stringify(…))` is no text from outside.
 *
 * @returns one sentence for each file that parses, and for each exception that is not needed
 */
export const checkJson = (files: FileTexts): readonly string[] => {
  const problems: string[] = []
  for (const [path, text] of files) {
    if (!FOLDERS.test(path)) continue
    const found = [...text.matchAll(CODE_OR_COMMENT)].filter(([match]) => !match.startsWith('/'))
    if (found.length > 0 && !ALLOWED.has(path))
      problems.push(`${path}: parses JSON without a bound; use parseJsonText or parseJson`)
    if (found.length === 0 && ALLOWED.has(path))
      problems.push(`${path}: needs no exception in scripts/check-json.ts`)
  }
  return problems
}
