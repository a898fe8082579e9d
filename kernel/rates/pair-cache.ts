import { failureLine } from '../base/errors.ts'
import { isRecord, tryParseJson } from '../base/json.ts'
import { secondsOf } from '../base/time.ts'
import type { Services } from '../plugins/services.ts'
import type { RateSnapshot } from '../types/snapshots.ts'
import { isCurrencyCode, isRate, MAX_PAIRS, newestOf, type RateGraph } from './graph.ts'

const PATH = 'ratePairCache.json'
const VERSION = 1
const WRITE_MS = 300_000
/** Older rates say too little about the present to be kept. */
const MAX_AGE_SECONDS = 30 * 86_400

/** A pair as the file has it: source, from, to, rate, Unix seconds. */
type Row = readonly [source: string, from: string, to: string, rate: number, at: number]

/**
 * The newest pairs on this device's disk, so that a start without a network shows values, with their age.
 *
 * Prices are public: plain JSON. At most 10,000 pairs of the last 30 days, written at most every five minutes and at the
 * end. Whatever is wrong with the file costs nothing but the pairs in it.
 */
export class PairCache {
  readonly #services: Services
  readonly #graph: Pick<RateGraph, 'snapshots'>
  #writtenAt = Number.NEGATIVE_INFINITY
  #isNew = false
  #writing: Promise<void> = Promise.resolve()

  /** @param graph - holds the pairs to be kept, whenever they are written */
  constructor(services: Services, graph: Pick<RateGraph, 'snapshots'>) {
    this.#services = services
    this.#graph = graph
  }

  /** The pairs in the file. */
  async read(): Promise<readonly RateSnapshot[]> {
    const { disk, io, logOf } = this.#services
    try {
      return pairsOf(tryParseJson(await disk.getText(PATH)), secondsOf(io.clock.now()))
    } catch (error) {
      logOf('rates').warn(failureLine('Could not read the rates of the last run', error))
      return []
    }
  }

  /** Says that pairs have changed. */
  markChanged(): void {
    this.#isNew = true
    const now = this.#services.io.clock.monotonic()
    if (now - this.#writtenAt >= WRITE_MS) this.#write()
  }

  /** Writes what is new, and waits for it. */
  async close(): Promise<void> {
    if (this.#isNew) this.#write()
    await this.#writing
  }

  #write(): void {
    const { disk, io, logOf } = this.#services
    this.#isNew = false
    this.#writtenAt = io.clock.monotonic()
    const pairs = newestOf([...this.#graph.snapshots()], MAX_PAIRS)
    const rows = pairs.map(
      ({ source, fromCurrency, toCurrency, rate, at }): Row => [source, fromCurrency, toCurrency, rate, at]
    )
    const text = JSON.stringify({ version: VERSION, pairs: rows })
    this.#writing = this.#writing
      .then(() => disk.setText(PATH, text))
      .catch(error => logOf('rates').warn(failureLine('Could not save the rates', error)))
  }
}

const pairsOf = (value: unknown, now: number): readonly RateSnapshot[] => {
  if (!isRecord(value) || value.version !== VERSION || !Array.isArray(value.pairs)) return []
  const rows: readonly unknown[] = value.pairs.slice(0, MAX_PAIRS)
  return rows.filter(isRow).flatMap(([source, fromCurrency, toCurrency, rate, at]) =>
    // The age of a pair of the future is unknown.
    at > now || now - at > MAX_AGE_SECONDS
      ? []
      : [Object.freeze({ fromCurrency, toCurrency, rate, source, at })]
  )
}

const isRow = (row: unknown): row is Row => {
  if (!Array.isArray(row) || row.length !== 5) return false
  const [source, from, to, rate, at]: readonly unknown[] = row
  return (
    isCurrencyCode(source) &&
    isCurrencyCode(from) &&
    isCurrencyCode(to) &&
    isRate(rate) &&
    Number.isFinite(at)
  )
}
