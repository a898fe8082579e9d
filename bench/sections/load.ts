import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
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
  const source = (path: string): string => new URL(`../../${path}`, import.meta.url).href
  const packed = (name: string): string => import.meta.resolve(name)
  const all = [
    packed('holdfast'),
    packed('holdfast/node'),
    packed('holdfast/plugins/storage/memory'),
    packed('holdfast/plugins/currency/utxo/plugin')
  ]
  const programs: Program[] = [
    { name: EMPTY, code: importing([]) },
    { name: LIBRARY, code: importing([packed('holdfast')]) },
    { name: 'plugin authors’ entry', code: importing([packed('holdfast/plugin')]) },
    { name: 'library, platform and Bitcoin', code: importing(all) },
    { name: 'the same with a kernel made', code: starting(all) },
    { name: 'library, one file a module', code: importing([source('kernel/index.js')]) },
    { name: 'library, all in one file', code: importing([await bundle(folder, 'kernel/index.js')]) },
    { name: 'holdfast --version', args: [COMMAND, '--version'] },
    { name: 'holdfast wallets --help', args: [COMMAND, 'wallets', '--help'] }
  ]
  if (peerFolder !== undefined) {
    // As CommonJS, which is the quicker of the two ways to load it.
    const from = JSON.stringify(join(peerFolder, 'package.json'))
    const code = `import { createRequire } from 'node:module'\ncreateRequire(${from})('edge-core-js')`
    programs.push({ name: PEER, code: measuring(code) })
  }
  const meter = join(folder, 'meter.cjs')
  await writeFile(meter, METER)
  const costs = new Map(programs.map(({ name }) => [name, [] as Cost[]]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const program of programs) {
      const cost = await run(program, meter)
      if (round >= 0) costs.get(program.name)?.push(cost)
    }
  }
  return { rows: rowsOf(costs), notes: NOTES }
}

const EMPTY = 'empty node'
const LIBRARY = 'library'
const COMMAND = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))
const ROUNDS = 7

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
  'A fresh process each time; the files are in the system’s cache. The library is loaded by the name of its package, so ' +
    'as it ships: bundled with shared chunks. What it loads later is in the row with a kernel made, in memory and ' +
    'without a user.'
]

type Program =
  | { readonly name: string; readonly code: string }
  | { readonly name: string; readonly args: readonly string[] }

const importing = (urls: readonly string[]): string =>
  measuring(urls.map(url => `await import(${JSON.stringify(url)})`).join('\n'))

const starting = ([library, node, memory, bitcoin]: readonly string[]): string =>
  measuring(
    [
      `const { createKernel } = await import(${JSON.stringify(library)})`,
      `const { makeNodeIo } = await import(${JSON.stringify(node)})`,
      `const { memoryStorage } = await import(${JSON.stringify(memory)})`,
      `const { bitcoin } = await import(${JSON.stringify(bitcoin)})`,
      "await createKernel({ io: makeNodeIo(), apiKey: '', plugins: [memoryStorage(), bitcoin] })"
    ].join('\n')
  )

const REPORT = [
  'const { user, system } = process.cpuUsage()',
  'console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() }))'
]

const measuring = (code: string): string => [code, ...REPORT, 'process.exit(0)'].join('\n')

/** Loaded before a program that ends by itself: its cost is the last line. */
const METER = `process.on('exit', () => {\n${REPORT.join('\n')}\n})\n`

const run = async (program: Program, meter: string): Promise<Cost> => {
  const args =
    'code' in program
      ? ['--input-type=module', '--eval', program.code]
      : ['--require', meter, ...program.args]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Cost
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const rowsOf = (costs: ReadonlyMap<string, readonly Cost[]>): readonly Row[] => {
  const empty = costs.get(EMPTY) ?? []
  check(empty.length > 0, 'the empty processes')
  const rows: Row[] = []
  for (const [name, list] of costs) {
    if (name === EMPTY) rows.push(rowOf(name, medianCost(list)))
    else {
      const above = median(list.map(({ cpuMs }, i) => cpuMs - (empty[i]?.cpuMs ?? Number.NaN)))
      const goals = name === LIBRARY ? [atMost('at most 60 ms of CPU above an empty node', above, 60)] : []
      rows.push(rowOf(name, medianCost(list), { facts: { 'CPU ms above an empty node': above }, goals }))
    }
  }
  return rows
}
