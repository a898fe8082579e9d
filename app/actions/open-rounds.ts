import type { QuoteRound, SwapQuote } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'

interface OpenRound {
  readonly accountId: string
  readonly round: QuoteRound
}

/** The rounds of quotes that were asked for here and are not closed. */
export class OpenRounds {
  readonly #rounds = new Map<string, OpenRound>()
  readonly #onClose: (roundId: string) => void
  #isClosed = false

  /** `closing` is called for each round before it closes. */
  constructor(closing: (roundId: string) => void) {
    this.#onClose = closing
  }

  /** Keeps a round; the oldest one makes room. @throws ActionError GONE if all are closed, and then so is this one */
  add(accountId: string, round: QuoteRound): void {
    this.#rounds.set(round.id, { accountId, round })
    const [oldest] = this.#rounds.keys()
    if (this.#rounds.size > MAX_ROUNDS && oldest !== undefined) this.close(oldest)
    if (!this.#isClosed) return
    this.close(round.id)
    throw gone('round')
  }

  /** @throws ActionError GONE */
  find(quoteId: string): OpenRound & { readonly quote: SwapQuote } {
    for (const open of this.#rounds.values()) {
      const quote = open.round.quotes.find(one => one.quoteId === quoteId)
      if (quote !== undefined) return { ...open, quote }
    }
    throw gone('quote')
  }

  /** The round with that id. @throws ActionError GONE */
  get(roundId: string): QuoteRound {
    const open = this.#rounds.get(roundId)
    if (open === undefined) throw gone('round')
    return open.round
  }

  /** @throws ActionError GONE */
  close(roundId: string): void {
    const open = this.#rounds.get(roundId)
    if (open === undefined) throw gone('round')
    this.#rounds.delete(roundId)
    this.#onClose(roundId)
    open.round.close()
  }

  /** Closes the rounds of an account. */
  closeOfAccount(accountId: string): void {
    for (const [roundId, open] of [...this.#rounds]) if (open.accountId === accountId) this.close(roundId)
  }

  /** Closes all of them, and those to come. */
  closeAll(): void {
    this.#isClosed = true
    for (const roundId of [...this.#rounds.keys()]) this.close(roundId)
  }
}

const gone = (what: 'quote' | 'round'): ActionError =>
  new ActionError({
    code: 'GONE',
    message: `This ${what} no longer exists`,
    details: { what },
    hint: 'It was closed, or belongs to another panel: get new quotes.'
  })

/** Each keeps quotes alive. */
const MAX_ROUNDS = 20
