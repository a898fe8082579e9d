import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { drawSeed, runCount } from '../helpers/drawn-runs.ts'
import { surviveFull } from '../helpers/full-media.ts'
import { historyRounds, playHistory } from '../helpers/history-run.ts'
import { storageOn } from '../helpers/media.ts'
import { runStoreStory, storeStories } from '../helpers/store-run.ts'
import type { StoryPlace } from '../helpers/story-place.ts'
import { withChromium } from './helpers/chromium.ts'
import { openPageStore } from './helpers/page-disk.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'

const browserTest = withChromium(test, { isSerial: true })
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

/** A tab of a browser profile of its own. */
const openTab = async (
  t: ExecutionContext,
  browser: Browser
): Promise<{ readonly profile: BrowserContext; readonly tab: Page }> => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  site ??= serveTestPage('parts-page')
  const tab = await profile.newPage()
  await tab.goto((await site).url)
  return { profile, tab }
}

/** Empty databases of a tab, one after another, whose crash is a reload. */
const makePlaces = (tab: Page): (() => StoryPlace) => {
  let count = 0
  return () => {
    count += 1
    const name = `story ${count}`
    return {
      open: async () => storeDisk(await openPageStore(tab, name)),
      crash: async () => void (await tab.reload())
    }
  }
}

browserTest(
  'in IndexedDB any order of writes, reads, failures and reloads agrees with a plain list of the writes',
  async (t, browser) => {
    t.timeout(600_000)
    const { tab } = await openTab(t, browser)
    const makePlace = makePlaces(tab)
    const story = fc.asyncProperty(storeStories, fc.integer({ min: 1, max: 1e9 }), (steps, seed) =>
      runStoreStory(steps, seed, makePlace())
    )
    await fc.assert(story, { numRuns: runCount(200), seed: drawSeed(t) })
    t.pass()
  }
)

browserTest(
  'in IndexedDB every list, page, search and stream of a history shows the last reports with the present files after any events',
  async (t, browser) => {
    t.timeout(600_000)
    const { tab } = await openTab(t, browser)
    const makePlace = makePlaces(tab)
    const rounds = fc.array(historyRounds, { minLength: 1, maxLength: 10 })
    const history = fc.asyncProperty(rounds, some => playHistory(makePlace(), some))
    await fc.assert(history, { numRuns: runCount(200), seed: drawSeed(t) })
    t.pass()
  }
)

browserTest(
  'a wallet in a browser without room shows what arrives, and saves it once there is some',
  async (t, browser) => {
    const { profile, tab } = await openTab(t, browser)
    const session = await profile.newCDPSession(tab)
    const { origin } = new URL(tab.url())
    // The browser looks at a smaller quota only when what it knew to be free is used up.
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_500_000 })
    await surviveFull(t, {
      open: async () => storageOn('store', async () => storeDisk(await openPageStore(tab, 'wallets'))),
      fill: async () => {},
      free: async () => void (await session.send('Storage.overrideQuotaForOrigin', { origin })),
      code: 'STORAGE_FULL'
    })
  }
)
