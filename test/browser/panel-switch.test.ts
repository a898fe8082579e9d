/// <reference lib="dom" />
import test from 'ava'
import { withChromium } from './helpers/chromium.ts'
import { buttonOf as button, heldPanelsFor } from './helpers/held-panel.ts'
import type { HeldPage } from './page/held-page.ts'

declare const held: HeldPage

const browserTest = withChromium(test, { isSerial: true })
const openAt = heldPanelsFor(test)

const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
const COLD = 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU='

browserTest('an action in progress on one wallet does not block an action on another', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  await button(page, 'Resync').click()
  await page.evaluate(id => {
    location.hash = `#/engines/${encodeURIComponent(id)}`
  }, COLD)
  await page.getByText(COLD).first().waitFor()
  await button(page, 'Resync').click()
  t.deepEqual(await page.evaluate(() => held.requested), [
    { name: 'engine.resync', input: { walletId: SAVINGS } },
    { name: 'engine.resync', input: { walletId: COLD } }
  ])
})

browserTest(
  'an amount of a token that was switched off meanwhile is none of the coin',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(COLD)}`)
    const send = page.getByRole('region', { name: 'Send' })
    const amount = send.getByRole('textbox', { name: 'Amount' })
    await send.getByLabel('Pay in').selectOption({ label: 'Dollar X · 77 USDX' })
    await send.getByLabel('Address').fill('0xshop')
    await amount.fill('25')
    await page.evaluate(id => {
      const wallets = new Map(held.view().wallets)
      const wallet = wallets.get(id)
      if (wallet !== undefined) wallets.set(id, { ...wallet, enabledTokenIds: [] })
      held.emit({ wallets })
    }, COLD)
    await send.getByLabel('Pay in').waitFor({ state: 'detached' })
    t.is(await amount.inputValue(), '')
    t.true(await button(page, 'Review…').isDisabled())
  }
)
