import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { actions } from '../app/actions/actions.ts'
import { commandSpecs } from '../cli/commands/commands.ts'
import { apiProblems } from './api-report.ts'
import { checkActions, commandFiles } from './check-actions.ts'
import { bundleBudgets, checkBundles } from './check-bundle.ts'
import { checkGrain } from './check-grain.ts'
import { checkJson } from './check-json.ts'
import { checkKeys } from './check-keys.ts'
import { checkLayers } from './check-layers.ts'
import { checkLinks } from './check-links.ts'
import { checkPackage } from './check-package.ts'
import { checkSpreads } from './check-spreads.ts'
import { checkGlossary, checkWords } from './check-words.ts'
import { generatedPages, sourceFolders, specCoverage, stalePages } from './docs.ts'
import { topFolders } from './layer-table.ts'
import { gitFiles, readTree } from './project-files.ts'
import { checkPublicExamples } from './public-examples.ts'
import { repeatedNames } from './structure.ts'

const root = process.cwd()

/** Each check gives one line a problem; none means that it passed. */
type Check = () => readonly string[] | Promise<readonly string[]>

const isThere = (path: string): boolean => existsSync(join(root, path))

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8'))

const layersProblems: Check = () => checkLayers(readTree(root, topFolders, /\.tsx?$/), gitFiles(root))

/** The sources of the package's entries; a path with a star stands for all below its folder. */
const entrySources = (): readonly string[] =>
  Object.values(readJson<{ readonly exports: Readonly<Record<string, unknown>> }>('package.json').exports)
    .flatMap(target => (typeof target === 'object' ? [(target as { readonly types: string }).types] : []))
    .map(path =>
      path
        .replace(/^\.\/dist\//, '')
        .replace(/\*.*$/, '')
        .replace(/\.d\.ts$/, '.ts')
    )

const nameProblems: Check = () => repeatedNames(readTree(root, sourceFolders, /\.tsx?$/), entrySources())

const wordProblems: Check = () => [
  ...checkWords(readTree(root, topFolders, /\.tsx?$/), gitFiles(root)),
  ...checkGlossary(readFileSync(join(root, 'docs/glossary.md'), 'utf8'))
]

const actionProblems: Check = () => {
  const files = commandFiles(readTree(root, ['cli/commands'], /-commands\.ts$/))
  const unknown = commandSpecs.filter(({ name }) => !files.has(name))
  return [
    ...unknown.map(({ name }) => `the file of the command "${name}" is not found`),
    ...checkActions(actions, {
      commands: files,
      cli: readTree(root, ['cli'], /\.tsx?$/),
      panel: readTree(root, ['devtools/react'], /\.tsx?$/)
    })
  ]
}

const linkProblems: Check = () => {
  const pages = gitFiles(root).filter(path => path.endsWith('.md'))
  return checkLinks(new Map(pages.map(path => [path, readFileSync(join(root, path), 'utf8')])), isThere)
}

const packageProblems: Check = () =>
  checkPackage(readJson('package.json'), readJson('package-lock.json'), isThere)

const gzipSize = (path: string): number | undefined =>
  isThere(path) ? gzipSync(readFileSync(join(root, path))).length : undefined

/** A check that another program makes: what it prints is the problem if it does not end with 0. */
const byTool =
  (tool: string, ...args: readonly string[]): Check =>
  () =>
    new Promise(resolve => {
      const path = join(root, 'node_modules', tool)
      execFile(
        process.execPath,
        [path, ...args],
        { cwd: root, maxBuffer: 1 << 26 },
        (error, stdout, stderr) => {
          if (error === null) resolve([])
          else resolve(`${stdout}${stderr}`.trim().split('\n'))
        }
      )
    })

const tsc = 'typescript/bin/tsc'

const checks: ReadonlyMap<string, Check> = new Map([
  ['types', byTool(tsc, '-p', 'tsconfig.json', '--noEmit', '--incremental', 'false')],
  ['kernel types without Node or a browser', byTool(tsc, '-p', 'tsconfig.kernel.json')],
  ['lint and format', byTool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings')],
  ['layers', layersProblems],
  ['grain', () => checkGrain(readTree(root, sourceFolders, /\.tsx?$/))],
  ['names stand for one thing', nameProblems],
  ['words that are retired', wordProblems],
  ['actions have faces and schemas', actionProblems],
  ['json of others is bounded', () => checkJson(readTree(root, topFolders, /\.tsx?$/))],
  ['keys pass the gate', () => checkKeys(readTree(root, topFolders, /\.tsx?$/))],
  ['spreads add groups of fields', () => checkSpreads(readTree(root, topFolders, /\.tsx?$/))],
  ['examples of the public exports', () => checkPublicExamples(root)],
  ['api changes are named', () => apiProblems(root)],
  ['nothing unused', byTool('knip/bin/knip.js', '--no-progress')],
  ['package entries', packageProblems],
  ['bundle sizes', () => checkBundles(bundleBudgets, gzipSize)],
  ['generated pages', () => stalePages(root, generatedPages(root))],
  ['links', linkProblems],
  ['requirements', () => specCoverage(root).problems]
])

const outcomeOf = async (check: Check): Promise<readonly string[]> => {
  try {
    return await check()
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

const chosen = [...checks].filter(
  ([name]) => process.argv.length < 3 || process.argv.includes(name.split(' ')[0] ?? '')
)
const outcomes = await Promise.all(
  chosen.map(async ([name, check]) => ({ name, problems: await outcomeOf(check) }))
)
for (const { name, problems } of outcomes) {
  console.log(`${problems.length === 0 ? '✔' : '✘'} ${name}`)
  for (const line of problems) console.log(`    ${line}`)
}
const failed = outcomes.filter(({ problems }) => problems.length > 0).length
console.log(`\n${outcomes.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 || outcomes.length === 0 ? 1 : 0
