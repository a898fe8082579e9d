import test from 'ava'
import { runSchedule, SCHEDULE_KINDS, type ScheduleKind } from '../helpers/device-schedule.ts'
import { drawSeed, runCount } from '../helpers/drawn-runs.ts'
import type { MemoryKind } from '../helpers/fault-store.ts'

/** Of each kind; overlapping ones make 10,000 and more together. */
const WHOLE = { overlapping: 560, apart: 200 }

test('no acknowledged edit is lost between devices of one account, on disks or in stores of bytes, however their syncs overlap', async t => {
  t.timeout(60_000 + runCount(40 * 60_000))
  const seed = drawSeed(t)
  let overlapping = 0
  for (const kind of SCHEDULE_KINDS) {
    const runs = runCount(isOverlapping(kind) ? WHOLE.overlapping : WHOLE.apart)
    const sums = { edits: 0, fields: 0 }
    const lost: string[] = []
    for (let run = 0; run < runs; run += 1) {
      const result = await runSchedule(kind, seed + run, mediumOf(run))
      sums.edits += result.edits
      sums.fields += result.fields
      for (const text of result.lost) lost.push(`seed ${seed + run}, ${mediumOf(run)}: ${text}`)
    }
    if (isOverlapping(kind)) overlapping += runs
    t.log(
      `${kind.name}: ${runs} schedules, ${sums.edits} edits of ${sums.fields} fields, ${lost.length} lost`
    )
    t.deepEqual(lost, [], kind.name)
    t.true(sums.fields > runs, kind.name)
  }
  t.log(`${overlapping} overlapping schedules`)
  t.true(overlapping >= runCount(10_000))
})

/** Each fourth schedule has devices with a store of bytes. */
const mediumOf = (run: number): MemoryKind => (run % 4 === 3 ? 'store' : 'disk')

const isOverlapping = ({ files, syncs }: ScheduleKind): boolean => files === 'shared' && syncs !== 'in turn'
