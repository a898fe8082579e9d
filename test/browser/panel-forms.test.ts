/// <reference lib="dom" />
import test from 'ava'
import type { Locator, Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { buttonOf as button, heldPanelsFor } from './helpers/held-panel.ts'
import { mouseOn } from './helpers/panel-page.ts'
import type { HeldPage } from './page/held-page.ts'

declare const held: HeldPage
/** Of a file that is read for as long as a test likes. */
declare const slowFile: { write(text: string): void; end(): void; readonly isLeft: boolean }

const browserTest = withChromium(test, { isSerial: true })
const openAt = heldPanelsFor(test)

const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
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
const BTC_EUR = {
  fromCurrency: 'BTC',
  toCurrency: 'iso:EUR',
  rate: 88_000,
  hops: [
    {
      ...{ fromCurrency: 'BTC', toCurrency: 'iso:EUR', rate: 88_000, source: 'kraken', at: 1_767_268_795 },
      ...{ ageSeconds: 5, bias: 0, isInverted: false, cost: 1.14 }
    }
  ],
  cost: 1.14,
  isStale: false
}

const review = (page: Page): Locator => page.getByRole('dialog', { name: /^Review this/ })
const requestedNames = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => held.requested.map(({ name }) => name))

const fillPayment = async (page: Page): Promise<void> => {
  await page.getByLabel('Address').fill(ADDRESS)
  await page.getByRole('textbox', { name: 'Amount' }).fill('0.01')
}

/** Drops a file onto the panel that is read as slowly as `slowFile` says. */
const dropSlowFile = (page: Page): Promise<void> =>
  page.evaluate(() => {
    let pageStream: ReadableStreamDefaultController<Uint8Array> | undefined
    let isLeft = false
    const file = {
      slice: () => ({ arrayBuffer: async () => new TextEncoder().encode('{"').buffer }),
      stream: () =>
        new ReadableStream<Uint8Array>({
          start: controller => {
            pageStream = controller
          },
          cancel: () => {
            isLeft = true
          }
        })
    }
    const slowFile = {
      write: (text: string) => pageStream?.enqueue(new TextEncoder().encode(text)),
      end: () => pageStream?.close(),
      get isLeft() {
        return isLeft
      }
    }
    Object.assign(globalThis, { slowFile })
    const drop = new DragEvent('drop', { bubbles: true, composed: true, cancelable: true })
    Object.defineProperty(drop, 'dataTransfer', { value: { files: [file], types: ['Files'] } })
    const panel = document.body.firstElementChild?.shadowRoot?.querySelector('.panel')
    panel?.dispatchEvent(drop)
  })

browserTest(
  'what was typed beside a wallet is there again after a hold and after a lost connection',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await fillPayment(page)
    const isTyped = async (): Promise<readonly string[]> => [
      await page.getByLabel('Address').inputValue(),
      await page.getByRole('textbox', { name: 'Amount' }).inputValue()
    ]
    await page.getByRole('tab', { name: 'Engines' }).press('p')
    await page.getByRole('region', { name: 'View paused' }).waitFor()
    t.is(await button(page, 'Review…').count(), 0)
    t.false(await page.getByLabel('Address').isVisible())
    await button(page, 'Resume view').click()
    t.deepEqual(await isTyped(), [ADDRESS, '0.01'])
    await page.evaluate(() => held.status({ connection: 'lost' }))
    await page.getByLabel('Address').waitFor({ state: 'hidden' })
    await page.evaluate(() => held.status({ connection: 'live' }))
    await page.getByLabel('Address').waitFor()
    t.deepEqual(await isTyped(), [ADDRESS, '0.01'])
  }
)

browserTest(
  'a failure and a lost connection are shown once, in the dialog where there is one',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await fillPayment(page)
    await button(page, 'Resync').click()
    await page.evaluate(() => held.refuse({ code: 'ENGINE_FAILED', message: 'It did not start.' }))
    await page.getByRole('alert').waitFor()
    t.is(await page.getByText('It did not start.').count(), 1)
    await button(page, 'Create an account…').click()
    await page.getByLabel('PIN').fill('2580')
    await button(page, 'Create an account').click()
    await page.evaluate(() => held.refuse({ code: 'USERNAME_TAKEN', message: 'Somebody has it.' }))
    const dialog = page.getByRole('dialog', { name: 'Create an account' })
    await dialog.getByRole('alert').getByText('Somebody has it.').waitFor()
    t.is(await page.locator('[role=alert]').count(), 1)
    await button(page, 'Cancel').click()
    await page.evaluate(() => held.status({ connection: 'lost' }))
    await page.getByRole('alert').getByText('Lost').waitFor()
    const mark = page.locator('.head [role=status]')
    t.deepEqual([await mark.textContent(), await mark.getAttribute('aria-live')], ['lost', 'off'])
  }
)

browserTest('a review that ends late leaves the review that has come since open', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  const query = async (draftId: string): Promise<void> => {
    await fillPayment(page)
    await button(page, 'Review…').click()
    await page.evaluate(([id, what]) => held.answerLast({ draftId: id, review: what }), [
      draftId,
      REVIEW
    ] as const)
    await review(page).waitFor()
  }
  await query('first')
  await button(page, 'Sign and send').click()
  await page.evaluate(() => held.replaceClient())
  await review(page).waitFor({ state: 'detached' })
  await query('second')
  await page.evaluate(() => held.answer({ txid: 'abcd' }))
  await page.evaluate(() => new Promise(requestAnimationFrame))
  t.true(await review(page).isVisible())
  await button(page, 'Sign and send').click()
  t.deepEqual(await page.evaluate(() => held.requested.at(-1)), {
    name: 'spend.approve',
    input: { draftId: 'second' }
  })
})

browserTest(
  'a review names the wallets by their whole ids, and counts down no more once it is approved',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/quotes/round-2%20thornbridge')
    await button(page, 'Review and approve…').click()
    const walletIds = await page.evaluate(() => [...held.view().wallets.keys()])
    await page.evaluate(
      what => {
        // A wallet without a name, which used to be half of its id.
        const wallets = new Map(
          [...held.view().wallets].map(([id, wallet]) => [id, { ...wallet, name: null }] as const)
        )
        held.emit({ wallets })
        held.answer({ draftId: 'draft-1', review: what })
      },
      {
        ...REVIEW,
        toWalletId: walletIds[1] ?? '',
        payoutAddress: 'ltc1payout',
        expiresAt: 1_767_268_800_000 + 61_000
      }
    )
    const dialog = review(page)
    for (const id of walletIds.slice(0, 2)) await dialog.getByText(id, { exact: true }).waitFor()
    await dialog.getByText('1:01').waitFor()
    await button(page, 'Sign and swap').click()
    await dialog.getByText('The wallet signs and sends it').waitFor()
    t.is(await dialog.getByText(/^\d:\d\d$/).count(), 0)
  }
)

browserTest('the command below a payment and its review asks as they do', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
  await fillPayment(page)
  const command = `$ holdfast send Savings --to ${ADDRESS} --amount '0.01 BTC' --fee standard`
  await page.getByRole('region', { name: 'Send' }).getByText(command, { exact: true }).waitFor()
  await button(page, 'Review…').click()
  await page.evaluate(what => held.answer({ draftId: 'draft-1', review: what }), REVIEW)
  await review(page).getByText(command, { exact: true }).waitFor()
  t.is(await page.getByText('--dry-run').count(), 0)
})

browserTest(
  'a file that is dropped closes the dialog that asks for one, once it is read',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/logs')
    await page.getByRole('button', { name: 'Open a recording…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Open a recording' })
    await dropSlowFile(page)
    await dialog.getByText('Reading the file…').waitFor()
    await page.evaluate(() => {
      const slices = Object.fromEntries(Object.keys(held.view()).map(name => [name, []]))
      const header = {
        format: 'holdfast-devtools-recording',
        version: 1,
        kernelId: 'k',
        at: 1_767_268_800_000
      }
      slowFile.write(`${JSON.stringify(header)}\n`)
      slowFile.write(
        `${JSON.stringify({ type: 'snapshot', at: 1_767_268_800_000, seq: 0, slices, events: [] })}\n`
      )
      slowFile.end()
    })
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Viewing a snapshot').waitFor()
    t.is(await page.getByRole('alert').count(), 0)
  }
)

browserTest('a file whose dialog is cancelled is read no further, and not shown', async (t, browser) => {
  const page = await openAt(t, browser, '#/logs')
  await page.getByRole('button', { name: 'Open a recording…' }).click()
  await dropSlowFile(page)
  await page.getByText('Reading the file…').waitFor()
  await button(page, 'Cancel').click()
  await page.evaluate(() => slowFile.write('{"type":'))
  await page.waitForFunction(() => slowFile.isLeft)
  t.is(await page.getByRole('dialog').count(), 0)
  t.is(await page.getByRole('alert').count(), 0)
  t.true(await page.getByText('live', { exact: true }).isVisible())
})

browserTest(
  'the sources are asked once, and the pair again with the biases that were typed',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/rates')
    const hand = mouseOn(page)
    await hand.fill('From', 'XMR')
    await hand.fill('To', 'iso:NOK')
    await page.getByText('Biases').click()
    const [source = ''] = await page.evaluate(() => [...held.view().rateProviders.keys()])
    await page.locator('.biases input').first().fill('0.5')
    await button(page, 'Find the route').click()
    const nothing = { route: null, alternatives: [] }
    await page.evaluate(answer => held.answer(answer), nothing)
    // The sources are asked by itself once, then the pair.
    await page.waitForFunction(() => held.requested.at(-1)?.name === 'rates.refresh')
    await page.evaluate(() => held.answer({}))
    await page.waitForFunction(() => held.requested.at(-1)?.name === 'rates.route')
    await page.evaluate(answer => held.answer(answer), nothing)
    const again = button(page, 'Ask the sources')
    await again.click()
    await page.evaluate(() => held.answer({}))
    await page.waitForFunction(() => held.requested.length === 5)
    t.is(await again.getAttribute('aria-busy'), 'true')
    await again.click()
    t.is((await requestedNames(page)).length, 5)
    t.deepEqual(await page.evaluate(() => held.requested.at(-1)?.input), {
      ...{ from: 'XMR', to: 'iso:NOK', alternatives: 4 },
      biases: { [source]: 0.5 }
    })
  }
)

browserTest('a route that was asked for is shown again when one comes back', async (t, browser) => {
  const page = await openAt(t, browser, '#/rates')
  const hand = mouseOn(page)
  await hand.fill('From', 'BTC')
  await hand.fill('To', 'iso:EUR')
  await page.getByText('Biases').click()
  await page.locator('.biases input').first().fill('0.5')
  await button(page, 'Find the route').click()
  await page.evaluate(route => held.answer({ route, alternatives: [] }), BTC_EUR)
  await page.getByText('1 BTC = 88000 iso:EUR').waitFor()
  await hand.open('Logs')
  await hand.open('Rate routes')
  await page.getByText('1 BTC = 88000 iso:EUR').waitFor()
  t.is(await page.getByRole('textbox', { name: 'From' }).inputValue(), 'BTC')
  t.is(await page.locator('.biases input').first().inputValue(), '0.5')
})

browserTest(
  'an account that nothing opens again is left only after a second question',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/engines')
    await page.evaluate(() => {
      const lists = { walletIds: [], activeWalletIds: [], archivedWalletIds: [], hiddenWalletIds: [] }
      const account = {
        ...lists,
        accountId: 'x',
        appId: '',
        isLoggedIn: true,
        isPaused: false,
        loginMethods: []
      }
      held.emit({ accounts: new Map([['x', account]]) })
    })
    await page.getByText('cannot be opened again').waitFor()
    const dialog = page.getByRole('dialog', { name: 'This account cannot be opened again' })
    await button(page, 'Log out…').click()
    await dialog.getByText('unless you save its login key').waitFor()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.deepEqual(await requestedNames(page), [])
    await button(page, 'Log out…').click()
    await dialog.getByRole('button', { name: 'Log out for good' }).click()
    await page.evaluate(() => held.answer({}))
    await dialog.waitFor({ state: 'detached' })
    t.deepEqual(await requestedNames(page), ['account.logout'])
  }
)
