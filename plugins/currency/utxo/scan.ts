import { type Io, makeYielder, type Txid } from '../../../kernel/plugin-api.ts'
import { parseRawTx, type RawTx } from './chain/transaction.ts'
import { ElectrumFault } from './electrum/connection.ts'
import type { ElectrumPool } from './electrum/pool.ts'
import type { PoolClient } from './electrum/pool-clients.ts'
import { type HistoryItem, statusOf } from './electrum/replies.ts'
import {
  fetchHistories,
  fetchTxs,
  TooLargeTogether,
  type TxAnswer,
  type TxQuestion
} from './electrum/requests.ts'
import { gradeOf, isReplaced } from './grades.ts'
import type { CoinRow } from './params/coin.ts'
import type { Ledger } from './wallet/ledger.ts'
import type { SavedState, StoreChanges } from './wallet/saved-state.ts'
import { isDirty, NEVER, type ScriptRecord, type ScriptTable } from './wallet/scripts.ts'

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
 * Each step sends together all that can be asked with what is known: subscriptions of new scripts with their histories, histories of
 * scripts whose status differs from the stored one, and transactions, proofs and headers of the histories of the step before. The window
 * widens as soon as a status says that a script is used, and faster where most are. With nothing new this is one round trip. It goes on
 * when the caller has dealt with a step.
 *
 * @throws ElectrumFault if the server lies, NETWORK if it is lost
 */
export async function* scan(context: ScanContext): AsyncGenerator<ScanStep, void> {
  const { pool, table, saved } = context
  // What comes meanwhile may lie above it.
  const { cursor } = pool
  const histories: Histories = new Map()
  const replaced = new Set<ScriptRecord>()
  let hasReproved = false
  let tries = 0
  let tipBefore = tipHashOf(pool)
  for (let step = 0; ; step++) {
    const changes: StoreChanges = new Map()
    const tip = tipHashOf(pool)
    const dirty = [...table.records()].filter(record => isDirty(record) || replaced.has(record))
    const known = dirty.filter(record => histories.has(record))
    const unknown = dirty.filter(record => !histories.has(record))
    try {
      const ingesting = ingest(context, known, { histories, changes })
      ingesting.catch(() => undefined)
      const querying = queryHistories(context, unknown, histories)
      querying.catch(() => undefined)
      await widen(context, changes, step)
      const fresh = firstOf(context, freshOf(context), step)
      await Promise.all([ingesting, querying, watch(context, fresh, histories)])
      for (const record of known) replaced.delete(record)
      if (dirty.length + fresh.length === 0) {
        for (const record of hasReproved ? [] : replacedOf(context)) replaced.add(record)
        hasReproved = true
        if (replaced.size === 0) {
          if (cursor !== undefined) saved.noteCursor(changes, cursor, table.branches)
          yield { changes, ratio: 1 }
          return
        }
      }
      tries = 0
      tipBefore = tip
    } catch (error) {
      // What was derived is kept, whatever has failed.
      yield { changes, ratio: 0 }
      // An answer may be of a block that another one has replaced meanwhile: it is asked for again as long as that goes on.
      if (++tries === MAX_TRIES || !pool.isFault(error)) throw error
      await pool.relink()
      if (tipHashOf(pool) === tipBefore) throw error
      histories.clear()
      continue
    }
    const left = [...table.records()].filter(isDirty).length + freshOf(context).length
    yield { changes, ratio: Math.min(0.99, (table.size - left) / (table.size + table.branches.length)) }
  }
}

/**
 * Scripts that are to be subscribed. Those with which a branch grew beyond its gap are so while it is searched; of a later connection
 * they are not, unless something has been used meanwhile.
 */
const freshOf = ({ pool, table }: ScanContext): readonly ScriptRecord[] =>
  table.branches.flatMap(scripts => {
    const wanted = table.wantedOf(scripts)
    return scripts.records.filter(
      ({ generation, index }) => generation !== pool.generation && (index < wanted || generation === NEVER)
    )
  })

/**
 * Those that are subscribed in a step. Of a server that answers for few at a time these are few, with the ones of which news is likely
 * first, and then twice as many in each step: what is found is shown early, and a long list has few steps.
 */
const firstOf = (
  { pool, table }: ScanContext,
  fresh: readonly ScriptRecord[],
  step: number
): readonly ScriptRecord[] => {
  const count = pool.scriptsAtOnce * 2 ** Math.max(0, step - 1)
  if (fresh.length <= count) return fresh
  const likely = new Set(table.likely())
  const [first, later] = [true, false].map(isLikely =>
    fresh.filter(({ scripthash }) => likely.has(scripthash) === isLikely)
  )
  return [...(first ?? []), ...(later ?? [])].slice(0, count)
}

/** Histories that are still to be taken in, with what was known of their scripts when they were asked for. */
type Histories = Map<
  ScriptRecord,
  { readonly status: string | null; readonly pushes: number; readonly items: readonly HistoryItem[] }
>

const MAX_TRIES = 3
const TXS_AT_ONCE = 2000
// A server can make up unconfirmed payments at will; they must not make the wallet derive for ever.
const MAX_SCRIPTS = 100_000
/** The most scripts by which a branch grows at once beyond what is wanted. */
const MAX_GROWTH = 1000
/** Nor must they fill memory and disk. */
const MAX_UNCONFIRMED = 2000

const tipHashOf = ({ tip }: ElectrumPool): string | undefined => tip?.header.hash

// A window whose newest scripts are used is likely to go on: it doubles or quadruples instead of creeping.
const widen = async (
  { table, io, saved }: ScanContext,
  changes: StoreChanges,
  step: number
): Promise<void> => {
  for (const scripts of table.branches) {
    const before = scripts.records.length
    const wanted = table.wantedOf(scripts)
    if (Math.min(MAX_SCRIPTS, wanted) <= before) continue
    const ahead = step === 0 ? 0 : Math.min(MAX_GROWTH, before * (table.densityOf(scripts) - 1))
    await table.extend(scripts, Math.min(MAX_SCRIPTS, Math.max(wanted, before + ahead)), io.clock)
    saved.noteScripts(changes, scripts, before)
  }
}

/** Subscribes scripts, and asks for the histories of those of which nothing is known, which the status has to confirm. */
const watch = async (
  { pool, client, io }: ScanContext,
  fresh: readonly ScriptRecord[],
  histories: Histories
): Promise<void> => {
  if (fresh.length === 0) return
  const { generation } = pool
  const unknown = fresh.filter(record => record.generation === NEVER)
  for (const record of fresh) record.serverStatus = undefined
  const subscribing = pool.subscribe(
    client,
    fresh.map(({ scripthash }) => scripthash)
  )
  const [statuses, found] = await Promise.all([subscribing, fetchHistories(pool, unknown)])
  fresh.forEach((record, at) => {
    record.generation = generation
    // What was pushed meanwhile is newer than the answer.
    if (record.serverStatus === undefined) record.serverStatus = statuses[at]
  })
  const yielder = makeYielder(io.clock)
  for (const [at, items = []] of found.entries()) {
    const record = unknown[at] as ScriptRecord
    const { serverStatus: status = null, pushes } = record
    // Else the two are of different moments, or it has the order of its server: it is asked for once more.
    if (status !== null && statusOf(io.crypto, items) === status)
      histories.set(record, { status, pushes, items })
    await yielder()
  }
}

const queryHistories = async (
  { pool }: ScanContext,
  records: readonly ScriptRecord[],
  histories: Histories
): Promise<void> => {
  const requested = records.map(({ serverStatus = null, pushes }) => ({ status: serverStatus, pushes }))
  const found = await fetchHistories(pool, records)
  records.forEach((record, at) => {
    const { status = null, pushes = 0 } = requested[at] ?? {}
    histories.set(record, { status, pushes, items: found[at] ?? [] })
  })
}

/** Takes histories in, with the transactions, proofs and headers that they need. */
const ingest = async (
  context: ScanContext,
  records: readonly ScriptRecord[],
  { histories, changes }: { readonly histories: Histories; readonly changes: StoreChanges }
): Promise<void> => {
  if (records.length === 0) return
  const { pool, ledger, saved } = context
  const read = records.map(record => histories.get(record)?.items ?? [])
  const heights = mergeHistories(read)
  let room = MAX_UNCONFIRMED - ledger.unconfirmedCount()
  const questions = [...heights].flatMap(([txid, height]): TxQuestion[] => {
    const known = ledger.find(txid)
    // It is taken in when it is confirmed, which changes the status of its script.
    if (known === undefined && height <= 0 && --room < 0) return []
    const needsProof = height > 0 && (known?.height !== height || isReplaced(pool, known))
    return [{ txid, height, needsBytes: known === undefined, needsProof }]
  })
  for (let at = 0; at < questions.length; at += TXS_AT_ONCE)
    await takeAll(context, questions.slice(at, at + TXS_AT_ONCE))
  await reclaim(context, records, read)
  dropVanished(context, records, heights)
  for (const record of records) {
    const { status = null, pushes = 0 } = histories.get(record) ?? {}
    record.status = status
    record.pushesSeen = pushes
    histories.delete(record)
    saved.noteStatus(changes, record)
  }
  context.onRead(records)
}

/** Fetches transactions and takes them in; fewer at once where they are so large that memory would not hold them. */
const takeAll = async (context: ScanContext, questions: readonly TxQuestion[]): Promise<void> => {
  let answers: readonly TxAnswer[]
  try {
    answers = await fetchTxs(context.pool, questions)
  } catch (error) {
    if (!(error instanceof TooLargeTogether) || questions.length <= FEWEST_TXS) throw error
    const half = questions.length >> 1
    await takeAll(context, questions.slice(0, half))
    return takeAll(context, questions.slice(half))
  }
  await takeIn(context, answers)
}

/** So many transactions are never too large together. */
const FEWEST_TXS = 250

/** Scripts with what came before its block was linked, or whose block has been replaced by one at the same height. */
const replacedOf = ({ pool, ledger, table }: ScanContext): readonly ScriptRecord[] => {
  const replaced = new Set<string>()
  for (const tx of ledger.all()) if (isReplaced(pool, tx)) replaced.add(tx.txid)
  if (replaced.size === 0) return []
  return [...table.records()].filter(({ txids }) => [...txids].some(txid => replaced.has(txid)))
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

// A transaction that a server showed once and that has left the history of its own script is gone, unless it lies deep in a block that
// is still in the chain: some servers show nothing of a history that is too long for them.
const dropVanished = (
  { ledger, pool }: ScanContext,
  records: readonly ScriptRecord[],
  heights: ReadonlyMap<string, number>
): void => {
  for (const record of records) {
    for (const txid of record.txids) {
      const tx = ledger.find(txid)
      if (tx?.isSeen !== true || heights.has(txid)) continue
      const isDeep = tx.height > 0 && tx.height <= (pool.tip?.height ?? 0) - DEEP
      const standing = isDeep ? pool.standingOf(tx.height, tx.block) : undefined
      if (standing !== undefined && standing !== 'other')
        throw new ElectrumFault('The server shows nothing of a payment that the chain has')
      ledger.drop(tx)
    }
  }
}

/** Blocks on a payment's own that no reorganisation takes away. */
const DEEP = 100

/** What a {@link ScanLoop} needs of the wallet that it scans for. */
export interface ScanLoopOptions {
  /** Brings the wallet up to date, once. */
  scan(): Promise<void>
  /** True while there is a wallet, and a server to ask. */
  canScan(): boolean
  /** Is called after the last scan, if it has succeeded. */
  onDone(): void
}

/**
 * Scans one after another: what comes up during a scan is left to the next one, and is never lost. A scan that fails although another
 * one was requested meanwhile is followed by that, for example on the connection that has come in the place of a lost one.
 */
export class ScanLoop {
  readonly #options: ScanLoopOptions
  #running: Promise<void> | undefined
  #isRequested = false

  constructor(options: ScanLoopOptions) {
    this.#options = options
  }

  /** Settles with the scan that runs, and never rejects. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined)
  }

  /** Scans, after the scan that runs. Does nothing without a server. @throws the error of the last scan */
  run(): Promise<void> {
    if (!this.#options.canScan()) return Promise.resolve()
    this.#isRequested = true
    this.#running ??= this.#loop()
    return this.#running
  }

  async #loop(): Promise<void> {
    const { scan, canScan, onDone } = this.#options
    try {
      while (this.#isRequested) {
        this.#isRequested = false
        await scan().catch(error => {
          // What was requested meanwhile may be about another connection, and nothing else would scan for a minute.
          if (!this.#isRequested || !canScan()) throw error
        })
      }
      onDone()
    } finally {
      // In the same turn in which nothing was requested any more: a request of the next one begins a loop of its own.
      this.#running = undefined
    }
  }
}
