import { scryptSync } from 'node:crypto'
import test from 'ava'
import type { Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { Parts } from './page/parts-page.ts'

declare const parts: Parts

const WORKER = 'worker.js'
const N = 16_384
const keyOf = (n: number): string => scryptSync('password', 'salt', 32, { N: n, r: 8, p: 1 }).toString('hex')

const derive = (page: Page, worker: string | null, n = N): Promise<{ key: string; ticks: number }> =>
  page.evaluate(([worker, n]) => parts.scrypt(worker, n), [worker, n] as const)

const browserTest = withChromium(test)

browserTest(
  'a worker derives the key that Node derives, and a page without one does, too',
  async (t, browser) => {
    const site = await serveTestPage('parts-page')
    t.teardown(() => site.close())
    const page = await browser.newPage()
    await page.goto(site.url)
    t.is((await derive(page, null)).key, keyOf(N))
    t.is(page.workers().length, 0)
    const { key, ticks } = await derive(page, WORKER)
    t.is(key, keyOf(N))
    t.is(page.workers().length, 1)
    // Whatever the worker does, the page's own timers fire.
    t.true(ticks > 0)
  }
)

browserTest(
  'a page whose policy forbids workers, or whose worker is not there, derives the key itself',
  async (t, browser) => {
    for (const [policy, worker] of [
      ["worker-src 'none'", WORKER],
      ["worker-src 'self'", 'absent.js']
    ] as const) {
      const site = await serveTestPage('parts-page', `script-src 'self'; ${policy}`)
      t.teardown(() => site.close())
      const page = await browser.newPage()
      await page.goto(site.url)
      t.is((await derive(page, worker, 1024)).key, keyOf(1024), worker)
      t.is(page.workers().length, 0)
    }
  }
)

browserTest('a cost that the worker refuses is refused as without one', async (t, browser) => {
  const site = await serveTestPage('parts-page')
  t.teardown(() => site.close())
  const page = await browser.newPage()
  await page.goto(site.url)
  const alone = await t.throwsAsync(derive(page, null, 3))
  const refusal = await t.throwsAsync(derive(page, WORKER, 3))
  t.is(refusal?.message.split('\n')[0], alone?.message.split('\n')[0])
})
