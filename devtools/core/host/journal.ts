import type { FactName, JournalEntry } from '../model/facts.ts'

/**
 * A ring of the newest events. An event costs one object, however many there were.
 *
 * Sequence numbers begin with 1 and go on for as long as the kernel lives.
 */
export class Journal {
  readonly #ring: JournalEntry[] = []
  readonly #size: number
  #seq = 0

  constructor(size: number) {
    this.#size = size
  }

  /** The number of the newest event; 0 before the first. */
  get seq(): number {
    return this.#seq
  }

  /** Notes an event, in the place of the oldest one if the ring is full. */
  add<F extends FactName>(at: number, event: Pick<JournalEntry<F>, 'correlationId' | 'fact' | 'hook'>): void {
    this.#seq += 1
    this.#ring[(this.#seq - 1) % this.#size] = { seq: this.#seq, at, ...event } as JournalEntry
  }

  /** The events after a number that are still there, oldest first. */
  since(seq: number): JournalEntry[] {
    const entries: JournalEntry[] = []
    for (let next = Math.max(seq, this.#seq - this.#size) + 1; next <= this.#seq; next += 1) {
      const entry = this.#ring[(next - 1) % this.#size]
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  }
}
