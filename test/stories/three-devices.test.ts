import test from 'ava'
import { EditHistory } from '../helpers/edit-history.ts'
import { syncKey } from '../helpers/repo-device.ts'
import { SyncNetwork } from '../helpers/sync-network.ts'
import { syncWhole } from '../helpers/sync-run.ts'
import { openSyncedDevice } from '../helpers/synced-device.ts'

test('of a hundred files that are edited during their upload, none loses the edit', async t => {
  const history = new EditHistory()
  const network = new SyncNetwork(history, Buffer.from(syncKey).toString('hex'))
  const device = await openSyncedDevice('A', { network, history })
  const other = await openSyncedDevice('B', { network, history })
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
