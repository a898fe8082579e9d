import test from 'ava'
import type { BrowserContext, Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { watchConsole } from './helpers/panel-page.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { LargeWalletPage } from './page/large-wallet-page.ts'

declare const large: LargeWalletPage

const browserTest = withChromium(test)
const COUNT = 10_000
const txidOf = (number: number): string => `${number}`.padStart(64, 'a')

browserTest(
  'in IndexedDB ten thousand transactions arrive, page and search, and survive a reload and a tab that is closed while more arrive',
  async (t, browser) => {
    const site = await serveTestPage('large-wallet-page')
    const profile: BrowserContext = await browser.newContext()
    t.teardown(async () => {
      await profile.close()
      site.close()
    })
    const openTab = async (): Promise<Page> => {
      const tab = await profile.newPage()
      watchConsole(t, tab)
      await tab.goto(site.url)
      await tab.evaluate(() => large.open())
      return tab
    }
    const tab = await openTab()
    const ms = await tab.evaluate(count => large.arrive(0, count, count), COUNT)
    const middle = await tab.evaluate(() => large.page(5000, 20))
    t.deepEqual(
      middle.txids,
      Array.from({ length: 20 }, (_, i) => txidOf(COUNT - 1 - 5000 - i))
    )
    await tab.evaluate(txid => large.note(txid, 'A bicycle'), txidOf(1234))
    const hit = await tab.evaluate(() => large.search('bicycle'))
    t.deepEqual(hit.txids, [txidOf(1234)])
    t.log(
      `arrive ${ms.toFixed(0)} ms, a page ${middle.ms.toFixed(1)} ms, first search ${hit.ms.toFixed(0)} ms`
    )

    await tab.reload()
    await tab.evaluate(() => large.open())
    const newest = await tab.evaluate(() => large.page(0, 20))
    t.is(newest.txids[0], txidOf(COUNT - 1))
    t.is(await tab.evaluate(() => large.count()), COUNT)
    t.deepEqual((await tab.evaluate(() => large.search('bicycle'))).txids, [txidOf(1234)])
    t.log(`first page after a reload ${newest.ms.toFixed(1)} ms`)

    await tab.close()
    // Some are closed before anything is written, some between two lots, and at last one when all is: what was written stays.
    const totals: number[] = []
    for (let wait = 0; wait <= 60_000 && totals.at(-1) !== 2 * COUNT; wait += wait === 0 ? 30 : wait / 2) {
      const closing = await openTab()
      await closing.evaluate(([from, count]) => large.begin(from ?? 0, count ?? 0), [COUNT, COUNT])
      await new Promise(resolve => setTimeout(resolve, wait))
      await closing.close()
      const next = await openTab()
      totals.push(await next.evaluate(() => large.count()))
      t.deepEqual((await next.evaluate(() => large.search('bicycle'))).txids, [txidOf(1234)])
      t.deepEqual(await next.evaluate(() => large.faults), [])
      await next.evaluate(() => large.close())
      await next.close()
    }
    t.log(`transactions after each closed tab: ${totals.join(', ')}`)
    t.is(totals[0], COUNT)
    t.is(totals.at(-1), 2 * COUNT)
    t.deepEqual(
      [...totals].sort((left, right) => left - right),
      totals
    )
    const last = await openTab()
    await last.evaluate(count => large.arrive(2 * count, 100, 2 * count + 100), COUNT)
    t.is(await last.evaluate(() => large.count()), 2 * COUNT + 100)
    t.deepEqual(await last.evaluate(() => large.faults), [])
  }
)
