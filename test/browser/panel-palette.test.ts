/// <reference lib="dom" />
import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { watchConsole } from './helpers/panel-page.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'

const browserTest = withChromium(test)
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

const openSample = async (t: ExecutionContext, browser: Browser): Promise<Page> => {
  site ??= serveTestPage('sample-page')
  const page = await browser.newPage()
  t.teardown(() => page.close())
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto(`${(await site).url}/?state=full#/engines`)
  await page.getByRole('tablist').waitFor()
  return page
}

const placeOf = (page: Page): string => decodeURIComponent(new URL(page.url()).hash)

/** The option that the field points at, as who hears the page is told it. */
const pointedAt = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => {
    const root = document.body.firstElementChild?.shadowRoot
    const field = root?.querySelector('[role=combobox]')
    const option = root?.getElementById(field?.getAttribute('aria-activedescendant') ?? '')
    return option?.getAttribute('aria-selected') === 'true' ? (option.textContent ?? '') : undefined
  })

browserTest(
  'the palette opens with a key, follows arrows, goes with Enter and closes with Escape',
  async (t, browser) => {
    const page = await openSample(t, browser)
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('ControlOrMeta+k')
    const field = page.getByRole('combobox', { name: 'Find or do' })
    await field.waitFor()
    t.regex((await pointedAt(page)) ?? '', /^Engines/)
    await page.keyboard.press('ArrowDown')
    t.regex((await pointedAt(page)) ?? '', /^Quotes/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    t.true(await page.getByRole('option', { selected: true }).isVisible())
    await page.keyboard.press('Escape')
    t.is(await field.count(), 0)
    // The focus is back where it was, with its caret.
    await page.keyboard.type('xyz')
    t.is(await page.getByRole('searchbox').inputValue(), 'xyz')

    await page.keyboard.press('ControlOrMeta+k')
    await field.fill('spare')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Spare change' }).waitFor()
  }
)

browserTest(
  'the palette presses what can be done at the present place, with its command',
  async (t, browser) => {
    const page = await openSample(t, browser)
    await page.getByRole('button', { name: 'Savings' }).click()
    await page.getByRole('button', { name: /^Find or do/ }).click()
    await page.keyboard.type('pause')
    t.regex((await pointedAt(page)) ?? '', /^Pauseholdfast wallets pause Savings/)
    await page.keyboard.press('Enter')
    // The sample does nothing, and says so.
    await page.getByText('The sample does not do this.').waitFor()

    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('create a wal')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create a wallet' }).waitFor()
  }
)

browserTest(
  'from a payment, a txid and an event, everything for the id is one step away',
  async (t, browser) => {
    const page = await openSample(t, browser)
    await page.getByRole('button', { name: 'Savings' }).click()
    const payments = page.getByRole('region', { name: 'Payments', exact: true })
    await payments.getByRole('button', { name: /Show everything for 3f1d9c/ }).click()
    t.is(placeOf(page), '#/hooks?filter=spend-1')
    t.deepEqual(await page.getByRole('rowheader').allTextContents(), [
      'spendChanged',
      'broadcast',
      'spendChanged'
    ])
    await page.getByRole('button', { name: 'broadcast' }).click()
    await page.getByRole('button', { name: 'Show everything for this id' }).click()
    t.is(placeOf(page), '#/hooks?filter=spend-1')

    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('3f1d9c60b7')
    await page.keyboard.press('Enter')
    t.is(placeOf(page), '#/hooks?filter=spend-1')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('harbour')
    await page.keyboard.press('End')
    await page.getByRole('option', { name: /^Everything with “harbour”/ }).click()
    t.is(placeOf(page), '#/hooks?filter=harbour')
  }
)
