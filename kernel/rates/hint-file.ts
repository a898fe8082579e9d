import { WalletError } from '../base/errors.ts'
import { tryParseJson } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { quarantine } from '../base/quarantine.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import { isPair } from './rate-limits.ts'

const PATH = 'rateHintCache.json'

/** The file of hints that the deployed system has too: a list of pairs (protocol §3.1). */
export class HintFile {
  readonly #services: Pick<Services, 'disk' | 'io' | 'report'>
  readonly #turns = new Mutex()
  /** What stands there cannot be read, and could not be put aside. */
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
    return this.#turns.run(async () => {
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
    return this.#turns.settled()
  }
}
