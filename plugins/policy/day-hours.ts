import type { SpendRule } from '../../kernel/plugin-api.ts'

/** Hours of the day in a time zone, on some days of the week. */
export interface DayHours {
  /** Such as `from 08:00 to 18:00 in Europe/Berlin`. */
  readonly text: string
  readonly fromMinute: number
  readonly toMinute: number
  /** 1 is Monday. */
  readonly days: ReadonlySet<number>
  readonly format: Intl.DateTimeFormat
}

/**
 * Reads the hours of a rule: `from` and `to` as `HH:MM`, `zone` by its IANA name, UTC if left out, and `days` as numbers from 1
 * for Monday, every day if left out. If `to` is not after `from`, the hours go past midnight and belong to the day they began.
 *
 * @throws TypeError naming the field
 */
export const readHours = ({ from, to, zone = 'UTC', days = EVERY_DAY }: SpendRule): DayHours => {
  const fromMinute = minuteOf('from', from)
  const toMinute = minuteOf('to', to)
  if (!Array.isArray(days) || days.length === 0 || !days.every(day => EVERY_DAY.includes(day as number)))
    throw new TypeError('days must be numbers from 1 for Monday to 7')
  if (typeof zone !== 'string') throw new TypeError('zone must be the name of a time zone')
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      ...{ timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
    })
  } catch {
    throw new TypeError('zone must be the name of a time zone')
  }
  const names = days.map(day => WEEKDAYS[(day as number) - 1])
  const on = days.length === EVERY_DAY.length ? '' : ` on ${names.join(', ')}`
  const text = `from ${String(from)} to ${String(to)}${on} in ${zone}`
  return { text, fromMinute, toMinute, days: new Set(days as readonly number[]), format }
}

/** Returns true if a time, in milliseconds since 1970, lies within the hours. */
export const isWithin = ({ fromMinute, toMinute, days, format }: DayHours, at: number): boolean => {
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const day = WEEKDAYS.indexOf(parts.get('weekday') ?? '') + 1
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  if (fromMinute < toMinute) return days.has(day) && minute >= fromMinute && minute < toMinute
  const before = day === 1 ? 7 : day - 1
  return (days.has(day) && minute >= fromMinute) || (days.has(before) && minute < toMinute)
}

/** Returns when the hours begin next, to the minute; undefined if not within eight days. */
export const nextWithin = (hours: DayHours, now: number): number | undefined => {
  const first = Math.ceil(now / MINUTE_MS) * MINUTE_MS
  for (let at = first; at < first + EIGHT_DAYS_MS; at += MINUTE_MS) if (isWithin(hours, at)) return at
  return undefined
}

const minuteOf = (field: string, value: unknown): number => {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(String(value)) ?? []
  if (typeof value !== 'string' || hour === undefined || minute === undefined)
    throw new TypeError(`${field} must be a time such as 08:00`)
  return Number(hour) * 60 + Number(minute)
}

const WEEKDAYS: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const EVERY_DAY: readonly number[] = [1, 2, 3, 4, 5, 6, 7]
const MINUTE_MS = 60_000
const EIGHT_DAYS_MS = 8 * 24 * 60 * MINUTE_MS
