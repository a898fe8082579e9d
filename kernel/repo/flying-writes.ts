/** Writes that are on their way to the disk: nobody sends, builds upon or acknowledges what may still fail. */
export class FlyingWrites {
  /** Undefined while there are none, as nearly always: a set of its own takes memory, and there are thousands. */
  #writes: Set<Promise<unknown>> | undefined

  /** Counts a write until it has ended, well or not, and gives it back. */
  add<T>(write: Promise<T>): Promise<T> {
    const writes = this.#writes ?? new Set()
    this.#writes = writes.add(write)
    const land = (): void => {
      writes.delete(write)
      if (writes.size === 0) this.#writes = undefined
    }
    write.then(land, land)
    return write
  }

  /** Resolves when those of now have ended, well or not. */
  async ended(): Promise<void> {
    if (this.#writes !== undefined) await Promise.allSettled(this.#writes)
  }

  /** Resolves when those of now are durable. @throws as the first of them that fails */
  async durable(): Promise<void> {
    if (this.#writes !== undefined) await Promise.all(this.#writes)
  }
}
