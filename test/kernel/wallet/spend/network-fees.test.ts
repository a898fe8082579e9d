import test from 'ava'
import {
  coinFeeOf,
  type EngineTransaction,
  isWalletError,
  type NetworkFee,
  nativeAmount,
  networkFeesOf,
  type PolicyPlugin,
  type SpendRule,
  type SpendSnapshot
} from '../../../../kernel/index.ts'
import { otherFeesOf } from '../../../../kernel/types/network-fee.ts'
import { readEngineTransaction } from '../../../../kernel/wallet/engine/validate.ts'
import { spendRules } from '../../../../plugins/policy/spend-rules.ts'
import { openRuledDevice, payment, refusalOf } from '../../../helpers/ruled-device.ts'
import { toyTransaction } from '../../../helpers/toy-currency.ts'

const fee = (tokenId: string | null, amount: string): NetworkFee => ({
  tokenId,
  nativeAmount: nativeAmount(amount)
})
const txOf = (changes: Partial<EngineTransaction>): EngineTransaction => toyTransaction('txid', changes)

test('a payment says all of its fees, one for each asset, whichever fields an engine filled', t => {
  const coin = txOf({ networkFee: nativeAmount('7') })
  t.deepEqual(networkFeesOf(coin), [fee(null, '7')])
  t.deepEqual(networkFeesOf(txOf({})), [])
  const ofToken = txOf({
    tokenId: 'usdx',
    networkFee: nativeAmount('2'),
    parentNetworkFee: nativeAmount('3')
  })
  t.deepEqual(networkFeesOf(ofToken), [fee('usdx', '2'), fee(null, '3')])
  t.deepEqual(networkFeesOf(txOf({ tokenId: 'usdx', networkFee: nativeAmount('2') })), [fee(null, '2')])
  t.deepEqual(otherFeesOf(ofToken), [])
  const networkFees = [fee('usdx', '2'), fee(null, '3'), fee('toll', '5'), fee('free', '0')]
  t.deepEqual(networkFeesOf({ ...ofToken, networkFees }), networkFees.slice(0, 3))
  t.deepEqual(otherFeesOf({ ...ofToken, networkFees }), [fee('toll', '5')])
  // The list is the whole of it: without an entry, the coin pays nothing.
  const inToken = txOf({ tokenId: 'usdx', networkFee: nativeAmount('2'), networkFees: [fee('usdx', '2')] })
  t.is(coinFeeOf(inToken), nativeAmount('0'))
  t.deepEqual(networkFeesOf(inToken), [fee('usdx', '2')])
})

test('a limit of the network fee is one of the coin, and allows no fee in a token', async t => {
  const { wallet, chain } = await openRuledDevice(t)
  chain.toll = '60'
  const refusal = { code: 'MAX_FEE', message: /60 is above the limit of 0 native silver/ }
  await t.throwsAsync(wallet.makeSpend({ ...payment(5), maxNetworkFee: nativeAmount('1') }), refusal)
  const draft = await wallet.makeSpend(payment(5))
  await t.throwsAsync(wallet.spend(draft, { maxNetworkFee: nativeAmount('1') }), refusal)
  t.is(chain.txs.size, 0)
  await wallet.spend(draft)
  t.is(chain.txs.size, 1)
})

test('a list of fees that says something else than the other fields, or twice, is refused', t => {
  const read = (changes: object): EngineTransaction =>
    readEngineTransaction('toycoin', { ...txOf({ tokenId: 'usdx' }), ...changes })
  t.is(read({ networkFees: [fee(null, '3'), fee('toll', '5')] }).parentNetworkFee, nativeAmount('3'))
  t.is(read({ networkFees: [fee('toll', '5')] }).parentNetworkFee, undefined)
  t.is(read({ networkFees: [fee(null, '03')], parentNetworkFee: '3' }).parentNetworkFee, nativeAmount('3'))
  const wrong: readonly object[] = [
    { networkFees: 'none' },
    { networkFees: [7] },
    { networkFees: [{ tokenId: 'toll' }] },
    { networkFees: [{ tokenId: 7, nativeAmount: '5' }] },
    { networkFees: [fee('toll', '-5')] },
    { networkFees: [fee('toll', '5'), fee('toll', '6')] },
    { networkFees: [fee('toll', '5')], networkFee: '2' },
    { networkFees: [fee('usdx', '2')], networkFee: '3' },
    { networkFees: [fee(null, '2')], parentNetworkFee: '3' },
    { networkFees: [fee('toll', '5')], parentNetworkFee: '3' },
    { networkFees: Array.from({ length: 21 }, (_, at) => fee(`t${at}`, '1')) }
  ]
  for (const changes of wrong) {
    const error = t.throws(() => read(changes), { code: 'BOGUS_TX' }, JSON.stringify(changes))
    t.is(isWalletError(error, 'BOGUS_TX') && error.details.path, 'networkFees')
  }
})

test('a fee in another token counts against the limit of that token, and policies see it', async t => {
  const seen: SpendSnapshot[] = []
  const watch: PolicyPlugin = {
    kind: 'policy',
    id: 'watch',
    apply: ({ hooks }) => hooks.beforeSign.tapPromise('watch', async spend => void seen.push(spend))
  }
  const tolls: SpendRule = {
    id: 'tolls',
    kind: 'rolling',
    asset: 'ledger/silver',
    max: '100',
    windowHours: 24
  }
  const coins: SpendRule = { id: 'coins', kind: 'rolling', asset: 'ledger', max: '1000', windowHours: 24 }
  const { wallet, chain, account } = await openRuledDevice(t, {
    plugins: [spendRules, watch],
    rules: [tolls, coins]
  })
  chain.toll = '60'
  const draft = await wallet.makeSpend(payment(5))
  t.deepEqual(draft.networkFees, [fee(null, '1'), fee('silver', '60')])
  const sent = await wallet.spend(draft)
  const [open] = wallet.getSnapshot().openPayments
  t.deepEqual(open?.networkFees, draft.networkFees)
  t.true(Object.isFrozen(open?.networkFees?.[0]))
  t.deepEqual(
    seen.filter(({ use }) => use === 'spend').map(({ networkFees }) => networkFees),
    [[fee(null, '1'), fee('silver', '60')]]
  )
  t.true(Object.isFrozen(seen.at(-1)?.networkFees?.[0]))
  const second = await wallet.makeSpend(payment(5))
  t.like(await account.policies.explain(second), { isAllowed: false, refusedBy: 'tolls' })
  t.like(await refusalOf(wallet.spend(second)), { rule: 'tolls' })
  // The token that only pays the fee lists the payment, with the fee as its part in it.
  await wallet.sync()
  const [row, ...others] = await wallet.getTransactions({ tokenId: 'silver' })
  t.deepEqual(others, [])
  t.like(row, { txid: sent.txid, tokenId: 'silver', nativeAmount: '0', networkFee: '60' })
  t.like((await wallet.getTransactions())[0], { tokenId: null, nativeAmount: '-6', networkFee: '1' })
  t.deepEqual((await wallet.getTransactions())[0]?.networkFees, draft.networkFees)
  chain.toll = '40'
  await wallet.spend(await wallet.makeSpend(payment(5)))
})

test('a signature that changes a fee in another token is refused', async t => {
  const { wallet, chain } = await openRuledDevice(t)
  chain.toll = '60'
  const draft = await wallet.makeSpend(payment(5))
  chain.signedToll = '90'
  const error = await t.throwsAsync(wallet.spend(draft), { code: 'SIGNED_OTHERWISE' })
  t.is(isWalletError(error, 'SIGNED_OTHERWISE') && error.details.field, 'networkFees')
  t.is(chain.txs.size, 0)
})
