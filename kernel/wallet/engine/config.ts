import { isSameJson, type JsonObject } from '../../base/json.ts'
import type { TokenMap } from '../../types/currency.ts'
import type { CurrencyEngine } from '../../types/engine.ts'
import type { TokenId } from '../../types/ids.ts'

/** The settings and tokens that an engine is made with, and is sent again when they change. */
export interface EngineConfig {
  readonly userSettings: JsonObject
  readonly customTokens: TokenMap
  readonly enabledTokenIds: readonly TokenId[]
}

/** Calls the engine of a wallet. */
export interface EngineCaller {
  /** Calls the engine under a deadline, if there is one. */
  callIfMade(what: string, call: (engine: CurrencyEngine) => Promise<void>): Promise<void>
}

/**
 * Sends an engine its settings, its custom tokens and its enabled tokens when they change: in this order, one call at
 * a time, and only what changed (protocol §6.6).
 *
 * A change that an engine refuses is reported, and not sent again.
 */
export class EngineConfigSender {
  readonly #engine: EngineCaller
  readonly #report: (error: unknown) => void
  #sent: EngineConfig | undefined
  #wanted: EngineConfig | undefined
  #isSending = false

  constructor(port: EngineCaller, report: (error: unknown) => void) {
    this.#engine = port
    this.#report = report
  }

  /** Notes the config that an engine is being made with. */
  start(config: EngineConfig): void {
    this.#sent = config
    this.#wanted = config
  }

  /** Sends what has changed; an engine that is not made yet gets it when it is. */
  update(config: EngineConfig): void {
    if (this.#sent === undefined) return
    this.#wanted = config
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (let isSent = await this.#sendNext(); isSent; isSent = await this.#sendNext());
    this.#isSending = false
  }

  /** Sends the first part that changed; false if none has. */
  async #sendNext(): Promise<boolean> {
    const [sent, wanted] = [this.#sent, this.#wanted]
    if (sent === undefined || wanted === undefined || sent === wanted) return false
    const { userSettings, customTokens, enabledTokenIds } = wanted
    if (!isSameJson(sent.userSettings, userSettings)) {
      this.#sent = { ...sent, userSettings }
      await this.#send('taking settings', engine => engine.changeUserSettings?.(userSettings))
    } else if (!isSameJson(sent.customTokens, customTokens)) {
      this.#sent = { ...sent, customTokens }
      await this.#send('taking custom tokens', engine => engine.changeCustomTokens?.(customTokens))
    } else if (!isSameJson(sent.enabledTokenIds, enabledTokenIds)) {
      this.#sent = { ...sent, enabledTokenIds }
      await this.#send('switching tokens', engine => engine.changeEnabledTokenIds?.(enabledTokenIds))
    } else return false
    return true
  }

  async #send(what: string, call: (engine: CurrencyEngine) => Promise<void> | undefined): Promise<void> {
    try {
      await this.#engine.callIfMade(what, async engine => call(engine))
    } catch (error) {
      this.#report(error)
    }
  }
}
