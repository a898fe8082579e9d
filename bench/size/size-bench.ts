import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DeviceServers } from '../bench-device.ts'
import { median, medianCost } from '../measure.ts'
import { makeQuiet } from '../quiet.ts'
import type { SectionContext } from '../section.ts'
import type { StallCost } from '../stall.ts'
import { startWorldChild, type WorldChild } from '../world-child.ts'
import type { WorldContent } from '../world-messages.ts'
import { type Fixture, type FixtureSize, makeFixture } from './fixture.ts'
import type { JobResult, WorkName } from './job.ts'
import { type KnownDevice, makeKnownDevice } from './known-device.ts'
import { runJob, Unfinished } from './run-job.ts'

/** One work to be measured at one size. */
export interface Plan extends FixtureSize {
  readonly work: WorkName
  readonly newCount?: number
  readonly idleMs?: number
  /** The device has never seen the account. */
  readonly isNewDevice?: boolean
  /** Our servers are in another process, so that their work and memory are not counted as ours. */
  readonly isWorldApart?: boolean
  /** The peer has our fake server in another process, and a real folder: its own fake world cannot do the work. */
  readonly isPeerApart?: boolean
}

/** The medians of some rounds. */
export interface Figures {
  cost(step: string): StallCost
  fact(name: string): number
}

/** Does works in processes of their own, with accounts that are made once for a run of the bench. */
export interface SizeBench {
  /** Makes the account and the device of a plan, so that several works can begin at the same time. */
  prepare(plan: Plan): Promise<void>
  own(plan: Plan, rounds: number): Promise<Figures>
  /** Only for a run that has the peer. */
  peer(plan: Plan, rounds: number): Promise<Figures | Unfinished>
}

/** How long the peer may take for one work. */
const PEER_LIMIT_MS = 120_000

/** Makes what the sections of sizes share. */
export const makeSizeBench = ({ folder, profileFolder, peerFolder = '' }: SectionContext): SizeBench => {
  const quiet = makeQuiet(PATIENCE_MS)
  const rounds = async (count: number, run: (isLast: boolean) => Ended) => {
    const results: JobResult[] = []
    for (let round = 0; round < count; round++) {
      await quiet()
      const result = await run(round === count - 1)
      if (result instanceof Unfinished) return result
      results.push(result)
    }
    return figuresOf(results)
  }
  const prepare = async (plan: Plan): Promise<Prepared> => {
    const fixture = await fixtureOf(folder, plan)
    return {
      fixture,
      known: plan.isNewDevice === true ? undefined : await knownDeviceOf(folder, plan, fixture)
    }
  }
  return {
    prepare: async plan => void (await prepare(plan)),
    async own(plan, count) {
      const { fixture, known } = await prepare(plan)
      const figures = await rounds(count, isLast =>
        runOwn({ folder, plan, fixture, known, profileFolder, isLast })
      )
      if (figures instanceof Unfinished) throw new Error(`${plan.work} of ours: ${figures.reason}`)
      return figures
    },
    async peer(plan, count) {
      const fixture = await fixtureOf(folder, plan)
      return rounds(count, isLast => runPeer({ folder, plan, fixture, isLast }, peerFolder))
    }
  }
}

const PATIENCE_MS = 10_000
const OWN_LIMIT_MS = 300_000

const nameOf = ({ walletCount, transactionCount }: FixtureSize): string =>
  `${walletCount} wallets, ${transactionCount} transactions`

const fixtureOf = (folder: string, { walletCount, transactionCount }: FixtureSize): Promise<Fixture> => {
  const size = { walletCount, transactionCount }
  const place = join(folder, nameOf(size))
  return once(join(place, 'fixture.json'), () => makeFixture(place, size))
}

const knownDeviceOf = (folder: string, size: FixtureSize, fixture: Fixture): Promise<KnownDevice> => {
  const place = join(folder, nameOf(size))
  return once(join(place, 'known-device.json'), () => makeKnownDevice(place, fixture))
}

/** Makes something unless an earlier section of the run has made it. */
const once = async <T>(path: string, make: () => Promise<T>): Promise<T> => {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined) return JSON.parse(text) as T
  const made = await make()
  await writeFile(path, JSON.stringify(made))
  return made
}

interface Prepared {
  readonly fixture: Fixture
  readonly known: KnownDevice | undefined
}

interface Run extends Pick<SectionContext, 'folder' | 'profileFolder'>, Prepared {
  readonly plan: Plan
  readonly isLast: boolean
}

type Ended = Promise<JobResult | Unfinished>

const runOwn = ({ folder, plan, fixture, known, profileFolder, isLast }: Run): Ended =>
  withRoom(folder, async room => {
    const { work, newCount = 0, idleMs = 0, isWorldApart = false } = plan
    if (known !== undefined) await cp(known.folder, room.device, { recursive: true })
    const content = known === undefined ? { user: fixture.dump } : { saved: known.world }
    const world = isWorldApart ? { servers: await room.serve(content) } : { saved: known?.world ?? '' }
    const chainCount = known === undefined ? 0 : plan.transactionCount
    const place = { side: 'own', user: fixture.user, folder: room.device, world, chainCount } as const
    const profile = profileFolder === undefined ? {} : { profileFolder }
    return runJob({ work, place, newCount, idleMs, isLast, ...profile }, OWN_LIMIT_MS)
  })

const runPeer = ({ folder, plan, fixture, isLast }: Omit<Run, 'known'>, peerFolder: string): Ended =>
  withRoom(folder, async room => {
    const { work, newCount = 0, idleMs = 0, isNewDevice: isNew = false, isPeerApart = false } = plan
    const { user, dump } = fixture
    const [server = ''] = isPeerApart ? (await room.serve({ user: dump })).infoServers : []
    const apart = isPeerApart ? { apart: { server, folder: room.device } } : {}
    const chainCount = isNew ? 0 : plan.transactionCount
    const place = { side: 'peer', peerFolder, user, dump, isNew, chainCount, ...apart } as const
    return runJob({ work, place, newCount, idleMs, isLast }, PEER_LIMIT_MS)
  })

/** What one run has to itself. */
interface Room {
  readonly device: string
  /** Starts servers in another process. */
  serve(content: WorldContent): Promise<DeviceServers>
}

const withRoom = async <T>(folder: string, run: (room: Room) => Promise<T>): Promise<T> => {
  const root = join(folder, `run ${process.pid} ${++runCount}`)
  const device = join(root, 'device')
  await mkdir(device, { recursive: true })
  const children: WorldChild[] = []
  const serve = async (content: WorldContent): Promise<DeviceServers> => {
    const child = await startWorldChild(content)
    children.push(child)
    return child.servers
  }
  try {
    return await run({ device, serve })
  } finally {
    for (const child of children) await child.close()
    await rm(root, { recursive: true, force: true })
  }
}

let runCount = 0

const figuresOf = (results: readonly JobResult[]): Figures => ({
  cost(step) {
    const costs = results.map(({ steps }) => steps[step]).filter(cost => cost !== undefined)
    return { ...medianCost(costs), stallMs: median(costs.map(({ stallMs }) => stallMs)) }
  },
  fact: name => median(results.map(({ facts }) => facts[name]).filter(fact => fact !== undefined))
})
