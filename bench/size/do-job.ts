import { costBetween, median, medianCost } from '../measure.ts'
import { type StallCost, watch } from '../stall.ts'
import type { Job, JobResult, Work, WorkContext, WorkName } from './job.ts'
import { openOwnDevice } from './own-side.ts'
import { openPeerDevice } from './peer-side.ts'
import { profiled } from './profile.ts'
import type { SideDevice } from './side.ts'
import { change } from './works/change.ts'
import { discover } from './works/discover.ts'
import { firstView } from './works/first-view.ts'
import { list } from './works/list.ts'
import { newDevice } from './works/new-device.ts'
import { search } from './works/search.ts'
import { startup } from './works/startup.ts'
import { upload } from './works/upload.ts'

/** Does a job in this process; the device is closed if it can be. @throws Error if a result is wrong */
export const doJob = async (job: Job): Promise<JobResult> => {
  const { place } = job
  const device = place.side === 'own' ? await openOwnDevice(place) : await openPeerDevice(place)
  try {
    return await doOn(device, job)
  } finally {
    // What is left of the fixture is garbage to nobody but the peer, which has no end of its own.
    if (place.side === 'own') await device.close()
  }
}

const works: Readonly<Record<WorkName, Work>> = {
  startup,
  discover,
  'first-view': firstView,
  list,
  search,
  change,
  'new-device': newDevice,
  upload
}

const doOn = async (device: SideDevice, job: Job): Promise<JobResult> => {
  const { work, place, newCount, idleMs, isLast } = job
  const steps = new Map<string, StallCost[]>()
  const facts = new Map<string, number>()
  const keep = (name: string, cost: StallCost): void => {
    steps.set(name, [...(steps.get(name) ?? []), cost])
  }
  const context: WorkContext = {
    user: place.user,
    device,
    folder: place.side === 'own' ? place.folder : undefined,
    newCount,
    idleMs,
    isLast,
    async step(name, task) {
      const { value, cpuMs, wallMs, stallMs } = await seen(job, name, () => watch(task))
      keep(name, { cpuMs, wallMs, stallMs })
      return value
    },
    async stepUntil(name, task) {
      const { value, start, stallMs } = await seen(job, name, () => watch(task))
      keep(name, { ...costBetween(start, value), stallMs })
    },
    fact: (name, value) => void facts.set(name, value)
  }
  // What was made before the work began is not to be cleared away at its expense.
  globalThis.gc?.()
  await works[work](context)
  return {
    steps: Object.fromEntries([...steps].map(([name, costs]) => [name, medianOf(costs)])),
    facts: Object.fromEntries(facts)
  }
}

const seen = <T>({ work, place, profileFolder }: Job, step: string, task: () => Promise<T>): Promise<T> => {
  if (profileFolder === undefined || place.side !== 'own') return task()
  const { walletCount, transactionCount } = place.user
  const name = `${work} ${step}, ${walletCount} wallets, ${transactionCount} transactions`
  return profiled({ folder: profileFolder, name }, task)
}

const medianOf = (costs: readonly StallCost[]): StallCost => ({
  ...medianCost(costs),
  stallMs: median(costs.map(({ stallMs }) => stallMs))
})
