import {
  type EngineTransaction,
  type NativeAmount,
  type SpendInfo,
  type Txid,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { parseRawTx, type RawTx, scriptHashOf } from '../chain/transaction.ts'
import { ElectrumFault, ElectrumRefusal } from '../electrum/connection.ts'
import type { ElectrumPool } from '../electrum/pool.ts'
import {
  type Ancestor,
  readAncestors,
  readHistory,
  readTxHex,
  UNCONFIRMED_ANCESTORS
} from '../electrum/replies.ts'
import { type Coin, type Ledger, rivalOf } from '../wallet/ledger.ts'
import type { SavedState } from '../wallet/saved-state.ts'
import { dustOf, goalOf, largerOf, type SpendSource, sortCoins } from './choose-coins.ts'
import { feeOf, feeRateText, scriptLengthOf, txWeightOf } from './fees.ts'
import { changeAddressOf, draftedFrom, usualFeeOf } from './make-spend.ts'

/** What a child is made with. */
export interface BumpSource extends SpendSource {
  readonly pool: Pick<ElectrumPool, 'callMany' | 'serverUrl' | 'takesPackages'>
  readonly saved: Pick<SavedState, 'txBytes'>
}

/**
 * Takes in a payment of our own again that servers keep no longer, because it pays less than they do now, so that a child can pay for
 * both: where the server takes both together, its coins are reserved still, and nothing else spends them.
 *
 * @returns true if the balance is another one now
 */
export const reclaim = (
  pool: BumpSource['pool'],
  { ledger, reserved }: Pick<BumpSource, 'ledger' | 'reserved'>,
  txid: Txid
): boolean => {
  const tx = ledger.find(txid)
  const payment = reserved.find(txid)
  if (tx === undefined || tx.height >= 0 || payment === undefined || !pool.takesPackages) return false
  if (rivalOf(ledger, payment, 0) !== undefined) return false
  // A package is a child with its parents: no further ancestor may be missing.
  if (!payment.spends.every(outpoint => isThere(ledger, outpoint))) return false
  ledger.place(tx, { height: 0, date: tx.date, isSeen: false })
  return true
}

const isThere = (ledger: Ledger, outpoint: string): boolean => {
  const coin = ledger.coinAt(outpoint)
  return coin !== undefined && (coin.height > 0 || ledger.find(coin.txid)?.isSeen === true)
}

/**
 * Drafts a payment to the wallet itself that spends what an unconfirmed one pays to it, and pays so much that miners who take both earn
 * the wanted rate on both (child pays for parent): ⌈rate × (virtual bytes of each unconfirmed ancestor that pays less, and of the child)⌉
 * less their fees. What an ancestor pays is computed from the bytes of what it spends.
 *
 * It spends all that the payment left to the wallet, and confirmed coins if that does not suffice; frozen coins never.
 *
 * @throws TX_NOT_FOUND; NOT_SUPPORTED with the reason; FEE_INVALID if the payment has that rate already; INSUFFICIENT_FUNDS, NETWORK
 */
export const makeChild = async (source: BumpSource, spend: SpendInfo): Promise<EngineTransaction> => {
  const { bumps: txid = '', replaces, coins: chosen, spendTargets, memos = [] } = spend
  if (spend.tokenId !== null) throw new WalletError('NOT_SUPPORTED', { what: 'tokens' })
  if (spendTargets.length > 0 || memos.length > 0 || replaces !== undefined || chosen !== undefined)
    throw cannot('and paying something at once')
  const forced = outputsOf(source, txid)
  const { changeType } = goalOf(source, spend, { amount: 0n, outputs: [] })
  const outputs = [scriptLengthOf[changeType]]
  const goal = goalOf(source, spend, { amount: 0n, outputs })
  const { rate } = goal
  const ancestors = await findAncestors(source, txid)
  const cheap = ancestors.filter(({ weight, fee }) => fee < feeOf(weight, rate))
  if (!cheap.some(ancestor => ancestor.txid === txid) && cheap.length === 0)
    throw new WalletError('FEE_INVALID', {
      rule: `of ${feeRateText(rate)} is not above what the payment pays already`
    })
  const paid = cheap.reduce((sum, { fee }) => sum + fee, 0n)
  const bytes = cheap.reduce((sum, { weight }) => sum + Math.ceil(weight / 4), 0)
  const others = sortCoins(source, {})
    .safe.filter(coin => coin.height > 0 && !forced.includes(coin))
    .sort((a, b) => (a.value < b.value ? 1 : -1))
  const minimum = dustOf(source.coin, changeType)
  let coins = forced
  for (let next = 0; ; next += 1) {
    const weight = txWeightOf(countsOf(coins), outputs)
    const whole = feeOf((bytes + Math.ceil(weight / 4)) * 4, rate) - paid
    const fee = largerOf(whole, feeOf(weight, rate))
    const sum = coins.reduce((total, { value }) => total + value, 0n)
    if (sum - fee >= minimum) {
      const output = { address: changeAddressOf(source), value: sum - fee, isChange: true }
      const own = ancestors.find(ancestor => ancestor.txid === txid)?.weight ?? 0
      // What strangers hung the payment on is not usual: one server's word that it waits would make any fee look so.
      const usual = usualFeeOf(source, spend, { fee: feeOf(own + weight, rate), rate })
      const draft = draftedFrom(source, spend, { coins, outputs: [output], fee, rate })
      return { ...draft, usualNetworkFee: String(usual) as NativeAmount }
    }
    const added = others[next]
    if (added === undefined)
      throw new WalletError('INSUFFICIENT_FUNDS', {
        ...{ currencyCode: source.coin.code, tokenId: null, networkFee: String(fee) },
        ...{ needed: String(fee + minimum), available: String(sum) }
      })
    coins = [...coins, added]
  }
}

const cannot = (reason: string): WalletError =>
  new WalletError('NOT_SUPPORTED', { what: `raising the fee of a payment ${reason}` })

/** The coins that a payment left to the wallet, which can be spent. */
const outputsOf = ({ ledger, frozen, reserved }: SpendSource, txid: Txid): readonly Coin[] => {
  const tx = ledger.find(txid)
  if (tx !== undefined && tx.height < 0 && reserved.find(txid) !== undefined)
    throw cannot('that servers keep no longer, alone or together with another')
  if (tx === undefined || tx.height < 0) throw new WalletError('TX_NOT_FOUND', { txid })
  if (tx.height > 0) throw cannot('that is in a block')
  const coins = [...ledger.coins()].filter(coin => coin.txid === txid)
  if (coins.length === 0) throw cannot('that leaves no unspent coin to this wallet')
  const free = coins.filter(({ vout }) => {
    const outpoint = `${txid}:${vout}`
    return !frozen.has(outpoint) && !reserved.isReserved(ledger, outpoint)
  })
  if (free.length === 0) throw cannot('whose coins are all frozen or reserved')
  return free
}

const countsOf = (coins: readonly Coin[]): Parameters<typeof txWeightOf>[0] => {
  const counts = new Map<Coin['record']['branch']['purpose'], number>()
  for (const { record } of coins)
    counts.set(record.branch.purpose, (counts.get(record.branch.purpose) ?? 0) + 1)
  return counts
}

/** The payment itself, and every unconfirmed transaction that it is built on. */
const findAncestors = async (source: BumpSource, txid: Txid): Promise<readonly Ancestor[]> => {
  // A node has no histories of scripts of others, and no bytes of what strangers have spent; one's own need not be doubted.
  if (source.pool.serverUrl.startsWith('rpc+')) return fetchAncestors(source, txid)
  const known = new Map<Txid, RawTx>()
  const ancestors: Ancestor[] = []
  const waiting = [txid]
  const seen = new Set(waiting)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (ancestors.length >= MAX_ANCESTORS) throw cannot(LONG_CHAIN)
    const [tx] = await readTxs(source, [next], known)
    if (tx === undefined) throw cannot('that the server does not have')
    const sources = [...new Set(tx.inputs.map(input => input.txid))]
    const parents = await readTxs(source, sources, known)
    let spent = 0n
    for (const { txid: from, vout } of tx.inputs) {
      const output = known.get(from)?.outputs[vout]
      if (output === undefined) throw new ElectrumFault('The server sent a payment that spends nothing')
      spent += output.value
    }
    const fee = spent - tx.outputs.reduce((sum, { value }) => sum + value, 0n)
    if (fee < 0n) throw new ElectrumFault('The server sent a payment that pays more than it has')
    ancestors.push({ txid: next, weight: tx.weight, fee })
    for (const parent of await unconfirmedOf(source, parents, tx)) {
      if (seen.has(parent)) continue
      seen.add(parent)
      waiting.push(parent)
    }
  }
  return ancestors
}

const fetchAncestors = async (
  { pool }: Pick<BumpSource, 'pool'>,
  txid: Txid
): Promise<readonly Ancestor[]> => {
  const [requested] = pool.callMany([{ method: UNCONFIRMED_ANCESTORS, params: [txid] }])
  try {
    const ancestors = readAncestors((await requested) ?? null)
    if (ancestors.length > MAX_ANCESTORS) throw cannot(LONG_CHAIN)
    return ancestors
  } catch (error) {
    if (error instanceof ElectrumRefusal && error.code === NOT_IN_MEMPOOL)
      throw cannot('that the node does not have: it may pay less than the node keeps')
    throw error
  }
}

/** "Transaction not in mempool" (RPC_INVALID_ADDRESS_OR_KEY). */
const NOT_IN_MEMPOOL = -5
const MAX_ANCESTORS = 25
const LONG_CHAIN = 'at the end of a long chain of unconfirmed ones'
/** Of one transaction. */
const MAX_PARENTS = 500
/** Weight units of all that is read: a hundred of the largest that nodes relay. */
const MAX_KNOWN = 40_000_000

/** Transactions by their bytes, which are kept in `known`. */
const readTxs = async (
  { pool, io, saved, reserved }: BumpSource,
  txids: readonly Txid[],
  known: Map<Txid, RawTx>
): Promise<readonly RawTx[]> => {
  if (txids.length > MAX_PARENTS) throw cannot(`that spends coins of more than ${MAX_PARENTS} others`)
  const missing = txids.filter(txid => !known.has(txid))
  const isOwn = (txid: Txid): boolean => pool.takesPackages && reserved.find(txid) !== undefined
  const replies = pool.callMany(
    missing.map(txid => ({ method: 'blockchain.transaction.get', params: [txid] }))
  )
  const answers = await Promise.allSettled(replies)
  answers.forEach((answer, at) => {
    if (answer.status === 'rejected') {
      if (!(answer.reason instanceof ElectrumRefusal)) throw answer.reason
      const missed = missing[at] ?? ''
      const own = isOwn(missed) ? saved.txBytes(missed) : undefined
      // Nodes drop what pays less than they relay, and then refuse a child of it that comes alone.
      if (own === undefined)
        throw cannot(
          pool.takesPackages
            ? 'whose transactions the server does not all have, and that is not your own: it may pay less than the server keeps'
            : 'whose transactions the server does not all have: it may pay less than the server keeps, and takes no parent and child together'
        )
      known.set(missed, parseRawTx(own))
      return
    }
    const tx = parse(io.crypto.fromHex(readTxHex(answer.value)))
    if (tx === undefined || tx.txid !== missing[at])
      throw new ElectrumFault('The server sent another transaction than the requested one')
    known.set(tx.txid, tx)
  })
  if ([...known.values()].reduce((sum, { weight }) => sum + weight, 0) > MAX_KNOWN)
    throw cannot('that is built on too large others')
  return txids.flatMap(txid => known.get(txid) ?? [])
}

const parse = (bytes: Uint8Array): RawTx | undefined => {
  try {
    return parseRawTx(bytes)
  } catch {
    return undefined
  }
}

/** Those of the parents of a transaction that are in no block, by the history of a script that each has paid. */
const unconfirmedOf = async (
  { pool, ledger }: BumpSource,
  parents: readonly RawTx[],
  { inputs }: RawTx
): Promise<readonly Txid[]> => {
  const requested = parents.filter(({ txid }) => (ledger.find(txid)?.height ?? 0) <= 0)
  const replies = pool.callMany(
    requested.map(({ txid, outputs }) => {
      const vout = inputs.find(input => input.txid === txid)?.vout ?? 0
      const script = outputs[vout]?.script ?? new Uint8Array()
      return { method: 'blockchain.scripthash.get_history', params: [scriptHashOf(script)] }
    })
  )
  const histories = (await Promise.all(replies)).map(readHistory)
  return requested.flatMap(({ txid }, at) => {
    const item = histories[at]?.find(each => each.txid === txid)
    if (item === undefined) throw new ElectrumFault('The server does not list a payment that it has')
    return item.height > 0 ? [] : [txid]
  })
}
