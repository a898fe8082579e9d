import {
  type CryptoPort,
  compact,
  type Json,
  type JsonObject,
  type Txid
} from '../../../../kernel/plugin-api.ts'
import { parseHeader } from '../chain/header.ts'
import { readMergedWork } from '../chain/merged-work.ts'
import { isTxHash } from '../chain/transaction.ts'
import type { HeaderForm, NetworkRow } from '../params/coin.ts'
import { ElectrumFault, type UnspentItem } from './connection.ts'

/** A transaction in the history of a script. `height`: 0 or less while unconfirmed. */
export interface HistoryItem {
  readonly txid: Txid
  readonly height: number
}

/** A Merkle branch. */
export interface MerkleProof {
  readonly path: readonly string[]
  readonly position: number
}

const HEX = /^(?:[0-9a-f]{2})+$/
const MAX_HISTORY = 100_000
const MAX_TX_HEX = 8_000_000
/** A header of Dogecoin has the coinbase of another chain in it. */
const MAX_HEADER_HEX = 200_000

/** The status of a script: a hash, or null while unused. @throws ElectrumFault */
export const readStatus = (reply: Json | undefined): string | null => {
  if (reply === null || isTxHash(reply)) return reply
  throw new ElectrumFault('The server sent a bad script status')
}

/** The history of a script. @throws ElectrumFault */
export const readHistory = (reply: Json): readonly HistoryItem[] => {
  if (!Array.isArray(reply) || reply.length > MAX_HISTORY)
    throw new ElectrumFault('The server sent a bad history')
  const heights = new Map<string, number>()
  for (const item of reply as readonly Json[]) {
    const { tx_hash: txid, height } = asObject(item)
    const known = isTxHash(txid) ? heights.get(txid) : undefined
    // Right after a block a server may still have what it mined among what waits.
    const isTwice = known !== undefined && known > 0 && Number(height) > 0
    if (!isTxHash(txid) || !isHeight(height) || isTwice) {
      throw new ElectrumFault('The server sent a bad history')
    }
    heights.set(txid, Math.max(known ?? 0, height))
  }
  return [...heights].map(([txid, height]) => ({ txid, height }))
}

/** The status that Electrum servers give to a history: the same for the same payments in the same order, null for none. */
export const statusOf = (crypto: CryptoPort, history: readonly HistoryItem[]): string | null => {
  if (history.length === 0) return null
  // Letters that are one byte each.
  const text = history.map(({ txid, height }) => `${txid}:${height}:`).join('')
  return crypto.toHex(crypto.sha256(Uint8Array.from(text, letter => letter.charCodeAt(0))))
}

/** The unspent outputs of a script. @throws ElectrumFault */
export const readUnspent = (reply: Json): readonly UnspentItem[] => {
  if (!Array.isArray(reply) || reply.length > MAX_HISTORY)
    throw new ElectrumFault('The server sent a bad list of coins')
  return (reply as readonly Json[]).map(item => {
    const { tx_hash: txid, tx_pos: vout, height } = asObject(item)
    if (!isTxHash(txid) || !isHeight(height) || !isHeight(vout) || vout < 0)
      throw new ElectrumFault('The server sent a bad list of coins')
    return { txid, vout, height }
  })
}

/** The hex of a transaction; its id is still to be checked. @throws ElectrumFault */
export const readTxHex = (reply: Json): string => readHex(reply, MAX_TX_HEX, 'transaction')

/** The hex of a block header. @throws ElectrumFault */
export const readHeaderHex = (reply: Json): string => readHex(reply, MAX_HEADER_HEX, 'block header')

/** Headers that follow each other, of protocol 1.4 or 1.6, with the work of another chain where they have that. @throws ElectrumFault */
export const readHeaders = (
  crypto: Pick<CryptoPort, 'fromHex'>,
  reply: Json,
  { most, headerForm }: { readonly most: number; readonly headerForm?: HeaderForm | undefined }
): readonly Uint8Array[] => {
  const { hex, headers: listed } = asObject(reply)
  const text = Array.isArray(listed) ? listed.join('') : hex
  if (text === '') return []
  const isMerged = headerForm === 'auxpow'
  const mostHex = most * 2 * (isMerged ? MAX_MERGED : PLAIN)
  const all = crypto.fromHex(readHex(text ?? null, mostHex, 'list of block headers'))
  const headers: Uint8Array[] = []
  for (let at = 0; at < all.length; ) {
    const length = isMerged ? mergedLength(all.subarray(at)) : PLAIN
    if (at + length > all.length) throw new ElectrumFault('The server sent a bad list of block headers')
    headers.push(all.slice(at, at + length))
    at += length
  }
  return headers
}

const PLAIN = 80
/** Bytes of a header of Dogecoin on average; 500 to 1,200 are usual. */
const MAX_MERGED = 4000

const mergedLength = (bytes: Uint8Array): number => {
  try {
    return readMergedWork(bytes)?.length ?? PLAIN
  } catch {
    throw new ElectrumFault('The server sent a bad list of block headers')
  }
}

/** The oldest version of the protocol that is spoken here. */
export const OLDEST = '1.4'
/** The newest one. */
export const NEWEST = '1.6'

/** What the version that a server has agreed to allows. */
export interface SpokenVersion {
  /** Scripts can be unsubscribed. */
  readonly canForget: boolean
  /** The least fee is in `mempool.get_info`, and no longer in `blockchain.relayfee`. */
  readonly hasMempoolInfo: boolean
  /** A payment can be sent together with those that it spends. */
  readonly takesPackages: boolean
}

/** The version that a server has agreed to. @throws ElectrumFault for one that is not spoken here */
export const readVersion = (reply: Json | undefined): SpokenVersion => {
  const [, version] = Array.isArray(reply) ? (reply as readonly Json[]) : []
  // 1.5 is spoken by servers of Bitcoin Cash.
  const [, middle, last = '0'] =
    /^1\.([456])(?:\.(\d{1,3}))?$/.exec(typeof version === 'string' ? version : '') ?? []
  if (middle === undefined || (middle === '6' && last !== '0'))
    throw new ElectrumFault('The server speaks no protocol from 1.4 to 1.6')
  const isNewest = middle === '6'
  return {
    canForget: middle !== '4' || Number(last) >= 2,
    ...{ hasMempoolInfo: isNewest, takesPackages: isNewest }
  }
}

/** The least fee rate that a server relays, of either form, as {@link readFeeRate} gives it; undefined if it says nonsense. */
export const readRelayFee = (reply: Json): bigint | undefined => {
  if (typeof reply === 'number') return readFeeRate(reply)
  const { mempoolminfee, minrelaytxfee } = asObject(reply)
  const rates = [mempoolminfee, minrelaytxfee].flatMap(rate => readFeeRate(rate ?? null) ?? [])
  return rates.reduce<bigint | undefined>(
    (most, rate) => (most === undefined || rate > most ? rate : most),
    undefined
  )
}

/** Asks a node for what Electrum servers are asked for by the histories of scripts: its answer is read by {@link readAncestors}. */
export const UNCONFIRMED_ANCESTORS = 'node.unconfirmed_ancestors'

/** An unconfirmed transaction with its fee in native units. */
export interface Ancestor {
  readonly txid: Txid
  readonly weight: number
  readonly fee: bigint
}

/** A payment and the unconfirmed ones that it is built on, as a node says. @throws ElectrumFault */
export const readAncestors = (reply: Json): readonly Ancestor[] => {
  if (!Array.isArray(reply)) throw new ElectrumFault('The node sent a bad list of payments')
  return (reply as readonly Json[]).map(item => {
    const { txid, vsize, fee } = asObject(item)
    // Nodes relay no larger ones (Bitcoin Core, MAX_STANDARD_TX_WEIGHT), and no fee is a thousand coins.
    const isSize = Number.isSafeInteger(vsize) && Number(vsize) > 0 && Number(vsize) <= 100_000
    if (!isTxHash(txid) || !isSize || typeof fee !== 'number' || !(fee >= 0 && fee < 1000))
      throw new ElectrumFault('The node sent a bad list of payments')
    return { txid, weight: Number(vsize) * 4, fee: BigInt(Math.round(fee * 100_000_000)) }
  })
}

/** The reasons why payments of a package were refused, by txid; empty if the network has all. @throws ElectrumFault */
export const readPackage = (reply: Json): ReadonlyMap<string, string> => {
  const { success, errors = [] } = asObject(reply)
  if (success === true) return new Map()
  const refusals = new Map<string, string>()
  for (const item of Array.isArray(errors) ? (errors as readonly Json[]).slice(0, 100) : []) {
    const { txid, error } = asObject(item)
    if (isTxHash(txid) && typeof error === 'string') refusals.set(txid, error.slice(0, 500))
  }
  if (success === false && refusals.size > 0) return refusals
  throw new ElectrumFault('The server does not say what has become of a package')
}

/** The blocks by which a chain is told from others: the first one, and the checkpoint. */
export const knownBlocksOf = ({
  genesis,
  genesisDigest = genesis,
  checkpoint
}: NetworkRow): readonly NonNullable<NetworkRow['checkpoint']>[] => [
  { height: 0, hash: genesisDigest },
  ...(checkpoint === undefined ? [] : [checkpoint])
]

/** Checks the headers of the known blocks. @throws ElectrumFault if the server is of another chain */
export const checkKnownBlocks = (
  crypto: CryptoPort,
  network: NetworkRow,
  headers: readonly (Json | undefined)[]
): void => {
  const { name, headerForm } = network
  for (const [at, { hash }] of knownBlocksOf(network).entries()) {
    const bytes = crypto.fromHex(readHeaderHex(headers[at] ?? null))
    // Its hash is known, which says more than its work.
    if (parseHeader(bytes, compact({ headerForm })).hash !== hash)
      throw new ElectrumFault(`The server is not of ${name}`)
  }
}

/** The tip: its height and header hex. @throws ElectrumFault */
export const readTip = (reply: Json | undefined): { readonly height: number; readonly hex: string } => {
  const { height, hex } = asObject(reply ?? null)
  if (!isHeight(height) || height < 0) throw new ElectrumFault('The server sent a bad tip')
  return { height, hex: readHeaderHex(hex ?? null) }
}

/** A Merkle branch. @throws ElectrumFault */
export const readProof = (reply: Json): MerkleProof => {
  const { merkle, pos } = asObject(reply)
  if (!Array.isArray(merkle) || merkle.length > 32 || !merkle.every(isTxHash) || !isHeight(pos) || pos < 0) {
    throw new ElectrumFault('The server sent a bad Merkle proof')
  }
  return { path: merkle as readonly string[], position: pos }
}

/**
 * A fee rate in native units per 1000 bytes, from coins per 1000 bytes.
 *
 * The protocol has a JSON number here; it is rounded to whole units once and never used as a fraction.
 * undefined if the server has no estimate (-1) or says nonsense.
 */
export const readFeeRate = (reply: Json): bigint | undefined => {
  if (typeof reply !== 'number' || !(reply > 0) || reply > 100) return undefined
  return BigInt(Math.round(reply * 1e8))
}

const isHeight = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= -1 && value < 500_000_000

const readHex = (reply: Json, limit: number, what: string): string => {
  if (typeof reply === 'string' && reply.length <= limit) {
    const hex = reply.toLowerCase()
    if (HEX.test(hex)) return hex
  }
  throw new ElectrumFault(`The server sent a bad ${what}`)
}

const asObject = (value: Json): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
