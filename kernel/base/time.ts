/** Seconds since 1970, possibly with a fraction, as chains and synced files count them. */
export type UnixSeconds = number

/** The unix seconds of a clock's milliseconds. */
export const secondsOf = (milliseconds: number): UnixSeconds => milliseconds / 1000

/** ISO-8601 UTC with milliseconds, the form of every date in the formats. */
export const isoOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** The date of a text, read as the platform does; an invalid date if it is none. */
export const dateOf = (text: string): Date => new Date(text)

/** Checks if a number of seconds is a date that can be shown (pure). */
export const isDateSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= MAX_SECONDS

const MAX_SECONDS = 8_640_000_000_000
