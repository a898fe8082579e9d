import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyPlugin,
  type CurrencyWallet,
  type Kernel,
  nativeAmount,
  type SwapPlugin,
  type SwapRequest
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { openDevice, waitFor } from './device.ts'

/** Someone with 0.05 BTC, an empty Litecoin wallet and some swap providers, in a world of their own. */
export interface Trader {
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly account: Account
  readonly btc: CurrencyWallet
  readonly ltc: CurrencyWallet
  /** Asks for LTC for so many satoshi. */
  swapRequest(amount?: string): SwapRequest
  /** What a page of a provider says now. */
  page(url: string): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

/** A trader whose time stands still until a test moves it. */
export interface WaitingTrader extends Trader {
  readonly clock: FakeClock
  /** Lets a little time pass again and again, until something is so. */
  until(isTrue: () => boolean | Promise<boolean>): Promise<void>
}

/** What a trader has to begin with, in satoshi. */
export const RICH = '5000000'

/** Opens a device with these swap plugins, and perhaps a plugin of Bitcoin of its own. */
export const openTrader = (plugins: readonly SwapPlugin[], coin?: CurrencyPlugin): Promise<Trader> =>
  openIn(makeFakeWorld({ io: makeNodeIo() }), { plugins, ...(coin && { coin }) }, waitFor)

/** The same, where no time passes by itself. */
export const openWaitingTrader = async (plugins: readonly SwapPlugin[]): Promise<WaitingTrader> => {
  const clock = makeFakeClock()
  const until: WaitingTrader['until'] = isTrue =>
    waitFor(async () => {
      await clock.advance(10)
      return isTrue()
    }, PATIENCE_MS)
  const trader = await openIn(makeFakeWorld({ io: { ...makeNodeIo(), clock } }), { plugins }, until)
  return { ...trader, clock, until }
}

/** For real work on a machine that has other work, too. */
const PATIENCE_MS = 60_000

const openIn = async (
  world: FakeWorld,
  { plugins, ...device }: { readonly plugins: readonly SwapPlugin[]; readonly coin?: CurrencyPlugin },
  until: WaitingTrader['until']
): Promise<Trader> => {
  const kernel = await openDevice(world, {
    ...device,
    plugins: [litecoin, ...plugins],
    pluginOptions: fakePluginOptions()
  })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse battery' })
  const btc = await account.createCurrencyWallet('wallet:bitcoin')
  const ltc = await account.createCurrencyWallet('wallet:litecoin')
  world.chain.fund((await btc.getReceiveAddress()).publicAddress, RICH)
  world.chain.mine(1)
  await until(
    async () => btc.balanceDetailsOf(null).spendable === RICH && (await btc.getTransactions()).length === 1
  )
  const io = world.ioFor(makeNodeIo())
  return {
    world,
    kernel,
    account,
    btc,
    ltc,
    swapRequest: (amount = '1000000') => ({
      fromWallet: btc,
      toWallet: ltc,
      nativeAmount: nativeAmount(amount),
      quoteFor: 'from'
    }),
    page: async url => {
      const headers = { 'x-changenow-api-key': 'any', authorization: 'Bearer any' }
      return JSON.parse((await io.fetch(url, { headers })).text)
    },
    async close() {
      await kernel.close()
      await world.close()
    }
  }
}
