/// <reference lib="dom" />

import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { STEP_LIMIT } from './chromium.ts'
import { serveFolder } from './serve-folder.ts'

/** Fails the test for what a page's console says: a breach of the page's policy is said there. */
export const watchConsole = (t: ExecutionContext, page: Page): void => {
  const fail = (text: string): void => {
    // The test fails; what it throws would end the process here, and the text with it.
    try {
      t.fail(text)
    } catch {}
  }
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) fail(message.text())
  })
  page.on('pageerror', error => fail(String(error)))
}

/** Opens the built page that has a wallet inside, in a browser profile of its own, and waits until it is live. */
export const openPanelPage = async (
  t: ExecutionContext,
  browser: Browser,
  options: BrowserContextOptions = {}
): Promise<Page> => {
  const site = await serveFolder(fileURLToPath(new URL('../../../devtools/page', import.meta.url)))
  const profile = await browser.newContext(options)
  t.teardown(async () => {
    await profile.close()
    site.close()
  })
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto(`${site.url}/`)
  await page.getByText('live', { exact: true }).waitFor()
  return page
}

/** What somebody does who clicks: presses buttons, opens tabs and rows, and fills fields by their names. */
export interface Hand {
  press(button: string): Promise<void>
  open(tab: string): Promise<void>
  fill(field: string, text: string): Promise<void>
  choose(field: string, label: string): Promise<void>
}

/** The hand on a mouse. */
export const mouseOn = (page: Page): Hand => {
  const field = (name: string): Locator =>
    page
      .locator('label', { has: page.getByText(name, { exact: true }) })
      .locator('input, select')
      .last()
  return {
    press: button => page.getByRole('button', { name: button, exact: true }).last().click(),
    open: tab => page.getByRole('tab', { name: tab }).click(),
    fill: (name, text) => field(name).fill(text),
    choose: async (name, label) => {
      await field(name).selectOption({ label })
    }
  }
}

/** The hand on a keyboard, which reaches everything by Tab and arrows. */
export const keyboardOn = (page: Page): Hand => ({
  async press(button) {
    await focus(page, 'button', button)
    await page.keyboard.press('Enter')
  },
  async open(tab) {
    await focus(page, 'tab', tab)
  },
  async fill(field, text) {
    await focus(page, 'field', field)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(text)
  },
  async choose(field, label) {
    await focus(page, 'field', field)
    await page.keyboard.press('Home')
    for (let turn = 0; turn < 50 && (await page.evaluate(chosenOf)) !== label; turn += 1)
      await page.keyboard.press('ArrowDown')
  }
})

/** Presses Tab until the focus is there; on the tabs, which are one stop, an arrow. */
const focus = async (page: Page, kind: 'button' | 'field' | 'tab', name: string): Promise<void> => {
  const seen: string[] = []
  for (let turn = 0; turn < 100; turn += 1) {
    const focused = await page.evaluate(focusedOf)
    if (focused.kind === kind && focused.name === name) return
    seen.push(`${focused.kind} ${focused.name}`)
    await page.keyboard.press(kind === 'tab' && focused.kind === 'tab' ? 'ArrowRight' : 'Tab')
  }
  throw new Error(`No ${kind} “${name}” was reached by keyboard, only ${[...new Set(seen)].join(', ')}`)
}

/** Runs in the page: what has the focus, also within a shadow root. */
const focusedOf = (): { readonly kind: string; readonly name: string } => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  const label = element?.closest('label')?.querySelector('span')?.textContent
  const name = (element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? '').trim()
  const kinds = { field: 'input, select', tab: '[role=tab]', button: 'button' }
  const [kind = ''] = Object.entries(kinds).find(([, selector]) => element?.matches(selector)) ?? []
  return { kind, name }
}

/** Runs in the page: what the list that has the focus says. */
const chosenOf = (): string | undefined => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element instanceof HTMLSelectElement ? element.selectedOptions[0]?.label : undefined
}
