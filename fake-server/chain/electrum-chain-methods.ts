import { bytesToHex } from '@noble/hashes/utils.js'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Json, JsonObject } from '../../kernel/base/json.ts'
import type { ChainBlock } from './block.ts'
import type { ChainView, FoundTransaction } from './chain-state.ts'
import { type ElectrumMethod, headerResult } from './electrum-method.ts'
import { RPC, RpcFault } from './json-rpc.ts'
import { merkleBranchOf } from './merkle.ts'
import { isCoinbase } from './transaction.ts'

/** Most headers in one reply, as Electrum servers have it. */
const MAX_HEADERS = 2016

/** The methods of Electrum protocol 1.4 that are about blocks and transactions. */
export const chainMethods: readonly (readonly [string, ElectrumMethod])[] = [
  [
    'blockchain.headers.subscribe',
    {
      params: [],
      call: session => {
        session.watchTip()
        return headerResult(session.chain.view.tip)
      }
    }
  ],
  [
    'blockchain.block.header',
    {
      params: ['height', 'cp_height?'],
      call: ({ chain: { view } }, params) => {
        const height = params.count32(0)
        const checkpoint = params.count32(1, 0)
        const { headerHex } = blockAt(view, height)
        return checkpoint === 0 ? headerHex : { header: headerHex, ...headerProof(view, height, checkpoint) }
      }
    }
  ],
  [
    'blockchain.block.headers',
    {
      params: ['start_height', 'count', 'cp_height?'],
      call: ({ chain: { view } }, params) => {
        const start = params.count32(0)
        const wanted = Math.min(params.count32(1), MAX_HEADERS, Math.max(0, view.height + 1 - start))
        const checkpoint = params.count32(2, 0)
        const headers = Array.from({ length: wanted }, (_, i) => blockAt(view, start + i).headerHex)
        const proof =
          checkpoint === 0 || wanted === 0 ? {} : headerProof(view, start + wanted - 1, checkpoint)
        return { hex: headers.join(''), count: wanted, max: MAX_HEADERS, ...proof }
      }
    }
  ],
  [
    'blockchain.transaction.get',
    {
      params: ['tx_hash', 'verbose?'],
      call: ({ chain: { view } }, params) => {
        const found = view.find(params.txid(0))
        if (found === undefined) throw new RpcFault(RPC.node, UNKNOWN_TRANSACTION)
        return params.flag(1) ? verboseTransaction(view, found) : found.tx.hex
      }
    }
  ],
  [
    'blockchain.transaction.broadcast',
    {
      params: ['raw_tx'],
      call: ({ chain }, params) => {
        try {
          return chain.broadcast(params.text(0))
        } catch (error) {
          if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
          throw new RpcFault(
            RPC.refused,
            `the transaction was rejected by network rules.\n\n${error.details.reason}\n`
          )
        }
      }
    }
  ],
  [
    'blockchain.transaction.get_merkle',
    {
      params: ['tx_hash', 'height'],
      call: ({ chain: { view } }, params) => {
        const txid = params.txid(0)
        const txids = blockAt(view, params.count32(1)).transactions.map(tx => tx.txid)
        const pos = txids.indexOf(txid)
        if (pos < 0) throw new RpcFault(RPC.refused, `tx ${txid} not in block at height ${params.count32(1)}`)
        return { block_height: params.count32(1), merkle: merkleBranchOf(txids, pos).branch, pos }
      }
    }
  ],
  [
    'blockchain.transaction.id_from_pos',
    {
      params: ['height', 'tx_pos', 'merkle?'],
      call: ({ chain: { view } }, params) => {
        const txids = blockAt(view, params.count32(0)).transactions.map(tx => tx.txid)
        const position = params.count32(1)
        const txid = txids[position]
        if (txid === undefined) throw new RpcFault(RPC.refused, `no tx at position ${position} in the block`)
        return params.flag(2) ? { tx_hash: txid, merkle: merkleBranchOf(txids, position).branch } : txid
      }
    }
  ]
]

const UNKNOWN_TRANSACTION =
  'daemon error: No such mempool or blockchain transaction. Use gettransaction for wallet transactions.'

const blockAt = (view: ChainView, height: number): ChainBlock => {
  const block = view.blockAt(height)
  if (block === undefined) throw new RpcFault(RPC.refused, `height ${height} out of range`)
  return block
}

const headerProof = (view: ChainView, height: number, checkpoint: number): JsonObject => {
  if (height > checkpoint || checkpoint > view.height) {
    throw new RpcFault(
      RPC.refused,
      `require header height ${height} <= cp_height ${checkpoint} <= chain height ${view.height}`
    )
  }
  const hashes = Array.from({ length: checkpoint + 1 }, (_, at) => blockAt(view, at).hash)
  const { branch, root } = merkleBranchOf(hashes, height)
  return { branch, root }
}

/** The fields of Bitcoin Core's `getrawtransaction` that wallets read. */
const verboseTransaction = (view: ChainView, { tx, height }: FoundTransaction): Json => {
  const block = height === undefined ? undefined : blockAt(view, height)
  return {
    txid: tx.txid,
    hash: tx.wtxid,
    version: tx.version,
    size: tx.size,
    vsize: tx.vsize,
    weight: tx.weight,
    locktime: tx.lockTime,
    vin: tx.inputs.map(({ txid, index, script, sequence, witness }) => ({
      ...(isCoinbase(tx)
        ? { coinbase: bytesToHex(script) }
        : { txid, vout: index, scriptSig: { hex: bytesToHex(script) } }),
      ...(witness.length > 0 ? { txinwitness: witness.map(item => bytesToHex(item)) } : {}),
      sequence
    })),
    vout: tx.outputs.map(({ amount, script }, n) => ({
      value: Number(amount) / 1e8,
      n,
      scriptPubKey: { hex: bytesToHex(script) }
    })),
    hex: tx.hex,
    ...(block === undefined
      ? {}
      : {
          blockhash: block.hash,
          confirmations: view.height - block.height + 1,
          time: block.header.time,
          blocktime: block.header.time
        })
  }
}
