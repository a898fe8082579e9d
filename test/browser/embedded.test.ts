import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { createAccount } from './helpers/first-steps.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { Application } from './page/embedded-page.tsx'

declare const application: Application

const browserTest = withChromium(test)
/** The React that an application brings: the first that the panel takes, and the newest. */
const reacts = {
  '19.0.0': { react: 'react-first', 'react-dom': 'react-dom-first' },
  newest: {}
} as const
const sites = new Map<keyof typeof reacts, Promise<ServedFolder>>()
test.after.always(async () => {
  for (const site of sites.values()) (await site).close()
})

const openApplication = async (
  t: ExecutionContext,
  browser: Browser,
  react: keyof typeof reacts = 'newest'
): Promise<Page> => {
  const site = sites.get(react) ?? serveTestPage('embedded-page', undefined, reacts[react])
  sites.set(react, site)
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto((await site).url)
  await page.waitForFunction(() => 'application' in globalThis)
  return page
}

for (const react of ['19.0.0', 'newest'] as const)
  browserTest(
    `the component drives the kernel that it is given, apart from the application's styles, keys and address, with React ${react}`,
    async (t, browser) => {
      const page = await openApplication(t, browser, react)
      const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
      const version = await page.evaluate(() => application.reactVersion())
      t.is(version, react === 'newest' ? devDependencies.react : react)
      await page.evaluate(() => application.draw(false))
      const hand = mouseOn(page)
      await page.getByText('live', { exact: true }).waitFor()
      await createAccount(page, hand)
      t.is(await page.evaluate(() => application.accountCount()), 1)

      await hand.open('Quotes')
      t.is(new URL(page.url()).hash, '')
      await page.getByLabel('Search').press('?')
      await page.keyboard.press('g')
      await page.keyboard.press('p')
      await page.keyboard.press('ControlOrMeta+k')
      t.is(await page.getByRole('dialog').count(), 0)
      t.is(await page.getByLabel('Search').inputValue(), '?gp')
      t.is(await page.getByRole('tab', { selected: true }).textContent(), 'Quotes')
    }
  )

browserTest(
  'the component becomes read-only with its property, and leaves the kernel when it is left out',
  async (t, browser) => {
    const page = await openApplication(t, browser)
    await page.evaluate(() => application.draw(false))
    const create = page.getByRole('button', { name: 'Create an account…' })
    await create.waitFor()
    await page.evaluate(() => application.draw(true))
    await create.waitFor({ state: 'detached' })
    await page.getByText('read-only', { exact: true }).waitFor()
    await page.evaluate(() => application.leaveOut())
    await page.getByText('Nothing to see').waitFor()
    t.is(await page.getByRole('tab').count(), 0)
    await page.evaluate(() => application.draw(false))
    await create.waitFor()
  }
)

browserTest(
  'a page without React mounts the devtools of a kernel beside a component of the same kernel',
  async (t, browser) => {
    const page = await openApplication(t, browser)
    await page.evaluate(() => {
      application.draw(true)
      application.mount()
    })
    const hand = mouseOn(page)
    await createAccount(page, hand)
    await page.evaluate(() => application.unmount())
    t.is(await page.evaluate(() => application.accountCount()), 1)
    t.is(await page.getByText('live', { exact: true }).count(), 1)
  }
)

browserTest(
  'a kernel that was made without devtools gets an error that says what is missing',
  async (t, browser) => {
    const page = await openApplication(t, browser)
    const said = await page.evaluate(() => application.mountForeign())
    t.regex(said, /made without devtools: put makeDevtools\(.*\)\.plugin among its plugins/)
  }
)

/** What an application may say of everything in its page. */
const HOSTILE = `
:root, * { font: italic 40px/3 serif; color: red; letter-spacing: 9px; word-spacing: 9px; text-transform: uppercase }
* { text-indent: 50px; text-align: right; white-space: pre; cursor: wait; visibility: hidden; list-style: square; quotes: none }
* { text-shadow: 0 0 9px red; direction: rtl; -webkit-text-fill-color: red; tab-size: 99 }
div { display: inline; padding: 50px; margin: 50px; border: 9px solid red; opacity: 0.1; transform: rotate(9deg) }
`

browserTest('no style of the application leaks into the component, and none goes out', async (t, browser) => {
  const page = await openApplication(t, browser)
  await page.evaluate(() => application.draw(false))
  await page.getByText('live', { exact: true }).waitFor()
  /** How each part of the panel is drawn, and how large it is. */
  const looks = (): Promise<Readonly<Record<string, string>>> =>
    page.evaluate(() => {
      const root = [...document.querySelectorAll('section div')].find(({ shadowRoot }) => shadowRoot !== null)
      const found: Record<string, string> = {}
      for (const selector of [
        '.panel',
        '.brand',
        '.tab',
        '.button',
        '.strip',
        '.empty',
        '.empty p',
        '.foot'
      ]) {
        const part = root?.shadowRoot?.querySelector(selector)
        if (part === null || part === undefined) throw new Error(`There is no ${selector}`)
        for (const [at, name] of [...getComputedStyle(part)].entries())
          found[`${selector} ${at} ${name}`] = getComputedStyle(part).getPropertyValue(name)
      }
      return found
    })
  const before = await looks()
  t.true(Object.keys(before).length > 1000)
  await page.evaluate(css => application.dress(css), HOSTILE)
  t.is(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(255, 0, 0)')
  const after = await looks()
  const changed = Object.keys(before).filter(name => before[name] !== after[name])
  t.deepEqual(
    changed.map(name => `${name}: ${before[name]} became ${after[name]}`),
    []
  )
  // Where the component stands is for the application to say; the rest is its own.
  t.is(await page.evaluate(() => document.querySelectorAll('style, link[rel=stylesheet]').length), 0)
})
