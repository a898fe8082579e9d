/** Writes that are on their way to the disk: nobody sends, builds upon or acknowledges what may still fail. */
export class FlyingWrites {
  readonly #writes = new Set<Promise<unknown>>()

  /** Counts a write until it has ended, well or not, and gives it back. */
  add<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write)
    const land = (): void => void this.#writes.delete(write)
    write.then(land, land)
    return write
  }

  /** Resolves when those of now have ended, well or not. */
  async ended(): Promise<void> {
    if (this.#writes.size > 0) await Promise.allSettled(this.#writes)
  }

  /** Resolves when those of now are durable. @throws as the first of them that fails */
  async durable(): Promise<void> {
    await Promise.all(this.#writes)
  }
}
