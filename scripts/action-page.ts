import { type ActionName, actions } from '../app/actions/actions.ts'
import type { AnyField } from '../app/actions/schema.ts'

/** The actions as a page of Markdown. */
export const actionPage = (): string => {
  const groups = new Map<string, (typeof actions)[number][]>()
  for (const action of actions) {
    const group = groupOf(action.name)
    groups.set(group, [...(groups.get(group) ?? []), action])
  }
  return `${[
    '# Actions',
    '',
    'Generated from the declarations in `app/actions` by `npm run docs`. Do not edit.',
    '',
    'An action is declared once; the command line, the panel of the devtools and programs that speak MCP offer it from there.',
    '`reads` changes nothing in an account or on a device. `changes` changes what can be changed back, or drafts what is approved',
    'later. `pays` can let money leave. `loses` cannot be taken back. Amounts are native units, as decimal text; times are',
    'milliseconds since 1970 unless a field says otherwise. Text of others stands in `untrusted`, with invisible characters',
    'escaped, and cut to 200 characters; only the memos and parameters of a review are longer.',
    '',
    `There are ${actions.length}.`,
    ...[...groups.values()].flatMap(group => ['', ...group.flatMap(sectionOf)])
  ].join('\n')}\n`
}

const groupOf = (name: ActionName): string => name.split('.')[0] ?? ''

const sectionOf = (action: (typeof actions)[number]): readonly string[] => {
  const { name, title, summary, effect, input, output, faces } = action
  const { cli, panel, mcp } = faces
  return [
    `## ${title}`,
    '',
    `\`${name}\` · ${effect} · ${summary}`,
    '',
    `- Takes: ${fieldsText(input)}`,
    `- Gives: ${fieldsText(output)}`,
    `- Command line: ${commandText(cli)}`,
    `- Panel: ${typeof panel === 'string' ? `\`${panel}\`` : `none: ${panel.none}`}`,
    `- MCP: ${mcp === 'tool' ? 'a tool' : `none: ${mcp.none}`}`,
    ''
  ]
}

const commandText = (cli: (typeof actions)[number]['faces']['cli']): string => {
  if (typeof cli === 'string') return `\`holdfast ${cli}\``
  return 'none' in cli
    ? `none: ${cli.none}`
    : `\`holdfast ${cli.command}\`, which has code of its own: ${cli.own}`
}

const fieldsText = ({ fields = {} }: AnyField): string => {
  const texts = Object.entries(fields).map(([name, { isOptional, schema }]) => {
    const description = schema.description === undefined ? '' : ` (${schema.description})`
    return `\`${name}\`${isOptional === true ? ', optional' : ''}${description}`
  })
  return texts.length === 0 ? 'nothing' : texts.join('; ')
}
