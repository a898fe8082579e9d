import type { Clock, Json } from '../../../../kernel/plugin-api.ts'
import type { FeeEstimates } from '../params/coin.ts'
import type { ElectrumCall } from './connection.ts'
import { readFeeRate, readRelayFee, type SpokenVersion } from './replies.ts'

/** An open connection to a server, as far as its fee rates need it. */
interface FeeServer {
  readonly url: string
  readonly isOpen: boolean
  callMany(calls: readonly ElectrumCall[]): readonly Promise<Json>[]
}

/** The version of the protocol, once a server has said it. */
type Version = Promise<Pick<SpokenVersion, 'hasMempoolInfo'>>

/** The latest fee rates of each server: one that asks for far more than the others is noticed. */
export class ServerFees {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #byUrl = new Map<string, { readonly fees: FeeEstimates; readonly at: number }>()
  #latest: FeeEstimates = {}
  /** Of the server that was asked last. */
  #version: Version = Promise.resolve({ hasMempoolInfo: false })
  #refreshing: Promise<void> | undefined
  /** False until the server that has the latest rates was asked for the least fee that it relays. */
  #knowsLeast = false
  #at = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  get latest(): FeeEstimates {
    return this.#latest
  }

  /** The rates of other servers than one, as far as they are of the last hour. */
  ofOthers(url: string | undefined): readonly FeeEstimates[] {
    const since = this.#clock.monotonic() - COMPARED_MS
    return [...this.#byUrl].flatMap(([other, { fees, at }]) => (other === url || at < since ? [] : [fees]))
  }

  /**
   * Asks a server that was asked before for what a payment needs: rates that are older than a minute, and the least fee. Without an
   * answer the last ones stay.
   */
  async refresh(server: FeeServer): Promise<void> {
    // One for all wallets that pay now: a second one would put rates without the least fee in the place of its own.
    this.#refreshing ??= this.#refresh(server)
      .catch(() => undefined)
      .finally(() => (this.#refreshing = undefined))
    await this.#refreshing
  }

  async #refresh(server: FeeServer): Promise<void> {
    const isOld = this.#clock.monotonic() - this.#at >= FRESH_MS
    if (!isOld && this.#knowsLeast) return
    const [least] = await Promise.all([
      this.#fetchLeast(server),
      isOld ? this.fetch(server, this.#version) : undefined
    ])
    // Of the least fee of a server that was left meanwhile the rates of the next one say nothing.
    if (!server.isOpen) return
    this.#knowsLeast = true
    if (least !== undefined) this.#keep(server, { ...this.#latest, relay: least })
  }

  /** The least fee that a server relays, whose method has another name from protocol 1.6 on; undefined if it says none. */
  async #fetchLeast(server: FeeServer): Promise<bigint | undefined> {
    const { hasMempoolInfo } = await this.#version
    const method = hasMempoolInfo ? 'mempool.get_info' : 'blockchain.relayfee'
    const [reply] = server.callMany([{ method, params: [] }])
    return reply?.then(readRelayFee).catch(() => undefined)
  }

  /**
   * Asks a server for its rates; those it does not have are left out. The least fee is left to `refresh`: its method depends on the
   * version that is agreed on, and a start would take a second trip for it.
   */
  async fetch(server: FeeServer, version: Version): Promise<void> {
    this.#version = version
    this.#knowsLeast = false
    const replies = server.callMany(
      TARGETS.map(([, blocks]) => ({ method: 'blockchain.estimatefee', params: [blocks] }))
    )
    const rates = await Promise.all(replies.map(reply => reply.then(readFeeRate, () => undefined)))
    if (!server.isOpen) return
    const found = TARGETS.flatMap(([name], at) => (rates[at] === undefined ? [] : [[name, rates[at]]]))
    this.#keep(server, Object.fromEntries(found) as FeeEstimates)
  }

  #keep({ url }: FeeServer, fees: FeeEstimates): void {
    this.#latest = fees
    this.#at = this.#clock.monotonic()
    this.#byUrl.set(url, { fees, at: this.#at })
  }
}

const FRESH_MS = 60_000
const COMPARED_MS = 3_600_000
/** The blocks within which a payment of each level should confirm. */
const TARGETS = [
  ['high', 2],
  ['standard', 6],
  ['low', 24]
] as const
