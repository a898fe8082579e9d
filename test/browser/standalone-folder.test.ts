/// <reference lib="dom" />
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { createAccount } from './helpers/first-steps.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'
import { serveFolder } from './helpers/serve-folder.ts'

const browserTest = withChromium(test)

browserTest(
  'the page with the wallet inside runs below a path of any web server, connects to nothing, and asks to be kept',
  async (t, browser) => {
    const site = await serveFolder(fileURLToPath(new URL('../../devtools', import.meta.url)))
    const profile = await browser.newContext()
    t.teardown(async () => {
      await profile.close()
      site.close()
    })
    const page = await profile.newPage()
    watchConsole(t, page)
    page.setDefaultTimeout(STEP_LIMIT)
    const requested: string[] = []
    page.on('request', request => requested.push(new URL(request.url()).pathname))
    await page.addInitScript(() => {
      navigator.storage.persist = async () => {
        document.documentElement.dataset.keeps = 'asked'
        return true
      }
    })
    await page.goto(`${site.url}/page/`)
    await page.getByText('live', { exact: true }).waitFor()
    t.is(await page.evaluate(() => document.documentElement.dataset.keeps), undefined)
    const hand = mouseOn(page)
    await createAccount(page, hand, { Password: 'correct horse battery', Username: 'ada' })
    t.is(await page.evaluate(() => document.documentElement.dataset.keeps), 'asked')
    t.deepEqual(requested.toSorted(), ['/page/', '/page/page.css', '/page/page.js', '/page/scrypt-worker.js'])
  }
)

browserTest('a browser that keeps nothing says so in place of the panel', async (t, browser) => {
  const site = await serveFolder(fileURLToPath(new URL('../../devtools/page', import.meta.url)))
  const page = await browser.newPage()
  t.teardown(async () => {
    await page.close()
    site.close()
  })
  watchConsole(t, page)
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('A mutation operation was attempted on a database', 'InvalidStateError')
    }
  })
  await page.goto(`${site.url}/`)
  await page.getByRole('status').getByText('does not let the page store data').waitFor()
  t.is(await page.getByRole('tab').count(), 0)
})
