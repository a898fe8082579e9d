import test from 'ava'
import type { Page } from 'playwright-core'
import { bringAxe, colourFaultsOf, faultsOf } from './helpers/axe.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { createWallet } from './helpers/first-steps.ts'
import { type Hand, mouseOn, openPanelPage } from './helpers/panel-page.ts'
import { shoot } from './helpers/shoot.ts'

const browserTest = withChromium(test)

const TABS = ['Engines', 'Quotes', 'Rate routes', 'Sync', 'Hooks', 'Plugins', 'Logs']

/** Uses a wallet as somebody does, and stops at each state. */
const useWallet = async (page: Page, hand: Hand, stop: (state: string) => Promise<void>): Promise<void> => {
  await hand.press('Create an account…')
  await stop('account')
  await hand.fill('Username', 'alice')
  await hand.fill('Password', 'correct horse battery')
  await hand.press('Create an account')
  await page.getByRole('button', { name: 'Log out' }).waitFor()
  await createWallet(page, hand, { currency: 'litecoin', name: 'Pocket' })
  await createWallet(page, hand, { name: 'Savings' })
  await hand.fill('Fake money', '0.5')
  await hand.press('Fund')
  await hand.press('Mine bitcoin')
  await page.getByText('0.5 BTC', { exact: true }).first().waitFor()
  await page.getByText('of it 0.5 BTC incoming').waitFor({ state: 'detached' })
  await hand.press('Show an address')
  await page.getByLabel('QR code of the address').waitFor()
  await page.getByRole('heading', { name: 'Savings' }).scrollIntoViewIfNeeded()
  await stop('engines')

  await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
  await hand.fill('Amount', '0.01')
  await hand.press('Review…')
  await page.getByRole('dialog', { name: 'Review this payment' }).waitFor()
  await stop('review')
  await hand.press('Sign and send')
  await page.getByText('Sent as').waitFor()

  await hand.open('Quotes')
  await hand.choose('From', 'Savings · bitcoin')
  await hand.choose('To', 'Pocket · litecoin')
  await hand.fill('Amount', '0.05')
  await hand.press('Ask for quotes')
  await page.getByRole('button', { name: 'ChangeNOW' }).waitFor()
  await stop('quotes')
  await hand.press('ChangeNOW')
  await stop('quote')

  await hand.open('Rate routes')
  await hand.fill('From', 'BTC')
  await hand.fill('To', 'iso:EUR')
  await hand.press('Find the route')
  await page.getByText(/^1 BTC = .+ iso:EUR$/).waitFor()
  await stop('rates')

  await hand.open('Engines')
  await hand.press('Savings')
  await page
    .getByRole('region', { name: 'Payments', exact: true })
    .getByRole('button', { name: /^Show everything for [^t]/ })
    .click()
  await page.getByRole('button', { name: 'spendChanged' }).first().click()
  await page.getByRole('heading', { name: 'All events of this action' }).waitFor()
  await stop('hooks')
  await hand.open('Sync')
  await page.getByRole('button', { name: 'Savings' }).click()
  await stop('sync')
  await page.keyboard.press('ControlOrMeta+k')
  await page.keyboard.type('sa')
  await stop('palette')
  await page.keyboard.press('Escape')
}

browserTest(
  'every panel of a wallet in use is free of faults of access, empty and full, in light and dark colours',
  async (t, browser) => {
    const page = await openPanelPage(t, browser, {
      colorScheme: 'light',
      viewport: { width: 1120, height: 660 },
      // The examiner puts markup into the page, which the page's own policy forbids.
      bypassCSP: true
    })
    await bringAxe(page)
    page.setDefaultTimeout(STEP_LIMIT)
    const hand = mouseOn(page)
    const faults = new Set<string>()
    const stop = async (state: string): Promise<void> => {
      await shoot(page, `live-${state}-light`)
      for (const fault of await faultsOf(page)) faults.add(`${state}: ${fault}`)
      await page.emulateMedia({ colorScheme: 'dark' })
      await shoot(page, `live-${state}-dark`)
      for (const fault of await colourFaultsOf(page)) faults.add(`${state}, dark: ${fault}`)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    const examine = async (state: string): Promise<void> => {
      for (const tab of TABS) {
        await hand.open(tab)
        await stop(`${tab} ${state}`)
      }
    }
    await examine('empty')
    await useWallet(page, hand, stop)
    await examine('full')
    t.deepEqual([...faults], [])
  }
)
