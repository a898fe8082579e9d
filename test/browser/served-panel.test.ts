/// <reference lib="dom" />
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import type { Browser, Page } from 'playwright-core'
import { makeActionHandler } from '../../app/actions/actions.ts'
import { makeDevtools } from '../../devtools/core/devtools.ts'
import { record } from '../../devtools/core/recording/record.ts'
import { readPanelFiles, recordingPage } from '../../devtools/server/panel-files.ts'
import { type DevtoolsServer, serveDevtools } from '../../devtools/server/serve-devtools.ts'
import { makeChainControl, makeFakeWorldControl } from '../../fake-server/chain-control.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice } from '../helpers/device.ts'
import { engine, makeStage, wallet } from '../helpers/devtools-stage.ts'
import { secretsOf } from '../helpers/wallet-secrets.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { createAccount, createWallet } from './helpers/first-steps.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'

const browserTest = withChromium(test)

/** A kernel in this process, whose panel is served as `holdfast devtools` does. */
const serveKernel = async (t: ExecutionContext): Promise<DevtoolsServer & { readonly kernel: Kernel }> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const io = world.ioFor(makeNodeIo())
  const devtools = makeDevtools({ clock: io.clock })
  const kernel = await openDevice(world, { plugins: [devtools.plugin] })
  const control = makeFakeWorldControl(makeChainControl(world))
  devtools.watchWorld(control)
  const runAction = makeActionHandler({ context: kernel.context, io, world: control })
  const server = await serveDevtools({
    files: readPanelFiles(fileURLToPath(new URL('../../devtools/panel', import.meta.url))),
    attach: channel => devtools.attach(channel, { runAction, hasWorld: true, isReadOnly: false })
  })
  t.teardown(async () => {
    await server.close()
    runAction.close()
    await kernel.close()
  })
  return { ...server, kernel }
}

const openPage = async (t: ExecutionContext, browser: Browser, url: string): Promise<Page> => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  page.setDefaultTimeout(STEP_LIMIT)
  watchConsole(t, page)
  await page.goto(url)
  return page
}

browserTest(
  'the served panel drives the kernel of another process under its own policy, and the token leaves the address',
  async (t, browser) => {
    const { url, token } = await serveKernel(t)
    const page = await openPage(t, browser, url)
    await page.getByText('live', { exact: true }).waitFor()
    t.false(page.url().includes(token))
    const hand = mouseOn(page)
    await createAccount(page, hand)
    await createWallet(page, hand, { name: 'Savings' })
    await hand.fill('Fake money', '0.0007')
    await hand.press('Fund')
    await page.getByText('0.0007 BTC', { exact: true }).first().waitFor()

    await page.reload()
    await page.getByText('0.0007 BTC', { exact: true }).first().waitFor()
    t.false(page.url().includes(token))
  }
)

browserTest(
  'of a wallet that only watches the panel offers what it can do, and no payment or signature',
  async (t, browser) => {
    const { url, kernel } = await serveKernel(t)
    const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
    const paying = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Cold' })
    await account.createCurrencyWallet('wallet:bitcoin', {
      name: 'Watcher',
      importText: await account.walletKeys.getDisplayPublicKey(paying.id),
      keyOptions: { watch: true }
    })
    const page = await openPage(t, browser, url)
    for (const [name, offered] of [
      ['Cold', 1],
      ['Watcher', 0]
    ] as const) {
      await page.getByText(name, { exact: true }).first().click()
      await page.getByRole('button', { name: 'Show an address' }).waitFor()
      await page.getByRole('heading', { name }).waitFor()
      t.is(await page.getByText('Sign a message', { exact: true }).count(), offered, name)
      t.is(await page.getByText('Verify a message', { exact: true }).count(), 1, name)
      t.is(await page.getByText(/^Watch-only: /).count(), 1 - offered, name)
      // Of a payment, and of a sweep.
      t.is(await page.getByRole('button', { name: 'Review' }).count(), 2 * offered, name)
    }
  }
)

browserTest('each panel shows that the fake world is offline, also after a reload', async (t, browser) => {
  const { url } = await serveKernel(t)
  const [first, second] = [await openPage(t, browser, url), await openPage(t, browser, url)]
  await mouseOn(first).press('Go offline')
  for (const page of [first, second]) await page.getByRole('button', { name: 'Go online' }).waitFor()
  await first.reload()
  await mouseOn(first).press('Go online')
  for (const page of [first, second]) {
    await page.getByRole('button', { name: 'Go offline' }).waitFor()
    t.is(await page.getByRole('button', { name: 'Go online' }).count(), 0)
  }
})

browserTest(
  'a served recording is shown without a kernel under its own policy, also after a reload',
  async (t, browser) => {
    const stage = makeStage()
    const lines: string[] = []
    const end = record(stage.devtools, { now: () => stage.clock.now(), write: line => void lines.push(line) })
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Savings' }))
    stage.emit('engineChanged', engine('wallet-one'))
    await stage.clock.advance(100)
    end()
    const { url, token, close } = await serveDevtools({
      files: readPanelFiles(fileURLToPath(new URL('../../devtools/panel', import.meta.url))),
      recording: () => gzipSync(lines.join('\n'))
    })
    t.teardown(close)
    const page = await openPage(t, browser, url)
    for (const _visit of ['first', 'reload']) {
      await page.getByText('Viewing a recording', { exact: true }).waitFor()
      t.is(await page.locator('.main').getByText('Savings').count(), 1)
      await page.keyboard.press('[')
      await page.getByText('No account is logged in').waitFor()
      t.is(await page.getByRole('button', { name: /^Back/ }).count(), 0)
      t.false(page.url().includes(token))
      await page.reload()
    }
  }
)

browserTest(
  'a recording in one page is shown from a disk, with a clean console, whatever its names are',
  async (t, browser) => {
    const stage = makeStage()
    const lines: string[] = []
    const end = record(stage.devtools, { now: () => stage.clock.now(), write: line => void lines.push(line) })
    const name = '</script><script>alert(1)</script>'
    stage.emit('walletChanged', wallet('wallet-one', { name }))
    stage.emit('engineChanged', engine('wallet-one'))
    await stage.clock.advance(100)
    end()
    const files = readPanelFiles(fileURLToPath(new URL('../../devtools/panel', import.meta.url)))
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const path = join(folder, 'story.html')
    await writeFile(path, recordingPage(files, lines.join('\n')) ?? '')
    const page = await openPage(t, browser, pathToFileURL(path).href)
    await page.getByText('Viewing a recording', { exact: true }).waitFor()
    await page.locator('.main').getByText(name).click()
    await page.getByRole('heading', { name }).waitFor()
    t.is(await page.locator('script').count(), 2)
    await page.keyboard.press('[')
    await page.getByText('No account is logged in').waitFor()
  }
)

browserTest(
  'the served page without its token says what to open, and connects to nothing',
  async (t, browser) => {
    const { port } = await serveKernel(t)
    const page = await openPage(t, browser, `http://127.0.0.1:${port}/`)
    let sockets = 0
    page.on('websocket', () => {
      sockets += 1
    })
    await page.reload()
    await page.getByText('Open the whole address').waitFor()
    t.is(sockets, 0)
  }
)

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const PASSWORD = 'canary password 7Q'

browserTest(
  'no secret comes to the browser: not in a frame, nor in its page, its store, or a file that it saves',
  async (t, browser) => {
    const { url, token, kernel } = await serveKernel(t)
    const page = await openPage(t, browser, 'about:blank')
    const received: string[] = []
    page.on('websocket', socket => {
      socket.on('framereceived', ({ payload }) => void received.push(payload.toString()))
    })
    page.on('response', async response => {
      if (!response.url().endsWith('.js')) received.push(await response.text().catch(() => ''))
    })
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    const hand = mouseOn(page)
    await hand.press('Record')
    await createAccount(page, hand, { Username: 'canary', Password: PASSWORD, PIN: '80815' })
    await createWallet(page, hand, { name: 'Savings' })
    await hand.fill('Fake money', '0.1')
    await hand.press('Fund')
    await page.getByText('of it 0.1 BTC incoming').waitFor()
    await hand.press('Mine bitcoin')
    await page.getByText('of it 0.1 BTC incoming').waitFor({ state: 'detached' })
    await hand.fill('Address', PAYEE)
    await hand.fill('Amount', '0.02')
    await hand.press('Review…')
    await hand.press('Sign and send')
    await page.getByText('Sent as').waitFor()
    for (const tab of ['Sync', 'Hooks', 'Plugins', 'Logs']) await hand.open(tab)

    const download = page.waitForEvent('download')
    await hand.press('Stop recording')
    await hand.press('Save the file')
    const saved = await readFile(await (await download).path(), 'utf8')
    // The session of the tab keeps the token for a reload, and nothing else may.
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    const [account] = kernel.context.accounts
    const [walletId = ''] = account?.getSnapshot().walletIds ?? []
    const text = [...received, saved, kept.replace(token, ''), await page.content(), page.url()].join('\n')
    t.true(saved.includes('canary') && saved.includes('spendChanged'), 'the story was saved')
    t.true(received.join().includes(walletId), 'the story was heard')
    const secrets = account === undefined ? [] : await secretsOf(account, walletId)
    t.true(secrets.length > 30)
    for (const secret of [...secrets, PASSWORD, '"80815"', token])
      t.false(text.includes(secret), `${secret} leaked`)
  }
)
