import { WalletError } from '../base/errors.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import { defaultHints } from './default-hints.ts'
import { HintFile } from './hint-file.ts'
import { PairSet } from './pair-set.ts'
import { isCurrencyCode, MAX_WANTED } from './rate-limits.ts'

/** Tells which pairs something wants now: the balances of an account, such as. */
export type HintSource = () => Iterable<RatePair>

/**
 * What providers are asked for (protocol §6.2): what somebody wants, what wallets hold, and what conversions missed.
 *
 * New ones are kept in a file. If nothing is wanted, the file is asked for, or else a list of 477 pairs.
 */
export class RateHints {
  readonly #services: Services
  readonly #file: HintFile
  /** What this run came to know. */
  readonly #remembered = new PairSet(MAX_WANTED)
  /** What the file holds, or shall hold. */
  readonly #kept = new PairSet(MAX_WANTED)
  /** What the file does not hold yet; undefined if it holds everything. */
  #unsaved: readonly RatePair[] | undefined
  readonly #sources = new Set<HintSource>()

  constructor(services: Services) {
    this.#services = services
    this.#file = new HintFile(services)
  }

  /** Reads the file of hints. */
  async read(): Promise<void> {
    for (const pair of await this.#file.read()) this.#kept.add(pair)
  }

  /** Every pair that is remembered, in this run or in the file. While there is none, the default list is asked for. */
  list(): readonly RatePair[] {
    const all = new PairSet(MAX_WANTED)
    for (const pairs of [this.#kept, this.#remembered]) for (const pair of pairs) all.add(pair)
    return all.list()
  }

  /** Remembers a pair, durable when it resolves. @throws OPTION_INVALID, RATE_HINTS_UNSAVED */
  async add({ fromCurrency, toCurrency }: RatePair): Promise<void> {
    const isPair = isCurrencyCode(fromCurrency) && isCurrencyCode(toCurrency) && fromCurrency !== toCurrency
    if (!isPair) throw new WalletError('OPTION_INVALID', { option: 'pair', rule: 'is two currency codes' })
    this.remember(fromCurrency, toCurrency)
    if (this.#kept.add({ fromCurrency, toCurrency }) || this.#unsaved !== undefined) await this.#save()
  }

  /** Forgets every pair, also in the file. @throws RATE_HINTS_UNSAVED */
  async clear(): Promise<void> {
    this.#remembered.clear()
    this.#kept.clear()
    await this.#save()
  }

  /** Remembers what a conversion missed; the file has it from the next round on. */
  remember(fromCurrency: string, toCurrency: string): void {
    this.#remembered.add({ fromCurrency, toCurrency })
  }

  /** Waits until what is being written is on the disk. */
  close(): Promise<void> {
    return this.#file.settled()
  }

  /** Asks a source before every round, until the returned function is called. */
  addSource(source: HintSource): () => void {
    this.#sources.add(source)
    return () => void this.#sources.delete(source)
  }

  /** What the next round asks for; what is new in it goes into the file. */
  gather(wanted: Iterable<RatePair>): readonly RatePair[] {
    const all = new PairSet(MAX_WANTED)
    for (const pairs of [wanted, ...[...this.#sources].map(source => source()), this.#remembered]) {
      for (const pair of pairs) all.add(pair)
    }
    if (all.size === 0) return this.#kept.size > 0 ? this.#kept.list() : defaultHints()
    let isNew = false
    for (const pair of all) isNew = this.#kept.add(pair) || isNew
    if (isNew) this.#services.inBackground('rates', this.#save())
    return all.list()
  }

  async #save(): Promise<void> {
    const pairs = this.#kept.list()
    this.#unsaved = pairs
    await this.#file.write(pairs)
    if (this.#unsaved === pairs) this.#unsaved = undefined
  }
}
