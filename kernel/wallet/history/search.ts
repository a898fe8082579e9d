import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { FileHash, TokenId } from '../../types/ids.ts'
import type { Transaction } from '../../types/transaction.ts'
import { type HistoryRow, parseRow } from './row.ts'
import type { HistoryRows, RowChange } from './rows.ts'

/** The history that a search index reads. */
export interface SearchOptions {
  readonly rows: HistoryRows
  readonly clock: Clock
  /** Returns a function that lists the texts of a row that a search reads; none of a row that is not in the history. */
  textsIn(tokenId: TokenId | null): (row: HistoryRow) => readonly string[]
}

/** Finds rows by their texts without reading them: keeps the texts of each history that was searched. */
export class SearchIndex {
  readonly #options: SearchOptions
  readonly #texts = new Map<TokenId | null, SearchText>()
  readonly #building = new Map<TokenId | null, Promise<void>>()

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** The keys of the rows that a query finds in the history of an asset, in no particular order. */
  async find(tokenId: TokenId | null, query: string): Promise<FileHash[]> {
    const known = this.#texts.get(tokenId)
    const text = known ?? new SearchText(this.#options.clock)
    if (known === undefined) {
      this.#texts.set(tokenId, text)
      this.#building.set(tokenId, this.#build(text, tokenId))
    }
    await this.#building.get(tokenId)
    return text.find(query)
  }

  /** Follows a change of rows. */
  update(rows: ReadonlyMap<FileHash, RowChange>): void {
    for (const [tokenId, text] of this.#texts) {
      const textsOf = this.#options.textsIn(tokenId)
      for (const [key, { after }] of rows) {
        text.set(key, after === undefined ? [] : textsOf(after))
      }
    }
  }

  /** Forgets all text. */
  clear(): void {
    for (const text of this.#texts.values()) text.clear()
    this.#texts.clear()
    this.#building.clear()
  }

  /** A row that changes meanwhile is known already when the scan comes to it, and newer. */
  async #build(text: SearchText, tokenId: TokenId | null): Promise<void> {
    const { rows, textsIn } = this.#options
    const textsOf = textsIn(tokenId)
    try {
      for await (const batch of rows.scan()) {
        // A batch is what lies together on the disk, and the scan pauses after each.
        if (this.#texts.get(tokenId) !== text) return
        for (const row of batch) {
          if (!text.has(row.key)) text.set(row.key, textsOf(parseRow(row.text)))
        }
      }
    } catch (error) {
      if (this.#texts.get(tokenId) === text) this.#texts.delete(tokenId)
      throw error
    }
  }
}

/** Stands around each text, so that no query is found across two of them. */
const SEPARATOR = '\0'
const BLOCK = 256

/**
 * The searchable texts of all transactions in one list: built by the first search, edited in place.
 *
 * It is plain text of what people have noted, so it counts as a secret: it is in memory only, and goes with
 * {@link clear}.
 */
export class SearchText {
  readonly #clock: Pick<Clock, 'monotonic' | 'turn'>
  readonly #slots = new Map<FileHash, number>()
  #keys: FileHash[] = []
  #blocks: Block[] = []

  constructor(clock: Pick<Clock, 'monotonic' | 'turn'>) {
    this.#clock = clock
  }

  /** Checks if the texts of a key are known. */
  has(key: FileHash): boolean {
    return this.#slots.has(key)
  }

  /** Replaces the texts of a key; without texts nothing finds it. */
  set(key: FileHash, texts: readonly string[]): void {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = this.#keys.length
      this.#slots.set(key, slot)
      this.#keys.push(key)
      if (slot % BLOCK === 0) this.#blocks.push(new Block())
    }
    const text = texts.length === 0 ? '' : texts.join(SEPARATOR).toLowerCase() + SEPARATOR
    this.#blocks[Math.floor(slot / BLOCK)]?.set(slot % BLOCK, text)
  }

  /** The keys with a text that holds `query`, which is not empty and in lower case; in no particular order. */
  async find(query: string): Promise<FileHash[]> {
    const yieldNow = makeYielder(this.#clock)
    const found: FileHash[] = []
    const [blocks, keys] = [this.#blocks, this.#keys]
    for (const [index, block] of blocks.entries()) {
      for (const slot of block.find(query)) found.push(keys[index * BLOCK + slot] ?? '')
      await yieldNow()
    }
    return found
  }

  /** Forgets everything. */
  clear(): void {
    this.#slots.clear()
    this.#keys = []
    this.#blocks = []
  }
}

/** Texts in one string, which is searched in one go. */
class Block {
  #text = ''
  readonly #ends: number[] = []

  set(slot: number, text: string): void {
    const start = this.#ends[slot - 1] ?? 0
    const end = this.#ends[slot] ?? this.#text.length
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end)
    const shift = text.length - (end - start)
    this.#ends[slot] = end + shift
    for (let later = slot + 1; later < this.#ends.length; later++) {
      this.#ends[later] = (this.#ends[later] ?? 0) + shift
    }
  }

  *find(query: string): Generator<number> {
    let slot = 0
    let at = this.#text.indexOf(query)
    while (at >= 0) {
      while ((this.#ends[slot] ?? 0) <= at) slot++
      yield slot
      at = this.#text.indexOf(query, this.#ends[slot])
    }
  }
}

/** The fields of a transaction that a search reads. */
export type SearchableTransaction = Pick<
  Transaction,
  'nativeAmount' | 'txid' | 'ourReceiveAddresses' | 'metadata' | 'swapData' | 'spendTargets'
> &
  Partial<Pick<Transaction, 'memos'>>

/**
 * The form in which a query is looked for: lower case, without its first dot, its first comma and leading zeros.
 *
 * Zeros alone stay, or they would match everything.
 *
 * @see protocol §6.4 "Search"; vectors `tx-search`
 */
export const normalizeQuery = (query: string): string => {
  const text = withoutMarks(query.toLowerCase())
  return /^0*$/.test(text) ? text : text.replace(/^0+/, '')
}

/**
 * The texts of a transaction that a search looks into, not yet in lower case.
 *
 * @param fiatCode - of the wallet, such as `iso:USD`; amounts in other currencies are not looked into
 * @see specification §5 "Transaction search"
 */
export const searchTexts = (tx: SearchableTransaction, fiatCode: string): string[] => {
  const { category, name, notes, exchangeAmount } = tx.metadata
  const texts = [tx.nativeAmount, tx.txid]
  if (category !== undefined) texts.push(category)
  if (name !== undefined) texts.push(name)
  if (notes !== undefined) texts.push(notes)
  if (exchangeAmount !== undefined && Object.hasOwn(exchangeAmount, fiatCode)) {
    texts.push(String(exchangeAmount[fiatCode]))
  }
  if (tx.swapData !== undefined) texts.push(tx.swapData.plugin.displayName)
  for (const { publicAddress, memo } of tx.spendTargets ?? []) {
    texts.push(publicAddress)
    if (memo !== undefined) texts.push(memo)
  }
  for (const { value } of tx.memos ?? []) texts.push(value)
  for (const address of tx.ourReceiveAddresses) texts.push(address)
  return texts.map(withoutMarks)
}

/** Checks if a search finds a transaction (pure). `query`: as {@link normalizeQuery} gives it. */
export const matchesSearch = (tx: SearchableTransaction, query: string, fiatCode: string): boolean =>
  searchTexts(tx, fiatCode).some(text => text.toLowerCase().includes(query))

/** Only the first dot and the first comma go, as in the deployed system. */
const withoutMarks = (text: string): string => text.replace('.', '').replace(',', '')
