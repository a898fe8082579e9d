import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { type Cost, median, medianCost } from '../measure.ts'
import { PEER } from '../peer-package.ts'
import {
  atMost,
  check,
  type Row,
  rowOf,
  type Section,
  type SectionContext,
  type SectionResult
} from '../section.ts'

/** What loading the library adds to an empty Node process. */
export const load: Section = async context => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  try {
    return await measureLoads(folder, context)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const measureLoads = async (folder: string, { peerFolder }: SectionContext): Promise<SectionResult> => {
  const emitted = (path: string): string => new URL(`../../${path}`, import.meta.url).href
  const kernel = [emitted('kernel/index.js')]
  const all = [...kernel, emitted('platform/node/index.js'), emitted('plugins/currency/utxo/plugin.js')]
  const programs: Program[] = [
    { name: 'empty node', code: importing([]) },
    { name: 'kernel', code: importing(kernel) },
    { name: 'kernel, platform and Bitcoin', code: importing(all) },
    { name: 'kernel, bundled', code: importing([await bundle(folder, 'kernel/index.js')]) }
  ]
  if (peerFolder !== undefined) {
    // As CommonJS, which is the quicker of the two ways to load it.
    const from = JSON.stringify(join(peerFolder, 'package.json'))
    const code = `import { createRequire } from 'node:module'\ncreateRequire(${from})('edge-core-js')`
    programs.push({ name: PEER, code: measuring(code) })
  }
  const costs = new Map(programs.map(({ name }) => [name, [] as Cost[]]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const { name, code } of programs) {
      const cost = await run(code)
      if (round >= 0) costs.get(name)?.push(cost)
    }
  }
  return { rows: rowsOf(costs), notes: NOTES }
}

const ROUNDS = 11

/** All of a module's code and of its dependencies in one file. */
const bundle = async (folder: string, path: string): Promise<string> => {
  const file = join(folder, 'bundle.mjs')
  const built = await rolldown({
    input: fileURLToPath(new URL(`../../${path}`, import.meta.url)),
    platform: 'node'
  })
  await built.write({ file, format: 'esm', codeSplitting: false })
  await built.close()
  return pathToFileURL(file).href
}

const NOTES = [
  'A fresh process each time; the files are in the system’s cache. The package ships the emitted modules, one file ' +
    'for each source; bundled is the same code in one file, as the published peer is.'
]

interface Program {
  readonly name: string
  readonly code: string
}

const importing = (urls: readonly string[]): string =>
  measuring(urls.map(url => `await import(${JSON.stringify(url)})`).join('\n'))

const measuring = (code: string): string =>
  [
    code,
    'const { user, system } = process.cpuUsage()',
    'console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() }))',
    'process.exit(0)'
  ].join('\n')

const run = async (code: string): Promise<Cost> => {
  const args = ['--input-type=module', '--eval', code]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  return JSON.parse(stdout) as Cost
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const rowsOf = (costs: ReadonlyMap<string, readonly Cost[]>): readonly Row[] => {
  const empty = costs.get('empty node') ?? []
  check(empty.length > 0, 'the empty processes')
  const rows: Row[] = []
  for (const [name, list] of costs) {
    if (name === 'empty node') rows.push(rowOf(name, medianCost(list)))
    else {
      const above = median(list.map(({ cpuMs }, i) => cpuMs - (empty[i]?.cpuMs ?? Number.NaN)))
      const isKernel = name === 'kernel' || name === 'kernel, bundled'
      const goals = isKernel ? [atMost('at most 25 ms of CPU above an empty node', above, 25)] : []
      rows.push(rowOf(name, medianCost(list), { facts: { 'CPU ms above an empty node': above }, goals }))
    }
  }
  return rows
}
