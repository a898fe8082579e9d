import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Cost, median, medianCost } from '../measure.ts'
import { PEER } from '../peer-package.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'

/** What loading the library adds to an empty Node process. */
export const load: Section = async ({ peerFolder }) => {
  const emitted = (path: string): string => new URL(`../../${path}`, import.meta.url).href
  const kernel = [emitted('kernel/index.js')]
  const all = [...kernel, emitted('platform/node/index.js'), emitted('plugins/currency/utxo/plugin.js')]
  const programs: Program[] = [
    { name: 'empty node', code: importing([]) },
    { name: 'kernel', code: importing(kernel) },
    { name: 'kernel, platform and Bitcoin', code: importing(all) }
  ]
  if (peerFolder !== undefined) {
    const entry = join(peerFolder, 'node_modules/edge-core-js/lib/node/index.js')
    programs.push({ name: PEER, code: importing([pathToFileURL(entry).href]) })
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

const NOTES = [
  'A fresh process each time, from the emitted modules, not from a bundle: the sources are in the system’s file ' +
    'cache. CPU of the process up to the end of the import.'
]

interface Program {
  readonly name: string
  readonly code: string
}

const importing = (urls: readonly string[]): string =>
  [
    ...urls.map(url => `await import(${JSON.stringify(url)})`),
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
      const goals = name === 'kernel' ? [atMost('at most 25 ms of CPU above an empty node', above, 25)] : []
      rows.push(rowOf(name, medianCost(list), { facts: { 'CPU ms above an empty node': above }, goals }))
    }
  }
  return rows
}
