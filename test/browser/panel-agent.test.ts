import test from 'ava'
import { fundedWallet, openProgramStage, PASSWORD } from '../helpers/programs.ts'
import { openAgentPanel } from './helpers/agent-panel.ts'
import { withChromium } from './helpers/chromium.ts'
import { mouseOn } from './helpers/panel-page.ts'

const browserTest = withChromium(test)

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const NOTE = 'rent \u202eevil <img src=x onerror=alert(1)> '.repeat(4).slice(0, 160)

browserTest(
  'a person reviews in the panel what a program proposes, and exactly that is paid, or it is declined',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    const walletId = await fundedWallet(stage, 'Savings')
    const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    await hand.open('Rules')
    await page.getByText('No program waits for an answer.').waitFor()
    const propose = async (amount: string): Promise<string> =>
      (await program.call('propose_payment', { walletId, payee: PAYEE, amount, note: NOTE }))
        .structuredContent.id
    const first = await propose('0.001 BTC')
    await hand.press('Review…')
    const review = page.getByRole('dialog')
    await review.waitFor()
    const words = (await review.textContent()) ?? ''
    t.regex(words, /helper, a program/)
    t.regex(words, new RegExp(PAYEE))
    t.regex(words, /rent \\u\{202e\}evil <img/)
    t.regex(words, new RegExp(`holdfast proposals approve ${first}`))
    await hand.press('Not now')
    t.is((await program.call('proposal_status', { id: first })).structuredContent.state, 'waiting')
    await hand.press('Review…')
    await hand.press('Sign and send')
    await page.getByRole('table', { name: 'Answered proposals' }).getByText('sent', { exact: true }).waitFor()
    const { state, txid } = (await program.call('proposal_status', { id: first })).structuredContent
    t.is(state, 'sent')
    await page.getByText(txid).waitFor()
    const shown = (await stage.run(['tx', 'show', 'Savings', txid, '--json'])).json.data
    t.regex(JSON.stringify(shown), /-101\d{3}/)

    const second = await propose('0.002 BTC')
    await hand.press('Decline')
    await page.getByText('DECLINED', { exact: true }).waitFor()
    t.like((await program.call('proposal_status', { id: second })).structuredContent, {
      state: 'refused',
      reason: 'DECLINED'
    })
    t.is((await stage.run(['tx', 'list', 'Savings', '--json'])).json.data.transactions.length, 2)
  }
)

browserTest('a read-only panel shows proposals and rules, and answers none', async (t, browser) => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  await program.call('propose_payment', { walletId, payee: PAYEE, amount: '0.001 BTC' })
  await stage.run(['policy', 'add', 'small', 'per-payment', '--max', '0.01 BTC'])
  const page = await openAgentPanel(t, browser, stage, '--read-only')
  await mouseOn(page).open('Rules')
  await page.getByText('asks for a payment from Savings').waitFor()
  await page.getByText('at most 0.01 BTC in a payment').waitFor()
  for (const name of ['Review…', 'Decline']) t.is(await page.getByRole('button', { name }).count(), 0)
})

browserTest(
  'the panel shows a rule as soon as a command has set it, and its review names the rule that refuses',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    await fundedWallet(stage, 'Savings')
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    await hand.open('Rules')
    await page.getByText('No rules: a person pays what they approve').waitFor()
    await stage.run(['policy', 'add', 'small', 'per-payment', '--max', '0.01 BTC'])
    await page.getByText('at most 0.01 BTC in a payment').waitFor()
    t.is(await page.getByRole('table', { name: 'Refused last' }).count(), 0)
    const refused = await stage.run([
      ...['send', 'Savings', '--to', PAYEE, '--amount', '0.02 BTC', '--yes', '--json']
    ])
    t.like(refused.json.error, { code: 'SIGN_REFUSED', details: { rule: 'small' } })
    await page.getByRole('table', { name: 'Refused last' }).getByText('rule "small", it takes 0.02').waitFor()
    const input = JSON.stringify({ password: PASSWORD })
    await stage.run(['policy', 'add', 'slow', 'loosening-delay', '--wait', '48h', '--secrets-stdin'], {
      input
    })
    await stage.run(['policy', 'remove', 'small', '--secrets-stdin'], { input })
    await page.getByText('“small” is removed').waitFor()
    await hand.open('Engines')
    await page.getByRole('button', { name: 'Savings' }).first().click()
    await hand.fill('Address', PAYEE)
    await page.getByRole('textbox', { name: /^Amount/ }).fill('0.02')
    await hand.press('Review…')
    await page.getByText(/The rule “small” refuses it: it takes 0\.02/).waitFor()
    await hand.press('Discard')
    t.is((await stage.run(['tx', 'list', 'Savings', '--json'])).json.data.transactions.length, 1)
  }
)
