import { CALL_MISTAKES } from '../test/helpers/call-mistakes.ts'
import { MISTAKES } from '../test/helpers/plugin-mistakes.ts'

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
    ...MISTAKES.map(([what, , , sentence]) => rowOf(what, sentence)),
    '',
    '## When it is called',
    '',
    `${CALL_MISTAKES.length} things that a plugin may do wrong later. All of them happen beside each other in one test, and the account works. The`,
    'sentence stands in the log under the id of the plugin, or in the error that the caller gets; most of them are also told on',
    'the hook [pluginFault](hooks/pluginFault.md), which the panel shows. `mine` is the id of the plugin.',
    '',
    '| mistake | sentence |',
    '|---|---|',
    ...CALL_MISTAKES.map(({ what, sentence }) => rowOf(what, sentence.replace('{id}', 'mine')))
  ].join('\n')}\n`

const rowOf = (what: string, sentence: string): string =>
  `| ${what} | ${sentence.replaceAll('|', '\\|').replaceAll('<', '\\<')} |`
