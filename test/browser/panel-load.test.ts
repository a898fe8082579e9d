import test from 'ava'
import { withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { Flood } from './page/flood-page.ts'

declare const flood: Flood

const browserTest = withChromium(test)

browserTest(
  '20,000 events in a second leave few rows in the page, and a filter that works',
  async (t, browser) => {
    const site = await serveTestPage('flood-page')
    t.teardown(() => site.close())
    const page = await browser.newPage()
    t.teardown(() => page.close())
    page.setDefaultTimeout(20_000)
    await page.goto(`${site.url}/#/hooks`)
    await page.getByText('No hook has fired yet').waitFor()
    const { frames, rows } = await page.evaluate(() => flood.pour(20_000))
    const sorted = frames.toSorted((one, other) => one - other)
    const at = (share: number): string => `${sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(0)} ms`
    t.log(
      `${frames.length} frames: median ${at(0.5)}, 95 % within ${at(0.95)}, longest ${at(1)}; ${rows} rows`
    )
    t.true(rows > 5 && rows < 100)
    // The panel keeps the newest 10,000.
    await page.getByText('10000 calls').waitFor()
    await page.getByRole('searchbox').fill('plugin 7')
    await page.getByText('500 of 10000 calls').waitFor()
  }
)
