import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Store } from '../../kernel/io/store.ts'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { openDevice } from '../helpers/device.ts'
import { drawSeed, runCount } from '../helpers/drawn-runs.ts'
import { bytesOfLetters } from '../helpers/fault-store.ts'
import { surviveFull } from '../helpers/full-media.ts'
import { historyRounds, playHistory } from '../helpers/history-run.ts'
import { type KillPlace, killSpends } from '../helpers/kill-spends.ts'
import { storageOn } from '../helpers/media.ts'
import { receiveNotePay, type SpenderStep } from '../helpers/spender-story.ts'
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
    const limit = async (quotaSize: number): Promise<void> =>
      void (await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize }))
    // The browser looks at a smaller quota only when what it knew to be free is used up.
    await limit(1_500_000)
    await surviveFull(t, {
      open: async () => storageOn('store', async () => storeDisk(await openPageStore(tab, 'wallets'))),
      fill: () => limit(1),
      free: async () => void (await session.send('Storage.overrideQuotaForOrigin', { origin })),
      code: 'STORAGE_FULL'
    })
  }
)

/** A place in the databases of a browser whose tab is closed while a wallet uses it. */
const tabKillPlace = (profile: BrowserContext, name: string): KillPlace => {
  const openNewTab = async (): Promise<{ readonly tab: Page; readonly store: Store }> => {
    const tab = await profile.newPage()
    await tab.goto((await (site as Promise<ServedFolder>)).url)
    return { tab, store: await openPageStore(tab, name) }
  }
  return {
    async fill(contents) {
      const { tab, store } = await openNewTab()
      await store.batch(
        [...contents].map(([key, value]) => ({ key: bytesOfLetters(key), value: bytesOfLetters(value) }))
      )
      await tab.close()
    },
    storage: async () => storageOn('store', async () => storeDisk((await openNewTab()).store)),
    async run(world, { killAt, moment, ...task }) {
      const { tab, store } = await openNewTab()
      let operations = 0
      let isArmed = false
      let wasKilled = false
      let die = (): void => {}
      const death = new Promise<'dead'>(resolve => {
        die = () => resolve('dead')
      })
      // Whoever asks a closed tab gets no answer.
      const alive = async <T>(answer: Promise<T>): Promise<T> => {
        const first = await Promise.race([answer, death])
        return first === 'dead' ? tabIsGone() : first
      }
      const mortal: Store = {
        getMany: keys => alive(store.getMany(keys)),
        keys: range => alive(store.keys(range)),
        close: () => store.close(),
        async batch(changes) {
          if (isArmed) operations += 1
          if (!isArmed || operations !== killAt) return alive(store.batch(changes))
          wasKilled = true
          const done = moment === 'before' ? undefined : store.batch(changes).catch(() => {})
          if (moment === 'after') await done
          die()
          return tabIsGone()
        }
      }
      const kernel = await openDevice(world, {
        storage: storageOn('store', async () => storeDisk(mortal)),
        onError: () => {}
      })
      const steps: SpenderStep[] = []
      const begin = (): void => {
        isArmed = true
      }
      const say = (step: SpenderStep): void => void steps.push(step)
      await Promise.race([receiveNotePay(kernel.context, task, { begin, say }), death])
      isArmed = false
      // The story may end while the batch after which the tab is closed is on its way.
      if (wasKilled) await death
      else await kernel.close()
      await tab.close()
      return { wasKilled, steps }
    }
  }
}

const tabIsGone = (): Promise<never> => new Promise(() => {})

browserTest(
  'a wallet in IndexedDB whose tab is closed at any batch while it receives, notes, pays and syncs forgets nothing and pays once',
  async (t, browser) => {
    t.timeout(600_000)
    const { profile } = await openTab(t, browser)
    let count = 0
    const { operations, kills, paid } = await killSpends(t, {
      name: 'IndexedDB',
      contents: 'store',
      moments: ['before', 'during', 'after'],
      part: 6,
      async makePlace() {
        count += 1
        return tabKillPlace(profile, `killed ${count}`)
      }
    })
    t.log(`${kills} closed tabs at ${operations} batches, after which the payment had happened in ${paid}`)
    t.true(operations > 5)
  }
)
