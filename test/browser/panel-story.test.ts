import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { createAccount, createWallet } from './helpers/first-steps.ts'
import { type Hand, keyboardOn, mouseOn, openPanelPage, watchConsole } from './helpers/panel-page.ts'

const browserTest = withChromium(test, { isSerial: true })

/** From the empty page to a payment, a swap and a rate, whatever the hand is on. */
const emitStory = async (t: ExecutionContext, page: Page, hand: Hand): Promise<void> => {
  await createAccount(page, hand, { Username: 'alice', Password: 'correct horse battery' })
  await createWallet(page, hand, { currency: 'litecoin', name: 'Pocket' })
  await createWallet(page, hand, { name: 'Savings' })

  await hand.fill('Fake money', '0.5')
  await hand.press('Fund')
  await hand.press('Mine bitcoin')
  await page.getByText('0.5 BTC', { exact: true }).first().waitFor()
  await page.getByText('of it 0.5 BTC incoming').waitFor({ state: 'detached' })
  await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
  await hand.fill('Amount', '0.01')
  await hand.press('Review…')
  const review = page.getByRole('dialog', { name: 'Review this payment' })
  await review.getByText('0.01 BTC', { exact: true }).waitFor()
  t.regex(
    (await review.getByText('Network fee').locator('xpath=following-sibling::*[1]').textContent()) ?? '',
    /^0\.0000\d+ BTC [\d\u202f]+ native$/
  )
  await hand.press('Sign and send')
  t.regex((await page.getByText('Sent as').textContent()) ?? '', /^Sent as [0-9a-f]{64}/)

  await hand.open('Quotes')
  await hand.choose('From', 'Savings · bitcoin')
  await hand.choose('To', 'Pocket · litecoin')
  await hand.fill('Amount', '5000000 native')
  await hand.press('Ask for quotes')
  await page.getByRole('button', { name: 'ChangeNOW' }).waitFor()
  await hand.press('ChangeNOW')
  await hand.press('Review and approve…')
  await page.getByRole('dialog', { name: 'Review this swap' }).waitFor()
  await hand.press('Sign and swap')
  t.regex((await page.getByText('Paid in with').textContent()) ?? '', /^Paid in with [0-9a-f]{64}/)

  await hand.open('Rate routes')
  await hand.fill('From', 'BTC')
  await hand.fill('To', 'iso:EUR')
  await hand.press('Find the route')
  await page.getByText(/^1 BTC = .+ iso:EUR$/).waitFor()
  const picture = page.getByRole('img', { name: /^The chosen route: BTC to / })
  t.regex((await picture.getAttribute('aria-label')) ?? '', / to iso:EUR by \w+$/)
}

browserTest(
  'from the empty page to a payment, a swap and a rate by mouse, with a clean console',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    await emitStory(t, page, mouseOn(page))
    // The key of the password came from the worker, which is the one script that the page's policy lets in.
    t.deepEqual(
      page.workers().map(worker => new URL(worker.url()).pathname),
      ['/scrypt-worker.js']
    )
  }
)

browserTest('from the empty page to a payment, a swap and a rate by keyboard alone', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  await emitStory(t, page, keyboardOn(page))
})

browserTest(
  'what is wrong with a payment is said below its field, and Max fills in what can be sent',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    const hand = mouseOn(page)
    await createAccount(page, hand)
    await hand.press('Create a wallet…')
    await hand.choose('Currency', 'bitcoin')
    await hand.press('Create it')
    await hand.fill('Fake money', '250 mBTC')
    await page.getByText('fake chain fund').first().waitFor()
    await hand.press('Fund')
    await hand.press('Mine bitcoin')
    await page.getByText('0.25 BTC', { exact: true }).first().waitFor()

    const send = page.getByRole('region', { name: 'Send' })
    const field = (name: string) => send.getByRole('textbox', { name })
    const max = send.getByRole('button', { name: 'Max' })
    t.true(await max.isDisabled())
    await hand.fill('Amount', '0,1')
    await send.getByText('The amount must be a plain decimal number').waitFor()
    t.is(await field('Amount').getAttribute('aria-invalid'), 'true')
    t.true(await send.getByRole('button', { name: 'Review…' }).isDisabled())
    await hand.fill('Amount', '0.26')
    await hand.fill('Address', 'nobody')
    await hand.press('Review…')
    await send.getByText(/^The address /).waitFor()
    t.is(await field('Address').getAttribute('aria-invalid'), 'true')
    await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
    t.is(await field('Address').getAttribute('aria-invalid'), null)
    await hand.press('Review…')
    await send.getByText(/^Insufficient BTC/).waitFor()
    t.is(await page.getByRole('alert').count(), 0)
    await max.click()
    await send.getByText(/^Insufficient BTC/).waitFor({ state: 'hidden' })
    const most = await field('Amount').inputValue()
    t.regex(most, /^0\.2499\d+$/)
    await hand.press('Review…')
    const review = page.getByRole('dialog', { name: 'Review this payment' })
    await review.getByText('0.25 BTC', { exact: true }).waitFor()
    await review.getByText(`--amount '${most} BTC'`).waitFor()
  }
)

browserTest(
  'repos say whose they are and which files they exchanged, and leave with their account',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    const hand = mouseOn(page)
    await createAccount(page, hand, { Username: 'alice', Password: 'correct horse battery' })
    await createWallet(page, hand, { name: 'Savings' })
    await hand.open('Sync')
    await page.getByRole('button', { name: 'alice' }).waitFor()
    await hand.press('Savings')
    const side = page.getByRole('complementary', { name: 'Files of Savings' })
    const sent = side.getByText(/sent \d+ file/)
    await sent.first().click()
    await side.getByText('WalletName.json').first().waitFor()
    await side.getByRole('button', { name: 'Sync now' }).focus()
    await page.getByText('holdfast sync Savings').waitFor()
    await side.getByRole('button', { name: 'Savings', exact: true }).click()
    await page.getByRole('complementary', { name: 'Savings', exact: true }).waitFor()
    await hand.open('Sync')
    await hand.press('Log out')
    await page.getByRole('heading', { name: 'No repos yet' }).waitFor()
    t.is(await page.getByRole('row').count(), 0)
  }
)

browserTest(
  'the order of a swap that was paid is listed, opened by keyboard, and leaves with its account',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    const hand = mouseOn(page)
    await createAccount(page, hand, { Username: 'alice', Password: 'correct horse battery' })
    await createWallet(page, hand, { currency: 'litecoin', name: 'Pocket' })
    await createWallet(page, hand, { name: 'Savings' })
    await hand.fill('Fake money', '0.5')
    await hand.press('Fund')
    await hand.press('Mine bitcoin')
    await page.getByText('0.5 BTC', { exact: true }).first().waitFor()
    await page.getByText('of it 0.5 BTC incoming').waitFor({ state: 'detached' })
    await hand.open('Quotes')
    const orders = page.getByRole('table', { name: 'Orders' })
    t.is(await orders.count(), 0)
    await hand.choose('From', 'Savings · bitcoin')
    await hand.choose('To', 'Pocket · litecoin')
    await hand.fill('Amount', '5000000 native')
    await hand.press('Ask for quotes')
    await page.getByRole('button', { name: 'ChangeNOW' }).click()
    await hand.press('Review and approve…')
    await page.getByRole('dialog', { name: 'Review this swap' }).waitFor()
    await hand.press('Sign and swap')
    await page.getByText('Paid in with').waitFor()

    const row = orders.getByRole('row').nth(1)
    t.regex(
      (await row.textContent()) ?? '',
      /^ChangeNOW(?:waiting|payment seen)SavingsPocket[\d.]+ LTC.* ago$/
    )
    await orders.getByRole('button', { name: 'ChangeNOW' }).focus()
    await page.keyboard.press('Enter')
    const side = page.getByRole('complementary', { name: 'Order of ChangeNOW' })
    await side.getByText(/^[0-9a-f]{64}$/).waitFor()
    await hand.press('Log out')
    await orders.waitFor({ state: 'detached' })
    t.pass()
  }
)

browserTest('a world that was cut off is shown as offline after a reload', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  await mouseOn(page).press('Go offline')
  await page.getByRole('button', { name: 'Go online' }).waitFor()
  await page.reload()
  await mouseOn(page).press('Go online')
  await page.getByRole('button', { name: 'Go offline' }).waitFor()
  t.is(await page.getByRole('button', { name: 'Go online' }).count(), 0)
})

browserTest('a second tab says that the first one has the wallet', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  const second = await page.context().newPage()
  await second.goto(page.url())
  await second.getByText('open in another tab').waitFor()
  t.is(await second.getByRole('tab').count(), 0)
})

browserTest('a failure in a dialog is shown in that dialog, and not in the next one', async (t, browser) => {
  const page = await openPanelPage(t, browser)
  const hand = mouseOn(page)
  await hand.press('Log in…')
  await hand.fill('Username', 'nobody')
  await hand.fill('Password', 'wrong')
  await hand.press('Log in')
  const reported = page.getByRole('dialog', { name: 'Log in' }).getByRole('alert')
  await reported.waitFor()
  t.regex((await reported.textContent()) ?? '', /^USERNAME|^PASSWORD|^ACCOUNT/)
  await page.keyboard.press('Escape')
  await hand.press('Create an account…')
  await page.getByRole('dialog', { name: 'Create an account' }).waitFor()
  t.is(await page.getByRole('dialog').getByRole('alert').count(), 0)
})

browserTest(
  'a light account is made with a PIN, and comes back by it after a log-out and a reload',
  async (t, browser) => {
    const page = await openPanelPage(t, browser)
    const hand = mouseOn(page)
    await hand.press('Create an account…')
    t.true(await page.getByRole('button', { name: 'Create an account', exact: true }).isDisabled())
    await hand.press('Cancel')
    await createAccount(page, hand)
    await page.getByText('opens again by PIN on this device').waitFor()
    for (const leave of [() => hand.press('Log out'), () => page.reload()]) {
      await leave()
      await hand.press('Log in…')
      await hand.fill('PIN', '2580')
      await hand.press('Log in')
      await page.getByText('opens again by PIN on this device').waitFor()
    }
  }
)

browserTest('the page works when its folder is opened without any server', async (t, browser) => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto(new URL('../../devtools/page/index.html', import.meta.url).href)
  const hand = mouseOn(page)
  await createAccount(page, hand, { Username: 'alice', Password: 'correct horse battery' })
  await page.reload()
  await hand.press('Log in…')
  t.is(await page.getByLabel('Username').inputValue(), 'alice')
})
