/// <reference lib="dom" />
import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions, Page, ViewportSize } from 'playwright-core'
import { bringAxe, colourFaultsOf, faultsOf } from './helpers/axe.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'
import { type Scene, scenes } from './helpers/scenes.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { shoot } from './helpers/shoot.ts'
import { serveTestPage } from './helpers/test-page.ts'

const browserTest = withChromium(test, { isSerial: true })
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

/** A page in which scenes are shown one after another. */
const openStage = async (
  t: ExecutionContext,
  browser: Browser,
  options: BrowserContextOptions
): Promise<(scene: Scene, viewport?: ViewportSize) => Promise<Page>> => {
  site ??= serveTestPage('sample-page')
  const { url } = await site
  // The examiner puts markup into the page, which the page's own policy forbids.
  const profile = await browser.newContext({ ...options, bypassCSP: true })
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  return async ({ state, place, perform }, viewport) => {
    await page.goto('about:blank')
    if (viewport !== undefined) await page.setViewportSize(viewport)
    await page.goto(`${url}/?state=${state}#/${place}`)
    await page.getByRole('tablist').waitFor()
    await perform?.(mouseOn(page), page)
    return page
  }
}

/** How many pixels of the page, or of the panel in it, lie beside the window. */
const overhangOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const root = document.documentElement
    const body = document.body.firstElementChild?.shadowRoot?.querySelector('.panel')
    return Math.max(
      root.scrollWidth - root.clientWidth,
      body === null || body === undefined ? 0 : body.scrollWidth - body.clientWidth
    )
  })

/** Tables that do not fill their room, or whose rows have names without any. */
const poorTablesOf = (page: Page): Promise<readonly (string | null)[]> =>
  page.evaluate(() => {
    const tables = document.body.firstElementChild?.shadowRoot?.querySelectorAll('.scroll > table') ?? []
    return [...tables]
      .filter(table => {
        const heads = [...table.querySelectorAll('thead th')].map(head => head.getBoundingClientRect())
        const shown = heads.filter(({ width }) => width > 0)
        const { right } = table.getBoundingClientRect()
        return (heads[0]?.width ?? 0) < 56 || Math.abs((shown.at(-1)?.right ?? 0) - right) > 2
      })
      .map(table => table.getAttribute('aria-label'))
  })

const looks = [
  ['dark', { colorScheme: 'dark' }],
  ['forced', { colorScheme: 'light', forcedColors: 'active' }]
] as const

// In parts, so that none takes minutes on a busy machine.
const plain = scenes.filter(({ perform }) => perform === undefined)
const parts = [
  ['panel and side of a profile in use', plain.filter(({ state }) => state === 'full')],
  ['panel that is empty, lost or read-only', plain.filter(({ state }) => state !== 'full')],
  ['dialog', scenes.filter(({ perform }) => perform !== undefined)]
] as const

for (const [what, shown] of parts) {
  browserTest(
    `each ${what} is free of faults of access in light, dark and forced colours`,
    async (t, browser) => {
      const show = await openStage(t, browser, {
        viewport: { width: 1120, height: 660 },
        colorScheme: 'light'
      })
      const faults: string[] = []
      for (const scene of shown) {
        const page = await show(scene)
        await shoot(page, `${scene.name}-light`)
        await bringAxe(page)
        for (const fault of await faultsOf(page)) faults.push(`${scene.name}: ${fault}`)
        for (const [look, media] of looks) {
          await page.emulateMedia(media)
          await shoot(page, `${scene.name}-${look}`)
          for (const fault of await colourFaultsOf(page)) faults.push(`${scene.name}, ${look}: ${fault}`)
        }
        await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' })
      }
      t.deepEqual(faults, [])
    }
  )
}

// 640 px is a window of 1280 px at 200 %.
const WIDTHS = [320, 640, 768, 960, 1120, 1920]

for (const [what, shown] of parts) {
  browserTest(
    `nothing of a ${what} lies beside a window of ${WIDTHS.join(', ')} px, and its tables fill it`,
    async (t, browser) => {
      const show = await openStage(t, browser, { colorScheme: 'light' })
      const wide: string[] = []
      for (const [at, scene] of shown.entries()) {
        // Each begins in a window of another width, and goes through all.
        const first = at % WIDTHS.length
        const widths = [...WIDTHS.slice(first), ...WIDTHS.slice(0, first)]
        let page: Page | undefined
        for (const width of widths) {
          const viewport = { width, height: width < 600 ? 720 : width > 1000 ? 1000 : 900 }
          page ??= await show(scene, viewport)
          await page.setViewportSize(viewport)
          await shoot(page, `${scene.name}-${width}`)
          if ((await overhangOf(page)) > 0) wide.push(`${scene.name} in ${width} px`)
          for (const table of await poorTablesOf(page)) wide.push(`${scene.name} in ${width} px: ${table}`)
        }
      }
      t.deepEqual(wide, [])
    }
  )
}

browserTest('a panel stands still for those who want less motion', async (t, browser) => {
  const [syncing] = scenes.filter(({ name }) => name === 'engines')
  const movingIn = async (reducedMotion: 'no-preference' | 'reduce'): Promise<number | undefined> => {
    const show = await openStage(t, browser, { reducedMotion })
    const page = syncing && (await show(syncing))
    return page?.evaluate(() => document.body.firstElementChild?.shadowRoot?.getAnimations().length)
  }
  t.true(((await movingIn('no-preference')) ?? 0) > 0)
  t.is(await movingIn('reduce'), 0)
})
