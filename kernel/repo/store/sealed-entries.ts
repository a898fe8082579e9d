import { tryJsonText } from '../../base/json.ts'
import { makeYielder } from '../../base/yielder.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import type { Store, StoreChange } from '../../io/store.ts'
import { keyPages } from '../../store/store-disk.ts'
import {
  type BlockCrypto,
  blockKey,
  type KeyedText,
  openBody,
  parseBlockKey,
  sealBody,
  tableSecrets
} from './block.ts'

interface EntryBlock {
  readonly block: number
  /** The keys of its entries. */
  readonly keys: readonly string[]
  /** In characters, about. */
  readonly size: number
}

interface Entry {
  readonly text: string
  readonly block: EntryBlock
}

/** What a batch does to the entries. */
export interface EntryPlan {
  readonly changes: readonly StoreChange[]
  readonly entries: ReadonlyMap<string, Entry>
  readonly deleted: readonly string[]
  readonly gone: ReadonlySet<EntryBlock>
}

/**
 * The entries of a sealed store: all of them are in memory.
 *
 * They lie in blocks of about 8,000 characters that have a body and no head. A block that loses an entry goes, and what is left of it
 * is in the new block: so each entry is in one block alone.
 */
export class SealedEntries {
  readonly #options: BlockCrypto & { readonly store: Store }
  readonly #tag: Uint8Array
  #entries = new Map<string, Entry>()
  #blocks = new Set<EntryBlock>()
  /** Blocks with an entry that a later one has, too: damage shows them again. */
  #stale: ReadonlySet<EntryBlock> = NONE
  #nextBlock = 1

  constructor(options: BlockCrypto & { readonly store: Store }) {
    this.#options = options
    this.#tag = tableSecrets(options, '').tag
  }

  /** Reads them, and returns the keys of values that are damaged. */
  async load(): Promise<readonly Uint8Array[]> {
    const { store, io } = this.#options
    const pause = makeYielder(io.clock)
    const lost: Uint8Array[] = []
    const entries = new Map<string, Entry>()
    const blocks = new Set<EntryBlock>()
    const stale = new Set<EntryBlock>()
    const [after, before] = [blockKey(this.#tag, 'body', 0), blockKey(this.#tag, 'body', MAX_BLOCK)]
    for await (const keys of keyPages(store, { after, before })) {
      const values = await store.getMany(keys)
      for (const [i, key] of keys.entries()) {
        const number = parseBlockKey(key)?.block
        // One that was put aside.
        if (number === undefined) continue
        this.#nextBlock = Math.max(this.#nextBlock, number + 1)
        const value = values[i]
        const name = { table: '', block: number, part: 'body' } as const
        const body = value === undefined ? undefined : await openBody(this.#options, name, value)
        if (body === undefined) {
          lost.push(key)
          continue
        }
        const rows = Array.from({ length: body.count }, (_, slot) => body.row(slot))
        const block = { block: number, keys: rows.map(([entry]) => plainOf(entry)), size: sizeOf(rows) }
        blocks.add(block)
        for (const [at, [, text]] of rows.entries()) {
          const entry = block.keys[at] ?? ''
          const older = entries.get(entry)?.block
          if (older !== undefined) stale.add(older)
          entries.set(entry, { text: plainOf(text), block })
        }
        await pause()
      }
    }
    // Until all of it was read, readers have what was there before.
    this.#entries = entries
    this.#blocks = blocks
    this.#stale = stale.size === 0 ? NONE : stale
    return lost
  }

  get(key: string): string | undefined {
    return this.#entries.get(key)?.text
  }

  /** Those whose keys begin with a prefix. */
  *all(prefix: string): Generator<[key: string, text: string]> {
    for (const [key, { text }] of this.#entries) if (key.startsWith(prefix)) yield [key, text]
  }

  /** Entries of blocks that lose one go into the new block with what is new; so do those of small blocks, if they are many. */
  plan(changed: ReadonlyMap<string, string | null>): EntryPlan {
    const gone = new Set<EntryBlock>(this.#stale)
    for (const key of changed.keys()) {
      const block = this.#entries.get(key)?.block
      if (block !== undefined) gone.add(block)
    }
    const small = [...this.#blocks].filter(block => block.size < ENTRY_BLOCK / 2)
    if (small.length >= MANY && changed.size > 0) for (const block of small) gone.add(block)
    const rows: KeyedText[] = []
    for (const block of gone) {
      for (const key of block.keys) {
        const entry = this.#entries.get(key)
        if (entry?.block === block && !changed.has(key)) rows.push([key, entry.text])
      }
    }
    const deleted: string[] = []
    for (const [key, text] of changed) {
      if (text === null) deleted.push(key)
      else rows.push([key, text])
    }
    const changes: StoreChange[] = [...gone].map(({ block }) => ({
      key: blockKey(this.#tag, 'body', block),
      value: undefined
    }))
    const entries = new Map<string, Entry>()
    for (const group of groupsOf(rows)) {
      const block = { block: this.#nextBlock, keys: group.map(([key]) => key), size: sizeOf(group) }
      this.#nextBlock += 1
      const texts = group.map(([key, text]): KeyedText => [sealableOf(key), sealableOf(text)])
      const value = sealBody(this.#options, { table: '', block: block.block, part: 'body' }, texts)
      changes.push({ key: blockKey(this.#tag, 'body', block.block), value })
      for (const [key, text] of group) entries.set(key, { text, block })
    }
    return { changes, entries, deleted, gone }
  }

  /** Takes a plan for what is, after its batch has been made. */
  adopt({ entries, deleted, gone }: EntryPlan): void {
    for (const block of gone) this.#blocks.delete(block)
    this.#stale = NONE
    for (const key of deleted) this.#entries.delete(key)
    for (const [key, entry] of entries) {
      this.#entries.set(key, entry)
      this.#blocks.add(entry.block)
    }
  }
}

const groupsOf = (rows: readonly KeyedText[]): KeyedText[][] => {
  const groups: KeyedText[][] = []
  let size = ENTRY_BLOCK
  for (const row of rows) {
    if (size >= ENTRY_BLOCK) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(row)
    size += row[0].length + row[1].length
  }
  return groups
}

const sizeOf = (rows: readonly KeyedText[]): number =>
  rows.reduce((sum, [key, text]) => sum + key.length + text.length, 0)

/** A text as it is sealed: half a character has no UTF-8, and is spelt as JSON does. */
const sealableOf = (text: string): string =>
  isWellFormed(text) && !text.startsWith(SPELT) ? text : SPELT + JSON.stringify(text)

const plainOf = (sealed: string): string => {
  const text = sealed.startsWith(SPELT) ? tryJsonText(sealed.slice(SPELT.length)) : sealed
  return typeof text === 'string' ? text : sealed
}

const NONE: ReadonlySet<never> = new Set()
const SPELT = '\u0000'
/** Characters of entries in one block, about. */
const ENTRY_BLOCK = 8000
/** So many small blocks of entries become one. */
const MANY = 8
const MAX_BLOCK = 0xffffffff
