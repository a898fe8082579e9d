import test from 'ava'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { createKernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { waitFor } from '../helpers/device.ts'
import { withChromium } from './helpers/chromium.ts'
import { watchConsole } from './helpers/panel-page.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { NetworkedPage } from './page/networked-page.ts'

declare const networked: NetworkedPage

const browserTest = withChromium(test)

const POLICY =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src http://localhost:* ws://127.0.0.1:*"
const ALICE = { username: 'alice', password: 'correct horse battery' }
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

browserTest(
  'a wallet in a page pays over HTTP and a WebSocket chain, and a device outside finds the account and what was paid',
  async (t, browser) => {
    const world = makeFakeWorld({ io: makeNodeIo() })
    const served = await serveFakeWorld(world)
    const site = await serveTestPage('networked-page', POLICY)
    const profile = await browser.newContext()
    t.teardown(async () => {
      await profile.close()
      site.close()
      await served.close()
    })
    const page = await profile.newPage()
    watchConsole(t, page)
    await page.goto(site.url)

    const { authServer, infoServers, syncServers, chainServers } = served
    const addresses = { authServer, infoServers, syncServers, chainServers }
    const { walletId, publicAddress } = await page.evaluate(
      ([addresses, user]) => networked.open(addresses, user),
      [addresses, ALICE] as const
    )
    world.chain.fund(publicAddress, '5000000')
    world.chain.mine(1)
    await page.waitForFunction(() => networked.spendable() === '5000000')
    const txid = await page.evaluate(payee => networked.pay(payee, '1250000'), PAYEE)
    world.chain.mine(1)
    await page.evaluate(() => networked.close())

    const device = await createKernel({
      ...{ authServer, infoServers, syncServers },
      io: makeNodeIo(),
      apiKey: 'any',
      pluginOptions: fakePluginOptions(chainServers),
      plugins: [memoryStorage(), bitcoin]
    })
    t.teardown(() => device.close())
    const account = await device.context.loginWithPassword(ALICE.username, ALICE.password)
    const wallet = await account.openWallet(walletId)
    t.is(wallet.name, 'Savings')
    await waitFor(async () => (await wallet.getTransactions()).some(found => found.txid === txid))
    const { nativeAmount, networkFee, metadata } = await wallet.getTransaction(txid)
    t.is(BigInt(nativeAmount), -1_250_000n - BigInt(networkFee))
    t.is(metadata.name, 'Landlady')
  }
)
