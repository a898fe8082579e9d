import { sha256 } from '@noble/hashes/sha2.js'
import type { CryptoPort, Json, JsonObject } from '../../../../kernel/plugin-api.ts'
import { hexOfReversed, isTxHash, parseRawTx } from '../chain/transaction.ts'
import { ElectrumFault } from '../electrum/connection.ts'
import type { HistoryItem } from '../electrum/replies.ts'
import type { BlockCursor, KeptHistory } from '../wallet/scripts.ts'
import { NodeRefusal, type NodeRpc } from './node-rpc.ts'
import { asObject } from './polled-connection.ts'

/** The place of a transaction: a height of 0 while it waits. */
interface Place {
  readonly height: number
  /** Within its block. */
  readonly position: number
}

type Places = Map<string, Place>

/** A block at the end of a chain. */
export type NodeTip = BlockCursor

/**
 * The transactions of a node's wallet by script: the node itself knows them by address, and not what they spend.
 *
 * What lies above a block some blocks below the newest one is read again each time, so that replaced blocks leave nothing behind.
 */
export class NodeHistory {
  readonly #rpc: NodeRpc
  readonly #crypto: Pick<CryptoPort, 'fromHex'>
  readonly #places = new Map<string, Place>()
  /** The scripts of the outputs of each transaction that was read, by Electrum name. */
  readonly #outputs = new Map<string, readonly string[]>()
  readonly #scripts = new Map<string, Set<string>>()
  /** Payments that were read before those whose coins they spend. */
  readonly #spenders = new Map<string, { readonly txid: string; readonly index: number }[]>()
  #cursor: NodeTip | undefined
  /** The block up to which wallets knew their payments. */
  #seededTo: NodeTip | undefined
  #isWhole = false
  #isStale = false
  #lastTip = ''
  readonly #pageRows: number

  constructor(rpc: NodeRpc, crypto: Pick<CryptoPort, 'fromHex'>, pageRows: number = PAGE_ROWS) {
    this.#rpc = rpc
    this.#pageRows = pageRows
    this.#crypto = crypto
  }

  /** In the order of the chain, what waits last. */
  of(scripthash: string): readonly HistoryItem[] {
    const found = [...(this.#scripts.get(scripthash) ?? [])].flatMap(txid => {
      const place = this.#places.get(txid)
      return place === undefined ? [] : [{ txid, ...place }]
    })
    const rank = ({ height }: Place): number => (height > 0 ? height : Number.POSITIVE_INFINITY)
    return found
      .sort((a, b) =>
        rank(a) === rank(b) ? a.position - b.position || (a.txid < b.txid ? -1 : 1) : rank(a) - rank(b)
      )
      .map(({ txid, height }) => ({ txid, height }))
  }

  /** True of a transaction in a block, or in the mempool. */
  has(txid: string): boolean {
    return this.#places.has(txid)
  }

  /** Reads everything anew the next time: the wallet has learned of addresses with payments of before. */
  forget(): void {
    this.#isStale = true
  }

  /** The block below which nothing is read again. */
  get cursor(): NodeTip | undefined {
    return this.#cursor
  }

  /** True if all payments were read, and none stands here by the word of a wallet. */
  get isWhole(): boolean {
    return this.#isWhole && !this.#isStale
  }

  /** True if what was read begins no later than behind a block. */
  reaches({ height }: BlockCursor): boolean {
    return this.#seededTo !== undefined && !this.#isWhole && height >= this.#seededTo.height
  }

  /** Takes in the payments that a wallet knew; the first one begins at the earliest block. */
  seed({ cursor, payments }: KeptHistory): void {
    this.#seededTo ??= cursor
    this.#cursor ??= cursor
    for (const { txid, height, bytes } of payments()) {
      if (!this.#outputs.has(txid)) this.#index(txid, bytes)
      if (height > 0 && height <= this.#seededTo.height) this.#places.set(txid, { height, position: 0 })
    }
  }

  /** Reads what is new. @returns the newest block, and the scripts whose histories are others now */
  async read(): Promise<{ readonly tip: NodeTip; readonly changed: ReadonlySet<string> }> {
    const isStale = this.#isStale
    try {
      return await this.#read()
    } catch (error) {
      // What was to be read anew is still to be.
      this.#isStale ||= isStale
      throw error
    }
  }

  async #read(): Promise<{ readonly tip: NodeTip; readonly changed: ReadonlySet<string> }> {
    const cursor = this.#isStale ? undefined : this.#cursor
    this.#isStale = false
    const news = cursor && (await this.#newsSince(cursor))
    const old = news === undefined ? await this.#readOld() : undefined
    const since = [old?.cursor.hash ?? '', 1, true, false]
    const reply = news ?? asObject(await this.#rpc.wallet('listsinceblock', since))
    const { lastblock, transactions, removed } = reply
    if (!isTxHash(lastblock) || !Array.isArray(transactions))
      throw new ElectrumFault('The node sent a bad list of payments')
    const tip = { hash: lastblock, height: heightOf(await this.#rpc.node('getblockheader', [lastblock])) }
    const found = await this.#placesOf(transactions as readonly Json[], tip.height)
    for (const [txid, place] of old?.places ?? []) if (!found.has(txid)) found.set(txid, place)
    await this.#readBytes([...found.keys()])
    const gone = new Set(Array.isArray(removed) ? removed.map(row => asObject(row).txid) : [])
    const changed = this.#replace(found, { above: news === undefined ? -1 : (cursor?.height ?? -1), gone })
    this.#isWhole ||= news === undefined
    if (tip.hash !== this.#lastTip) this.#cursor = await this.#cursorBelow(tip)
    this.#lastTip = tip.hash
    return { tip, changed }
  }

  /**
   * What came behind a block. If that was replaced, it is what came behind the last one that both chains have, and what was taken away.
   * Undefined if the node does not know the block, or has no way to say that.
   */
  async #newsSince({ hash }: NodeTip): Promise<JsonObject | undefined> {
    try {
      return asObject(await this.#rpc.wallet('listsinceblock', [hash, 1, true, true]))
    } catch (error) {
      if (error instanceof NodeRefusal && error.code !== STARTING) return undefined
      throw error
    }
  }

  /**
   * Reads what lies some blocks deep in pages: the list of all would be too long a reply for a wallet with very many payments. Undefined
   * for a short chain, and for a node that does not name the block of a payment.
   */
  async #readOld(): Promise<{ readonly cursor: NodeTip; readonly places: Places } | undefined> {
    const { blocks } = asObject(await this.#rpc.node('getblockchaininfo'))
    const cursor = await this.#cursorBelow({ hash: '', height: Number(blocks) })
    if (cursor === undefined) return undefined
    const places = new Map<string, Place>()
    for (let skip = 0; ; skip += this.#pageRows) {
      // The newest first: what comes meanwhile shows rows twice, and leaves none out.
      const rows = await this.#rpc.wallet('listtransactions', ['*', this.#pageRows, skip, true], PAGE_MS)
      if (!Array.isArray(rows) || skip > MAX_ROWS)
        throw new ElectrumFault('The node sent a bad list of payments')
      for (const row of rows as readonly Json[]) {
        const { txid, confirmations, blockheight: height, blockindex: position } = asObject(row)
        if (typeof confirmations === 'number' && confirmations <= 0) continue
        if (typeof height !== 'number') return undefined
        if (isTxHash(txid) && height <= cursor.height)
          places.set(txid, { height, position: typeof position === 'number' ? position : 0 })
      }
      if (rows.length < this.#pageRows) break
    }
    const hash = await this.#rpc.node('getblockhash', [cursor.height])
    if (hash !== cursor.hash) throw new Error('The node has replaced many blocks')
    return { cursor, places }
  }

  async #cursorBelow(tip: NodeTip): Promise<NodeTip | undefined> {
    const height = tip.height - DEPTH
    if (height < 0) return undefined
    const hash = await this.#rpc.node('getblockhash', [height])
    return isTxHash(hash) ? { hash, height } : undefined
  }

  /** A transaction has a row for each output; what waits must be in the mempool, because a wallet remembers what a node has dropped. */
  async #placesOf(rows: readonly Json[], tip: number): Promise<Places> {
    const places = new Map<string, Place>()
    const waiting = new Set<string>()
    for (const row of rows) {
      const { txid, confirmations, blockheight, blockindex } = asObject(row)
      if (!isTxHash(txid) || typeof confirmations !== 'number')
        throw new ElectrumFault('The node sent a bad list of payments')
      if (confirmations === 0) waiting.add(txid)
      if (confirmations <= 0) continue
      const height = typeof blockheight === 'number' ? blockheight : tip - confirmations + 1
      places.set(txid, { height, position: typeof blockindex === 'number' ? blockindex : 0 })
    }
    const candidates = [...waiting]
    const entries = await this.#rpc.many(
      candidates.map(txid => ({ method: 'getmempoolentry', params: [txid] }))
    )
    candidates.forEach((txid, at) => {
      const entry = entries[at]
      // A node that starts knows nothing yet; -5 alone says that it is not there.
      if (entry instanceof NodeRefusal && entry.code !== -5) throw entry
      if (!(entry instanceof NodeRefusal) && !places.has(txid)) places.set(txid, { height: 0, position: 0 })
    })
    return places
  }

  /** Reads the transactions that are not known, to see which scripts they pay to and spend from. */
  async #readBytes(txids: readonly string[]): Promise<void> {
    const missing = txids.filter(txid => !this.#outputs.has(txid))
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const wanted = missing.slice(at, at + AT_ONCE)
      const replies = await this.#rpc.many(
        wanted.map(txid => ({ method: 'gettransaction', params: [txid, true] }))
      )
      wanted.forEach((txid, index) => {
        const reply = replies[index]
        if (reply === undefined || reply instanceof NodeRefusal)
          throw new ElectrumFault('The node has lost a payment')
        this.#index(txid, asObject(reply).hex)
      })
    }
  }

  #index(txid: string, bytes: Json | Uint8Array | undefined): void {
    let raw: ReturnType<typeof parseRawTx>
    try {
      raw = parseRawTx(bytes instanceof Uint8Array ? bytes : this.#crypto.fromHex(String(bytes)))
    } catch {
      throw new ElectrumFault('The node sent bytes that are no transaction')
    }
    const outputs = raw.outputs.map(({ script }) => hexOfReversed(sha256(script)))
    this.#outputs.set(txid, outputs)
    for (const scripthash of outputs) this.#link(scripthash, txid)
    for (const { txid: parent, vout: index } of raw.inputs) {
      const scripthash = this.#outputs.get(parent)?.[index]
      if (scripthash !== undefined) this.#link(scripthash, txid)
      else this.#spenders.set(parent, [...(this.#spenders.get(parent) ?? []), { txid, index }])
    }
    for (const { txid: spender, index } of this.#spenders.get(txid) ?? []) {
      const scripthash = outputs[index]
      if (scripthash !== undefined) this.#link(scripthash, spender)
    }
    this.#spenders.delete(txid)
  }

  #link(scripthash: string, txid: string): void {
    const known = this.#scripts.get(scripthash)
    if (known === undefined) this.#scripts.set(scripthash, new Set([txid]))
    else known.add(txid)
  }

  /** Puts these places in place of all above a height, and of what is gone. @returns the scripts that this touches */
  #replace(
    found: ReadonlyMap<string, Place>,
    { above, gone }: { readonly above: number; readonly gone: ReadonlySet<Json | undefined> }
  ): ReadonlySet<string> {
    const moved = new Set<string>()
    for (const [txid, { height }] of [...this.#places]) {
      if (found.has(txid) || (height > 0 && height <= above && !gone.has(txid))) continue
      this.#places.delete(txid)
      moved.add(txid)
    }
    for (const [txid, place] of found) {
      const before = this.#places.get(txid)
      if (before?.height !== place.height || before.position !== place.position) moved.add(txid)
      this.#places.set(txid, place)
    }
    const changed = new Set<string>()
    if (moved.size > 0)
      for (const [scripthash, txids] of this.#scripts)
        if ([...txids].some(txid => moved.has(txid))) changed.add(scripthash)
    return changed
  }
}

const heightOf = (reply: Json): number => {
  const { height } = asObject(reply)
  if (typeof height === 'number' && Number.isInteger(height) && height >= 0) return height
  throw new ElectrumFault('The node sent a bad block')
}

/** Of one page: some 10 MB, as a reply may have 64. */
const PAGE_ROWS = 20_000
const MAX_ROWS = 20_000_000
/** A node counts through all rows before a page. */
const PAGE_MS = 120_000
/** A node that loads its blocks (RPC_IN_WARMUP). */
const STARTING = -28
/** Blocks that are read again each time. */
const DEPTH = 10
/** Transactions of one request. */
const AT_ONCE = 50
