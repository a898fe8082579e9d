import { frozenCopy } from '../../base/copy-data.ts'
import { isRecord, parseJson } from '../../base/json.ts'
import type { EngineStore, PaymentSight } from '../../types/engine.ts'
import type { Txid } from '../../types/ids.ts'
import type { Transaction } from '../../types/transaction.ts'

// Older versions know the first alone: they leave the second as it is.
const UNFINISHED = 'spend/'
const SENT = 'sent/'
/** Signed bytes that a person forgot: others may have them, so that they count against budgets. */
const PAST = 'past/'
/** Texts that could not be read and that a person has set aside: kept, and read by nothing. */
const ASIDE = 'aside/'

/** The beginnings of the keys of a journal, in the store of its wallet on this device. */
export const JOURNAL_PREFIXES: readonly string[] = [UNFINISHED, SENT, PAST, ASIDE]

/**
 * The durable stage of a spend (architecture decision 14).
 *
 * `intended`: written before signing; nothing has left. `signed`: the bytes exist, sending was not requested.
 * `sending`: the bytes may have left; only these bytes are ever sent again. `broadcast`: the network has them.
 */
export type SpendStage = 'intended' | 'signed' | 'sending' | 'broadcast'

/** One spend that is not finished, or whose payment is watched until it is long confirmed. */
export interface SpendIntent {
  /** The id of this spend in hooks and in the log. */
  readonly correlationId: string
  readonly stage: SpendStage
  /** Milliseconds since 1970. */
  readonly at: number
  /** The draft, and from `signed` on the signed transaction. */
  readonly tx: Transaction
  /** The name of the program that asked for the payment; absent if a person did. */
  readonly requestedBy?: string
  /** The time of the account when it was reserved, in milliseconds since 1970; absent without rules. */
  readonly countedAt?: number
  /** Its worth then by fiat code, as decimal text. */
  readonly values?: Readonly<Record<string, string>>
  /** The words in which a server refused the bytes. The server may keep them nevertheless: only the chain shows. */
  readonly refusal?: string
  /** The state of the payment at the last look. */
  readonly sight?: PaymentSight
  /** When it reached the depth that its currency wants, in milliseconds since 1970. */
  readonly confirmedAt?: number
}

/**
 * The spends of one wallet: unfinished ones between the user's yes and the saved file, each step durable before the next
 * begins; and those that were sent and saved, until the network can hardly take them back.
 *
 * Bytes that may have left are in one of the two until then, so that what they spend stays reserved.
 */
export class SpendJournal {
  readonly #store: EngineStore
  /** After each look at the network the journal is asked; nearly always nothing is in it. */
  #isEmpty = false
  /** The parsed texts of unfinished spends, by key: the store knows which there are, and parsing takes longest. */
  #read: Map<string, ReadIntent> | undefined
  /** Those that were sent and saved, by id; read once. */
  #sent: ReadonlyMap<string, SpendIntent> | undefined
  #sentDamage: readonly unknown[] = []
  /** Those whose end is being written, by id: they are among the sent ones, whatever the store shows by then. */
  readonly #ending = new Map<string, SpendIntent>()
  /** Their states by txid, shown beside the confirmations; cleared by each change. */
  #sights: Map<string, PaymentSight> | undefined

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
    const before = this.#read
    const all = new Map<string, ReadIntent>()
    for (const [key, text] of this.#store.entries(UNFINISHED)) {
      const known = before?.get(key)
      const read = known?.text === text ? known : readIntent(text)
      all.set(key, read)
      if (read.intent === undefined) onDamaged(read.error)
      else intents.push(read.intent)
    }
    this.#isEmpty = all.size === 0
    this.#read = this.#isEmpty ? undefined : all
    return intents.sort(byAge)
  }

  /** Every payment that was sent and saved and is still watched, oldest first. */
  sent(onDamaged: (error: unknown) => void = () => {}): SpendIntent[] {
    const sent = [...new Map([...this.#sentById(), ...this.#ending]).values()].sort(byAge)
    for (const error of this.#sentDamage) onDamaged(error)
    return sent
  }

  /** Every spend once: one whose end is being written is unfinished until that is durable. Both oldest first. */
  entries(onDamaged: (error: unknown) => void = () => {}): {
    readonly unfinished: readonly SpendIntent[]
    readonly sent: readonly SpendIntent[]
  } {
    const unfinished = this.list(onDamaged)
    const ids = new Set(unfinished.map(({ correlationId }) => correlationId))
    return { unfinished, sent: this.sent(onDamaged).filter(({ correlationId }) => !ids.has(correlationId)) }
  }

  /** The payment of this id that was sent and saved and is still watched. */
  findSent(correlationId: string): SpendIntent | undefined {
    return this.#ending.get(correlationId) ?? this.#sentById().get(correlationId)
  }

  /** Returns the state of a payment that was sent and saved, until it is confirmed. */
  sightOf(txid: Txid): PaymentSight | undefined {
    if (this.#sights === undefined) {
      this.#sights = new Map()
      for (const { tx, sight, confirmedAt } of this.sent())
        if (confirmedAt === undefined) this.#sights.set(tx.txid, sight ?? { state: 'notSeen' })
    }
    return this.#sights.get(txid)
  }

  /** Every spend whose bytes are signed, unfinished or sent, oldest first: what they spend is reserved. */
  signed(): SpendIntent[] {
    const { unfinished, sent } = this.entries()
    const signed = unfinished.filter(({ stage }) => stage !== 'intended')
    return sent.length === 0 ? signed : [...sent, ...signed].sort(byAge)
  }

  /** The spend with these signed bytes, unfinished or sent. */
  findSigned(txid: Txid): SpendIntent | undefined {
    return this.signed().find(({ tx }) => tx.txid === txid)
  }

  /** The unfinished spend whose signed transaction has this txid. */
  findByTxid(txid: Txid): SpendIntent | undefined {
    return this.list().find(({ stage, tx }) => stage !== 'intended' && tx.txid === txid)
  }

  /** The unfinished spend of this id as it is now; undefined if there is none that can be read. */
  find(correlationId: string): SpendIntent | undefined {
    const key = UNFINISHED + correlationId
    const text = this.#isEmpty ? undefined : this.#store.get(key)
    if (text === undefined) return undefined
    const known = this.#read?.get(key)
    if (known?.text === text) return known.intent
    const read = readIntent(text)
    this.#read ??= new Map()
    this.#read.set(key, read)
    return read.intent
  }

  /** Writes how far a spend has come. Resolves when durable. */
  async put(intent: SpendIntent): Promise<void> {
    this.#isEmpty = false
    await this.#written(
      this.#store.write(new Map([[UNFINISHED + intent.correlationId, JSON.stringify(intent)]]))
    )
  }

  /**
   * Watches a spend that is finished, in one step with the end of what was unfinished of it, and of every other entry with
   * its txid. Resolves when durable.
   *
   * @param write - makes the changes durable, with others of its own; they are made when it wants them
   */
  async watch(
    intent: SpendIntent,
    write = (changesOf: () => JournalChanges): Promise<void> => this.#store.write(changesOf())
  ): Promise<void> {
    const { correlationId, tx } = intent
    const text = JSON.stringify(intent)
    const changes = new Map<string, string | null>()
    const changesOf = (): JournalChanges => {
      for (const other of this.signed()) {
        if (other.tx.txid !== tx.txid) continue
        changes.set(UNFINISHED + other.correlationId, null).set(SENT + other.correlationId, null)
      }
      return changes.set(UNFINISHED + correlationId, null).set(SENT + correlationId, text)
    }
    this.#ending.set(correlationId, intent)
    this.#sights = undefined
    await this.#written(write(changesOf)).finally(() => this.#ending.delete(correlationId))
    // Read after the write: others may have been watched or removed meanwhile, and this one forgotten.
    const sent = new Map(this.#sentById())
    for (const key of changes.keys()) {
      if (!key.startsWith(SENT)) continue
      const now = this.#store.get(key)
      if (now === undefined) sent.delete(key.slice(SENT.length))
      else sent.set(key.slice(SENT.length), parseIntent(now))
    }
    this.#sent = sent
    this.#sights = undefined
  }

  /** Forgets signed bytes that others may have; budgets go on counting them. Resolves when durable. */
  async forget(intent: SpendIntent): Promise<void> {
    const { correlationId, tx } = intent
    const changes = new Map<string, string | null>()
    changes
      .set(UNFINISHED + correlationId, null)
      .set(SENT + correlationId, null)
      .set(PAST + correlationId, JSON.stringify({ ...intent, tx: { ...tx, signedTx: '' } }))
    await this.#written(this.#store.write(changes))
    if (this.#sent?.has(correlationId) === true) this.#sent = without(this.#sent, correlationId)
    this.#sights = undefined
  }

  /** The payment with this txid that a person forgot. */
  findPast(txid: Txid): SpendIntent | undefined {
    return this.past(() => {}).find(({ tx }) => tx.txid === txid)
  }

  /** Every signed payment that a person forgot. */
  past(onDamaged: (error: unknown) => void): SpendIntent[] {
    return [...this.#store.entries(PAST)].flatMap(([, text]) => {
      const { intent, error } = readIntent(text)
      if (intent === undefined) onDamaged(error)
      return intent ?? []
    })
  }

  /** The keys of the entries that cannot be read. */
  damaged(): readonly string[] {
    return [UNFINISHED, SENT, PAST].flatMap(prefix =>
      [...this.#store.entries(prefix)].flatMap(([key, text]) =>
        readIntent(text).intent === undefined ? [key] : []
      )
    )
  }

  /** Keeps entries that cannot be read where they count no more. Resolves when durable. */
  async setAside(keys: readonly string[]): Promise<void> {
    const changes = new Map<string, string | null>()
    for (const key of keys) {
      const text = this.#store.get(key)
      if (text !== undefined) changes.set(ASIDE + key, text).set(key, null)
    }
    await this.#written(this.#store.write(changes))
    this.#sent = undefined
    this.#sights = undefined
  }

  /** Forgets a spend of which nothing has left. */
  remove(correlationId: string): Promise<void> {
    return this.#remove(correlationId, new Map())
  }

  /**
   * Forgets a payment that is long confirmed and, with it, what a person forgot before and can never be mined beside it: nothing
   * else would remember that.
   */
  async retire({ correlationId, tx: { txid, replaces, spentCoins = [] } }: SpendIntent): Promise<void> {
    const beaten = [...this.#store.entries(PAST)].filter(([, text]) => {
      const { tx } = readIntent(text).intent ?? {}
      if (tx === undefined) return false
      return (
        tx.txid === txid || tx.txid === replaces || tx.spentCoins?.some(coin => spentCoins.includes(coin))
      )
    })
    await this.#remove(correlationId, new Map(beaten.map(([key]) => [key, null])))
  }

  async #remove(correlationId: string, others: ReadonlyMap<string, null>): Promise<void> {
    await this.#written(
      this.#store.write(
        new Map([...others, [UNFINISHED + correlationId, null], [SENT + correlationId, null]])
      )
    )
    if (this.#sent?.has(correlationId) === true) this.#sent = without(this.#sent, correlationId)
    this.#sights = undefined
  }

  /** A look that came during a write saw it done; after a failure what it was to remove is there again. */
  async #written(write: Promise<void>): Promise<void> {
    try {
      await write
    } catch (error) {
      this.#isEmpty = false
      // It may have been made all the same.
      this.#sent = undefined
      this.#sights = undefined
      throw error
    }
  }

  #sentById(): ReadonlyMap<string, SpendIntent> {
    if (this.#sent !== undefined) return this.#sent
    const sent = new Map<string, SpendIntent>()
    const damage: unknown[] = []
    for (const [key, text] of this.#store.entries(SENT)) {
      const { intent, error } = readIntent(text)
      if (intent === undefined) damage.push(error)
      else sent.set(key.slice(SENT.length), intent)
    }
    this.#sent = sent.size === 0 ? NONE : sent
    this.#sentDamage = damage
    return this.#sent
  }
}

/** Of nearly all wallets: a map of its own would be a thirtieth of what an idle one takes. */
const NONE: ReadonlyMap<string, SpendIntent> = new Map()

const without = (sent: ReadonlyMap<string, SpendIntent>, id: string): ReadonlyMap<string, SpendIntent> => {
  const rest = new Map(sent)
  rest.delete(id)
  return rest
}

/** Changes of a journal, by the keys of its store. */
type JournalChanges = ReadonlyMap<string, string | null>

interface ReadIntent {
  readonly text: string
  /** Undefined of a damaged one. */
  readonly intent?: SpendIntent
  readonly error?: unknown
}

const readIntent = (text: string): ReadIntent => {
  try {
    return { text, intent: parseIntent(text) }
  } catch (error) {
    return { text, error }
  }
}

const byAge = (a: SpendIntent, b: SpendIntent): number => a.at - b.at

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
  // Read once and given to many.
  return frozenCopy(value as unknown as SpendIntent)
}
