import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DevLoop } from '../../cli/dev/dev-loop.ts'
import { DevWorld } from '../../cli/dev/dev-world.ts'
import { watchProject } from '../../cli/dev/watch-project.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type Cost, measure, median, medianCost } from '../measure.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { until } from '../wait.ts'

/** `holdfast plugins dev`: from the save of a file until the version with it runs. */
export const devLoop: Section = async ({ folder }) => ({
  rows: [
    await liveRow(join(folder, 'dev-rates'), 'rates', 'a rate source'),
    await liveRow(join(folder, 'dev-account'), 'account', 'a currency with a wallet')
  ],
  notes: [
    'The projects are those that plugins new makes. A save is bundled, loaded into a fresh cell and kernel, and logged in; the ' +
      'checks run after that. CPU is that of this process; the cell has its own.'
  ]
})

const ROUNDS = 7

const liveRow = async (folder: string, template: string, what: string): Promise<Row> => {
  cpSync(join('templates', template), folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "exports": "./src/index.ts" }')
  const entry = join(folder, 'src/index.ts')
  const source = readFileSync(entry, 'utf8')
  const { signal } = new AbortController()
  const world = new DevWorld({ io: makeNodeIo(), onLog: () => {}, onCall: () => {} })
  const loop: DevLoop = new DevLoop({
    ...{ entry, folder, project: undefined, world, signal, onEvent: () => {} },
    onFiles: files => watching.follow(files)
  })
  const watching = watchProject(folder, savedAt => loop.reload(savedAt))
  const live = async (version: number): Promise<void> => {
    const state = () => loop.state.getSnapshot()
    await until([loop.state], () => state().stage === 'failed' || state().version === version)
    check(state().problem === undefined, `version ${version} of ${what} runs: ${state().problem}`)
  }
  const costs: Cost[] = []
  try {
    loop.reload()
    await live(1)
    for (let round = 2; round < 2 + ROUNDS; round++)
      costs.push(
        await measure(() => {
          writeFileSync(entry, `${source}\n// ${round}\n`)
          return live(round)
        })
      )
  } finally {
    watching.close()
    await loop.close()
    await world.close()
  }
  const wallMs = median(costs.map(cost => cost.wallMs))
  return rowOf(`${what} is live after a save`, medianCost(costs), {
    goals: [atMost('at most 1000 ms of wall time', wallMs, 1000)]
  })
}
