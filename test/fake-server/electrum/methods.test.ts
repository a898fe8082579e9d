import { createHash } from 'node:crypto'
import test from 'ava'
import { doubleSha256, innerBytes, makeFundedChain, makeTestWallet, signAll } from '../chain/chain-kit.ts'
import { makeClient } from './electrum-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)

test('the server methods answer in the shapes of the protocol', t => {
  const chain = makeFundedChain(testWallet)
  const { call } = makeClient(chain)
  t.is(call('server.ping').result, null)
  t.is(typeof call('server.banner').result, 'string')
  t.is(call('server.donation_address').result, '')
  t.deepEqual(call('server.peers.subscribe').result, [])
  const features = call('server.features').result as Record<string, unknown>
  t.is(features.genesis_hash, '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206')
  t.deepEqual(
    [features.protocol_min, features.protocol_max, features.hash_function],
    ['1.4', '1.6', 'sha256']
  )
  t.is(call('blockchain.relayfee').result, 0.00001)
  chain.setFees({ 2: 15 })
  t.is(call('blockchain.estimatefee', 2).result, 0.00015)
  chain.setFees({})
  t.is(call('blockchain.estimatefee', 2).result, -1)
  t.deepEqual(call('mempool.get_fee_histogram').result, [])
  const raw = signAll(chain, testWallet, { to: other.script, fee: 1220n })
  chain.broadcast(raw)
  const vsize = chain.view.mempool.entries().next().value?.tx.vsize
  t.deepEqual(call('mempool.get_fee_histogram').result, [[Math.floor(1220 / (vsize ?? 1)), vsize]])
})

test('headers, merkle proofs and checkpoint proofs verify against each other', t => {
  const chain = makeFundedChain(testWallet, ['5000', '6000', '7000'])
  const { call } = makeClient(chain)
  const { height } = chain
  t.deepEqual(call('blockchain.headers.subscribe').result, { hex: chain.view.tip.headerHex, height })
  const all = call('blockchain.block.headers', 0, 5000).result as { hex: string; count: number; max: number }
  t.deepEqual([all.count, all.hex.length, all.max], [height + 1, (height + 1) * 160, 2016])
  t.is(call('blockchain.block.header', height).result, all.hex.slice(-160))
  t.is((call('blockchain.block.headers', height + 1, 10).result as { count: number }).count, 0)
  t.is(call('blockchain.block.header', height + 1).error?.code, 1)

  const climb = (leaf: string, branch: readonly string[], position: number): string => {
    let at = innerBytes(leaf)
    branch.forEach((sibling, depth) => {
      const pair = (position >> depth) % 2 === 0 ? [at, innerBytes(sibling)] : [innerBytes(sibling), at]
      at = doubleSha256(Buffer.concat(pair))
    })
    return at.toString('hex')
  }
  const root = Buffer.from(chain.view.tip.headerHex, 'hex').subarray(36, 68).toString('hex')
  chain.view.tip.transactions.forEach(({ txid }, position) => {
    const proof = call('blockchain.transaction.get_merkle', txid, height).result as {
      merkle: string[]
      pos: number
    }
    t.is(proof.pos, position)
    t.is(climb(txid, proof.merkle, position), root)
    t.is(call('blockchain.transaction.id_from_pos', height, position).result, txid)
    const named = call('blockchain.transaction.id_from_pos', height, position, true).result
    t.deepEqual(named, { tx_hash: txid, merkle: proof.merkle })
  })
  t.is(call('blockchain.transaction.get_merkle', '00'.repeat(32), height).error?.code, 1)
  t.is(call('blockchain.transaction.id_from_pos', height, 99).error?.code, 1)

  const verified = call('blockchain.block.header', 5, height).result as {
    header: string
    branch: string[]
    root: string
  }
  t.is(chain.view.blockAt(5)?.headerHex, verified.header)
  t.is(
    climb(chain.view.blockAt(5)?.hash ?? '', verified.branch, 5),
    innerBytes(verified.root).toString('hex')
  )
  const many = call('blockchain.block.headers', 3, 3, height).result as { root: string; branch: string[] }
  t.deepEqual([many.root, many.branch], [verified.root, verified.branch])
  t.is(call('blockchain.block.header', 5, 4).error?.code, 1)
  t.is(call('blockchain.block.header', 5, height + 1).error?.code, 1)
})

test('a script has its history, mempool, balance and coins, before and after a block', t => {
  const chain = makeFundedChain(testWallet)
  const { call, take } = makeClient(chain)
  const [coin] = chain.view.scripts.utxosOf(testWallet.scriptHash)
  const confirmed = { tx_hash: coin?.txid, height: chain.height }
  t.deepEqual(call('blockchain.scripthash.get_history', testWallet.scriptHash).result, [confirmed])
  t.deepEqual(call('blockchain.scripthash.listunspent', testWallet.scriptHash.toUpperCase()).result, [
    { ...confirmed, tx_pos: coin?.index, value: 1_000_000 }
  ])
  const status = createHash('sha256').update(`${coin?.txid}:${chain.height}:`).digest('hex')
  t.is(call('blockchain.scripthash.subscribe', testWallet.scriptHash).result, status)
  t.is(call('blockchain.scripthash.subscribe', other.scriptHash).result, null)

  const raw = signAll(chain, testWallet, { to: other.script, fee: 1000n })
  const txid = call('blockchain.transaction.broadcast', raw).result as string
  const waiting = createHash('sha256').update(`${txid}:0:`).digest('hex')
  const notices = take()
  t.deepEqual(new Set(notices.map(notice => notice.method)), new Set(['blockchain.scripthash.subscribe']))
  t.deepEqual(new Map(notices.map(({ params }) => params as [string, string])).get(other.scriptHash), waiting)
  t.deepEqual(call('blockchain.scripthash.get_balance', testWallet.scriptHash).result, {
    confirmed: 1_000_000,
    unconfirmed: -1_000_000
  })
  t.deepEqual(call('blockchain.scripthash.get_mempool', other.scriptHash).result, [
    { tx_hash: txid, height: 0, fee: 1000 }
  ])
  t.deepEqual(call('blockchain.scripthash.listunspent', testWallet.scriptHash).result, [])
  t.deepEqual(call('blockchain.scripthash.listunspent', other.scriptHash).result, [
    { tx_hash: txid, tx_pos: 0, height: 0, value: 999_000 }
  ])
  t.is(call('blockchain.transaction.get', txid).result, raw)
  t.is(call('blockchain.scripthash.unsubscribe', testWallet.scriptHash).result, true)
  t.is(call('blockchain.scripthash.unsubscribe', testWallet.scriptHash).result, false)
  call('blockchain.headers.subscribe')
  chain.mine()
  t.deepEqual(
    take().map(({ method, params }) => [method, ...(params ?? [])]),
    [
      ['blockchain.headers.subscribe', { hex: chain.view.tip.headerHex, height: chain.height }],
      [
        'blockchain.scripthash.subscribe',
        other.scriptHash,
        createHash('sha256').update(`${txid}:${chain.height}:`).digest('hex')
      ]
    ]
  )
  call('blockchain.headers.subscribe')
  chain.mine()
  chain.broadcast(signAll(chain, other, { to: testWallet.script, fee: 1000n }))
  take()
  chain.reorg(1)
  t.deepEqual(
    take().map(notice => notice.method),
    ['blockchain.headers.subscribe']
  )
  const verbose = call('blockchain.transaction.get', txid, true).result as Record<string, unknown>
  t.deepEqual([verbose.txid, verbose.hex, verbose.confirmations], [txid, raw, 3])
})

test('a refused broadcast says why in the words of a node', t => {
  const chain = makeFundedChain(testWallet)
  const { call } = makeClient(chain)
  const reply = call(
    'blockchain.transaction.broadcast',
    signAll(chain, testWallet, { to: other.script, fee: 1n })
  )
  t.is(reply.error?.code, 1)
  t.regex(
    reply.error?.message ?? '',
    /^the transaction was rejected by network rules\.\n\nmin relay fee not met, 1 < /
  )
  t.regex(call('blockchain.transaction.broadcast', 'zz').error?.message ?? '', /TX decode failed/)
  t.is(call('blockchain.transaction.get', '11'.repeat(32)).error?.code, 2)
})
