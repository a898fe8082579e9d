import { hex } from '@scure/base'
import { RawTx } from '@scure/btc-signer'
import test from 'ava'
import fc from 'fast-check'
import { decodeTransaction } from '../../../fake-server/chain/transaction.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import {
  alter,
  makeChain,
  makeFundedChain,
  makeTestWallet,
  refuses,
  signAll,
  signSpend
} from './chain-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)
const to = other.script
const dataScript = (length: number): Uint8Array => Uint8Array.of(0x6a, length, ...new Uint8Array(length))

test('bytes that are no transaction are refused as undecodable', t => {
  const chain = makeChain()
  for (const text of ['', 'zz', '00', 'f', '02000000', `${'00'.repeat(10)}ff`]) {
    refuses(t, chain, [text, /^TX decode failed/])
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const error = t.throws(() => chain.broadcast(hex.encode(bytes)))
      return isWalletError(error, 'BROADCAST_REFUSED')
    })
  )
  const good = signAll(makeFundedChain(testWallet), testWallet, { to, fee: 1000n })
  refuses(t, chain, [`${good}00`, /^TX decode failed/])
})

test('shape: no inputs, no outputs, doubled inputs, impossible amounts and coinbases are refused', t => {
  const chain = makeFundedChain(testWallet)
  const good = signAll(chain, testWallet, { to, fee: 1000n })
  const bare = RawTx.decode(hex.decode(good))
  const noInputs = RawTx.encode({ ...bare, inputs: [], segwitFlag: false, witnesses: undefined })
  refuses(t, chain, [hex.encode(noInputs), /^bad-txns-vin-empty$/])
  const cases: readonly (readonly [(raw: typeof bare) => void, RegExp])[] = [
    [raw => void raw.outputs.splice(0), /^bad-txns-vout-empty$/],
    [
      raw => {
        raw.inputs.push(...raw.inputs)
        raw.witnesses?.push(...raw.witnesses)
      },
      /^bad-txns-inputs-duplicate$/
    ],
    [raw => setAmount(raw, 2_100_000_000_000_001n), /^bad-txns-vout-toolarge$/],
    [raw => setAmount(raw, (1n << 64n) - 1n), /^bad-txns-vout-negative$/],
    [
      raw => {
        setAmount(raw, 2_100_000_000_000_000n)
        raw.outputs.push({ script: to, amount: 1n })
      },
      /^bad-txns-txouttotal-toolarge$/
    ]
  ]
  for (const [change, reason] of cases) refuses(t, chain, [alter(good, change), reason])
  const coinbase = chain.view.tip.transactions[0]?.hex ?? ''
  refuses(t, chain, [coinbase, /^coinbase$/])
})

/** Sets the amount of the first output. */
const setAmount = (raw: { outputs: { amount: bigint }[] }, amount: bigint): void => {
  if (raw.outputs[0] !== undefined) raw.outputs[0].amount = amount
}

test('standardness: dust by kind of output, odd scripts, data, versions and weight', t => {
  const chain = makeFundedChain(testWallet, ['3000000'])
  const pay = (outputs: { script: Uint8Array; amount: bigint }[], version = 2): string =>
    signSpend(chain, testWallet, { outputs, version })
  const limits = [
    [makeTestWallet('p2pkh').script, 546n],
    [makeTestWallet('p2sh-p2wpkh').script, 540n],
    [testWallet.script, 294n],
    [makeTestWallet('p2wsh').script, 330n],
    [makeTestWallet('p2tr').script, 330n]
  ] as const
  for (const [script, limit] of limits) refuses(t, chain, [pay([{ script, amount: limit - 1n }]), /^dust$/])
  refuses(t, chain, [pay([{ script: Uint8Array.of(0x51), amount: 5000n }]), /^scriptpubkey$/])
  refuses(t, chain, [pay([{ script: new Uint8Array(), amount: 5000n }]), /^scriptpubkey$/])
  const change = { script: testWallet.script, amount: 10_000n }
  refuses(t, chain, [
    pay([change, { script: Uint8Array.of(0x6a, 0x4c, 90, ...new Uint8Array(90)), amount: 0n }]),
    /^scriptpubkey$/
  ])
  const data = { script: dataScript(20), amount: 0n }
  refuses(t, chain, [pay([change, data, data]), /^multi-op-return$/])
  refuses(t, chain, [pay([change], 3), /^version$/])
  const many = Array.from({ length: 3300 }, () => ({ script: testWallet.script, amount: 300n }))
  refuses(t, chain, [pay(many), /^tx-size$/])
  const allowed = limits.map(([script, amount]) => ({ script, amount }))
  const txid = chain.broadcast(pay([...allowed, data, { script: to, amount: 2_900_000n }]))
  chain.mine()
  t.is(chain.view.find(txid)?.height, chain.height)
})

test('money: too little fee, more out than in, and missing or spent inputs', t => {
  const chain = makeFundedChain(testWallet)
  const vsize = BigInt(decodeTransaction(signAll(chain, testWallet, { to, fee: 0n })).vsize)
  t.is(vsize, 122n)
  refuses(t, chain, [signAll(chain, testWallet, { to, fee: 0n }), /^min relay fee not met, 0 < 122$/])
  refuses(t, chain, [
    signAll(chain, testWallet, { to, fee: vsize - 1n }),
    /^min relay fee not met, 121 < 122$/
  ])
  const generous = alter(signAll(chain, testWallet, { to, fee: 0n }), raw => setAmount(raw, 1_000_001n))
  refuses(t, chain, [generous, /^bad-txns-in-belowout$/])
  const good = signAll(chain, testWallet, { to, fee: vsize })
  const missing = alter(good, raw => {
    if (raw.inputs[0] !== undefined) raw.inputs[0].index = 7
  })
  refuses(t, chain, [missing, /^bad-txns-inputs-missingorspent$/])
  const rival = signAll(chain, testWallet, { to, fee: 500n })
  chain.broadcast(good)
  refuses(t, chain, [good, /^txn-already-in-mempool$/])
  chain.mine()
  refuses(t, chain, [good, /^Transaction already in block chain$/])
  refuses(t, chain, [rival, /^bad-txns-inputs-missingorspent$/])
})

test('time: lock times, relative locks and young coinbases wait exactly as long as they must', async t => {
  const chain = makeFundedChain(testWallet)
  const [coin] = chain.view.scripts.utxosOf(testWallet.scriptHash)
  if (coin === undefined) return t.fail()
  const outputs = [{ script: to, amount: 999_000n }]
  const locked = signSpend(chain, testWallet, { outputs, lockTime: chain.height + 1 })
  refuses(t, chain, [locked, /^non-final$/])
  const median = chain.view.medianTimeAt(chain.height)
  refuses(t, chain, [signSpend(chain, testWallet, { outputs, lockTime: median }), /^non-final$/])
  const relative = signSpend(chain, testWallet, { outputs, sequence: 3 })
  refuses(t, chain, [relative, /^non-BIP68-final$/])
  refuses(t, chain, [signSpend(chain, testWallet, { outputs, sequence: 0x40ffff }), /^non-BIP68-final$/])
  chain.mine()
  refuses(t, chain, [relative, /^non-BIP68-final$/])
  t.is(chain.broadcast(locked).length, 64)
  chain.drop(chain.view.scripts.waitingOf(testWallet.scriptHash)[0]?.txid ?? '')
  chain.mine()
  t.is(chain.broadcast(relative).length, 64)

  const young = makeChain()
  young.mine(1, testWallet.script)
  young.mine(98)
  const early = signAll(young, testWallet, { to, fee: 1000n })
  refuses(t, young, [early, /^bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99$/])
  young.mine()
  young.broadcast(early)
  young.mine()
  t.is(young.balance(to).confirmed as string, '4999999000')
})

test('unconfirmed coins can be spent on, up to 25 in a row', t => {
  const chain = makeFundedChain(testWallet)
  const next = makeTestWallet('p2wpkh', 3)
  chain.broadcast(signAll(chain, testWallet, { to: next.script, fee: 200n }))
  for (let i = 2; i <= 25; i += 1) chain.broadcast(signAll(chain, next, { to: next.script, fee: 200n }))
  refuses(t, chain, [
    signAll(chain, next, { to: next.script, fee: 200n }),
    /^too-long-mempool-chain, too many unconfirmed ancestors \[limit: 25\]$/
  ])
  t.deepEqual(
    new Set(chain.view.scripts.waitingOf(next.scriptHash).map(item => item.height)),
    new Set([0, -1])
  )
  chain.mine()
  t.is(chain.view.mempool.size, 0)
  chain.broadcast(signAll(chain, next, { to, fee: 200n }))
})

test('a waiting payment is replaced only if it signalled, by a higher fee and rate that pays its own relay', t => {
  const chain = makeFundedChain(testWallet)
  const final = chain.broadcast(signAll(chain, testWallet, { to, fee: 1000n }))
  const [coin] = chain.view.tip.transactions.flatMap(tx =>
    tx.outputs.flatMap((output, index) =>
      output.scriptHash === testWallet.scriptHash
        ? [{ txid: tx.txid, index, ...output, height: chain.height, isCoinbase: false }]
        : []
    )
  )
  if (coin === undefined) return t.fail()
  const bid = (fee: bigint, sequence = 0xfffffffd): string =>
    signSpend(chain, testWallet, {
      coins: [coin],
      outputs: [{ script: to, amount: coin.amount - fee }],
      sequence
    })
  refuses(t, chain, [bid(5000n), /^txn-mempool-conflict$/])
  chain.drop(final)
  const first = chain.broadcast(bid(1000n))
  const child = chain.broadcast(signAll(chain, other, { to: testWallet.script, fee: 1000n }))
  refuses(t, chain, [bid(999n), /^insufficient fee.*feerate/])
  refuses(t, chain, [bid(1999n), /^insufficient fee.*less fees than conflicting txs; 1999 < 2000$/])
  refuses(t, chain, [bid(2050n), /^insufficient fee.*not enough additional fees to relay; 50 < 122$/])
  const events: ReadonlySet<string>[] = []
  const stop = chain.onChange(change => events.push(change.scriptHashes))
  const second = chain.broadcast(bid(2200n, 0xffffffff))
  stop()
  t.deepEqual([chain.view.find(first), chain.view.find(child)], [undefined, undefined])
  t.is(chain.view.mempool.size, 1)
  t.true(events[0]?.has(testWallet.scriptHash) && events[0].has(other.scriptHash))
  refuses(t, chain, [bid(90_000n), /^txn-mempool-conflict$/])
  chain.mine()
  t.is(chain.view.find(second)?.height, chain.height)
})

test('a replacement may not bring new unconfirmed coins, nor spend what it replaces', t => {
  const chain = makeFundedChain(testWallet, ['1000000'])
  const [coin] = chain.view.scripts.utxosOf(testWallet.scriptHash)
  if (coin === undefined) return t.fail()
  chain.broadcast(signSpend(chain, testWallet, { outputs: [{ script: to, amount: 990_000n }], sequence: 0 }))
  const funded = chain.fund(testWallet.address, '500000')
  const fresh = chain.view.scripts.utxosOf(testWallet.scriptHash).find(found => found.txid === funded)
  if (fresh === undefined) return t.fail()
  const outputs = [{ script: to, amount: 1_400_000n }]
  refuses(t, chain, [
    signSpend(chain, testWallet, { coins: [coin, fresh], outputs }),
    /^replacement-adds-unconfirmed, .* adds unconfirmed input, idx 1$/
  ])
  const back = chain.broadcast(signAll(chain, other, { to: testWallet.script, fee: 300n }))
  const returned = chain.view.scripts.utxosOf(testWallet.scriptHash).find(found => found.txid === back)
  if (returned === undefined) return t.fail()
  refuses(t, chain, [
    signSpend(chain, testWallet, { coins: [coin, returned], outputs }),
    /^bad-txns-spends-conflicting-tx/
  ])
})

test('a full mempool lets the poorest go, and takes a parent of little only with a child that pays for both', t => {
  const chain = makeFundedChain(testWallet)
  const heir = makeTestWallet('p2wpkh', 3)
  const parent = signAll(chain, testWallet, { to: heir.script, fee: 300n })
  const txid = chain.broadcast(parent)
  const [coin] = chain.view.scripts.utxosOf(heir.scriptHash)
  if (coin === undefined) throw new Error('it pays nothing')
  const childOf = (fee: bigint): string =>
    signSpend(chain, heir, { coins: [coin], outputs: [{ script: to, amount: coin.amount - fee }] })
  const [poor, rich] = [childOf(300n), childOf(5000n)]
  chain.setLeastFee(10_000)
  t.false(chain.view.mempool.has(txid))
  refuses(t, chain, [parent, /^mempool min fee not met/])
  refuses(t, chain, [rich, /^bad-txns-inputs-missingorspent/])
  const refused = chain.broadcastPackage([parent, poor])
  t.deepEqual(
    [...refused.values()].map(reason => reason.replace(/,.*/, '')),
    ['mempool min fee not met', 'mempool min fee not met']
  )
  t.is(chain.view.mempool.size, 0)
  t.throws(() => chain.broadcastPackage([rich, parent]), { message: /package-not-child-with-parents/ })
  t.throws(() => chain.broadcastPackage([parent]), { message: /package-not-child-with-parents/ })
  t.is(chain.broadcastPackage([parent, rich]).size, 0)
  t.is(chain.view.mempool.size, 2)
  // It is there already, and its child keeps it.
  t.is(chain.broadcastPackage([parent, rich]).size, 0)
  chain.setLeastFee(10_000)
  t.is(chain.view.mempool.size, 2)
})
