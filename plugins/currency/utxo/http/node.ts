import {
  type Io,
  type Json,
  makeAbort,
  type SigningOptions,
  WalletError
} from '../../../../kernel/plugin-api.ts'
import { merklePair } from '../chain/header.ts'
import { isTxHash } from '../chain/transaction.ts'
import type { ChainServer, ConnectionHandlers, ElectrumCall } from '../electrum/connection.ts'
import { statusOf, UNCONFIRMED_ANCESTORS } from '../electrum/replies.ts'
import type { BlockCursor, KeptHistory, WatchedBranch } from '../wallet/scripts.ts'
import { type FoundCoins, searchCoins } from './node-coins.ts'
import { NodeHistory, type NodeTip } from './node-history.ts'
import { NodeRefusal, type NodeRpc } from './node-rpc.ts'
import { NodeWallet, searchedEnds } from './node-wallet.ts'
import { asObject, PolledConnection, refuse } from './polled-connection.ts'
import { PAYMENT_WAIT_MS } from './request-queue.ts'

/** Reads `rpc+http://host:port` or `rpc+https://…`; undefined for anything else. */
export const readNodeUrl = (url: string): ChainServer | undefined => {
  const base = /^rpc\+(https?:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9._-]+):\d{1,5})\/?$/i.exec(url)?.[1]
  if (base === undefined) return undefined
  const server = new NodeWallet(url, base)
  return { url, open: (io, handlers, circuit) => NodeConnection.open({ server, io, circuit }, handlers) }
}

interface NodeConnectionOptions {
  readonly server: NodeWallet
  readonly io: Io
  readonly circuit: string | undefined
}

/**
 * A node without an indexer, asked in the words of the Electrum protocol: a wallet of its own with the addresses, and no keys, finds
 * the payments.
 */
class NodeConnection extends PolledConnection {
  readonly #options: NodeConnectionOptions
  readonly #rpc: NodeRpc
  readonly #history: NodeHistory
  readonly #watched = new Set<string>()
  /** Scripts that were asked about while the node searched the chain. */
  readonly #unanswered = new Set<string>()
  readonly #searched = new Map<string, number>()
  /** How many scripts of each branch wallets knew all payments of. */
  readonly #seeded = new Map<string, number>()
  #covering: Promise<void> | undefined
  /** End the searches for coins. */
  readonly #ends = new Set<() => void>()
  /** The blocks of payments to scripts of others, which were searched for. */
  readonly #foreign = new Map<string, string>()
  #learning: Promise<void> | undefined
  #isFollowing = false
  #tip: NodeTip & { readonly hex: string } = { hash: '', height: 0, hex: '' }
  #reading: Promise<void> | undefined

  private constructor(options: NodeConnectionOptions, handlers: ConnectionHandlers) {
    const { server, io, circuit } = options
    super({ url: server.url, clock: io.clock, lookMs: LOOK_MS }, handlers)
    this.#options = options
    this.#rpc = server.rpc(io, circuit, handlers.onBusy)
    this.#history = new NodeHistory(this.#rpc, io.crypto)
  }

  /** Connects: rejects if the node is not there, refuses the login, or still downloads the chain. */
  static open(options: NodeConnectionOptions, handlers: ConnectionHandlers): Promise<NodeConnection> {
    const self = new NodeConnection(options, handlers)
    return self.begin(() => self.#greet())
  }

  get cursor(): BlockCursor | undefined {
    return this.#history.cursor
  }

  forgetHistory(): void {
    this.#seeded.clear()
    this.#history.forget()
  }

  protected override async answer(call: ElectrumCall): Promise<Json> {
    try {
      return await this.#answer(call)
    } catch (error) {
      // That something is not there is all that a refusal says of it: a node that starts knows nothing yet.
      if (error instanceof NodeRefusal)
        return refuse(error.code === NOT_FOUND ? error.code : -32603, error.message)
      throw error
    }
  }

  async searchCoins(scripts: readonly Uint8Array[], options: SigningOptions): Promise<FoundCoins['coins']> {
    const { server, io, circuit } = this.#options
    // Its own: when this connection ends, it has the node stop.
    const rpc = server.rpc(io, circuit)
    const over = makeAbort()
    const { signal } = options
    signal?.addEventListener('abort', over.abort)
    this.#ends.add(over.abort)
    if (signal?.aborted === true) over.abort()
    try {
      const search = {
        ...{ ...options, signal: over.signal, url: server.url },
        ...{ clock: io.clock, crypto: io.crypto }
      }
      const { coins, blocks } = await searchCoins(rpc, scripts, search)
      for (const [txid, block] of blocks) this.#foreign.set(txid, block)
      return coins
    } finally {
      this.#ends.delete(over.abort)
      signal?.removeEventListener('abort', over.abort)
      // The word to stop is still to leave.
      if (over.signal.aborted) io.clock.after(STOP_MS, () => rpc.close())
      else rpc.close()
    }
  }

  protected override isRefusal(error: unknown): boolean {
    return super.isRefusal(error) || error instanceof WalletError
  }

  protected override look(): Promise<void> {
    return this.#read()
  }

  protected override end(): void {
    for (const end of this.#ends) end()
    this.#rpc.close()
  }

  async #greet(): Promise<void> {
    const { blocks, headers } = asObject(await this.#rpc.node('getblockchaininfo'))
    if (Number(headers) - Number(blocks) > MAX_BEHIND)
      throw new Error(`The node has ${String(blocks)} of ${String(headers)} blocks`)
    await this.#options.server.open(this.#rpc)
    await this.#seed()
    await this.#read()
  }

  async #answer({ method, params: [first = null, second = null] }: ElectrumCall): Promise<Json> {
    switch (method) {
      case 'server.version':
        return ['node', '1.4.2']
      case 'blockchain.headers.subscribe':
        await this.#read()
        this.#isFollowing = true
        return { height: this.#tip.height, hex: this.#tip.hex }
      case 'blockchain.block.header':
        return this.#rpc.node('getblockheader', [await this.#rpc.node('getblockhash', [first]), false])
      case 'blockchain.block.headers':
        return this.#headers(Number(first), Number(second))
      case 'blockchain.scripthash.subscribe':
        return this.#subscribe(String(first))
      case 'blockchain.scripthash.unsubscribe':
        return this.#watched.delete(String(first))
      case 'blockchain.scripthash.get_history':
        await this.#learn(String(first))
        return this.#history.of(String(first)).map(({ txid, height }) => ({ tx_hash: txid, height }))
      case 'blockchain.transaction.get':
        return this.#transaction(String(first))
      case 'blockchain.transaction.get_merkle':
        return this.#proofOf(String(first), Number(second))
      case 'blockchain.estimatefee':
        return this.#feeRate(first)
      case 'blockchain.relayfee':
        return this.#relayFee()
      case UNCONFIRMED_ANCESTORS:
        return this.#ancestorsOf(String(first))
      case 'blockchain.transaction.broadcast':
        return this.#broadcast(String(first))
      default:
        return refuse(-32601, 'A node has no such method')
    }
  }

  async #subscribe(scripthash: string): Promise<Json> {
    await this.#learn(scripthash)
    if (this.isOpen) this.#watched.add(scripthash)
    return this.#status(scripthash)
  }

  #status(scripthash: string): string | null {
    return statusOf(this.#options.io.crypto, this.#history.of(scripthash))
  }

  /** Lets the node's wallet watch a script, if it does not. @throws NETWORK while it searches the chain */
  async #learn(scripthash: string): Promise<void> {
    const { server, io } = this.#options
    const place = this.handlers.scripts?.placeOf(scripthash)
    if (place === undefined)
      throw new WalletError('NOT_SUPPORTED', { what: 'a node without an index for scripts of others' })
    if (place.index < (this.#searched.get(place.first) ?? 0)) return this.#cover(place)
    const learning = this.#learnPlace(place)
    // A question does not wait for hours: one that was left without an answer is asked on another connection.
    learning.catch(error => this.#unanswered.size > 0 && this.close(error))
    const isDone = await Promise.race([
      learning.then(() => true),
      new Promise<boolean>(resolve => io.clock.after(PATIENCE_MS, () => resolve(false)))
    ])
    if (isDone) return this.#cover(place)
    this.#unanswered.add(scripthash)
    throw await server.notYet(this.#rpc)
  }

  /** Begins with the payments that wallets knew: the node is asked for what came since then. */
  async #seed(): Promise<void> {
    const all = this.handlers.scripts?.kept?.() ?? []
    const standing = await this.#standing(all)
    // Of one block that was replaced, the node says what it has taken away.
    const isOne = new Set(all.map(({ cursor }) => cursor.hash)).size === 1
    for (const kept of (isOne ? all : standing).toSorted((a, b) => a.cursor.height - b.cursor.height))
      this.#take(kept)
  }

  #take(kept: KeptHistory): void {
    this.#history.seed(kept)
    for (const [first, count] of kept.counts) this.#seeded.set(first, count)
  }

  /** Those whose block is in the chain. */
  async #standing(kept: readonly KeptHistory[]): Promise<readonly KeptHistory[]> {
    const hashes = await this.#rpc.many(
      kept.map(({ cursor }) => ({ method: 'getblockhash', params: [cursor.height] }))
    )
    return kept.filter(({ cursor }, at) => hashes[at] === cursor.hash)
  }

  /** Reads all payments, if those of a script may be older than what was read. */
  async #cover({ first, index }: { readonly first: string; readonly index: number }): Promise<void> {
    const isCovered = (): boolean => this.#history.isWhole || index < (this.#seeded.get(first) ?? 0)
    if (isCovered()) return
    this.#covering ??= this.#coverAll(first, isCovered).finally(() => (this.#covering = undefined))
    await this.#covering
    if (!isCovered()) await this.#cover({ first, index })
  }

  async #coverAll(first: string, isCovered: () => boolean): Promise<void> {
    // Of a wallet that came later.
    const kept = (this.handlers.scripts?.kept?.() ?? []).filter(({ counts }) => counts.has(first))
    for (const each of this.#seeded.has(first) ? [] : await this.#standing(kept))
      if (this.#history.reaches(each.cursor)) this.#take(each)
    if (isCovered()) return
    this.#history.forget()
    await this.#read()
  }

  async #learnPlace({ first, index }: { readonly first: string; readonly index: number }): Promise<void> {
    const isKnown = (): boolean => index < (this.#searched.get(first) ?? 0)
    // What another wallet has begun does not have these keys.
    for (let tries = 0; tries < 2 && !isKnown() && this.isOpen; tries++) {
      this.#learning ??= this.#learnAll().finally(() => (this.#learning = undefined))
      await this.#learning
    }
    if (!isKnown()) throw await this.#options.server.notYet(this.#rpc)
  }

  async #learnAll(): Promise<void> {
    const { server, io, circuit } = this.#options
    const branches = (): readonly WatchedBranch[] => this.handlers.scripts?.branches() ?? []
    if (await this.#noteSearched(branches())) return
    await server.learn(io, circuit, branches)
    if (!this.isOpen) return
    await this.#noteSearched(branches())
    this.#history.forget()
    await this.#read()
    for (const scripthash of this.#unanswered) this.#notifyStatus(scripthash)
    this.#unanswered.clear()
  }

  /** @returns true if the chain was searched for all of them */
  async #noteSearched(branches: readonly WatchedBranch[]): Promise<boolean> {
    const ends = await searchedEnds(this.#rpc, branches)
    for (const [at, { first }] of branches.entries()) this.#searched.set(first, ends[at] ?? 0)
    return branches.every(({ count }, at) => count <= (ends[at] ?? 0))
  }

  /** Reads what is new, and tells it; one after another. */
  async #read(): Promise<void> {
    await this.#reading?.catch(() => undefined)
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  async #readOnce(): Promise<void> {
    const { tip, changed } = await this.#history.read()
    const isNew = tip.hash !== this.#tip.hash
    if (isNew) this.#tip = { ...tip, hex: String(await this.#rpc.node('getblockheader', [tip.hash, false])) }
    if (!this.isOpen) return
    if (isNew && this.#isFollowing)
      this.notify('blockchain.headers.subscribe', [{ height: tip.height, hex: this.#tip.hex }])
    for (const scripthash of changed) if (this.#watched.has(scripthash)) this.#notifyStatus(scripthash)
  }

  #notifyStatus(scripthash: string): void {
    this.notify('blockchain.scripthash.subscribe', [scripthash, this.#status(scripthash)])
  }

  async #headers(start: number, count: number): Promise<Json> {
    const end = Math.min(start + count - 1, this.#tip.height)
    const heights = Array.from({ length: Math.max(0, end - start + 1) }, (_, at) => start + at)
    const hashes = await this.#rpc.many(heights.map(height => ({ method: 'getblockhash', params: [height] })))
    const known = hashes.filter(isTxHash)
    const headers = await this.#rpc.many(
      known.map(hash => ({ method: 'getblockheader', params: [hash, false] }))
    )
    const hex = headers.map(header => (typeof header === 'string' ? header : '')).join('')
    return { hex, count: headers.length, max: count }
  }

  /** Of what waits, only what is in the mempool: the wallet remembers what the node has dropped. */
  async #transaction(txid: string): Promise<Json> {
    const block = this.#foreign.get(txid)
    if (block !== undefined) return this.#rpc.node('getrawtransaction', [txid, false, block])
    if (!this.#history.has(txid)) {
      const { hex, blockhash, confirmations } = asObject(
        await this.#rpc.node('getrawtransaction', [txid, true])
      )
      // A node with an index of transactions has those of blocks that were replaced, too.
      const isStale = blockhash !== undefined && !(Number(confirmations) > 0)
      return isStale ? refuse(NOT_FOUND, 'It is in a block that was replaced') : (hex ?? null)
    }
    return asObject(await this.#rpc.wallet('gettransaction', [txid, true])).hex ?? null
  }

  /** A payment of the mempool and all those of it that it is built on; of what these spend the node may have no bytes. */
  async #ancestorsOf(txid: string): Promise<Json> {
    const own = await this.#rpc.node('getmempoolentry', [txid])
    const others = asObject(await this.#rpc.node('getmempoolancestors', [txid, true]))
    return Object.entries({ ...others, [txid]: own }).map(([id, entry]) => {
      const { vsize, size, fees, fee } = asObject(entry)
      return { txid: id, vsize: vsize ?? size ?? null, fee: asObject(fees).base ?? fee ?? null }
    })
  }

  async #proofOf(txid: string, height: number): Promise<Json> {
    const hash = await this.#rpc.node('getblockhash', [height])
    const { tx } = asObject(await this.#rpc.node('getblock', [hash, 1]))
    const pos = Array.isArray(tx) ? tx.indexOf(txid) : -1
    if (pos < 0 || !Array.isArray(tx) || !tx.every(isTxHash))
      return refuse(1, `tx not in block at height ${height}`)
    const merkle: string[] = []
    let row: readonly string[] = tx
    for (let at = pos; row.length > 1; at = Math.floor(at / 2)) {
      const level = row
      merkle.push(level[at ^ 1] ?? (level[at] as string))
      row = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) =>
        merklePair(level[i * 2] as string, level[i * 2 + 1] ?? (level[i * 2] as string))
      )
    }
    return { block_height: height, merkle, pos }
  }

  async #feeRate(blocks: Json): Promise<Json> {
    const [smart = null] = await this.#rpc.many([
      { method: 'estimatesmartfee', params: [blocks, 'economical'] }
    ])
    // Nodes of Bitcoin Cash have one rate for all.
    if (smart instanceof NodeRefusal) return this.#rpc.node('estimatefee')
    return asObject(smart).feerate ?? -1
  }

  async #relayFee(): Promise<Json> {
    const { mempoolminfee, minrelaytxfee } = asObject(await this.#rpc.node('getmempoolinfo'))
    return Math.max(Number(mempoolminfee ?? 0), Number(minrelaytxfee ?? 0))
  }

  /** The node judges it first: what it would refuse does not leave. */
  async #broadcast(signedTx: string): Promise<Json> {
    const limits = { sentBefore: this.#options.io.clock.monotonic() + PAYMENT_WAIT_MS }
    const calls = [{ method: 'testmempoolaccept', params: [[signedTx]] }]
    const [verdicts = null] = await this.#rpc.many(calls, limits)
    const verdict = asObject(Array.isArray(verdicts) ? verdicts[0] : null)
    if (verdict.allowed === false) return refuse(1, String(verdict['reject-reason']).slice(0, 500))
    const [answer = null] = await this.#rpc.many(
      [{ method: 'sendrawtransaction', params: [signedTx] }],
      limits
    )
    if (answer instanceof NodeRefusal)
      return VERDICTS.includes(answer.code) ? refuse(1, answer.words) : refuse(-32603, answer.message)
    this.#read().catch(() => undefined)
    return answer
  }
}

/** "Invalid address or key": there is no such block, payment or script. */
const NOT_FOUND = -5

/** A node that loads its blocks, or downloads them, is behind its headers. */
const MAX_BEHIND = 6
/** A transaction that is none, or that the node does not take. */
const VERDICTS: readonly number[] = [-22, -25, -26, -27]
const LOOK_MS = 1000
const STOP_MS = 5000
/** A question waits for so long while the node searches the chain; then it is asked again later. */
const PATIENCE_MS = 10_000
