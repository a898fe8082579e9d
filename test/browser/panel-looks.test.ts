/// <reference lib="dom" />
import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions, Locator, Page, ViewportSize } from 'playwright-core'
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

/** How many pixels of the page, of the panel in it, of its details or of a dialog lie beside what shows them. */
const overhangOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const shadow = document.body.firstElementChild?.shadowRoot
    const parts = [
      document.documentElement,
      ...(shadow?.querySelectorAll('.panel, .side, dialog[open]') ?? [])
    ]
    return Math.max(...parts.map(part => part.scrollWidth - part.clientWidth))
  })

/** Goes through a part of the panel by Tab from its first field on; gives what has the focus in turn, and what of it is out of sight. */
const tabThrough = async (page: Page, part: Locator): Promise<readonly string[]> => {
  await part.locator('input:enabled, select, button:enabled').first().focus()
  const names: string[] = []
  for (;;) {
    const name = await part.evaluate(element => {
      const root = element.getRootNode() as ShadowRoot
      const focused = root.activeElement
      if (focused === null || !element.contains(focused)) return undefined
      const box = focused.getBoundingClientRect()
      const { x, y } = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
      const isCovered = !focused.contains(root.elementFromPoint(x, y)) && focused.tagName !== 'SELECT'
      const label = focused.closest('label')
      const words = focused.getAttribute('aria-label') ?? label?.querySelector('span')?.textContent
      const text = focused.matches('[type=checkbox]') ? label?.textContent : (words ?? focused.textContent)
      return `${text?.trim()}${isCovered ? ' (out of sight)' : ''}`
    })
    if (name === undefined || names.length === 50) return names
    names.push(name)
    await page.keyboard.press('Tab')
  }
}

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
const WIDTHS = [320, 400, 640, 768, 960, 1120, 1920]

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

const orders: readonly (readonly [scene: string, part: (page: Page) => Locator, names: readonly string[]])[] =
  [
    [
      'coin-choice',
      page => page.getByRole('region', { name: 'Send' }),
      [
        ...['Address', 'Amount', 'Max', 'Fee', '0.8425 BTC 84\u202f250\u202f000 native'],
        ...['0.5 BTC 50\u202f000\u202f000 native', 'List them again', 'Older ones', 'Let the wallet choose'],
        ...['Review…', 'Copy the command']
      ]
    ],
    [
      'sweep',
      page => page.getByRole('region', { name: 'Sweep a key' }),
      ['Key to sweep', 'Sweep at', 'Also take incoming coins', 'Review the sweep…', 'Copy the command']
    ],
    ['sweep-review', page => page.getByRole('dialog'), ['Copy the command', 'Discard', 'Send it']],
    ['raise-fee', page => page.getByRole('dialog'), ['Way', 'Fee', 'Cancel', 'Review…']],
    ['raise-fee-custom', page => page.getByRole('dialog'), ['Way', 'Fee', 'Fee rate', 'Cancel']]
  ]

browserTest(
  'Tab goes through the forms of coins, keys and fees in their order, at 400 px, too, and what it reaches is in sight',
  async (t, browser) => {
    const show = await openStage(t, browser, { colorScheme: 'light' })
    for (const [name, partOf, names] of orders) {
      const scene = scenes.find(each => each.name === name)
      if (scene === undefined) throw new Error(`There is no scene ${name}`)
      for (const width of [1120, 400]) {
        const page = await show(scene, { width, height: 720 })
        t.deepEqual(await tabThrough(page, partOf(page)), names, `${name} at ${width} px`)
      }
    }
  }
)

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
