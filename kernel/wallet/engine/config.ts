import { isSameJson, type JsonObject } from '../../base/json.ts'
import type { TokenMap } from '../../types/currency.ts'
import type { CurrencyEngine } from '../../types/engine.ts'

/** What an engine is made with, and told again when it changes. */
export interface EngineInputs {
  readonly userSettings: JsonObject
  readonly customTokens: TokenMap
  readonly enabledTokenIds: readonly string[]
}

/** How the feed reaches the engine. */
export interface EngineFeedPort {
  /** Calls the engine under a deadline; nothing happens where there is none. */
  tell(what: string, call: (engine: CurrencyEngine) => Promise<void>): Promise<void>
}

/**
 * Tells an engine what changed of its settings, its custom tokens and its enabled tokens: in this order, one call at
 * a time, and each only if it changed (protocol §6.6).
 *
 * What an engine refuses is reported, and not said again.
 */
export class EngineFeed {
  readonly #port: EngineFeedPort
  readonly #report: (error: unknown) => void
  #told: EngineInputs | undefined
  #wanted: EngineInputs | undefined
  #isTelling = false

  constructor(port: EngineFeedPort, report: (error: unknown) => void) {
    this.#port = port
    this.#report = report
  }

  /** An engine is being made with these. */
  begin(inputs: EngineInputs): void {
    this.#told = inputs
    this.#wanted = inputs
  }

  /** The inputs are these now; an engine that is not made yet gets them when it is. */
  change(inputs: EngineInputs): void {
    if (this.#told === undefined) return
    this.#wanted = inputs
    if (!this.#isTelling) void this.#tellAll()
  }

  async #tellAll(): Promise<void> {
    this.#isTelling = true
    for (let isTold = await this.#tellNext(); isTold; isTold = await this.#tellNext());
    this.#isTelling = false
  }

  /** Tells the first thing that changed; false if nothing has. */
  async #tellNext(): Promise<boolean> {
    const [told, wanted] = [this.#told, this.#wanted]
    if (told === undefined || wanted === undefined || told === wanted) return false
    const { userSettings, customTokens, enabledTokenIds } = wanted
    if (!isSameJson(told.userSettings, userSettings)) {
      this.#told = { ...told, userSettings }
      await this.#tell('taking settings', engine => engine.changeUserSettings?.(userSettings))
    } else if (!isSameJson(told.customTokens, customTokens)) {
      this.#told = { ...told, customTokens }
      await this.#tell('taking custom tokens', engine => engine.changeCustomTokens?.(customTokens))
    } else if (!isSameJson(told.enabledTokenIds, enabledTokenIds)) {
      this.#told = { ...told, enabledTokenIds }
      await this.#tell('switching tokens', engine => engine.changeEnabledTokenIds?.(enabledTokenIds))
    } else return false
    return true
  }

  async #tell(what: string, call: (engine: CurrencyEngine) => Promise<void> | undefined): Promise<void> {
    try {
      await this.#port.tell(what, async engine => call(engine))
    } catch (error) {
      this.#report(error)
    }
  }
}
