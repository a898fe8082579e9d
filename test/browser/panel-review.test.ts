/// <reference lib="dom" />
import test from 'ava'
import type { Locator, Page } from 'playwright-core'
import type { OpenPaymentSnapshot } from '../../kernel/index.ts'
import { waitFor } from '../helpers/device.ts'
import { withChromium } from './helpers/chromium.ts'
import { buttonOf as button, heldPanelsFor } from './helpers/held-panel.ts'
import type { HeldPage } from './page/held-page.ts'

declare const held: HeldPage

const browserTest = withChromium(test, { isSerial: true })
const openAt = heldPanelsFor(test)

const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
const COLD = 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU='
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const REVIEW = {
  walletId: SAVINGS,
  currencyCode: 'BTC',
  nativeAmount: '1000000',
  networkFee: '2260',
  total: '1002260',
  remaining: '0',
  targets: [{ publicAddress: ADDRESS, nativeAmount: '1000000' }]
}

const OPEN: OpenPaymentSnapshot = {
  ...{
    txid: 'ab'.repeat(32),
    tokenId: null,
    currencyCode: 'BTC',
    nativeAmount: '-1000282',
    networkFee: '282'
  },
  ...{ at: 1_767_268_700_000, state: 'refused', reason: 'no' },
  targets: [{ publicAddress: ADDRESS, nativeAmount: '1000000' }]
}

const dialog = (page: Page): Locator => page.getByRole('dialog', { name: 'Review this payment' })
const requestedNames = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => held.requested.map(({ name }) => name))

/** Asks for a payment and waits for its review. */
const reviewPayment = async (page: Page): Promise<void> => {
  await page.getByLabel('Address').fill(ADDRESS)
  await page.getByRole('textbox', { name: 'Amount' }).fill('0.01')
  await button(page, 'Review…').click()
  await page.evaluate(review => held.answer({ draftId: 'draft-1', review }), REVIEW)
  await dialog(page).waitFor()
}

browserTest('a payment that is approved twice at once is approved once', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  await reviewPayment(page)
  await button(page, 'Sign and send').evaluate((approve: HTMLElement) => {
    approve.click()
    approve.click()
  })
  await button(page, 'Sign and send').press('Enter')
  t.deepEqual(await requestedNames(page), ['spend.draft', 'spend.approve'])
  await page.evaluate(() => held.answer({ txid: 'abcd' }))
  await page.getByText('Sent as abcd').waitFor()
})

browserTest(
  'a review stays open while its payment is sent, whatever is pressed, and keeps all keys from the panel behind',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await reviewPayment(page)
    await button(page, 'Sign and send').click()
    await dialog(page).getByText('The wallet signs and sends it').waitFor()
    t.true(await button(page, 'Discard').isDisabled())
    for (const key of ['Escape', 'Escape', 'Escape', '?', 'g', 'q']) await page.keyboard.press(key)
    t.true(await dialog(page).isVisible())
    t.is(await page.getByRole('dialog').count(), 1)
    t.true(page.url().includes('#/engines/'))
    t.deepEqual(await requestedNames(page), ['spend.draft', 'spend.approve'])
  }
)

browserTest(
  'Escape says no to a review, also after a click on its words, and goes no further',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await reviewPayment(page)
    await dialog(page).getByText('Nothing is signed before').click()
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('complementary', { name: 'Savings' }).waitFor()
    t.deepEqual(await requestedNames(page), ['spend.draft', 'spend.discard'])
  }
)

browserTest(
  'a review stays open when the page shows another place, and the result of a payment is shown where it was made',
  async (t, browser) => {
    const page = await openAt(t, browser, '')
    await button(page, 'Savings').click()
    await reviewPayment(page)
    await page.goBack()
    await page.getByRole('complementary', { name: 'Savings' }).waitFor({ state: 'detached' })
    await button(page, 'Sign and send').click()
    await page.evaluate(() => held.answer({ txid: 'abcd' }))
    await dialog(page).waitFor({ state: 'detached' })
    await button(page, 'Savings').click()
    await page.getByText('Sent as abcd').waitFor()
    t.deepEqual(await requestedNames(page), ['spend.draft', 'spend.approve'])
  }
)

browserTest(
  'nothing is approved without a connection, and an approval that was being sent may have arrived',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await reviewPayment(page)
    await page.evaluate(() => held.status({ connection: 'lost' }))
    t.true(await button(page, 'Sign and send').isDisabled())
    await dialog(page).getByText('no connection').waitFor()
    await page.evaluate(() => held.status({ connection: 'live' }))
    await button(page, 'Sign and send').click()
    await page.evaluate(() => {
      held.status({ connection: 'lost' })
      held.refuse({
        ...{ code: 'DISCONNECTED', message: 'It is not known whether it was done.' },
        details: { outcome: 'unknown' }
      })
    })
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByText('It is not known whether it was done.').waitFor()
    await page.evaluate(() => held.status({ connection: 'live' }))
    t.true(await page.getByText('It is not known whether it was done.').isVisible())
    t.is(await page.getByRole('dialog').count(), 0)
    // Also when the notice has gone, as it does when another dialog opens.
    await page.keyboard.press('?')
    await page.keyboard.press('Escape')
    await page.getByRole('status').getByText('nobody knows whether it was sent').waitFor()
  }
)

browserTest(
  'a review warns of an open payment to the same payee, and approves it only once a yes was typed',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await page.getByLabel('Address').fill(ADDRESS)
    await page.getByRole('textbox', { name: 'Amount' }).fill('0.01')
    await button(page, 'Review…').click()
    const again = { ...REVIEW, openPayments: [OPEN], similar: [OPEN.txid] }
    await page.evaluate(review => held.answer({ draftId: 'draft-1', review }), again)
    await dialog(page).getByRole('alert').getByText(`The open payment ${OPEN.txid} pays the same`).waitFor()
    await dialog(page).getByText('0.01 BTC', { exact: true }).nth(1).waitFor()
    await dialog(page).getByText('a server refused it, others may have it: no').waitFor()
    const yes = page.getByLabel('Type yes to pay a second time')
    t.true(await button(page, 'Sign and send').isDisabled())
    await yes.fill('y')
    await yes.press('Enter')
    t.true(await button(page, 'Sign and send').isDisabled())
    await yes.fill('yes')
    await button(page, 'Sign and send').click()
    t.deepEqual(await page.evaluate(() => held.requested.at(-1)), {
      name: 'spend.approve',
      input: { draftId: 'draft-1', again: [OPEN.txid] }
    })
  }
)

browserTest(
  'an open payment is sent again, replaced after a review, and forgotten once its start was typed',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await page.evaluate(
      ({ walletId, payment }) => {
        const { wallets } = held.view()
        const wallet = wallets.get(walletId)
        if (wallet === undefined) throw new Error('The sample has this wallet')
        held.emit({ wallets: new Map(wallets).set(walletId, { ...wallet, openPayments: [payment] }) })
      },
      { walletId: SAVINGS, payment: OPEN }
    )
    const about = { walletId: SAVINGS, txid: OPEN.txid }
    const lastRequested = () => page.evaluate(() => held.requested.at(-1))
    await button(page, 'Send again…').click()
    await button(page, 'Send the same bytes again').click()
    t.deepEqual(await lastRequested(), { name: 'spend.resend', input: about })
    await page.evaluate(txid => held.answer({ txid }), OPEN.txid)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Sent again', { exact: true }).waitFor()

    await button(page, 'Forget…').click()
    await page.getByRole('alert').getByText('you cannot take the first one back').waitFor()
    const word = page.getByLabel(`Type “${OPEN.txid.slice(0, 8)}” to forget it`)
    await word.fill('yes')
    t.true(await button(page, 'Forget it').isDisabled())
    await word.fill(OPEN.txid.slice(0, 8))
    await button(page, 'Forget it').click()
    t.deepEqual(await lastRequested(), {
      name: 'spend.forget',
      input: { ...about, confirm: OPEN.txid.slice(0, 8) }
    })
    await page.evaluate(() => held.refuse({ code: 'TX_NOT_FOUND', message: 'There is no such payment.' }))
    await page.getByRole('dialog').getByText('There is no such payment.').waitFor()
    await button(page, 'Cancel').click()

    await button(page, 'Raise the fee…').click()
    await page.getByRole('dialog').getByLabel('Fee').selectOption('high')
    await page.getByRole('dialog').getByRole('button', { name: 'Review…' }).click()
    t.deepEqual(await lastRequested(), { name: 'spend.replace', input: { ...about, fee: 'high' } })
    const review = { ...REVIEW, openPayments: [OPEN], replaces: OPEN.txid }
    await page.evaluate(made => held.answer({ draftId: 'draft-1', review: made }), review)
    await dialog(page).getByText('this payment replaces it').waitFor()
    t.is(await page.getByRole('dialog').count(), 1)
    await dialog(page).getByText(`holdfast tx replace Savings ${OPEN.txid} --fee high`).waitFor()
    await button(page, 'Sign and send').click()
    t.deepEqual(await lastRequested(), { name: 'spend.approve', input: { draftId: 'draft-1' } })
  }
)

browserTest('a second review does not take the place of the one that is read', async (t, browser) => {
  const page = await openAt(t, browser, '')
  for (const name of ['Savings', 'Spare change']) {
    await button(page, name).click()
    await page.getByLabel('Address').fill(ADDRESS)
    await page.getByRole('textbox', { name: 'Amount' }).fill('0.01')
    await button(page, 'Review…').click()
  }
  await page.evaluate(review => held.answer({ draftId: 'draft-1', review }), REVIEW)
  await dialog(page).waitFor()
  await page.evaluate(
    review => held.answer({ draftId: 'draft-2', review: { ...review, nativeAmount: '999' } }),
    REVIEW
  )
  await page.getByText('A second review was dropped').first().waitFor()
  await button(page, 'Sign and send').click()
  t.deepEqual(await page.evaluate(() => held.requested.slice(2)), [
    { name: 'spend.discard', input: { draftId: 'draft-2' } },
    { name: 'spend.approve', input: { draftId: 'draft-1' } }
  ])
})

browserTest(
  'a review names its wallet, and every target, also where two are the same',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await page.getByLabel('Address').fill(ADDRESS)
    await page.getByRole('textbox', { name: 'Amount' }).fill('0.01')
    await button(page, 'Review…').click()
    await page.evaluate(review => {
      const target = { ...review.targets[0], publicAddress: 'twice', nativeAmount: '500000' }
      held.answer({
        draftId: 'draft-1',
        review: { ...review, walletId: 'nameless', targets: [target, target] }
      })
    }, REVIEW)
    await dialog(page).waitFor()
    t.is(await dialog(page).getByText('twice').count(), 2)
    await dialog(page).getByText('nameless').waitFor()
  }
)

browserTest(
  'a review of the client before does not take the place of one of the present client',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await page.getByLabel('Address').fill(ADDRESS)
    await page.getByLabel('Amount').fill('1')
    await button(page, 'Review…').click()
    await page.evaluate(() => held.replaceClient())
    await page.getByLabel('Address').fill(ADDRESS)
    await page.getByLabel('Amount').fill('1')
    await button(page, 'Review…').click()
    await page.evaluate(review => held.answerLast({ draftId: 'new', review }), REVIEW)
    await dialog(page).waitFor()
    await page.evaluate(review => held.answer({ draftId: 'old', review }), REVIEW)
    t.deepEqual(await page.evaluate(() => held.requested.at(-1)), {
      name: 'spend.discard',
      input: { draftId: 'old' }
    })
    await button(page, 'Sign and send').click()
    t.deepEqual(await page.evaluate(() => held.requested.at(-1)), {
      name: 'spend.approve',
      input: { draftId: 'new' }
    })
  }
)

browserTest('a review is of the present, also over a panel that is held still', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  await page.getByLabel('Address').fill(ADDRESS)
  await page.getByLabel('Amount').fill('0.01')
  await button(page, 'Review…').click()
  await page.getByRole('tab', { name: 'Engines' }).press('p')
  await page.getByRole('region', { name: 'View paused' }).waitFor()
  await page.evaluate(review => held.answer({ draftId: 'draft-1', review }), REVIEW)
  await button(page, 'Sign and send').click()
  await page.evaluate(() => held.answer({ txid: 'abcd' }))
  await dialog(page).waitFor({ state: 'detached' })
  t.deepEqual(await requestedNames(page), ['spend.draft', 'spend.approve'])
})

browserTest('the most of one asset is not put down for another', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(COLD)}`)
  await page.getByLabel('Address').fill(ADDRESS)
  await button(page, 'Max').click()
  await page.getByLabel('Pay in').selectOption('badf00d5')
  await page.evaluate(() => held.answer({ nativeAmount: '1200' }))
  t.is(await page.getByLabel('Amount').inputValue(), '')
  await button(page, 'Max').click()
  await page.evaluate(() => held.answer({ nativeAmount: '1200' }))
  await waitFor(async () => (await page.getByLabel('Amount').inputValue()) === '0.0012')
})

browserTest(
  'a payment that fails while its form is out of sight is reported at the bottom',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await page.getByLabel('Address').fill('nonsense')
    await page.getByLabel('Amount').fill('1')
    await button(page, 'Review…').click()
    await page.getByRole('tab', { name: 'Logs' }).click()
    await page.evaluate(() => held.refuse({ code: 'ADDRESS_INVALID', message: 'This is no address.' }))
    await page.getByRole('alert').getByText('This is no address.').waitFor()
    t.pass()
  }
)

browserTest('a draft that is gone already is given up without a word', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  await reviewPayment(page)
  await button(page, 'Discard').click()
  await page.evaluate(() => held.refuse({ code: 'GONE', message: 'This draft no longer exists' }))
  await dialog(page).waitFor({ state: 'detached' })
  t.is(await page.getByRole('alert').count(), 0)
})

browserTest(
  'the result of one round of quotes is not shown for the same provider in another',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/quotes/round-2%20thornbridge')
    await button(page, 'Review and approve…').click()
    await page.evaluate(review => held.answer({ draftId: 'draft-1', review }), REVIEW)
    await button(page, 'Sign and swap').click()
    await page.evaluate(() => held.answer({ txid: 'abcd' }))
    await page.getByText('Paid in with abcd').waitFor()
    await page.evaluate(() => {
      window.location.hash = '#/quotes/round-9%20thornbridge'
    })
    await page.getByText('Paid in with abcd').waitFor({ state: 'detached' })
    // No such round is here, so no other one stands for it.
    t.is(await button(page, 'Review and approve…').count(), 0)
  }
)

browserTest('a token is chosen, paid in its unit, and named in the command', async (t, browser) => {
  const wallet = 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU='
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(wallet)}`)
  const send = page.getByRole('region', { name: 'Send' })
  await send.getByRole('textbox', { name: 'Amount' }).fill('1')
  await send.getByLabel('Pay in').selectOption({ label: 'Dollar X · 77 USDX' })
  t.is(await send.getByRole('textbox', { name: 'Amount' }).inputValue(), '')
  await send.getByLabel('Address').fill('0xshop')
  await button(page, 'Max').click()
  await page.evaluate(() => held.answer({ nativeAmount: '77000000' }))
  await send.getByText(`holdfast send ${wallet} --token badf00d5 --to 0xshop --amount '77 USDX'`).waitFor()
  await button(page, 'Review…').click()
  const swapRequest = { walletId: wallet, tokenId: 'badf00d5', publicAddress: '0xshop', fee: 'standard' }
  t.deepEqual(await page.evaluate(() => held.requested), [
    { name: 'spend.max', input: swapRequest },
    { name: 'spend.draft', input: { ...swapRequest, nativeAmount: '77000000' } }
  ])
  await page.evaluate(
    review => {
      const paid = {
        nativeAmount: '77000000',
        networkFee: '3',
        currencyCode: 'USDX',
        tokenId: 'badf00d5',
        total: '77000000'
      }
      held.answer({ draftId: 'draft-1', review: { ...review, ...paid } })
    },
    { ...REVIEW, walletId: wallet }
  )
  await dialog(page).getByText('77 USDX', { exact: true }).first().waitFor()
  await dialog(page).getByText('0.03 FTK', { exact: true }).first().waitFor()
  const total = dialog(page).locator('dt', { hasText: 'Total' }).locator('xpath=following-sibling::dd[1]')
  t.regex((await total.textContent()) ?? '', /^77 USDX.*, and 0\.03 FTK/)
})
