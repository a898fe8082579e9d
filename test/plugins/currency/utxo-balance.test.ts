import test from 'ava'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { scriptHashOf, scriptOf } from '../../../fake-server/chain/script.ts'
import { type EngineTransaction, nativeAmount, type SpendInfo } from '../../../kernel/plugin-api.ts'
import type { RawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import {
  balancePartsOf,
  type CoinSource,
  sortCoins
} from '../../../plugins/currency/utxo/spend/choose-coins.ts'
import { type Coin, Ledger } from '../../../plugins/currency/utxo/wallet/ledger.ts'
import type { ScriptRecord } from '../../../plugins/currency/utxo/wallet/scripts.ts'
import { drawSeed, logCounts, makeSeededRandom } from '../../helpers/drawn-runs.ts'
import { makeTestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

test('a balance says what of it is spendable, incoming, immature and reserved, and the parts are the whole', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { engine, reported, balance, privateKeys } = await world.openWallet()
  const parts = (): readonly string[] => {
    const { spendable, incoming, immature, reserved } = reported.details.at(-1) ?? {}
    return [spendable, incoming, immature, reserved].map(String)
  }
  const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
  world.chain.fund(publicAddress, '700000')
  await until('a receipt', () => parts()[1] === '700000')
  t.deepEqual(parts(), ['0', '700000', '0', '0'])
  world.chain.mine(1)
  await until('its block', () => parts()[0] === '700000')
  t.deepEqual(parts(), ['700000', '0', '0', '0'])
  const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('100000') }]
  const signed = await engine.signTx(await engine.makeSpend({ tokenId: null, spendTargets }, {}), privateKeys)
  t.is(await engine.syncNetwork({}), 60_000)
  await engine.reservePayments?.([signed])
  t.deepEqual(parts(), ['0', '0', '0', '700000'])
  t.is(await engine.syncNetwork({}), 10_000, 'what has become of a payment is asked more often')
  await engine.broadcastTx(signed, {})
  await engine.saveTx(signed)
  const left = String(600_000n - BigInt(signed.networkFee))
  await until('the change', () => balance() === left)
  t.deepEqual(parts(), [left, '0', '0', '0'])
})

test('a coin is spendable in a block of its own, and one that a block made only once it is deep enough', t => {
  const record = {} as ScriptRecord
  const partOf = (changes: Partial<Coin>, isReserved = false): unknown => {
    const plain = { isCoinbase: false, isPegOut: false, isOwnChange: false }
    const coin: Coin = { ...plain, txid: 'a', vout: 0, value: 7n, record, height: 0, ...changes }
    const source = {
      ...{ coin: bitcoinRow, height: 200, frozen: new Set() },
      ledger: { coins: () => [coin], gradeOf: () => 'claimed' },
      reserved: { isReserved: () => isReserved }
    } as unknown as CoinSource
    const { grade, paymentsGrade, ...amounts } = balancePartsOf(source, () => true)
    t.deepEqual([grade, paymentsGrade], ['claimed', 'claimed'])
    const parts = Object.entries(amounts).filter(([, value]) => value !== '0')
    t.deepEqual(
      parts.map(([, value]) => value),
      ['7']
    )
    const tierIn = (noUnconfirmed: boolean | undefined): unknown => {
      const tiers = Object.entries(sortCoins(source, noUnconfirmed === undefined ? {} : { noUnconfirmed }))
      return tiers.flatMap(([name, coins]) => (coins.length === 1 ? [name] : [])).join()
    }
    return [parts[0]?.[0], ...[undefined, true, false].map(tierIn)]
  }
  const [safe, waiting] = [
    ['safe', 'safe', 'safe'],
    ['waiting', 'waiting', 'waiting']
  ]
  t.deepEqual(partOf({ height: 200 }), ['spendable', ...safe])
  t.deepEqual(partOf({ isOwnChange: true }), ['spendable', 'safe', 'waiting', 'safe'])
  t.deepEqual(partOf({}), ['incoming', 'waiting', 'waiting', 'risky'])
  t.deepEqual(partOf({ height: 200 }, true), ['reserved', ...waiting])
  for (const [made, depth] of [
    [{ isCoinbase: true }, 100],
    [{ isPegOut: true }, 6]
  ] as const) {
    t.deepEqual(partOf({ ...made, height: 201 - depth }), ['spendable', ...safe])
    for (const height of [202 - depth, 200, 0])
      for (const isOwnChange of [true, false])
        t.deepEqual(partOf({ ...made, height, isOwnChange }), ['immature', ...waiting], `${height}`)
  }
})

const seen = { height: 0, date: 1, isSeen: true }

/** A ledger whose wallet owns every output of one byte, and how transactions for it are written. */
const makeLedger = () => {
  const record = { addTxid() {} } as unknown as ScriptRecord
  const ledger = new Ledger({ findScript: script => (script.length === 1 ? record : undefined) })
  const txOf = (txid: string, spends: readonly string[], foreign = 0n): RawTx => ({
    txid,
    inputs: spends.map(source => ({ txid: source, vout: 0 })),
    outputs: [
      { value: 5n, script: new Uint8Array(1) },
      { value: foreign, script: new Uint8Array(2) }
    ],
    isCoinbase: false,
    isPegOut: false,
    weight: 1
  })
  const isOwn = (txid: string): boolean | undefined =>
    [...ledger.coins()].find(coin => coin.txid === txid)?.isOwnChange
  return { ledger, txOf, isOwn }
}

test('change of what others have not confirmed is as unsure as that, however long the chain of forged payments', t => {
  const { ledger, txOf, isOwn } = makeLedger()
  const receipt = ledger.put(txOf('a', ['foreign']), seen)
  ledger.put(txOf('b', ['a']), seen)
  t.false(isOwn('b'))
  ledger.put(txOf('c', ['b']), seen)
  t.false(isOwn('c'))
  ledger.place(receipt, { ...seen, height: 7 })
  t.true(isOwn('c'))
})

test('change is our own at the end of up to 25 of our payments that wait, not of more', t => {
  const { ledger, txOf, isOwn } = makeLedger()
  ledger.put(txOf('0', ['foreign']), { ...seen, height: 7 })
  // The first builds on a coin that is confirmed, so that there are n - 1 below the n-th.
  for (let n = 1; n <= 28; n += 1) {
    ledger.put(txOf(`${n}`, [`${n - 1}`]), seen)
    t.is(isOwn(`${n}`), n <= 26, `after ${n} payments`)
    t.is(ledger.coinAt(`${n}:0`)?.isOwnChange, n <= 26)
  }
})

test('forged payments that spend each other in ever more ways are judged once each', t => {
  const { ledger, txOf, isOwn } = makeLedger()
  const branching = (txid: string, source: string): RawTx => ({
    ...txOf(txid, []),
    inputs: [0, 1, 2].map(vout => ({ txid: source, vout })),
    outputs: [1n, 2n, 3n].map(value => ({ value, script: new Uint8Array(1) }))
  })
  ledger.put(branching('0', 'foreign'), { ...seen, height: 7 })
  for (let level = 1; level <= 25; level += 1) {
    ledger.put(branching(String(level), String(level - 1)), seen)
    t.true(isOwn(String(level)))
  }
  for (let level = 26; level <= 27; level += 1) {
    ledger.put(branching(String(level), String(level - 1)), seen)
  }
  t.false(isOwn('27'))
})

test('a payment that another has joined with a coin of theirs is not our own, and its fee is not ours', t => {
  const { ledger, txOf, isOwn } = makeLedger()
  ledger.put(txOf('a', ['foreign']), { ...seen, height: 7 })
  const joined = ledger.put(txOf('b', ['a', 'theirs'], 3n), seen)
  t.false(isOwn('b'), 'they can take it back')
  t.deepEqual(ledger.effectOf(joined), { net: 0n, fee: 0n, isSend: false })
  ledger.place(joined, { ...seen, height: 8 })
  ledger.put(txOf('c', ['b']), seen)
  t.true(isOwn('c'))
})

test('of two payments of one coin the confirmed one stands, whichever arrives last', t => {
  for (const isConfirmedLast of [false, true]) {
    const { ledger, txOf } = makeLedger()
    ledger.put(txOf('a', ['foreign']), { ...seen, height: 7 })
    const put = {
      confirmed: () => ledger.put(txOf('b', ['a']), { ...seen, height: 9 }),
      waiting: () => ledger.put(txOf('c', ['a'], 1n), seen)
    }
    const order = isConfirmedLast ? (['waiting', 'confirmed'] as const) : (['confirmed', 'waiting'] as const)
    for (const name of order) put[name]()
    t.deepEqual([ledger.find('b')?.height, ledger.find('c')?.height], [9, -1])
    t.deepEqual(
      [...ledger.coins()].map(({ txid }) => txid),
      ['b']
    )
  }
})

test('two rewards of blocks, which spend the same nothing, are no rivals', t => {
  const { ledger, txOf } = makeLedger()
  const inputs = [{ txid: '0'.repeat(64), vout: 0xffff_ffff }]
  for (const [at, txid] of ['a', 'b'].entries())
    ledger.put({ ...txOf(txid, []), inputs, isCoinbase: true }, { ...seen, height: 7 + at })
  t.deepEqual(
    ['a', 'b'].map(txid => ledger.find(txid)?.height),
    [7, 8]
  )
})

test('of two unconfirmed payments of one coin the later one stands, and drops the descendants of the other', t => {
  const { ledger, txOf } = makeLedger()
  ledger.put(txOf('a', ['foreign']), { ...seen, height: 7 })
  ledger.put(txOf('b', ['a']), seen)
  ledger.put(txOf('child', ['b']), seen)
  ledger.put(txOf('c', ['a'], 1n), seen)
  t.deepEqual(
    ['a', 'b', 'child', 'c'].map(txid => ledger.find(txid)?.height),
    [7, -1, -1, 0]
  )
})

test('the reward of a block is immature for a hundred blocks, and no payment takes it before', async t => {
  const world = makeTestWorld()
  t.teardown(() => world.close())
  const { engine, reported } = await world.openWallet()
  world.chain.mine(1, (await engine.getFreshAddress({ tokenId: null })).publicAddress)
  await until('a reward', () => reported.details.length > 0 && reported.details.at(-1)?.immature !== '0')
  const reward = reported.details.at(-1)?.immature ?? nativeAmount('0')
  t.like(reported.details.at(-1), { spendable: '0', incoming: '0', reserved: '0' })
  const spend = {
    tokenId: null,
    spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount('100000') }]
  }
  const error = await t.throwsAsync(engine.makeSpend(spend, {}), { code: 'PENDING_FUNDS' })
  t.like(error, { details: { immature: reward, incoming: '0', reserved: '0' } })
  world.chain.mine(98)
  await until('the last block but one', () => reported.heights.at(-1) === world.chain.height)
  t.is(reported.details.at(-1)?.immature, reward)
  world.chain.mine(1)
  await until('the last block', () => reported.details.at(-1)?.spendable === reward)
  await t.notThrowsAsync(engine.makeSpend(spend, {}))
})

/** What the fake chain says of the outputs that the wallet was paid, without the wallet's own code. */
class KnownCoins {
  readonly #chain: FakeChain
  readonly #scripts = new Set<string>()
  readonly #payees: ReadonlySet<string>
  readonly #txids = new Set<string>()
  readonly #payments = new Set<string>()
  reserved: readonly string[] = []

  constructor(chain: FakeChain, payee: string) {
    this.#chain = chain
    this.#payees = new Set([scriptHashOf(scriptOf(chain.network, payee))])
  }

  addReceipt(txid: string, address: string): void {
    this.#scripts.add(scriptHashOf(scriptOf(this.#chain.network, address)))
    this.#txids.add(txid)
  }

  addPayment(txid: string): void {
    this.#txids.add(txid)
    this.#payments.add(txid)
  }

  /** Unspent outputs by `txid:vout`, each with the part of the balance that it belongs to. */
  all(): ReadonlyMap<string, { readonly value: bigint; readonly part: string; readonly height: number }> {
    const spent = new Set([...this.#payments].flatMap(txid => this.#inputsOf(txid)))
    const coins = new Map<string, { value: bigint; part: string; height: number }>()
    for (const txid of this.#txids) {
      const { tx, height = 0 } = this.#chain.view.find(txid) ?? {}
      tx?.outputs.forEach(({ amount, scriptHash }, vout) => {
        const isOurs = this.#payments.has(txid)
          ? !this.#payees.has(scriptHash)
          : this.#scripts.has(scriptHash)
        const at = `${txid}:${vout}`
        if (!isOurs || spent.has(at)) return
        const isReward = tx.inputs.every(input => /^0+$/.test(input.txid))
        const part = this.reserved.includes(at)
          ? 'reserved'
          : isReward && this.#chain.height + 1 - height < 100
            ? 'immature'
            : this.#isSure(txid)
              ? 'spendable'
              : 'incoming'
        coins.set(at, { value: amount, part, height })
      })
    }
    return coins
  }

  /** Nobody else can take it back. */
  #isSure(txid: string): boolean {
    if (this.#chain.view.find(txid)?.height !== undefined) return true
    return this.#payments.has(txid) && this.#inputsOf(txid).every(at => this.#isSure(at.slice(0, 64)))
  }

  #inputsOf(txid: string): readonly string[] {
    return (this.#chain.view.find(txid)?.tx.inputs ?? []).map(input => `${input.txid}:${input.index}`)
  }
}

test('what a payment can take is to the last unit what the balance calls spendable', async t => {
  const seed = drawSeed(t)
  const [seededRandom, bytes] = [makeSeededRandom(seed), makeSeededRandom(seed + 1)]
  const random = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => bytes.below(256))
  const world = makeTestWorld({ io: { random } })
  t.teardown(() => world.close())
  const { chain } = world
  const { engine, reported, privateKeys } = await world.openWallet()
  const known = new KnownCoins(chain, PAYEE)
  const counts = new Map<string, number>()
  const spendOf = (amount: bigint, rest: Partial<SpendInfo> = {}): SpendInfo => ({
    tokenId: null,
    spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount(String(amount)) }],
    networkFeeOption: 'custom',
    customNetworkFee: { satPerByte: String(1 + seededRandom.below(40)) },
    ...rest
  })
  const allowed = (): Partial<SpendInfo> =>
    seededRandom.pick([{}, { noUnconfirmed: true }, { noUnconfirmed: false }])
  const address = async (): Promise<string> =>
    (await engine.getFreshAddress({ tokenId: null, forceIndex: seededRandom.below(20) })).publicAddress
  const sign = async (rest: Partial<SpendInfo>): Promise<EngineTransaction | undefined> => {
    const draft = await engine
      .makeSpend(spendOf(BigInt(1000 + seededRandom.below(300_000)), rest), {})
      .catch(() => null)
    return draft === null ? undefined : engine.signTx(draft, privateKeys)
  }
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    async receive() {
      const to = await address()
      known.addReceipt(chain.fund(to, String(5000 + seededRandom.below(400_000))), to)
    },
    mine: async () => chain.mine(1),
    async earn() {
      const to = await address()
      chain.mine(1, to)
      known.addReceipt(chain.view.tip.transactions[0]?.txid ?? '', to)
    },
    async pay() {
      const tx = await sign(allowed())
      if (tx === undefined) return
      await engine.broadcastTx(tx, {})
      await engine.saveTx(tx)
      known.addPayment(tx.txid)
    },
    async reserve() {
      const tx = known.reserved.length > 0 ? undefined : await sign({})
      known.reserved = tx?.spentCoins ?? []
      await engine.reservePayments?.(tx === undefined ? [] : [tx])
    },
    reorganise: async () => chain.reorg(1)
  }
  for (let step = 0; step < 40; step++) {
    const name = ['receive', 'mine'][step] ?? seededRandom.pick(Object.keys(steps))
    await steps[name]?.()
    const coins = known.all()
    const sumOf = (...parts: readonly string[]): bigint =>
      [...coins.values()].reduce((sum, { part, value }) => sum + (parts.includes(part) ? value : 0n), 0n)
    const parts = ['spendable', 'incoming', 'immature', 'reserved'].map(part => String(sumOf(part)))
    await until(`${name}, step ${step}: ${parts.join()}`, () => {
      const { spendable, incoming, immature, reserved } = reported.details.at(-1) ?? {}
      const isSeen = [...coins].every(
        ([at, { height }]) => reported.txs.get(at.slice(0, 64))?.blockHeight === height
      )
      return isSeen && parts.join() === [spendable, incoming, immature, reserved].join()
    })
    const rest = allowed()
    const free = new Map(
      [...coins].filter(
        ([, { part, height }]) =>
          (part === 'spendable' && (height > 0 || rest.noUnconfirmed !== true)) ||
          (part === 'incoming' && rest.noUnconfirmed === false)
      )
    )
    const swapRequest = spendOf(0n, rest)
    const rate = BigInt(String(swapRequest.customNetworkFee?.satPerByte))
    const max = BigInt((await engine.getMaxSpendable?.(swapRequest, {})) ?? -1)
    // A signed input of the wallet takes 68 virtual bytes: a coin that brings less than it costs stays.
    const brings = (value: bigint): bigint => (value > 68n * rate ? value - 68n * rate : 0n)
    const inAll = [...free.values()].reduce((sum, { value }) => sum + brings(value), 0n)
    if (max === 0n) t.true(inAll < 294n + 60n * rate, `${name}: ${inAll} at ${rate}`)
    else {
      const draft = await engine.makeSpend({ ...spendOf(max, rest), ...pick(swapRequest) }, {})
      const taken = draft.spentCoins ?? []
      t.true(taken.every(at => free.has(at)))
      for (const [at, { value }] of free)
        if (!taken.includes(at)) t.true(value <= 69n * rate, `${at}: ${value} at ${rate}`)
      const paid = taken.reduce((sum, at) => sum + (free.get(at)?.value ?? 0n), 0n)
      t.is(max + BigInt(draft.networkFee), paid, `${name}, step ${step}`)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    const more = engine.makeSpend(
      { ...spendOf(max === 0n ? inAll + 294n : max + 1n, rest), ...pick(swapRequest) },
      {}
    )
    const { code } = (await t.throwsAsync(more, { instanceOf: Error })) as Error & { code?: string }
    t.true(code === 'PENDING_FUNDS' || code === 'INSUFFICIENT_FUNDS', code)
  }
  logCounts(t, 'what had happened before a payment of all', counts)
})

/** The fee of one spend for another. */
const pick = ({ customNetworkFee }: SpendInfo): Pick<SpendInfo, 'customNetworkFee'> =>
  customNetworkFee === undefined ? {} : { customNetworkFee }

test('what is in no block is counted, dropped or not', t => {
  const { ledger, txOf } = makeLedger()
  const counts = [7, 0, -1, 1, 0].map((height, n) => {
    ledger.put(txOf(`${n}`, [`foreign ${n}`]), { ...seen, height })
    return ledger.unconfirmedCount()
  })
  t.deepEqual(counts, [0, 1, 2, 2, 3])
})
