/** A date for people, in their own time zone: `2026-01-05 10:00`. */
export const localTime = (date: Date): string => {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** A long time in seconds for people: `7 days`, `90 minutes`. */
export const spanText = (seconds: number): string => {
  const [size, word] = SPANS.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [1, 'second']
  const count = seconds / size
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

const SPANS: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute']
]

/** A duration for people: `340 ms`, `2.1 s`. */
export const durationText = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`

/** How old something is, for people: `12 s`, `5 min`, `3 h`, `2 days`. */
export const ageText = (seconds: number): string => {
  const [size, word] = AGES.find(([unit]) => seconds >= unit) ?? [1, 's']
  const count = Math.floor(Math.max(0, seconds) / size)
  return `${count} ${word}${word === 'day' && count !== 1 ? 's' : ''}`
}

const AGES: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, 'day'],
  [3600, 'h'],
  [60, 'min']
]
