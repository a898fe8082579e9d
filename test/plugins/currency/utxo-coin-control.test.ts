import test, { type ExecutionContext } from 'ava'
import { type EngineCoin, isWalletError, nativeAmount, type SpendInfo } from '../../../kernel/plugin-api.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { chosenCoins, type SpendSource } from '../../../plugins/currency/utxo/spend/choose-coins.ts'
import { makeTestWorld, type TestWallet, type TestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const RATE = { networkFeeOption: 'custom', customNetworkFee: { satPerByte: '5' } } as const

const spendOf = (amount: string, more: Partial<SpendInfo> = {}): SpendInfo => ({
  ...{ tokenId: null, ...RATE },
  spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount(amount) }],
  ...more
})

/** A wallet with one confirmed coin of each amount. */
const opened = async (
  t: ExecutionContext,
  ...amounts: readonly string[]
): Promise<{ world: TestWorld; alice: TestWallet }> => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const alice = await world.openWallet()
  for (const amount of amounts) world.chain.fund(await addressOf(alice), amount)
  world.chain.mine()
  const sum = amounts.reduce((total, amount) => total + BigInt(amount), 0n)
  await until('it is rich', () => alice.reported.details.at(-1)?.spendable === String(sum))
  return { world, alice }
}

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

const coinsOf = async ({ engine }: TestWallet): Promise<readonly EngineCoin[]> =>
  (await engine.listCoins?.()) ?? []

/** The coin of an amount, as `txid:vout`. */
const coinOf = async (wallet: TestWallet, amount: string): Promise<string> => {
  const found = (await coinsOf(wallet)).find(coin => coin.nativeAmount === amount)
  return `${found?.txid}:${found?.vout}`
}

const statesOf = async (wallet: TestWallet): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await coinsOf(wallet)).map(coin => [coin.nativeAmount, coin.state]))

test('the list of coins says of each in which part of the balance it is, and the sums are those parts', async t => {
  const { world, alice } = await opened(t, '100000', '200000', '300000')
  world.chain.fund(await addressOf(alice), '50000')
  await until('it comes', () => alice.reported.details.at(-1)?.incoming === '50000')
  await alice.engine.freezeCoins?.([await coinOf(alice, '200000'), await coinOf(alice, '50000')])
  const payment = await alice.engine.signTx(
    await alice.engine.makeSpend(spendOf('90000', { coins: [await coinOf(alice, '100000')] }), {}),
    alice.privateKeys
  )
  await alice.engine.reservePayments?.([payment])
  t.deepEqual(await statesOf(alice), {
    100000: 'reserved',
    200000: 'frozen',
    300000: 'spendable',
    50000: 'incoming'
  })
  const coins = await coinsOf(alice)
  for (const part of ['spendable', 'incoming', 'immature', 'reserved', 'frozen'] as const) {
    const sum = coins.reduce(
      (total, coin) => total + (coin.state === part ? BigInt(coin.nativeAmount) : 0n),
      0n
    )
    t.is(alice.reported.details.at(-1)?.[part], nativeAmount(String(sum)), part)
  }
  for (const { txid, vout, publicAddress, nativeAmount: amount, blockHeight } of coins) {
    const found = world.chain.view.find(txid as never)
    t.is(String(found?.tx.outputs[vout]?.amount), amount)
    t.is(blockHeight, found?.height ?? 0)
    t.true(await alice.engine.isAddressUsed(publicAddress))
  }
})

test('a frozen coin is spent by no payment, no maximum and no replacement, and freed it is again', async t => {
  const { alice } = await opened(t, '100000', '200000')
  const big = await coinOf(alice, '200000')
  const before = Number(await alice.engine.getMaxSpendable?.(spendOf('0'), {}))
  await alice.engine.freezeCoins?.([big])
  t.like(alice.reported.details.at(-1), { spendable: '100000', frozen: '200000' })
  t.is(alice.balance(), '300000')
  const most = Number(await alice.engine.getMaxSpendable?.(spendOf('0'), {}))
  t.true(most < 100_000 && before > 290_000)
  const refusal = await t.throwsAsync(alice.engine.makeSpend(spendOf('150000'), {}), {
    code: 'PENDING_FUNDS'
  })
  t.like(refusal, { details: { frozen: '200000', incoming: '0', reserved: '0' } })
  const small = await alice.engine.makeSpend(spendOf('60000'), {})
  t.false(small.spentCoins?.includes(big))
  const signed = await alice.engine.signTx(small, alice.privateKeys)
  await alice.engine.reservePayments?.([signed])
  const more = spendOf('150000', { replaces: signed.txid, customNetworkFee: { satPerByte: '20' } })
  await t.throwsAsync(alice.engine.makeSpend(more, {}), { code: 'INSUFFICIENT_FUNDS' })
  const all = Number(await alice.engine.getMaxSpendable?.(more, {}))
  t.true(all < 100_000)
  await alice.engine.freezeCoins?.([])
  t.like(alice.reported.details.at(-1), { frozen: '0', spendable: '200000', reserved: '100000' })
  t.true((await alice.engine.makeSpend(more, {})).spentCoins?.includes(big))
})

test('a coin that is frozen after the draft is not signed for, unless the payment replaces one that has it already', async t => {
  const { alice } = await opened(t, '100000')
  const coin = await coinOf(alice, '100000')
  const draft = await alice.engine.makeSpend(spendOf('60000'), {})
  await alice.engine.freezeCoins?.([coin])
  const refusal = await t.throwsAsync(alice.engine.signTx(draft, alice.privateKeys), { code: 'SIGN_REFUSED' })
  t.regex(refusal?.message ?? '', /frozen/)
  await alice.engine.freezeCoins?.([])
  const signed = await alice.engine.signTx(draft, alice.privateKeys)
  await alice.engine.freezeCoins?.([coin])
  await t.throwsAsync(
    async () =>
      alice.engine.checkSignedTx?.(signed, [
        { publicAddress: PAYEE, nativeAmount: nativeAmount('60000'), currencyCode: 'BTC' }
      ]),
    { code: 'SIGNED_TX_INVALID', message: /frozen/ }
  )
  await alice.engine.reservePayments?.([signed])
  const dearer = await alice.engine.makeSpend(
    spendOf('60000', { replaces: signed.txid, customNetworkFee: { satPerByte: '20' } }),
    {}
  )
  await t.notThrowsAsync(alice.engine.signTx(dearer, alice.privateKeys))
})

test('a payment spends exactly the coins that were chosen, and its maximum leaves exactly nothing of them', async t => {
  const { world, alice } = await opened(t, '100000', '200000', '300000')
  const coins = [await coinOf(alice, '100000'), await coinOf(alice, '200000')]
  const some = await alice.engine.makeSpend(spendOf('20000', { coins }), {})
  t.deepEqual([...(some.spentCoins ?? [])].sort(), [...coins].sort())
  const most = (await alice.engine.getMaxSpendable?.(spendOf('0', { coins }), {})) ?? ''
  const all = await alice.send({ ...spendOf(most, { coins }) })
  t.is(Number(most) + Number(all.networkFee), 300_000)
  t.true(world.chain.view.mempool.has(all.txid as never))
  await until('the rest is left', () => alice.balance() === '300000')
})

test('coins that cannot be chosen are refused with the reason', async t => {
  const { world, alice } = await opened(t, '100000', '200000')
  world.chain.fund(await addressOf(alice), '70000')
  await until('it comes', () => alice.reported.details.at(-1)?.incoming === '70000')
  const frozen = await coinOf(alice, '100000')
  await alice.engine.freezeCoins?.([frozen])
  const incoming = await coinOf(alice, '70000')
  const ruleOf = async (coins: readonly string[], more: Partial<SpendInfo> = {}): Promise<string> => {
    const error = await t.throwsAsync(alice.engine.makeSpend(spendOf('20000', { coins, ...more }), {}))
    return isWalletError(error, 'OPTION_INVALID')
      ? error.details.rule
      : `${isWalletError(error) && error.code}`
  }
  t.regex(await ruleOf([frozen]), /frozen/)
  t.regex(await ruleOf([incoming]), /incoming/)
  t.regex(await ruleOf([`${'00'.repeat(32)}:0`]), /unspent ones of this wallet/)
  t.regex(await ruleOf([]), /must be 1 to/)
  t.is(await ruleOf([incoming], { replaces: 'ab' }), 'TX_NOT_FOUND')
  const whole = [await coinOf(alice, '200000')]
  const most = Number(await alice.engine.getMaxSpendable?.(spendOf('0', { coins: whole }), {}))
  const networkFee = 200_000 - most
  t.true(networkFee > 0)
  const short = await t.throwsAsync(alice.engine.makeSpend(spendOf('250000', { coins: whole }), {}), {
    code: 'INSUFFICIENT_FUNDS'
  })
  t.like(short, {
    details: {
      ...{ available: '200000', networkFee: String(networkFee), needed: String(250_000 + networkFee) }
    }
  })
  const risky = await alice.engine.makeSpend(
    spendOf('20000', { coins: [incoming], noUnconfirmed: false }),
    {}
  )
  t.deepEqual(risky.spentCoins, [incoming])
  await alice.engine.freezeCoins?.([incoming])
  t.regex(await ruleOf([incoming], { noUnconfirmed: false }), /frozen/)
  const signed = await alice.engine.signTx(
    await alice.engine.makeSpend(spendOf('20000', { coins: whole }), {}),
    alice.privateKeys
  )
  await alice.engine.reservePayments?.([signed])
  t.is(await ruleOf(whole, { replaces: signed.txid }), 'NOT_SUPPORTED')
})

test('up to a thousand coins can be chosen', t => {
  const coins = Array.from({ length: 1001 }, (_, vout) => ({
    ...{ txid: 'aa', vout, value: 5n, height: 3, isCoinbase: false, isPegOut: false, isOwnChange: false }
  }))
  const source = {
    ...{ coin: bitcoinRow, height: 10, frozen: new Set(), reserved: { isReserved: () => false } },
    ledger: { coins: () => coins }
  } as unknown as SpendSource
  const choose = (count: number): number =>
    chosenCoins(source, {
      ...{ tokenId: null, spendTargets: [] },
      coins: coins.slice(0, count).map(({ txid, vout }) => `${txid}:${vout}`)
    }).length
  t.is(choose(1000), 1000)
  t.throws(() => choose(1001), { code: 'OPTION_INVALID', message: /1 to 1000/ })
})
