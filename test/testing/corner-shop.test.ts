import test from 'ava'
import { swapAssets, testSwapPlugin } from 'holdfast/testing'
import { cornerShop } from '../../examples/rates-and-swaps.ts'

const { btc: from, ltc: to } = swapAssets
const shop = cornerShop(async () => ({
  orderId: 'order-1',
  deposit: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
}))
testSwapPlugin(test, shop, {
  valid: [{ from, to, amount: '1000000', fromNativeAmount: '1000000', toNativeAmount: '740000000' }],
  invalid: [{ from, to, amount: '500', code: 'SWAP_BELOW_LIMIT', limit: '10000' }]
})
