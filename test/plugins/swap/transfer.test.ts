import test from 'ava'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import { transfer } from '../../../plugins/swap/transfer.ts'
import { swapAssets } from '../../../testing/swap-lab.ts'
import { testSwapPlugin } from '../../../testing/swap-suite.ts'
import { DEPOSIT_TO, offerOf, openSwapHome } from '../../helpers/swap-context.ts'

const { btc: from, ltc } = swapAssets
testSwapPlugin(test, transfer, {
  valid: [
    {
      from,
      to: from,
      amount: '123456',
      fromNativeAmount: '123456',
      toNativeAmount: '123456',
      isEstimate: false
    }
  ],
  invalid: [{ from, to: ltc, amount: '123456', code: 'SWAP_CURRENCY' }]
})

test('transfer: a payment to the other wallet, unit for unit, in each direction', async t => {
  const home = openSwapHome(transfer)
  const amount = nativeAmount('123456')
  for (const quoteFor of ['from', 'to', 'max'] as const) {
    const offer = await offerOf(home.query({ to: swapAssets.btc, quoteFor, amount, most: amount }))
    t.is(offer.fromNativeAmount, amount)
    t.is(offer.toNativeAmount, amount)
    t.false(offer.isEstimate)
    t.is(offer.expirationDate, undefined)
    t.is(offer.networkFee, nativeAmount('321'))
    const spendTargets = [{ publicAddress: DEPOSIT_TO.bitcoin, nativeAmount: amount }]
    t.deepEqual(offer.payment, { spends: [{ tokenId: null, spendTargets }] })
  }
  t.deepEqual(home.sent, [])
})

test('transfer: another asset is a pair that it does not support', async t => {
  const home = openSwapHome(transfer)
  await t.throwsAsync(home.query({}).done, {
    code: 'SWAP_CURRENCY',
    message: 'Transfer does not support BTC to LTC'
  })
  await t.throwsAsync(home.query({ from: swapAssets.eth, to: swapAssets.usdc }).done, {
    code: 'SWAP_CURRENCY'
  })
})
