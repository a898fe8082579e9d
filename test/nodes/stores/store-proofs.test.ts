import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { drawPart, drawSeed, runCount } from '../../helpers/drawn-runs.ts'
import { surviveFull } from '../../helpers/full-media.ts'
import { historyRounds, playHistory } from '../../helpers/history-run.ts'
import { KILLED_STORIES, killAccounts } from '../../helpers/kill-accounts.ts'
import { type KillOptions, killSpends, mediumKills } from '../../helpers/kill-spends.ts'
import { loadPostgres, mediumStorage, sqliteUrl } from '../../helpers/media.ts'
import { mountSmallFolder } from '../../helpers/small-folder.ts'
import { runStoreStory, storeStories } from '../../helpers/store-run.ts'
import { mediumPlace } from '../../helpers/story-place.ts'
import { limitRedis } from './servers.ts'
import { ADDED_KINDS, makeTestMedia, missingKind } from './test-media.ts'

const media = makeTestMedia(test)

for (const kind of ADDED_KINDS) {
  if (missingKind(kind) !== undefined) continue

  test.serial(
    `a wallet in ${kind} that is killed at any batch while it receives, notes, pays and syncs forgets nothing and pays once`,
    async t => {
      t.timeout(600_000)
      const options: KillOptions = {
        kind,
        makeMedium: () => media.make(kind),
        moments: ['before', 'during', 'after'],
        part: 8
      }
      const { operations, kills, paid } = await killSpends(t, mediumKills(options))
      t.log(`${kills} kills at ${operations} operations, after which the payment had happened in ${paid}`)
      t.true(operations > 5)
    }
  )

  test.serial(
    `an account in ${kind} that is killed at any batch while it is changed opens, and nothing promised is gone`,
    async t => {
      t.timeout(600_000)
      for (const story of drawPart(t, KILLED_STORIES, KILLED_STORIES.length)) {
        const { points, looks, losses } = await killAccounts(t, story, {
          kind,
          makeMedium: () => media.make(kind),
          moments: ['before', 'during', 'after'],
          part: 8
        })
        t.log(`${story.name}: ${points} kills, ${looks} values looked at`)
        t.deepEqual(losses, [])
        t.true(points > 0)
      }
    }
  )

  test.serial(
    `in ${kind} any order of writes, reads, failures and crashes agrees with a plain list of the writes`,
    async t => {
      t.timeout(600_000)
      const story = fc.asyncProperty(storeStories, fc.integer({ min: 1, max: 1e9 }), async (steps, seed) =>
        runStoreStory(steps, seed, mediumPlace(await media.make(kind)))
      )
      await fc.assert(story, { numRuns: runCount(300), seed: drawSeed(t) })
      t.pass()
    }
  )

  test.serial(
    `in ${kind} every list, page, search and stream of a history shows the last reports with the present files after any events`,
    async t => {
      t.timeout(600_000)
      const rounds = fc.array(historyRounds, { minLength: 1, maxLength: 10 })
      const history = fc.asyncProperty(rounds, async some =>
        playHistory(mediumPlace(await media.make(kind)), some)
      )
      await fc.assert(history, { numRuns: runCount(300), seed: drawSeed(t) })
      t.pass()
    }
  )
}

test.serial(
  'a wallet whose LevelDB is on a full file system shows what arrives, and saves it when it is opened again',
  async t => {
    const folder = mountSmallFolder(t)
    if (folder === undefined) return t.pass()
    await surviveFull(t, {
      open: async () => mediumStorage({ kind: 'level', folder: join(folder.path, 'store') }),
      fill: async () => folder.fill(),
      free: async () => folder.free(),
      code: 'STORAGE_FAILED'
    })
  }
)

if (missingKind('postgres') === undefined)
  test.serial(
    'a wallet whose PostgreSQL has no room shows what arrives, and saves it once there is some',
    async t => {
      const medium = await media.make('postgres')
      const run = async (sql: string): Promise<void> => {
        const { Client } = await loadPostgres()
        const client = new Client({ connectionString: await media.url('postgres') } as never)
        await client.connect()
        await client.query(sql)
        await client.end()
      }
      await surviveFull(t, {
        open: async () => mediumStorage(medium),
        // What the server answers when a table cannot be extended.
        fill: () =>
          run(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$;
          CREATE OR REPLACE TRIGGER refusing BEFORE INSERT OR UPDATE ON holdfast EXECUTE FUNCTION refuse()`),
        free: () => run('DROP TRIGGER refusing ON holdfast'),
        code: 'STORAGE_FULL'
      })
    }
  )

if (missingKind('redis') === undefined)
  test.serial(
    'a wallet whose Redis has no memory left shows what arrives, and saves it once there is some',
    async t => {
      const medium = await media.make('redis')
      const url = await media.url('redis')
      await surviveFull(t, {
        open: async () => mediumStorage(medium),
        fill: () => limitRedis(url, 1),
        free: () => limitRedis(url, 0),
        code: 'STORAGE_FULL'
      })
    }
  )

if (missingKind('sqlite') === undefined)
  test.serial(
    'a wallet whose SQLite is on a full file system shows what arrives, and saves it once there is room',
    async t => {
      const folder = mountSmallFolder(t)
      if (folder === undefined) return t.pass()
      const url = sqliteUrl(join(folder.path, 'wallets.db'))
      await surviveFull(t, {
        open: async () => mediumStorage({ kind: 'sqlite', url, name: 'a' }),
        fill: async () => folder.fill(),
        free: async () => folder.free(),
        code: 'STORAGE_FULL'
      })
    }
  )
