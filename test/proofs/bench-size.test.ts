import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { doJob } from '../../bench/size/do-job.ts'
import { type Fixture, makeFixture } from '../../bench/size/fixture.ts'
import type { JobResult, WorkName } from '../../bench/size/job.ts'
import { type KnownDevice, makeKnownDevice } from '../../bench/size/known-device.ts'
import { startWorldChild } from '../../bench/world-child.ts'

// Every work of the bench at a size at which it takes no time: what it finds right here, it finds right at any size.

let root: string
let full: Fixture
let knownFull: KnownDevice
let empty: Fixture
let knownEmpty: KnownDevice

test.before(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  full = await makeFixture(join(root, 'full'), { walletCount: 3, transactionCount: 240 })
  knownFull = await makeKnownDevice(join(root, 'full'), full)
  empty = await makeFixture(join(root, 'empty'), { walletCount: 1, transactionCount: 0 })
  knownEmpty = await makeKnownDevice(join(root, 'empty'), empty)
})
test.after.always(() => rm(root, { recursive: true, force: true }))

const onFull = async (work: WorkName): Promise<JobResult> => {
  const folder = join(root, work)
  await cp(knownFull.folder, folder, { recursive: true })
  const { user } = full
  const world = { saved: knownFull.world }
  const place = { side: 'own', user, folder, world, chainCount: user.transactionCount } as const
  return doJob({ work, place, newCount: 0, idleMs: 0, isLast: true })
}

for (const [work, names] of [
  ['startup', ['usable']],
  ['first-view', ['view']],
  ['list', ['page', 'all']],
  ['search', ['cold', 'warm', 'one', 'first']],
  ['change', ['sync', 'edit', 'arrive']]
] as const) {
  test(`the benchmark ${work} returns its expected steps`, async t => {
    const { steps } = await onFull(work)
    t.deepEqual(Object.keys(steps), names)
    for (const { cpuMs, wallMs, stallMs } of Object.values(steps)) {
      t.true(cpuMs > 0 && wallMs > 0 && stallMs >= 0)
    }
  })
}

for (const [work, name] of [
  ['discover', 'durable'],
  ['upload', 'uploaded']
] as const) {
  test(`the benchmark ${work} finds every new transaction`, async t => {
    const folder = join(root, work)
    await cp(knownEmpty.folder, folder, { recursive: true })
    const apart = await startWorldChild({ saved: knownEmpty.world })
    t.teardown(() => apart.close())
    const world = { servers: apart.servers }
    const place = { side: 'own', user: empty.user, folder, world, chainCount: 0 } as const
    const { steps } = await doJob({ work, place, newCount: 150, idleMs: 0, isLast: true })
    t.deepEqual(Object.keys(steps), [name])
  })
}

test('the bench finds every file on a new device', async t => {
  const apart = await startWorldChild({ user: full.dump })
  t.teardown(() => apart.close())
  const world = { servers: apart.servers }
  const place = { side: 'own', user: full.user, folder: join(root, 'new'), world, chainCount: 0 } as const
  const { steps } = await doJob({ work: 'new-device', place, newCount: 0, idleMs: 0, isLast: true })
  t.deepEqual(Object.keys(steps), ['fetched'])
})
