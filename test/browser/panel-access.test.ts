import test from 'ava'
import { bringAxe, faultsOf } from './helpers/axe.ts'
import { withChromium } from './helpers/chromium.ts'
import { mouseOn, openPanelPage } from './helpers/panel-page.ts'

const browserTest = withChromium(test)

const TABS = ['Engines', 'Quotes', 'Rate routes', 'Sync', 'Hooks', 'Plugins', 'Logs']

for (const colorScheme of ['light', 'dark'] as const) {
  browserTest(
    `every panel is free of faults of access, empty and full, in ${colorScheme} colours`,
    async (t, browser) => {
      // The examiner puts markup into the page, which the page's own policy forbids.
      const page = await openPanelPage(t, browser, { colorScheme, bypassCSP: true })
      await bringAxe(page)
      const hand = mouseOn(page)
      const faults = new Set<string>()
      const note = async (state: string): Promise<void> => {
        for (const fault of await faultsOf(page)) faults.add(`${state}: ${fault}`)
      }
      const examine = async (state: string): Promise<void> => {
        for (const tab of TABS) {
          await hand.open(tab)
          await note(`${tab}, ${state}`)
        }
      }
      await examine('empty')

      await hand.press('Create an account…')
      await note('the dialog of an account')
      await hand.press('Create an account')
      await page.getByRole('button', { name: 'Log out' }).waitFor()
      await hand.open('Engines')
      for (const currency of ['litecoin', 'bitcoin']) {
        await hand.press('Create a wallet…')
        await hand.choose('Currency', currency)
        await hand.fill('Name', currency)
        await hand.press('Create it')
        await page.getByRole('heading', { name: currency }).waitFor()
      }
      await hand.press('Fund')
      await hand.press('Show an address')
      await page.getByLabel('QR code of the address').waitFor()
      await note('a wallet')
      await hand.open('Quotes')
      await hand.fill('Amount', '0.001')
      await hand.press('Ask for quotes')
      await page.getByRole('button', { name: 'ChangeNOW' }).waitFor()
      await hand.press('ChangeNOW')
      await note('a quote')
      await examine('full')
      t.deepEqual([...faults], [])
    }
  )
}
