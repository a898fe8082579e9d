import test from 'ava'
import { nativeAmount } from '../../../kernel/plugin-api.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { usualRateOf } from '../../../plugins/currency/utxo/spend/fees.ts'
import { makeTestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

test('a draft shows its usual fee without the rates of the present server, whatever that claims', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  // 99 coins for each 1000 bytes.
  world.chain.setFees({ 1: 99_000, 25: 99_000 })
  const { engine, balance } = await world.openWallet()
  const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '100000000')
  world.chain.mine(1)
  await until('the funds', () => balance() === '100000000')
  const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('1000000') }]
  const draft = await engine.makeSpend({ tokenId: null, spendTargets }, {})
  // The cap of 2,000 sat/vB instead of the 5 of regtest.
  t.is(BigInt(draft.networkFee) / 400n, BigInt(draft.usualNetworkFee ?? '0'))
})

test('the usual rate is the median of other servers and the coin’s own figures; one liar does not move it far', t => {
  const figures = bitcoinRow.networks[0].defaultFees
  const rate = (others: readonly bigint[], option: 'custom' | 'high' | 'standard' = 'standard'): bigint =>
    usualRateOf(
      { option, figures },
      others.map(standard => ({ standard, high: standard * 2n, low: standard }))
    )
  t.is(rate([]), 50_000n)
  t.is(rate([], 'custom'), 50_000n)
  t.is(rate([], 'high'), 150_000n)
  t.is(rate([1_900_000n]), 50_000n)
  t.is(rate([1_900_000n, 900_000n]), 900_000n)
  t.is(rate([20_000n, 30_000n]), 30_000n)
})
