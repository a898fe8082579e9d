import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { EngineSnapshot, QuoteSnapshot, WalletSnapshot } from '../../kernel/index.ts'
import { withChromium } from './helpers/chromium.ts'
import { watchConsole } from './helpers/panel-page.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { StandalonePage } from './page/standalone-page.ts'

declare const standalone: StandalonePage

const browserTest = withChromium(test)
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

const openProfile = async (t: ExecutionContext, browser: Browser): Promise<BrowserContext> => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  return profile
}

/** A tab whose console must stay clean: a breach of the page's policy is said there. */
const openTab = async (t: ExecutionContext, profile: BrowserContext): Promise<Page> => {
  site ??= serveTestPage('standalone-page')
  const tab = await profile.newPage()
  watchConsole(t, tab)
  await tab.goto((await site).url)
  return tab
}

const open = (tab: Page): Promise<string | undefined> => tab.evaluate(() => standalone.open())

const find = <Row>(tab: Page, ...query: Parameters<StandalonePage['find']>): Promise<Row> =>
  tab.evaluate(query => standalone.find(...query), query) as Promise<Row>

const ALICE = { username: 'alice', password: 'correct horse battery', pin: '1234' }

browserTest(
  'from nothing to a payment and a swap on both chains, with a kernel and a world inside the page',
  async (t, browser) => {
    const tab = await openTab(t, await openProfile(t, browser))
    t.is(await open(tab), undefined)
    const { accountId, fromWalletId, toWalletId } = await tab.evaluate(async user => {
      const { accountId } = await standalone.runAction('account.create', user)
      const [from, to] = [
        await standalone.runAction('wallet.create', {
          accountId,
          walletType: 'wallet:bitcoin',
          name: 'Savings'
        }),
        await standalone.runAction('wallet.create', { accountId, walletType: 'wallet:litecoin' })
      ]
      await standalone.runAction('world.fund', { walletId: from.walletId, nativeAmount: '50000000' })
      await standalone.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
      return { accountId, fromWalletId: from.walletId, toWalletId: to.walletId }
    }, ALICE)
    const funded = await find<WalletSnapshot>(tab, 'wallets', {
      walletId: fromWalletId,
      balanceDetails: {
        '': {
          spendable: '50000000',
          incoming: '0',
          immature: '0',
          reserved: '0',
          frozen: '0',
          grade: 'claimed',
          paymentsGrade: 'claimed'
        }
      }
    })
    t.is(funded.name, 'Savings')
    await find<EngineSnapshot>(tab, 'engines', { walletId: fromWalletId, syncRatio: 1, state: 'started' })

    const sent = await tab.evaluate(async walletId => {
      const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
      const { draftId, review } = await standalone.runAction('spend.draft', {
        ...{ walletId, publicAddress, nativeAmount: '1000000' }
      })
      return { review, ...(await standalone.runAction('spend.approve', { draftId })) }
    }, fromWalletId)
    t.is(sent.review.nativeAmount, '1000000')
    t.regex(sent.txid, /^[0-9a-f]{64}$/)

    const roundId = await tab.evaluate(
      async ids => {
        const swapRequest = { ...ids, nativeAmount: '5000000', quoteFor: 'from' as const }
        return (await standalone.runAction('swap.ask', swapRequest)).roundId
      },
      { fromWalletId, toWalletId }
    )
    const quote = await find<QuoteSnapshot>(tab, 'quotes', {
      roundId,
      pluginId: 'changenow',
      state: 'resolved'
    })
    const swap = await tab.evaluate(async quoteId => {
      const { draftId, review } = await standalone.runAction('swap.review', { quoteId })
      return { review, ...(await standalone.runAction('swap.approve', { draftId })) }
    }, quote.quoteId ?? '')
    t.is(swap.review.provider, 'changenow')
    t.is(swap.review.walletId, fromWalletId)
    t.regex(swap.txid, /^[0-9a-f]{64}$/)
    await find(tab, 'quotes', { roundId, pluginId: 'changenow', fate: 'approved' })
    t.is(typeof accountId, 'string')
  }
)

browserTest(
  'account, wallet, money and world are there after a reload; a second tab waits until the first is gone',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const tab = await openTab(t, profile)
    await open(tab)
    const walletId = await tab.evaluate(async user => {
      const { accountId } = await standalone.runAction('account.create', user)
      const { walletId } = await standalone.runAction('wallet.create', {
        accountId,
        walletType: 'wallet:bitcoin'
      })
      await standalone.runAction('world.fund', { walletId, nativeAmount: '70000' })
      return walletId
    }, ALICE)
    await find(tab, 'wallets', { walletId, balances: { '': '70000' } })

    const second = await openTab(t, profile)
    t.is(await open(second), 'STORAGE_LOCKED')
    await tab.reload()
    t.is(await open(tab), undefined)
    await tab.evaluate(({ username, pin }) => standalone.runAction('account.login', { username, pin }), ALICE)
    await find(tab, 'wallets', { walletId, balances: { '': '70000' } })

    await tab.close()
    t.is(await open(second), undefined)
    await second.evaluate(
      ({ username, pin }) => standalone.runAction('account.login', { username, pin }),
      ALICE
    )
    await find(second, 'wallets', { walletId, balances: { '': '70000' } })
  }
)
