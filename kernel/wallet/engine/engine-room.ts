import type { CurrencyEngine } from '../../types/engine.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import type { WalletParts } from '../wallet-place.ts'
import { checkStakingStatus } from './engine-data.ts'
import { EngineFeed, type EngineInputs } from './engine-feed.ts'
import { EngineInbox, type EngineListener } from './engine-inbox.ts'
import { EngineRunner } from './engine-runner.ts'
import { makeWalletEngine } from './make-engine.ts'

/** What the engines of a wallet are made for. */
export interface EngineHost extends EngineListener {
  /** Settings and tokens as they are now. */
  readonly inputs: EngineInputs
  /** How far an earlier engine has reported its transactions. */
  checkpoint(): Promise<string | undefined>
  /** The signed payments whose coins an engine must keep from every other draft. */
  readonly reserved: readonly EngineTransaction[]
  /** The engine has looked at the network. */
  synced(): void
}

/**
 * Where the engines of one wallet are made, fed and heard: one at a time, and each is heard only while it is the
 * present one.
 */
export class EngineRoom {
  readonly runner: EngineRunner
  readonly #parts: WalletParts
  readonly #host: EngineHost
  readonly #feed: EngineFeed
  #inbox: EngineInbox | undefined

  constructor(parts: WalletParts, host: EngineHost) {
    this.#parts = parts
    this.#host = host
    this.runner = new EngineRunner(parts, this)
    this.#feed = new EngineFeed(this.runner, parts.report)
  }

  /** Asks the plugin for an engine. @throws as `makeWalletEngine` */
  async make(): Promise<CurrencyEngine> {
    const { info, clock, services } = this.#parts
    const inbox = new EngineInbox(info, clock, this.#host)
    this.silence()
    this.#inbox = inbox
    const { inputs } = this.#host
    this.#feed.begin(inputs)
    const engine = await makeWalletEngine(this.#parts, {
      callbacks: inbox.callbacks,
      inputs,
      seenTxCheckpoint: await this.#host.checkpoint(),
      reserved: this.#host.reserved
    })
    if (engine.getStakingStatus !== undefined) {
      services.inBackground(`engine ${info.pluginId}`, this.#askStaking(engine, inbox))
    }
    return engine
  }

  /** The present engine has nothing more to say. */
  silence(): void {
    this.#inbox?.close()
  }

  synced(): void {
    this.#host.synced()
  }

  /** Settings or tokens may be others now. */
  inputsChanged(): void {
    this.#feed.change(this.#host.inputs)
  }

  /** Resolves when everything that was reported so far has been taken in. */
  async reportsTaken(): Promise<void> {
    await this.#inbox?.settled()
  }

  /** No checkpoint of the present engine counts until {@link believe}: what it has told is forgotten. */
  doubt(): void {
    this.#inbox?.doubt()
  }

  /** The present engine has begun anew. */
  believe(): void {
    this.#inbox?.believe()
  }

  async #askStaking(engine: CurrencyEngine, inbox: EngineInbox): Promise<void> {
    const { info, services, walletId } = this.#parts
    const place = { pluginId: info.pluginId, kind: 'asking for what is staked', owner: walletId }
    const what = `${info.displayName}: ${place.kind}`
    const status = await services.calls.call({ ...place, what, milliseconds: ASK_MS }, async () =>
      checkStakingStatus(info.pluginId, await engine.getStakingStatus?.())
    )
    if (this.#inbox === inbox) this.#host.stakingChanged(status)
  }
}

/** How long an engine may take to say what is staked. */
const ASK_MS = 60_000
