import { MISTAKES } from '../test/helpers/plugin-mistakes.ts'

/** The mistakes of authors and the sentences about them as a page of Markdown. */
export const mistakePage = (): string =>
  `${[
    '# Mistakes in a plugin',
    '',
    'Generated from `test/helpers/plugin-mistakes.ts` by `npm run docs`. Do not edit.',
    '',
    `${MISTAKES.length} things that an author may give in place of a plugin, and the sentence that the kernel says about each. A test makes`,
    'each of them: none is silent, none is without a reason, and none keeps an account from opening. The sentence stands in the',
    'log, in `kernel.context.plugins`, in `holdfast plugins list`, in the hook [pluginChanged](hooks/pluginChanged.md), in the panel, and',
    'goes to `onError` of `createKernel`.',
    '',
    '| mistake | sentence |',
    '|---|---|',
    ...MISTAKES.map(([what, , , sentence]) => `| ${what} | ${sentence.replaceAll('|', '\\|')} |`),
    '',
    'What a plugin does wrong later, when it is called, is a fault of that call: [hooks.md](hooks.md) says what follows.'
  ].join('\n')}\n`
