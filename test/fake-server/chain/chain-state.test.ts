import { createHash } from 'node:crypto'
import test from 'ava'
import { makeCoinbase, workBlock } from '../../../fake-server/chain/block.ts'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import type { ChainView } from '../../../fake-server/chain/chain-state.ts'
import type { ChainChange } from '../../../fake-server/chain/fake-chain.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { parseSavedChain } from '../../../fake-server/chain/saved-chain.ts'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { makeChain, makeFundedChain, makeTestWallet, refuses, reopen, signAll } from './chain-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)

/** The Electrum status, computed by Node from its definition. */
const statusOf = (view: ChainView, scriptHash: string): string | null => {
  const items = view.scripts.historyOf(scriptHash)
  const text = items.map(({ txid, height }) => `${txid}:${height}:`).join('')
  return items.length === 0 ? null : createHash('sha256').update(text).digest('hex')
}

test('a status is the hash of the history, with heights 0 and -1 while it waits, and follows every change', t => {
  const chain = makeFundedChain(testWallet)
  const seen = new Set<string | null>()
  const check = (): void => {
    const status = chain.view.scripts.statusOf(other.scriptHash)
    t.is(status, statusOf(chain.view, other.scriptHash))
    t.false(seen.has(status))
    seen.add(status)
  }
  check()
  t.is(chain.view.scripts.statusOf(other.scriptHash), null)
  const parent = chain.broadcast(signAll(chain, testWallet, { to: testWallet.script, fee: 1000n }))
  const child = chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  t.deepEqual(chain.view.scripts.historyOf(other.scriptHash), [{ txid: child, height: -1, fee: 1000n }])
  check()
  const saved = chain.toJson()
  chain.mine()
  t.deepEqual(
    chain.view.tip.transactions.slice(1).map(tx => tx.txid),
    [parent, child]
  )
  check()
  chain.reorg(1)
  t.deepEqual(
    chain.view.scripts.historyOf(other.scriptHash).map(item => item.height),
    [-1]
  )
  t.deepEqual(
    [...chain.view.mempool.entries()].map(entry => entry.tx.txid),
    [parent, child]
  )
  chain.mine()
  check()
  const again = openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(3), saved })
  t.deepEqual([...seen].includes(again.view.scripts.statusOf(other.scriptHash)), true)
})

test('a child that stays behind when its parent confirms goes from height -1 to 0, and back in a reorg', t => {
  const chain = makeFundedChain(testWallet)
  const parent = chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  const end = makeTestWallet('p2pkh', 5)
  const child = chain.broadcast(signAll(chain, other, { to: end.script, fee: 1000n }))
  const { state } = parseSavedChain(BITCOIN_REGTEST, chain.toJson())
  t.is(state.scripts.historyOf(end.scriptHash)[0]?.height, -1)
  t.is(state.scripts.statusOf(end.scriptHash), statusOf(state, end.scriptHash))
  state.scripts.takeTouched()
  const transactions = [...state.mempool.entries()].slice(0, 1).map(entry => entry.tx)
  const height = state.height + 1
  const rest = { script: testWallet.script, amount: 1n, extraNonce: Uint8Array.of(1), transactions }
  const parts = { network: BITCOIN_REGTEST, height, ...rest }
  const time = state.medianTimeAt(state.height) + 1
  state.connect(
    workBlock({
      ...{ network: BITCOIN_REGTEST, height, previous: state.tip.hash, time },
      transactions: [makeCoinbase(parts), ...transactions]
    })
  )
  t.deepEqual([state.mempool.has(parent), state.mempool.has(child)], [false, true])
  t.is(state.scripts.historyOf(end.scriptHash)[0]?.height, 0)
  t.is(state.scripts.statusOf(end.scriptHash), statusOf(state, end.scriptHash))
  t.true(state.scripts.takeTouched().has(end.scriptHash))
  chain.mine()
  chain.reorg(1)
  t.is(chain.view.scripts.historyOf(end.scriptHash)[0]?.height, -1)
})

test('a block of a real node may have children before their parents, and its coins come and go as they do', t => {
  const chain = makeFundedChain(testWallet)
  chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  const end = makeTestWallet('p2pkh', 5)
  const child = chain.broadcast(signAll(chain, other, { to: end.script, fee: 1000n }))
  const transactions = [...chain.view.mempool.entries()].map(entry => entry.tx).toReversed()
  const height = chain.height + 1
  const rest = { script: testWallet.script, amount: 1n, extraNonce: Uint8Array.of(1), transactions }
  const parts = { network: BITCOIN_REGTEST, height, ...rest }
  const { state } = parseSavedChain(BITCOIN_REGTEST, chain.toJson())
  state.evict(transactions.map(({ txid }) => txid))
  const time = state.medianTimeAt(state.height) + 1
  const block = workBlock({
    ...{ network: BITCOIN_REGTEST, height, previous: state.tip.hash, time },
    transactions: [makeCoinbase(parts), ...transactions]
  })
  const { state: strict } = parseSavedChain(BITCOIN_REGTEST, chain.toJson())
  strict.evict(transactions.map(({ txid }) => txid))
  t.throws(() => strict.connect(block), { message: 'bad-txns-inputs-missingorspent' })
  const coinsOf = (script: string): readonly string[] => state.scripts.utxosOf(script).map(({ txid }) => txid)
  const before = [testWallet, other, end].map(({ scriptHash }) => coinsOf(scriptHash))
  state.append(block)
  t.deepEqual(coinsOf(end.scriptHash), [child])
  t.deepEqual(coinsOf(other.scriptHash), [])
  t.is(state.find(child)?.position, 1)
  state.disconnect()
  t.deepEqual(
    [testWallet, other, end].map(({ scriptHash }) => coinsOf(scriptHash)),
    before
  )
})

test('a reorg makes a longer chain of other blocks and brings payments back, or forgets them', t => {
  for (const keepTransactions of [true, false]) {
    const chain = makeFundedChain(testWallet)
    const height = chain.height
    const mined = makeTestWallet('p2pkh', 6)
    const txid = chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
    chain.mine(1, mined.address)
    const waiting = chain.broadcast(signAll(chain, other, { to: testWallet.script, fee: 1000n }))
    chain.mine(2)
    const lost = [1, 2, 3].map(i => chain.view.blockAt(height + i)?.hash)
    const confirmed = chain.view.scripts.statusOf(other.scriptHash)
    const changes: ChainChange[] = []
    chain.onChange(change => changes.push(change))
    chain.reorg(3, { keepTransactions })
    t.is(chain.height, height + 4)
    t.is(changes.length, 1)
    t.true(changes[0]?.isTipNew && changes[0].scriptHashes.has(other.scriptHash))
    t.deepEqual(
      [1, 2, 3].filter(i => chain.view.blockAt(height + i)?.hash === lost[i - 1]),
      []
    )
    t.not(chain.view.scripts.statusOf(other.scriptHash), confirmed)
    t.is(chain.balance(mined.address).confirmed, nativeAmount('0'))
    t.is(chain.view.mempool.has(txid), keepTransactions)
    t.is(chain.view.mempool.has(waiting), keepTransactions)
    if (keepTransactions) {
      chain.mine()
      t.is(chain.view.find(waiting)?.height, height + 5)
    } else {
      t.is(chain.view.scripts.statusOf(other.scriptHash), null)
      t.is(chain.balance(testWallet.script).confirmed, nativeAmount('1000000'))
      chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 2000n }))
    }
    t.is(JSON.stringify(reopen(chain).toJson()), JSON.stringify(chain.toJson()))
  }
})

test('a reorg drops what can no longer be: spends of a lost coinbase', t => {
  const chain = makeChain()
  chain.mine(1, testWallet.script)
  chain.mine(100)
  chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  chain.reorg(101)
  t.is(chain.view.mempool.size, 0)
  t.is(chain.balance(testWallet.script).confirmed, nativeAmount('0'))
  t.is(chain.view.scripts.statusOf(testWallet.scriptHash), null)
})

test('drop evicts a payment and its descendants, and their coins are there again', t => {
  const chain = makeFundedChain(testWallet)
  const parent = chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1000n }))
  const child = chain.broadcast(signAll(chain, other, { to: other.script, fee: 1000n }))
  t.deepEqual(chain.drop(parent), [parent, child])
  t.is(chain.view.scripts.statusOf(other.scriptHash), null)
  t.deepEqual(chain.balance(testWallet.script), {
    confirmed: nativeAmount('1000000'),
    unconfirmed: nativeAmount('0')
  })
  t.is(chain.view.scripts.utxosOf(testWallet.scriptHash).length, 1)
  chain.broadcast(signAll(chain, testWallet, { to: other.script, fee: 1500n }))
})

test('after a reorg forgets a payment, its rival can be confirmed and the first one is refused for good', t => {
  const chain = makeFundedChain(testWallet)
  const first = signAll(chain, testWallet, { to: other.script, fee: 1000n })
  chain.broadcast(first)
  chain.mine()
  chain.reorg(1, { keepTransactions: false })
  const rival = chain.broadcast(
    signAll(chain, testWallet, { to: makeTestWallet('p2pkh', 3).script, fee: 1000n })
  )
  refuses(t, chain, [first, /^txn-mempool-conflict$/])
  chain.mine()
  t.is(chain.view.find(rival)?.height, chain.height)
  refuses(t, chain, [first, /^bad-txns-inputs-missingorspent$/])
  t.is(chain.view.scripts.statusOf(other.scriptHash), null)
})
