import type { JsonObject } from '../../../kernel/plugin-api.ts'

/** What an application may say to a source of rates, in `pluginOptions`. */
export interface SourceOptions {
  /** Sent in a header, and shown nowhere. */
  readonly apiKey?: string
  /** Another server with the same API, without a final slash. */
  readonly url?: string
  /** For how many seconds an answer is new enough. */
  readonly gapSeconds?: number
}

/** Checks the options of a source; others are left alone. @throws TypeError naming the option, never its value */
export const readOptions = ({ apiKey, url, gapSeconds }: JsonObject): SourceOptions => ({
  ...(apiKey === undefined || apiKey === '' ? {} : { apiKey: keyOf(apiKey) }),
  ...(url === undefined ? {} : { url: urlOf(url) }),
  ...(gapSeconds === undefined ? {} : { gapSeconds: secondsOf(gapSeconds) })
})

// Visible ASCII: anything else would be no header, or a second one.
const KEY = /^[\x21-\x7e]{1,500}$/
const URL_TEXT = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/

const keyOf = (value: unknown): string => {
  if (typeof value === 'string' && KEY.test(value)) return value
  throw new TypeError('The option apiKey is no text that fits into a header')
}

const urlOf = (value: unknown): string => {
  if (typeof value === 'string' && value.length <= 500 && URL_TEXT.test(value))
    return value.replace(/\/+$/, '')
  throw new TypeError('The option url is no http or https address')
}

const secondsOf = (value: unknown): number => {
  if (typeof value === 'number' && value >= 0 && value <= MAX_GAP_SECONDS) return value
  throw new TypeError('The option gapSeconds is no number from 0 to a day')
}

const MAX_GAP_SECONDS = 86_400
