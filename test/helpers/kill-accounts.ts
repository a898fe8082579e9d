import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Expected } from './cut-facts.ts'
import { CUT_STORIES, type CutHome, type CutStory, makeCutHome } from './cut-stories.ts'
import type { Death } from './deadly-storage.ts'
import { drawSteps } from './drawn-runs.ts'
import type { KillOptions } from './kill-spends.ts'
import type { AccountOrder } from './killed-account.ts'
import { fillMedium, kindOf, readMedium } from './media.ts'
import { type CutTally, makeCutTally, type Remains, recover } from './power-cuts.ts'
import { runToDeath } from './run-to-death.ts'

const io = makeNodeIo()
const PROGRAM = fileURLToPath(new URL('./killed-account.js', import.meta.url))

/** Enough to see that a real medium behaves as those of test/proofs/power-cuts.test.ts do. */
export const KILLED_STORIES: readonly CutStory[] = CUT_STORIES.filter(({ name }) =>
  /^(?:a wallet is made|metadata|settings)/.test(name)
)

/** Kills a process in which a story goes on, at one operation of its medium after the other, and opens the account again. */
export const killAccounts = async (
  t: ExecutionContext,
  story: CutStory,
  options: KillOptions
): Promise<CutTally> => {
  const home = await makeCutHome({ medium: kindOf(options) })
  const tally = makeCutTally()
  for (const moment of options.moments) {
    const { first, step } = drawSteps(t, options.part)
    for (let killAt = first; ; killAt += step) {
      const { wasKilled, promises, ...remains } = await killIn(home, options, {
        killAt,
        moment,
        story: story.name
      })
      const book = home.book.copy()
      for (const expected of promises) book.expect(expected)
      const lose = (what: string): void => void tally.losses.push(`killed ${moment} ${killAt}: ${what}`)
      await recover(remains, { book, tally, lose })
      if (!wasKilled) break
      tally.points += 1
    }
  }
  return tally
}

interface Killed extends Remains {
  readonly wasKilled: boolean
  readonly promises: readonly Expected[]
}

const killIn = async (
  { start, savings, spare, book }: CutHome,
  { makeMedium, kind }: KillOptions,
  order: Death & { readonly story: string }
): Promise<Killed> => {
  const medium = await makeMedium()
  await fillMedium(medium, start.files)
  const world = makeFakeWorld({ io, saved: start.world })
  const { authServer, infoServers, syncServers, close } = await serveFakeWorld(world)
  const servers = { authServer, infoServers, syncServers }
  const full: AccountOrder = { ...order, ...servers, medium, savings, spare, promises: book.promises }
  const { signal, lines: promises } = await runToDeath<Expected>(PROGRAM, full).finally(close)
  return {
    ...{ world: world.toJson(), files: await readMedium(medium), medium: kindOf({ kind }) },
    ...{ wasKilled: signal === 'SIGKILL', promises }
  }
}
