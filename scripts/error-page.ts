import type { ErrorEntry } from '../kernel/base/errors/entry.ts'
import { catalogue } from '../kernel/base/errors.ts'
import { ALONE_MISTAKES, CALL_MISTAKES, type CallMistake } from '../test/helpers/call-mistakes.ts'
import { MISTAKES } from '../test/helpers/plugin-mistakes.ts'

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

/** The mistakes of authors and the sentences about them as a page of Markdown. */
export const mistakePage = (): string =>
  `${[
    '# Mistakes in a plugin',
    '',
    'Generated from `test/helpers/plugin-mistakes.ts` and `test/helpers/call-mistakes.ts` by `npm run docs`. Do not edit.',
    '',
    '## When it is added',
    '',
    `${MISTAKES.length} things that an author may give in place of a plugin, and the sentence that the kernel says about each. A test makes`,
    'each of them: none is silent, none is without a reason, and none keeps an account from opening. The sentence stands in the',
    'log, in `kernel.context.plugins`, in `holdfast plugins list`, in the hook [pluginChanged](hooks/pluginChanged.md), in the panel, and',
    'goes to `onError` of `createKernel`.',
    '',
    '| mistake | sentence |',
    '|---|---|',
    ...MISTAKES.map(([what, , , sentence]) => mistakeRow(what, sentence)),
    '',
    '## When it is called',
    '',
    `${CALL_MISTAKES.length} things that a plugin may do wrong later. All of them happen beside each other in one test, and the account works. The`,
    'sentence stands in the log under the id of the plugin, or in the error that the caller gets; most of them are also told on',
    'the hook [pluginFault](hooks/pluginFault.md), which the panel shows. `mine` is the id of the plugin.',
    '',
    '| mistake | sentence |',
    '|---|---|',
    ...CALL_MISTAKES.map(callRow),
    '',
    '## When a store or a policy is called',
    '',
    `${ALONE_MISTAKES.length} things that stop more than the plugin: nothing is stored or signed past them. Each is made in a kernel of its`,
    'own. The sentence stands in the error of the call that needed the plugin, of `createKernel` for a store, or in the log.',
    '',
    '| mistake | sentence |',
    '|---|---|',
    ...ALONE_MISTAKES.map(callRow)
  ].join('\n')}\n`

const callRow = ({ what, sentence }: CallMistake): string =>
  mistakeRow(what, sentence.replace('{id}', 'mine'))

const mistakeRow = (what: string, sentence: string): string =>
  `| ${what} | ${sentence.replaceAll('|', '\\|').replaceAll('<', '\\<')} |`
