import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  type NativeAmount,
  nativeAmount,
  type SpendInfo,
  unusualFeeOf
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeToy, type ToyOptions } from '../../helpers/toy-currency.ts'

/** Of a draft: its fee, and what the engine says is usual. */
interface Fees {
  readonly fee: string
  readonly usual?: string
}

const pay = (amount: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount(amount) }],
  ...more
})

const openWallet = async (
  t: ExecutionContext,
  { fee, usual }: Fees,
  options: ToyOptions = {}
): Promise<{ wallet: CurrencyWallet; signed: () => number }> => {
  let signed = 0
  const toy = makeToy({
    balance: '1000000',
    ...options,
    engine: good => ({
      makeSpend: async (spend, keys) => ({
        ...(await good.makeSpend(spend, keys)),
        networkFee: nativeAmount(fee),
        ...(usual === undefined ? {} : { usualNetworkFee: nativeAmount(usual) })
      })
    }),
    onCall: method => {
      if (method === 'signTx') signed += 1
    }
  })
  const kernel = await openDevice(makeFakeWorld({ io: makeNodeIo() }), { plugins: [toy.plugin] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.balanceOf(null) === '1000000')
  return { wallet, signed: () => signed }
}

test('a fee above ten times the usual one and above a tenth of the amount is not signed without a limit', async t => {
  const { wallet, signed } = await openWallet(t, { fee: '101', usual: '10' })
  const draft = await wallet.makeSpend(pay('1009'))
  for (const sign of [() => wallet.spend(draft), () => wallet.signTx(draft)]) {
    const error = await t.throwsAsync(sign(), { code: 'FEE_UNUSUAL' })
    t.like(error, { details: { networkFee: '101', usualNetworkFee: '10', currencyCode: 'TOY' } })
  }
  t.deepEqual([signed(), wallet.unfinishedSpends().length], [0, 0])
  await t.throwsAsync(wallet.spend(draft, { maxNetworkFee: nativeAmount('100') }), { code: 'MAX_FEE' })
  await t.throwsAsync(wallet.spend(draft, { maxNetworkFee: 'much' as NativeAmount }), {
    code: 'OPTION_INVALID'
  })
  t.is(signed(), 0)
  t.is((await wallet.spend(draft, { maxNetworkFee: nativeAmount('101') })).networkFee, nativeAmount('101'))
})

test('a limit that a payment is drafted with holds when it is signed, and refuses a draft above it', async t => {
  const { wallet } = await openWallet(t, { fee: '101', usual: '10' })
  await t.throwsAsync(wallet.makeSpend(pay('50', { maxNetworkFee: nativeAmount('100') })), {
    code: 'MAX_FEE'
  })
  await t.throwsAsync(wallet.makeSpend(pay('50', { maxNetworkFee: '-1' as NativeAmount })), {
    code: 'OPTION_INVALID'
  })
  const draft = await wallet.makeSpend(pay('50', { maxNetworkFee: nativeAmount('200') }))
  t.is((await wallet.spend(draft)).txid !== '', true)
})

test('only what is above both bounds is unusual, to the unit; where nothing says what is usual, nothing is', async t => {
  const facts: readonly [amount: string, fees: Fees, isUnusual: boolean][] = [
    ['1009', { fee: '101', usual: '10' }, true],
    ['1010', { fee: '101', usual: '10' }, false],
    ['1000', { fee: '100', usual: '10' }, false],
    ['999', { fee: '100', usual: '10' }, false],
    ['1', { fee: '100', usual: '10' }, false],
    ['1', { fee: '1', usual: '0' }, true],
    ['1', { fee: '900' }, false]
  ]
  for (const [amount, fees, isUnusual] of facts) {
    const { wallet } = await openWallet(t, fees)
    const draft = await wallet.makeSpend(pay(amount))
    t.is(unusualFeeOf(draft) !== undefined, isUnusual, `${amount} ${JSON.stringify(fees)}`)
  }
})

test('the fee of a token, in the coin of the chain, is held against the usual one alone', async t => {
  const { wallet } = await openWallet(t, { fee: '0' })
  const draft = await wallet.makeSpend(pay('1000'))
  const ofToken = { ...draft, tokenId: 'f00d', usualNetworkFee: nativeAmount('5') }
  t.deepEqual(unusualFeeOf({ ...ofToken, parentNetworkFee: nativeAmount('51') }), {
    networkFee: nativeAmount('51'),
    usualNetworkFee: nativeAmount('5')
  })
  t.is(unusualFeeOf({ ...ofToken, parentNetworkFee: nativeAmount('50') }), undefined)
})

test('an engine that says nonsense of the usual fee makes no draft', async t => {
  const { wallet } = await openWallet(t, { fee: '1', usual: '-5' })
  await t.throwsAsync(wallet.makeSpend(pay('10')), { code: 'BOGUS_TX' })
})
