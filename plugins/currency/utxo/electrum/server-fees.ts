import type { Clock, Json } from '../../../../kernel/plugin-api.ts'
import type { FeeEstimates } from '../params/coin.ts'
import type { ElectrumCall } from './connection.ts'
import { readFeeRate } from './replies.ts'

/** An open connection to a server, as far as its fee rates need it. */
interface FeeServer {
  readonly url: string
  readonly isOpen: boolean
  callMany(calls: readonly ElectrumCall[]): readonly Promise<Json>[]
}

/** The latest fee rates of each server: one that asks for far more than the others is noticed. */
export class ServerFees {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #byUrl = new Map<string, { readonly fees: FeeEstimates; readonly at: number }>()
  #latest: FeeEstimates = {}
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

  /** Asks for rates that are older than a minute; without an answer the last ones stay. */
  async refresh(server: FeeServer): Promise<void> {
    if (this.#clock.monotonic() - this.#at >= FRESH_MS) await this.fetch(server).catch(() => undefined)
  }

  /** Asks a server for its rates; those it does not have are left out. */
  async fetch(server: FeeServer): Promise<void> {
    const replies = server.callMany([
      { method: 'blockchain.relayfee', params: [] },
      ...TARGETS.map(([, blocks]) => ({ method: 'blockchain.estimatefee', params: [blocks] }))
    ])
    const rates = await Promise.all(replies.map(reply => reply.then(readFeeRate, () => undefined)))
    if (!server.isOpen) return
    const names = ['relay', ...TARGETS.map(([name]) => name)]
    this.#latest = Object.fromEntries(
      names.flatMap((name, at) => (rates[at] === undefined ? [] : [[name, rates[at]]]))
    )
    this.#at = this.#clock.monotonic()
    this.#byUrl.set(server.url, { fees: this.#latest, at: this.#at })
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
