import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { type Hand, keyboardOn, mouseOn, openPanelPage } from './helpers/panel-page.ts'

const browserTest = withChromium(test)

/** From the empty page to a payment and a swap, whatever the hand is on. */
const tellStory = async (t: ExecutionContext, page: Page, hand: Hand): Promise<void> => {
  await hand.press('Create an account…')
  await hand.fill('Username', 'alice')
  await hand.fill('Password', 'correct horse battery')
  await hand.press('Create an account')
  await page.getByRole('button', { name: 'Log out' }).waitFor()

  for (const [currency, name] of [
    ['litecoin', 'Pocket'],
    ['bitcoin', 'Savings']
  ] as const) {
    await hand.press('Create a wallet…')
    await hand.choose('Currency', currency)
    await hand.fill('Name', name)
    await hand.press('Create it')
    await page.getByRole('heading', { name }).waitFor()
  }

  await hand.fill('Fake money, native units', '50000000')
  await hand.press('Fund')
  await hand.press('Mine bitcoin')
  await page
    .getByText(/^50\D000\D000$/)
    .first()
    .waitFor()
  await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
  await hand.fill('Amount, native units', '1000000')
  await hand.press('Review…')
  await page.getByRole('dialog', { name: 'Review this payment' }).waitFor()
  await hand.press('Sign and send')
  t.regex((await page.getByText('Sent as').textContent()) ?? '', /^Sent as [0-9a-f]{64}$/)

  await hand.open('Quotes')
  await hand.choose('From', 'Savings · bitcoin')
  await hand.choose('To', 'Pocket · litecoin')
  await hand.fill('Native units', '5000000')
  await hand.press('Ask for quotes')
  await page.getByRole('button', { name: 'ChangeNOW' }).waitFor()
  await hand.press('ChangeNOW')
  await hand.press('Review and approve…')
  await page.getByRole('dialog', { name: 'Review this swap' }).waitFor()
  await hand.press('Sign and swap')
  t.regex((await page.getByText('Paid in with').textContent()) ?? '', /^Paid in with [0-9a-f]{64}$/)
}

browserTest(
  'from the empty page to a payment and a swap by mouse, with a clean console',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    await tellStory(t, page, mouseOn(page))
    // The key of the password came from the worker, which is the one script that the page's policy lets in.
    t.deepEqual(
      page.workers().map(worker => new URL(worker.url()).pathname),
      ['/scrypt-worker.js']
    )
  }
)

browserTest('from the empty page to a payment and a swap by keyboard alone', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  await tellStory(t, page, keyboardOn(page))
})

browserTest('a second tab says that the first one has the wallet', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  const second = await page.context().newPage()
  await second.goto(page.url())
  await second.getByText('open in another tab').waitFor()
  t.is(await second.getByRole('tab').count(), 0)
})

browserTest('what fails in a dialog is told in the dialog, and not in the next one', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  const hand = mouseOn(page)
  await hand.press('Log in…')
  await hand.fill('Username', 'nobody')
  await hand.fill('Password', 'wrong')
  await hand.press('Log in')
  const told = page.getByRole('dialog', { name: 'Log in' }).getByRole('alert')
  await told.waitFor()
  t.regex((await told.textContent()) ?? '', /^USERNAME|^PASSWORD|^ACCOUNT/)
  await page.keyboard.press('Escape')
  await hand.press('Create an account…')
  await page.getByRole('dialog', { name: 'Create an account' }).waitFor()
  t.is(await page.getByRole('dialog').getByRole('alert').count(), 0)
})
