import test from 'ava'
import fc from 'fast-check'
import {
  type EngineTransaction,
  isWalletError,
  type JsonObject,
  nativeAmount
} from '../../../kernel/plugin-api.ts'
import type { Branch } from '../../../plugins/currency/utxo/keys/keys.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { Purpose } from '../../../plugins/currency/utxo/params/coin.ts'
import { feeRateOf, feeRateText } from '../../../plugins/currency/utxo/spend/fees.ts'
import {
  maxAmountOf,
  type SelectionGoal,
  selectCoins,
  selectWith
} from '../../../plugins/currency/utxo/spend/select-coins.ts'
import type { Coin } from '../../../plugins/currency/utxo/wallet/ledger.ts'
import type { ScriptRecord } from '../../../plugins/currency/utxo/wallet/scripts.ts'
import { drawSeed, makeSeededRandom } from '../../helpers/drawn-runs.ts'
import { makeTestWorld, type TestWallet, until } from './utxo-world.ts'

const coinOf = (value: bigint, purpose: Purpose, at: number): Coin => {
  const branch: Branch = { purpose, change: 0, id: `${purpose}/0` }
  const record = { branch, index: at } as ScriptRecord
  return {
    txid: 'a',
    vout: at,
    value,
    record,
    height: 1,
    isCoinbase: false,
    isPegOut: false,
    isOwnChange: false
  }
}

const purposes = fc.constantFrom<Purpose>(32, 44, 49, 84, 86)
const wallets = fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 5_000_000n }), purposes), {
  minLength: 1,
  maxLength: 40
})

const goalOf = (amount: bigint, rate: bigint, seed = 7): SelectionGoal => ({
  amount,
  outputs: [22],
  rate,
  longTermRate: 10_000n,
  changePurpose: 84,
  changeType: 'p2wpkh',
  changeDust: 294n,
  random: makeSeededRandom(seed).below
})

// What is serialised of a signed input, counted by hand from BIP-141, BIP-144 and BIP-341: an outpoint of 36 bytes, a
// sequence of 4, a script behind its length, and a witness. A signature has 71 bytes, one of Schnorr 64, a key 33.
const INPUT_BYTES: Readonly<Record<Purpose, { readonly base: number; readonly witness: number }>> = {
  32: { base: 36 + 4 + 1 + (1 + 71 + 1 + 33), witness: 1 },
  44: { base: 36 + 4 + 1 + (1 + 71 + 1 + 33), witness: 1 },
  49: { base: 36 + 4 + 1 + 23, witness: 1 + (1 + 71) + (1 + 33) },
  84: { base: 36 + 4 + 1, witness: 1 + (1 + 71) + (1 + 33) },
  86: { base: 36 + 4 + 1, witness: 1 + (1 + 64) }
}

/** The virtual size of a signed payment to `outputs` scripts of 22 bytes, of fewer than 253 coins. */
const sizeOf = (purposes: readonly Purpose[], outputs: number): bigint => {
  const base = purposes.reduce(
    (sum, purpose) => sum + INPUT_BYTES[purpose].base,
    4 + 1 + 1 + 4 + outputs * 31
  )
  const isLegacy = purposes.every(purpose => INPUT_BYTES[purpose].witness === 1)
  const witness = isLegacy ? 0 : purposes.reduce((sum, purpose) => sum + INPUT_BYTES[purpose].witness, 2)
  return BigInt(Math.ceil((base * 4 + witness) / 4))
}

const priceOf = (size: bigint, rate: bigint): bigint => (size * rate + 999n) / 1000n
const leastFeeOf = (coins: readonly Coin[], outputs: number, rate: bigint): bigint =>
  priceOf(
    sizeOf(
      coins.map(({ record }) => record.branch.purpose),
      outputs
    ),
    rate
  )
const sumOf = (coins: readonly Coin[]): bigint => coins.reduce((sum, { value }) => sum + value, 0n)

/** The most that any choice of coins can pay to one recipient, found by trying each choice. */
const mostOf = (coins: readonly Coin[], rate: bigint): bigint => {
  let most = -(10n ** 18n)
  for (let choice = 1; choice < 2 ** coins.length; choice++) {
    const chosen = coins.filter((_, at) => (choice >> at) % 2 === 1)
    const amount = sumOf(chosen) - leastFeeOf(chosen, 1, rate)
    if (amount > most) most = amount
  }
  return most
}

for (const format of ['bip32', 'bip44', 'bip49', 'bip84', 'bip86']) {
  test(`the size that the tests compute by hand is that of the signed bytes of a ${format} wallet`, async t => {
    const world = makeTestWorld()
    t.teardown(() => world.close())
    const alice = await world.openWallet({ format })
    // A wallet of BIP-49 receives on addresses of BIP-84, and on its own where payers know no others.
    const { publicAddress, legacyAddress } = await alice.engine.getFreshAddress({ tokenId: null })
    const address = format === 'bip49' ? (legacyAddress ?? '') : publicAddress
    for (let coin = 0; coin < 3; coin++) world.chain.fund(address, '100000')
    world.chain.mine()
    await until('the coins', () => alice.reported.details.at(-1)?.spendable === '300000')
    const draft = await alice.engine.makeSpend(
      {
        tokenId: null,
        spendTargets: [
          {
            publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
            nativeAmount: nativeAmount('250000')
          }
        ],
        networkFeeOption: 'custom',
        customNetworkFee: { satPerByte: '1' }
      },
      {}
    )
    const { signedTx } = await alice.engine.signTx(draft, alice.privateKeys)
    const tx = world.chain.view.mempool.get(world.chain.broadcast(signedTx))?.tx
    const more = tx?.outputs.reduce((sum, { script }) => sum + script.length - 22, 0) ?? 0
    const counted = Number(sizeOf(Array(3).fill(Number(format.slice(3))), 2)) + more
    // A signature may be a byte or two shorter, by chance.
    const size = tx?.vsize ?? 0
    t.true(size <= counted && size >= counted - 6, `${size} of ${counted}`)
    t.is(Number(draft.networkFee), counted)
    t.is(tx?.inputs.length, 3)
  })
}

test('a selection pays exactly: inputs are outputs plus fee, the rate is met, and no change is dust', t => {
  const seed = drawSeed(t)
  fc.assert(
    fc.property(
      wallets,
      fc.bigInt({ min: 300n, max: 20_000_000n }),
      fc.bigInt({ min: 1000n, max: 300_000n }),
      (specs, amount, rate) => {
        const coins = specs.map(([value, purpose], at) => coinOf(value, purpose, at))
        const selection = selectCoins(coins, goalOf(amount, rate, seed))
        if (selection === undefined) {
          // Not even all coins that bring clearly more than they cost suffice.
          const useful = coins.filter(
            ({ value, record }) => value > priceOf(sizeOf([record.branch.purpose], 0), rate)
          )
          return useful.length === 0 || sumOf(useful) - leastFeeOf(useful, 1, rate) < amount
        }
        const { change, fee } = selection
        const least = leastFeeOf(selection.coins, change > 0n ? 2 : 1, rate)
        // Change is made if it brings the dust limit beyond what it costs to be made and to be spent.
        const [made, spent] = [priceOf(31n, rate), priceOf(68n, rate)]
        const most = change > 0n ? least : least + 294n + made + spent + 1n
        return (
          sumOf(selection.coins) === amount + change + fee &&
          new Set(selection.coins).size === selection.coins.length &&
          selection.coins.every(coin => coins.includes(coin)) &&
          fee >= least &&
          fee <= most &&
          (change === 0n || change >= 294n + spent)
        )
      }
    ),
    { numRuns: 400, seed }
  )
  t.pass()
})

test('the maximum is what trying every choice of coins finds, leaves exactly nothing, and one unit more cannot be sent', t => {
  const seed = drawSeed(t)
  const few = fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 200_000n }), purposes), {
    minLength: 1,
    maxLength: 7
  })
  fc.assert(
    fc.property(few, fc.bigInt({ min: 1000n, max: 300_000n }), (specs, rate) => {
      const coins = specs.map(([value, purpose], at) => coinOf(value, purpose, at))
      const max = maxAmountOf(coins, goalOf(0n, rate))
      const most = mostOf(coins, rate)
      if (most <= 0n) return max <= 0n
      // A coin that brings less than one virtual byte more than it costs may stay.
      if (max > most || max < most - priceOf(BigInt(coins.length), rate)) return false
      if (max <= 0n) return true
      const selection = selectCoins(coins, goalOf(max, rate, seed))
      const more = selectCoins(coins, goalOf(max + 1n, rate, seed))
      return selection?.change === 0n && (more === undefined || max < most)
    }),
    { numRuns: 400, seed }
  )
  t.pass()
})

test('change is made from the unit on at which it brings the dust limit beyond what it costs to spend it', t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 200; run++) {
    // Above the long-term rate: below it, change that costs more now than later is left out, too.
    const rate = BigInt(20_000 + seededRandom.below(280_000))
    const least = 294n + priceOf(68n, rate)
    const amount = BigInt(1000 + seededRandom.below(1_000_000))
    const more = BigInt(
      seededRandom.pick([-least + 1n, -294n, -1n, 0n, 1n, BigInt(seededRandom.below(100_000))])
    )
    const withChange = priceOf(sizeOf([84], 2), rate)
    const coin = coinOf(amount + withChange + least + more, 84, 0)
    const { change, fee } = selectCoins([coin], goalOf(amount, rate)) ?? {}
    const expected = more < 0n ? [0n, coin.value - amount] : [least + more, withChange]
    t.deepEqual([change, fee], expected, `${more} beyond the least at ${rate}`)
  }
})

/** What Bitcoin Core calls waste, of coins of 68 bytes each that pay one output of 22. */
const wasteOf = (
  coins: readonly Coin[],
  change: bigint,
  { amount, rate, longTermRate }: SelectionGoal
): bigint => {
  const inputs = BigInt(coins.length) * (priceOf(68n, rate) - priceOf(68n, longTermRate))
  if (change > 0n) return inputs + priceOf(31n, rate) + priceOf(68n, longTermRate)
  return inputs + sumOf(coins) - amount - leastFeeOf(coins, 1, rate)
}

/** The largest coins, as many as are needed. */
const largestFirst = (
  coins: readonly Coin[],
  { amount, rate }: SelectionGoal
): { readonly coins: readonly Coin[]; readonly change: bigint } | undefined => {
  const sorted = [...coins].sort((a, b) => Number(b.value - a.value))
  for (let count = 1; count <= sorted.length; count += 1) {
    const taken = sorted.slice(0, count)
    if (sumOf(taken) < amount + leastFeeOf(taken, 1, rate)) continue
    const change = sumOf(taken) - amount - leastFeeOf(taken, 2, rate)
    return { coins: taken, change: change >= 294n + priceOf(68n, rate) ? change : 0n }
  }
  return undefined
}

test('a payment wastes no more than the largest coins would, and a forced coin is helped by the largest, no more than needed', t => {
  const seededRandom = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 150; run += 1) {
    const rate = BigInt(1000 + seededRandom.below(100_000))
    const coins = Array.from({ length: 2 + seededRandom.below(30) }, (_, at) =>
      coinOf(10_000n + BigInt(seededRandom.below(1_000_000)), 84, at)
    )
    const goal = goalOf(BigInt(1 + seededRandom.below(Number(sumOf(coins)) / 2)), rate, run)
    const { coins: chosen = [], change = 0n } = selectCoins(coins, goal) ?? {}
    const largest = largestFirst(coins, goal)
    if (largest === undefined) {
      t.deepEqual(chosen, [])
      continue
    }
    const most = wasteOf(largest.coins, largest.change, goal)
    t.true(wasteOf(chosen, change, goal) <= most, `${wasteOf(chosen, change, goal)} and not ${most}`)

    const [forced, ...others] = coins
    if (forced === undefined) continue
    const helped = selectWith([forced], others, goal)
    const sorted = [...others].sort((a, b) => Number(b.value - a.value))
    const needed = [...Array(coins.length).keys()].find(count => {
      const taken = [forced, ...sorted.slice(0, count)]
      return sumOf(taken) >= goal.amount + leastFeeOf(taken, 1, rate)
    })
    t.deepEqual(
      helped?.coins.map(({ value }) => value),
      needed === undefined ? undefined : [forced, ...sorted.slice(0, needed)].map(({ value }) => value)
    )
    if (helped === undefined) continue
    t.is(sumOf(helped.coins), goal.amount + helped.change + helped.fee)
    const size = sizeOf(Array(helped.coins.length).fill(84), helped.change > 0n ? 2 : 1)
    t.is(BigInt(Math.ceil(helped.weight / 4)), size)
  }
})

test('a coin that fits is taken alone, without change, before larger ones', t => {
  const rate = 50_000n
  const fee = priceOf(sizeOf([84], 1), rate)
  const coins = [900_000n, 100_000n + fee + 8n, 70_000n, 50_000n].map((value, at) => coinOf(value, 84, at))
  const selection = selectCoins(coins, goalOf(100_000n, rate))
  t.deepEqual(
    selection?.coins.map(({ vout }) => vout),
    [1]
  )
  t.is(selection?.change, 0n)
})

test('of two choices without change the one with fewer inputs is taken where they are dear, the other where they are cheap', t => {
  for (const [rate, chosen] of [
    [50_000n, [1]],
    [2000n, [2, 3]]
  ] as const) {
    const isDear = chosen.length === 1
    const [alone, both] = [1, 2].map(
      count => 100_000n + priceOf(sizeOf(Array<Purpose>(count).fill(84), 1), rate)
    ) as [bigint, bigint]
    // The choice that is to be taken leaves a little more to the fee.
    const [one, two] = [alone + (isDear ? 208n : 8n), both + (isDear ? 16n : 216n)]
    const coins = [900_000n, one, 60_000n, two - 60_000n].map((value, at) => coinOf(value, 84, at))
    const selection = selectCoins(coins, goalOf(100_000n, rate))
    t.deepEqual(
      selection?.coins.map(({ vout }) => vout).sort((a, b) => a - b),
      [...chosen]
    )
    t.is(selection?.change, 0n)
  }
})

test('of ten thousand coins the payment takes what it needs, and pays exactly', t => {
  const coins = Array.from({ length: 10_000 }, (_, at) =>
    coinOf(10_000n + BigInt((at * 7919) % 90_000), 84, at)
  )
  const selection = selectCoins(coins, goalOf(123_456_789n, 20_000n))
  const { coins: chosen = [], change = 0n, fee = 0n } = selection ?? {}
  t.true(chosen.length > 1000)
  t.is(sumOf(chosen), 123_456_789n + change + fee)
})

test('fee levels are ordered, clamped and never follow a lie, and custom rates are exact', t => {
  const figures = bitcoinRow.networks[0].defaultFees
  const of = (option: 'low' | 'standard' | 'high' | 'custom', estimates = {}, custom?: JsonObject): bigint =>
    feeRateOf({ option, custom, estimates, figures })
  t.deepEqual([of('low'), of('standard'), of('high')], [20_000n, 50_000n, 150_000n])
  const upsideDown = { low: 9000n, standard: 5000n, high: 3000n }
  t.true(
    of('low', upsideDown) <= of('standard', upsideDown) &&
      of('standard', upsideDown) <= of('high', upsideDown)
  )
  t.is(of('high', { high: 10n ** 12n }), figures.cap)
  t.is(of('low', { low: 1n }), figures.minRelay)
  t.is(of('low', { low: 1n, relay: 10n ** 9n }), figures.minRelay)
  t.is(of('custom', {}, { satPerByte: '12.345' }), 12_345n)
  t.is(feeRateText(12_340n), '12.34')
  for (const satPerByte of ['', '0', '0.5', '1e3', '-1', '99999', '1.2345', 12, null]) {
    const error = t.throws(() => of('custom', {}, { satPerByte } as JsonObject))
    t.true(isWalletError(error, 'FEE_INVALID'), String(satPerByte))
  }
})

const funded = async (
  world: ReturnType<typeof makeTestWorld>,
  amount: string
): Promise<{ alice: TestWallet; target: string }> => {
  const alice = await world.openWallet()
  const bob = await world.openWallet({ isStarted: false })
  world.chain.fund((await alice.engine.getFreshAddress({ tokenId: null })).publicAddress, amount)
  world.chain.mine()
  await until('funded', () => [...alice.reported.txs.values()].some(tx => tx.blockHeight > 0))
  return { alice, target: (await bob.engine.getFreshAddress({ tokenId: null })).publicAddress }
}

test('every reason not to make a spend has its own code and message [8.33] [8.34] [8.35] [8.36] [8.38]', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '100000')
  const messages = new Map<string, string>()
  const codeOf = async (spendTarget: object, rest: object = {}): Promise<string> => {
    const error = await t.throwsAsync(
      alice.engine.makeSpend({ tokenId: null, spendTargets: [spendTarget], ...rest }, {})
    )
    if (isWalletError(error)) messages.set(error.code, `${error.name}: ${error.message}`)
    return isWalletError(error) ? error.code : String(error)
  }
  const own = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  t.is(await codeOf({ publicAddress: target, nativeAmount: '0' }), 'NO_AMOUNT_SPECIFIED')
  t.is(await codeOf({ publicAddress: target }), 'NO_AMOUNT_SPECIFIED')
  t.is(await codeOf({ publicAddress: target, nativeAmount: '-5' }), 'AMOUNT_INVALID')
  t.is(await codeOf({ publicAddress: target, nativeAmount: '1.5' }), 'AMOUNT_INVALID')
  t.is(await codeOf({ publicAddress: target, nativeAmount: '293' }), 'DUST_SPEND')
  const least = [{ publicAddress: target, nativeAmount: nativeAmount('294') }]
  await t.notThrowsAsync(alice.engine.makeSpend({ tokenId: null, spendTargets: least }, {}))
  t.is(await codeOf({ publicAddress: own, nativeAmount: '5000' }), 'SPEND_TO_SELF')
  t.is(
    await codeOf({ publicAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', nativeAmount: '5000' }),
    'ADDRESS_INVALID'
  )
  t.is(await codeOf({ publicAddress: target, nativeAmount: '100000' }), 'INSUFFICIENT_FUNDS')
  t.is(
    await codeOf({ publicAddress: target, nativeAmount: '5000' }, { networkFeeOption: 'custom' }),
    'FEE_INVALID'
  )
  t.is(await codeOf({ publicAddress: target, nativeAmount: '5000' }, { tokenId: 'x' }), 'NOT_SUPPORTED')
  t.is(
    await codeOf(
      { publicAddress: target, nativeAmount: '5000' },
      { memos: [{ type: 'number', value: '1' }] }
    ),
    'MEMO_INVALID'
  )
  const error = await t.throwsAsync(
    alice.engine.makeSpend(
      { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('100000') }] },
      {}
    )
  )
  if (!isWalletError(error, 'INSUFFICIENT_FUNDS')) return t.fail()
  t.is(error.details.currencyCode, 'BTC')
  t.is(error.details.available, '100000')
  t.true(BigInt(error.details.networkFee ?? 0) > 0n)
  t.is(BigInt(error.details.needed ?? 0), 100000n + BigInt(error.details.networkFee ?? 0))

  world.chain.fund(own, '80000')
  await until('an unconfirmed coin', () => alice.balance() === '180000')
  t.is(
    await codeOf({ publicAddress: target, nativeAmount: '150000' }, { noUnconfirmed: true }),
    'PENDING_FUNDS'
  )
  t.is(await codeOf({ publicAddress: target, nativeAmount: '150000' }), 'PENDING_FUNDS')
  const both = await alice.engine.makeSpend(
    {
      tokenId: null,
      spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('150000') }],
      noUnconfirmed: false
    },
    {}
  )
  const small = await alice.engine.makeSpend(
    { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('50000') }] },
    {}
  )
  t.is(messages.get('DUST_SPEND'), 'DustSpendError: Please send a larger amount')
  t.is(messages.get('INSUFFICIENT_FUNDS'), 'InsufficientFundsError: Insufficient BTC')
  t.is(
    messages.get('NO_AMOUNT_SPECIFIED'),
    'NoAmountSpecifiedError: Unable to create zero-amount transaction.'
  )
  t.is(messages.get('PENDING_FUNDS'), 'PendingFundsError: Not enough confirmed funds')
  t.is(messages.get('SPEND_TO_SELF'), 'SpendToSelfError: Spending to self')
  const inputsOf = (tx: EngineTransaction): number =>
    (tx.otherParams as { draft: { inputs: JsonObject[] } }).draft.inputs.length
  t.is(inputsOf(both), 2)
  t.is(inputsOf(small), 1)
})

test('a coin of a saved spend is not spent twice, and a young coinbase not at all', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '200000')
  const spend = {
    tokenId: null,
    spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('150000') }]
  }
  const signed = await alice.engine.signTx(await alice.engine.makeSpend(spend, {}), alice.privateKeys)
  await alice.engine.saveTx(signed)
  const error = await t.throwsAsync(alice.engine.makeSpend(spend, {}))
  t.true(isWalletError(error, 'INSUFFICIENT_FUNDS'))

  const miner = await world.openWallet()
  world.chain.mine(1, (await miner.engine.getFreshAddress({ tokenId: null })).publicAddress)
  await until('the reward shows', () => miner.balance() !== '0')
  t.true(isWalletError(await t.throwsAsync(miner.engine.makeSpend(spend, {})), 'PENDING_FUNDS'))
  t.is(await miner.engine.getMaxSpendable?.(spend, {}), '0')
  world.chain.mine(99)
  await until('it is mature', () => miner.reported.heights.at(-1) === world.chain.height)
  await miner.engine.syncNetwork({})
  await t.notThrowsAsync(miner.send(spend))
})

test('a draft that was changed on the way to its signature, or the keys of another wallet, are refused', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '200000')
  const mallory = await world.openWallet({ isStarted: false })
  const draft = await alice.engine.makeSpend(
    { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('50000') }] },
    {}
  )
  const json = JSON.stringify(draft)
  t.false(json.includes(String(alice.privateKeys.bitcoinKey)))
  const inner = draft.otherParams?.draft as { inputs: JsonObject[]; outputs: JsonObject[] }
  const evil = (await mallory.engine.getFreshAddress({ tokenId: null })).publicAddress
  const changed: readonly (readonly [string, JsonObject])[] = [
    [
      'less change',
      { ...inner, outputs: inner.outputs.map(o => (o.isChange === true ? { ...o, value: '1000' } : o)) }
    ],
    [
      'stolen change',
      { ...inner, outputs: inner.outputs.map(o => (o.isChange === true ? { ...o, address: evil } : o)) }
    ],
    ['another value', { ...inner, inputs: inner.inputs.map(i => ({ ...i, value: '1' })) }],
    ['another path', { ...inner, inputs: inner.inputs.map(i => ({ ...i, index: 9999 })) }],
    ['a wrong key', { ...inner, inputs: inner.inputs.map(i => ({ ...i, index: 1 })) }],
    ['no inputs', { ...inner, inputs: [] }]
  ]
  for (const [name, forged] of changed) {
    const error = await t.throwsAsync(
      alice.engine.signTx({ ...draft, otherParams: { draft: forged } }, alice.privateKeys),
      undefined,
      name
    )
    t.true(isWalletError(error, 'SIGN_REFUSED'), `${name}: ${error?.message}`)
  }
  const wrongKeys = await t.throwsAsync(alice.engine.signTx(draft, mallory.privateKeys))
  t.true(isWalletError(wrongKeys, 'SIGN_REFUSED'))
  const again = JSON.parse(json) as EngineTransaction
  t.is((await alice.engine.signTx(again, alice.privateKeys)).signedTx.length % 2, 0)
})

test('a draft whose fee is more than half of its coins is not signed, even where the fee is the one that was shown', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '20000000')
  const draft = await alice.engine.makeSpend(
    { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('50000') }] },
    {}
  )
  const inner = draft.otherParams?.draft as { outputs: JsonObject[] }
  const withFee = (fee: bigint): EngineTransaction => ({
    ...draft,
    nativeAmount: nativeAmount(String(-50_000n - fee)),
    networkFee: nativeAmount(String(fee)),
    otherParams: {
      draft: {
        ...inner,
        outputs: inner.outputs.map(output =>
          output.isChange === true ? { ...output, value: String(19_950_000n - fee) } : output
        )
      }
    }
  })
  await t.throwsAsync(alice.engine.signTx(withFee(10_000_001n), alice.privateKeys), {
    code: 'SIGN_REFUSED',
    message: /^The currency plugin bitcoin refused to sign: .*more than half of the coins/
  })
  t.not((await alice.engine.signTx(withFee(10_000_000n), alice.privateKeys)).signedTx, '')
})

test('a payment of a small coin is signed though more than half of it goes to the network', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '20000')
  const draft = await alice.engine.makeSpend(
    {
      tokenId: null,
      spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('5000') }],
      networkFeeOption: 'custom',
      customNetworkFee: { satPerByte: '100' }
    },
    {}
  )
  t.true(BigInt(draft.networkFee) > 10_000n)
  t.not((await alice.engine.signTx(draft, alice.privateKeys)).signedTx, '')
})

test('what the draft says is what the signed bytes do: they can be replaced, and mined at once', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, target } = await funded(world, '200000')
  const draft = await alice.engine.makeSpend(
    {
      tokenId: null,
      spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('50000') }],
      networkFeeOption: 'custom',
      customNetworkFee: { satPerByte: '3.5' }
    },
    {}
  )
  const signed = await alice.engine.signTx(draft, alice.privateKeys)
  t.true(signed.signedTx.includes('fdffffff'))
  t.is(Buffer.from(signed.signedTx.slice(-8), 'hex').readUInt32LE(), 0)
  t.is(world.chain.broadcast(signed.signedTx), signed.txid)
  const entry = world.chain.view.mempool.get(signed.txid)
  t.is(String(entry?.fee), String(signed.networkFee))
  const rate = Number(signed.networkFee) / (entry?.tx.vsize ?? 1)
  t.true(rate >= 3.5 && rate < 3.6, String(rate))
})

test('where inputs are dear the largest coins pay, where they are cheap random ones', t => {
  const values = [900_000n, ...Array.from({ length: 40 }, (_, at) => 20_011n + 1997n * BigInt(at))]
  const coins = values.map((value, at) => coinOf(value, 84, at))
  const chosenAt = (rate: bigint): Set<string> =>
    new Set(
      Array.from({ length: 20 }, (_, seed) => {
        const selection = selectCoins(coins, goalOf(333_333n, rate, seed + 1))
        return String(selection?.coins.map(({ vout }) => vout).sort((a, b) => a - b))
      })
    )
  t.deepEqual([...chosenAt(200_000n)], ['0'])
  t.true(chosenAt(1000n).size > 10, 'who sees two spends cannot tell which coins the wallet holds')
})

test('a random draw goes on until its change is no small one', t => {
  const coins = Array.from({ length: 60 }, (_, at) => coinOf(30_000n, 84, at))
  for (let seed = 1; seed <= 12; seed++) {
    const { change = 0n } = selectCoins(coins, goalOf(333_333n, 1000n, seed)) ?? {}
    t.true(change >= 50_000n && change < 80_000n, `${change}`)
  }
})

test('random coins pay where they are cheap, also where it takes more than two hundred of them', t => {
  const coins = Array.from({ length: 300 }, (_, at) => coinOf(20_011n + BigInt(at), 84, at))
  const chosen = Array.from({ length: 12 }, (_, seed) => {
    const selection = selectCoins(coins, goalOf(5_000_000n, 1000n, seed + 1))
    return String(selection?.coins.map(({ vout }) => vout).sort((a, b) => a - b))
  })
  t.true(new Set(chosen).size > 6)
})

/** A wallet of many coins, and the draft of a payment that takes most of them. */
const draftOfMany = async (world: ReturnType<typeof makeTestWorld>) => {
  const { alice, target } = await funded(world, '100000')
  const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
  for (let coin = 0; coin < 80; coin += 1) world.chain.fund(publicAddress, '10000')
  world.chain.mine()
  await until(
    'all coins are there',
    () => [...alice.reported.txs.values()].filter(tx => tx.blockHeight > 0).length > 80
  )
  const draft = await alice.engine.makeSpend(
    { tokenId: null, spendTargets: [{ publicAddress: target, nativeAmount: nativeAmount('800000') }] },
    {}
  )
  return { alice, draft }
}

test('a long signature reports its progress and stops when it is aborted', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, draft } = await draftOfMany(world)
  const ratios: number[] = []
  const signed = await alice.engine.signTx(draft, alice.privateKeys, {
    onProgress: ratio => ratios.push(ratio)
  })
  t.not(signed.signedTx, '')
  t.true(ratios.length > 1)
  t.deepEqual(
    ratios,
    [...ratios].sort((a, b) => a - b)
  )
  t.true(ratios.every(ratio => ratio > 0 && ratio <= 1))

  const controller = new AbortController()
  let progress = 0
  const stopped = alice.engine.signTx(draft, alice.privateKeys, {
    signal: controller.signal,
    onProgress(ratio) {
      progress = ratio
      controller.abort()
    }
  })
  await t.throwsAsync(stopped, { code: 'SIGN_STOPPED' })
  t.true(progress < 1)
})

test('a wallet that is rescanned while it signs uses what it knew at the start', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { alice, draft } = await draftOfMany(world)
  let resync: Promise<void> | undefined
  const signed = await alice.engine.signTx(draft, alice.privateKeys, {
    onProgress() {
      resync ??= alice.engine.resyncBlockchain()
    }
  })
  t.not(resync, undefined)
  t.not(signed.signedTx, '')
  await resync
})
