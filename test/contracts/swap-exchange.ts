import type { ExecutionContext, TestFn } from 'ava'
import { answerInstead, refusalReply, slowDown } from '../../fake-server/base/faults.ts'
import type { ChainId } from '../../fake-server/chain/open-chain.ts'
import { scriptOf } from '../../fake-server/chain/script.ts'
import { nativeAmount } from '../../kernel/base/amount.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { JsonObject } from '../../kernel/base/json.ts'
import type { SwapPlugin } from '../../kernel/plugins/plugin.ts'
import { fakeProviders } from '../../testing/fake-network.ts'
import { swapAssets } from '../../testing/swap-lab.ts'
import { type SwapSuiteOptions, testSwapPlugin } from '../../testing/swap-suite.ts'
import {
  DEPOSIT_TO,
  offerOf,
  openSwapHome,
  orderOf,
  type Requested,
  type SwapHome
} from '../helpers/swap-context.ts'

/** What the contract suite needs to know of a provider with a server. */
export interface SwapContract {
  readonly plugin: SwapPlugin
  /** With what it is applied; texts in it are secrets that must show nowhere but in requests. */
  readonly options: JsonObject
  /** Two assets that it swaps, of the chains of a fake world. */
  readonly from: 'btc' | 'ltc'
  readonly to: 'btc' | 'ltc'
  /** True if it promises the amount. */
  readonly isFixed: boolean
  /** Which limits it has, by what is asked for. */
  readonly limits: Readonly<Record<'from' | 'to', readonly ('below' | 'above')[]>>
  /** What it gives for so much, to the last unit. */
  readonly expected: (home: SwapHome, fromAmount: bigint) => bigint | undefined
  /** Makes it refuse this country. */
  readonly block?: (home: SwapHome) => void
  /** Stops swapping one of its coins. */
  readonly close: (home: SwapHome) => void
  /** Makes it ask for the payment on another chain. */
  readonly mislead: (home: SwapHome) => void
  /** Makes the price worse than what was quoted by 5 %. */
  readonly drift: (home: SwapHome) => void
}

/** Prices of the two in the fake market are some 770 to 1; 0.01 BTC is worth 650 USD. */
const AMOUNTS = { btc: nativeAmount('1000000'), ltc: nativeAmount('700000000') } as const
const TINY = '1500'
const HUGE = { btc: '900000000000', ltc: '900000000000000' } as const

/**
 * Runs the conformance suite on a shipped exchange, and what the exchanges of a fake world keep besides: prices near the market,
 * limits that work, and orders after the price has changed. Run it from the plugin's own test file.
 */
export const testSwapExchange = (test: TestFn, contract: SwapContract): void => {
  testSwapPlugin(test, contract.plugin, suiteOptionsOf(contract))
  testQuotes(test, contract)
  testRefusals(test, contract)
  testOrders(test, contract)
  testFaults(test, contract)
  testRateLimits(test, contract)
}

const suiteOptionsOf = (contract: SwapContract): SwapSuiteOptions => {
  const [from, to] = [swapAssets[contract.from], swapAssets[contract.to]]
  const amount = AMOUNTS[contract.from]
  const toNativeAmount = String(contract.expected(open(contract), BigInt(amount)))
  const replies = fakeProviders()
  const asset = { from, to, amount, replies }
  return {
    valid: [{ ...asset, fromNativeAmount: amount, toNativeAmount, isEstimate: !contract.isFixed }],
    invalid: [{ ...asset, to: swapAssets.ufo, code: 'SWAP_CURRENCY' }],
    options: contract.options
  }
}

const testQuotes = (test: TestFn, contract: SwapContract): void => {
  const { plugin, isFixed } = contract
  const { id } = plugin

  test(`${id}: an amount to pay is quoted exactly, near the market price, without revealing an address`, async t => {
    const home = open(contract)
    const requested = query(home, contract, {})
    const offer = await offerOf(requested)
    t.is(offer.fromNativeAmount, AMOUNTS[contract.from])
    nearMarket(t, home, contract, offer)
    t.is(offer.networkFee, nativeAmount('321'))
    t.is(offer.isEstimate, !isFixed)
    t.true('order' in offer.payment)
    const { expirationDate } = offer
    t.true(expirationDate !== undefined && expirationDate.getTime() > home.clock.now())
    t.true((expirationDate?.getTime() ?? 0) <= home.clock.now() + 900_000)
    t.is(requested.fees.length, 1)
    t.deepEqual(
      requested.fees[0]?.map(({ spendTargets }) => spendTargets),
      [[{ nativeAmount: offer.fromNativeAmount }]]
    )
    assertNoAddress(t, home)
  })

  test(`${id}: an amount to receive is quoted exactly, and its cost covers it`, async t => {
    const home = open(contract)
    const amount = AMOUNTS[contract.to]
    const offer = await offerOf(query(home, contract, { quoteFor: 'to', amount }))
    t.is(offer.toNativeAmount, amount)
    nearMarket(t, home, contract, offer)
    assertNoAddress(t, home)
  })

  test(`${id}: the maximum amount to pay is that of the wallet`, async t => {
    const home = open(contract)
    const most = nativeAmount(String(BigInt(AMOUNTS[contract.from]) * 2n + 7n))
    const requested = query(home, contract, { quoteFor: 'max', amount: '0', most })
    const offer = await offerOf(requested)
    t.is(offer.fromNativeAmount, most)
    t.is(requested.maxima.length, 1)
    t.is(requested.maxima[0]?.spendTargets.length, 1)
    nearMarket(t, home, contract, offer)
  })

  test(`${id}: an amount beyond the precision of a float stays exact`, async t => {
    const home = open(contract)
    home.world.swaps.changenow.behaviour.maxUsd = '1000000000000000'
    home.world.swaps.sideshift.behaviour.maxUsd = '1000000000000000'
    home.world.swaps.letsexchange.behaviour.maxUsd = '1000000000000000'
    const amount = nativeAmount('90071992547409931')
    const offer = await offerOf(query(home, contract, { amount }))
    t.is(offer.fromNativeAmount, amount)
    t.is(contract.expected(home, BigInt(amount)), BigInt(offer.toNativeAmount))
    nearMarket(t, home, contract, offer)
  })

  if (isFixed) {
    test(`${id}: each side and each limit is counted in units of its own currency`, async t => {
      const home = open(contract)
      const pair = { from: swapAssets.eth, to: swapAssets.usdc }
      const price = home.world.providers.market.ratioOf('ETH', 'USDC')
      if (price === undefined) return t.fail()
      // Of 18 decimals and of 6.
      const fairTo = (from: string): bigint =>
        (BigInt(from) * price.numerator) / (price.denominator * 10n ** 12n)
      for (const options of [
        { amount: '1000000000000000000' },
        { amount: '2000000000', quoteFor: 'to' }
      ] as const) {
        const { fromNativeAmount, toNativeAmount } = await offerOf(home.query({ ...pair, ...options }))
        const [fair, got] = [fairTo(fromNativeAmount), BigInt(toNativeAmount)]
        t.true(got <= fair && got * 100n >= fair * 97n, `${got} of ${fair}`)
        t.is('quoteFor' in options ? toNativeAmount : fromNativeAmount, nativeAmount(options.amount))
      }
      for (const quoteFor of ['from', 'to'] as const) {
        const error = await failure(t, home.query({ ...pair, quoteFor, amount: TINY }))
        if (!isWalletError(error, 'SWAP_BELOW_LIMIT')) return t.fail(`${error}`)
        const { direction, nativeMin } = error.details
        const usdc = direction === 'from' ? fairTo(nativeMin) : BigInt(nativeMin)
        // 20 USD, the least of fake exchanges.
        t.true(usdc >= 19_500_000n && usdc <= 20_500_000n, `${usdc}`)
        if (!contract.limits[quoteFor].includes('above')) continue
        const above = await failure(t, home.query({ ...pair, quoteFor, amount: `1${'0'.repeat(30)}` }))
        if (!isWalletError(above, 'SWAP_ABOVE_LIMIT')) return t.fail(`${above}`)
        const most = BigInt(above.details.nativeMax)
        const mostUsdc = above.details.direction === 'from' ? fairTo(String(most)) : most
        // 50 000 USD.
        t.true(mostUsdc >= 48_000_000_000n && mostUsdc <= 51_000_000_000n, `${mostUsdc}`)
      }
    })
  }
}

const testRefusals = (test: TestFn, contract: SwapContract): void => {
  const { id, displayName } = contract.plugin

  for (const quoteFor of ['from', 'to'] as const) {
    if (contract.limits[quoteFor].includes('below')) {
      test(`${id}: too little to ${quoteFor === 'from' ? 'pay' : 'receive'} names the smallest amount, which works`, async t => {
        const home = open(contract)
        const error = await failure(t, query(home, contract, { quoteFor, amount: TINY }))
        if (!isWalletError(error, 'SWAP_BELOW_LIMIT')) return t.fail(`${error}`)
        const { pluginId, direction, nativeMin } = error.details
        t.is(pluginId, id)
        t.true(BigInt(nativeMin) > BigInt(direction === quoteFor ? TINY : '0'))
        const requested = query(home, contract, {
          quoteFor: direction,
          amount: nativeMin
        })
        t.is((await offerOf(requested)).isEstimate, !contract.isFixed)
      })
    }
    if (contract.limits[quoteFor].includes('above')) {
      test(`${id}: too much to ${quoteFor === 'from' ? 'pay' : 'receive'} names the largest amount, which works`, async t => {
        const home = open(contract)
        const amount = HUGE[contract[quoteFor]]
        const error = await failure(t, query(home, contract, { quoteFor, amount }))
        if (!isWalletError(error, 'SWAP_ABOVE_LIMIT')) return t.fail(`${error}`)
        const { pluginId, direction, nativeMax } = error.details
        t.is(pluginId, id)
        t.true(BigInt(nativeMax) < BigInt(amount) && BigInt(nativeMax) > 0n)
        await offerOf(query(home, contract, { quoteFor: direction, amount: nativeMax }))
      })
    }
  }

  test(`${id}: an unknown coin is an unsupported pair, and the error names it`, async t => {
    const home = open(contract)
    for (const pair of [{ to: swapAssets.ufo }, { from: swapAssets.ufo }]) {
      const error = await failure(
        t,
        home.query({ from: swapAssets[contract.from], to: swapAssets[contract.to], ...pair })
      )
      if (!isWalletError(error, 'SWAP_CURRENCY')) return t.fail(`${error}`)
      t.is(error.details.pluginId, id)
      t.is(error.details.displayName, displayName)
      t.true([error.details.from, error.details.to].includes('UFO'))
    }
  })

  test(`${id}: a coin that it no longer swaps is an unsupported pair`, async t => {
    const home = open(contract)
    contract.close(home)
    t.true(isWalletError(await failure(t, query(home, contract, {})), 'SWAP_CURRENCY'))
  })

  test(`${id}: a country that it does not serve is reported as a restriction, and so is status 451`, async t => {
    const blocked = open(contract)
    contract.block?.(blocked)
    if (contract.block === undefined) put(blocked, contract, refusalReply(451))
    const requested = [query(blocked, contract, {})]
    const other = open(contract)
    put(other, contract, refusalReply(451))
    requested.push(query(other, contract, {}))
    for (const each of requested) {
      const error = await failure(t, each)
      if (!isWalletError(error, 'SWAP_PERMISSION')) return t.fail(`${error}`)
      t.deepEqual(error.details, { pluginId: id, reason: 'geoRestriction' })
    }
  })
}

const testOrders = (test: TestFn, contract: SwapContract): void => {
  const { id } = contract.plugin

  for (const quoteFor of ['from', 'to'] as const) {
    test(`${id}: an order for an amount to ${quoteFor === 'from' ? 'pay' : 'receive'} has the quoted amount, on the right chain`, async t => {
      const home = open(contract)
      const offer = await offerOf(query(home, contract, { quoteFor, amount: AMOUNTS[contract[quoteFor]] }))
      const order = await orderOf(offer)
      t.is(order.fromNativeAmount, offer.fromNativeAmount)
      t.is(order.toNativeAmount, offer.toNativeAmount)
      t.is(order.spends.length, 1)
      const [target] = order.spends[0]?.spendTargets ?? []
      t.is(target?.nativeAmount, offer.fromNativeAmount)
      const chain = swapAssets[contract.from].pluginId as ChainId
      t.notThrows(() => scriptOf(home.world.chains[chain].network, target?.publicAddress ?? ''))
      const { expirationDate } = order
      t.true(expirationDate === undefined || expirationDate.getTime() > home.clock.now())
    })
  }

  test(`${id}: an order after a price change states the new price, or is refused`, async t => {
    const home = open(contract)
    const offer = await offerOf(query(home, contract, {}))
    contract.drift(home)
    try {
      const order = await orderOf(offer)
      t.true(BigInt(order.toNativeAmount) < BigInt(offer.toNativeAmount))
    } catch (error) {
      t.true(isWalletError(error, 'SWAP_CHANGED'))
    }
  })

  test(`${id}: an address of another chain is passed to the kernel unchanged, or refused`, async t => {
    const home = open(contract)
    const offer = await offerOf(query(home, contract, {}))
    contract.mislead(home)
    const chain = swapAssets[contract.from].pluginId as ChainId
    try {
      const [target] = (await orderOf(offer)).spends[0]?.spendTargets ?? []
      t.throws(() => scriptOf(home.world.chains[chain].network, target?.publicAddress ?? ''))
    } catch (error) {
      t.true(isWalletError(error))
    }
  })
}

const testFaults = (test: TestFn, contract: SwapContract): void => {
  const { id } = contract.plugin

  test(`${id}: a reply after 21 s is still an offer, and a missing one is abandoned after 30 s`, async t => {
    const home = open(contract)
    const port = { clock: home.clock, random: () => 0 }
    // Only the first answer is slow: a provider is asked more than once.
    const stop = home.world.providers.use(slowDown(port, { from: 21_000, to: 21_000 }, { count: 1 }), id)
    const requested = query(home, contract, {})
    await home.clock.advance(20_999)
    t.is(requested.offers.length, 0)
    await home.clock.advance(10)
    await requested.done
    t.is(requested.offers.length, 1)
    stop()
    home.world.providers.use(() => new Promise(() => {}), id)
    const silent = query(home, contract, {})
    const ended = failure(t, silent)
    await home.clock.advance(300_000)
    t.true(isWalletError(await ended, 'DEADLINE'))
    // What nobody waits for is not left open.
    t.true(home.sent.at(-1)?.options.signal?.aborted)
  })

  test(`${id}: a failing server is reported as such, and a garbled order is refused`, async t => {
    const home = open(contract)
    const offer = await offerOf(query(home, contract, {}))
    const stop = put(home, contract, refusalReply(503))
    t.true(isWalletError(await failure(t, query(home, contract, {})), 'SERVER'))
    t.true(isWalletError(await t.throwsAsync(orderOf(offer)), 'SERVER'))
    stop()
    put(home, contract, { status: 200, headers: {}, body: '{"id":7}' })
    t.true(isWalletError(await t.throwsAsync(orderOf(offer))))
  })
}

const testRateLimits = (test: TestFn, contract: SwapContract): void => {
  const { id } = contract.plugin

  test(`${id}: the list of assets is fetched once an hour, however many quotes need it at once`, async t => {
    const home = open(contract)
    const lists = (): number => home.sent.filter(({ url }) => /currencies|coins|pools/.test(url)).length
    await Promise.all([1, 2, 3].map(() => offerOf(query(home, contract, {}))))
    t.is(lists(), 1)
    await home.clock.advance(3_500_000)
    await offerOf(query(home, contract, {}))
    t.is(lists(), 1)
    await home.clock.advance(200_000)
    await offerOf(query(home, contract, {}))
    t.is(lists(), 2)
  })

  test(`${id}: no error, log line or request address contains a key`, async t => {
    const home = open(contract)
    await offerOf(query(home, contract, {}))
    const errors: unknown[] = []
    for (const status of [400, 401, 403, 451, 500]) {
      const stop = put(home, contract, refusalReply(status))
      errors.push(await failure(t, query(home, contract, {})))
      stop()
    }
    const shown = errors.map(error => `${String(error)} ${JSON.stringify(error)}`).join()
    for (const [name, value] of Object.entries(contract.options)) {
      if (name !== 'apiKey' && name !== 'secret') continue
      t.false(shown.includes(String(value)))
      t.false(home.logged.join().includes(String(value)))
      t.false(home.sent.some(({ url }) => url.includes(String(value))))
    }
    t.true(shown.length > 0)
  })
}

const open = ({ plugin, options }: SwapContract): SwapHome => openSwapHome(plugin, options)

const query = (
  home: SwapHome,
  { from, to }: SwapContract,
  options: Parameters<SwapHome['query']>[0]
): Requested => home.query({ from: swapAssets[from], to: swapAssets[to], amount: AMOUNTS[from], ...options })

const put = (
  home: SwapHome,
  { plugin }: SwapContract,
  reply: ReturnType<typeof refusalReply>
): (() => void) =>
  home.world.providers.use(answerInstead({ clock: home.clock, random: () => 0 }, reply), plugin.id)

/** How a request failed; an offer fails the test. */
const failure = async (t: ExecutionContext, requested: Requested): Promise<unknown> => {
  try {
    await requested.done
  } catch (error) {
    t.is(requested.offers.length, 0)
    return error
  }
  t.fail('It went well')
  return undefined
}

const nearMarket = (
  t: ExecutionContext,
  { world }: SwapHome,
  { from, to }: SwapContract,
  offer: { readonly fromNativeAmount: string; readonly toNativeAmount: string }
): void => {
  const price = world.providers.market.ratioOf(swapAssets[from].currencyCode, swapAssets[to].currencyCode)
  t.truthy(price)
  if (price === undefined) return
  const fair = (BigInt(offer.fromNativeAmount) * price.numerator) / price.denominator
  const got = BigInt(offer.toNativeAmount)
  t.true(got <= fair && got * 100n >= fair * 90n, `${got} of ${fair}`)
}

const assertNoAddress = (t: ExecutionContext, { sent }: SwapHome): void => {
  const all = sent.map(({ url, options }) => `${url} ${options.body ?? ''}`).join('\n')
  for (const address of Object.values(DEPOSIT_TO)) t.false(all.includes(address))
}
