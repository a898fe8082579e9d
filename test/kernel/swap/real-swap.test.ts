import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { nativeAmount, type SwapReview } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'
import { makeToy } from '../../helpers/toy-currency.ts'

const USER = { username: 'alice', password: 'correct horse battery' }

test('a swap is quoted, ordered at approval, reviewed and paid on the chain, and its record is on a second device [3.26] [3.27]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { plugin: toycoin } = makeToy()
  const shopKernel = await openDevice(world)
  const till = await (await shopKernel.context.createAccount({})).createCurrencyWallet('wallet:bitcoin')
  const { publicAddress: payin } = await till.getReceiveAddress()
  let orders = 0
  const shop = makeShop({
    supportEmail: 'help@shop.example',
    answer: async tapContext => {
      const spends = (publicAddress?: string) => [
        {
          tokenId: null,
          spendTargets: [
            {
              nativeAmount: tapContext.request.nativeAmount,
              ...(publicAddress === undefined ? {} : { publicAddress })
            }
          ]
        }
      ]
      await tapContext.refundTo()
      tapContext.offer(
        offerOf(tapContext, {
          networkFee: await tapContext.feeFor(spends()),
          payment: {
            async order() {
              orders += 1
              return {
                spends: spends(payin),
                fromNativeAmount: tapContext.request.nativeAmount,
                toNativeAmount: nativeAmount('45000'),
                orderId: `order-${await tapContext.depositTo()}`,
                orderUri: 'https://shop.example/order'
              }
            }
          }
        })
      )
    }
  })
  const kernel = await openDevice(world, { plugins: [toycoin, shop] })
  const account = await kernel.context.createAccount(USER)
  const fromWallet = await account.createCurrencyWallet('wallet:bitcoin')
  const toWallet = await account.createCurrencyWallet('wallet:toycoin')
  world.chain.fund((await fromWallet.getReceiveAddress()).publicAddress, '150000')
  world.chain.mine(1)
  await waitFor(() => fromWallet.balanceDetailsOf(null).spendable === '150000')

  const { publicAddress: refundAddress } = await fromWallet.getReceiveAddress()
  const quote = await account.fetchSwapQuote({
    fromWallet,
    toWallet,
    nativeAmount: nativeAmount('50000'),
    quoteFor: 'from'
  })
  t.is(orders, 0)
  t.is(quote.pluginId, 'shop')
  t.deepEqual(quote.swapInfo, {
    pluginId: 'shop',
    displayName: 'Shop',
    isDex: false,
    supportEmail: 'help@shop.example'
  })
  t.is(quote.fromNativeAmount, nativeAmount('50000'))
  t.is(quote.toNativeAmount, nativeAmount('45000'))
  t.false(quote.isEstimate)
  t.false(quote.canBePartial)
  t.is(quote.expirationDate, undefined)
  t.is(quote.maxFulfillmentSeconds, undefined)
  t.is(quote.request.fromWalletId, fromWallet.id)
  t.is(quote.networkFee.currencyCode, 'BTC')

  const reviews: SwapReview[] = []
  const result = await quote.approve({
    metadata: { name: 'Toys' },
    confirm: async review => {
      reviews.push(review)
      return true
    }
  })
  const deposit = (await toWallet.getReceiveAddress()).publicAddress
  t.is(orders, 1)
  t.is(result.destinationAddress, payin)
  t.is(result.orderId, `order-${deposit}`)
  const [review] = reviews
  t.is(review?.drafts.length, 1)
  t.is(review?.drafts[0]?.nativeAmount, result.transaction.nativeAmount)
  t.true(BigInt(review?.networkFee.nativeAmount ?? '0') <= BigInt(quote.networkFee.nativeAmount))
  world.chain.mine(1)
  await waitFor(() => till.balanceOf(null) === '50000')
  await t.throwsAsync(quote.approve(), { code: 'QUOTE_ENDED' })
  await account.sync()

  const second = await openDevice(world, { plugins: [makeToy().plugin, makeShop()] })
  const again = await second.context.loginWithPassword(USER.username, USER.password)
  const same = await again.openWallet(fromWallet.id)
  await waitFor(async () => (await same.getTransactions()).length === 2)
  const seen = await same.getTransaction(result.transaction.txid)
  t.deepEqual(seen.swapData, {
    orderId: `order-${deposit}`,
    orderUri: 'https://shop.example/order',
    isEstimate: false,
    plugin: { pluginId: 'shop', displayName: 'Shop', supportEmail: 'help@shop.example' },
    payoutAddress: deposit,
    payoutCurrencyCode: 'TOY',
    payoutNativeAmount: nativeAmount('45000'),
    payoutWalletId: toWallet.id,
    refundAddress
  })
  t.is(seen.metadata.name, 'Toys')
  for (const device of [kernel, second, shopKernel]) await device.close()
  await world.close()
})

test('an order that pays on another network is refused, and a bad address never reaches a signature', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  let payin = ''
  const shop = makeShop({
    answer: tapContext => {
      const { nativeAmount: amount } = tapContext.request
      tapContext.offer(
        offerOf(tapContext, {
          payment: {
            order: async () => ({
              spends: [{ tokenId: null, spendTargets: [{ publicAddress: payin, nativeAmount: amount }] }],
              fromNativeAmount: amount,
              toNativeAmount: amount
            })
          }
        })
      )
    }
  })
  const kernel = await openDevice(world, { plugins: [makeToy().plugin, shop] })
  const account = await kernel.context.createAccount({})
  const fromWallet = await account.createCurrencyWallet('wallet:bitcoin')
  const toWallet = await account.createCurrencyWallet('wallet:toycoin')
  world.chain.fund((await fromWallet.getReceiveAddress()).publicAddress, '150000')
  world.chain.mine(1)
  await waitFor(() => fromWallet.balanceDetailsOf(null).spendable === '150000')
  const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  const litecoin = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'
  for (payin of [mainnet, litecoin, '0x52908400098527886E0F7030069857D2E4169EE7', 'nonsense']) {
    const quote = await account.fetchSwapQuote({
      fromWallet,
      toWallet,
      nativeAmount: nativeAmount('50000'),
      quoteFor: 'from'
    })
    await t.throwsAsync(quote.approve(), {
      code: 'SWAP_CHANGED',
      message: /none of Bitcoin, or of another network/
    })
  }
  t.is(fromWallet.balanceOf(null), nativeAmount('150000'))
  t.deepEqual(fromWallet.unfinishedSpends(), [])
  await kernel.close()
  await world.close()
})
