import type { ExecutionContext, TestFn } from 'ava'
import type { Browser, Locator, Page } from 'playwright-core'
import { STEP_LIMIT } from './chromium.ts'
import { watchConsole } from './panel-page.ts'
import type { ServedFolder } from './serve-folder.ts'
import { serveTestPage } from './test-page.ts'

/** Opens the panel over a sample at a place, such as `#/engines`. */
export type OpenHeldPanel = (
  t: ExecutionContext,
  browser: Browser,
  fragment: string,
  options?: { readonly mayComplain?: boolean }
) => Promise<Page>

/** Serves the panel over a sample whose actions wait for their answers, for all tests of a file. */
export const heldPanelsFor = (test: TestFn): OpenHeldPanel => {
  let site: Promise<ServedFolder> | undefined
  test.after.always('the page is no longer served', async () => (await site)?.close())
  return async (t, browser, fragment, { mayComplain = false } = {}) => {
    site ??= serveTestPage('held-page')
    const page = await browser.newPage()
    t.teardown(() => page.close())
    page.setDefaultTimeout(STEP_LIMIT)
    if (!mayComplain) watchConsole(t, page)
    await page.goto(`${(await site).url}/${fragment}`)
    return page
  }
}

/** The button with exactly this name. */
export const buttonOf = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
