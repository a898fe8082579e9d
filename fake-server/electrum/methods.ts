import { bytesToHex } from '@noble/hashes/utils.js'
import { compact } from '../../kernel/base/compact.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Json, JsonObject } from '../../kernel/base/json.ts'
import { type ChainBlock, merkleBranchOf } from '../chain/block.ts'
import type { ChainView, FoundTransaction } from '../chain/chain-state.ts'
import type { FakeChain } from '../chain/fake-chain.ts'
import type { ScriptHistoryItem } from '../chain/script-index.ts'
import { isCoinbase } from '../chain/transaction.ts'
import { type ElectrumParams, RPC, RpcFault } from './json-rpc.ts'
import { serverKinds } from './kinds.ts'

/** A chain that sessions serve: a fake one, or that of a real node, which answers to a broadcast later. */
export interface ServedChain
  extends Pick<FakeChain, 'clock' | 'feeRate' | 'network' | 'onChange' | 'relayFee' | 'view'> {
  /** Gives the txid. @throws BROADCAST_REFUSED with the reason of the node */
  broadcast(text: string): string | Promise<string>
  /** As {@link FakeChain.broadcastPackage}; absent where the node takes no packages. */
  readonly broadcastPackage?: FakeChain['broadcastPackage']
  /** As {@link FakeChain.leastFee}; what is relayed, if left out. */
  readonly leastFee?: number
}

/** The session that calls a method. */
export interface ElectrumSessionState {
  readonly chain: ServedChain
  /** Notifies the client of new tips from now on. */
  watchTip(): void
  /** Notifies the client of changes of a script from now on. @throws RpcFault 1 beyond the limit */
  watchScript(scriptHash: string): string | null
  /** The inverse; false if it was not watched. */
  unwatchScript(scriptHash: string): boolean
  /** True if the client and the server have agreed on this version of the protocol, or on a later one. */
  speaks(version: string): boolean
  /** Gives `empty` if the server sends nothing of a history that is too long. @throws RpcFault if it refuses */
  checkHistoryLength(length: number): 'empty' | 'whole'
}

/** One method of the protocol: the names of its parameters (`?` marks optional ones) and what it does. */
interface ElectrumMethod {
  readonly params: readonly string[]
  /** The version of the protocol that begins to have it. */
  readonly since?: string
  /** The version that has it no more. */
  readonly until?: string
  /** @throws RpcFault, now or later */
  call(session: ElectrumSessionState, params: ElectrumParams): Json | Promise<Json>
}

/** The tip as `blockchain.headers.subscribe` reports it. */
export const headerResult = (block: ChainBlock): JsonObject => ({
  hex: block.headerHex,
  height: block.height
})

/** Most headers in one reply, as Electrum servers have it. */
const MAX_HEADERS = 2016

/** The methods of Electrum protocol 1.4 that are about blocks and transactions. */
const chainMethods: readonly (readonly [string, ElectrumMethod])[] = [
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
      call: (session, params) => {
        const { view } = session.chain
        const start = params.count32(0)
        const wanted = Math.min(params.count32(1), MAX_HEADERS, Math.max(0, view.height + 1 - start))
        const checkpoint = params.count32(2, 0)
        const headers = Array.from({ length: wanted }, (_, i) => blockAt(view, start + i).headerHex)
        const proof =
          checkpoint === 0 || wanted === 0 ? {} : headerProof(view, start + wanted - 1, checkpoint)
        const shown = session.speaks('1.6') ? { headers } : { hex: headers.join('') }
        return { ...shown, count: wanted, max: MAX_HEADERS, ...proof }
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
          const txid = chain.broadcast(params.text(0))
          return typeof txid === 'string' ? txid : txid.catch(asRefusal)
        } catch (error) {
          return asRefusal(error)
        }
      }
    }
  ],
  [
    'blockchain.transaction.broadcast_package',
    {
      params: ['raw_txs', 'verbose?'],
      since: '1.6',
      call: ({ chain }, params) => {
        const texts = params.raw(0)
        if (!Array.isArray(texts) || !texts.every(text => typeof text === 'string'))
          throw new RpcFault(RPC.params, 'expected a list of transactions')
        if (chain.broadcastPackage === undefined) throw new RpcFault(RPC.node, 'the node takes no packages')
        if (params.flag(1)) throw new RpcFault(RPC.params, 'this server has no verbose answers')
        try {
          const refusals = [...chain.broadcastPackage(texts)]
          if (refusals.length === 0) return { success: true }
          return { success: false, errors: refusals.map(([txid, error]) => ({ txid, error })) }
        } catch (error) {
          return asRefusal(error)
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

const asRefusal = (error: unknown): never => {
  if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
  throw new RpcFault(
    RPC.refused,
    `the transaction was rejected by network rules.\n\n${error.details.reason}\n`
  )
}

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
      ...compact({ txinwitness: witness.length > 0 ? witness.map(item => bytesToHex(item)) : undefined }),
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

/** The methods of Electrum protocol 1.4 that are about one script. */
const scriptMethods: readonly (readonly [string, ElectrumMethod])[] = [
  [
    'blockchain.scripthash.subscribe',
    { params: ['scripthash'], call: (session, params) => session.watchScript(params.scriptHash(0)) }
  ],
  [
    'blockchain.scripthash.unsubscribe',
    { params: ['scripthash'], call: (session, params) => session.unwatchScript(params.scriptHash(0)) }
  ],
  [
    'blockchain.scripthash.get_history',
    {
      params: ['scripthash'],
      call: (session, params) => {
        const history = session.chain.view.scripts.historyOf(params.scriptHash(0))
        return session.checkHistoryLength(history.length) === 'empty' ? [] : history.map(historyResult)
      }
    }
  ],
  [
    'blockchain.scripthash.get_mempool',
    {
      params: ['scripthash'],
      call: ({ chain }, params) => chain.view.scripts.waitingOf(params.scriptHash(0)).map(historyResult)
    }
  ],
  [
    'blockchain.scripthash.get_balance',
    {
      params: ['scripthash'],
      call: ({ chain }, params) => {
        const { confirmed, unconfirmed } = chain.view.scripts.balanceOf(params.scriptHash(0))
        return { confirmed: Number(confirmed), unconfirmed: Number(unconfirmed) }
      }
    }
  ],
  [
    'blockchain.scripthash.listunspent',
    {
      params: ['scripthash'],
      call: (session, params) => {
        const coins = session.chain.view.scripts.utxosOf(params.scriptHash(0))
        session.checkHistoryLength(coins.length)
        return coins.map(({ txid, index, height, amount }) => ({
          tx_hash: txid,
          tx_pos: index,
          height,
          value: Number(amount)
        }))
      }
    }
  ]
]

const historyResult = ({ txid, height, fee }: ScriptHistoryItem): Json => ({
  tx_hash: txid,
  height,
  ...compact({ fee: fee === undefined ? undefined : Number(fee) })
})

/** The methods of Electrum protocol 1.4 that are about the server and its network. */
const serverMethods: readonly (readonly [string, ElectrumMethod])[] = [
  ['server.banner', { params: [], call: () => 'This is a fake network. Its coins are worth nothing.' }],
  ['server.donation_address', { params: [], call: () => '' }],
  ['server.peers.subscribe', { params: [], call: () => [] }],
  ['server.ping', { params: [], call: () => null }],
  [
    'server.features',
    {
      params: [],
      call: ({ chain }) => ({
        hosts: {},
        pruning: null,
        server_version: serverKinds.ours.software,
        protocol_min: serverKinds.ours.versions[0],
        protocol_max: serverKinds.ours.versions[1],
        genesis_hash: chain.network.genesis.hash,
        hash_function: 'sha256'
      })
    }
  ],
  [
    'blockchain.estimatefee',
    {
      params: ['number', 'mode?'],
      call: ({ chain }, params) => {
        const rate = chain.feeRate(Math.max(1, params.count32(0)))
        return rate === undefined ? -1 : Math.round(rate * 1000) / 1e8
      }
    }
  ],
  ['blockchain.relayfee', { params: [], until: '1.6', call: ({ chain }) => chain.relayFee / 1e8 }],
  [
    'mempool.get_info',
    {
      params: [],
      since: '1.6',
      call({ chain }) {
        const relay = chain.relayFee / 1e8
        const least = (chain.leastFee ?? chain.relayFee) / 1e8
        return { mempoolminfee: least, minrelaytxfee: relay, incrementalrelayfee: relay }
      }
    }
  ],
  [
    'mempool.get_fee_histogram',
    {
      params: [],
      call: ({ chain }) => {
        const sizes = new Map<number, number>()
        for (const { tx, fee } of chain.view.mempool.entries()) {
          const rate = Math.floor(Number(fee) / tx.vsize)
          sizes.set(rate, (sizes.get(rate) ?? 0) + tx.vsize)
        }
        return [...sizes].sort(([a], [b]) => b - a)
      }
    }
  ]
]

/**
 * Agrees on a version of the protocol.
 *
 * @param wanted - one version, or the lowest and the highest that the client knows
 * @param known - the lowest and the highest of the server
 * @throws RpcFault 1 if there is none that both know
 */
export const negotiateVersion = (
  wanted: Json | undefined,
  known: readonly [string, string] = serverKinds.ours.versions
): string => {
  const [lowest = [], highest = []] = known.map(parseVersion)
  const range = Array.isArray(wanted) ? (wanted as readonly Json[]) : [wanted ?? '1.4', wanted ?? '1.4']
  const [low, high] = range.map(parseVersion)
  if (range.length !== 2 || low === undefined || high === undefined) {
    throw new RpcFault(
      RPC.refused,
      `unsupported protocol version: ${JSON.stringify(wanted ?? null).slice(0, 80)}`
    )
  }
  const agreed = compare(high, highest) < 0 ? high : highest
  if (compare(agreed, lowest) < 0 || compare(agreed, low) < 0) {
    throw new RpcFault(
      RPC.refused,
      `unsupported protocol version: ${JSON.stringify(wanted ?? null).slice(0, 80)}`
    )
  }
  return agreed.join('.')
}

const parseVersion = (value: Json | undefined): readonly number[] | undefined =>
  typeof value === 'string' && /^\d{1,4}(\.\d{1,4}){0,3}$/.test(value)
    ? value.split('.').map(Number)
    : undefined

/** Compares two versions of the protocol: below 0 if the first is older. */
export const compareVersions = (a: string, b: string): number =>
  compare(parseVersion(a) ?? [], parseVersion(b) ?? [])

const compare = (a: readonly number[], b: readonly number[]): number => {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Every method of Electrum protocols 1.4 to 1.6 but `server.version`, which the session answers itself. */
export const electrumMethods: ReadonlyMap<string, ElectrumMethod> = new Map([
  ...serverMethods,
  ...chainMethods,
  ...scriptMethods
])
