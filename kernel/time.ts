/** Seconds since 1970, possibly with a fraction, as chains and synced files count them. */
export type UnixSeconds = number

/** The date of a time in unix seconds. */
export const dateOfSeconds = (seconds: UnixSeconds): Date => new Date(seconds * 1000)

/** The date of a time in milliseconds, as a clock gives it. */
export const dateOf = (milliseconds: number): Date => new Date(milliseconds)

/** The unix seconds of a clock's milliseconds. */
export const secondsOf = (milliseconds: number): UnixSeconds => milliseconds / 1000

/** ISO-8601 UTC with milliseconds, the form of every date in the formats. */
export const isoOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Reads a date text as the platform does. @throws RangeError if it is no date */
export const parseDate = (text: string): Date => {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new RangeError('This is no date')
  return date
}
