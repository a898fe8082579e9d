/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { engine, wallet } from '../helpers/devtools-stage.ts'
import { bringAxe, faultsOf } from './helpers/axe.ts'
import { withChromium } from './helpers/chromium.ts'
import { createAccount, createWallet } from './helpers/first-steps.ts'
import { mouseOn, openPanelPage } from './helpers/panel-page.ts'
import { openScene, untilStatus } from './helpers/served-scene.ts'

const browserTest = withChromium(test, { isSerial: true })
const PASSWORD = 'correct horse battery'

/** Saves what the open dialog is about, and gives its name and text. */
const saveFrom = async (page: Page): Promise<{ readonly name: string; readonly text: string }> => {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the file' }).click()
  const file = await download
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
}

/** Chooses a file in the dialog that opens one. */
const choose = async (page: Page, body: Buffer | string): Promise<void> => {
  await page.getByRole('button', { name: 'Open a recording…' }).click()
  await page.locator('input[type=file]').setInputFiles({
    ...{ name: 'holdfast.ndjson', mimeType: 'application/x-ndjson' },
    buffer: Buffer.from(body)
  })
}

/** Records an account, a wallet and its first money; the recording is over, and its dialog open. */
const recordStory = async (t: ExecutionContext, browser: Browser): Promise<Page> => {
  const page = await openPanelPage(t, browser)
  const hand = mouseOn(page)
  await page.keyboard.press('R')
  await page.getByRole('button', { name: 'Stop recording' }).waitFor()
  await createAccount(page, hand, { Username: 'alice', Password: PASSWORD })
  await createWallet(page, hand, { name: 'Savings' })
  await hand.press('Fund')
  await page.locator('.main tbody').getByText('synced').waitFor()
  await hand.open('Hooks')
  // On a slow machine so much happens after it that its row is out of sight.
  const filter = page.getByPlaceholder('Filter calls')
  await filter.fill('transactionsChanged')
  await page.locator('.main tbody').getByText('transactionsChanged').first().waitFor()
  await filter.fill('')
  await hand.open('Engines')
  await page.keyboard.press('R')
  await page.getByRole('dialog', { name: 'Save the recording' }).waitFor()
  return page
}

const engineRows = (page: Page): Promise<number> => page.locator('.main tbody tr:not(.space)').count()

browserTest(
  'a recording is made and saved without addresses and secrets, opened, walked through and left again',
  async (t, browser) => {
    const page = await recordStory(t, browser)
    t.true(await page.getByLabel('Leave addresses and transaction ids out').isChecked())
    const { name, text } = await saveFrom(page)
    t.regex(name, /^holdfast-\d{4}(-\d\d){5}\.ndjson$/)
    await page.getByText(`Saved as ${name}`).waitFor()
    t.true(text.includes('Savings') && text.includes('alice'))
    t.regex(text, /hidden \(64 letters, [0-9a-f]{8}\)/)
    t.notRegex(text, /"[0-9a-f]{64}"/)
    t.false(text.includes(PASSWORD))

    await choose(page, text)
    await page.getByText('Viewing a recording', { exact: true }).waitFor()
    t.is(await engineRows(page), 1)
    for (const runAction of ['Log out', 'Fund', 'Pause', 'Create a wallet…', 'Record'])
      t.is(await page.getByRole('button', { name: runAction, exact: true }).count(), 0, runAction)

    const slider = page.getByRole('slider', { name: 'Moment' })
    const last = Number(await slider.getAttribute('max'))
    t.is(Number(await slider.inputValue()), last)
    await page.keyboard.press('[')
    t.is(Number(await slider.inputValue()), last - 1)
    await page.keyboard.press(']')
    await page.keyboard.press(']')
    t.is(Number(await slider.inputValue()), last)
    // As a keyboard does that writes brackets with AltGr.
    await page.evaluate(() => {
      const altGr = { ctrlKey: true, altKey: true, modifierAltGraph: true }
      document.dispatchEvent(new KeyboardEvent('keydown', { key: '[', ...altGr }))
    })
    t.is(Number(await slider.inputValue()), last - 1)
    await page.keyboard.press('R')
    t.is(await page.getByRole('button', { name: 'Stop recording' }).count(), 0)
    await slider.focus()
    await page.keyboard.press('Home')
    await page.getByText('No account is logged in').waitFor()
    t.regex((await slider.getAttribute('aria-valuetext')) ?? '', new RegExp(`, 1 of ${last + 1}$`))
    await page.keyboard.press('ArrowRight')
    t.is(await slider.inputValue(), '1')

    await page.getByRole('button', { name: 'Back to live' }).press('Enter')
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    t.true(await page.getByRole('tab', { selected: true }).evaluate(tab => tab.matches(':focus')))
    await page.getByRole('button', { name: 'Record', exact: true }).press('Enter')
    const stop = page.getByRole('button', { name: 'Stop recording' })
    t.true(await stop.evaluate(button => button.matches(':focus')))
  }
)

browserTest(
  'a recording that is not saved yet is kept, can be given up, and does not leave with the page unasked',
  async (t, browser) => {
    const page = await recordStory(t, browser)
    await page.keyboard.press('Escape')
    await page.getByText('Not saved yet').waitFor()
    await page.getByRole('button', { name: 'Save…', exact: true }).click()
    await page.getByLabel('Leave addresses and transaction ids out').uncheck()
    const { text } = await saveFrom(page)
    t.regex(text, /"[0-9a-f]{64}"/)
    t.false(text.includes(PASSWORD))
    await page.getByRole('button', { name: 'Save a snapshot…' }).click()
    await page.getByRole('dialog', { name: 'Save a snapshot' }).waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    const requested = page.waitForEvent('dialog')
    void page.close({ runBeforeUnload: true })
    const question = await requested
    t.is(question.type(), 'beforeunload')
    await question.dismiss()
    await page.getByRole('button', { name: 'Stop recording' }).waitFor()
  }
)

browserTest(
  'what is no recording is refused in the dialog with its line, and a dropped, compressed one is opened',
  async (t, browser) => {
    const page = await recordStory(t, browser)
    const { text } = await saveFrom(page)
    await choose(page, text.replace('"fromSeq":', '"fromSequence":'))
    const alert = page.getByRole('dialog', { name: 'Open a recording' }).getByRole('alert')
    await alert.waitFor()
    t.regex((await alert.textContent()) ?? '', /BAD_RECORDING.*Line 3 of the recording is damaged\./)
    await page.keyboard.press('Escape')

    const packed = gzipSync(text).toString('base64')
    await page.locator('.panel').evaluate((panel, base64) => {
      const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([bytes], 'holdfast.ndjson.gz'))
      panel.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    }, packed)
    await page.getByText('Viewing a recording', { exact: true }).waitFor()
    t.is(await engineRows(page), 1)
  }
)

browserTest(
  'the panel is held still with a key: it shows what it showed, counts what waits, and goes on',
  async (t, browser) => {
    const { stage, server, openTab, complaints } = await openScene(t, browser)
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Savings' }))
    stage.emit('engineChanged', engine('wallet-one'))
    const tab = await openTab(server.url)
    await untilStatus(tab, 'live')
    await tab.getByText('Savings').first().waitFor()
    await tab.keyboard.press('p')
    await tab.getByText('0 events wait', { exact: true }).waitFor()
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Renamed' }))
    await stage.clock.advance(100)
    await tab.getByText('1 event waits', { exact: true }).waitFor()
    t.is(await tab.getByText('Savings').count(), 1)
    await tab.keyboard.press('p')
    await tab.getByText('Renamed').first().waitFor()
    t.deepEqual(complaints, [])
  }
)

browserTest(
  'a panel whose kernel is gone saves what it knew last, and opens it again',
  async (t, browser) => {
    const { stage, server, openTab } = await openScene(t, browser)
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Savings' }))
    stage.emit('engineChanged', engine('wallet-one'))
    const tab = await openTab(server.url)
    await untilStatus(tab, 'live')
    await tab.keyboard.press('R')
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Renamed' }))
    await stage.clock.advance(100)
    await tab.getByText('Renamed').first().waitFor()
    await server.close()
    await untilStatus(tab, 'lost')
    await tab.keyboard.press('R')
    const recorded = await saveFrom(tab)
    await tab.getByRole('button', { name: 'Save a snapshot…' }).click()
    const snapshot = await saveFrom(tab)

    await choose(tab, snapshot.text)
    await tab.getByText('Viewing a snapshot', { exact: true }).waitFor()
    t.is(await tab.getByText('Renamed').count(), 1)
    t.is(await tab.getByRole('slider').count(), 0)
    await choose(tab, recorded.text)
    await tab.getByText('Viewing a recording', { exact: true }).waitFor()
    await tab.keyboard.press('[')
    await tab.getByText('Savings').first().waitFor()
    await tab.getByRole('button', { name: 'Back to live' }).click()
    await untilStatus(tab, 'lost')
  }
)

for (const colorScheme of ['light', 'dark'] as const) {
  browserTest(
    `recording, saving, opening and walking through are free of faults of access in ${colorScheme} colours`,
    async (t, browser) => {
      // The examiner puts markup into the page, which the page's own policy forbids.
      const page = await openPanelPage(t, browser, { colorScheme, bypassCSP: true })
      await bringAxe(page)
      const faults: string[] = []
      const note = async (state: string): Promise<void> => {
        for (const fault of await faultsOf(page)) faults.push(`${state}: ${fault}`)
      }
      await page.keyboard.press('R')
      await page.getByRole('button', { name: 'Stop recording' }).waitFor()
      await note('recording')
      await mouseOn(page).press('Create an account…')
      await mouseOn(page).fill('PIN', '2580')
      await mouseOn(page).press('Create an account')
      await page.getByRole('button', { name: 'Log out' }).waitFor()
      await page.keyboard.press('p')
      await note('held still')
      await page.keyboard.press('p')
      await page.keyboard.press('R')
      await page.getByRole('dialog', { name: 'Save the recording' }).waitFor()
      await note('the dialog that saves')
      const { text } = await saveFrom(page)
      await choose(page, 'not a recording')
      await page.getByRole('dialog').getByRole('alert').waitFor()
      await note('the dialog that opens')
      await page.keyboard.press('Escape')
      await choose(page, text)
      await page.getByText('Viewing a recording', { exact: true }).waitFor()
      await note('a recording')
      await page.setViewportSize({ width: 320, height: 700 })
      await note('a recording at 320 pixels')
      t.deepEqual(faults, [])
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      t.is(wide, 320)
    }
  )
}
