import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { createAccount } from './helpers/first-steps.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { Application } from './page/embedded-page.tsx'

declare const application: Application

const browserTest = withChromium(test)
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

const openApplication = async (t: ExecutionContext, browser: Browser): Promise<Page> => {
  site ??= serveTestPage('embedded-page')
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(20_000)
  await page.goto((await site).url)
  await page.waitForFunction(() => 'application' in globalThis)
  return page
}

browserTest(
  "the component drives the kernel that it is given, apart from the application's styles, keys and address",
  async (t, browser) => {
    const page = await openApplication(t, browser)
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

browserTest('a kernel that was made without devtools is told what it lacks', async (t, browser) => {
  const page = await openApplication(t, browser)
  const said = await page.evaluate(() => application.mountForeign())
  t.regex(said, /made without devtools: put makeDevtools\(.*\)\.plugin among its plugins/)
})
