import { createHash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { merkleBranchOf, merkleRootOf } from '../../../fake-server/chain/block.ts'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { dustLimitOf, kindOfScript, scriptOf } from '../../../fake-server/chain/script.ts'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { doubleSha256, innerBytes, makeChain, makeFundedChain, makeTestWallet } from './chain-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)

test('every header has 80 bytes, its work, a link to the one before, a later median time and its merkle root', t => {
  const chain = makeFundedChain(testWallet)
  chain.fund(other.address, '5000')
  chain.mine(5)
  let previous = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'
  t.is(chain.view.blockAt(0)?.hash, previous)
  for (let height = 1; height <= chain.height; height += 1) {
    const block = chain.view.blockAt(height)
    if (block === undefined) return t.fail()
    const bytes = Buffer.from(block.headerHex, 'hex')
    t.is(bytes.length, 80)
    const hash = doubleSha256(bytes).reverse().toString('hex')
    t.is(hash, block.hash)
    t.true(hash < '80')
    t.is(bytes.subarray(4, 36).toString('hex'), innerBytes(previous).toString('hex'))
    t.is(bytes.readUInt32LE(72), 0x207fffff)
    t.true(bytes.readUInt32LE(68) > chain.view.medianTimeAt(height - 1))
    let row = block.transactions.map(tx => innerBytes(tx.txid))
    while (row.length > 1) {
      row = row.flatMap((left, i) =>
        i % 2 === 0 ? [doubleSha256(Buffer.concat([left, row[i + 1] ?? left]))] : []
      )
    }
    t.deepEqual(row, [bytes.subarray(36, 68)])
    previous = hash
  }
})

test('merkle branches lead to the root from every position of every small count', t => {
  for (let count = 1; count <= 17; count += 1) {
    const hashes = Array.from({ length: count }, (_, i) => createHash('sha256').update(`${i}`).digest('hex'))
    hashes.forEach((hash, position) => {
      const { branch, root } = merkleBranchOf(hashes, position)
      let at = innerBytes(hash)
      branch.forEach((sibling, depth) => {
        const pair = (position >> depth) % 2 === 0 ? [at, innerBytes(sibling)] : [innerBytes(sibling), at]
        at = doubleSha256(Buffer.concat(pair))
      })
      t.is(at.reverse().toString('hex'), root)
      t.is(root, merkleRootOf(hashes))
    })
  }
  t.throws(() => merkleBranchOf([], 0), { instanceOf: RangeError })
})

test('coinbases carry the height, the subsidy halves every 150 blocks, and fees go to the miner', t => {
  const chain = makeChain()
  chain.mine(299)
  const amountAt = (height: number): bigint | undefined =>
    chain.view.blockAt(height)?.transactions[0]?.outputs[0]?.amount
  t.deepEqual([1, 149, 150, 299].map(amountAt), [
    5_000_000_000n,
    5_000_000_000n,
    2_500_000_000n,
    2_500_000_000n
  ])
  t.is(
    Buffer.from(chain.view.blockAt(299)?.transactions[0]?.inputs[0]?.script ?? [])
      .subarray(0, 3)
      .toString('hex'),
    '022b01'
  )
  const txid = chain.fund(testWallet.address, '1000000')
  const fee = chain.view.mempool.get(txid)?.fee ?? 0n
  t.true(fee > 0n)
  chain.mine(1, other.address)
  t.is(chain.balance(other.address).confirmed, nativeAmount(`${1_250_000_000n + fee}`))
})

test('fund pays exact amounts to every kind of address and to scripts, and mines only when it must', t => {
  const chain = makeChain()
  const targets = (['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2wsh', 'p2tr'] as const).map(kind =>
    makeTestWallet(kind, 4)
  )
  t.is(chain.height, 0)
  for (const target of targets) chain.fund(target.address, '123456')
  const matured = chain.height
  t.true(matured > 100)
  for (const target of targets) t.is(chain.balance(target.script).unconfirmed, nativeAmount('123456'))
  chain.fundMany(targets.map(target => ({ to: Buffer.from(target.script).toString('hex'), amount: '1000' })))
  chain.fund(other.address, '60000000000')
  t.is(chain.height, matured)
  chain.mine()
  for (const target of targets) t.is(chain.balance(target.address).confirmed, nativeAmount('124456'))
  t.is(chain.balance(other.address).confirmed, nativeAmount('60000000000'))
})

test('fund mines a block when its chain of unconfirmed change is too long', t => {
  const chain = makeChain()
  chain.fund(other.address, '104900000000')
  const { height } = chain
  for (let i = 0; i < 30; i += 1) chain.fund(testWallet.address, '1000')
  t.true(chain.height > height)
  t.is(chain.view.scripts.utxosOf(testWallet.scriptHash).length, 30)
})

test('fund, mine, reorg, drop and setFees refuse what makes no sense, and change nothing', t => {
  const chain = makeFundedChain(testWallet)
  const before = JSON.stringify(chain.toJson())
  const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  const cases: readonly (readonly [() => unknown, string])[] = [
    [() => chain.fund(mainnet, '1000'), 'ADDRESS_INVALID'],
    [() => chain.fund('nonsense', '1000'), 'ADDRESS_INVALID'],
    [() => chain.fund(testWallet.address, '0'), 'AMOUNT_INVALID'],
    [() => chain.fund(testWallet.address, '-5'), 'AMOUNT_INVALID'],
    [() => chain.fund(testWallet.address, '1.5'), 'AMOUNT_INVALID'],
    [() => chain.fund(testWallet.address, '9'.repeat(40)), 'AMOUNT_INVALID'],
    [() => chain.fund(testWallet.address, '293'), 'BROADCAST_REFUSED'],
    [() => chain.fundMany([]), 'OPTION_INVALID'],
    [() => chain.mine(0), 'OPTION_INVALID'],
    [() => chain.mine(1.5), 'OPTION_INVALID'],
    [() => chain.mine(1, 'nonsense'), 'ADDRESS_INVALID'],
    [() => chain.reorg(0), 'OPTION_INVALID'],
    [() => chain.reorg(chain.height + 1), 'OPTION_INVALID'],
    [() => chain.drop('00'.repeat(32)), 'TX_NOT_FOUND'],
    [() => chain.setFees({ 0: 1 }), 'OPTION_INVALID'],
    [() => chain.setFees({ 2: Number.NaN }), 'OPTION_INVALID']
  ]
  for (const [call, code] of cases) {
    const error = t.throws(call)
    t.is(isWalletError(error) ? error.code : undefined, code as never, String(error))
  }
  t.is(JSON.stringify(chain.toJson()), before)
  t.true(
    isWalletError(
      t.throws(() => makeChain().fund(testWallet.address, '2000000000000000')),
      'INSUFFICIENT_FUNDS'
    )
  )
})

test('a listener that throws is reported and stops no other; one that unsubscribed gets no more events', t => {
  const received: string[] = []
  const chain = openFakeChain({
    clock: makeFakeClock(),
    random: makeSeededRandom(),
    onListenerError: error => received.push(String(error))
  })
  chain.onChange(() => {
    throw new Error('mine')
  })
  const stop = chain.onChange(({ isTipNew }) => received.push(`tip ${isTipNew}`))
  chain.mine()
  chain.setFees({ 1: 3 })
  stop()
  chain.mine()
  t.deepEqual(received, ['Error: mine', 'tip true', 'Error: mine', 'tip false', 'Error: mine'])
})

test('a fee rate is that of the longest target within the requested wait', t => {
  const chain = makeChain()
  chain.setFees({ 2: 10, 6: 4.5 })
  t.deepEqual(
    [1, 2, 5, 6, 100].map(blocks => chain.feeRate(blocks)),
    [10, 10, 10, 4.5, 4.5]
  )
  chain.setFees({})
  t.is(chain.feeRate(2), undefined)
})

test('scripts are recognised and addresses read; junk is not', t => {
  const kinds = ['p2pkh', 'p2wpkh', 'p2wsh', 'p2tr'] as const
  for (const kind of kinds) {
    const { script, address } = makeTestWallet(kind)
    t.is(kindOfScript(script), kind)
    t.deepEqual(scriptOf(BITCOIN_REGTEST, address), script)
  }
  t.is(kindOfScript(makeTestWallet('p2sh-p2wpkh').script), 'p2sh')
  t.is(dustLimitOf(makeTestWallet('p2pkh').script, BITCOIN_REGTEST), 546n)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), bytes => {
      const kind = kindOfScript(bytes)
      return [
        'unknown',
        'data',
        'witness',
        'p2pk',
        'p2pkh',
        'p2sh',
        'p2wpkh',
        'p2wsh',
        'p2tr',
        'p2a',
        'multisig'
      ].includes(kind)
    })
  )
})

test('blocks that the faucet mines first lie in the past, so that a payment from it is not dated ahead', t => {
  const chain = makeChain()
  chain.fund(testWallet.address, '100000')
  chain.mine()
  const newest = Buffer.from(chain.view.blockAt(chain.height)?.headerHex ?? '', 'hex').readUInt32LE(68)
  t.true(newest * 1000 <= chain.clock.now())
})
