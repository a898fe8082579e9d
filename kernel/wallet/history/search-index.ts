import type { Clock } from '../../io/io.ts'
import { type HistoryRow, parseRow } from './history-row.ts'
import type { HistoryRows, RowChange } from './history-rows.ts'
import { SearchText } from './search-text.ts'

/** What a search index reads of its history. */
export interface SearchPlace {
  readonly rows: HistoryRows
  readonly clock: Clock
  /** Tells what a search looks into in the history of an asset; nothing of a row that is not in it. */
  textsIn(tokenId: string | null): (row: HistoryRow) => readonly string[]
}

/** Finds rows by what stands in them, without reading them: the text of each history that somebody has searched. */
export class SearchIndex {
  readonly #place: SearchPlace
  readonly #texts = new Map<string | null, SearchText>()
  readonly #building = new Map<string | null, Promise<void>>()

  constructor(place: SearchPlace) {
    this.#place = place
  }

  /** The keys of the rows that a query finds in the history of an asset, in no particular order. */
  async find(tokenId: string | null, query: string): Promise<string[]> {
    const known = this.#texts.get(tokenId)
    const text = known ?? new SearchText(this.#place.clock)
    if (known === undefined) {
      this.#texts.set(tokenId, text)
      this.#building.set(tokenId, this.#build(text, tokenId))
    }
    await this.#building.get(tokenId)
    return text.find(query)
  }

  /** Follows a change of rows. */
  update(rows: ReadonlyMap<string, RowChange>): void {
    for (const [tokenId, text] of this.#texts) {
      const textsOf = this.#place.textsIn(tokenId)
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
  async #build(text: SearchText, tokenId: string | null): Promise<void> {
    const { rows, textsIn } = this.#place
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
