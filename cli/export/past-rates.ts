import { codeText } from '../../app/format/amounts.ts'
import { isWalletError, type RateService, type RateSnapshot } from '../../kernel/index.ts'
import { abortable } from '../session/event-stream.ts'
import type { Session } from '../session/session.ts'
import { type ExportRow, notedValueOf, valueAtTime } from './formats.ts'

/** Fills rows with the rates of their time, and counts the rows that stay without a value. */
export class PastRates {
  readonly #session: Session
  readonly #rates: RateService
  readonly #code: string
  #missing = 0

  /** @param code - the currency of all rows, such as `iso:EUR` */
  static async open(session: Session, code: string): Promise<PastRates> {
    return new PastRates(session, (await session.context()).rates, code)
  }

  private constructor(session: Session, rates: RateService, code: string) {
    this.#session = session
    this.#rates = rates
    this.#code = code
  }

  /**
   * Fills rows with their rates.
   *
   * All rates are requested at once, and the kernel sends one question for each hundred. Offline, and for rows with a
   * noted value, no provider is asked.
   *
   * @throws the reason of the stop, if the command is stopped meanwhile
   */
  async fill(rows: readonly ExportRow[]): Promise<readonly ExportRow[]> {
    const { signal, statusLine } = this.#session
    statusLine.step('fetching historic rates…')
    const filled = await abortable(signal, () =>
      Promise.all(rows.map(async row => ({ ...row, rate: await this.#rateOf(row) })))
    )
    this.#missing += filled.filter(row => valueAtTime(row) === undefined).length
    return filled
  }

  /** Returns a warning if some rows have no value. */
  warnings(): readonly string[] {
    if (this.#missing === 0) return []
    const rows = this.#missing === 1 ? '1 row' : `${this.#missing} rows`
    const why = this.#session.globals.offline ? '; offline, no source is asked' : ''
    return [`no value in ${codeText(this.#code)} is known for ${rows}${why}`]
  }

  async #rateOf(row: ExportRow): Promise<RateSnapshot | null> {
    const { tx, asset } = row
    // A date of 0 is unknown.
    const isUnrequested = this.#session.globals.offline || notedValueOf(row) !== undefined || tx.date <= 0
    if (isUnrequested) return null
    const pair = { fromCurrency: asset.currencyCode, toCurrency: this.#code }
    try {
      return (await this.#rates.historicRate(pair, new Date(tx.date * 1000))) ?? null
    } catch (error) {
      // The code of a token can be any text, also one that has no rate.
      if (isWalletError(error, 'OPTION_INVALID')) return null
      throw error
    }
  }
}
