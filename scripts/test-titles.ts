import type { FileTexts } from './project-files.ts'

/** The title of a test that runs and should pass, with the file that holds it. */
export interface TestTitle {
  readonly path: string
  readonly title: string
}

const CALL =
  /\btest((?:\.\w+)*)(?:<[^>()]*>)?\(\s*((?:(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)\s*\+?\s*)+)/g
const PIECE = /'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`/g
const NOT_RUN = /\.(skip|todo|failing|before|after|beforeEach|afterEach)\b/

/**
 * Reads the titles of the tests in the given files (pure).
 *
 * Tests that are skipped, planned or expected to fail prove nothing and are left out; so are comments.
 */
export const testTitlesOf = (files: FileTexts): readonly TestTitle[] => {
  const titles: TestTitle[] = []
  for (const [path, text] of files) {
    const code = text.replace(/^\s*\/\/[^\n]*$/gm, '').replace(/\/\*\*?\s[\s\S]*?\*\//g, '')
    for (const [, modifiers = '', literal = ''] of code.matchAll(CALL)) {
      if (NOT_RUN.test(modifiers)) continue
      const title = [...literal.matchAll(PIECE)].map(([, a, b, c]) => a ?? b ?? c ?? '').join('')
      titles.push({ path, title: title.replace(/\\(['"`])/g, '$1') })
    }
  }
  return titles
}

/** The requirement ids that a title names: `[5.12]`, `[5.12, 5.13]` (pure). */
export const requirementIdsOf = (title: string): readonly string[] =>
  [...title.matchAll(/\[(\d+\.\d+(?:\s*,\s*\d+\.\d+)*)\]/g)].flatMap(([, ids = '']) => ids.split(/\s*,\s*/))
