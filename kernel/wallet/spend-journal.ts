import { isRecord } from '../schema/fields.ts'
import { parseJson } from '../schema/parse.ts'
import type { EngineStore } from '../types/engine.ts'
import type { Transaction } from '../types/transaction.ts'

const PREFIX = 'spend/'

/**
 * How far a spend has come, durably (architecture decision 14).
 *
 * `intended`: written before signing; nothing has left. `signed`: the bytes exist, nobody asked to send them.
 * `sending`: the bytes may have left; only these bytes are ever sent again. `broadcast`: the network has them.
 */
export type SpendStage = 'intended' | 'signed' | 'sending' | 'broadcast'

/** One spend that is not finished. */
export interface SpendIntent {
  /** One id for everything that belongs to this spend, in hooks and in the log. */
  readonly correlationId: string
  readonly stage: SpendStage
  /** Milliseconds since 1970. */
  readonly at: number
  /** The draft, and from `signed` on the signed transaction. */
  readonly tx: Transaction
}

/**
 * The spends of one wallet between the user's yes and the saved file. Each step is durable before the next begins.
 */
export class SpendJournal {
  readonly #store: EngineStore
  /** After each look at the network the journal is asked; nearly always nothing is in it. */
  #isEmpty = false

  constructor(store: EngineStore) {
    this.#store = store
  }

  /** False if there may be an unfinished spend. */
  get isEmpty(): boolean {
    if (!this.#isEmpty) this.list()
    return this.#isEmpty
  }

  /** Every unfinished spend, oldest first. An entry that cannot be read is handed to `onDamaged` and kept. */
  list(onDamaged: (error: unknown) => void = () => {}): SpendIntent[] {
    if (this.#isEmpty) return []
    const intents: SpendIntent[] = []
    this.#isEmpty = true
    for (const [, text] of this.#store.entries(PREFIX)) {
      this.#isEmpty = false
      try {
        intents.push(parseIntent(text))
      } catch (error) {
        onDamaged(error)
      }
    }
    return intents.sort((a, b) => a.at - b.at)
  }

  /** The unfinished spend whose signed transaction has this txid. */
  findByTxid(txid: string): SpendIntent | undefined {
    return this.list().find(({ stage, tx }) => stage !== 'intended' && tx.txid === txid)
  }

  /** The unfinished spend of this id as it is now; undefined if there is none that can be read. */
  find(correlationId: string): SpendIntent | undefined {
    return this.list().find(intent => intent.correlationId === correlationId)
  }

  /** Writes how far a spend has come. Resolves when durable. */
  async put(intent: SpendIntent): Promise<void> {
    this.#isEmpty = false
    await this.#store.write(new Map([[PREFIX + intent.correlationId, JSON.stringify(intent)]]))
  }

  /** Forgets a spend that is finished, or of which nothing has left. */
  async remove(correlationId: string): Promise<void> {
    await this.#store.write(new Map([[PREFIX + correlationId, null]]))
  }
}

const STAGES: ReadonlySet<string> = new Set(['intended', 'signed', 'sending', 'broadcast'])

const parseIntent = (text: string): SpendIntent => {
  const value = parseJson(text, 'spend journal')
  const isIntent =
    isRecord(value) &&
    typeof value.correlationId === 'string' &&
    STAGES.has(value.stage as string) &&
    typeof value.at === 'number' &&
    isRecord(value.tx) &&
    typeof value.tx.txid === 'string'
  if (!isIntent) throw new TypeError('A spend journal entry has the wrong shape')
  return value as unknown as SpendIntent
}
