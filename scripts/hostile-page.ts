import { HOSTILE, type Hostile } from '../test/helpers/hostile-plugins.ts'

/** The table of hostile plugins as a page of Markdown: how each ends in a cell, and without one. */
export const hostilePage = (): string => {
  const harmful = HOSTILE.filter(
    ({ uncontained }) => uncontained !== 'contained' && uncontained !== 'refused'
  )
  return `${[
    '# Hostile plugins',
    '',
    'Generated from `test/helpers/hostile-plugins.ts` by `npm run docs`. Do not edit.',
    '',
    `${HOSTILE.length} plugins that do what they must not. In a cell of Node all are contained: each call ends, the plugin beside it answers, and`,
    'nothing leaks. In a page of Chromium they are, too, except that nothing bounds memory there. Without a cell, as',
    `\`holdfast plugins add --no-cell\` loads a plugin, ${harmful.length} of them harm the wallet: run nothing that way but code that you would trust`,
    'with your keys.',
    '',
    'Proofs compare each row with what happens: `test/proofs/hostile-cells.test.ts` on Node, the newest too, `test/browser/hostile-cells.test.ts` in',
    'Chromium, and `test/proofs/hostile-uncontained.test.ts` in a process with a kernel and no cell. `npm run test:proofs -- --full` tries',
    'all of them; otherwise the last two try a part that a printed seed draws.',
    '',
    '| the plugin | in a cell of Node | in a cell of a page | without a cell |',
    '|---|---|---|---|',
    ...HOSTILE.map(rowOf)
  ].join('\n')}\n`
}

const rowOf = ({ name, outcome, uncontained, isUnboundedInPage }: Hostile): string => {
  const contained = CONTAINED[outcome]
  return `| ${name} | ${contained} | ${isUnboundedInPage === true ? '**is not bounded**' : contained} | ${UNCONTAINED[uncontained]} |`
}

const CONTAINED: Readonly<Record<Hostile['outcome'], string>> = {
  refused: 'is not loaded',
  throws: 'the call fails',
  ends: 'its cell ends, and the call fails',
  waits: 'the deadline ends the call',
  answers: 'gets nothing'
}

const UNCONTAINED: Readonly<Record<Hostile['uncontained'], string>> = {
  refused: 'is not loaded',
  contained: 'harms nothing',
  reaches: '**gets what it wants**',
  stops: '**the wallet stands still or ends**',
  slows: '**nothing bounds its work**'
}
