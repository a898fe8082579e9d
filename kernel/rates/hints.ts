import { requireObject } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import { tryParseJson } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { quarantine } from '../base/quarantine.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import { isCurrencyCode, isPair, MAX_WANTED, RatePairSet } from './graph.ts'

/** Supplies the pairs that a consumer needs now, for example for an account's balances. */
export type HintSource = () => Iterable<RatePair>

/**
 * The pairs that providers are asked for (protocol §6.2): those that consumers want, wallets hold, and conversions missed.
 *
 * New ones are kept in a file. If nothing is wanted, the file is asked for, or else a list of 477 pairs.
 */
export class RateHints {
  readonly #services: Services
  readonly #file: HintFile
  /** The pairs that conversions missed in this run, and those that were added. */
  readonly #remembered = new RatePairSet(MAX_WANTED)
  /** The pairs in the file, those to be written included. */
  readonly #kept = new RatePairSet(MAX_WANTED)
  /** The pairs that are not written yet; undefined if the file is up to date. */
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
    const all = new RatePairSet(MAX_WANTED)
    for (const pairs of [this.#kept, this.#remembered]) for (const pair of pairs) all.add(pair)
    return all.list()
  }

  /** Remembers a pair, durable when it resolves. @throws OPTION_INVALID, RATE_HINTS_UNSAVED */
  async add(pair: RatePair): Promise<void> {
    requireObject('pair', pair)
    const { fromCurrency, toCurrency } = pair
    const isPair = isCurrencyCode(fromCurrency) && isCurrencyCode(toCurrency) && fromCurrency !== toCurrency
    if (!isPair) throw new WalletError('OPTION_INVALID', { option: 'pair', rule: 'is two currency codes' })
    this.remember({ fromCurrency, toCurrency })
    if (this.#kept.add({ fromCurrency, toCurrency }) || this.#unsaved !== undefined) await this.#save()
  }

  /** Forgets every pair, also in the file. @throws RATE_HINTS_UNSAVED */
  async clear(): Promise<void> {
    this.#remembered.clear()
    this.#kept.clear()
    await this.#save()
  }

  /** Remembers what a conversion missed; the file has it from the next round on. */
  remember(pair: RatePair): void {
    this.#remembered.add(pair)
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

  /** Returns the pairs for the next round; new ones are written to the file. */
  gather(wanted: Iterable<RatePair>): readonly RatePair[] {
    const all = new RatePairSet(MAX_WANTED)
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

const PATH = 'rateHintCache.json'

/** The file of hints that the deployed system has too: a list of pairs (protocol §3.1). */
class HintFile {
  readonly #services: Pick<Services, 'disk' | 'io' | 'report'>
  readonly #mutex = new Mutex()
  /** True if the file cannot be read and could not be put aside. */
  #isLost = false

  constructor(services: Pick<Services, 'disk' | 'io' | 'report'>) {
    this.#services = services
  }

  /** The entries that look like pairs. A file that is none is kept in quarantine and reported. */
  async read(): Promise<readonly RatePair[]> {
    const { disk, io, report } = this.#services
    try {
      const text = await disk.getText(PATH)
      const value = tryParseJson(text)
      if (Array.isArray(value)) return value.filter(isPair)
      if (text !== undefined) {
        report(
          'rates',
          await quarantine(disk, io.clock, { path: PATH, text, rule: 'it is no list of pairs' })
        )
      }
    } catch (error) {
      this.#isLost = true
      report('rates', error)
    }
    return []
  }

  /** Replaces the file, durable when it resolves. @throws RATE_HINTS_UNSAVED */
  write(pairs: readonly RatePair[]): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#isLost) throw new WalletError('RATE_HINTS_UNSAVED', {})
      try {
        await this.#services.disk.setText(PATH, JSON.stringify(pairs))
      } catch (error) {
        throw new WalletError('RATE_HINTS_UNSAVED', {}, error)
      }
    })
  }

  /** Resolves when everything that was begun is written, or has failed. */
  settled(): Promise<void> {
    return this.#mutex.settled()
  }
}

/** The pairs that are fetched while no others are known: three coins in 159 fiat currencies (protocol §6.2). */
const defaultHints = (): readonly RatePair[] =>
  COINS.flatMap(fromCurrency => FIATS.map(code => ({ fromCurrency, toCurrency: `iso:${code}` })))

const COINS = ['BTC', 'BCH', 'ETH']

const FIATS = (
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY ' +
  'COP CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GGP GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG ' +
  'HUF IDR ILS IMP INR IQD IRR ISK JEP JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL ' +
  'MGA MKD MMK MNT MOP MRO MRU MUR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PRB PYG QAR RON ' +
  'RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLL SOS SRD SSP STD SYP SZL THB TJS TMT TND TOP TRY TTD TVD TWD TZS UAH UGX ' +
  'USD UYU UZS VEF VND VUV WST XAF XCD XOF XPF YER ZAR ZMW'
).split(' ')
