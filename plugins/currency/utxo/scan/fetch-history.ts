import type { Json } from '../../../../kernel/plugin-api.ts'
import { ElectrumFault } from '../backend/electrum-error.ts'
import type { ElectrumPool } from '../backend/electrum-pool.ts'
import { type HistoryItem, readHistory, readProof, readTxHex } from '../backend/electrum-replies.ts'
import { type BlockHeader, merkleRootOf } from '../tx/header.ts'
import type { ScriptRecord } from './script-record.ts'

/** What has to be asked of the server for one transaction. */
export interface TxQuestion extends HistoryItem {
  readonly needsBytes: boolean
  readonly needsProof: boolean
}

/** What the server answered, with the proof checked. */
export interface TxAnswer extends HistoryItem {
  readonly hex?: string
  /** Of its block. */
  readonly header?: BlockHeader
}

/** Histories of scripts, in one round trip. @throws ElectrumFault, NETWORK */
export const fetchHistories = async (
  pool: ElectrumPool,
  records: readonly ScriptRecord[]
): Promise<readonly (readonly HistoryItem[])[]> => {
  const calls = records.map(({ scripthash }) => ({
    method: 'blockchain.scripthash.get_history',
    params: [scripthash]
  }))
  return (await Promise.all(pool.callMany(calls))).map(readHistory)
}

/**
 * Bytes, headers and Merkle proofs of transactions, in one round trip.
 *
 * A transaction that is said to be in a block is believed only with a branch to that block's header (BIP-37,
 * simplified payment verification).
 *
 * @throws ElectrumFault if a proof fails, NETWORK
 */
export const fetchTxs = async (
  pool: ElectrumPool,
  questions: readonly TxQuestion[]
): Promise<readonly TxAnswer[]> => {
  const asked = questions.filter(({ needsBytes }) => needsBytes)
  const proven = questions.filter(({ needsProof }) => needsProof)
  const bytes = pool.callMany(
    asked.map(({ txid }) => ({ method: 'blockchain.transaction.get', params: [txid] }))
  )
  const proofs = pool.callMany(
    proven.map(({ txid, height }) => ({
      method: 'blockchain.transaction.get_merkle',
      params: [txid, height]
    }))
  )
  let length = 0
  const readHex = async (reply: Promise<Json>, at: number): Promise<string> => {
    const hex = readTxHex(await reply)
    length += hex.length
    if ((asked[at]?.height ?? 0) <= 0 && hex.length > MAX_RELAYED_HEX)
      throw new ElectrumFault('The server sent an unconfirmed transaction that no node relays')
    if (length > MAX_HEX) throw new ElectrumFault('The server sent more than so many transactions can be')
    return hex
  }
  const [hexes, branches, headers] = await Promise.all([
    Promise.all(bytes.map(readHex)),
    Promise.all(proofs),
    pool.headersAt(proven.map(({ height }) => height))
  ])
  const hexByTxid = new Map(asked.map(({ txid }, at) => [txid, hexes[at]]))
  const headerByTxid = new Map<string, BlockHeader>()
  proven.forEach(({ txid, height }, at) => {
    const { path, position } = readProof(branches[at] as Json)
    const header = headers.get(height)
    if (header === undefined || merkleRootOf(txid, path, position) !== header.merkleRoot) {
      throw new ElectrumFault(`The server's proof of ${txid} is wrong`)
    }
    headerByTxid.set(txid, header)
  })
  return questions.map(({ txid, height }) => {
    const hex = hexByTxid.get(txid)
    const header = headerByTxid.get(txid)
    return {
      txid,
      height,
      ...(hex === undefined ? {} : { hex }),
      ...(header === undefined ? {} : { header })
    }
  })
}

/** Digits of one round: 250 transactions of the most that nodes relay, 400,000 weight units each, have 200 million. */
const MAX_HEX = 256_000_000
/** Digits of 400,000 weight units, all of them witness (Bitcoin Core, MAX_STANDARD_TX_WEIGHT). */
const MAX_RELAYED_HEX = 800_000
