import type { ErrorEntry } from '../kernel/base/errors/entry.ts'
import { catalogue } from '../kernel/base/errors.ts'

/** The error catalogue as a page of Markdown, ordered by exit code and then by code. */
export const errorPage = (): string => {
  const rows = Object.entries(catalogue as Readonly<Record<string, ErrorEntry<unknown>>>)
    .sort(([a, left], [b, right]) => left.exitCode - right.exitCode || (a < b ? -1 : 1))
    .map(([code, entry]) => rowOf(code, entry))
  return `${[
    '# Errors',
    '',
    'Generated from `kernel/base/errors` by `npm run docs`. Do not edit.',
    '',
    'Every failure is a `WalletError` with one of these codes. The name is what interfaces of the deployed',
    'system recognise; the number is the exit code of the command line; `{…}` stands for a detail of the error.',
    'A retryable failure may pass when the same call is made again later.',
    '',
    '| code | name | exit | message | what to do | retryable |',
    '|---|---|---|---|---|---|',
    ...rows
  ].join('\n')}\n`
}

const rowOf = (code: string, entry: ErrorEntry<unknown>): string => {
  const details = placeholders()
  const hint = entry.hint?.(details)
  const next = entry.next?.(details)
  const advice = [hint, next === undefined ? undefined : `\`${next.command}\`: ${next.why}`]
  const cells = [
    `\`${code}\``,
    `\`${entry.name}\``,
    String(entry.exitCode),
    entry.message(details),
    advice.filter(text => text !== undefined).join(' '),
    entry.retryable === true ? 'yes' : ''
  ]
  // A detail that is reckoned with has no name to show.
  const texts = cells.map(text => text.replaceAll('NaN', '{number}').replaceAll('|', '\\|'))
  return `| ${texts.join(' | ')} |`
}

/** Details whose every member prints as its own name in braces, also after a call such as `join`. */
const placeholders = (): unknown =>
  new Proxy({}, { get: (_target, name) => (typeof name === 'string' ? placeholder(name) : undefined) })

const placeholder = (name: string): unknown => {
  const text = `{${name}}`
  const call = (): unknown => value
  const value: unknown = new Proxy(call, {
    get: (_target, member) =>
      member === Symbol.toPrimitive ? () => text : member === 'toString' ? () => text : value
  })
  return value
}
