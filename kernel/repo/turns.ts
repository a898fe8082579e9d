import { makeSerialQueue, type SerialQueue } from '../crypto/serial-queue.ts'

/** Turns that never overlap, and a way to wait for those that are taken. */
export class Turns {
  readonly #inOrder: SerialQueue = makeSerialQueue()
  #count = 0

  /** Runs a task when all earlier ones have ended. */
  take<T>(task: () => Promise<T>): Promise<T> {
    this.#count += 1
    return this.#inOrder(task).finally(() => {
      this.#count -= 1
    })
  }

  /** Resolves when the turns taken before have ended; at once if there is none. */
  async settled(): Promise<void> {
    if (this.#count > 0) await this.#inOrder(async () => {})
  }
}
