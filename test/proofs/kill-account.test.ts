import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Expected } from '../helpers/cut-facts.ts'
import { CUT_STORIES, type CutHome, type CutStory, makeCutHome } from '../helpers/cut-stories.ts'
import type { Death } from '../helpers/deadly-storage.ts'
import { drawSteps } from '../helpers/drawn-runs.ts'
import type { AccountOrder } from '../helpers/killed-account.ts'
import { fillMedium, type Medium, readMedium } from '../helpers/media.ts'
import { makeCutTally, type Remains, recover } from '../helpers/power-cuts.ts'

const io = makeNodeIo()
const PROGRAM = fileURLToPath(new URL('../helpers/killed-account.js', import.meta.url))

const run = (order: AccountOrder): Promise<{ signal: NodeJS.Signals | null; promises: Expected[] }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code !== null && code !== 0) reject(new Error(`${order.story}: the process ended with ${code}`))
      // A line that was cut off was heard by nobody.
      const lines = output.split('\n').slice(0, -1)
      resolve({ signal, promises: lines.map(line => JSON.parse(line) as Expected) })
    })
  })

interface Killed extends Remains {
  readonly wasKilled: boolean
  readonly promises: readonly Expected[]
}

const killIn = async (
  t: ExecutionContext,
  home: CutHome,
  order: Death & { story: string }
): Promise<Killed> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const medium: Medium = { kind: 'file', folder }
  await fillMedium(medium, home.start.files)
  const world = makeFakeWorld({ io, saved: home.start.world })
  const { authServer, infoServers, syncServers, close } = await serveFakeWorld(world)
  const { savings, spare, book } = home
  const servers = { authServer, infoServers, syncServers }
  const ran = run({
    ...order,
    ...servers,
    medium,
    savings,
    spare,
    promises: book.promises
  })
  const { signal, promises } = await ran.finally(close)
  const files = new Map(await readMedium(medium))
  return { world: world.toJson(), files, wasKilled: signal === 'SIGKILL', promises }
}

/** Enough to see that a real folder behaves as the disk of test/proofs/power-cuts.test.ts does. */
const STORIES = CUT_STORIES.filter(({ name }) => /^(?:a wallet is made|metadata|settings)/.test(name))

for (const story of STORIES) {
  test.serial(
    `wherever the process is killed while ${story.name}, the account opens and nothing promised is gone`,
    async t => {
      t.timeout(600_000)
      const home = await makeCutHome()
      const tally = makeCutTally()
      for (const moment of ['before', 'during'] as const)
        tally.points += await killAll(t, { home, story, moment, tally })
      t.log(`${tally.points} kills, ${tally.looks} values looked at, ${tally.losses.length} losses`)
      t.deepEqual(tally.losses, [])
      t.true(tally.points > 0)
    }
  )
}

interface Kills {
  readonly home: CutHome
  readonly story: CutStory
  readonly moment: Death['moment']
  readonly tally: ReturnType<typeof makeCutTally>
}

/** Kills at one operation after the other, or at a drawn fifth of them, until none is left to die at, and counts. */
const killAll = async (t: ExecutionContext, { home, story, moment, tally }: Kills): Promise<number> => {
  const { first, step } = drawSteps(t, 5)
  let kills = 0
  for (let killAt = first; ; killAt += step) {
    const { wasKilled, promises, ...remains } = await killIn(t, home, { killAt, moment, story: story.name })
    const book = home.book.copy()
    for (const expected of promises) book.expect(expected)
    const lose = (what: string): void => void tally.losses.push(`killed ${moment} ${killAt}: ${what}`)
    await recover(remains, { book, tally, lose })
    if (!wasKilled) return kills
    kills += 1
  }
}
