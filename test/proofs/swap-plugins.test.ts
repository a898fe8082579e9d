import type { ExecutionContext } from 'ava'
import test from 'ava'
import { answerInstead, refusalReply, slowDown } from '../../fake-server/base/faults.ts'
import { nativeAmount, type SwapPlugin, type SwapRequest, type WalletError } from '../../kernel/index.ts'
import { changenow } from '../../plugins/swap/changenow.ts'
import { letsexchange } from '../../plugins/swap/letsexchange.ts'
import { sideshift } from '../../plugins/swap/sideshift.ts'
import { thorchain } from '../../plugins/swap/thorchain.ts'
import { transfer } from '../../plugins/swap/transfer.ts'
import { waitFor } from '../helpers/device.ts'
import { openTrader, openWaitingTrader, RICH, type Trader } from '../helpers/swap-trader.ts'

type ServerId = 'changenow' | 'sideshift' | 'letsexchange' | 'thorchain'

/** Every provider with a server, and another one that does not wait for it. */
const PROVIDERS: readonly {
  readonly id: ServerId
  readonly plugin: SwapPlugin
  readonly other: SwapPlugin
  /** It names a largest amount to pay. */
  readonly hasMaximum: boolean
}[] = [
  { id: 'changenow', plugin: changenow, other: sideshift, hasMaximum: false },
  { id: 'sideshift', plugin: sideshift, other: changenow, hasMaximum: true },
  { id: 'letsexchange', plugin: letsexchange, other: changenow, hasMaximum: true },
  { id: 'thorchain', plugin: thorchain, other: changenow, hasMaximum: false }
]

// One after another: a clock that stands still waits for real work, which many worlds at once would slow down.
for (const { id, plugin, other, hasMaximum } of PROVIDERS) {
  test.serial(`${id}: a swap of litecoin for bitcoin pays out on the other chain`, async t => {
    const trader = await openTrader([plugin])
    const { world, account, btc, ltc } = trader
    world.chains.litecoin.fund((await ltc.getReceiveAddress()).publicAddress, '2000000000')
    world.chains.litecoin.mine(1)
    await waitFor(() => ltc.balanceDetailsOf(null).spendable === '2000000000')
    const quote = await account.fetchSwapQuote({ ...back(trader), nativeAmount: nativeAmount('700000000') })
    t.is(quote.fromNativeAmount, nativeAmount('700000000'))
    const { transaction } = await quote.approve()
    t.is((await ltc.getTransaction(transaction.txid)).swapData?.payoutWalletId, btc.id)
    world.chains.litecoin.mine(1)
    const after = BigInt(RICH) + BigInt(quote.toNativeAmount)
    await waitFor(() => btc.balanceOf(null) === nativeAmount(String(after)))
    const left = 2_000_000_000n + BigInt(transaction.nativeAmount)
    t.is(ltc.balanceOf(null), nativeAmount(String(left)))
    await trader.close()
  })

  test.serial(
    `${id}: limits, unsupported pairs and unsupported countries are reported to the caller, and the limit can be swapped`,
    async t => {
      const trader = await openTrader([plugin])
      const { world, account, btc } = trader
      const low = await refused<'SWAP_BELOW_LIMIT'>(t, trader, trader.swapRequest('1500'), 'SWAP_BELOW_LIMIT')
      t.is(low.details.pluginId, id)
      t.is(low.details.direction, 'from')
      const smallest = await account.fetchSwapQuote(trader.swapRequest(low.details.nativeMin))
      t.is(smallest.fromNativeAmount, nativeAmount(low.details.nativeMin))
      await smallest.close()

      if (hasMaximum) {
        world.swaps[id as 'sideshift'].behaviour.maxUsd = '1000'
        const high = await refused<'SWAP_ABOVE_LIMIT'>(
          t,
          trader,
          trader.swapRequest('4000000'),
          'SWAP_ABOVE_LIMIT'
        )
        const largest = await account.fetchSwapQuote(trader.swapRequest(high.details.nativeMax))
        t.is(largest.fromNativeAmount, nativeAmount(high.details.nativeMax))
        await largest.close()
      }

      const toWallet = await account.createCurrencyWallet('wallet:bitcoin')
      const pair = await refused<'SWAP_CURRENCY'>(
        t,
        trader,
        { ...trader.swapRequest(), toWallet },
        'SWAP_CURRENCY'
      )
      t.is(pair.details.pluginId, id)

      world.providers.use(answerInstead({ clock: world.clock, random: () => 0 }, refusalReply(451)), id)
      const country = await refused<'SWAP_PERMISSION'>(t, trader, trader.swapRequest(), 'SWAP_PERMISSION')
      t.deepEqual(country.details, { pluginId: id, reason: 'geoRestriction' })
      await assertUnspent(t, btc)
      await trader.close()
    }
  )

  test.serial(
    `${id}: a reply after 21 s is not awaited if there is another quote, and can be paid if it is the first`,
    async t => {
      const trader = await openWaitingTrader([plugin, other])
      const { world, account, clock, until } = trader
      const slow = slowDown(
        { clock: world.clock, random: () => 0 },
        { from: 21_000, to: 21_000 },
        { count: 1 }
      )
      const stop = world.providers.use(slow, id)
      const beside = account.openQuoteRound(trader.swapRequest())
      await until(() => beside.quotes.length === 1)
      await clock.advance(18_000)
      t.false(beside.getSnapshot().isOver)
      await clock.advance(2000)
      t.deepEqual(idsOf(await beside.settled), [other.id])
      const state = beside.getSnapshot().providers.find(({ pluginId }) => pluginId === id)?.state
      t.is(state, 'timed out')
      beside.close()
      stop()
      // The list of what it swaps comes late, and is there for whoever asks next.
      await clock.advance(2000)

      world.providers.use(
        slowDown({ clock: world.clock, random: () => 0 }, { from: 21_000, to: 21_000 }, { count: 1 }),
        id
      )
      const alone = account.openQuoteRound(trader.swapRequest(), { disabled: [other.id ?? ''] })
      await clock.advance(20_500)
      t.deepEqual(alone.quotes, [])
      t.false(alone.getSnapshot().isOver, 'nobody has answered yet')
      await until(() => alone.getSnapshot().isOver)
      const [quote] = await alone.settled
      t.is(quote?.pluginId, id)
      const approved = quote?.approve()
      let txid = ''
      void approved?.then(({ transaction }) => {
        txid = transaction.txid
      })
      await until(() => txid !== '')
      t.regex(txid, /^[0-9a-f]{64}$/)
      const closing = trader.close()
      await clock.advance(60_000)
      await closing
    }
  )
}

test.serial(
  'thorchain: another vault, a moved price, time and a second approval are refused before anything is signed',
  async t => {
    const trader = await openTrader([thorchain])
    const { world, account, btc } = trader
    const { behaviour } = world.swaps.thorchain
    const misled = await account.fetchSwapQuote(trader.swapRequest())
    behaviour.isPayInWrong = true
    await t.throwsAsync(misled.approve(), { code: 'SERVER', message: /names two vaults/ })
    behaviour.isPayInWrong = false

    const moved = await account.fetchSwapQuote(trader.swapRequest())
    behaviour.driftBasisPoints = 500
    await t.throwsAsync(moved.approve(), { code: 'SWAP_CHANGED' })
    behaviour.driftBasisPoints = 0

    const late = await account.fetchSwapQuote(trader.swapRequest())
    world.clock.skip(901_000)
    await t.throwsAsync(late.approve(), { code: 'QUOTE_ENDED' })
    await assertUnspent(t, btc)

    const quote = await account.fetchSwapQuote(trader.swapRequest())
    await quote.approve()
    await t.throwsAsync(quote.approve(), { code: 'QUOTE_ENDED' })
    t.is((await btc.getTransactions()).length, 2)
    await trader.close()
  }
)

test.serial(
  'transfer: all there is can be moved, once; a closed quote and a quote of two are not paid again',
  async t => {
    const trader = await openTrader([transfer])
    const { account, btc } = trader
    const toWallet = await account.createCurrencyWallet('wallet:bitcoin')
    const swapRequest: SwapRequest = { ...trader.swapRequest(), toWallet, quoteFor: 'max' }
    const closed = await account.fetchSwapQuote(swapRequest)
    await closed.close()
    await t.throwsAsync(closed.approve(), { code: 'QUOTE_ENDED' })
    await assertUnspent(t, btc)

    const quote = await account.fetchSwapQuote(swapRequest)
    const [first, second] = await Promise.allSettled([quote.approve(), quote.approve()])
    t.is(first.status, 'fulfilled')
    t.is((second as PromiseRejectedResult).reason.code, 'QUOTE_ENDED')
    await waitFor(() => toWallet.balanceOf(null) === quote.fromNativeAmount)
    t.is(btc.balanceOf(null), nativeAmount('0'))
    t.is((await btc.getTransactions()).length, 2)
    await trader.close()
  }
)

const back = ({ btc, ltc, swapRequest }: Trader): SwapRequest => ({
  ...swapRequest(),
  fromWallet: ltc,
  toWallet: btc
})

const idsOf = (quotes: readonly { readonly pluginId: string }[]): readonly string[] =>
  quotes.map(({ pluginId }) => pluginId)

const refused = async <
  C extends 'SWAP_BELOW_LIMIT' | 'SWAP_ABOVE_LIMIT' | 'SWAP_CURRENCY' | 'SWAP_PERMISSION'
>(
  t: ExecutionContext,
  { account }: Trader,
  swapRequest: SwapRequest,
  code: C
): Promise<WalletError<C>> => {
  const error = await t.throwsAsync(account.fetchSwapQuotes(swapRequest), { code })
  return error as WalletError<C>
}

const assertUnspent = async (t: ExecutionContext, wallet: Trader['btc']): Promise<void> => {
  t.is(wallet.balanceOf(null), nativeAmount(RICH))
  t.is((await wallet.getTransactions()).length, 1)
}
