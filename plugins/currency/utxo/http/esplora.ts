import {
  compact,
  type FetchReply,
  type Io,
  type Json,
  type JsonObject,
  patienceOf,
  tryJsonText
} from '../../../../kernel/plugin-api.ts'
import { hexOf, isTxHash } from '../chain/transaction.ts'
import {
  type ChainServer,
  type ConnectionHandlers,
  type ElectrumCall,
  ElectrumFault,
  hostOf
} from '../electrum/connection.ts'
import { type HistoryItem, statusOf } from '../electrum/replies.ts'
import { isNodesReason } from '../electrum/requests.ts'
import { asObject, PolledConnection, refuse } from './polled-connection.ts'
import { PARALLEL, PAYMENT_WAIT_MS, type QueuedRequest, RequestQueue } from './request-queue.ts'

/** Reads `esplora+https://host/api` or `esplora+http://…`; undefined for anything else. */
export const readEsploraUrl = (url: string): ChainServer | undefined => {
  const address =
    /^esplora\+(https?:\/\/(?:\[[0-9a-f:]+\]|[a-z0-9._-]+)(?::\d{1,5})?(?:\/[^\s?#@]*?)?)\/*$/i.exec(url)?.[1]
  if (address === undefined) return undefined
  return {
    url,
    open: (io, handlers, circuit) => EsploraConnection.open(io, { url, address, circuit }, handlers)
  }
}

interface EsploraOptions {
  readonly url: string
  readonly address: string
  readonly circuit: string | undefined
}

/** A block at the end of the chain. */
interface Tip {
  readonly hash: string
  readonly height: number
  readonly hex: string
  readonly previous: string
}

type RequestLimit = Pick<QueuedRequest, 'isUrgent' | 'until'>

/** Of the chain and of payments: a wallet asks for a hundred scripts and more at once. */
const URGENT: RequestLimit = { isUrgent: true }

/** What is known of a script that is subscribed. */
interface Watched {
  history: readonly HistoryItem[]
  /** When the server said so; a question that follows at once is answered with it. */
  readAt: number
  /** A block under its payments has been replaced. */
  isStale: boolean
}

/** A server of the Esplora interface. It shows at most 50 unconfirmed payments of a script. */
class EsploraConnection extends PolledConnection {
  readonly scriptsAtOnce = SCRIPTS_AT_ONCE
  readonly #io: Io
  readonly #queue: RequestQueue
  readonly #pace: typeof PUBLIC_PACE
  readonly #watched = new Map<string, Watched>()
  /** Histories that are read now: the question for a status and the one for its history are answered with the same. */
  readonly #reading = new Map<string, Promise<readonly HistoryItem[]>>()
  /** Scripts to look at: all in turn, those where something is likely, and those that a new block is likely to have changed. */
  #turn: string[] = []
  #likely: string[] = []
  #changed: string[] = []
  #isLikelyNext = true
  #likelyAt = Number.NEGATIVE_INFINITY
  #lookMs = 0
  #isFollowing = false
  #tip: Tip | undefined
  #tipAt = Number.NEGATIVE_INFINITY
  /** The newest block that the owner knows of; other questions find newer ones. */
  #reported = ''
  #rates: { readonly at: number; readonly reply: Promise<JsonObject> } | undefined

  private constructor(io: Io, { url, address, circuit }: EsploraOptions, handlers: ConnectionHandlers) {
    const pace = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostOf({ url })) ? OWN_PACE : PUBLIC_PACE
    super({ url, clock: io.clock, lookMs: pace.lookMs }, handlers)
    this.#io = io
    this.#pace = pace
    const { onBusy } = handlers
    this.#queue = new RequestQueue(io, {
      ...{ base: address, circuit, busyStatuses: [429, 503], waitMs: 5000 },
      ...compact({ onBusy })
    })
  }

  /** Connects: rejects if the server does not show its newest block within 10 s, three times that through a proxy. */
  static open(io: Io, options: EsploraOptions, handlers: ConnectionHandlers): Promise<EsploraConnection> {
    const self = new EsploraConnection(io, options, handlers)
    return self.begin(() => self.#readTip(io.clock.monotonic() + CONNECT_MS * patienceOf(io)))
  }

  protected override end(): void {
    this.#watched.clear()
    this.#reading.clear()
    this.#queue.close()
  }

  protected override async answer({ method, params: [first, second] }: ElectrumCall): Promise<Json> {
    switch (method) {
      case 'server.version':
        return ['esplora', '1.4.2']
      case 'blockchain.headers.subscribe': {
        // That of the greeting is a moment old.
        const tip = this.#isFollowing ? undefined : this.#tip
        this.#isFollowing = true
        const { hash, height, hex } = tip ?? (await this.#readTip())
        this.#reported = hash
        return { height, hex }
      }
      case 'blockchain.block.header':
        return this.#text(`/block/${await this.#hashAt(Number(first))}/header`, URGENT)
      case 'blockchain.block.headers':
        return this.#headers(Number(first), Number(second))
      case 'blockchain.scripthash.subscribe':
        return this.#subscribe(String(first))
      case 'blockchain.scripthash.unsubscribe':
        return this.#watched.delete(String(first))
      case 'blockchain.scripthash.get_history':
        return this.#historyOf(String(first))
      case 'blockchain.scripthash.listunspent':
        return this.#unspentOf(String(first))
      case 'blockchain.transaction.get':
        return this.#text(`/tx/${String(first)}/hex`)
      case 'blockchain.transaction.get_merkle':
        return this.#proofOf(String(first), Number(second))
      case 'blockchain.estimatefee':
        return this.#feeRate(Number(first))
      case 'blockchain.transaction.broadcast':
        return this.#broadcast(String(first))
      default:
        // Of the least fee that nodes relay it says nothing.
        return method === 'blockchain.relayfee' ? -1 : refuse(-32601, 'This server has no such method')
    }
  }

  async #readTip(until?: number): Promise<Tip> {
    const limit = { ...URGENT, ...compact({ until }) }
    const hash = await this.#text('/blocks/tip/hash', limit)
    this.#tipAt = this.#io.clock.monotonic()
    if (this.#tip?.hash === hash) return this.#tip
    if (!isTxHash(hash)) throw new ElectrumFault('The server sent a bad tip')
    const [block, hex] = await Promise.all([
      this.#json(`/block/${hash}`, limit),
      this.#text(`/block/${hash}/header`, limit)
    ])
    const { height, previousblockhash } = asObject(block)
    if (!isHeight(height)) throw new ElectrumFault('The server sent a bad tip')
    const tip = { hash, hex, height, previous: String(previousblockhash) }
    if (this.#tip !== undefined && tip.previous !== this.#tip.hash) this.#markStale()
    this.#tip = tip
    this.#changed = this.#changedByBlock()
    return tip
  }

  /** The numbers of payments stay the same where they have moved to other blocks. */
  #markStale(): void {
    for (const watched of this.#watched.values()) if (watched.history.length > 0) watched.isStale = true
  }

  async #hashAt(height: number): Promise<string> {
    const hash = await this.#text(`/block-height/${height}`, URGENT)
    if (!isTxHash(hash)) throw new ElectrumFault('The server sent a bad block name')
    return hash
  }

  /** Headers of 80 bytes, put together from their fields: ten blocks come with one request. */
  async #headers(start: number, count: number): Promise<Json> {
    const end = Math.min(start + count - 1, (this.#tip ?? (await this.#readTip())).height)
    const found = new Map<number, string>()
    const read = async (from: number): Promise<void> => {
      const blocks = await this.#json(`/blocks/${from}`, URGENT)
      if (!Array.isArray(blocks)) throw new ElectrumFault('The server sent a bad list of blocks')
      for (const block of (blocks as readonly Json[]).slice(0, 100)) {
        const { height } = asObject(block)
        if (isHeight(height)) found.set(height, headerHexOf(asObject(block)))
      }
    }
    const ends: number[] = []
    for (let last = start + BLOCKS - 1; last < end; last += BLOCKS) ends.push(last)
    if (end >= start) ends.push(end)
    // A wallet waits for them, and one question at a time is left for its scripts.
    const readAll = async (): Promise<void> => {
      for (let from = ends.shift(); from !== undefined; from = ends.shift()) await read(from)
    }
    await Promise.all(Array.from({ length: PARALLEL - 1 }, readAll))
    const headers: string[] = []
    for (let height = start; height <= end; height++) {
      const hex = found.get(height)
      // The chain has changed meanwhile, or the server keeps blocks back.
      if (hex === undefined) break
      headers.push(hex)
    }
    return { hex: headers.join(''), count: headers.length, max: count }
  }

  async #subscribe(scripthash: string): Promise<Json> {
    const history = await this.#readHistory(scripthash)
    const watched = { history, readAt: this.#io.clock.monotonic(), isStale: false }
    if (this.isOpen) this.#watched.set(scripthash, watched)
    return statusOf(this.#io.crypto, history)
  }

  async #historyOf(scripthash: string): Promise<Json> {
    const known = this.#watched.get(scripthash)
    if (known !== undefined && this.#io.clock.monotonic() - known.readAt < FRESH_MS) {
      known.readAt = Number.NEGATIVE_INFINITY
      return known.history.map(asItem)
    }
    return (await this.#readHistory(scripthash)).map(asItem)
  }

  #readHistory(scripthash: string): Promise<readonly HistoryItem[]> {
    const reading = this.#reading.get(scripthash) ?? this.#readPages(scripthash)
    this.#reading.set(scripthash, reading)
    const end = (): void => {
      if (this.#reading.get(scripthash) === reading) this.#reading.delete(scripthash)
    }
    reading.then(end, end)
    return reading
  }

  /**
   * In the order of the chain, what waits last.
   *
   * @throws ElectrumFault if it has no end: it is longer than the server has counted, or than 100,000, or takes 15 minutes
   */
  async #readPages(scripthash: string): Promise<readonly HistoryItem[]> {
    const script = `/scripthash/${reversed(this.#io, scripthash)}`
    const waiting: string[] = []
    const mined = new Map<string, number>()
    const until = this.#io.clock.monotonic() + HISTORY_MS * patienceOf(this.#io)
    let most = MAX_PAGE
    let page = await this.#page(`${script}/txs`)
    for (let pages = 1; ; pages++) {
      const before = mined.size
      for (const { txid, height } of page)
        if (height > 0) mined.set(txid, height)
        else if (pages === 1) waiting.push(txid)
      const isLast = page.filter(({ height }) => height > 0).length < SMALLEST_PAGE
      if (isLast) break
      if (mined.size - before < SMALLEST_PAGE) throw new ElectrumFault('The server repeats a history')
      if (pages === 1) most = (await this.#countMined(script)) + MAX_PAGE
      if (mined.size > most || this.#io.clock.monotonic() > until)
        throw new ElectrumFault('The server shows a history without an end')
      page = await this.#page(`${script}/txs/chain/${[...mined.keys()].at(-1)}`)
    }
    return [
      ...[...mined].map(([txid, height]) => ({ txid, height })).reverse(),
      ...waiting.flatMap(txid => (mined.has(txid) ? [] : [{ txid, height: 0 }]))
    ]
  }

  async #countMined(script: string): Promise<number> {
    const count = asObject(asObject(await this.#json(script)).chain_stats).tx_count
    if (typeof count !== 'number' || !(count <= MAX_HISTORY))
      throw new ElectrumFault('The server shows a history that is too long')
    return count
  }

  async #unspentOf(scripthash: string): Promise<Json> {
    const coins = await this.#json(`/scripthash/${reversed(this.#io, scripthash)}/utxo`)
    if (!Array.isArray(coins) || coins.length > MAX_HISTORY)
      throw new ElectrumFault('The server sent a bad list of coins')
    return (coins as readonly Json[]).map(coin => {
      const { txid = null, vout = null, status = null } = asObject(coin)
      const { confirmed, block_height: height = null } = asObject(status)
      return { tx_hash: txid, tx_pos: vout, height: confirmed === true ? height : 0 }
    })
  }

  async #page(path: string): Promise<readonly HistoryItem[]> {
    const page = await this.#json(path)
    if (!Array.isArray(page) || page.length > MAX_PAGE)
      throw new ElectrumFault('The server sent a bad history')
    return (page as readonly Json[]).map(item => {
      const { txid, status } = asObject(item)
      const { confirmed, block_height: height } = asObject(status)
      const isMined = confirmed === true
      if (!isTxHash(txid) || (isMined && !isHeight(height)))
        throw new ElectrumFault('The server sent a bad history')
      return { txid, height: isMined ? (height as number) : 0 }
    })
  }

  async #proofOf(txid: string, height: number): Promise<Json> {
    const proof = asObject(await this.#json(`/tx/${txid}/merkle-proof`))
    if (proof.block_height !== height) refuse(1, `tx not in block at height ${height}`)
    return proof
  }

  /** In coins per 1000 bytes; of a target that is missing, the rate of the next faster one. */
  async #feeRate(blocks: number): Promise<Json> {
    const now = this.#io.clock.monotonic()
    if (this.#rates === undefined || now - this.#rates.at > RATES_MS)
      this.#rates = { at: now, reply: this.#json('/fee-estimates', URGENT).then(asObject) }
    const rates = await this.#rates.reply
    for (let target = blocks; target > 0; target--) {
      const rate = rates[String(target)]
      if (typeof rate === 'number') return rate / 1e5
    }
    return -1
  }

  async #broadcast(signedTx: string): Promise<Json> {
    const { status, text } = await this.#queue.send({
      path: '/tx',
      body: signedTx,
      contentType: 'text/plain',
      sentBefore: this.#io.clock.monotonic() + PAYMENT_WAIT_MS,
      ...URGENT
    })
    if (status === 200) return text.trim()
    // Servers answer so, too, while their node starts or is away, and then nobody has judged the payment.
    const words = text.slice(0, 500)
    if (status === 400) return refuse(isNodesReason(words) ? 1 : -32603, words)
    throw new Error(`The server answered with status ${status}`)
  }

  /** Looks at the newest block where that is due, and at the scripts whose turn it is. */
  protected override async look(): Promise<void> {
    const { clock } = this.#io
    const start = clock.monotonic()
    if (this.#isFollowing && start - this.#tipAt >= this.#pace.tipMs) {
      const tip = await this.#readTip()
      const isNew = tip.hash !== this.#reported
      this.#reported = tip.hash
      if (isNew) this.notify('blockchain.headers.subscribe', [{ height: tip.height, hex: tip.hex }])
    }
    // As many as would be asked for one after another, if the server answered at once.
    const { lookMs, scripts } = this.#pace
    const wanted = Math.min(Math.max(scripts, 1 + Math.floor(this.#lookMs / lookMs)), PARALLEL)
    // A wallet that starts asks about each of its scripts anyway.
    const count = this.#queue.isFull ? 1 : wanted
    await Promise.all(this.#nextScripts(count).map(scripthash => this.#lookAt(scripthash)))
    this.#lookMs = clock.monotonic() - start
  }

  /** Those that a block may have changed first; of the others every second one is likely to have news, where that is due. */
  #nextScripts(count: number): readonly string[] {
    const next = new Set(this.#changed.splice(0, count))
    for (let tries = 0; next.size < count && tries < 2 * count; tries++) {
      const now = this.#io.clock.monotonic()
      if (this.#likely.length === 0 && now - this.#likelyAt >= this.#pace.likelyMs) {
        this.#likely = [...(this.handlers.scripts?.likely() ?? [])]
        this.#likelyAt = now
      }
      if (this.#turn.length === 0) this.#turn = [...this.#watched.keys()].reverse()
      const scripthash = (this.#isLikelyNext ? this.#likely.shift() : undefined) ?? this.#turn.pop()
      this.#isLikelyNext = !this.#isLikelyNext
      if (scripthash !== undefined) next.add(scripthash)
    }
    return [...next]
  }

  /** The scripts whose payments wait, and where blocks have been replaced those with the newest payments first. */
  #changedByBlock(): string[] {
    const found: { readonly scripthash: string; readonly height: number }[] = []
    for (const [scripthash, { history, isStale }] of this.#watched) {
      const last = history.at(-1)
      if (last !== undefined && (isStale || last.height <= 0))
        found.push({ scripthash, height: last.height <= 0 ? Number.POSITIVE_INFINITY : last.height })
    }
    return found.sort((one, other) => other.height - one.height).map(({ scripthash }) => scripthash)
  }

  async #lookAt(scripthash: string): Promise<void> {
    const watched = this.#watched.get(scripthash)
    if (watched === undefined || !(await this.#hasNews(scripthash, watched))) return
    const before = statusOf(this.#io.crypto, watched.history)
    watched.isStale = false
    const history = await this.#readHistory(scripthash)
    watched.history = history
    watched.readAt = this.#io.clock.monotonic()
    const status = statusOf(this.#io.crypto, history)
    if (status !== before) this.notify('blockchain.scripthash.subscribe', [scripthash, status])
  }

  /** True where a history has to be read: of payments that wait, one can take the place of another. */
  async #hasNews(scripthash: string, { history, isStale }: Watched): Promise<boolean> {
    if (isStale || history.length === 0 || history.some(({ height }) => height <= 0)) return true
    const stats = asObject(await this.#json(`/scripthash/${reversed(this.#io, scripthash)}`))
    const [mined, waiting] = [asObject(stats.chain_stats).tx_count, asObject(stats.mempool_stats).tx_count]
    return mined !== history.length || waiting !== 0
  }

  async #text(path: string, limit: RequestLimit = {}): Promise<string> {
    return textOf(await this.#queue.send({ path, ...limit }))
  }

  async #json(path: string, limit: RequestLimit = {}): Promise<Json> {
    const value = tryJsonText(await this.#text(path, limit))
    if (value === undefined) throw new ElectrumFault('The server sent something that is no JSON')
    return value as Json
  }
}

/** How often a server is asked for news, which it does not push. */
const PUBLIC_PACE = { lookMs: 500, scripts: 1, tipMs: 10_000, likelyMs: 10_000 }
/** That of a server on this computer. */
const OWN_PACE: typeof PUBLIC_PACE = { lookMs: 50, scripts: 4, tipMs: 200, likelyMs: 500 }
/** In the first step of a scan: what is found with them is shown before the others are asked about. */
const SCRIPTS_AT_ONCE = 16
/** A history that was read with its status answers the question that follows. */
const FRESH_MS = 10_000
const RATES_MS = 30_000
/** Blocks of one request. */
const BLOCKS = 10
/** Servers send 25 payments at once, some fewer; a page of fewer than these is the last one. */
const SMALLEST_PAGE = 10
const MAX_PAGE = 1000
const MAX_HISTORY = 100_000
const HISTORY_MS = 15 * 60_000
const CONNECT_MS = 10_000

const asItem = ({ txid, height }: HistoryItem): Json => ({ tx_hash: txid, height })

const textOf = ({ status, text }: FetchReply): string => {
  if (status === 200) return text.trim()
  // Its own words could tell users to do something.
  if (status === 404 || status === 400) return refuse(1, 'The server has not what it was asked for')
  throw new Error(`The server answered with status ${status}`)
}

const isHeight = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 500_000_000

/** Esplora names a script by the same hash in the other order. */
const reversed = ({ crypto }: Pick<Io, 'crypto'>, scripthash: string): string =>
  hexOf(crypto.fromHex(scripthash).reverse())

/** The 80 bytes of a header from the fields of its block; a wrong one links to nothing. */
const headerHexOf = (block: JsonObject): string => {
  const view = new DataView(new ArrayBuffer(80))
  const bytes = new Uint8Array(view.buffer)
  const hash = (text: Json | undefined, at: number): void => {
    if (!isTxHash(text)) throw new ElectrumFault('The server sent a bad block')
    for (let i = 0; i < 32; i++) bytes[at + 31 - i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16)
  }
  view.setInt32(0, Number(block.version), true)
  // The first block has none before it.
  if (block.height !== 0) hash(block.previousblockhash, 4)
  hash(block.merkle_root, 36)
  view.setUint32(68, Number(block.timestamp), true)
  view.setUint32(72, Number(block.bits), true)
  view.setUint32(76, Number(block.nonce), true)
  return hexOf(bytes)
}
