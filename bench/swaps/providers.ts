/** How many providers are asked. */
export const PROVIDERS = 50

/** The one that never answers, where one does not. */
const SILENT = 7

/** What the providers of both sides do: all answer at once, all refuse, or all but one answer, a millisecond apart. */
export type Mode = 'answer' | 'refuse' | 'silent'

/** What both sides' providers follow and note. */
export interface Script {
  mode: Mode
  /** When each provider answered, by its number; the same clock as `performance.now()`. */
  readonly answeredAt: Map<number, number>
}

/** What provider `i` gives for 1000 units. */
export const amountOf = (i: number): string => String(900 + ((i * 37) % 100))

/** Does what the script says: gives the quote when it is time, refuses, or never answers. */
export const follow = async <T>(
  script: Script,
  i: number,
  answer: () => T,
  refuse: () => Error
): Promise<T> => {
  if (script.mode === 'refuse') throw refuse()
  if (script.mode === 'silent') {
    if (i === SILENT) return new Promise(() => {})
    await new Promise(resolve => setTimeout(resolve, i))
  }
  script.answeredAt.set(i, performance.now())
  return answer()
}
