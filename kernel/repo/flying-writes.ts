/** The writes of one repo that are on their way to the disk: no sync sends or builds upon what may still fail. */
export class FlyingWrites {
  #writes: readonly Promise<unknown>[] = []

  /** Counts a write until it has ended, well or not, and gives it back. */
  add<T>(write: Promise<T>): Promise<T> {
    this.#writes = [...this.#writes, write]
    const land = (): void => {
      this.#writes = this.#writes.filter(other => other !== write)
    }
    write.then(land, land)
    return write
  }

  /** Resolves when those of now have ended. */
  async ended(): Promise<void> {
    if (this.#writes.length > 0) await Promise.allSettled(this.#writes)
  }
}
