/** How a word is meant; each kind has a colour where colours are on, and never only a colour. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'accent'

/** Colours text, or gives it back as it is. */
export type Paint = (text: string, tone: Tone) => string

const CODES: Readonly<Record<Tone, readonly [number, number] | undefined>> = {
  plain: undefined,
  strong: [1, 22],
  dim: [2, 22],
  good: [32, 39],
  warn: [33, 39],
  bad: [31, 39],
  accent: [36, 39]
}

/** A painter with SGR colours, or one that paints nothing. */
export const makePaint = (hasColor: boolean): Paint =>
  hasColor
    ? (text, tone) => {
        const code = CODES[tone]
        return code === undefined || text === '' ? text : `\u001b[${code[0]}m${text}\u001b[${code[1]}m`
      }
    : text => text

/** When to use colours. */
export type ColorChoice = 'auto' | 'always' | 'never'

/**
 * Decides about colours: the flag wins, then `NO_COLOR`, then `FORCE_COLOR`, then whether a person looks.
 *
 * @see https://no-color.org
 */
export const wantsColor = (
  choice: ColorChoice,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean
): boolean => {
  if (choice !== 'auto') return choice === 'always'
  if ((environment.NO_COLOR ?? '') !== '') return false
  const forced = environment.FORCE_COLOR
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return isTerminal && environment.TERM !== 'dumb'
}
