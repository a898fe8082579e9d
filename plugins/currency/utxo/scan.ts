import { type Io, makeYielder, type Txid } from '../../../kernel/plugin-api.ts'
import { parseRawTx, type RawTx } from './chain/transaction.ts'
import { ElectrumFault } from './electrum/connection.ts'
import type { ElectrumPool, PoolClient } from './electrum/pool.ts'
import type { HistoryItem } from './electrum/replies.ts'
import { fetchHistories, fetchTxs, type TxAnswer, type TxQuestion } from './electrum/requests.ts'
import { gradeOf, isReplaced } from './grades.ts'
import type { CoinRow } from './params/coin.ts'
import type { Ledger } from './wallet/ledger.ts'
import type { SavedState, StoreChanges } from './wallet/saved-state.ts'
import { isDirty, isUsed, type ScriptRecord, type ScriptTable } from './wallet/scripts.ts'

/** What a scan works on. */
export interface ScanContext {
  readonly pool: ElectrumPool
  readonly client: PoolClient
  readonly coin: CoinRow
  readonly io: Io
  readonly table: ScriptTable
  readonly ledger: Ledger
  readonly saved: SavedState
  /** True if a block that one server claims counts only once a second one has it. */
  readonly mustAgree: boolean
  /** Receives the scripts whose histories were read. */
  readonly onRead: (records: readonly ScriptRecord[]) => void
}

/** A step of a scan. The ledger has changed; `changes` are to be written together with it. */
export interface ScanStep {
  readonly changes: StoreChanges
  /** The part of the wallet that is up to date, 0 to 1. */
  readonly ratio: number
}

/**
 * Brings scripts and ledger up to date with the server, once.
 *
 * Subscribes the whole window of all branches at once, asks for a history only where the status differs from the
 * stored one, and widens the window while it finds used scripts. With nothing new this is one round trip. It goes on
 * when the caller has dealt with a step.
 *
 * @throws ElectrumFault if the server lies, NETWORK if it is lost
 */
export async function* scan(context: ScanContext): AsyncGenerator<ScanStep, void> {
  let step = 0
  while (true) {
    const changes: StoreChanges = new Map()
    await widen(context, changes, step)
    const fresh = await subscribe(context)
    const dirty = [...context.table.records()].filter(isDirty)
    if (dirty.length === 0) {
      await reprove(context, changes)
      yield { changes, ratio: 1 }
      if (fresh === 0 || !needsMore(context)) return
    }
    for (let at = 0; at < dirty.length; at += SCRIPTS_AT_ONCE) {
      await update(context, dirty.slice(at, at + SCRIPTS_AT_ONCE), changes)
      const left = dirty.length - Math.min(dirty.length, at + SCRIPTS_AT_ONCE)
      const { size } = context.table
      yield {
        changes: new Map(changes),
        ratio: Math.min(0.99, (size - left) / (size + context.table.branches.length))
      }
      changes.clear()
    }
    step++
  }
}

const SCRIPTS_AT_ONCE = 200
const TXS_AT_ONCE = 250
// A server can make up unconfirmed payments at will; they must not make the wallet derive for ever.
const MAX_SCRIPTS = 100_000
/** Nor must they fill memory and disk. */
const MAX_UNCONFIRMED = 2000

const needsMore = ({ table }: ScanContext): boolean =>
  table.branches.some(scripts => scripts.records.length < Math.min(MAX_SCRIPTS, table.wantedOf(scripts)))

// A window whose newest script is used is likely to go on: it doubles instead of creeping.
const widen = async (
  { table, io, saved }: ScanContext,
  changes: StoreChanges,
  step: number
): Promise<void> => {
  for (const scripts of table.branches) {
    const before = scripts.records.length
    const wanted = Math.min(MAX_SCRIPTS, table.wantedOf(scripts))
    if (wanted <= before) continue
    const isDense = step > 0 && scripts.records.slice(-3).some(isUsed)
    await table.extend(
      scripts,
      isDense ? Math.min(MAX_SCRIPTS, Math.max(wanted, before * 2)) : wanted,
      io.clock
    )
    saved.noteScripts(changes, scripts, before)
  }
}

const subscribe = async ({ pool, table, client }: ScanContext): Promise<number> => {
  const { generation } = pool
  const fresh = [...table.records()].filter(record => record.generation !== generation)
  if (fresh.length === 0) return 0
  for (const record of fresh) record.serverStatus = undefined
  const statuses = await pool.subscribe(
    client,
    fresh.map(({ scripthash }) => scripthash)
  )
  fresh.forEach((record, at) => {
    record.generation = generation
    // What was pushed meanwhile is newer than the answer.
    if (record.serverStatus === undefined) record.serverStatus = statuses[at]
  })
  return fresh.length
}

/** Asks again as long as the chain of the server changes meanwhile: an answer may be of a block that another one has replaced. */
const update = async (...given: Parameters<typeof updateOnce>): Promise<void> => {
  const [{ pool }] = given
  for (let tries = 1; ; tries++) {
    const before = pool.tip?.header.hash
    try {
      return await updateOnce(...given)
    } catch (error) {
      if (tries === MAX_UPDATES || !pool.isFault(error)) throw error
      await pool.relink()
      if (pool.tip?.header.hash === before) throw error
    }
  }
}

const MAX_UPDATES = 3

const updateOnce = async (
  context: ScanContext,
  records: readonly ScriptRecord[],
  changes: StoreChanges
): Promise<void> => {
  const { pool, ledger, saved } = context
  const requested = records.map(({ serverStatus, pushes }) => ({ status: serverStatus ?? null, pushes }))
  const histories = await fetchHistories(pool, records)
  const heights = mergeHistories(histories)
  let room = MAX_UNCONFIRMED - ledger.unconfirmedCount()
  const questions = [...heights].flatMap(([txid, height]): TxQuestion[] => {
    const known = ledger.find(txid)
    // It is taken in when it is confirmed, which changes the status of its script.
    if (known === undefined && height <= 0 && --room < 0) return []
    const needsProof = height > 0 && (known?.height !== height || isReplaced(pool, known))
    return [{ txid, height, needsBytes: known === undefined, needsProof }]
  })
  for (let at = 0; at < questions.length; at += TXS_AT_ONCE) {
    const answers = await fetchTxs(pool, questions.slice(at, at + TXS_AT_ONCE))
    await takeIn(context, answers)
  }
  await reclaim(context, records, histories)
  dropVanished(context, records, heights)
  records.forEach((record, at) => {
    const { status = null, pushes = 0 } = requested[at] ?? {}
    record.status = status
    record.pushesSeen = pushes
    saved.noteStatus(changes, record)
  })
  context.onRead(records)
}

// What came before its block was linked, or whose block has been replaced by one at the same height.
const reprove = async (context: ScanContext, changes: StoreChanges): Promise<void> => {
  const { pool, ledger, table } = context
  const replaced = new Set<string>()
  for (const tx of ledger.all()) if (isReplaced(pool, tx)) replaced.add(tx.txid)
  if (replaced.size === 0) return
  const records = [...table.records()].filter(({ txids }) => [...txids].some(txid => replaced.has(txid)))
  for (let at = 0; at < records.length; at += SCRIPTS_AT_ONCE)
    await update(context, records.slice(at, at + SCRIPTS_AT_ONCE), changes)
}

const mergeHistories = (histories: readonly (readonly HistoryItem[])[]): ReadonlyMap<string, number> => {
  const heights = new Map<string, number>()
  for (const history of histories) {
    for (const { txid, height } of history) heights.set(txid, Math.max(height, heights.get(txid) ?? 0))
  }
  return heights
}

const takeIn = async (
  { io, ledger, pool, saved, mustAgree, coin: { maxSupply } }: ScanContext,
  answers: readonly TxAnswer[]
): Promise<void> => {
  const yielder = makeYielder(io.clock)
  for (const { txid, height, hex, header } of answers) {
    await yielder()
    const known = ledger.find(txid)
    const date = header?.time ?? known?.date ?? Math.floor(io.clock.now() / 1000)
    const block = header?.hash ?? (known?.height === height ? known.block : undefined)
    const grade = block === undefined ? undefined : gradeOf(pool, { height, block }, known)
    // What has counted in this block goes on counting.
    const isSame = known?.height === height && (known.block === block || known.block === '')
    const heldSince = isSame ? known.heldSince : mustAgree ? Math.floor(io.clock.now() / 1000) : 0
    const standing = { height, date, isSeen: true, block, grade, heldSince }
    if (known !== undefined) ledger.place(known, standing)
    else if (hex !== undefined) {
      const bytes = io.crypto.fromHex(hex)
      const raw = readTx(bytes, txid, maxSupply)
      saved.keepBytes(txid, bytes)
      ledger.put(raw, standing)
    }
  }
}

/** @throws ElectrumFault for other bytes, or more coins than there can be */
const readTx = (bytes: Uint8Array, txid: Txid, maxSupply: bigint): RawTx => {
  let raw: RawTx | undefined
  try {
    raw = parseRawTx(bytes)
  } catch {
    // The fault below says it.
  }
  if (raw !== undefined && raw.outputs.reduce((sum, { value }) => sum + value, 0n) > maxSupply)
    throw new ElectrumFault(`The server sent a transaction of more coins than there can be: ${txid}`)
  if (raw?.txid === txid) return raw
  throw new ElectrumFault(`The server sent other bytes for ${txid}`)
}

// A script that was derived after its transaction arrived has yet to claim its outputs. A transaction that still
// does not touch the script afterwards is a lie that would widen the window without end.
const reclaim = async (
  { ledger, saved, io }: ScanContext,
  records: readonly ScriptRecord[],
  histories: readonly (readonly HistoryItem[])[]
): Promise<void> => {
  const yielder = makeYielder(io.clock)
  for (const [at, record] of records.entries()) {
    const history = histories[at] ?? []
    if (history.length === 0 && record.serverStatus !== null) {
      throw new ElectrumFault('The server has a status without a history')
    }
    for (const { txid } of history) {
      const tx = ledger.find(txid)
      if (tx === undefined || record.txids.has(txid)) continue
      await yielder()
      const bytes = saved.txBytes(txid)
      if (bytes !== undefined) ledger.put(parseRawTx(bytes), tx)
      if (!record.txids.has(txid))
        throw new ElectrumFault(`The server put ${txid} into a history it is not of`)
    }
  }
}

// A transaction that a server showed once and that has left the history of its own script is gone.
const dropVanished = (
  { ledger }: ScanContext,
  records: readonly ScriptRecord[],
  heights: ReadonlyMap<string, number>
): void => {
  for (const record of records) {
    for (const txid of record.txids) {
      const tx = ledger.find(txid)
      if (tx?.isSeen === true && !heights.has(txid)) ledger.drop(tx)
    }
  }
}
