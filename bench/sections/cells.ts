import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { applied, type CellStage, openCellStage, pricesOf, rateCode } from '../../test/helpers/cell-stage.ts'
import { measure, median } from '../measure.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'

/** Contained plugins: a cell's start and memory, a call into it, and the return of all when their process is killed. */
export const cells: Section = async () => {
  const stage = openCellStage()
  try {
    return { rows: [tapRow(), ...(await cellRows(stage))], notes: NOTES }
  } finally {
    stage.cells.close()
  }
}

const COUNT = 30
const CALLS = 1000

/** What no restart of as many cells can be quicker than. */
const EMPTY_THREADS = `
const { Worker } = require('node:worker_threads')
const start = () => new Promise(done => new Worker('', { eval: true }).once('online', done))
Promise.all(Array.from({ length: ${COUNT} }, start)).then(() => process.exit())`

const NOTES = [
  'CPU is that of the kernel alone; the process of the cells has its own. A call goes to that process, to the thread of the ' +
    'cell, and back.',
  'The last row is the floor of the row above it on the same machine: Node starts as many threads, and nothing of ours runs in them.'
]

type Taps = ReturnType<typeof applied>

const cellRows = async (stage: CellStage): Promise<readonly Row[]> => {
  const load = async (id: string): Promise<Taps> => {
    const code = rateCode('offer(wanted[0], options.text ?? 64000)', '', id)
    return applied(stage, await stage.load(code, { id }))
  }
  const first = await measure(() => load('cell-0'))
  const memoryOfOne = memoryOf(stage)
  const next: number[] = []
  const taps = [first.value]
  while (taps.length < 10) {
    const { value, wallMs } = await measure(() => load(`cell-${taps.length}`))
    taps.push(value)
    next.push(wallMs)
  }
  const rest = Array.from({ length: COUNT - 10 }, (_, at) => `cell-${10 + at}`)
  const together = await measure(() => Promise.all(rest.map(load)))
  taps.push(...together.value)
  const memory = memoryOf(stage)
  const call = await measure(async () => {
    for (let count = 0; count < CALLS; count++) await pricesOf(stage, first.value)
  })
  const [{ pid = 0 } = {}] = stage.cells.processes
  process.kill(pid, 'SIGKILL')
  const back = await measure(() => Promise.all(taps.map(each => pricesOf(stage, each))))
  const bare = await measure(async () => {
    execFileSync(process.execPath, ['-e', EMPTY_THREADS])
  })
  check(
    back.value.every(([price]) => price === 64_000),
    'a price of each cell after the death of their process'
  )
  check(stage.faults.length === 0, 'no cell is blamed')
  const each = { cpuMs: call.cpuMs / CALLS, wallMs: call.wallMs / CALLS }
  return [
    rowOf('first cell, with its process', first, { facts: { MB: memoryOfOne } }),
    { name: 'one more cell', wallMs: median(next) },
    rowOf(`${rest.length} more at once`, together, {
      facts: { 'MB of all': memory, 'MB of each': (memory - memoryOfOne) / (COUNT - 1) }
    }),
    rowOf('call and answer', each),
    rowOf(`answers of ${COUNT} cells after their process was killed`, back, {
      facts: { 'CPU of their new process, ms': cpuOf(stage) },
      goals: [atMost('at most 1000 ms of wall time', back.wallMs, 1000)]
    }),
    { name: `a process of Node with ${COUNT} threads that do nothing`, wallMs: bare.wallMs }
  ]
}

/** Megabytes that the processes of the cells hold. */
const memoryOf = (stage: CellStage): number => {
  let pages = 0
  for (const { pid } of stage.cells.processes)
    pages += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 1e6
}

/** Milliseconds of processor time that the processes of the cells have used. */
const cpuOf = (stage: CellStage): number => {
  let ticks = 0
  for (const { pid } of stage.cells.processes) {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(11, 13)
    ticks += Number(user) + Number(system)
  }
  return ticks * 10
}

/** A hook with one tap in the process of the kernel. */
const tapRow = (): Row => {
  const { clock } = makeNodeIo()
  const hooks = makeKernelHooks({ clock, onFault: () => check(false, 'a tap that works') })
  let seen = 0
  hooks.logged.tap('bench', () => {
    seen += 1
  })
  const line = Object.freeze({ source: 'bench', level: 'info', text: 'x' }) as never
  const count = 1_000_000
  const start = performance.now()
  for (let at = 0; at < count; at++) hooks.logged.call(line)
  const wallMs = (performance.now() - start) / count
  check(seen === count, 'every call reaches the tap')
  const goal = atMost('under 0.001 ms', wallMs, 0.001)
  return { name: 'a tap in the process', wallMs, facts: { ns: wallMs * 1e6 }, goals: [goal] }
}
