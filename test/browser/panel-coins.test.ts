/// <reference lib="dom" />
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Locator, Page } from 'playwright-core'
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

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
/** The private key of it on test networks: 1. */
const KEY = createBase58check(sha256).encode(Uint8Array.of(239, ...new Uint8Array(31), 1, 1))

interface Stage {
  readonly page: Page
  readonly hand: Hand
  readonly walletId: string
}

/** The panel over a kernel with a wallet that has three confirmed coins, whose details are open. */
const openStage = async (t: ExecutionContext, browser: Browser, pluginId = 'bitcoin'): Promise<Stage> => {
  site ??= serveTestPage('truth-page')
  const profile = await browser.newContext({ viewport: { width: 1120, height: 900 } })
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  watchConsole(t, page)
  page.setDefaultTimeout(STEP_LIMIT)
  await page.goto(`${(await site).url}/`)
  await page.getByText('live', { exact: true }).waitFor()
  const walletId = await page.evaluate(async plugin => {
    const { accountId } = await truth.runAction('account.create', {
      username: 'alice',
      password: 'correct horse'
    })
    const { walletId: made } = await truth.runAction('wallet.create', {
      ...{ accountId, walletType: `wallet:${plugin}`, name: 'Savings' }
    })
    for (const nativeAmount of ['10000000', '20000000', '30000000'])
      await truth.runAction('world.fund', { walletId: made, nativeAmount })
    await truth.runAction('world.mine', { pluginId: plugin, count: 1 })
    return made
  }, pluginId)
  await page.getByRole('table', { name: 'Engines' }).getByRole('button', { name: 'Savings' }).click()
  const code = pluginId === 'bitcoin' ? 'BTC' : 'LTC'
  await page.getByText(`0.6 ${code}`, { exact: true }).first().waitFor()
  await page.getByText(/of it .* incoming/).waitFor({ state: 'detached' })
  return { page, hand: mouseOn(page), walletId }
}

const review = (page: Page): Locator => page.getByRole('dialog', { name: 'Review this payment' })
const factOf = async (page: Page, name: string): Promise<string> =>
  (await review(page)
    .getByText(name, { exact: true })
    .locator('xpath=following-sibling::*[1]')
    .textContent()) ?? ''

/** Has a payment sent from the kernel, at a low fee. */
const pay = ({ page, walletId }: Stage): Promise<string> =>
  page.evaluate(
    async ([wallet, publicAddress]) => {
      const { draftId } = await truth.runAction('spend.draft', {
        ...{ walletId: wallet, publicAddress, nativeAmount: '1000000', fee: 'low' as const }
      })
      return (await truth.runAction('spend.approve', { draftId })).txid
    },
    [walletId, PAYEE] as const
  )

/** The payments of the wallet, once a block has each or it has lost its place. */
const historyOf = ({ page, walletId }: Stage) =>
  page.evaluate(async wallet => {
    for (let attempt = 0; ; attempt += 1) {
      const { transactions } = await truth.runAction('tx.list', { walletId: wallet })
      if (attempt === 100 || transactions.every(({ state }) => state !== 'unconfirmed')) return transactions
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }, walletId)

const shots: readonly (readonly [string, 'dark' | 'light', number])[] = [
  ['light', 'light', 1120],
  ['dark', 'dark', 1120],
  ['400', 'light', 400]
]

/** Pictures of what is open, in both themes and in a narrow window. */
const shootAll = async (page: Page, name: string, shown?: Locator): Promise<void> => {
  for (const [look, colorScheme, width] of shots) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await shown?.scrollIntoViewIfNeeded()
    await shoot(page, `${name}-${look}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1120, height: 900 })
}

browserTest(
  'the fee of a payment of the wallet is raised by one in its place, whose review names both fees',
  async (t, browser) => {
    const stage = await openStage(t, browser)
    const { page, hand } = stage
    const txid = await pay(stage)
    await page.getByRole('button', { name: 'Raise the fee…' }).click()
    await page.getByRole('dialog').getByLabel('Fee').selectOption('high')
    await shootAll(page, 'raise-fee')
    await page.getByRole('dialog').getByRole('button', { name: 'Review…' }).click()
    await review(page).waitFor()
    t.is(await factOf(page, 'Replaces'), txid)
    const [before, after] = [await factOf(page, 'Fee so far'), await factOf(page, 'New network fee')]
    t.true(
      Number.parseFloat(before) > 0 && Number.parseFloat(after) > Number.parseFloat(before),
      `${before} ${after}`
    )
    await shootAll(page, 'raise-fee-review')
    await hand.press('Sign and send')
    await review(page).waitFor({ state: 'detached' })
    await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
    await page.getByText('Open payments', { exact: true }).waitFor({ state: 'detached' })
    const history = await historyOf(stage)
    t.false(history.some(tx => tx.txid === txid && tx.state === 'confirmed'))
    const sent = history.filter(tx => tx.isSend && tx.state === 'confirmed')
    t.is(sent.length, 1)
    t.is(Number(sent[0]?.networkFee), Math.round(Number.parseFloat(after) * 1e8))
  }
)

browserTest(
  'a fee is raised to a rate of one’s own, in both ways, and a rate that is refused says so below its field',
  async (t, browser) => {
    const stage = await openStage(t, browser)
    const { page, hand } = stage
    const txid = await pay(stage)
    const raise = page.getByRole('dialog', { name: 'Raise the fee of this payment' })
    const start = raise.getByRole('button', { name: 'Review…' })
    const feeField = (): Locator => raise.getByRole('combobox', { name: /^Fee/ })
    const rateField = (): Locator => raise.getByRole('textbox', { name: /^Fee rate/ })
    await page.getByRole('button', { name: 'Raise the fee…' }).click()
    t.is(await rateField().count(), 0)
    await feeField().selectOption({ label: 'Custom' })
    t.true(await start.isDisabled(), 'no rate is typed')
    for (const text of ['12,5', '0', '-3', 'fast']) {
      await rateField().fill(text)
      await raise.getByText('Type a number above zero, such as 12.5.').waitFor()
      t.true(await start.isDisabled(), text)
    }
    await rateField().fill('0.5')
    await start.click()
    await raise.getByText('The fee is below the 1 that is relayed. Type another one.').waitFor()
    t.is(await rateField().getAttribute('aria-invalid'), 'true')
    await shootAll(page, 'raise-fee-custom')
    await rateField().fill('1.2345')
    t.is(await raise.getByText('Type another one.').count(), 0)
    await start.click()
    await raise.getByText(/with at most three decimals\. Type another one\.$/).waitFor()

    const feeOfReview = async (): Promise<number> => {
      await review(page).waitFor()
      const fee = Number.parseFloat(await factOf(page, 'New network fee')) * 1e8
      return Math.round(fee)
    }
    const feeAt = async (rate: string): Promise<number> => {
      await rateField().fill(rate)
      await start.click()
      return feeOfReview()
    }
    const discard = async (): Promise<void> => {
      await hand.press('Discard')
      await review(page).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Raise the fee…' }).click()
      await feeField().selectOption({ label: 'Custom' })
    }
    const twenty = await feeAt('20')
    await review(page).getByText(`holdfast tx replace Savings ${txid} --custom-fee satPerByte=20`).waitFor()
    await discard()
    const forty = await feeAt('40')
    t.true(Math.abs(forty - 2 * twenty) <= 1, `${twenty} ${forty}`)
    await discard()
    await hand.choose('Way', 'Pay for it with a second one')
    await rateField().fill('40')
    await start.click()
    t.true((await feeOfReview()) > 0)
    t.is(await factOf(page, 'Hastens'), txid)
    await review(page).getByText(`holdfast tx bump Savings ${txid} --custom-fee satPerByte=40`).waitFor()
    await discard()
    await feeAt('12.5')
    await hand.press('Sign and send')
    await review(page).waitFor({ state: 'detached' })
    await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
    await page.getByText('Open payments', { exact: true }).waitFor({ state: 'detached' })
    const sent = (await historyOf(stage)).filter(tx => tx.isSend && tx.state === 'confirmed')
    t.is(sent.length, 1)
    t.true(Math.abs(Number(sent[0]?.networkFee) - (twenty * 12.5) / 20) <= 1)
  }
)

browserTest(
  'a payment and a sweep take a fee rate, and say below it if it is refused',
  async (t, browser) => {
    const { page, hand } = await openStage(t, browser)
    const send = page.getByRole('region', { name: 'Send' })
    await hand.fill('Address', PAYEE)
    await send.getByRole('textbox', { name: /^Amount/ }).fill('0.01')
    await send.getByRole('combobox', { name: /^Fee/ }).selectOption('custom')
    const rate = send.getByRole('textbox', { name: /^Fee rate/ })
    t.true(await send.getByRole('button', { name: 'Max' }).isDisabled())
    t.true(await send.getByRole('button', { name: 'Review…' }).isDisabled())
    await rate.fill('99999')
    await send.getByRole('button', { name: 'Review…' }).click()
    await send.getByText(/^The fee is above the limit of \d+\. Type another one\.$/).waitFor()
    await send.scrollIntoViewIfNeeded()
    await shootAll(page, 'send-custom-fee')
    await rate.fill('7.5')
    await send.getByRole('button', { name: 'Review…' }).click()
    await review(page).getByText('--custom-fee satPerByte=7.5').waitFor()
    await hand.press('Discard')
    await review(page).waitFor({ state: 'detached' })

    await page.evaluate(address => truth.fund(address, '2000000'), PAYEE)
    await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
    const sweep = page.getByRole('region', { name: 'Sweep a key' })
    await sweep.getByLabel('Key to sweep').fill(KEY)
    await sweep.getByLabel('Sweep at').selectOption('custom')
    const start = sweep.getByRole('button', { name: 'Review the sweep…' })
    t.true(await start.isDisabled())
    await sweep.getByRole('textbox', { name: /^Fee rate/ }).fill('99999')
    await start.click()
    await sweep.getByText(/^The fee is above the limit of \d+\. Type another one\.$/).waitFor()
    await sweep.getByRole('textbox', { name: /^Fee rate/ }).fill('3')
    await start.click()
    const reviewed = page.getByRole('dialog', { name: 'Review this sweep' })
    await reviewed.getByText('holdfast sweep Savings --custom-fee satPerByte=3').waitFor()
  }
)

browserTest(
  'each transaction is listed with how well it is known, and the list follows the wallet',
  async (t, browser) => {
    const { page, hand, walletId } = await openStage(t, browser)
    t.is(await page.getByRole('list', { name: 'Transactions' }).getByRole('listitem').count(), 0)
    await hand.press('Show transactions')
    const items = page.getByRole('list', { name: 'Transactions' }).getByRole('listitem')
    await items.first().waitFor()
    const before = await items.count()
    t.deepEqual(new Set(await items.locator('.state + .soft').allTextContents()), new Set([' claimed']))
    await page.evaluate(
      id => truth.runAction('world.fund', { walletId: id, nativeAmount: '5000000' }),
      walletId
    )
    // Blocks of the fake world may be later than the clock, so that it need not be the first.
    const newest = items.filter({ hasText: /^0\.05 BTC/ })
    await newest.getByText('unconfirmed', { exact: true }).waitFor()
    t.is(await items.count(), before + 1)
    await newest.getByText('claimed', { exact: true }).waitFor()
    await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
    await newest.getByText('confirmed', { exact: true }).waitFor()
    await shootAll(page, 'transactions', newest)
  }
)

browserTest('an incoming payment is hastened by one that spends its coin', async (t, browser) => {
  const stage = await openStage(t, browser)
  const { page, hand, walletId } = stage
  await page.evaluate(
    id => truth.runAction('world.fund', { walletId: id, nativeAmount: '5000000' }),
    walletId
  )
  await page.getByText('of it 0.05 BTC incoming').waitFor()
  await hand.press('Show coins')
  await page.getByText('1 to 4 of 4, the newest first').waitFor()
  const raise = page.getByRole('list', { name: 'Coins' }).getByRole('button', { name: 'Raise the fee…' })
  t.is(await raise.count(), 1)
  await raise.click()
  const dialog = page.getByRole('dialog', { name: 'Raise the fee of this payment' })
  t.is(await dialog.getByLabel('Way').count(), 0)
  await dialog.getByLabel('Fee').selectOption('high')
  await dialog.getByRole('button', { name: 'Review…' }).click()
  await review(page).waitFor()
  const txid = await factOf(page, 'Hastens')
  t.regex(await factOf(page, 'How'), /whose fee is for both/)
  await review(page).getByText(`holdfast tx bump Savings ${txid} --fee high`).waitFor()
  await shootAll(page, 'hasten-review')
  await hand.press('Sign and send')
  t.regex((await page.getByText('Sent as').textContent()) ?? '', /^Sent as [0-9a-f]{64}/)
  await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
  await page.getByText('Open payments', { exact: true }).waitFor({ state: 'detached' })
  const history = await historyOf(stage)
  t.like(
    history.find(tx => tx.txid === txid),
    { state: 'confirmed', nativeAmount: '5000000' }
  )
  t.is(history.filter(tx => tx.isSend && tx.state === 'confirmed').length, 1)
  await hand.press('Show the newest coins')
  await page.getByText('1 to 4 of 4, the newest first').waitFor()
  t.is(await raise.count(), 0)
})

browserTest(
  'a payment that its network does not replace says that there is another way',
  async (t, browser) => {
    const stage = await openStage(t, browser, 'litecoin')
    const { page, hand } = stage
    const txid = await page.evaluate(async id => {
      const publicAddress = 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3'
      const { draftId } = await truth.runAction('spend.draft', {
        ...{ walletId: id, publicAddress, nativeAmount: '1000000' }
      })
      return (await truth.runAction('spend.approve', { draftId })).txid
    }, stage.walletId)
    await page.getByText('seen by the network').waitFor()
    await page.getByRole('button', { name: 'Raise the fee…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Raise the fee of this payment' })
    const fee = dialog.getByLabel('Fee')
    await dialog.getByRole('button', { name: 'Review…' }).click()
    await dialog.getByRole('alert').getByText('Choose the other way: pay for it with a second one.').waitFor()
    await shootAll(page, 'raise-fee-refused')
    await hand.choose('Way', 'Pay for it with a second one')
    t.is(await dialog.getByRole('alert').count(), 0)
    await fee.selectOption('low')
    await dialog.getByRole('button', { name: 'Review…' }).click()
    await dialog.getByRole('alert').getByText('Choose a higher fee').waitFor()
    await fee.selectOption('high')
    await dialog.getByRole('button', { name: 'Review…' }).click()
    await review(page).waitFor()
    t.is(await factOf(page, 'Hastens'), txid)
    t.regex(await factOf(page, 'Fee so far'), /^0\.0/)
  }
)

browserTest(
  'a payment takes the chosen coins and no others, its review names them, and frozen ones cannot be chosen',
  async (t, browser) => {
    const stage = await openStage(t, browser)
    const { page, hand, walletId } = stage
    const coinsNow = (): Promise<Readonly<Record<string, string>>> =>
      page.evaluate(async id => {
        const { coins } = await truth.runAction('coin.list', { walletId: id })
        return Object.fromEntries(coins.map(({ nativeAmount, coin }) => [nativeAmount, coin]))
      }, walletId)
    const before = await coinsNow()
    const freeze = (coin = ''): Promise<unknown> =>
      page.evaluate(
        ([id, frozen]) => truth.runAction('coin.change', { walletId: id, coin: frozen, isFrozen: true }),
        [walletId, coin] as const
      )
    await freeze(before['30000000'])
    const form = page.getByRole('region', { name: 'Send' })
    const box = (name: RegExp): Locator => form.getByRole('checkbox', { name })
    await hand.fill('Address', PAYEE)
    await form.getByRole('textbox', { name: 'Amount' }).fill('0.15')
    await hand.press('Choose coins…')
    await form.getByRole('checkbox', { name: /^0\.3 BTC/, disabled: true }).waitFor()
    await box(/^0\.1 BTC/).check()
    await form.getByText('One coin, and no others').waitFor()
    await form.getByRole('button', { name: 'Review…' }).click()
    await form.getByText(/^Insufficient BTC/).waitFor()
    await box(/^0\.2 BTC/).check()
    await form.getByText('2 coins, and no others').waitFor()
    await form.getByText(`--coin ${before['10000000']} --coin ${before['20000000']}`).waitFor()
    await box(/^0\.2 BTC/).scrollIntoViewIfNeeded()
    await shootAll(page, 'coin-choice', box(/^0\.2 BTC/))

    await box(/^0\.1 BTC/).uncheck()
    await freeze(before['20000000'])
    await form.getByRole('checkbox', { name: /^0\.2 BTC/, disabled: true }).waitFor()
    await form.getByText('The wallet chooses the coins.').waitFor()
    await form.getByRole('textbox', { name: 'Amount' }).fill('0.05')
    await box(/^0\.1 BTC/).check()
    await form.getByRole('button', { name: 'Review…' }).click()
    await review(page).waitFor()
    t.is(await factOf(page, 'Pays with'), before['10000000'] ?? '')
    await shootAll(page, 'coin-choice-review')
    await hand.press('Sign and send')
    await page.getByText('Sent as').waitFor()
    await form.getByText('The wallet chooses the coins.').waitFor()
    const after = await coinsNow()
    t.is(after['10000000'], undefined)
    t.like(after, { 20000000: before['20000000'], 30000000: before['30000000'] })
  }
)

browserTest(
  'the ticks of a payment follow the coins of a wallet of many pages, and the list does, too',
  async (t, browser) => {
    const stage = await openStage(t, browser)
    const { page, hand, walletId } = stage
    const form = page.getByRole('region', { name: 'Send' })
    const box = (name: RegExp): Locator => form.getByRole('checkbox', { name })
    // The oldest coins are those of the stage, on the second page.
    await page.evaluate(async id => {
      for (let at = 1; at <= 20; at += 1)
        await truth.runAction('world.fund', { walletId: id, nativeAmount: String(100_000 + at) })
      await truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
    }, walletId)
    await page.getByText(/of it .* incoming/).waitFor({ state: 'detached' })
    await hand.press('Choose coins…')
    await box(/^0\.001/)
      .nth(19)
      .waitFor()
    t.is(await box(/BTC/).count(), 20)
    await box(/^0\.00100001 BTC/).check()
    await hand.press('Older ones')
    await box(/^0\.1 BTC/).check()
    await box(/^0\.2 BTC/).check()
    await hand.press('Newer ones')
    await box(/^0\.00100001 BTC/).waitFor()
    await form.getByText('3 coins, and no others').waitFor()

    const coinOf = (nativeAmount: string): Promise<string> =>
      page.evaluate(
        async ([id, native]) => {
          const { coins } = await truth.runAction('coin.list', { walletId: id })
          return coins.find(coin => coin.nativeAmount === native)?.coin ?? ''
        },
        [walletId, nativeAmount] as const
      )
    const payWith = async (nativeAmount: string, paid: string): Promise<void> => {
      const coin = await coinOf(nativeAmount)
      await page.evaluate(
        async ([id, publicAddress, chosen, native]) => {
          const { draftId } = await truth.runAction('spend.draft', {
            ...{ walletId: id, publicAddress, nativeAmount: native, coins: [chosen] }
          })
          await truth.runAction('spend.approve', { draftId })
        },
        [walletId, PAYEE, coin, paid] as const
      )
    }
    // One that another page lists is spent elsewhere.
    await payWith('20000000', '1000000')
    await form.getByText('2 coins, and no others').waitFor()
    // One of this page is frozen elsewhere.
    const frozen = await coinOf('100001')
    await page.evaluate(
      ([id, coin]) => truth.runAction('coin.change', { walletId: id, coin, isFrozen: true }),
      [walletId, frozen] as const
    )
    await form.getByText('One coin, and no others').waitFor()
    await form.getByRole('checkbox', { name: /^0\.00100001 BTC/, disabled: true, checked: false }).waitFor()
    await payWith('10000000', '2000000')
    await form.getByText('The wallet chooses the coins.').waitFor()
  }
)

browserTest('a sweep leaves incoming coins, and takes them on request', async (t, browser) => {
  const stage = await openStage(t, browser)
  const { page, hand } = stage
  const form = page.getByRole('region', { name: 'Sweep a key' })
  const field = form.getByLabel('Key to sweep')
  const tick = form.getByRole('checkbox', { name: 'Also take incoming coins' })
  const start = form.getByRole('button', { name: 'Review the sweep…' })
  const sweep = page.getByRole('dialog', { name: 'Review this sweep' })
  await page.evaluate(address => truth.fund(address, '2000000'), PAYEE)
  await field.fill(KEY)
  await start.click()
  await form.getByText('The key holds incoming coins alone.').waitFor()
  t.is(await page.getByRole('alert').count(), 0)
  await shootAll(page, 'sweep-incoming', start)
  await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
  await page.evaluate(address => truth.fund(address, '3000000'), PAYEE)
  await start.click()
  await sweep.getByText('0.03 BTC that is incoming: sweep again once a block has it').waitFor()
  await sweep.getByText('holdfast sweep Savings --fee standard').waitFor()
  await hand.press('Discard')
  await sweep.waitFor({ state: 'detached' })

  await field.fill(KEY)
  await tick.check()
  t.is(await form.getByText('The key holds incoming coins alone.').count(), 0)
  await form.getByText('holdfast sweep Savings --fee standard --unconfirmed').waitFor()
  await start.click()
  await sweep.getByText('holdfast sweep Savings --fee standard --unconfirmed').waitFor()
  t.is(await sweep.getByText('that is incoming').count(), 0)
  await hand.press('Send it')
  await sweep.waitFor({ state: 'detached' })
  await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
  await page
    .getByText(/^0\.6499\d+ BTC$/)
    .first()
    .waitFor()
  const amounts = (await historyOf(stage)).map(({ nativeAmount }) => Number(nativeAmount))
  t.is(amounts.filter(native => native > 4_990_000 && native < 5_000_000).length, 1)
})

browserTest('a key is swept after a review, and only its field ever holds it', async (t, browser) => {
  const stage = await openStage(t, browser)
  const { page, hand, walletId } = stage
  const said: string[] = []
  page.on('console', message => said.push(message.text()))
  const placesOf = (text: string): Promise<readonly string[]> =>
    page.evaluate(wanted => truth.placesOf(wanted), text)
  await hand.fill('Message', 'a canary that sings')
  t.true((await placesOf('a canary that sings')).includes('state'), 'the search sees what is typed')
  const form = page.getByRole('region', { name: 'Sweep a key' })
  const field = form.getByLabel('Key to sweep')
  const start = form.getByRole('button', { name: 'Review the sweep…' })
  const sweep = page.getByRole('dialog', { name: 'Review this sweep' })
  t.is(await field.getAttribute('type'), 'password')
  t.true(await start.isDisabled())

  await field.fill(`${KEY}x`)
  t.deepEqual(await placesOf(KEY), [])
  await start.click()
  await page.getByRole('alert').waitFor()
  t.false(((await page.getByRole('alert').textContent()) ?? '').includes(KEY))
  t.deepEqual(await placesOf(KEY), [])

  await page.evaluate(address => truth.fund(address, '2000000'), PAYEE)
  await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
  await field.fill(KEY)
  await field.scrollIntoViewIfNeeded()
  await form.getByText('holdfast sweep Savings --fee standard').waitFor()
  await shootAll(page, 'sweep', field)
  await start.click()
  await sweep.waitFor()
  t.is(await field.inputValue(), '')
  t.deepEqual(await placesOf(KEY), [])
  await sweep.getByText('until it is confirmed').waitFor()
  await sweep.getByText('holdfast sweep Savings --fee standard').waitFor()
  await shootAll(page, 'sweep-review')
  const openNow = (): Promise<number> =>
    page.evaluate(async id => {
      const { transactions } = await truth.runAction('tx.list', { walletId: id, direction: 'in' })
      return transactions.length
    }, walletId)
  t.is(await openNow(), 3)
  await hand.press('Send it')
  await sweep.waitFor({ state: 'detached' })
  await page.evaluate(() => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 1 }))
  await page
    .getByText(/^0\.6199\d+ BTC$/)
    .first()
    .waitFor()
  t.is(await openNow(), 4)
  t.deepEqual(await placesOf(KEY), [])
  t.false(said.join(' ').includes(KEY))
})
