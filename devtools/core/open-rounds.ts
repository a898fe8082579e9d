import type { QuoteRound, SwapQuote } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'

interface OpenRound {
  readonly accountId: string
  readonly round: QuoteRound
}

/** The rounds of quotes that were asked for here and are not closed. */
export class OpenRounds {
  readonly #rounds = new Map<string, OpenRound>()
  readonly #closing: (roundId: string) => void
  #isClosed = false

  /** `closing` hears of each round before it closes. */
  constructor(closing: (roundId: string) => void) {
    this.#closing = closing
  }

  /** Keeps a round; the oldest one makes room. @throws ActionError GONE if all are closed, and then so is this one */
  keep(accountId: string, round: QuoteRound): void {
    this.#rounds.set(round.id, { accountId, round })
    const [oldest] = this.#rounds.keys()
    if (this.#rounds.size > MOST && oldest !== undefined) this.close(oldest)
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

  /** @throws ActionError GONE */
  close(roundId: string): void {
    const open = this.#rounds.get(roundId)
    if (open === undefined) throw gone('round')
    this.#rounds.delete(roundId)
    this.#closing(roundId)
    open.round.close()
  }

  /** Closes the rounds of an account. */
  closeOf(accountId: string): void {
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
    message: `This ${what} is no longer there`,
    details: { what },
    hint: 'It was closed, or it was asked for elsewhere: ask for new quotes.'
  })

/** Each keeps quotes alive. */
const MOST = 20
