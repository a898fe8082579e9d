import {
  type Clock,
  type Io,
  type Json,
  type SigningOptions,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { hexOf, isTxHash, parseRawTx, type RawTx } from '../chain/transaction.ts'
import { ElectrumFault, type UnspentItem } from '../electrum/connection.ts'
import { readTxHex } from '../electrum/replies.ts'
import { NodeRefusal, type NodeRpc } from './node-rpc.ts'
import { asObject } from './polled-connection.ts'

/** How a search of all coins of a node is followed and stopped. */
export interface CoinSearch extends SigningOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly crypto: Pick<Io['crypto'], 'fromHex'>
  /** The URL of the node, for messages. */
  readonly url: string
}

/** Coins that a node has found. */
export interface FoundCoins {
  /** In the order of the scripts. */
  readonly coins: readonly (readonly UnspentItem[])[]
  /** The block of each payment that left one: the node finds its bytes there alone. */
  readonly blocks: ReadonlyMap<string, string>
}

/**
 * Lets a node without an index look through all unspent outputs for those of some scripts; on a main network that takes minutes, and a
 * node makes one such search at a time. Incoming ones are found in its mempool, payment by payment, unless that has more than
 * {@link MAX_WAITING}; what a payment there spends is left out.
 *
 * @throws NETWORK while another search goes on, or if this one is stopped elsewhere; SIGN_STOPPED; NOT_SUPPORTED; ElectrumFault
 */
export const searchCoins = async (
  rpc: NodeRpc,
  scripts: readonly Uint8Array[],
  search: CoinSearch
): Promise<FoundCoins> => {
  const wanted = scripts.map(hexOf)
  const found = new Map<string, UnspentItem[]>(wanted.map(script => [script, []]))
  const reply = await followed(rpc, search, () =>
    rpc.node('scantxoutset', ['start', wanted.map(script => `raw(${script})`)], SEARCH_MS)
  )
  const { success, unspents } = asObject(reply)
  if (success !== true) throw problem(search, 'its search for coins was stopped')
  const items = readUnspents(unspents)
  await checkPruned(rpc, items)
  const hashes = await blocksOf(rpc, items)
  const confirmed = new Set(items.map(({ txid }) => txid))
  const waiting = (await waitingFor(rpc, found, search)).filter(({ txid }) => !confirmed.has(txid))
  const all = [...items, ...waiting]
  const spent = await spentOf(rpc, all)
  for (const item of all) if (!spent.has(item)) found.get(item.script)?.push(item)
  return {
    coins: wanted.map(script => found.get(script) ?? []),
    blocks: new Map(items.map(({ txid, height }) => [txid, hashes.get(height) ?? '']))
  }
}

/** Starts a search, says how far it is, and has the node stop it once the signal aborts. */
const followed = async (rpc: NodeRpc, search: CoinSearch, start: () => Promise<Json>): Promise<Json> => {
  const { clock, signal, onProgress } = search
  if (signal?.aborted === true) throw new WalletError('SIGN_STOPPED', {})
  let isOver = false
  let cancel = (): void => undefined
  const look = (): void => {
    cancel = clock.after(LOOK_MS, async () => {
      // A look that fails says nothing of the search.
      const { progress } = asObject(await rpc.node('scantxoutset', ['status']).catch(() => null))
      if (isOver) return
      if (typeof progress === 'number') onProgress?.(Math.min(1, Math.max(0, progress / 100)))
      look()
    })
  }
  let stop = (): void => undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => {
      rpc.node('scantxoutset', ['abort']).catch(() => undefined)
      reject(new WalletError('SIGN_STOPPED', {}))
    }
  })
  const started = start()
  signal?.addEventListener('abort', stop)
  look()
  try {
    return await Promise.race([started, stopped])
  } catch (error) {
    started.catch(() => undefined)
    if (error instanceof NodeRefusal && error.code === BUSY)
      throw problem(
        search,
        'it searches its coins for something else already, and makes one search at a time: try again when that has ended, or end it with "scantxoutset abort"'
      )
    if (error instanceof NodeRefusal && error.code === NO_METHOD)
      throw new WalletError('NOT_SUPPORTED', {
        what: 'finding the coins of a foreign key with this node, which knows no scantxoutset; name a server of Electrum or Esplora'
      })
    throw error
  } finally {
    isOver = true
    cancel()
    signal?.removeEventListener('abort', stop)
  }
}

const problem = ({ url: server }: CoinSearch, reason: string): WalletError =>
  new WalletError('NETWORK', { path: 'node', server, reason })

interface FoundItem extends UnspentItem {
  readonly script: string
}

const readUnspents = (unspents: Json | undefined): readonly FoundItem[] => {
  if (!Array.isArray(unspents) || unspents.length > MAX_COINS)
    throw new ElectrumFault('The node sent a bad list of coins')
  return (unspents as readonly Json[]).map(item => {
    const { txid, vout, height, scriptPubKey: script } = asObject(item)
    const isPlace = [vout, height].every(place => Number.isSafeInteger(place) && Number(place) >= 0)
    if (!isTxHash(txid) || !isPlace || typeof script !== 'string')
      throw new ElectrumFault('The node sent a bad list of coins')
    return { txid, vout: Number(vout), height: Number(height), script }
  })
}

/** The outputs of the mempool that pay to some scripts. @throws SIGN_STOPPED */
const waitingFor = async (
  rpc: NodeRpc,
  scripts: ReadonlyMap<string, unknown>,
  { crypto, signal }: CoinSearch
): Promise<readonly FoundItem[]> => {
  const { size } = asObject(await rpc.node('getmempoolinfo'))
  const txids = Number(size) <= MAX_WAITING ? await rpc.node('getrawmempool') : []
  if (!Array.isArray(txids) || !txids.every(isTxHash))
    throw new ElectrumFault('The node sent a bad list of payments')
  const found: FoundItem[] = []
  for (let at = 0; at < txids.length; at += AT_ONCE) {
    if (signal?.aborted === true) throw new WalletError('SIGN_STOPPED', {})
    const calls = txids
      .slice(at, at + AT_ONCE)
      .map(txid => ({ method: 'getrawtransaction', params: [txid, false] }))
    for (const reply of await rpc.many(calls)) {
      // One that has left the mempool since is refused.
      if (reply instanceof NodeRefusal) continue
      const { txid = '', outputs = [] } = readTx(crypto.fromHex(readTxHex(reply))) ?? {}
      for (const [vout, output] of outputs.entries()) {
        const script = hexOf(output.script)
        if (scripts.has(script)) found.push({ txid, vout, height: 0, script })
      }
    }
  }
  return found
}

/** A transaction; undefined for one of a form that is not known, such as Litecoin's private ones. */
const readTx = (bytes: Uint8Array): RawTx | undefined => {
  try {
    return parseRawTx(bytes)
  } catch {
    return undefined
  }
}

/** A coin's bytes are in its block. @throws NOT_SUPPORTED */
const checkPruned = async (rpc: NodeRpc, items: readonly FoundItem[]): Promise<void> => {
  const { pruned, pruneheight } = asObject(await rpc.node('getblockchaininfo'))
  if (pruned === true && items.some(({ height }) => height < Number(pruneheight)))
    throw new WalletError('NOT_SUPPORTED', {
      what: 'sweeps of coins in blocks that the node has deleted (it is pruned); name a server of Electrum or Esplora'
    })
}

const spentOf = async (rpc: NodeRpc, items: readonly FoundItem[]): Promise<ReadonlySet<FoundItem>> => {
  const outputs = await rpc.many(
    items.map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] }))
  )
  return new Set(items.filter((_item, at) => outputs[at] === null))
}

const blocksOf = async (rpc: NodeRpc, items: readonly FoundItem[]): Promise<ReadonlyMap<number, string>> => {
  const heights = [...new Set(items.map(({ height }) => height))]
  const hashes = await rpc.many(heights.map(height => ({ method: 'getblockhash', params: [height] })))
  return new Map(
    heights.map((height, at) => {
      const hash = hashes[at]
      if (!isTxHash(hash)) throw new ElectrumFault('The node does not have the block of a coin')
      return [height, hash]
    })
  )
}

/** "Scan already in progress" (RPC_INVALID_PARAMETER). */
const BUSY = -8
const NO_METHOD = -32601
const LOOK_MS = 1000
const SEARCH_MS = 30 * 60_000
const MAX_COINS = 100_000
/** So many payments are read in about a minute. */
const MAX_WAITING = 100_000
const AT_ONCE = 50
