import type { Json } from '../../../../kernel/plugin-api.ts'

/** A request that can travel in a batch. */
export interface BatchItem {
  readonly call: { readonly method: string; readonly params: readonly Json[] }
  /** The most requests of a batch that it may be in: fewer once the server has found one too large. */
  readonly most: number
}

/**
 * What all connections to one server know of it: if it takes batches, and how large ones.
 *
 * Some servers end the connection when they read a batch, and some count the items of all that are open. What is more goes as single
 * requests, which are sent without a wait for each other, too.
 */
export class ServerHabits {
  /** Undefined until a batch of one ping was answered, or was not. */
  takesBatches: boolean | undefined
  #size = MAX_BATCH
  /** Items of open batches. */
  #open = 0

  /** Puts requests into batches, in their order; a batch of one is a single request. */
  pack<T extends BatchItem>(requests: readonly T[]): readonly (readonly T[])[] {
    if (this.takesBatches !== true) return requests.map(request => [request])
    const batches: T[][] = []
    let batch: T[] = []
    let most = this.#size
    let length = 0
    const end = (): void => {
      if (batch.length > 0) batches.push(batch)
      if (batch.length > 1) this.#open += batch.length
      batch = []
      most = this.#size
      length = 0
    }
    for (const request of requests) {
      const expected = expectedLengthOf(request)
      // The version has to be agreed on by a message of its own.
      const isAlone = request.call.method === 'server.version' || this.#open + batch.length >= MAX_OPEN
      const isFull = batch.length >= Math.min(most, request.most) || length + expected > MAX_EXPECTED
      if (isAlone || isFull) end()
      batch.push(request)
      most = Math.min(most, request.most)
      length += expected
      if (isAlone) end()
    }
    end()
    return batches
  }

  /** Notes that items of a batch are answered, or will not be. */
  release(items = 1): void {
    this.#open -= items
  }

  /** Notes that the server has refused a whole batch; gives the most items of the next ones. */
  halve(): number {
    this.#size = Math.max(1, this.#size >> 1)
    return this.#size
  }
}

/** The most items of a batch. */
export const MAX_BATCH = 100
/** Fulcrum takes 345 items of batches from one address on the network. */
const MAX_OPEN = 300
/** ElectrumX sends at most 8 million bytes for one batch. */
const MAX_EXPECTED = 4_000_000
const USUAL_LENGTH = 5000

/** Letters of the reply. Only lists of headers are large by what is asked. */
const expectedLengthOf = ({ call: { method, params } }: BatchItem): number =>
  method === 'blockchain.block.headers' ? Number(params[1] ?? 0) * 160 : USUAL_LENGTH
