import { compact } from '../../kernel/base/compact.ts'
import { growthExponent } from '../growth.ts'
import { PEER } from '../peer-package.ts'
import { atMost, type Goal, type Row, rowOf, type SectionContext } from '../section.ts'
import { RECORDED } from './recorded.ts'
import { Unfinished } from './run-job.ts'
import { type Figures, makeSizeBench, type Plan } from './size-bench.ts'

/** One work at growing sizes, on both sides. */
export interface Ladder {
  /** Ours does all of them. */
  readonly sizes: readonly number[]
  /** The sizes that show the growth: 1, 2, 4 and 8 times the first. */
  readonly growing: readonly number[]
  /** The sizes that the peer does in seconds. */
  readonly quickForPeer: readonly number[]
  /** Those that it does in minutes, or not at all; done with `--full` only. */
  readonly slowForPeer: readonly number[]
  /** Of each compared size, or with `--full` of every size; of the others one. */
  readonly rounds: number
  readonly comparedSizes: readonly number[]
  plan(size: number): Plan
}

/** What a ladder came to. */
export interface LadderResult extends Pick<Ladder, 'growing' | 'sizes'> {
  readonly work: string
  readonly own: ReadonlyMap<number, Figures>
  readonly peer: ReadonlyMap<number, Figures | Unfinished>
}

/** Climbs a ladder: at each size ours first, then the peer if it takes part. */
export const climb = async (context: SectionContext, ladder: Ladder): Promise<LadderResult> => {
  const bench = makeSizeBench(context)
  const { sizes, quickForPeer, slowForPeer, comparedSizes, growing, plan } = ladder
  const own = new Map<number, Figures>()
  const peer = new Map<number, Figures | Unfinished>()
  const isForPeer = (size: number): boolean =>
    context.peerFolder !== undefined &&
    (quickForPeer.includes(size) || (context.isFull && slowForPeer.includes(size)))
  for (const size of sizes) {
    const rounds = context.isFull || comparedSizes.includes(size) ? ladder.rounds : 1
    own.set(size, await bench.own(plan(size), rounds))
    if (isForPeer(size)) peer.set(size, await bench.peer(plan(size), 1))
  }
  return { sizes, growing, own, peer, work: plan(sizes[0] ?? 0).work }
}

/** What is shown of one step of a work. */
export interface StepLines {
  readonly step: string
  title(size: number): string
  /** CPU milliseconds by size. */
  readonly goals: ReadonlyMap<number, number>
  /** More goals and facts of ours. */
  more?(size: number, figures: Figures): Pick<Row, 'facts' | 'goals'>
  /** Facts of the peer. */
  peerFacts?(figures: Figures): Row['facts']
}

/** The rows of one step: at each size ours and the peer's, measured or recorded; last, how ours grows. */
export const rowsOfStep = (result: LadderResult, lines: StepLines): Row[] => [
  ...result.sizes.flatMap(size => rowsAt(result, { lines, size })),
  growthRow(result, lines)
]

interface Place {
  readonly lines: StepLines
  readonly size: number
}

const rowsAt = (result: LadderResult, { lines, size }: Place): Row[] => {
  const figures = result.own.get(size)
  if (figures === undefined) return []
  const { step, title, goals, more } = lines
  const { stallMs, ...cost } = figures.cost(step)
  const theirs = peerOf(result, { lines, size })
  const limit = goals.get(size)
  const { facts = {}, goals: others = [] } = more?.(size, figures) ?? {}
  return [
    rowOf(title(size), cost, {
      facts: { ...factorOf(theirs, cost.cpuMs), 'stall ms': stallMs, ...facts },
      goals: [
        ...(limit === undefined ? [] : [atMost(`under ${limit} ms of CPU`, cost.cpuMs, limit)]),
        stallGoal(stallMs),
        ...others
      ]
    }),
    ...(theirs === undefined ? [] : [theirs.row])
  ]
}

/** No piece of work freezes a user interface. */
const stallGoal = (stallMs: number): Goal => atMost('no stall above 50 ms', stallMs, 50)

interface PeerFigure {
  readonly row: Row
  /** Undefined where it is not known; Infinity where it was stopped. */
  readonly cpuMs: number | undefined
  readonly isRecorded: boolean
}

const peerOf = (result: LadderResult, { lines, size }: Place): PeerFigure | undefined => {
  const { step, title, peerFacts } = lines
  const name = `${title(size)}, ${PEER}`
  const figures = result.peer.get(size)
  if (figures !== undefined && !(figures instanceof Unfinished)) {
    const { stallMs, ...cost } = figures.cost(step)
    const facts = { 'stall ms': stallMs, ...peerFacts?.(figures) }
    return { row: rowOf(name, cost, { facts }), cpuMs: cost.cpuMs, isRecorded: false }
  }
  const here = figures === undefined ? {} : { here: figures.reason }
  const cpuMs = RECORDED.get(`${result.work} ${step}`)?.get(size)
  if (cpuMs === undefined && figures === undefined) return undefined
  const isDone = cpuMs !== undefined && Number.isFinite(cpuMs)
  const recorded = isDone || cpuMs === undefined ? {} : { recorded: 'not finished in 400 s' }
  const facts = { ...here, ...recorded }
  return {
    row: {
      name: cpuMs === undefined ? name : `${name}, recorded`,
      ...compact({ cpuMs: isDone ? cpuMs : undefined }),
      facts
    },
    cpuMs,
    isRecorded: true
  }
}

const factorOf = (peer: PeerFigure | undefined, cpuMs: number): Row['facts'] => {
  if (peer?.cpuMs === undefined || !Number.isFinite(peer.cpuMs)) return {}
  return { [peer.isRecorded ? 'peer’s recorded ÷ ours' : 'peer ÷ ours']: peer.cpuMs / cpuMs }
}

const MAX_EXPONENT = 1.1

const growthRow = (result: LadderResult, { step, title }: StepLines): Row => {
  const { growing, own } = result
  const points = growing.map(size => [size, own.get(size)?.cost(step).cpuMs ?? Number.NaN] as const)
  const exponent = growthExponent(points)
  return {
    name: `growth from ${title(growing[0] ?? 0)} on`,
    facts: Object.fromEntries(points.map(([size, cpuMs]) => [`${size.toLocaleString('en')}, ms`, cpuMs])),
    goals: [atMost('an exponent of at most 1.1', exponent, MAX_EXPONENT)]
  }
}
