import test from 'ava'
import fc from 'fast-check'
import { EditHistory } from '../helpers/edit-history.ts'
import { syncKey } from '../helpers/repo-device.ts'
import { SyncNetwork } from '../helpers/sync-network.ts'
import { makeSyncTally, runSyncPlan, syncWhole } from '../helpers/sync-run.ts'
import { anySyncPlan } from '../helpers/sync-steps.ts'
import { openSyncedDevice } from '../helpers/synced-device.ts'

const numRuns = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 200)
const seed = Number(process.env.HOLDFAST_PROPERTY_SEED ?? 20_260_101)

test('whatever three devices edit and whatever becomes of their requests and disks, their repos end equal and no edit is gone', async t => {
  t.timeout(60_000 + numRuns * 500)
  const tally = makeSyncTally()
  await fc.assert(
    fc.asyncProperty(anySyncPlan, plan => runSyncPlan(plan, tally)),
    { numRuns, seed, includeErrorInReport: true }
  )
  t.log(`${tally.stories} stories, ${tally.edits} edits`)
  t.log(`troubles: ${[...tally.troubles].map(([what, count]) => `${count} ${what}`).join(', ')}`)
  t.log(`gone, and nobody could have kept them: ${JSON.stringify(tally.losses)}`)
  for (const trouble of TROUBLES) t.true((tally.troubles.get(trouble) ?? 0) > 0, trouble)
})

/** Without any of these the stories would have shown less than they say. */
const TROUBLES = [
  ...['lost', 'refused', 'twice', 'forgotten', 'reply lost', 'reply cut', 'reply old', 'server replaced'],
  ...['disk lost', 'disk torn', 'disk empty', 'disk gone', 'disk late', 'disk full', 'disk torn at opening'],
  ...['overwritten: raced', 'overwritten: deployed client']
]

test('of a hundred files that are edited while their upload is under way, none loses the edit', async t => {
  const history = new EditHistory()
  const network = new SyncNetwork(history, Buffer.from(syncKey).toString('hex'))
  const device = await openSyncedDevice('A', network, history)
  const other = await openSyncedDevice('B', network, history)
  for (let number = 0; number < 100; number += 1) {
    const path = `${number}.json`
    await device.edit({ path, fields: { x: `first ${number}` } })
    await device.beginSync()
    // The read goes and comes back, then the upload goes: the edit falls before, between or after.
    for (let moves = number % 4; moves > 0; moves -= 1) await device.move('served')
    await device.edit({ path, fields: { x: `second ${number}` } })
    await syncWhole(device)
    await syncWhole(device)
  }
  await syncWhole(other)
  for (const files of [await device.files(), await other.files()]) {
    t.is(files.size, 100)
    for (const [path, text] of files) t.is(JSON.parse(text).x, `second ${Number.parseInt(path, 10)}`)
  }
})
