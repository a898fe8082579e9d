import { makeYielder } from '../../base/yielder.ts'
import type { Clock } from '../../io/io.ts'

/** Stands around each text, so that no query is found across two of them. */
const SEPARATOR = '\0'
const BLOCK = 256

/**
 * What a search looks into, of all transactions in one list: built when somebody first searches, edited in place.
 *
 * It is plain text of what people have noted, so it counts as a secret: it is in memory only, and goes with
 * {@link clear}.
 */
export class SearchText {
  readonly #clock: Pick<Clock, 'monotonic' | 'turn'>
  readonly #slots = new Map<string, number>()
  #keys: string[] = []
  #blocks: Block[] = []

  constructor(clock: Pick<Clock, 'monotonic' | 'turn'>) {
    this.#clock = clock
  }

  /** Tells whether the texts of a key are known. */
  has(key: string): boolean {
    return this.#slots.has(key)
  }

  /** Replaces the texts of a key; without texts nothing finds it. */
  set(key: string, texts: readonly string[]): void {
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
  async find(query: string): Promise<string[]> {
    const breathe = makeYielder(this.#clock)
    const found: string[] = []
    const [blocks, keys] = [this.#blocks, this.#keys]
    for (const [index, block] of blocks.entries()) {
      for (const slot of block.find(query)) found.push(keys[index * BLOCK + slot] ?? '')
      await breathe()
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
