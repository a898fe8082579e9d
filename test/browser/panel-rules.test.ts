import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { WITH_AGENT } from '../helpers/command-line.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { fundedWallet, openProgramStage, PASSWORD, PIN, type ProgramStage } from '../helpers/programs.ts'
import { openAgentPanel } from './helpers/agent-panel.ts'
import { withChromium } from './helpers/chromium.ts'
import { type Hand, mouseOn } from './helpers/panel-page.ts'
import { shoot } from './helpers/shoot.ts'

const browserTest = withChromium(test, { isSerial: true })
const typingTest = withChromium(onTerminal as typeof test, { isSerial: true })

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const LABEL = 'Ask the other device, then send'

/** Begins the review of a payment in the panel. */
const review = async (page: Page, hand: Hand, amount: string): Promise<void> => {
  await hand.open('Engines')
  await page.getByRole('button', { name: 'Savings' }).first().click()
  await hand.fill('Address', PAYEE)
  await page.getByRole('textbox', { name: /^Amount/ }).fill(amount)
  await hand.press('Review…')
  await page.getByRole('dialog').waitFor()
}

/** Makes the phone approve payments above 0.001 BTC. */
const addPhone = async ({ run }: ProgramStage): Promise<void> => {
  const input = JSON.stringify({ password: PASSWORD, pin: PIN })
  await run(['login', 'alice', '--device', 'phone', '--secrets-stdin'], { input })
  const { key } = (await run(['policy', 'device', '--device', 'phone', '--json'])).json.data
  await run(['policy', 'add', 'big', 'second-device', '--max', '0.001BTC', '--approver', `phone=${key}`])
}

/** The code that the review shows. */
const codeIn = async (page: Page): Promise<string> => {
  const command = (await page.getByText(/holdfast policy approve/).textContent()) ?? ''
  return command.split(' ').at(-1) ?? ''
}

const sentCount = async ({ run }: ProgramStage): Promise<number> =>
  (await run(['tx', 'list', 'Savings', '--json'])).json.data.transactions.length - 1

const answer = (t: ExecutionContext, { home }: ProgramStage, code: string, typed: string) =>
  runOnTerminal(t, ['policy', 'approve', code, '--device', 'phone'], {
    ...{ home, env: WITH_AGENT },
    typed: [
      [/Type "yes"/, `${typed}\r`],
      ...(typed === 'yes' ? [[/to approve it/, `${PIN}\r`] as const] : [])
    ]
  })

typingTest(
  'a review asks a second device by a code, stops waiting when told to, and pays once after its yes',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    await fundedWallet(stage, 'Savings')
    await addPhone(stage)
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    await review(page, hand, '0.01')
    await page.getByText('The rule “big”: it waits for the device "phone".').waitFor()
    t.is(await page.getByRole('button', { name: 'Sign and send' }).count(), 0)
    await hand.press(LABEL)
    await page.getByRole('img', { name: 'QR code of the code for the other device' }).waitFor()
    const first = await codeIn(page)
    for (const [width, scheme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [700, 'light'],
      [700, 'dark']
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme })
      await shoot(page, `second-device-${width}-${scheme}`)
    }
    await hand.press('Stop waiting')
    await page.getByRole('img', { name: /QR code/ }).waitFor({ state: 'detached' })
    t.is(await page.getByRole('alert').count(), 0)

    await hand.press(LABEL)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    const second = await codeIn(page)
    t.not(second, first)
    const no = await answer(t, stage, second, 'no')
    t.is(no.code, 0, no.screen)
    await page.getByText(/the device "phone" has refused it/).waitFor()
    t.is(await sentCount(stage), 0)

    await hand.press(LABEL)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    const yes = await answer(t, stage, await codeIn(page), 'yes')
    t.is(yes.code, 0, yes.screen)
    await page.getByText(/^Sent as/).waitFor()
    t.is(await sentCount(stage), 1)

    await review(page, hand, '0.02')
    await hand.press(LABEL)
    await page.getByRole('img', { name: /QR code/ }).waitFor()
    const left = await codeIn(page)
    await hand.press('Discard')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const late = await answer(t, stage, left, 'yes').catch((error: unknown) => ({
      code: 1,
      screen: String(error)
    }))
    t.not(late.code, 0, late.screen)
    t.is(await sentCount(stage), 1)
  }
)

browserTest(
  'a proposal that was answered elsewhere, or whose time is over, cannot be approved in an open review',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    const walletId = await fundedWallet(stage, 'Savings')
    const token = await stage.addClient('helper', '--scope', 'propose')
    const program = await stage.connect(token)
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    await hand.open('Rules')
    const propose = async (from: typeof program): Promise<string> =>
      (await from.call('propose_payment', { walletId, payee: PAYEE, amount: '0.001 BTC' })).structuredContent
        .id
    const elsewhere = await propose(program)
    await hand.press('Review…')
    await page.getByRole('dialog').waitFor()
    await stage.run(['proposals', 'decline', elsewhere])
    const ended = page.getByRole('table', { name: 'Answered proposals' })
    await ended.getByText('DECLINED').waitFor()
    await hand.press('Sign and send')
    await page.getByText('no longer waits for an answer').waitFor()
    t.is(await sentCount(stage), 0)
    await hand.press('Dismiss')

    await program.close()
    const brief = await stage.connect(token, { flags: ['--expires', '5s'] })
    await propose(brief)
    await hand.press('Review…')
    await page.getByRole('dialog').waitFor()
    await ended.getByText('EXPIRED').waitFor()
    t.is(await page.getByText('asks for a payment').count(), 0)
    await hand.press('Sign and send')
    await page.getByText('no longer waits for an answer').waitFor()
    t.is(await sentCount(stage), 0)
  }
)

browserTest('with addresses hidden, Rules show neither payees nor transactions', async (t, browser) => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const other = (await stage.run(['address', 'show', 'Savings', '--json'])).json.data.address
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  const page = await openAgentPanel(t, browser, stage, '--hide-addresses')
  const hand = mouseOn(page)
  await hand.open('Rules')
  await program.call('propose_payment', { walletId, payee: PAYEE, amount: '0.001 BTC' })
  await hand.press('Review…')
  // A payment must be readable to be approved.
  await page.getByRole('dialog').getByText(PAYEE).waitFor()
  await hand.press('Sign and send')
  await page
    .getByRole('table', { name: 'Answered proposals' })
    .getByText(/^hidden \(64 letters/)
    .waitFor()
  const [{ txid }] = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data.transactions

  await stage.run(['policy', 'add', 'shops', 'allow-list', '--asset', 'bitcoin', '--to', other])
  await page.getByText('only to one payee').first().waitFor()
  await stage.run(['send', 'Savings', '--to', PAYEE, '--amount', '0.02 BTC', '--yes', '--json'])
  await page.getByRole('table', { name: 'Refused last' }).getByText('is not on the list of payees').waitFor()
  const shown = await page.evaluate(
    () => document.getElementById('devtools')?.shadowRoot?.textContent ?? document.body.textContent
  )
  t.regex(shown, /is not on the list of payees/)
  for (const secret of [PAYEE, txid, other]) t.false(shown.includes(secret), secret)
})

browserTest(
  'a rule shows when more is free, and a review from when on it would be allowed',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    await fundedWallet(stage, 'Savings')
    const added = await stage.run(['policy', 'add', 'daily', 'rolling', '--max', '0.01 BTC', '--per', '24h'])
    t.is(added.code, 0, added.stderr)
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    await hand.open('Rules')
    const rules = page.getByRole('table', { name: 'Rules of alice' })
    await rules.getByText('at most 0.01 BTC in 24 hours').waitFor()
    const lines = async () =>
      (await rules.getByRole('row').nth(1).getByRole('cell').allTextContents()).slice(-3)
    t.deepEqual((await lines()).at(-1), '')
    for (const amount of ['0.004 BTC', '0.003 BTC'])
      await stage.run(['send', 'Savings', '--to', PAYEE, '--amount', amount, '--yes'])
    await rules.getByText(/^0\.007\d* BTC$/).waitFor()
    await stage.run(['fake', 'chain', 'mine', '1'])
    const { rules: judged } = (await stage.run(['policy', 'explain', '--json'])).json.data
    const year = String(new Date(judged[0].allowedAt).getFullYear())
    await rules.getByText(new RegExp(year)).waitFor()
    t.regex((await lines()).join(' | '), /^0\.007\d* BTC \| 0\.002\d* BTC \| .*\d\d:\d\d/)
    for (const [width, scheme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [700, 'light'],
      [700, 'dark']
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: scheme })
      await shoot(page, `rules-${width}-${scheme}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await review(page, hand, '0.005')
    await page.getByText(/The rule “daily” refuses it: .*; allowed from .*\d\d:\d\d.* on\./).waitFor()
  }
)
