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
      // The version has to be agreed on by a message of its own, and what is part of a batch can be sent once more, much later.
      const isOwn = request.call.method === 'server.version' || isPayment(request)
      const isAlone = isOwn || this.#open + batch.length >= MAX_OPEN
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

  /** Notes that items of a batch are answered, or will not be: all that are open, if not said otherwise. */
  release(batch: Batch, items: number = batch.open): void {
    batch.open -= items
    this.#open -= items
  }

  /** Notes that the server has refused a whole batch; gives the most items of the next ones. */
  halve(): number {
    this.#size = Math.max(1, this.#size >> 1)
    return this.#size
  }
}

/** True of a request that sends a payment: it waits for nothing, and is never sent again. */
export const isPayment = ({ call: { method } }: Pick<BatchItem, 'call'>): boolean =>
  method === 'blockchain.transaction.broadcast' || method === 'blockchain.transaction.broadcast_package'

/** A message that was sent: a batch, or a single request. */
export interface Batch {
  readonly size: number
  /** Items that count as open; none of a single request. */
  open: number
  /** An item was answered after it was given up. */
  isAnswered: boolean
}

/**
 * Requests that are asked again under other numbers, and may still be answered. Their batches count as open until they are, one by
 * one: so they do for the server.
 */
export class AbandonedRequests {
  readonly #habits: ServerHabits
  readonly #batches = new Map<number, Batch>()
  /** Without an answer, in their order. */
  readonly #waiting: Batch[] = []

  constructor(habits: ServerHabits) {
    this.#habits = habits
  }

  /** True while a batch has no answer. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  add(id: number, batch: Batch): void {
    this.#batches.set(id, batch)
    if (!this.#waiting.includes(batch)) this.#waiting.push(batch)
  }

  /** Notes a refusal that names no request: of the oldest batch. False if it can be of none. */
  onRefusal(): boolean {
    const [oldest] = this.#waiting
    if (oldest !== undefined) this.#onEnd(oldest)
    return this.#batches.size > 0
  }

  /** Notes an answer. False if it is to none of them. */
  onAnswer(id: number): boolean {
    const batch = this.#batches.get(id)
    if (batch === undefined) return false
    this.#batches.delete(id)
    if (!batch.isAnswered) this.#onEnd(batch)
    batch.isAnswered = true
    return true
  }

  /** Notes that no answer will come. */
  end(): void {
    for (const batch of this.#waiting.splice(0)) this.#habits.release(batch)
  }

  /** A batch that was thought to be refused stands for another one. */
  #onEnd(batch: Batch): void {
    const [ended] = this.#waiting.splice(Math.max(0, this.#waiting.indexOf(batch)), 1)
    if (ended !== undefined) this.#habits.release(ended)
  }
}

/** True of the refusal of an item that a server had to leave out because of the others of its batch. */
export const isTooMuch = ({
  code,
  message
}: {
  readonly code: number | undefined
  readonly message: string
}): boolean =>
  !/subscription/i.test(message) && (code === 4 || /response too large|batch limit/i.test(message))

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
