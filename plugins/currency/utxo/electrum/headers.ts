import { compact, type Disk, type Io, type Json, makeYielder } from '../../../../kernel/plugin-api.ts'
import { lookBackOf } from '../chain/difficulty.ts'
import { type BlockHeader, parseHeader } from '../chain/header.ts'
import { type ChainOrigin, ChainRefusal, HeaderChain, MAX_LINKED } from '../chain/header-chain.ts'
import type { HeaderForm, NetworkRow } from '../params/coin.ts'
import { type ElectrumCall, ElectrumFault, hostOf } from './connection.ts'
import { readHeaderHex } from './replies.ts'
import type { Testimony, WitnessQuery } from './witness.ts'

/** The newest block a server knows. */
export interface ChainTip {
  readonly height: number
  readonly header: BlockHeader
}

/** Block headers by height, bounded, and forgotten near the tip when the chain turns out to be another one. */
export class HeaderCache {
  readonly #io: Pick<Io, 'clock' | 'crypto'>
  readonly #network: Pick<NetworkRow, 'headerForm' | 'work'>
  readonly #headers = new Map<number, BlockHeader>()
  #reorgs = 0

  constructor(io: Pick<Io, 'clock' | 'crypto'>, network: Pick<NetworkRow, 'headerForm' | 'work'>) {
    this.#io = io
    this.#network = network
  }

  /** Parses a header. @throws ElectrumFault if it is damaged or lacks work */
  read(hex: string): BlockHeader {
    try {
      return parseHeader(this.#io.crypto.fromHex(hex), this.#network)
    } catch (error) {
      throw new ElectrumFault(error instanceof Error ? error.message : 'The server sent a bad block header')
    }
  }

  /** Takes a new tip in. */
  extend(before: ChainTip | undefined, { height, header }: ChainTip): void {
    if (
      before !== undefined &&
      before.header.hash !== header.hash &&
      header.previous !== before.header.hash
    ) {
      // Another chain, or blocks missed: what is remembered near the tip may be of blocks that are gone.
      this.#reorgs += 1
      const safe = Math.min(before.height, height) - MAX_REORG
      for (const cached of this.#headers.keys()) if (cached > safe) this.#headers.delete(cached)
    }
    this.#headers.set(height, header)
  }

  /**
   * Headers by height; what is not remembered is asked for.
   *
   * @param isGone - true of a block that is in no chain any more
   * @throws ElectrumFault, NETWORK
   */
  async fetch(
    heights: readonly number[],
    callMany: (calls: readonly ElectrumCall[]) => readonly Promise<Json>[],
    isGone: (height: number, hash: string) => boolean = () => false
  ): Promise<ReadonlyMap<number, BlockHeader>> {
    const reorgs = this.#reorgs
    const found = new Map<number, BlockHeader>()
    const missing: number[] = []
    for (const height of new Set(heights)) {
      const header = this.#headers.get(height)
      if (header === undefined || isGone(height, header.hash)) missing.push(height)
      else found.set(height, header)
    }
    if (missing.length === 0) return found
    const replies = await Promise.all(
      callMany(missing.map(height => ({ method: 'blockchain.block.header', params: [height] })))
    )
    if (this.#headers.size > MAX_HEADERS) this.#headers.clear()
    const yielder = makeYielder(this.#io.clock)
    for (const [at, reply] of replies.entries()) {
      const height = missing[at] as number
      const header = this.read(readHeaderHex(reply))
      // Asked before a reorganisation, it may be of a block that is gone.
      if (reorgs === this.#reorgs) this.#headers.set(height, header)
      found.set(height, header)
      await yielder()
    }
    return found
  }
}

const MAX_HEADERS = 20_000
const MAX_REORG = 100

/** Asks a server for headers that follow each other; fewer come where its chain ends. @throws ElectrumFault, NETWORK */
export type HeaderQuery = (start: number, count: number) => Promise<readonly Uint8Array[]>

/**
 * The linked headers of a network: what all wallets of a coin share, kept on the disk for the next start.
 *
 * From the checkpoint on where that is near enough; elsewhere from a header of the last weeks.
 */
export class LinkedHeaders {
  readonly #io: Io
  readonly #network: NetworkRow
  readonly #disk: HeaderDisk
  #chain: HeaderChain | undefined
  #loading: Promise<void> | undefined
  /** The first height that the disk does not have as it is here. */
  #unsavedFrom = 0
  #turn: Promise<unknown> = Promise.resolve()
  readonly #listeners = new Set<() => void>()
  /** The host whose newest block was the chain's when it was linked last, and that so has all of the chain. */
  #shownBy: string | undefined
  /** The newest blocks that are too old, by the host that has shown them since a server was last believed. */
  readonly #staleTips = new Map<string, number>()

  constructor(io: Io, network: NetworkRow, disk: HeaderDisk) {
    this.#io = io
    this.#network = network
    this.#disk = disk
  }

  /** Reads what an earlier session has linked; damage means that it is linked again. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch(() => {
      this.#chain = undefined
    })
    return this.#loading
  }

  /** Forgets everything, on the disk too, so that the next server begins at the checkpoint. */
  forget(): Promise<void> {
    // In its turn: nothing is linked to what is being forgotten.
    const done = this.#turn
      .catch(() => undefined)
      .then(async () => {
        this.#startFrom(undefined)
        await this.#disk.setText(this.#path('tip'), '').catch(() => undefined)
      })
    this.#turn = done
    return done
  }

  /** The span to ask with the first questions to a server, so that a later start needs no other round trip. */
  get nextSpan(): { readonly start: number; readonly count: number } | undefined {
    const chain = this.#chain
    if (chain === undefined || this.#network.linking === undefined) return undefined
    return { start: Math.max(chain.base, chain.tip - OVERLAP + 1), count: SPAN }
  }

  /**
   * Returns what the chain says of a block at a height: the origin of the chain if it is in it, `other` if another block is, and
   * undefined where the chain has none.
   */
  standingOf(height: number, hash: string): ChainOrigin | 'other' | undefined {
    const known = this.#chain?.hashAt(height)
    if (known === undefined) return undefined
    return known === hash ? this.#chain?.origin : 'other'
  }

  get headerForm(): HeaderForm | undefined {
    return this.#network.headerForm
  }

  /** The height of the newest linked block that no single server can have made up, above which no lock time goes; 0 for none. */
  get safeHeight(): number {
    const chain = this.#chain
    const { linking } = this.#network
    if (chain === undefined || linking === undefined || linking.isWorthless === true) return 0
    return chain.origin === 'claimed' ? 0 : Math.max(0, chain.tip)
  }

  /** True if headers of this network are linked here. */
  get isLinking(): boolean {
    return this.#network.linking !== undefined
  }

  /** True once a chain is known that a new block extends. */
  get isBegun(): boolean {
    return this.#chain !== undefined
  }

  /**
   * Links headers up to the newest one of a server, one server at a time.
   *
   * @returns the newest one, which may have become another meanwhile
   * @throws ChainRefusal if its chain is not believed; ElectrumFault, NETWORK
   */
  link(tip: ChainTip, query: HeaderQuery, options: LinkOptions = {}): Promise<ChainTip> {
    const done = this.#turn.catch(() => undefined).then(() => this.#tryLink(tip, query, options))
    this.#turn = done
    return done
  }

  // What a server shows in vain takes nothing away, and what one only claimed gives way: a liar keeps no honest server out.
  async #tryLink(first: ChainTip, query: HeaderQuery, options: LinkOptions): Promise<ChainTip> {
    const known = this.#chain
    let tip = first
    for (let moves = 0; ; moves++) {
      try {
        await this.#link(tip, query, moves === 0 ? options : { ...options, early: undefined })
        this.#staleTips.clear()
        if (this.#chain !== undefined && this.#chain.tip <= tip.height) this.#shownBy = options.host ?? ''
        return tip
      } catch (error) {
        const chain = this.#chain
        const isEmpty = chain !== undefined && chain.tip < chain.base
        if (chain !== known && (known !== undefined || isEmpty)) this.#startFrom(known)
        // A server that names another newest block has no lighter task: what is known stays until it is given up.
        const next = moves < MAX_MOVES && isOfChain(error) ? await options.findNext?.(tip) : undefined
        if (next === undefined) {
          if (this.#chain?.origin === 'claimed' && error instanceof ChainRefusal) this.#startFrom(undefined)
          throw error
        }
        tip = next
      }
    }
  }

  #startFrom(chain: HeaderChain | undefined): void {
    this.#chain = chain
    this.#unsavedFrom = 0
  }

  /**
   * Puts a question to a second server, and with it the one for the first block of the chain, where that is no checkpoint, and for
   * one of its newest: the chain is agreed if both servers have both. The first alone would let one server go on from it as it likes.
   * Who has shown the chain is no second server to it, whichever server the wallet has that asks.
   */
  async witness(
    query: WitnessQuery,
    send: (full: WitnessQuery) => Promise<Testimony | undefined>
  ): Promise<Testimony | undefined> {
    const chain = this.#chain?.origin === 'claimed' ? this.#chain : undefined
    const ends = chain === undefined ? [] : [chain.base, Math.max(chain.base, chain.tip - MAX_BEHIND)]
    const known = ends.map(height => [height, chain?.hashAt(height)] as const)
    const shownBy = this.#shownBy
    const testimony = await send({ ...query, heights: [...query.heights, ...ends] })
    const isSame = known.every(
      ([height, hash]) => hash !== undefined && testimony?.hashes.get(height) === hash
    )
    const isOther =
      testimony !== undefined && ![undefined, hostOf({ url: testimony.server })].includes(shownBy)
    if (!isSame || !isOther || chain === undefined || chain !== this.#chain || chain.origin !== 'claimed')
      return testimony
    chain.agree()
    await this.#save(true)
    for (const onAgreed of [...this.#listeners]) onAgreed()
    return testimony
  }

  /** Calls a listener whenever a second server has agreed on the chain; the returned function ends that. */
  listen(onAgreed: () => void): () => void {
    this.#listeners.add(onAgreed)
    return () => this.#listeners.delete(onAgreed)
  }

  async #link(tip: ChainTip, query: HeaderQuery, { early, host = '' }: LinkOptions): Promise<void> {
    const { linking, work } = this.#network
    if (linking === undefined) return
    const isMain = work !== undefined && linking.hasLateBlocks !== true
    if (isMain && tip.header.time < this.#io.clock.now() / 1000 - MAX_AGE) throw this.#oldTip(tip, host)
    if (this.#chain !== undefined && tip.height - this.#chain.tip > this.#limit) {
      const last = this.#chain.blockAt(this.#chain.tip)?.time
      const seconds = this.#io.clock.now() / 1000 - (last ?? 0)
      if (isMain && last !== undefined && (tip.height - this.#chain.tip) * linking.spacing > 3 * seconds)
        throw new ChainRefusal('forged', 'The server claims more blocks than there was time for')
      this.#chain = undefined
    }
    this.#chain ??= this.#begin(tip.height)
    const chain = this.#chain
    const first = this.#network.checkpoint?.height ?? 0
    let step = OVERLAP
    let searches = 0
    let start = Math.max(chain.base, Math.min(chain.tip, tip.height) - step + 1)
    let headers: Uint8Array[] = []
    if (early !== undefined && early.start >= chain.base && early.start <= chain.tip + 1) {
      start = early.start
      headers = [...early.headers]
    }
    while (chain.hashAt(tip.height) !== tip.header.hash) {
      const next = start + headers.length
      if (next <= tip.height) {
        const wanted = Math.min(SPAN, tip.height - next + 1)
        const more = await query(next, wanted)
        // One at a time would keep every other server waiting for hours.
        if (more.length < Math.min(wanted, FEWEST))
          throw new ElectrumFault('The server has fewer blocks than it says')
        headers.push(...more)
      }
      const end = start + headers.length - 1
      if (chain.tip >= chain.base && start > chain.base && !this.#meets(start, headers)) {
        // It parts from the known chain further down. What goes on from nothing that it showed before would be searched for without end.
        searches++
        if (searches > MAX_SEARCHES || chain.tip - start > MAX_FORK)
          throw new ChainRefusal('forged', 'The server has another chain than the one that is known')
        step *= 12
        start = Math.max(chain.base, Math.min(chain.tip, tip.height) - step + 1)
        headers = []
        continue
      }
      const isWhole =
        end >= tip.height || end > chain.tip + OVERLAP || (end >= chain.tip && this.#extends(start, headers))
      if (!isWhole || (chain.origin === 'checkpoint' && end < first)) continue
      const { base } = chain
      await chain.take(start, headers)
      this.#unsavedFrom = chain.base === base ? Math.min(this.#unsavedFrom, start) : chain.base
      await this.#save()
      if (end >= tip.height && chain.hashAt(tip.height) !== tip.header.hash)
        throw new ChainRefusal('forged', 'The newest block of the server is not in the chain that it shows')
      start = end + 1
      headers = []
    }
    if (chain.tip - tip.height > MAX_BEHIND)
      throw new ChainRefusal('stale', `The server is ${chain.tip - tip.height} blocks behind`)
  }

  /** One server may hang; the newest block of two is old only by a clock that is ahead. */
  #oldTip({ height }: ChainTip, host: string): ChainRefusal {
    const isShared = [...this.#staleTips].some(
      ([other, end]) => other !== host && Math.abs(end - height) <= MAX_BEHIND
    )
    this.#staleTips.set(host, height)
    if (isShared)
      return new ChainRefusal('clock', 'The newest block of two servers is more than a day old by it')
    return new ChainRefusal(
      'stale',
      'The newest block of the server is more than a day old, or the clock of this device is ahead'
    )
  }

  // A chain of work that is cheap to check is linked from the checkpoint on, at two milliseconds for each block of Litecoin only
  // from a window.
  get #limit(): number {
    const { work, linking } = this.#network
    if (linking?.isWorthless === true) return WINDOW * 2
    return typeof work === 'object' && work.hash === 'scrypt' ? SPAN * 10 : MAX_LINKED - SPAN * 4
  }

  #begin(tip: number): HeaderChain {
    const { checkpoint, linking } = this.#network
    const height = checkpoint?.height ?? 0
    const lookBack = linking === undefined ? 0 : lookBackOf(linking)
    const isNear = linking?.isWorthless !== true && tip - height <= this.#limit
    this.#unsavedFrom = 0
    if (isNear)
      return new HeaderChain(this.#io, this.#network, {
        base: Math.max(0, height - lookBack),
        origin: 'checkpoint'
      })
    // With a period, so that no target in the window is unknown; Litecoin's next target follows from the block before it.
    const isFromBefore = linking?.difficulty.kind === 'period' && linking.difficulty.isFromBefore === true
    const base = Math.max(0, Math.floor((tip - WINDOW) / SPAN) * SPAN - (isFromBefore ? 1 : 0))
    return new HeaderChain(this.#io, this.#network, { base, origin: 'claimed' })
  }

  /** True if the first header that is known is linked to what is known. */
  #meets(start: number, headers: readonly Uint8Array[]): boolean {
    const [first] = headers
    if (first === undefined) return true
    const { hash, previous } = readPlain(first, this.#network)
    const chain = this.#chain
    return chain?.hashAt(start) === hash || chain?.hashAt(start - 1) === previous
  }

  /** True if headers go on from the newest that is known. */
  #extends(start: number, headers: readonly Uint8Array[]): boolean {
    const chain = this.#chain
    if (chain === undefined || chain.tip < chain.base) return true
    if (start === chain.tip + 1) return true
    const same = headers[chain.tip - start]
    return same !== undefined && readPlain(same, this.#network).hash === chain.hashAt(chain.tip)
  }

  async #read(): Promise<void> {
    const text = (await this.#disk.getText(this.#path('tip'))) ?? ''
    const [, base = '', tip = '', hash = '', origin = ''] =
      /^(\d{1,9}) (\d{1,9}) ([0-9a-f]{64}) (checkpoint|agreed|claimed)$/.exec(text) ?? []
    if (hash === '' || this.#network.linking === undefined) return
    const chain = new HeaderChain(this.#io, this.#network, {
      base: Number(base),
      origin: origin as ChainOrigin
    })
    for (let part = partOf(chain.base); part <= partOf(Number(tip)); part++) {
      const base64 = (await this.#disk.getText(this.#path(String(part)))) ?? ''
      chain.restore(this.#io.crypto.fromBase64(base64))
    }
    const { checkpoint } = this.#network
    const isNetwork =
      checkpoint === undefined ||
      chain.base > checkpoint.height ||
      chain.hashAt(checkpoint.height) === checkpoint.hash
    if (chain.tip !== Number(tip) || chain.hashAt(chain.tip) !== hash || !isNetwork) return
    this.#chain = chain
    this.#unsavedFrom = chain.tip + 1
  }

  /** A cache: what cannot be written is linked again by the next session. */
  async #save(isForced = false): Promise<void> {
    const chain = this.#chain
    if (chain === undefined || (!isForced && chain.tip - this.#unsavedFrom < SAVE_EACH)) return
    try {
      for (let part = partOf(Math.max(chain.base, this.#unsavedFrom)); part <= partOf(chain.tip); part++) {
        const entries = chain.entries(part * SPAN, (part + 1) * SPAN - 1)
        await this.#disk.setText(this.#path(String(part)), this.#io.crypto.toBase64(entries))
      }
      const line = [chain.base, chain.tip, chain.hashAt(chain.tip), chain.origin].join(' ')
      await this.#disk.setText(this.#path('tip'), line)
      this.#unsavedFrom = chain.tip + 1
    } catch {
      // The disk is full, or closed.
    }
  }

  #path(name: string): string {
    return `headers-${this.#network.name}/${name}`
  }
}

/** What is known of a server whose headers are linked. */
interface LinkOptions {
  /** Headers that came with the first answers, from `nextSpan` on. */
  readonly early?: { readonly start: number; readonly headers: readonly Uint8Array[] } | undefined
  readonly host?: string
  /** Asks the server for its newest block again, after a failure; gives one that is another than before. */
  readonly findNext?: (tip: ChainTip) => Promise<ChainTip | undefined>
}

/** True of what a chain that has changed meanwhile looks like: headers that do not fit together, or too few. */
const isOfChain = (error: unknown): boolean =>
  error instanceof ElectrumFault ||
  (error instanceof ChainRefusal && (error.reason === 'forged' || error.reason === 'weaker'))

/** How often the chain of a server may change while it is linked; a liar would change it without end. */
const MAX_MOVES = 3

/** Where linked headers are kept. */
type HeaderDisk = Pick<Disk, 'getText' | 'setText'>

/** Headers of one request, and of one file. */
const SPAN = 2016
const WINDOW = 2016
/** A server that has more headers sends at least so many at once. */
const FEWEST = 500
/** How many known headers are asked again: a fork of fewer blocks costs no further trip. */
const OVERLAP = 12
const MAX_FORK = 2016
/** Each search looks twelve times as far back as the one before. */
const MAX_SEARCHES = 3
/** A server may be this many blocks behind another. */
const MAX_BEHIND = 6
/** Seconds since the newest block of a chain whose blocks come each few minutes. */
const MAX_AGE = 86_400
/** Blocks that one write waits for. */
const SAVE_EACH = OVERLAP

const partOf = (height: number): number => Math.floor(height / SPAN)

const readPlain = (bytes: Uint8Array, { headerForm }: Pick<NetworkRow, 'headerForm'>): BlockHeader => {
  try {
    return parseHeader(bytes, compact({ headerForm }))
  } catch {
    throw new ChainRefusal('forged', 'A header of the server is damaged')
  }
}
