import type { Middleware } from '../fake-server.ts'
import type { FakeReply } from '../replies.ts'
import type { TroublePort } from '../trouble.ts'

/** A refusal by status, such as 429 with the seconds after which to ask again; for `answerInstead`. */
export const refusal = (
  status: number,
  { retryAfter }: { readonly retryAfter?: string } = {}
): FakeReply => ({
  status,
  headers: {
    'content-type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter })
  },
  body: JSON.stringify({ error: `refused with ${status}` })
})

/** The page of a proxy or a gate, where JSON or XML was wanted; for `answerInstead`. */
export const htmlPage = (status = 200): FakeReply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head><body><br>Checking</body></html>\n'
})

/** Every answer breaks off in the middle, and what is left is no JSON. */
export const cutReplies: Middleware = async (_request, next) => {
  const reply = await next()
  return { ...reply, body: reply.body.slice(0, Math.floor(reply.body.length / 2)) }
}

/**
 * Every figure of an answer is another one: `-1`, `0`, `NaN`, `1e999` or what else is said. Figures in quotes stay in
 * quotes, so that `NaN` makes proper JSON of a provider that writes figures as text, and none of another.
 */
export const spoilFigures =
  (figure: string): Middleware =>
  async (_request, next) => {
    const reply = await next()
    const inQuotes = reply.body.replace(QUOTED, `$1${figure}$1`)
    return { ...reply, body: inQuotes.replace(BARE, `$1${figure}`) }
  }

const QUOTED = /(["'])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\1/g
const BARE = /([:[,]\s*)-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*[,}\]])/g

/** Answers come a few characters at a time; who waits for the whole waits long. */
export const dripReplies =
  (
    { clock }: Pick<TroublePort, 'clock'>,
    { charactersPerSecond }: { readonly charactersPerSecond: number }
  ): Middleware =>
  async (_request, next) => {
    const reply = await next()
    const milliseconds = (reply.body.length / charactersPerSecond) * 1000
    await new Promise<void>(resolve => void clock.after(milliseconds, resolve))
    return reply
  }

/** Every answer is at least so many characters long: the rest is blanks, as JSON allows. */
export const swellReplies =
  (characters: number): Middleware =>
  async (_request, next) => {
    const reply = await next()
    return { ...reply, body: reply.body.padEnd(characters, ' ') }
  }
