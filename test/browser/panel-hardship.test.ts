/// <reference lib="dom" />
import test from 'ava'
import type { Page } from 'playwright-core'
import { withChromium } from './helpers/chromium.ts'
import { buttonOf, heldPanelsFor } from './helpers/held-panel.ts'
import type { HeldPage } from './page/held-page.ts'

declare const held: HeldPage

const browserTest = withChromium(test, { isSerial: true })
const openAt = heldPanelsFor(test)

const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
const TABS = ['Engines', 'Quotes', 'Rate routes', 'Rules', 'Sync', 'Hooks', 'Plugins', 'Logs']

/** Puts a value into every field of all rows of all tables. */
const forge = (page: Page, value: unknown): Promise<void> =>
  page.evaluate(value => {
    const forged = Object.entries(held.view()).map(([slice, rows]) => [
      slice,
      new Map(
        [...rows].map(([id, row]) => [id, Object.fromEntries(Object.keys(row).map(name => [name, value]))])
      )
    ])
    held.emit(Object.fromEntries(forged))
  }, value)

browserTest(
  'rows that hold what makes no sense break no more than what shows them, and the panel says so',
  async (t, browser) => {
    const page = await openAt(t, browser, '#/engines', { mayComplain: true })
    await buttonOf(page, 'Savings').waitFor()
    for (const [what, value] of Object.entries({
      nothing: null,
      figures: 7,
      lists: [[1]],
      objects: { a: 1 }
    })) {
      await forge(page, value)
      let broken = 0
      for (const tab of TABS) {
        await page.getByRole('tab', { name: tab }).click()
        t.is(await page.getByRole('tab', { selected: true }).count(), 1, `${tab} with ${what}`)
        broken += await page.getByRole('tabpanel').getByText('could not be drawn').count()
      }
      t.true(broken > 0, what)
      await page.keyboard.press('ControlOrMeta+k')
      const field = page.getByRole('combobox', { name: 'Find or do' })
      await page.getByText('The palette could not be drawn').or(field).waitFor()
      if ((await field.count()) > 0) await page.keyboard.press('Escape')
      else await buttonOf(page, 'Close').click()
      t.is(await page.getByRole('tab').count(), TABS.length, what)
    }
  }
)

browserTest('a panel that broke is drawn again when what broke it is gone', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`, { mayComplain: true })
  await buttonOf(page, 'Savings').waitFor()
  await page.evaluate(() => {
    const { accounts } = held.view()
    Object.assign(globalThis, { before: accounts })
    held.emit({ accounts: new Map([['x', { accountId: 'x', isLoggedIn: true } as never]]) })
  })
  const panel = page.getByRole('tabpanel')
  await panel.getByText('could not be drawn').waitFor()
  await panel.getByRole('button', { name: 'Try again' }).click()
  await panel.getByText('could not be drawn').waitFor()
  await page.evaluate(() => held.emit({ accounts: (globalThis as unknown as { before: never }).before }))
  await panel.getByRole('button', { name: 'Close it' }).click()
  await buttonOf(page, 'Savings').waitFor()
  t.true(page.url().endsWith('#/engines'))
})

browserTest('a review that cannot be drawn cannot be approved, only given up', async (t, browser) => {
  const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`, { mayComplain: true })
  await page.getByLabel('Address').fill('somewhere')
  await page.getByRole('textbox', { name: 'Amount' }).fill('1')
  await buttonOf(page, 'Review…').click()
  await page.evaluate(() => held.answer({ draftId: 'draft-1', review: { targets: null } as never }))
  await page.getByText('The review could not be drawn').waitFor()
  t.is(await page.getByRole('button', { name: 'Sign and' }).count(), 0)
  await buttonOf(page, 'Discard').click()
  t.deepEqual(await page.evaluate(() => held.requested.at(-1)), {
    name: 'spend.discard',
    input: { draftId: 'draft-1' }
  })
  await page.getByText('The review could not be drawn').waitFor({ state: 'detached' })
})

browserTest(
  'with another client, dialogs close, failures go, and answers to the one before change nothing',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    await buttonOf(page, 'Show an address').click()
    await buttonOf(page, 'Resync').click()
    await page.evaluate(() => {
      held.answer({ publicAddress: 'of-the-first', uri: 'bitcoin:of-the-first' })
      held.refuse({ code: 'BUSY', message: 'It is busy.' })
    })
    await page.getByText('of-the-first').waitFor()
    await page.getByText('It is busy.').waitFor()
    await buttonOf(page, 'Pause').click()
    await buttonOf(page, 'Log in…').click()
    await page.getByRole('dialog').waitFor()
    await page.evaluate(() => {
      held.replaceClient()
      held.refuse({ code: 'BUSY', message: 'It was the first.' })
    })
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await buttonOf(page, 'Show an address').waitFor()
    t.is(await page.getByText('of-the-first').count(), 0)
    t.is(await page.getByRole('alert').count(), 0)
  }
)

browserTest('a panel that is out of the page stays out', async (t, browser) => {
  const page = await openAt(t, browser, '')
  await buttonOf(page, 'Savings').waitFor()
  await page.evaluate(() => {
    held.unmount()
    held.update()
    held.unmount()
  })
  t.is(await page.getByRole('tab').count(), 0)
})

browserTest('an element has one panel at a time, and another one after it', async (t, browser) => {
  const page = await openAt(t, browser, '')
  await buttonOf(page, 'Savings').waitFor()
  t.regex(await page.evaluate(() => held.mountAgain()), /^TypeError: This element already has a shadow root/)
  await buttonOf(page, 'Savings').waitFor()
  await page.evaluate(() => held.unmount())
  t.is(await page.evaluate(() => held.mountAgain()), 'mounted')
  await buttonOf(page, 'Savings').waitFor()
})

browserTest('who has gone elsewhere is not led back by the answer to a question', async (t, browser) => {
  const page = await openAt(t, browser, '#/quotes')
  await page.getByRole('textbox', { name: 'Amount' }).fill('1000')
  await buttonOf(page, 'Ask for quotes').click()
  await page.getByRole('tab', { name: 'Hooks' }).click()
  await page.evaluate(() => held.answer({ roundId: 'round-2' }))
  t.is(await page.getByRole('tab', { selected: true }).textContent(), 'Hooks')
  t.true(page.url().endsWith('#/hooks'))
})

browserTest('a quote that is chosen before the answer to the question stays chosen', async (t, browser) => {
  const page = await openAt(t, browser, '#/quotes')
  await page.getByRole('textbox', { name: 'Amount' }).fill('1000')
  await buttonOf(page, 'Ask for quotes').click()
  await page.getByRole('table', { name: 'Quotes' }).getByRole('button').first().click()
  const chosen = page.getByRole('complementary')
  const title = await chosen.getAttribute('aria-label')
  await page.evaluate(() => held.answer({ roundId: 'round-2' }))
  await page
    .getByRole('button', { name: 'Ask for quotes', exact: true })
    .and(page.locator('[aria-busy=false]'))
    .waitFor()
  t.is(await chosen.getAttribute('aria-label'), title)
  t.false(page.url().endsWith('round-2'))
})

browserTest('an answer that leads somewhere is one step back', async (t, browser) => {
  const page = await openAt(t, browser, '#/quotes')
  await page.getByRole('textbox', { name: 'Amount' }).fill('1000')
  const before = await page.evaluate(() => history.length)
  await buttonOf(page, 'Ask for quotes').click()
  await page.evaluate(() => held.answer({ roundId: 'round-2' }))
  await page.waitForURL(/round-2$/)
  t.is(await page.evaluate(() => history.length), before + 1)
})

browserTest('a wallet that left is no longer asked quotes for', async (t, browser) => {
  const page = await openAt(t, browser, '#/quotes')
  await page.getByLabel('From').selectOption({ label: 'Spare change · litecoin' })
  await page.getByRole('textbox', { name: 'Amount' }).fill('1000')
  await page.evaluate(() => {
    const wallets = [...held.view().wallets].filter(([, { name }]) => name !== 'Spare change')
    held.emit({ wallets: new Map(wallets) })
  })
  await buttonOf(page, 'Ask for quotes').click()
  const shown = await page.getByLabel('From').inputValue()
  t.like(await page.evaluate(() => held.requested.at(-1)?.input), { fromWalletId: shown })
})

browserTest('closing what is beside the table gives the focus back to its row', async (t, browser) => {
  const page = await openAt(t, browser, '#/engines?filter=sav')
  await buttonOf(page, 'Savings').click()
  await buttonOf(page, 'Close').click()
  await page.getByRole('complementary').waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'Savings' }).waitFor()
  t.true(page.url().endsWith('?filter=sav'))
})

browserTest('a dialog that a lost connection closed does not come back by itself', async (t, browser) => {
  const page = await openAt(t, browser, '')
  await buttonOf(page, 'Log in…').click()
  await page.getByRole('dialog').waitFor()
  await page.evaluate(() => held.status({ connection: 'lost' }))
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.evaluate(() => held.status({ connection: 'live' }))
  await buttonOf(page, 'Log in…').waitFor()
  t.is(await page.getByRole('dialog').count(), 0)
})

browserTest('what a recording has far too much of is drawn in part', async (t, browser) => {
  const page = await openAt(t, browser, '#/rates')
  await page.evaluate(() => {
    const [route] = held.view().routes.values()
    const [provider] = held.view().rateProviders.values()
    if (route === undefined || provider === undefined) throw new Error('The sample has none')
    const hops = Array.from({ length: 5000 }, (_, at) => ({
      ...route.hops[0],
      fromCurrency: `C${at}`,
      toCurrency: `C${at + 1}`
    }))
    const providers = Array.from({ length: 5000 }, (_, at) => [`p${at}`, { ...provider, pluginId: `p${at}` }])
    held.status({ connection: 'past' })
    held.emit({
      routes: new Map([['BTC iso:EUR', { ...route, hops } as never]]),
      rateProviders: new Map(providers as never)
    })
  })
  await page.getByText('This route is too long').waitFor()
  t.true((await page.getByRole('row').count()) < 400)
})

browserTest(
  'a button that became another one while the palette was open is not pressed',
  async (t, browser) => {
    const page = await openAt(t, browser, `#/engines/${encodeURIComponent(SAVINGS)}`)
    const change = (isPaused: boolean): Promise<void> =>
      page.evaluate(
        ([id, isPaused]) => {
          const engines = new Map(held.view().engines)
          const engine = engines.get(id)
          if (engine !== undefined) engines.set(id, { ...engine, isPaused })
          held.emit({ engines })
        },
        [SAVINGS, isPaused] as const
      )
    const choosePause = async (): Promise<void> => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.keyboard.type('pause')
      await page.getByRole('option', { name: /^Pause/ }).waitFor()
    }
    await buttonOf(page, 'Pause').waitFor()
    await choosePause()
    await change(true)
    await page.getByRole('option', { name: /^Pause/ }).click()
    await buttonOf(page, 'Resume').waitFor()
    t.deepEqual(await page.evaluate(() => held.requested), [])
    await change(false)
    await choosePause()
    await page.getByRole('option', { name: /^Pause/ }).click()
    t.deepEqual(await page.evaluate(() => held.requested), [
      { name: 'engine.pause', input: { walletId: SAVINGS } }
    ])
  }
)

browserTest(
  'Escape leaves the filter once there is nothing to clear, and shortcuts work again',
  async (t, browser) => {
    const page = await openAt(t, browser, '')
    await buttonOf(page, 'Savings').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('sav')
    await page.keyboard.press('Escape')
    t.is(await page.getByRole('searchbox').inputValue(), '')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    t.is(await page.getByRole('tab', { selected: true }).textContent(), 'Logs')
  }
)
