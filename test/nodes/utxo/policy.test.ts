import { p2pkh, p2sh, p2wpkh, p2wsh } from '@scure/btc-signer'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import test from 'ava'
import { LITECOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { ChainState } from '../../../fake-server/chain/chain-state.ts'
import { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { Faucet } from '../../../fake-server/chain/faucet.ts'
import { dustLimitOf } from '../../../fake-server/chain/script.ts'
import { isWalletError, nativeAmount } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, type TestWallet } from '../../plugins/currency/utxo-world.ts'
import type { LabNode } from './lab-nodes.ts'
import { type NodeLab, withNode } from './node-lab.ts'

const FORMATS = ['bip44', 'bip49', 'bip84'] as const
const ONE = 100_000_000n

const addressOf = async ({ engine }: TestWallet): Promise<string> =>
  (await engine.getFreshAddress({ tokenId: null })).publicAddress

/** The blocks of the node as a fake chain, which judges transactions by itself. */
const copyOf = ({ chain: { view } }: NodeLab): FakeChain => {
  const state = new ChainState(LITECOIN_REGTEST)
  for (let height = 1; height <= view.height; height += 1) {
    const block = view.blockAt(height)
    if (block !== undefined) state.connect(block)
  }
  const io = makeNodeIo()
  const faucet = new Faucet(LITECOIN_REGTEST, new Uint8Array(32).fill(1))
  return new FakeChain(state, faucet, { clock: io.clock, random: size => io.random(size) })
}

/** What the node says of a transaction it is not given yet: the reason, or undefined if it would take it. */
const refusalOf = async (node: LabNode, signedTx: string): Promise<string | undefined> => {
  const [verdict] = await node.call('testmempoolaccept', [signedTx])
  return verdict.allowed ? undefined : verdict['reject-reason']
}

withNode(
  test,
  'a Litecoin node pays our addresses and takes our payments and memos, for the fee we say',
  async (t, lab) => {
    const { node } = lab
    const offline = makeTestWorld({ plugin: litecoin })
    t.teardown(() => offline.close())
    const keys = await Promise.all(
      FORMATS.map(async format => (await offline.openWallet({ format, isStarted: false })).privateKeys)
    )
    for (const privateKeys of keys) {
      const address = await addressOf(await offline.openWallet({ keys: privateKeys, isStarted: false }))
      t.like(await node.call('validateaddress', address), { isvalid: true, address })
      await lab.pay(address, 1)
    }
    await lab.mine(1)
    const world = makeTestWorld({ plugin: litecoin, chain: copyOf(lab) })
    t.teardown(() => world.close())
    const left: bigint[] = []
    const txids: string[] = []
    const memo = { type: 'text', value: `=:BTC.BTC:${'x'.repeat(70)}` } as const
    for (const privateKeys of keys) {
      const wallet = await world.openWallet({ keys: privateKeys })
      t.is(wallet.balance(), String(ONE))
      const payees: string[] = []
      for (const type of ['legacy', 'p2sh-segwit', 'bech32'])
        payees.push(await node.call('getnewaddress', '', type))
      const spendTargets = payees.map(publicAddress => ({
        publicAddress,
        nativeAmount: nativeAmount('1000000')
      }))
      const draftAt = (networkFeeOption: 'high' | 'low') =>
        wallet.engine.makeSpend({ tokenId: null, spendTargets, memos: [memo], networkFeeOption }, {})
      const signed = await wallet.engine.signTx(await draftAt('low'), privateKeys)
      const dearer = await wallet.engine.signTx(await draftAt('high'), privateKeys)
      const [verdict] = await node.call('testmempoolaccept', [signed.signedTx])
      t.true(verdict.allowed, JSON.stringify(verdict))
      t.is(BigInt(Math.round(verdict.fees.base * 1e8)), BigInt(signed.networkFee))
      t.is(await node.call('sendrawtransaction', signed.signedTx), signed.txid)
      t.is(world.chain.broadcast(signed.signedTx), signed.txid)
      const { vout } = await node.call('decoderawtransaction', signed.signedTx)
      t.deepEqual(
        vout.slice(0, 4).map(({ scriptPubKey: { type, addresses } }: Output) => addresses?.[0] ?? type),
        [...payees, 'nulldata']
      )
      // A second payment of the same coin is refused, however much more it offers and whatever it signals.
      t.is(await refusalOf(node, dearer.signedTx), 'txn-mempool-conflict')
      const refused = t.throws(() => world.chain.broadcast(dearer.signedTx))
      t.true(isWalletError(refused, 'BROADCAST_REFUSED') && refused.details.reason === 'txn-mempool-conflict')
      left.push(ONE - 3_000_000n - BigInt(signed.networkFee))
      txids.push(signed.txid)
    }
    await lab.mine(1)
    const later = makeTestWorld({ plugin: litecoin, chain: copyOf(lab) })
    t.teardown(() => later.close())
    for (const [at, privateKeys] of keys.entries()) {
      const wallet = await later.openWallet({ keys: privateKeys })
      t.is(wallet.balance(), String(left[at]))
      const reported = wallet.reported.txs.get(txids[at] ?? '')
      t.deepEqual(reported?.memos, [{ ...memo, memoName: 'OP_RETURN' }])
      t.true((reported?.blockHeight ?? 0) > 0)
    }
  }
)

withNode(
  test,
  'the dust of our coin row, of our fake chain and of the node are the same, to one litoshi',
  async (t, lab) => {
    const { node } = lab
    const pubkey = pubECDSA(new Uint8Array(32).fill(3))
    const { prefixes } = LITECOIN_REGTEST
    const payments = [
      p2pkh(pubkey, prefixes),
      p2sh(p2wpkh(pubkey, prefixes), prefixes),
      p2wpkh(pubkey, prefixes),
      p2wsh(p2pkh(pubkey, prefixes), prefixes)
    ]
    const world = makeTestWorld({ plugin: litecoin })
    t.teardown(() => world.close())
    const wallet = await world.openWallet({ isStarted: false })
    const [coin] = await node.call('listunspent')
    const change = await node.call('getnewaddress')
    const refusalAt = async (address: string, amount: bigint): Promise<string | undefined> => {
      const outputs = [{ [address]: Number(amount) / 1e8 }, { [change]: coin.amount - 0.01 }]
      const raw = await node.call('createrawtransaction', [{ txid: coin.txid, vout: coin.vout }], outputs)
      // More than a hundredth is left for the fee, which is no concern here.
      const [verdict] = await node.call(
        'testmempoolaccept',
        [(await node.call('signrawtransactionwithwallet', raw)).hex],
        0
      )
      return verdict.allowed ? undefined : verdict['reject-reason']
    }
    for (const { address = '', script } of payments) {
      const spendTargets = [{ publicAddress: address, nativeAmount: nativeAmount('1') }]
      const error = await t.throwsAsync(async () =>
        wallet.engine.makeSpend({ tokenId: null, spendTargets }, {})
      )
      const minimum = isWalletError(error, 'DUST_SPEND') ? BigInt(error.details.minimum ?? 0) : 0n
      t.is(minimum, dustLimitOf(script, LITECOIN_REGTEST))
      t.is(await refusalAt(address, minimum - 1n), 'dust')
      t.is(await refusalAt(address, minimum), undefined)
    }
  }
)

interface Output {
  readonly scriptPubKey: { readonly type: string; readonly addresses?: readonly string[] }
}
