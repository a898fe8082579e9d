import { valueText } from '../../app/format/amounts.ts'
import { offerText } from '../../app/format/quotes.ts'
import { pathText } from '../../app/format/routes.ts'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  amountText,
  type CurrencyWallet,
  type Kernel,
  nativeAmount,
  type SwapQuote,
  type Txid
} from '../../kernel/index.ts'
import { coinOf } from '../session/assets.ts'
import { unitsOfSides } from '../swap/quote-texts.ts'
import type { SwapSides } from '../swap/read-swap.ts'
import { type RunStep, untilTrue } from './tour-setup.ts'

/** Options of {@link runTourSwap}. */
export interface TourSwapOptions {
  readonly step: RunStep
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly account: Account
  /** A Bitcoin wallet with coins. */
  readonly wallet: CurrencyWallet
  readonly signal: AbortSignal
}

/** The result of the swap; amounts are formatted. */
export interface TourSwap {
  readonly plugin: string
  readonly txid: Txid
  readonly paid: string
  readonly received: string
  /** The fiat value of the wallet before the swap, and the route of the rate. */
  readonly value: string
  readonly route: string
}

const FIAT = 'iso:EUR'
const SWAPPED = nativeAmount('1000000')

/** Bitcoin into Litecoin: rates, quotes of several providers, a payment on one chain and the payout on the other. */
export const runTourSwap = async (options: TourSwapOptions): Promise<TourSwap> => {
  const { step, account, wallet, signal } = options
  const worth = await showWorth(options)
  const other = await step('litecoin', 'Make a Litecoin wallet beside it', async () => {
    const value = await account.createCurrencyWallet('wallet:litecoin', { name: 'Litecoin' })
    await untilTrue(value, signal, async () => true)
    return { value, detail: (await value.getReceiveAddress()).publicAddress }
  })
  const sides: SwapSides = {
    from: { wallet, asset: coinOf(wallet) },
    to: { wallet: other, asset: coinOf(other) }
  }
  const best = await openQuoteRound(options, sides)
  const { transaction } = await step('swap', `Swap with ${best.swapInfo.displayName}, the best`, async () => {
    const value = await best.approve()
    return { value, detail: value.transaction.txid }
  })
  const received = await showPayout(options, other)
  return {
    plugin: best.pluginId,
    txid: transaction.txid,
    paid: amountText(best.fromNativeAmount, sides.from.asset),
    received,
    ...worth
  }
}

const showWorth = ({ step, kernel, wallet }: TourSwapOptions): Promise<Pick<TourSwap, 'route' | 'value'>> =>
  step('rates', 'See what it is worth', async () => {
    const { rates } = kernel.context
    const { currencyCode, denominations } = wallet.currencyInfo
    const stop = rates.want([{ fromCurrency: currencyCode, toCurrency: FIAT }])
    await rates.refresh().finally(stop)
    const held = wallet.balanceOf(null)
    const worth = rates.valueOf(held, denominations[0]?.multiplier ?? '1', currencyCode, FIAT)
    const value = worth === undefined ? 'no rate' : valueText(worth.value, FIAT)
    const route = worth === undefined ? '' : pathText(worth.route)
    return {
      value: { value, route },
      lines: [route],
      detail: `${amountText(held, coinOf(wallet))} = ${value}`
    }
  })

const openQuoteRound = ({ step, account }: TourSwapOptions, sides: SwapSides): Promise<SwapQuote> =>
  step('quotes', 'Ask for quotes', async () => {
    const round = account.openQuoteRound({
      fromWallet: sides.from.wallet,
      toWallet: sides.to.wallet,
      nativeAmount: SWAPPED,
      quoteFor: 'from'
    })
    const [value] = await round.settled
    if (value === undefined) throw new Error('The tour got no quote')
    const { providers } = round.getSnapshot()
    const given = providers.filter(({ state }) => state === 'resolved')
    return {
      value,
      lines: given.map(quote => `${quote.displayName.padEnd(NAME)}${offerText(quote, unitsOfSides(sides))}`),
      detail: `${given.length} quotes of ${providers.length} providers, the best first`
    }
  })

const NAME = 15

const showPayout = ({ step, world, signal }: TourSwapOptions, other: CurrencyWallet): Promise<string> =>
  step('payout', 'Mine on both chains, and see it paid out on the other', async () => {
    world.chain.mine(1)
    await untilTrue(other, signal, async () => other.balanceOf(null) !== '0')
    world.chains.litecoin.mine(1)
    await world.saved()
    await untilTrue(other, signal, async () => {
      const [tx] = await other.getTransactions({ limit: 1 })
      return tx?.confirmations === 'confirmed'
    })
    const value = amountText(other.balanceOf(null), coinOf(other))
    return { value, detail: `${value}, confirmed` }
  })
