import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { actionPage } from './action-page.ts'
import { apiReports, readApi } from './api-report.ts'
import { checkRequirements, type Requirements, type SpecCoverage } from './check-requirements.ts'
import { cookbookPage } from './cookbook-page.ts'
import { errorPage, mistakePage } from './error-page.ts'
import { hookPages } from './hook-pages.ts'
import { hostilePage } from './hostile-page.ts'
import { readTree } from './project-files.ts'
import { withStructure } from './structure.ts'
import { testTitlesOf } from './test-titles.ts'

/** The folders of the sources that ship. */
export const sourceFolders: readonly string[] = [
  'kernel',
  'plugins',
  'platform',
  'app',
  'cli',
  'devtools',
  'fake-server',
  'testing'
]

/** Every page that is made from sources, by path; `npm run docs` writes them and the checks compare them. */
export const generatedPages = (root: string): ReadonlyMap<string, string> =>
  new Map([
    [
      'ARCHITECTURE.md',
      withStructure(
        readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
        readTree(root, sourceFolders, /\.tsx?$/)
      )
    ],
    ['docs/actions.md', actionPage()],
    ['docs/errors.md', errorPage()],
    ['docs/cookbook.md', cookbookPage(root)],
    ['docs/hostile-plugins.md', hostilePage()],
    ['docs/plugin-mistakes.md', mistakePage()],
    ...hookPages(root),
    ['docs/spec-coverage.md', specCoverage(root).page],
    ...apiReports(readApi(root))
  ])

/** Compares the requirements with the titles of the tests as they are on disk. */
export const specCoverage = (root: string): SpecCoverage => {
  const wanted: Requirements = JSON.parse(readFileSync(join(root, 'docs/requirements.json'), 'utf8'))
  return checkRequirements(wanted, testTitlesOf(readTree(root, ['test'], /\.test\.tsx?$/)))
}

/** Names each generated page whose file differs from what its source gives. */
export const stalePages = (root: string, pages: ReadonlyMap<string, string>): readonly string[] =>
  [...pages]
    .filter(
      ([path, page]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== page
    )
    .map(([path]) => `${path} differs from its source; run npm run docs`)
