import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { KILLED_STORIES, killAccounts } from '../helpers/kill-accounts.ts'

for (const story of KILLED_STORIES) {
  test.serial(
    `wherever the process is killed while ${story.name}, the account opens and nothing promised is gone`,
    async t => {
      t.timeout(600_000)
      const home = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
      t.teardown(() => rmSync(home, { recursive: true, force: true }))
      const { points, looks, losses } = await killAccounts(t, story, {
        kind: 'file',
        makeMedium: async () => ({ kind: 'file', folder: mkdtempSync(join(home, 'a-')) }),
        moments: ['before', 'during'],
        part: 5
      })
      t.log(`${points} kills, ${looks} values looked at, ${losses.length} losses`)
      t.deepEqual(losses, [])
      t.true(points > 0)
    }
  )
}
