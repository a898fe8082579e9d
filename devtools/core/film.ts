import type { JournalEvent } from './journal-event.ts'
import type { RecordedMessage } from './recording-line.ts'
import type { View } from './slices.ts'
import { foldMessage, type Known, MAX_EVENTS, nothingKnown } from './view-fold.ts'

/** What was known right after one message of a recording. */
export interface Frame {
  readonly view: View
  /** Oldest first. */
  readonly events: readonly JournalEvent[]
  /** Events that were left out by then. */
  readonly missed: number
  /** When it was told, in Unix milliseconds. */
  readonly at: number
}

/** How many messages there are from one kept moment to the next. */
const KEPT_EVERY = 100

/**
 * The messages of a recording, with the tables of some moments, so that going back costs at most a hundred messages and
 * going on the one that is next.
 */
export class Film {
  /** How many moments there are: one after each message. */
  readonly length: number
  readonly #messages: readonly RecordedMessage[]
  readonly #kept: Known[] = []
  readonly #events: readonly JournalEvent[]
  /** Of each message: how many of the events had been told by then, and how many left out. */
  readonly #eventEnds: readonly number[]
  readonly #missed: readonly number[]
  /** Where it was looked at last. */
  #cursor: { readonly index: number; readonly known: Known } = { index: -1, known: nothingKnown }

  constructor(messages: readonly RecordedMessage[]) {
    this.length = messages.length
    // The events are kept once, and cut as they are shown.
    this.#messages = messages.map(message => ({ ...message, events: [] }))
    this.#events = messages.flatMap(({ events }) => events)
    let end = 0
    this.#eventEnds = messages.map(({ events }) => {
      end += events.length
      return end
    })
    this.#missed = missedUpTo(messages)
    let known = nothingKnown
    for (const [index, message] of this.#messages.entries()) {
      known = foldMessage(known, message) ?? known
      if (index % KEPT_EVERY === 0) this.#kept.push(known)
    }
  }

  /** What was known after a message. @param index - from 0 to below the length */
  at(index: number): Frame {
    const { view } = this.#knownAt(index)
    const end = this.#eventEnds[index] ?? 0
    return {
      view,
      events: this.#events.slice(Math.max(0, end - MAX_EVENTS), end),
      missed: this.#missed[index] ?? 0,
      at: this.#messages[index]?.at ?? 0
    }
  }

  #knownAt(index: number): Known {
    const kept = Math.floor(index / KEPT_EVERY)
    let { index: at, known } = this.#cursor
    if (at < kept * KEPT_EVERY || at > index) {
      at = kept * KEPT_EVERY
      known = this.#kept[kept] ?? nothingKnown
    }
    for (const message of this.#messages.slice(at + 1, index + 1))
      known = foldMessage(known, message) ?? known
    this.#cursor = { index, known }
    return known
  }
}

const missedUpTo = (messages: readonly RecordedMessage[]): readonly number[] => {
  let missed = 0
  let before: number | undefined
  return messages.map(message => {
    if (message.type === 'batch') missed += message.missed
    else if (before !== undefined) missed += message.seq - before - message.events.length
    before = message.seq
    return missed
  })
}
