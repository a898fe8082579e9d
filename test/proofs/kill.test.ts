import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { type KillOptions, killSpends, mediumKills } from '../helpers/kill-spends.ts'
import type { Medium } from '../helpers/media.ts'

test('a wallet in a folder that is killed at any write while it receives, notes, pays and syncs leaves no torn file, forgets nothing and pays once', async t => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  const check = (medium: Medium, name: string): void => {
    if (medium.kind !== 'file') return
    const paths = readdirSync(medium.folder, { recursive: true }).map(String)
    t.deepEqual(
      paths.filter(path => path.includes('.tmp')),
      [],
      name
    )
    const quarantine = join(medium.folder, 'quarantine')
    t.deepEqual(existsSync(quarantine) ? readdirSync(quarantine) : [], [], name)
  }
  const folders: KillOptions = {
    kind: 'file',
    makeMedium: async () => ({ kind: 'file', folder: mkdtempSync(join(home, 'a-')) }),
    moments: ['before', 'during'],
    part: 4
  }
  const { operations, kills, paid } = await killSpends(t, mediumKills(folders, check))
  t.log(`${kills} kills at ${operations} operations, after which the payment had happened in ${paid}`)
  t.true(operations > 8, 'a spend writes its intent, bytes, send, coins, file and end')
  t.true(paid > 0 && paid < kills)
})
