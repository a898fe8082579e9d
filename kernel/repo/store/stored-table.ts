import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'
import type { BulkRow, BulkTable } from './bulk.ts'
import type { OverlayRow } from './overlay.ts'
import type { RowIndex } from './row-index.ts'
import type { TableBack } from './table-back.ts'
import { SLOTS, TableView, type ViewRow } from './table-view.ts'

/** What a store has in memory of its tables. */
export interface TableMemory {
  /** What memory holds of a key, with or without a text; undefined if only the disk can tell. */
  recent(prefix: string, key: string): OverlayRow | undefined
  /** Every row of a table in memory. */
  rowsInMemory(prefix: string): Iterable<OverlayRow>
  /** Resolves when the writes that were begun before have ended. */
  written(): Promise<void>
}

/** What a table needs of its store. */
export interface TablePlace {
  readonly clock: Clock
  readonly back: TableBack
  readonly memory: TableMemory
}

/** A table of a paged store: the rows on the disk, and over them those that are still in memory. */
export class StoredTable implements BulkTable {
  readonly #place: TablePlace
  /** Undefined until it is wanted; {@link NONE} for the many tables that have no row in memory. */
  #overlay: Map<string, OverlayRow> | undefined
  #view: TableView | undefined

  constructor(place: TablePlace) {
    this.#place = place
  }

  async count(): Promise<number> {
    return this.#viewed(async view => view.count)
  }

  async has(key: string): Promise<boolean> {
    const recent = this.#recent(key)
    if (recent !== undefined) return recent.text !== null
    if (this.#place.back.isEmpty) return false
    return this.#find(await this.#place.back.index(), key) >= 0
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.getMany([key]))[0]
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    const { back } = this.#place
    const { texts, onDisk } = this.#recentTexts(keys)
    if (onDisk.length === 0 || back.isEmpty) return texts
    await back.reading(async () => {
      const wanted = this.#wantedOf(await back.index(), keys, onDisk)
      await this.#readRows(wanted, (i, row) => {
        if (row.key === keys[i]) texts[i] = row.text
      })
    })
    return texts
  }

  async page(offset: number, limit: number): Promise<BulkRow[]> {
    return this.#viewed(async view => {
      const end = Math.min(view.count, offset + limit)
      const rows: ViewRow[] = []
      for (let at = Math.max(0, offset); at < end; at += 1) rows.push(view.rowAt(at))
      return this.#rowsOf(rows)
    })
  }

  async offsetOf(key: string): Promise<number | undefined> {
    return this.#viewed(async view => view.offsetOf(key))
  }

  async offsetAt(order: number): Promise<number> {
    return this.#viewed(async view => view.offsetAt(order))
  }

  async *scan({ ordered = false }: { readonly ordered?: boolean } = {}): AsyncGenerator<readonly BulkRow[]> {
    const release = this.#place.back.hold()
    try {
      const view = await this.#current()
      yield* ordered ? this.#scanInOrder(view) : this.#scanAsStored(view)
    } finally {
      release()
    }
  }

  async keysWhere(test: (mark: number, order: number) => boolean): Promise<string[]> {
    return this.#viewed(async view => {
      const keys: (string | undefined)[] = []
      const wanted: Wanted[] = []
      for (let at = 0; at < view.count; at += 1) {
        if (!test(view.markAt(at), view.orderAt(at))) continue
        const row = view.rowAt(at)
        if ('overlay' in row) keys.push(row.overlay.key)
        else wanted.push({ i: keys.push(undefined) - 1, ...row })
      }
      await this.#readRows(wanted, (i, { key }) => {
        keys[i] = key
      })
      return keys.filter(key => key !== undefined)
    })
  }

  /** Learns of a write, unless nothing of the table was ever asked for. */
  note(row: OverlayRow): void {
    if (this.#overlay === NONE) this.#overlay = new Map()
    this.#overlay?.set(row.key, row)
    this.#view = undefined
  }

  /** Reads what is in memory again, as after a write that failed or was moved to the disk. */
  forget(): void {
    this.#overlay = undefined
    this.#view = undefined
  }

  #viewed<T>(task: (view: TableView) => Promise<T>): Promise<T> {
    return this.#place.back.reading(async () => task(await this.#current()))
  }

  async #current(): Promise<TableView> {
    const { back, memory } = this.#place
    await memory.written()
    let index = back.loaded
    while (index === undefined) {
      await back.index()
      // Another may have taken its place before it was our turn.
      index = back.loaded
    }
    const rows = index
    const overlay = this.#rowsInMemory()
    this.#view ??= new TableView({ index, overlay, rowOf: key => this.#find(rows, key) })
    return this.#view
  }

  #rowsInMemory(): Map<string, OverlayRow> {
    if (this.#overlay === undefined) {
      const { memory, back } = this.#place
      const rows = [...memory.rowsInMemory(back.prefix)]
      this.#overlay = rows.length === 0 ? NONE : new Map(rows.map(row => [row.key, row]))
    }
    return this.#overlay
  }

  #recent(key: string): OverlayRow | undefined {
    const { memory, back } = this.#place
    return memory.recent(back.prefix, key)
  }

  /** What memory holds of some keys, and the numbers of those that only the disk can tell of. */
  #recentTexts(keys: readonly string[]): {
    readonly texts: (string | undefined)[]
    readonly onDisk: readonly number[]
  } {
    const texts: (string | undefined)[] = []
    const onDisk: number[] = []
    for (const key of keys) {
      const recent = this.#recent(key)
      if (recent === undefined) onDisk.push(texts.length)
      texts.push(recent?.text ?? undefined)
    }
    return { texts, onDisk }
  }

  #wantedOf(index: RowIndex, keys: readonly string[], numbers: readonly number[]): Wanted[] {
    const { place, slot } = index.columns
    const wanted: Wanted[] = []
    for (const i of numbers) {
      const row = this.#find(index, keys[i] ?? '')
      if (row >= 0) wanted.push({ i, place: place[row] ?? 0, slot: slot[row] ?? 0 })
    }
    return wanted
  }

  #find(index: RowIndex, key: string): number {
    return index.find(this.#place.back.hashOf(key))
  }

  async *#scanInOrder(view: TableView): AsyncGenerator<readonly BulkRow[]> {
    for (let start = 0; start < view.count; start += BATCH) {
      const rows: ViewRow[] = []
      const end = Math.min(view.count, start + BATCH)
      for (let at = start; at < end; at += 1) rows.push(view.rowAt(at))
      yield await this.#rowsOf(rows)
    }
  }

  async *#scanAsStored(view: TableView): AsyncGenerator<readonly BulkRow[]> {
    if (view.overlay.length > 0) yield view.overlay.map(bulkRowOf)
    const positions = view.positions()
    for (let start = 0; start < positions.length; ) {
      const place = Math.floor((positions[start] ?? 0) / SLOTS)
      const piece = await this.#place.back.pieceAt(place)
      const rows: BulkRow[] = []
      for (; Math.floor((positions[start] ?? -1) / SLOTS) === place; start += 1) {
        if (piece !== undefined) rows.push(piece.row((positions[start] ?? 0) % SLOTS))
      }
      yield rows
      // Each piece takes a good part of a millisecond to open, and more to make use of.
      await this.#place.clock.turn()
    }
  }

  /** Rows of damaged pieces are left out. */
  async #rowsOf(found: readonly ViewRow[]): Promise<BulkRow[]> {
    const rows: (BulkRow | undefined)[] = []
    const wanted: Wanted[] = []
    for (const [i, row] of found.entries()) {
      if ('overlay' in row) rows[i] = bulkRowOf(row.overlay)
      else wanted.push({ i, ...row })
    }
    await this.#readRows(wanted, (i, row) => {
      rows[i] = row
    })
    return rows.filter(row => row !== undefined)
  }

  /** Opens each piece once. */
  async #readRows(wanted: readonly Wanted[], take: (i: number, row: BulkRow) => void): Promise<void> {
    const byPlace = new Map<number, Wanted[]>()
    for (const one of wanted) {
      const list = byPlace.get(one.place)
      if (list === undefined) byPlace.set(one.place, [one])
      else list.push(one)
    }
    const breathe = makeYielder(this.#place.clock)
    for (const [place, list] of byPlace) {
      const piece = await this.#place.back.pieceAt(place)
      if (piece !== undefined) for (const { i, slot } of list) take(i, piece.row(slot))
      await breathe()
    }
  }
}

/** A row on the disk, and which of those asked for it is. */
interface Wanted {
  readonly i: number
  readonly place: number
  readonly slot: number
}

/** Never written to. */
const NONE = new Map<string, OverlayRow>()
const BATCH = 256

const bulkRowOf = ({ key, text, order, mark }: OverlayRow): BulkRow => ({
  key,
  text: text ?? '',
  order,
  mark
})
