import test from 'ava'
import type { Page } from 'playwright-core'
import { waitFor } from '../helpers/device.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { Flood } from './page/flood-page.ts'

declare const flood: Flood

const browserTest = withChromium(test)

/**
 * The bytes of JavaScript's memory that are in use after all garbage is gone, and after a few events: React keeps what it
 * drew before, which on a busy machine may be some thousand events older.
 */
const heapOf = async (page: Page): Promise<number> => {
  await page.evaluate(() => flood.pour(10))
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

const framesText = (frames: readonly number[]): string => {
  const sorted = frames.toSorted((one, other) => one - other)
  const at = (share: number): string => `${sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(0)} ms`
  return `${frames.length} frames, median ${at(0.5)}, 95 % within ${at(0.95)}, longest ${at(1)}`
}

browserTest(
  '20,000 events in a second leave few rows in the page, a filter that works, and no more memory the next time',
  async (t, browser) => {
    const site = await serveTestPage('flood-page')
    t.teardown(() => site.close())
    const page = await browser.newPage()
    t.teardown(() => page.close())
    page.setDefaultTimeout(STEP_LIMIT)
    await page.goto(`${site.url}/#/hooks`)
    await page.getByText('No hook has fired yet').waitFor()
    const first = await page.evaluate(() => flood.pour(10))
    const { frames, rows } = await page.evaluate(() => flood.pour(20_000))
    t.log(`the first rows of a fresh page: ${framesText(first.frames)}`)
    t.log(`20,000 events: ${framesText(frames)}; ${rows} rows`)
    t.true(rows > 5 && rows < 100)
    // The panel keeps the newest 10,000.
    await page.getByText('10000 calls').waitFor()
    await page.getByRole('searchbox').fill('plugin 7')
    await page.getByText('500 of 10000 calls').waitFor()

    // Once with the filter, which keeps the search texts of what it filters. A busy machine works off the last batch
    // after the page has been told that it came; what is really kept stays, however long one waits.
    await page.evaluate(() => flood.pour(20_000))
    let before = Number.NaN
    await waitFor(async () => {
      const last = before
      before = await heapOf(page)
      return Math.abs(before - last) < 200_000
    })
    for (let turn = 0; turn < 3; turn += 1) await page.evaluate(() => flood.pour(20_000))
    let grown = Number.POSITIVE_INFINITY
    await waitFor(async () => {
      grown = (await heapOf(page)) - before
      return grown < 1_000_000
    })
    t.log(
      `heap ${(before / 1e6).toFixed(1)} MB after 40,000 events, ${(grown / 1e6).toFixed(1)} MB more after 100,000`
    )
    t.true(grown < 1_000_000)
  }
)
