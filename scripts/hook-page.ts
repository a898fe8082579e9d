import { type HookRow, hookTable } from '../kernel/plugins/hook-table.ts'

const kinds: ReadonlyMap<string, string> = new Map([
  ['asked', 'in order; the first answer wins. A failing tap fails the question, with the id of the plugin.'],
  ['gathered', 'all at once, each with a context of its own. A failing tap is reported; the others count.'],
  ['gated', 'in order; each may object. An objection is the verdict and reaches the caller unchanged.'],
  ['piped', 'a value passes through. A failing tap is reported and the value passes unchanged.'],
  ['observed', 'all are notified. A failing tap is reported; the others are still notified.']
])

/** The hook table as a page of Markdown. */
export const hookPage = (): string => {
  const rows: readonly (readonly [string, HookRow])[] = Object.entries(hookTable)
  return `${[
    '# Hooks',
    '',
    'Generated from `kernel/plugins/hook-table.ts` by `npm run docs`. Do not edit.',
    '',
    'Only the kernel calls hooks; plugins tap them, each kind the ones that its host shows. Hooks are windows,',
    'not corridors: no part of the kernel talks to another through one.',
    '',
    '## How a hook runs',
    '',
    '| kind | behaviour |',
    '|---|---|',
    ...[...kinds].map(([kind, text]) => `| ${kind} | ${text} |`),
    '',
    `## The ${rows.length} hooks`,
    '',
    '| hook | kind | keyed by | fires | carries | tapped by | time limit |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(rowOf)
  ].join('\n')}\n`
}

const rowOf = ([name, row]: readonly [string, HookRow]): string => {
  const limit = row.deadlineMs === undefined ? '' : `${row.deadlineMs / 1000} s`
  const cells = [`\`${name}\``, row.dispatch, row.key ?? '', row.fires, row.carries, row.tappedBy, limit]
  return `| ${cells.map(text => text.replaceAll('|', '\\|')).join(' | ')} |`
}
