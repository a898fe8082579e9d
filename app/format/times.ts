/** Formats an age or another span in seconds, in its largest unit of which it has two: `90 s`, `5 min`, `3 h`, `2 days` (pure). */
export const ageText = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  const [size, word] = UNITS.find(([unit]) => whole >= 2 * unit) ?? [1, 's']
  return `${Math.floor(whole / size)} ${word}`
}

const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, 'days'],
  [3600, 'h'],
  [60, 'min']
]

/** Formats a duration in milliseconds: `3.5 ms`, `340 ms`, `2.1 s`, `20 s` (pure). */
export const durationText = (milliseconds: number): string => {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(1))} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  return milliseconds < 10_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${Math.round(milliseconds / 1000)} s`
}
