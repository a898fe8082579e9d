import { secondsOf } from '../base/time.ts'
import type { DatedPair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'

/** An answer of this distance from the date is as good as any, in seconds: daily prices. Our own choice. */
const NEAR_SECONDS = 86_400
/** An answer further away is none. */
const FAR_SECONDS = 7 * 86_400

/** A price of the past that somebody waits for, and the best that was offered yet. */
export class HistoricQuestion {
  readonly pair: DatedPair
  readonly answer: Promise<RateSnapshot | undefined>
  #resolve: (answer: RateSnapshot | undefined) => void = () => {}
  #best: Offer | undefined

  constructor(pair: DatedPair) {
    this.pair = pair
    this.answer = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  get hasOffer(): boolean {
    return this.#best !== undefined
  }

  /** Hears an offer for its currencies, of whatever date: within a day the lower bias wins, further away the nearer. */
  hear(pair: RateSnapshot, bias: number): void {
    const distance = Math.abs(pair.at - secondsOf(this.pair.date.getTime()))
    if (distance > FAR_SECONDS) return
    const offer: Offer = { pair, rank: distance <= NEAR_SECONDS ? [0, bias, distance] : [1, distance, bias] }
    if (this.#best === undefined || compareRanks(offer.rank, this.#best.rank) < 0) this.#best = offer
  }

  /** Gives what there is to whoever waits. */
  close(): RateSnapshot | undefined {
    this.#resolve(this.#best?.pair)
    return this.#best?.pair
  }
}

type Rank = readonly [near: number, first: number, second: number]

interface Offer {
  readonly pair: RateSnapshot
  readonly rank: Rank
}

const compareRanks = (left: Rank, right: Rank): number =>
  left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
