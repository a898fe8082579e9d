/// <reference lib="dom" />
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { type Hand, mouseOn, watchConsole } from './helpers/panel-page.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { shoot } from './helpers/shoot.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { TruthPage } from './page/truth-page.ts'

declare const truth: TruthPage

const browserTest = withChromium(test, { isSerial: true })
let site: Promise<ServedFolder> | undefined
test.after.always('the page is no longer served', async () => (await site)?.close())

const PASSWORD = 'a canary that sings 4K'

/** The panel over a kernel with an account of this device alone, which has a wallet with a coin. */
const openStage = async (t: ExecutionContext, browser: Browser): Promise<{ page: Page; hand: Hand }> => {
  site ??= serveTestPage('truth-page')
  const profile = await browser.newContext({ viewport: { width: 1120, height: 700 } })
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto(`${(await site).url}/`)
  await page.getByText('live', { exact: true }).waitFor()
  await page.evaluate(async password => {
    const accountId = await truth.createLocal('carol', password)
    const { walletId } = await truth.runAction('wallet.create', {
      ...{ accountId, walletType: 'wallet:bitcoin', name: 'Nest' }
    })
    await truth.runAction('world.fund', { walletId, nativeAmount: '5000000' })
    await truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  }, PASSWORD)
  await page.getByText('0.05 BTC', { exact: true }).first().waitFor()
  return { page, hand: mouseOn(page) }
}

const placesOf = (page: Page, text: string): Promise<readonly string[]> =>
  page.evaluate(wanted => truth.placesOf(wanted), text)

const shootAll = async (page: Page, name: string): Promise<void> => {
  for (const width of [400, 1120]) {
    await page.setViewportSize({ width, height: 700 })
    await shoot(page, `${name}-${width}`)
  }
}

browserTest(
  'an account of this device is saved as a file, forgotten, and restored from it with its password',
  async (t, browser) => {
    const { page, hand } = await openStage(t, browser)
    await hand.press('Back up…')
    await page.getByText('only the present password of the account opens it').waitFor()
    await shootAll(page, 'backup')
    const download = page.waitForEvent('download')
    await hand.press('Save the file')
    const saved = await download
    t.is(saved.suggestedFilename(), 'carol.backup')
    const path = await saved.path()
    const backup = await readFile(path, 'utf8')
    const lines = backup.trimEnd().split('\n')
    t.true(lines.length > 2)
    for (const line of lines) t.deepEqual(await placesOf(page, line), [])
    t.false(backup.includes(PASSWORD) || backup.includes('Nest'))
    await page.getByText('Saved as carol.backup').waitFor()

    await hand.press('Log out')
    await page.getByRole('button', { name: 'Back up…' }).waitFor({ state: 'detached' })
    await page.evaluate(() => truth.forget('carol'))
    await hand.press('Log in…')
    await hand.press('Restore a backup…')
    const dialog = page.getByRole('dialog', { name: 'Restore a backup' })
    const field = dialog.getByLabel('Password when it was made')
    const start = dialog.getByRole('button', { name: 'Restore it' })
    t.is(await field.getAttribute('type'), 'password')
    t.true(await start.isDisabled())
    const choose = (name: string, text: string): Promise<void> =>
      dialog
        .getByLabel('File of the backup')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
    await choose('note.txt', 'This is no backup.')
    await field.fill(PASSWORD)
    await start.click()
    await dialog.getByText('The backup cannot be restored: it is no backup of an account').waitFor()
    await choose('carol.backup', lines.slice(0, -1).join('\n'))
    await start.click()
    await dialog.getByText('The backup cannot be restored: it was cut or altered').waitFor()
    await choose('carol.backup', backup)
    await field.fill(`${PASSWORD}!`)
    await start.click()
    await dialog.getByText('PASSWORD', { exact: true }).waitFor()
    await shootAll(page, 'restore')
    t.deepEqual(await placesOf(page, PASSWORD), [])
    await field.fill(PASSWORD)
    t.deepEqual(await placesOf(page, PASSWORD), [])
    await start.click()
    await page.getByText('carol is restored: log in to it').waitFor()
    t.deepEqual(await placesOf(page, PASSWORD), [])
    for (const line of lines) t.deepEqual(await placesOf(page, line), [])

    const login = page.getByRole('dialog', { name: 'Log in' })
    t.is(await login.getByLabel('Username').inputValue(), 'carol')
    await login.getByLabel('Password').fill(PASSWORD)
    await login.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('table', { name: 'Engines' }).getByRole('button', { name: 'Nest' }).waitFor()
    await page.getByText('0.05 BTC', { exact: true }).first().waitFor()
    await page.getByText('on this device only').waitFor()
  }
)

browserTest(
  'an account with rules is backed up with its password, which stays in its field',
  async (t, browser) => {
    const { page, hand } = await openStage(t, browser)
    await page.evaluate(() => truth.addRule())
    await hand.press('Back up…')
    const dialog = page.getByRole('dialog', { name: 'Back up carol' })
    const save = dialog.getByRole('button', { name: 'Save the file' })
    t.is(await dialog.locator('input').count(), 0)
    await save.click()
    const field = dialog.getByLabel('Its password, for its rules')
    t.is(await field.getAttribute('type'), 'password')
    t.true(await save.isDisabled())
    await field.fill('another one')
    await field.press('Enter')
    await dialog.getByText('PASSWORD', { exact: true }).waitFor()
    await shootAll(page, 'backup-with-rules')
    await field.fill(PASSWORD)
    t.deepEqual(await placesOf(page, PASSWORD), [])
    const download = page.waitForEvent('download')
    await save.click()
    t.is((await download).suggestedFilename(), 'carol.backup')
    await page.getByText('Saved as carol.backup').waitFor()
    t.deepEqual(await placesOf(page, PASSWORD), [])
    // The password has allowed one backup, and no second one.
    await hand.press('Back up…')
    await save.click()
    await field.waitFor()
  }
)

browserTest(
  'an account of this device is moved to the login server with its password',
  async (t, browser) => {
    const { page, hand } = await openStage(t, browser)
    await hand.press('Move to a server…')
    const dialog = page.getByRole('dialog', { name: 'Move carol to the login server' })
    const field = dialog.getByLabel('Its password')
    const start = dialog.getByRole('button', { name: 'Move it' })
    t.is(await field.getAttribute('type'), 'password')
    t.true(await start.isDisabled())
    await field.fill('another one')
    await start.click()
    await dialog.getByText('PASSWORD', { exact: true }).waitFor()
    await page.getByText('on this device only').waitFor()
    await field.fill(PASSWORD)
    await dialog.getByText('holdfast account move-to-server').waitFor()
    t.deepEqual(await placesOf(page, PASSWORD), [])
    await shootAll(page, 'move')
    await start.click()
    await page.getByText('The account is on the login server').waitFor()
    await page.getByText('on this device only').waitFor({ state: 'detached' })
    t.is(await page.getByRole('button', { name: 'Move to a server…' }).count(), 0)
    t.deepEqual(await placesOf(page, PASSWORD), [])

    // The server knows it: the device forgets it, and logs in with the password alone.
    await hand.press('Log out')
    await page.getByRole('button', { name: 'Log out' }).waitFor({ state: 'detached' })
    await page.evaluate(() => truth.forget('carol'))
    await hand.press('Log in…')
    await hand.fill('Username', 'carol')
    await hand.fill('Password', PASSWORD)
    await hand.press('Log in')
    await page.getByRole('table', { name: 'Engines' }).getByRole('button', { name: 'Nest' }).waitFor()
  }
)
