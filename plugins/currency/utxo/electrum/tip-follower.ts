import type { Io, Json } from '../../../../kernel/plugin-api.ts'
import type { HeaderForm } from '../params/coin.ts'
import { type ElectrumCall, hostOf } from './connection.ts'
import type { ChainTip, HeaderCache, HeaderQuery, LinkedHeaders } from './headers.ts'
import { readHeaders, readTip } from './replies.ts'

/** What a {@link TipFollower} follows with. */
interface FollowerOptions {
  readonly headers: HeaderCache
  readonly linked: LinkedHeaders
  /** The newest block of the connection before. */
  readonly before: ChainTip | undefined
  onTip(tip: ChainTip): void
  /** More headers are linked, or others. */
  onLinked(): void
}

/** The open connection that is followed. */
interface Followed {
  readonly isOpen: boolean
  readonly url: string
  callMany(calls: readonly ElectrumCall[]): readonly Promise<Json>[]
  close(error: Error): void
}

/** The newest block of one connection, up to which its headers are linked; the next connection has a follower of its own. */
export class TipFollower {
  readonly #connection: Followed
  readonly #options: FollowerOptions
  /** Asks the connection for headers. */
  readonly query: HeaderQuery
  /** What the server said last, which may still have to be linked. */
  #newest: ChainTip | undefined
  #linking: Promise<void> | undefined

  constructor(io: Pick<Io, 'clock' | 'crypto'>, connection: Followed, options: FollowerOptions) {
    this.#connection = connection
    this.#options = options
    this.query = makeHeaderQuery(io, connection, options.linked.headerForm)
  }

  /**
   * Takes a new tip in. Once headers are linked up to the newest, another one counts as soon as it is linked, too. The connection of a
   * tip that cannot be linked is closed.
   *
   * @param early - headers that came with it
   * @throws ElectrumFault, ChainRefusal
   */
  take(
    { height, hex }: { readonly height: number; readonly hex: string },
    early?: { readonly start: number; readonly headers: readonly Uint8Array[] }
  ): Promise<void> {
    const { linked, onTip } = this.#options
    const tip = this.#read({ height, hex })
    if (!linked.isBegun) onTip(tip)
    if (!linked.isLinking) return Promise.resolve()
    this.#linking ??= this.#link(early).finally(() => (this.#linking = undefined))
    this.#linking.catch(error =>
      this.#connection.close(error instanceof Error ? error : new Error('No headers'))
    )
    return this.#linking
  }

  #read({ height, hex }: { readonly height: number; readonly hex: string }): ChainTip {
    const { headers, before } = this.#options
    const tip = { height, header: headers.read(hex) }
    headers.extend(this.#newest ?? before, tip)
    this.#newest = tip
    return tip
  }

  async #link(early?: { readonly start: number; readonly headers: readonly Uint8Array[] }): Promise<void> {
    const { linked, onTip, onLinked } = this.#options
    const host = hostOf(this.#connection)
    const findNext = (tip: ChainTip): Promise<ChainTip | undefined> => this.#findNext(tip)
    for (let last: ChainTip | undefined; last !== this.#newest && this.#connection.isOpen; ) {
      if (this.#newest === undefined) return
      last = await linked.link(this.#newest, this.query, { early, host, findNext })
      onTip(last)
    }
    onLinked()
  }

  /** The newest block of the server, if it is another by now: the chain of an honest one may change while it shows it. */
  async #findNext({ header }: ChainTip): Promise<ChainTip | undefined> {
    if (this.#newest?.header.hash === header.hash && this.#connection.isOpen) {
      const [reply] = this.#connection.callMany([{ method: 'blockchain.headers.subscribe', params: [] }])
      const answer = await reply?.catch(() => undefined)
      if (answer !== undefined) this.#read(readTip(answer))
    }
    return this.#newest?.header.hash === header.hash ? undefined : this.#newest
  }
}

/** Asks one connection for headers; after the first some only now and then, because servers count what they cost. */
const makeHeaderQuery = (
  { clock, crypto }: Pick<Io, 'clock' | 'crypto'>,
  connection: { callMany(calls: readonly ElectrumCall[]): readonly Promise<Json>[] },
  headerForm: HeaderForm | undefined
): HeaderQuery => {
  let sent = 0
  return async (start, count) => {
    const pauseMs = sent < QUICK_REQUESTS ? 0 : sent < SLOW_REQUESTS ? SHORT_PAUSE_MS : LONG_PAUSE_MS
    sent += 1
    if (pauseMs > 0) await new Promise<void>(resolve => clock.after(pauseMs, resolve))
    const [reply] = connection.callMany([{ method: 'blockchain.block.headers', params: [start, count] }])
    return readHeaders(crypto, (await reply) ?? null, { most: count, headerForm })
  }
}

// An ElectrumX counts about 105 for 2,016 headers, slows down from 1,000 on, ends the connection at 10,000, and forgives 1 a second.
const QUICK_REQUESTS = 8
const SLOW_REQUESTS = 40
const SHORT_PAUSE_MS = 5_000
const LONG_PAUSE_MS = 105_000
