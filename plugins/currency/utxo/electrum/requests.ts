import {
  compact,
  type EngineTransaction,
  type Json,
  type PaymentSight,
  type Txid,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { type BlockHeader, merkleBranchRoot } from '../chain/header.ts'
import { ChainRefusal } from '../chain/header-chain.ts'
import { type Ledger, type ReservedCoins, type ReservedPayment, rivalOf } from '../wallet/ledger.ts'
import type { ScriptRecord } from '../wallet/scripts.ts'
import { ElectrumFault, ElectrumRefusal, NotSent } from './connection.ts'
import type { ElectrumPool } from './pool.ts'
import { type HistoryItem, readHistory, readPackage, readProof, readTxHex } from './replies.ts'
import type { WalletSeat } from './spread.ts'

/**
 * Sends signed bytes to the network. Sending the same bytes again is harmless.
 *
 * If the connection is gone before the bytes have left, the server that the wallet has next gets them, once. What a node refuses alone
 * is sent once more with the unconfirmed payments that it spends, where the server takes that: those may pay less than nodes keep, and
 * it for them.
 *
 * @param parents - the bytes of those payments
 * @throws BROADCAST_REFUSED if a node says no and does not have the transaction; NETWORK if nobody could be asked
 */
export const broadcast = async (
  seat: Pick<WalletSeat, 'pool' | 'ready'>,
  transaction: EngineTransaction,
  parents: readonly string[] = []
): Promise<void> => {
  let lost: NotSent | undefined
  // A payment waits for a server that comes back. Through a proxy both waits together are still within the minute that a call may take.
  for (const waitMs of [SEND_MS, AGAIN_MS]) {
    await seat.ready(waitMs, true)
    try {
      return await send(seat.pool, transaction, parents)
    } catch (error) {
      if (!(error instanceof NotSent)) throw error
      lost = error
    }
  }
  const server = seat.pool.serverUrl
  throw new WalletError('NETWORK', { path: 'electrum', ...compact({ server, reason: lost?.message }) }, lost)
}

/** Sends signed bytes to the server of a pool. @throws NotSent if its connection is gone already */
const send = async (
  pool: ElectrumPool,
  { txid, signedTx }: EngineTransaction,
  parents: readonly string[]
): Promise<void> => {
  if (!pool.isReady) throw new NotSent(new Error('The connection is closed'))
  const [sent] = pool.callMany([{ method: 'blockchain.transaction.broadcast', params: [signedTx] }])
  try {
    await sent
  } catch (error) {
    if (!(error instanceof ElectrumRefusal)) throw error
    if (KNOWN.test(error.message) || (await hasTransaction(pool, txid, signedTx))) return
    if (isServerFault(error.code)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    const isMissed = parents.length > 0 && parents.length <= MAX_PARENTS && pool.takesPackages
    const refusal = isMissed ? await sendTogether(pool, { txid, texts: [...parents, signedTx] }) : undefined
    if (refusal === '') return
    throw new WalletError('BROADCAST_REFUSED', { txid, reason: nodeReasonOf(refusal ?? error.message) })
  }
}

/** Nodes take packages of 25 (Bitcoin Core, MAX_PACKAGE_COUNT). */
const MAX_PARENTS = 24

/**
 * Sends a payment together with its parents, which stand before it.
 *
 * @returns why it was refused, or else why a parent was; empty if the network has it; undefined if the server sent nothing
 */
const sendTogether = async (
  pool: ElectrumPool,
  { txid, texts }: { readonly txid: Txid; readonly texts: readonly string[] }
): Promise<string | undefined> => {
  const [sent] = pool.callMany([{ method: 'blockchain.transaction.broadcast_package', params: [texts] }])
  try {
    const refusals = readPackage((await sent) ?? null)
    if (refusals.size === 0) return ''
    const reason = refusals.get(txid) ?? [...refusals.values()][0] ?? ''
    // A parent that another payment has beaten, or one that was mined, may not keep the child out.
    return KNOWN.test(reason) || (await hasTransaction(pool, txid, texts.at(-1) ?? '')) ? '' : reason
  } catch (error) {
    if (!(error instanceof ElectrumRefusal)) throw error
    return undefined
  }
}

const SEND_MS = 15_000
const AGAIN_MS = 3000
const KNOWN =
  /already.in.(block.?chain|mempool|utxo)|txn-already-(in-mempool|known)|outputs already in utxo set/i

// JSON-RPC's own codes and ElectrumX's "busy" and "excessive usage": the node was not asked.
/** Whether a refusal says nothing of what was asked. */
const isServerFault = (code: number | undefined): boolean =>
  code !== undefined && ((code >= -32768 && code <= -32000) || code === -101 || code === -102)

/**
 * The reason of a refusal, in the words of nodes. Other words are those of a server, and are not shown: wallets were robbed by
 * servers that told their owners to install an update.
 */
const nodeReasonOf = (message: string): string =>
  REASONS.find(reason => message.toLowerCase().includes(reason.toLowerCase())) ??
  'words that are not those of a node'

/** Checks if a text has a reason in the words of nodes, or says that the network has the payment. */
export const isNodesReason = (text: string): boolean =>
  KNOWN.test(text) || REASONS.some(reason => text.toLowerCase().includes(reason.toLowerCase()))

// What nodes write, in the order in which one may stand in another (Bitcoin Core and its relatives, from 0.16 to 31).
const REASONS = [
  'mandatory-script-verify-flag-failed',
  'non-mandatory-script-verify-flag',
  'mempool-script-verify-flag-failed',
  'block-script-verify-flag-failed',
  'bad-txns-inputs-missingorspent',
  'Missing inputs',
  'Inputs missing or spent',
  'txn-mempool-conflict',
  'insufficient fee, rejecting replacement',
  'replacement-adds-unconfirmed',
  'replacement-failed',
  'too many potential replacements',
  'insufficient fee',
  'bad-txns-spends-conflicting-tx',
  'bad-txns-premature-spend-of-coinbase',
  'min relay fee not met',
  'mempool min fee not met',
  'too-long-mempool-chain',
  'too-large-cluster',
  'mempool full',
  'non-BIP68-final',
  'non-final',
  'bad-txns-in-belowout',
  'bad-txns-nonstandard-inputs',
  'bad-witness-nonstandard',
  'tx-size-small',
  'tx-size',
  'multi-op-return',
  'bare-multisig',
  'scriptpubkey',
  'scriptsig-not-pushonly',
  'scriptsig-size',
  'datacarrier',
  'dust',
  'absurdly-high-fee',
  'max-fee-exceeded',
  'Fee exceeds maximum configured',
  'TX decode failed',
  'bad-txns',
  'TX rejected'
]

const hasTransaction = async (pool: ElectrumPool, txid: Txid, signedTx: string): Promise<boolean> => {
  const [requested] = pool.callMany([{ method: 'blockchain.transaction.get', params: [txid] }])
  try {
    return (await requested) === signedTx
  } catch (error) {
    // Not knowing is not a no: the bytes may be in a block.
    if (!(error instanceof ElectrumRefusal)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    return false
  }
}

/**
 * Finds out what has become of a payment that was sent: from the transactions of the wallet, and if these do not show
 * it, by asking the server for its bytes. It never expires by its own terms.
 *
 * @throws NETWORK if the server is lost meanwhile
 */
export const findPayment = async (
  pool: Pick<ElectrumPool, 'callMany' | 'isOpen'>,
  { ledger, reserved }: { readonly ledger: Ledger; readonly reserved: ReservedCoins },
  { txid, signedTx }: Pick<EngineTransaction, 'signedTx' | 'txid'>
): Promise<PaymentSight> => {
  const tx = ledger.find(txid)
  if (tx !== undefined && tx.height > 0) return { state: 'seen' }
  const payment = reserved.find(txid)
  if (payment !== undefined) {
    const winner = rivalOf(ledger, payment, 1)
    if (winner !== undefined) return { state: 'replaced', replacedBy: winner, isFinal: true }
    if (isOrphan(ledger, payment)) return { state: 'dropped', isFinal: true }
    const rival = rivalOf(ledger, payment, 0)
    if (rival !== undefined) return { state: 'replaced', replacedBy: rival }
  }
  if (tx !== undefined && tx.height === 0 && tx.isSeen) return { state: 'seen' }
  return queryServer(pool, txid, signedTx)
}

/** Whether a coin of it is gone, because a confirmed transaction has beaten the one that made it. */
const isOrphan = (ledger: Ledger, { spends }: ReservedPayment): boolean =>
  spends.some(outpoint => {
    const parent = ledger.find(outpoint.slice(0, outpoint.indexOf(':')))
    return parent !== undefined && parent.height < 0 && rivalOf(ledger, parent, 1) !== undefined
  })

const queryServer = async (
  pool: Pick<ElectrumPool, 'callMany' | 'isOpen'>,
  txid: Txid,
  signedTx: string
): Promise<PaymentSight> => {
  if (!pool.isOpen) return { state: 'notSeen' }
  const [requested] = pool.callMany([{ method: 'blockchain.transaction.get', params: [txid] }])
  try {
    return { state: (await requested) === signedTx ? 'seen' : 'notInMempool' }
  } catch (error) {
    if (!(error instanceof ElectrumRefusal)) throw new WalletError('NETWORK', { path: 'electrum' }, error)
    return { state: isServerFault(error.code) ? 'notSeen' : 'notInMempool' }
  }
}

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
  pool: Pick<ElectrumPool, 'callMany'>,
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
 * @throws ElectrumFault, ElectrumRefusal or ChainRefusal if a proof fails, which an honest server can do while its chain changes;
 * NETWORK
 */
export const fetchTxs = async (
  pool: Pick<ElectrumPool, 'callMany' | 'headersAt' | 'standingOf'>,
  questions: readonly TxQuestion[]
): Promise<readonly TxAnswer[]> => {
  const requested = questions.filter(({ needsBytes }) => needsBytes)
  const verified = questions.filter(({ needsProof }) => needsProof)
  const bytes = pool.callMany(
    requested.map(({ txid }) => ({ method: 'blockchain.transaction.get', params: [txid] }))
  )
  const proofs = pool.callMany(
    verified.map(({ txid, height }) => ({
      method: 'blockchain.transaction.get_merkle',
      params: [txid, height]
    }))
  )
  let length = 0
  const readHex = async (reply: Promise<Json>, at: number): Promise<string> => {
    const hex = readTxHex(await reply)
    length += hex.length
    if ((requested[at]?.height ?? 0) <= 0 && hex.length > MAX_RELAYED_HEX)
      throw new ElectrumFault('The server sent an unconfirmed transaction that no node relays')
    if (length > MAX_HEX) throw new TooLargeTogether('The server sent more than so many transactions can be')
    return hex
  }
  const [hexes, branches, headers] = await Promise.all([
    Promise.all(bytes.map(readHex)),
    Promise.all(proofs),
    pool.headersAt(verified.map(({ height }) => height))
  ])
  const hexByTxid = new Map(requested.map(({ txid }, at) => [txid, hexes[at]]))
  const headerByTxid = new Map<string, BlockHeader>()
  const lie = verified.find(
    ({ height }) => pool.standingOf(height, headers.get(height)?.hash ?? '') === 'other'
  )
  if (lie !== undefined)
    throw new ChainRefusal('forged', `Block ${lie.height} of the server is not in the chain that it shows`)
  verified.forEach(({ txid, height }, at) => {
    const { path, position } = readProof(branches[at] as Json)
    const header = headers.get(height)
    if (header === undefined || merkleBranchRoot(txid, path, position) !== header.merkleRoot) {
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
      ...compact({ hex, header })
    }
  })
}

/** The transactions of one round are larger than 250 can be. */
export class TooLargeTogether extends ElectrumFault {}

/** Digits of one round: 250 transactions of the most that nodes relay, 400,000 weight units each, have 200 million. */
const MAX_HEX = 256_000_000
/** Digits of 400,000 weight units, all of them witness (Bitcoin Core, MAX_STANDARD_TX_WEIGHT). */
const MAX_RELAYED_HEX = 800_000
