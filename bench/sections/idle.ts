import { PEER } from '../peer-package.ts'
import { atMost, type Row, type Section } from '../section.ts'
import { Unfinished } from '../size/run-job.ts'
import { type Figures, makeSizeBench, type Plan } from '../size/size-bench.ts'
import { SIDES_NOTE } from '../size/sizes.ts'

/** Accounts of many wallets that do nothing but sync. */
export const idle: Section = async context => {
  const bench = makeSizeBench(context)
  const peerPlan = context.isFull ? PLAN : { ...PLAN, walletCount: 50 }
  await bench.prepare(PLAN)
  await bench.prepare(peerPlan)
  // They hardly do anything, so they may do it at the same time.
  const [inside, apart, peer] = await Promise.all([
    bench.own(PLAN, 1),
    bench.own({ ...PLAN, isWorldApart: true }, 1),
    context.peerFolder === undefined ? undefined : bench.peer(peerPlan, 1)
  ])
  const theirs = peer instanceof Unfinished ? undefined : peer
  return {
    rows: [
      row(`${PLAN.walletCount} wallets, servers inside`, inside, [
        atMost('at most 0.1 % of a core', shareOf(inside), 0.1)
      ]),
      row(`${PLAN.walletCount} wallets, over HTTP`, apart, [
        atMost('at most 1.2 times the bare fetches', apart.fact('idleCpuMs') / apart.fact('bareCpuMs'), 1.2)
      ]),
      {
        name: 'the same requests, bare',
        cpuMs: apart.fact('bareCpuMs'),
        facts: { requests: apart.fact('requestCount') }
      },
      ...(theirs === undefined ? [] : [row(`${peerPlan.walletCount} wallets, ${PEER}`, theirs, [])]),
      { name: `200 wallets, ${PEER}, recorded`, facts: { '% of a core': 8 } }
    ],
    notes: [
      'The cost of 34 seconds in which every repo is synced once, after all start-up work has ended. Bare: the same ' +
        'requests in the same process at the same intervals, without a wallet. The servers of the first line are in ' +
        'the process and counted.',
      SIDES_NOTE
    ]
  }
}

/** A sync period of 30 s, with what chance may add to it. */
const IDLE_MS = 34_000

const PLAN: Plan = { work: 'startup', walletCount: 200, transactionCount: 0, idleMs: IDLE_MS }

const shareOf = (figures: Figures): number => (100 * figures.fact('idleCpuMs')) / figures.fact('idleWallMs')

const row = (name: string, figures: Figures, goals: Row['goals'] = []): Row => ({
  name,
  cpuMs: figures.fact('idleCpuMs'),
  wallMs: figures.fact('idleWallMs'),
  facts: { '% of a core': shareOf(figures) },
  goals
})
