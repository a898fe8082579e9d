import { ActionError } from '../../devtools/core/action-error.ts'
import type { Act, ActionName } from '../../devtools/core/actions.ts'
import { mayHaveLeft } from '../errors/may-have-left.ts'

/** The payments that panels have approved, or sent again, and that are not over yet. */
export class Approvals {
  readonly #open = new Set<Promise<unknown>>()
  readonly #graceMs: number
  #isOver = false

  /** `graceMs`: how long a stop waits for them. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  /** Does the same as an act, and counts what it approves. */
  counting(act: Act): Act {
    return (name, input) => {
      const isPaying = paying.has(name)
      if (isPaying && this.#isOver) {
        const message = 'The wallet is ending, so nothing was signed or sent.'
        return Promise.reject(new ActionError({ code: 'GONE', message, details: { what: 'devtools' } }))
      }
      const done = act(name, input)
      if (!isPaying) return done
      this.#open.add(done)
      const over = (): void => void this.#open.delete(done)
      done.then(over, over)
      return done
    }
  }

  /**
   * Waits for them when the command is stopped, and not for long; from now on no other is approved.
   *
   * @param reason - why the command was stopped
   * @throws CliError INTERRUPTED, TERMINATED if one may have left
   */
  async settled(reason: unknown): Promise<void> {
    this.#isOver = true
    if (this.#open.size === 0) return
    let cut: NodeJS.Timeout | undefined
    const grace = new Promise<void>(resolve => {
      cut = setTimeout(resolve, this.#graceMs)
    })
    await Promise.race([Promise.allSettled(this.#open), grace])
    clearTimeout(cut)
    if (this.#open.size > 0) throw mayHaveLeft(reason)
  }
}

const paying: ReadonlySet<ActionName> = new Set<ActionName>(['spend.approve', 'swap.approve', 'spend.resend'])
