import { makeYielder } from '../../base/yielder.ts'
import type { Store } from '../../io/store.ts'
import { keyPages } from '../../store/store-disk.ts'
import {
  type BlockCrypto,
  type BlockPart,
  type Body,
  blockKey,
  type Head,
  type KeyedText,
  openBody,
  openHead,
  parseBlockKey,
  tableSecrets
} from './block.ts'
import { type BulkChange, type BulkRow, type BulkTable, type SearchedRow, textIn } from './bulk.ts'
import { type KeyHash, makeKeyHash, RowIndex, type RowPlace } from './row-index.ts'
import { type BlockFacts, planTable, type TableChanges, type TablePlan } from './table-plan.ts'

/** What a table needs of its store. */
export interface TablePlace extends BlockCrypto {
  readonly prefix: string
  readonly store: Store
  /** About how many characters a full block has. */
  readonly blockLength: number
  /** What a write on its way makes of a key; undefined if none does. */
  recent(key: string): string | BulkChange | null | undefined
  /** Resolves when the writes that were begun before have ended, well or not. */
  written(): Promise<void>
  /** True once a batch was given up that may be made all the same, at any time. */
  mayLand(): boolean
  /** Is called with each damaged or missing value, once. */
  lost(key: Uint8Array): void
}

interface State {
  readonly index: RowIndex
  readonly blocks: Map<number, BlockFacts>
}

/**
 * A table of many rows, sealed in blocks of about a hundred.
 *
 * The head of a block says where its living rows stand, its body has their texts. A write puts its rows into new blocks, and
 * takes those that they replace out of the heads of the old ones; small blocks, and those of which less than half is alive, go
 * into the new ones with it. So the heads of a table always say exactly which rows it has, in any order of reading.
 */
export class SealedTable implements BulkTable {
  readonly #place: TablePlace
  readonly #tag: Uint8Array
  readonly #hashOf: (key: string) => KeyHash
  #state: State | undefined
  #loading: Promise<State> | undefined
  #nextBlock = 1
  /** Opened lately; the memory is given back when the engine collects it. */
  #recent: { readonly block: number; readonly body: WeakRef<Body> }[] = []
  /** Blocks whose body turned out to be damaged: the next write takes them away. */
  #damaged: ReadonlySet<number> = NONE

  constructor(place: TablePlace) {
    const secrets = tableSecrets(place, place.prefix)
    this.#place = place
    this.#hashOf = makeKeyHash(secrets.seed)
    this.#tag = secrets.tag
  }

  async count(): Promise<number> {
    return (await this.#current()).index.count
  }

  async has(key: string): Promise<boolean> {
    const recent = this.#place.recent(key)
    if (recent !== undefined) return recent !== null
    const { index } = await this.#load()
    return index.find(index.hashOf(key)) >= 0
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.getMany([key]))[0]
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    const texts: (string | undefined)[] = []
    const onDisk: number[] = []
    for (const key of keys) {
      const recent = this.#place.recent(key)
      if (recent === undefined) onDisk.push(texts.length)
      texts.push(recent === undefined ? undefined : (textIn(recent) ?? undefined))
    }
    if (onDisk.length === 0) return texts
    const { index } = await this.#load()
    const wanted: Wanted[] = []
    for (const i of onDisk) {
      const row = index.find(index.hashOf(keys[i] ?? ''))
      if (row >= 0) wanted.push({ i, place: index.at(row) })
    }
    await this.#read(wanted, (i, [key, text]) => {
      if (key === keys[i]) texts[i] = text
    })
    return texts
  }

  async page(offset: number, limit: number): Promise<BulkRow[]> {
    const { index } = await this.#current()
    return this.#rowsOf(index, index.byOrder.subarray(Math.max(0, offset), Math.max(0, offset + limit)))
  }

  async offsetOf(key: string): Promise<number | undefined> {
    const { index } = await this.#current()
    const row = index.find(index.hashOf(key))
    return row < 0 ? undefined : index.offsetOf(row)
  }

  async offsetAt(order: number): Promise<number> {
    return (await this.#current()).index.offsetAt(order)
  }

  async *scan({ ordered = false }: { readonly ordered?: boolean } = {}): AsyncGenerator<readonly BulkRow[]> {
    const { index, blocks } = await this.#current()
    const all = index.byOrder
    const groups: Iterable<readonly number[] | Int32Array> = ordered
      ? slicesOf(all, BATCH)
      : index.rowsIn(new Set(blocks.keys()), NONE).values()
    for (const rows of groups) {
      yield await this.#rowsOf(index, rows)
      // Each block takes a good part of a millisecond to open, and more to make use of.
      await this.#place.io.clock.turn()
    }
  }

  async *scanSearchTexts(form: string): AsyncGenerator<readonly SearchedRow[]> {
    const { index, blocks } = await this.#current()
    const groups = [...index.rowsIn(new Set(blocks.keys()), NONE)]
    for (let start = 0; start < groups.length; start += READ_BODIES) {
      const some = groups.slice(start, start + READ_BODIES)
      const bodies = await this.#searchTexts(some.map(([block]) => block))
      for (const [block, rows] of some) {
        const found: SearchedRow[] = []
        const toRead: number[] = []
        for (const row of rows) {
          const place = index.at(row)
          // A row that a write has moved meanwhile is found again, and read.
          const kept = place.block === block ? bodies.get(block)?.row(place.slot) : undefined
          const [key, search] = kept ?? NO_TEXT
          if (search !== '' && search.startsWith(form)) found.push({ key, search: search.slice(form.length) })
          else toRead.push(row)
        }
        yield toRead.length === 0 ? found : [...found, ...(await this.#rowsOf(index, toRead))]
        await this.#place.io.clock.turn()
      }
    }
  }

  async keysWhere(test: (mark: number, order: number) => boolean): Promise<string[]> {
    const { index } = await this.#current()
    const keys: (string | undefined)[] = []
    const wanted: Wanted[] = []
    for (const row of index.byOrder)
      if (test(index.markOf(row), index.orderOf(row))) wanted.push({ i: wanted.length, place: index.at(row) })
    await this.#read(wanted, (i, [key]) => {
      keys[i] = key
    })
    return keys.filter(key => key !== undefined)
  }

  /** Works out the batch that makes changes true. One plan at a time: it counts on the state that it was made for. */
  async plan(changes: TableChanges): Promise<TablePlan> {
    const { index, blocks } = await this.#load()
    return planTable(changes, {
      ...{ place: this.#place, tag: this.#tag, index, blocks, damaged: this.#damaged },
      nextBlock: () => this.#nextBlock++,
      readRows: async (rows, take) => {
        const wanted = rows.map((row, i) => ({ i, place: index.at(row) }))
        const searchTexts = await this.#searchTexts([...groupByBlock(wanted).keys()])
        const takeRow: TakeRow = (i, row, { block, slot }) =>
          take(rows[i] ?? 0, row, (searchTexts.get(block)?.row(slot) ?? NO_TEXT)[1])
        await this.#read(wanted, takeRow, true)
      }
    })
  }

  /** Takes a plan for what is, after its batch has been made. */
  adopt({ removed, placed, blocks }: TablePlan): void {
    const state = this.#state
    if (state === undefined) return
    state.index.apply(removed, placed)
    for (const [block, facts] of blocks) {
      if (facts === undefined) state.blocks.delete(block)
      else state.blocks.set(block, facts)
    }
    if (this.isDamaged) this.#damaged = new Set([...this.#damaged].filter(block => !blocks.has(block)))
    if (state.index.isWasteful) this.#state = undefined
  }

  /** Reads everything anew when it is wanted: what a batch that failed has left is not known. */
  forget(): void {
    this.#state = undefined
    this.#loading = undefined
    this.#recent = []
  }

  /** Whether damaged blocks wait for a write that takes them away. */
  get isDamaged(): boolean {
    return this.#damaged.size > 0
  }

  /** The state after the writes that were begun before. */
  async #current(): Promise<State> {
    await this.#place.written()
    return this.#load()
  }

  async #load(): Promise<State> {
    while (this.#state === undefined) {
      this.#loading ??= this.#readHeads()
      const loading = this.#loading
      try {
        const state = await loading
        if (this.#loading === loading) this.#state = state
      } finally {
        if (this.#loading === loading) this.#loading = undefined
      }
    }
    return this.#state
  }

  async #readHeads(): Promise<State> {
    const { store, io, prefix } = this.#place
    const pause = makeYielder(io.clock)
    const blocks = new Map<number, BlockFacts>()
    const heads: Head[] = []
    const [after, before] = [blockKey(this.#tag, 'head', 0), blockKey(this.#tag, 'body', 0)]
    for await (const keys of keyPages(store, { after, before })) {
      const values = await store.getMany(keys)
      for (const [i, key] of keys.entries()) {
        const number = parseBlockKey(key)?.block
        // One that was put aside.
        if (number === undefined) continue
        this.#nextBlock = Math.max(this.#nextBlock, number + 1)
        const value = values[i]
        const head = value === undefined ? undefined : await openHead(this.#place, value)
        if (head?.table !== prefix || head.block !== number) this.#place.lost(key)
        else heads.push(head)
        await pause()
      }
    }
    for (const { block, count, total, size, isSearchable } of heads)
      blocks.set(block, { living: count, total, size, isSearchable })
    return { index: new RowIndex(this.#hashOf, heads), blocks }
  }

  /** Rows by their numbers; those that are gone by now, or damaged, are left out. */
  async #rowsOf(index: RowIndex, numbers: readonly number[] | Int32Array): Promise<BulkRow[]> {
    const rows: (BulkRow | undefined)[] = []
    const wanted: Wanted[] = []
    for (const [i, row] of numbers.entries()) wanted.push({ i, place: index.at(row) })
    await this.#read(wanted, (i, [key, text], { order, mark }) => {
      rows[i] = { key, text, order, mark }
    })
    return rows.filter(row => row !== undefined)
  }

  /** Reads rows, each block once. A row that was moved meanwhile is found again by its hash. */
  async #read(wanted: readonly Wanted[], take: TakeRow, isPlan = false): Promise<void> {
    const pause = makeYielder(this.#place.io.clock)
    for (let left = wanted; left.length > 0; ) {
      const missed: Wanted[] = []
      const groups = groupByBlock(left)
      const numbers = [...groups.keys()]
      for (let start = 0; start < numbers.length; start += READ_BODIES) {
        const some = numbers.slice(start, start + READ_BODIES)
        const bodies = await this.#bodies(some, isPlan)
        for (const [at, block] of some.entries()) {
          const body = bodies[at]
          for (const one of groups.get(block) ?? []) {
            if (body === undefined) missed.push(one)
            else if (one.place.slot < body.count) take(one.i, body.row(one.place.slot), one.place)
          }
          await pause()
        }
      }
      left = await this.#findAgain(missed)
    }
  }

  async #findAgain(missed: readonly Wanted[]): Promise<Wanted[]> {
    if (missed.length === 0) return []
    const { index, blocks } = await this.#load()
    const found: Wanted[] = []
    for (const { i, place } of missed) {
      const row = index.find(place.hash)
      const again = row < 0 ? undefined : index.at(row)
      // In the same place as before, its body is damaged.
      if (again === undefined || (again.block === place.block && blocks.has(place.block))) continue
      found.push({ i, place: again })
    }
    return found
  }

  /** The bodies of some blocks; undefined for one that is gone or damaged. */
  async #bodies(blocks: readonly number[], isPlan: boolean): Promise<(Body | undefined)[]> {
    const known = blocks.map(
      block => block && this.#recent.find(recent => recent.block === block)?.body.deref()
    )
    const toRead = blocks.filter((block, i) => block !== 0 && known[i] === undefined)
    const values = await this.#values('body', toRead)
    const read = new Map<number, Body>()
    for (const [i, block] of toRead.entries()) {
      const body =
        (await this.#opened(block, values[i])) ?? (isPlan ? undefined : await this.#readLate(block))
      if (body !== undefined) read.set(block, body)
      // Otherwise a write has moved its rows while it was read.
      else if (await this.#isThere(block)) this.#lose(block)
    }
    for (const [block, body] of read) this.#recent.unshift({ block, body: new WeakRef(body) })
    if (this.#recent.length > MAX_RECENT) this.#recent.length = MAX_RECENT
    return blocks.map((block, i) => read.get(block) ?? (known[i] || undefined))
  }

  /** Checks if the heads count on a block; they are read anew where a batch may have moved its rows by now. */
  async #isThere(block: number): Promise<boolean> {
    if (this.#place.mayLand()) this.forget()
    return (await this.#load()).blocks.has(block)
  }

  #values(part: BlockPart, blocks: readonly number[]): Promise<(Uint8Array | undefined)[]> {
    return this.#place.store.getMany(blocks.map(block => blockKey(this.#tag, part, block)))
  }

  async #opened(
    block: number,
    value: Uint8Array | undefined,
    part: 'body' | 'search' = 'body'
  ): Promise<Body | undefined> {
    if (value === undefined) return undefined
    return openBody(this.#place, { table: this.#place.prefix, block, part }, value)
  }

  /** The search texts of blocks. They are made of the rows, so that nothing is lost where they cannot be read. */
  async #searchTexts(blocks: readonly number[]): Promise<ReadonlyMap<number, Body>> {
    const bodies = new Map<number, Body>()
    const kept = blocks.filter(block => this.#state?.blocks.get(block)?.isSearchable)
    const values = await this.#values('search', kept)
    for (const [i, block] of kept.entries()) {
      const body = await this.#opened(block, values[i], 'search')
      // Of another number of rows it is none of this block.
      if (body !== undefined && body.count === this.#state?.blocks.get(block)?.total) bodies.set(block, body)
    }
    return bodies
  }

  /** Reads a body once more when what was begun has ended: the store below may show a batch before it says that it is made. */
  async #readLate(block: number): Promise<Body | undefined> {
    const { blocks } = await this.#current()
    if (!blocks.has(block)) return undefined
    const [value] = await this.#values('body', [block])
    return this.#opened(block, value)
  }

  #lose(block: number): void {
    if (this.#damaged.has(block)) return
    this.#damaged = new Set([...this.#damaged, block])
    this.#place.lost(blockKey(this.#tag, 'body', block))
  }
}

/** A row that is wanted, and which of those it is. */
interface Wanted {
  readonly i: number
  readonly place: RowPlace
}

type TakeRow = (i: number, row: KeyedText, place: RowPlace) => void

const groupByBlock = (wanted: readonly Wanted[]): Map<number, Wanted[]> => {
  const groups = new Map<number, Wanted[]>()
  for (const one of wanted) {
    const group = groups.get(one.place.block)
    if (group === undefined) groups.set(one.place.block, [one])
    else group.push(one)
  }
  return groups
}

function* slicesOf(rows: Int32Array, length: number): Generator<Int32Array> {
  for (let start = 0; start < rows.length; start += length) yield rows.subarray(start, start + length)
}

const NONE: ReadonlySet<never> = new Set()
const NO_TEXT: KeyedText = ['', '']
const BATCH = 256
const READ_BODIES = 8
const MAX_RECENT = 8
