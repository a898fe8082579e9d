import test from 'ava'
import { nativeAmount } from '../../../../kernel/index.ts'
import { questionOf } from '../../../../kernel/wallet/spend/sign.ts'
import { toyTransaction } from '../../../helpers/toy-currency.ts'

test('a policy gets the absolute amount, for payments in both directions', t => {
  for (const [amount, reported] of [
    ['-7', '7'],
    ['7', '7'],
    ['0', '0']
  ] as const) {
    const tx = {
      ...toyTransaction('txid', { nativeAmount: nativeAmount(amount) }),
      currencyCode: 'TOY',
      walletId: 'wallet'
    }
    t.is(questionOf('spend', { tx } as unknown as Parameters<typeof questionOf>[1]).nativeAmount, reported)
  }
})
