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
  /** Settles once the least fee of the server is among the latest. */
  #relay: Promise<void> = Promise.resolve()
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

  /** Asks for rates that are older than a minute, a server that was asked before; without an answer the last ones stay. */
  async refresh(server: FeeServer): Promise<void> {
    if (this.#clock.monotonic() - this.#at >= FRESH_MS) {
      // One for all wallets that pay now: a second one would put rates without the least fee in the place of its own.
      this.#refreshing ??= this.fetch(server, this.#version)
        .catch(() => undefined)
        .finally(() => (this.#refreshing = undefined))
      await this.#refreshing
    }
    await this.#relay
  }

  /**
   * Asks a server for its rates; those it does not have are left out. The least that it relays has another name from protocol 1.6 on, so
   * it is asked for once the version is known, and only `refresh` waits for the answer.
   */
  async fetch(server: FeeServer, version: Version): Promise<void> {
    this.#version = version
    const replies = server.callMany(
      TARGETS.map(([, blocks]) => ({ method: 'blockchain.estimatefee', params: [blocks] }))
    )
    const relay = version.then(({ hasMempoolInfo }) => {
      const [reply] = server.callMany([
        { method: hasMempoolInfo ? 'mempool.get_info' : 'blockchain.relayfee', params: [] }
      ])
      return reply?.then(readRelayFee)
    })
    relay.catch(() => undefined)
    const rates = await Promise.all(replies.map(reply => reply.then(readFeeRate, () => undefined)))
    if (!server.isOpen) return
    const found = TARGETS.flatMap(([name], at) => (rates[at] === undefined ? [] : [[name, rates[at]]]))
    this.#keep(server, Object.fromEntries(found) as FeeEstimates)
    const fees = this.#latest
    this.#relay = relay.then(
      least => {
        if (least !== undefined && this.#latest === fees) this.#keep(server, { ...fees, relay: least })
      },
      () => undefined
    )
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
