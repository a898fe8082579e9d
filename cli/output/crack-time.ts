const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [31_557_600, 'year'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second']
]

/** How long guessing takes, in words: `about 3 minutes`, `more than a trillion years`. */
export const crackTimeText = (seconds: number): string => {
  for (const [size, word] of UNITS) {
    const count = Math.floor(seconds / size)
    if (count >= A_TRILLION) return `more than a trillion ${word}s`
    if (count >= 1) return `about ${roundly(count)} ${word}${count === 1 ? '' : 's'}`
  }
  return 'no time at all'
}

const A_TRILLION = 1e12

const roundly = (count: number): string => {
  if (count >= 1e9) return `${Math.floor(count / 1e9)} billion`
  if (count >= 1e6) return `${Math.floor(count / 1e6)} million`
  if (count >= 10_000) return `${Math.floor(count / 1000)},000`
  return String(count)
}
