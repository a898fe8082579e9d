import { ageText } from '../../../app/format/times.ts'

/** A whole number with its digits in threes; other text as it is. */
export const countText = (digits: string): string =>
  /^-?\d+$/.test(digits) ? digits.replace(/\B(?=(\d{3})+$)/g, '\u202f') : digits

/**
 * Text of somebody else's, with a mark for each letter that cannot be seen and could make it look like another text: controls, spaces
 * without width, and what turns the direction of writing round. What joins letters of a script or an emoji stays.
 */
export const visibleText = (text: string): string => text.replace(UNSEEN, '\ufffd')

// A line break is a space here.
const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** A long id, shortened in its middle. */
export const shortId = (id: string, length = 14): string => {
  if (id.length <= length) return id
  const half = Math.floor((length - 1) / 2)
  return `${id.slice(0, half)}…${id.slice(-half)}`
}

/** Returns the time since an event; `at` and `now` in Unix seconds, `at` 0 for never. */
export const agoText = (at: number, now: number): string => {
  if (at === 0) return 'never'
  return now - at < 1 ? 'now' : `${ageText(now - at)} ago`
}

/** The time of day to the millisecond, in the local zone; a dash for what is no time. */
export const clockText = (at: number): string => {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '–'
  const two = (figure: number): string => String(figure).padStart(2, '0')
  const thousandths = String(date.getMilliseconds()).padStart(3, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${thousandths}`
}

/** A date and its time of day to the second, in the local zone; a dash for what is no time. */
export const dateText = (at: number): string =>
  Number.isNaN(new Date(at).getTime()) ? '–' : dateFormat.format(at)

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** The same for the name of a file: `2026-11-22-17-05-09`. */
export const fileTimeText = (at: number): string => {
  const date = new Date(at)
  const figures = [date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()]
  return [date.getFullYear(), ...figures.map(figure => String(figure).padStart(2, '0'))].join('-')
}

/** The size of a file, such as `17 kB` or `1.2 MB`. */
export const sizeText = (bytes: number): string =>
  bytes < 1_000_000
    ? `${Math.ceil(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`

/** A share of one as whole per cents; only what is complete is 100 %. */
export const percentText = (ratio: number): string =>
  `${ratio >= 1 ? 100 : Math.min(99, Math.floor(ratio * 100))}\u202f%`
