import type { Failure } from '../errors/failure.ts'
import type { Paint } from './paint.ts'
import { safeText } from './safe-text.ts'

/** A failure for a person: what failed, with its code; what to do; and, with `--debug`, why. */
export const failureLines = (
  { message, code, hint, next }: Failure,
  causes: readonly string[],
  paint: Paint
): readonly string[] => [
  `${paint('error:', 'bad')} ${safeText(message)} ${paint(`(${code})`, 'dim')}`,
  ...(hint === undefined ? [] : [`${paint('hint:', 'accent')} ${safeText(hint)}`]),
  ...next.map(({ command, why }) => `${paint('next:', 'accent')} ${safeText(command)}   # ${safeText(why)}`),
  ...causes.map(line => paint(`  ${safeText(line)}`, 'dim'))
]
